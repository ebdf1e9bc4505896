# SPDX-License-Identifier: MIT
"""Calibration of the simulator against a GPU.

    calibration.py compare --opt TILEGYM_OPT --runner CALIBRATE_SIM --build FOLDER [only TEXT] [seeds N]
        Writes the kernels into FOLDER, compiles them for the simulator, runs them and compares with data/.
    calibration.py bundle --opt TILEGYM_OPT --build FOLDER
        Writes the kernels into FOLDER and assembles them for the GPU.
    calibration.py keep RESULTS
        Takes the results.txt that the bundle's run.sh wrote on a GPU into data/, a file a family.
"""
import argparse
import importlib
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "kernels"))
FAMILIES = sorted(name[:-3] for name in os.listdir(os.path.join(HERE, "kernels")) if name.endswith(".py") and name != "writer.py")


def write_kernels(folder):
    os.makedirs(folder, exist_ok=True)
    for family in FAMILIES:
        kernels = list(importlib.import_module(family).kernels())
        with open(os.path.join(folder, family + ".mlir"), "w") as file:
            file.write("\n".join(kernel.text() for kernel in kernels))
    for name in os.listdir(folder):  # of families that are no more
        if name.endswith(".mlir") and name[:-5] not in FAMILIES:
            os.remove(os.path.join(folder, name))


def assemble(opt, folder, emit, suffix):
    failed = 0
    for family in FAMILIES:
        path = os.path.join(folder, family)
        command = [opt, "assemble", path + ".mlir", "arch=sm_90a", f"emit={emit}", f"out={path}.{suffix}"]
        failed |= subprocess.run(command, stdout=subprocess.DEVNULL).returncode != 0
    return failed


def keep(results):
    """Lines from one `kernel` line to the next are a record, which replaces the one that is kept."""
    def records(path):
        found, origin, name = {}, "", None
        with open(path) as file:
            for line in file:
                if line.startswith("# "):
                    origin = line
                elif line.startswith("kernel "):
                    name = line
                    found[name] = [origin, line]
                else:
                    found[name].append(line)
        return found

    new = records(results)
    for family in FAMILIES:
        path = os.path.join(HERE, "data", family + ".txt")
        kept = records(path) if os.path.exists(path) else {}
        names = [f"kernel {family} {kernel.name}\n" for kernel in importlib.import_module(family).kernels()]
        with open(path, "w") as file:
            origin = None
            for name in names:
                record = new.get(name) or kept.get(name)
                if record is None:
                    continue
                if record[0] != origin:
                    origin = record[0]
                    file.write(origin)
                file.writelines(record[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("compare", "bundle", "keep"))
    parser.add_argument("words", nargs="*")
    parser.add_argument("--opt")
    parser.add_argument("--runner")
    parser.add_argument("--build")
    arguments = parser.parse_intermixed_args()
    if arguments.command == "keep":
        keep(arguments.words[0])
        return 0
    write_kernels(arguments.build)
    if arguments.command == "bundle":
        return assemble(arguments.opt, arguments.build, "cubin", "cubin")
    if assemble(arguments.opt, arguments.build, "object", "o"):
        return 1
    return subprocess.run([arguments.runner, arguments.build, os.path.join(HERE, "data"), *arguments.words]).returncode


sys.exit(main())
