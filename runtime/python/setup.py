# SPDX-License-Identifier: MIT
"""Builds the extension: Python's stable interface over the runtime, which is compiled in. TILEGYM_PYTHON_REFERENCE=1 compiles in the interpreter of specs,
too, which runs ops without a GPU. Nothing but a C++20 compiler is needed."""
import glob
import os
from concurrent.futures import ThreadPoolExecutor

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
REFERENCE = os.environ.get("TILEGYM_PYTHON_REFERENCE", "") not in ("", "0")
FOLDERS = ["runtime/python/src", "runtime/src"]
if REFERENCE:
    FOLDERS += ["runtime/reference", "compiler/syntax", "compiler/semantics", "compiler/interpreter"]


class Build(build_ext):
    """The sources lie outside the folder of this file, where setuptools does not look; and it would compile them one after the other."""

    def build_extension(self, ext):
        flags = ["-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-DPy_LIMITED_API=0x030a0000", f"-I{ROOT}", f"-I{ROOT}/runtime/include"]
        flags += [f"-I{folder}" for folder in self.include_dirs] + (["-DTILEGYM_PYTHON_REFERENCE"] if REFERENCE else [])
        compiler = os.environ.get("CXX", "c++").split()
        os.makedirs(self.build_temp, exist_ok=True)

        def compile_one(source):
            made = os.path.join(self.build_temp, os.path.relpath(source, ROOT).replace(os.sep, "-") + ".o")
            self.spawn([*compiler, *flags, "-c", source, "-o", made])
            return made

        sources = sorted(path for folder in FOLDERS for path in glob.glob(os.path.join(ROOT, folder, "*.cpp")))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(compile_one, sources))
        output = self.get_ext_fullpath(ext.name)
        os.makedirs(os.path.dirname(output), exist_ok=True)
        self.spawn([*compiler, "-shared", *objects, "-o", output, "-static-libstdc++", "-static-libgcc", "-ldl", "-lpthread"])


setup(cmdclass={"build_ext": Build}, options={"bdist_wheel": {"py_limited_api": "cp310"}},
      ext_modules=[Extension("tilegym_aot._core", sources=[], py_limited_api=True)])
