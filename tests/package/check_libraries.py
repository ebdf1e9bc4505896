# SPDX-License-Identifier: MIT
"""Two kernel libraries with an op of the same name in one program, static and shared: each gives its own result, and what they export is prefixed. A
library restricted by CONST and DTYPES, several specs of which one is edited, long names, and mistakes in the call of tilegym_add_kernels.
"""
import os
import re
import time

import prefix as installed
from prefix import check, run

SPEC = """op combine(x: T[N], y: T[N], const mode: first | second = first) -> z: T[N]
  where T: f32 | f16

reference {{
  const if mode == first {{ z = {first} }}
  const if mode == second {{ z = {second} }}
}}

kernel flat(BN) {{
  grid(cdiv(N, BN))
  let i = block(0)
  let a = load(x.tile(BN)[i])
  let b = load(y.tile(BN)[i])
  const if mode == first {{ store(z.tile(BN)[i], {kernel_first}) }}
  const if mode == second {{ store(z.tile(BN)[i], {kernel_second}) }}
}}
tune flat {{ BN in [256]; warps in [4] }}
test {{ N in [1, 300]; T in all; mode in all
  case "by hand" {{ N = 1; T = f32; mode = first; x = [2]; y = [3]; expect z = [{by_hand}] }}
  tolerance {{ f32: 1e-6; f16: 1e-3 }} }}
bench none "a test"
"""
PROGRAM = """#include "left.h"
#include "right.h"
#include <cstdio>
#include <tilegym/reference.h>
int main() {
  if (USE_REFERENCE) tilegym_use_reference(1);
  float x[] = {2}, y[] = {3}, z[1] = {};
  for (auto *combine : {&left_combine, &right_combine}) {
    tilegym::TensorView a = tilegym::view(x, {1}), b = tilegym::view(y, {1}), c = tilegym::view(z, {1});
    tilegym::Status status(combine(a.c(), b.c(), 0, c.c(), nullptr));
    if (!status) { std::printf("%s\\n", status.message().c_str()); return 1; }
    std::printf("%g ", z[0]);
  }
}
"""

def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def combine(first, second, by_hand, name="combine"):
    spec = {"first": first, "second": second, "by_hand": by_hand,
            "kernel_first": first.replace("x", "a").replace("y", "b"),
            "kernel_second": second.replace("x", "a").replace("y", "b")}
    return SPEC.format(**spec).replace("op combine", "op " + name)


def exported(library):
    """Names that a library offers to others."""
    lines = run("nm", "-D", "--defined-only", library).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if line.split()[-2] != "A"}


def build_both(options, prefix, folder):
    for kind, extra in (("static", ""), ("shared", "SHARED ")):
        source = f"{folder}/{kind}"
        write(source + "/left.tile", combine("x + y", "x - y", 5))
        write(source + "/right.tile", combine("x * y", "x - y", 6))
        write(source + "/main.cpp", PROGRAM)
        write(source + "/CMakeLists.txt", f"""cmake_minimum_required(VERSION 3.25)
project(Two LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(TileGym 0.1 REQUIRED CONFIG)
foreach(name left right)
  tilegym_add_kernels(${{name}} {extra}SPECS ${{name}}.tile ARCHS sm_80 DTYPES f32 CONST mode=first)
endforeach()
foreach(reference 0 1)
  add_executable(program${{reference}} main.cpp)
  target_compile_definitions(program${{reference}} PRIVATE USE_REFERENCE=${{reference}})
  target_link_libraries(program${{reference}} PRIVATE left right TileGym::reference{"_shared" if extra else ""})
endforeach()
""")
        installed.configure(options, source, source + "/build", prefix)
        run(options.cmake, "--build", source + "/build")
        printed = run(source + "/build/program1", cwd="/")
        check(printed == "5 6 ", f"two {kind} libraries gave '{printed}', expected '5 6 '")
        text = run(source + "/build/program0", cwd="/", env={"TILEGYM_DRIVER": "no-driver.so"}, expect=1)
        check("no CUDA driver" in text, f"without a driver the {kind} program said '{text}'")
    names = exported(folder + "/shared/build/libleft.so")
    check({"left_combine", "left_package"} <= names and all(n.startswith("left_") for n in names - {"_init", "_fini"}),
          f"libleft.so exports {sorted(names)}")
    for library, function in (("libtilegym.so", "tilegym_call"), ("libtilegym_reference.so", "tilegym_use_reference")):
        names = exported(next(os.path.join(at, library) for at, _, files in os.walk(prefix) if library in files))
        check(function in names and all(n.startswith("tilegym_") for n in names),
              f"{library} exports {sorted(n for n in names if not n.startswith('tilegym_'))}")
    manifest = open(folder + "/static/build/left.kernels/manifest.json", encoding="utf-8").read()
    consts = set(re.findall(r'"mode": "?(\w+)', manifest))
    check("second" not in manifest.split('"variants"')[-1] and "f16" not in re.findall(r'"dtypes": .*', manifest)[-1],
          f"CONST and DTYPES did not restrict the variants: {consts}")


