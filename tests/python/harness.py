# SPDX-License-Identifier: MIT
"""What the tests of the Python package share: the arguments that ctest gives, and the skip of what needs a package that is not installed."""
import importlib.util
import os
import sys
import unittest

PACKAGE, KERNELS, FAKE_DRIVER, SOURCE, RUNTIME, TOOL = sys.argv[1:7]
sys.path.insert(0, PACKAGE)
os.environ.setdefault("TILEGYM_DRIVER", "no-driver-here.so")
SKIP = 77


def need(*modules):
    """Ends the script as skipped where a module is not installed."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            print(f"[SKIP] {sys.executable} has no {module}")
            sys.exit(SKIP)


class Test(unittest.TestCase):
    def raises(self, error, text, function, *args, **keywords):
        with self.assertRaises(error) as caught:
            function(*args, **keywords)
        self.assertIn(text, str(caught.exception))
        return caught.exception


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[7:]])
