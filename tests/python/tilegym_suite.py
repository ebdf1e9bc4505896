# SPDX-License-Identifier: MIT
"""TileGym's own public tests (tests/ops of its repository) on our kernels: python tilegym_suite.py TESTS [pytest's arguments]

TESTS is the `tests` folder of a checkout of TileGym; TILEGYM_PACKAGE names the kernel package. The tests run from a copy in which the name of the backend,
"cutile", is "tilegymc", and no device is refused; nothing else is changed. Of the files only those of ops that the package serves are taken, and of
the tests those of correctness: timing is for `tilegymc bench`.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Test files by the dispatch names that they call.
FILES = {"softmax": "test_softmax.py", "rms_norm": "test_rms_norm.py", "layer_norm_legacy": "test_layer_norm_legacy.py", "gelu": "activation/test_gelu.py",
         "silu_and_mul": "test_silu_and_mul.py", "dropout": "test_dropout.py", "apply_rope_base": "test_rope.py", "matmul": "test_matmul.py", "bmm": "test_bmm.py", "group_gemm": "test_group_gemm.py",
         "fmha": "test_attention.py", "splitk_reduce": "test_splitk_reduce.py",
         "relu": "activation/test_relu.py", "geglu": "activation/test_geglu.py", "get_swiglu": "test_swiglu.py"}


def renamed(text):
    """The text of a test file with our backend in cuTile's place."""
    text = re.sub(r"(['\"])cutile\1", r"\1tilegymc\1", text)
    # Skips of GPUs that cuTile does not support.
    return re.sub(r"^(\s*)if arch in \[[^\]]*\][^:\n]*:\n\s*pytest\.skip\([^\n]*\)\n", "", text, flags=re.M)


def copy(tests, folder, names):
    """The test package with the files of these names; what is shared is copied as it is."""
    root = os.path.join(folder, "tests")
    os.makedirs(root)
    for name in os.listdir(tests):
        if name.endswith(".py"):
            shutil.copy(os.path.join(tests, name), root)
    taken = []
    for name in names:
        if name in FILES and os.path.exists(os.path.join(tests, "ops", FILES[name])):
            path = os.path.join(root, "ops", FILES[name])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(os.path.join(tests, "ops", FILES[name]), encoding="utf-8") as file:
                text = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write(renamed(text))
            taken.append(path)
    for parent, _, _ in os.walk(os.path.join(root, "ops")):
        open(os.path.join(parent, "__init__.py"), "a", encoding="utf-8").close()
    return taken


def main():
    from tilegym_aot import tilegym_backend
    with tempfile.TemporaryDirectory() as folder:
        taken = copy(sys.argv[1], folder, tilegym_backend.names)
        arguments = ["-p", "tilegym_aot.tilegym_backend", "-k", "test_op and tilegymc", "-rfEX", *sys.argv[2:]]
        return subprocess.run([sys.executable, "-m", "pytest", *arguments, *taken], cwd=folder).returncode


if __name__ == "__main__":
    sys.exit(main())
