# SPDX-License-Identifier: MIT
"""The README's two client projects, as they stand there: the blocks are written to files, built against an installed prefix that was moved, and run.
"""
import os
import re
import shutil
import sys

import prefix as installed
from prefix import check, run


def blocks(readme):
    """The code blocks by language; the first block without one is the spec."""
    found = {}
    for language, text in re.findall(r"^```(\w*)\n(.*?)^```$", readme, re.M | re.S):
        found.setdefault(language, []).append(text)
    return found


def main():
    options = installed.options()
    with open(options.source + "/README.md", encoding="utf-8") as file:
        code = blocks(file.read())
    spec = next(text for text in code[""] if "op axpy" in text)
    check(len(code["cpp"]) == len(code["cmake"]) == 1, "the README has more than one program or project")
    with installed.folder() as folder:
        prefix = installed.install(options, folder, "a place with a \u00e4nderung")
        client = folder + "/client"
        os.mkdir(client)
        for name, text in (("axpy.tile", spec), ("main.cpp", code["cpp"][0]), ("CMakeLists.txt", code["cmake"][0])):
            with open(f"{client}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        installed.configure(options, client, client + "/build", prefix)
        run(options.cmake, "--build", client + "/build")
        printed = run(client + "/build/program", cwd="/")
        check(printed == "13 26 39 ", f"the CMake project's program printed '{printed}'")
        if not shutil.which("pkg-config"):
            print("[SKIP] no pkg-config (Debian: pkg-config)")
            sys.exit(77)
        # Where pkg-config is told of a prefix with a space, it escapes it, and the shell does not undo that: a link without one is usual.
        os.symlink(prefix, folder + "/prefix")
        environment = {"PATH": f"{folder}/prefix/bin:{os.environ['PATH']}",
                       "PKG_CONFIG_PATH": f"{folder}/prefix/lib/pkgconfig:{folder}/prefix/lib64/pkgconfig"}
        commands = code["sh"][-1]
        check("pkg-config" in commands, "the README's last shell block is not the client's")
        run("sh", "-e", "-c", commands, cwd=client, env=environment)
        printed = run(client + "/program", cwd="/")
        check(printed == "13 26 39 ", f"the plain project's program printed '{printed}'")
        # The shared runtime, found where it lies.
        shared = commands.replace("tilegym-reference", "tilegym-shared").replace("-o program", "-o shared")
        with open(client + "/main.cpp", "w", encoding="utf-8") as file:
            file.write(re.sub(r".*reference.*\n", "", code["cpp"][0]))
        run("sh", "-e", "-c", shared, cwd=client, env={**environment, "TILEGYM_DRIVER": "none"})
        text = run(client + "/shared", cwd="/", env={"TILEGYM_DRIVER": "no-driver.so"}, expect=1)
        check("no CUDA driver" in text, f"without a driver the shared client said '{text}'")
        check("libtilegym.so.1" in run("readelf", "-d", client + "/shared"), "the shared client needs no libtilegym.so.1")
    print("package: the README's projects were built and ran")


main()