def edit_one_of_two(options, prefix, folder):
    source = folder + "/edited"
    write(source + "/left.tile", combine("x + y", "x - y", 5))
    write(source + "/other.tile", combine("x * y", "x - y", 6, "other"))
    write(source + "/CMakeLists.txt", """cmake_minimum_required(VERSION 3.25)
project(Edited LANGUAGES CXX)
find_package(TileGym REQUIRED)
tilegym_add_kernels(both SPECS left.tile other.tile ARCHS sm_80 DTYPES f32)
add_library(use STATIC use.cpp)
target_link_libraries(use PRIVATE both)
""")
    write(source + "/use.cpp", '#include "both.h"\nint use() { return both_OP_other; }\n')
    installed.configure(options, source, source + "/build", prefix)
    first = run(options.cmake, "--build", source + "/build")
    time.sleep(1.1)
    write(source + "/other.tile", combine("x * y + x", "x - y", 8, "other"))
    again = run(options.cmake, "--build", source + "/build")
    counts = [re.search(r"(\d+) variants of 2 ops .* (\d+) from the cache", text) for text in (first, again)]
    check(all(counts), f"no summary in:\n{first}\n{again}")
    total, cached = int(counts[1][1]), int(counts[1][2])
    check(cached * 2 >= total, f"one of two specs was edited, but only {cached} of {total} variants came from the cache")
    check("use.cpp" not in again, "the interface is the same, but what includes the header was compiled again")


def mistakes(options, prefix, folder):
    for call, text in (("a-b SPECS left.tile ARCHS sm_80", "letters, digits and _ only"),
                       ("a SPECS none.tile ARCHS sm_80", "no spec"),
                       ("a SPECS left.tile", "give SPECS"),
                       ("a left.tile", "unexpected left.tile")):
        source = folder + "/mistake"
        write(source + "/left.tile", combine("x + y", "x - y", 5))
        write(source + "/CMakeLists.txt", f"""cmake_minimum_required(VERSION 3.25)
project(Mistake LANGUAGES CXX)
find_package(TileGym REQUIRED)
tilegym_add_kernels({call})
""")
        said = run(options.cmake, "-S", source, "-B", source + "/build", "-G", options.generator,
                   "-DCMAKE_CXX_COMPILER=" + options.cxx, "-DCMAKE_PREFIX_PATH=" + prefix, expect=1)
        check(text in " ".join(said.split()), f"tilegym_add_kernels({call}) said:\n{said}")


def within_a_project(options, folder):
    """add_subdirectory (and so FetchContent) instead of an installed TileGym: configured, as building it takes minutes."""
    source = folder + "/within"
    write(source + "/left.tile", combine("x + y", "x - y", 5))
    write(source + "/use.cpp", '#include "left.h"\nint use() { return left_OP_combine; }\n')
    write(source + "/CMakeLists.txt", f"""cmake_minimum_required(VERSION 3.25)
project(Within LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
add_subdirectory({options.source} tilegym EXCLUDE_FROM_ALL)
tilegym_add_kernels(left SPECS left.tile ARCHS sm_80)
add_library(use STATIC use.cpp)
target_link_libraries(use PRIVATE left TileGym::reference)
""")
    installed.configure(options, source, source + "/build", "")


def long_names(prefix, folder):
    """Nothing but the package's name is part of a file's name."""
    name = "n" * 200
    write(folder + "/long/spec.tile", combine("x + y", "x - y", 5, name))
    run(prefix + "/bin/tilegymc", "compile", folder + "/long/spec.tile", "--arch", "sm_80", "--dtypes", "f32", "--name", "short", "-o",
        folder + "/long/out")
    files = sorted(os.listdir(folder + "/long/out"))
    check(files == ["interface.json", "manifest.json", "short.h", "short.o", "short.tgk"], f"an op with a name of 200 letters became {files}")
    check("short_" + name in run("nm", folder + "/long/out/short.o"), "the op's C function is not there")
    # The block is embedded once, and as it is.
    block, whole = (os.path.getsize(f"{folder}/long/out/short.{end}") for end in ("tgk", "o"))
    check(block < whole < block + 8192, f"the object of a block of {block} bytes has {whole}")


def main():
    options = installed.options()
    with installed.folder() as folder:
        prefix = installed.install(options, folder)
        os.environ["XDG_CACHE_HOME"] = folder + "/cache"
        build_both(options, prefix, folder)
        edit_one_of_two(options, prefix, folder)
        mistakes(options, prefix, folder)
        within_a_project(options, folder)
        long_names(prefix, folder)
    print("package: two libraries in one program, static and shared; one spec of two edited")


main()
