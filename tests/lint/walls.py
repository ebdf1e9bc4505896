# SPDX-License-Identifier: MIT
"""The walls between the parts, by what each part's files include. (What they link is checked when CMake configures.)

Each row: a folder, what its quoted or bracketed includes may start with beside the standard library, and its reason.
"""
import re

import project

LANGUAGE = ("compiler/syntax/", "compiler/semantics/")
STANDARD = re.compile(r"[a-z_0-9]+(\.h)?$")  # <vector>, <cstdint>, <dlfcn.h>
DRIVER_HEADER = re.compile(r"(cuda|cuda_runtime|cuda_runtime_api|nvml)\.h$")
MLIR = ("compiler/", "llvm/", "mlir/", "llvm-c/", "mlir-c/", "nlohmann/", "boost/context/", "tilegym/format/")
WALLS = [
    ("compiler/syntax/", ("compiler/syntax/",), "syntax is the first stage and needs the standard library only"),
    ("compiler/semantics/", LANGUAGE, "semantics builds on syntax and the standard library only"),
    ("compiler/interpreter/", LANGUAGE + ("compiler/interpreter/",), "the oracle shares nothing with the compiler it judges"),
    ("compiler/layout/", ("compiler/layout/",), "the layout library needs the standard library only"),
    ("compiler/simulator/jit/", MLIR, "the simulator's compiler is a part of the compiler"),
    ("compiler/simulator/", LANGUAGE + ("compiler/interpreter/", "compiler/simulator/", "boost/context/", "sys/mman.h"),
     "the simulated machine needs the language part, the standard library and Boost.Context only"),
    ("compiler/", MLIR, "the compiler needs neither a GPU nor the driver, and of the runtime only the package format"),
    ("runtime/include/", ("tilegym/",), "what users include needs the standard library only"),
    ("runtime/src/", ("tilegym/", "runtime/src/"), "the runtime ships without LLVM, the compiler and the language"),
    ("runtime/python/", ("tilegym/", "Python.h"), "the Python package is the runtime's C interface for Python, and knows no framework's"),
    ("runtime/reference/", LANGUAGE + ("compiler/interpreter/", "tilegym/", "runtime/"),
     "the reference backend is the interpreter behind the runtime's interface"),
]


def check(tree):
    paths = tree.files(".cpp", ".h", ".inc")
    for path in paths:
        wall = next((row for row in WALLS if path.startswith(row[0])), None)
        if wall is None:
            continue
        folder, allowed, reason = wall
        for number, line in enumerate(tree.read(path).split("\n"), 1):
            include = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if not include:
                continue
            name = include.group(2)
            standard = STANDARD.match(name) and include.group(1) == "<" and not DRIVER_HEADER.match(name)
            beside = "/" not in name and include.group(1) == '"' and folder.startswith("runtime/")
            if not (standard or beside or name.startswith(allowed)):
                tree.report(path, number, f"includes {name}: {reason}")
    return len(paths)


project.run(check)
