# SPDX-License-Identifier: MIT
"""Installs the build, moves the prefix, and builds and runs the project in client/ against it from a folder outside the
tree: what is installed must be whole, must not depend on where it was built, and must bring neither LLVM nor the driver.
"""
import os
import re
import shutil
import time

import prefix as installed
from prefix import check, run


def check_prefix(prefix, places):
    """The package's CMake files are read elsewhere, so they may not name the folders of this build."""
    for folder, _, names in os.walk(os.path.join(prefix, "lib", "cmake")):
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            for place in places:
                check(place not in text, f"{name} names {place}")


def main():
    options = installed.options()
    with installed.folder() as folder:
        prefix = installed.install(options, folder)
        check_prefix(prefix, (options.source, options.build, folder))
        listed = run(prefix + "/bin/tilegymc", "list", cwd=folder)
        check("softmax" in listed, f"the installed tilegymc does not list the installed specs, but: {listed}")
        client, build = folder + "/client", folder + "/build"
        shutil.copytree(os.path.join(os.path.dirname(os.path.abspath(__file__)), "client"), client)
        run(prefix + "/bin/tilegymc", "check", client + "/axpy.tile")
        installed.configure(options, client, build, prefix)
        print(run(options.cmake, "--build", build))
        program = build + "/client"
        print(run(program))

        needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", program))
        check(needed and not [name for name in needed if re.match(r"lib(LLVM|MLIR|cuda|nv)", name)],
              f"the client needs {needed}; of these, LLVM's and CUDA's libraries must not be there")
        # Nothing to do at once; after an edit of the spec, its kernels are compiled again, but not what includes the header, whose text is the same.
        check("Compiling kernels" not in run(options.cmake, "--build", build), "an unchanged spec was compiled again")
        time.sleep(1.1)  # Make looks at whole seconds
        with open(client + "/axpy.tile", "a", encoding="utf-8") as file:
            file.write("# edited\n")
        again = run(options.cmake, "--build", build)
        check("Compiling kernels" in again, "an edited spec was not compiled again")
        check("main.cpp" not in again, "a program was compiled again although the header is the same")
        check("Compiling kernels" not in run(options.cmake, "--build", build), "a spec was compiled again and again")
    print("package: installed, moved, found, compiled, linked and run")


main()
