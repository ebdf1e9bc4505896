# SPDX-License-Identifier: MIT
"""The README's Python script, as it stands, with the package that its comment says."""
import harness

harness.need("torch", "numpy")
import os  # noqa: E402
import re  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402


class ReadmeTest(harness.Test):
    def test_the_script(self):
        with open(os.path.join(harness.SOURCE, "README.md"), encoding="utf-8") as file:
            script = re.search(r"```python\n(.*?)```", file.read(), re.S).group(1)
        spec = os.path.join(harness.SOURCE, "tests", "package", "client", "axpy.tile")
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([harness.TOOL, "compile", spec, "--dtypes", "f32", "-q", "-o", os.path.join(folder, "kernels")], check=True)
            done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=folder, env=dict(os.environ, PYTHONPATH=harness.PACKAGE))
        self.assertEqual(done.stdout.strip(), "True", done.stderr)


harness.main()
