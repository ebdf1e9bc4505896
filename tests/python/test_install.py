# SPDX-License-Identifier: MIT
"""`pip install ./runtime/python` from the tree, and a call with what that installed. Pip uses the setuptools that are here, so that no network is needed."""
import harness

harness.need("pip", "setuptools", "wheel", "numpy")
import os  # noqa: E402
import shutil  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402


class InstallTest(harness.Test):
    def test_install(self):
        with tempfile.TemporaryDirectory() as folder:
            # A copy of what the package is built from, so that the tree stays as it is.
            for part in "runtime", "compiler/syntax", "compiler/semantics", "compiler/interpreter":
                shutil.copytree(os.path.join(harness.SOURCE, part), os.path.join(folder, "tree", part))
            target = os.path.join(folder, "site")
            done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps", "--no-index", "--target", target,
                                   os.path.join(folder, "tree", "runtime", "python")], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertTrue(os.path.exists(os.path.join(target, "tilegym_aot", "_core.abi3.so")), os.listdir(os.path.join(target, "tilegym_aot")))
            code = ("import sys, numpy, tilegym_aot\ntilegym_aot.use_reference(False)\nk = tilegym_aot.open(sys.argv[1])\n"
                    "for f in (lambda: tilegym_aot.use_reference(), lambda: k.affine(numpy.ones((1, 1), 'f4'))):\n"
                    "  try:\n    f()\n  except tilegym_aot.Error as error:\n    print(error)\n")
            done = subprocess.run([sys.executable, "-c", code, harness.KERNELS], capture_output=True, text=True, cwd=folder,
                                  env=dict(os.environ, PYTHONPATH=target))
            self.assertIn("built without the reference backend; install it again with TILEGYM_PYTHON_REFERENCE=1", done.stdout, done.stderr)
            self.assertIn("no CUDA driver", done.stdout)


harness.main()
