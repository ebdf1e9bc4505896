# SPDX-License-Identifier: MIT
"""What the tests of the command line share: running it, and the skip of what needs the compiler."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

TOOL, FAKE_DRIVER, SOURCE = sys.argv[1:4]
OK, INPUT_WRONG, CHECK_FAILED, ENVIRONMENT_LACKS = 0, 1, 2, 3


def run(*arguments, driver=None, damage=None, stdin="", environment=None, cwd=SOURCE, timeout=300):
    """The finished process. Without `driver` there is none on this machine, whatever it has."""
    env = dict(os.environ, TILEGYM_DRIVER=driver or "no-driver-here.so")
    env.pop("CI", None)
    env.pop("TILEGYM_FAKE_DAMAGE", None)
    if damage:
        env["TILEGYM_FAKE_DAMAGE"] = damage
    env.update(environment or {})
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, cwd=cwd, env=env, input=stdin, timeout=timeout)


def has_compiler():
    return json.loads(run("doctor", "--json").stdout)["llvm"]["found"]


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name, mode="r"):
        with open(self.path(name), mode) as file:
            return file.read()

    def spec(self, name):
        with open(os.path.join(SOURCE, "specs", name + ".tile"), encoding="utf-8") as file:
            return file.read()

    def expect(self, code, *arguments, out="", err="", **options):
        """Runs, and wants this exit code and these texts; returns stdout."""
        done = run(*arguments, **options)
        said = f"tilegymc {' '.join(arguments)}\nstdout: {done.stdout}\nstderr: {done.stderr}"
        self.assertEqual(done.returncode, code, said)
        for text in [out] if isinstance(out, str) else out:
            self.assertIn(text, done.stdout, said)
        for text in [err] if isinstance(err, str) else err:
            self.assertIn(text, done.stderr, said)
        return done.stdout


def main(needs_compiler=False):
    if needs_compiler and not has_compiler():
        print("[SKIP] this tilegymc was built without LLVM")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
