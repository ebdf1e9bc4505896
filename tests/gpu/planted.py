# SPDX-License-Identifier: MIT
"""Tunes planted.tile, of whose points one leaves out a tile and one never ends: both must be found. usage: planted.py FOLDER-OF-ITS-PLAN"""
import glob
import json
import os
import subprocess
import sys

TOOL, FOLDER = os.path.join(".", "tilegymc"), sys.argv[1]


def tune(*options):
    command = [TOOL, "tune", os.path.join(FOLDER, "planted.tile"), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    print(done.stdout + done.stderr)
    if done.returncode:
        sys.exit(f"{' '.join(command)} fails with {done.returncode}")
    return done.stderr


def main():
    for path in glob.glob(os.path.join(FOLDER, "results.jsonl")):
        os.remove(path)
    said = tune("--measure", FOLDER, "--limit", "5")
    tune("--finish", FOLDER, "-o", os.path.join(FOLDER, "tables"))
    with open(glob.glob(os.path.join(FOLDER, "tables", "*", "planted.json"))[0], encoding="utf-8") as file:
        modes = {entry["point"]["MODE"] for entry in json.load(file)["entries"]}
    wrong = said.count("MODE2_BN1024_warps4_fast is left out") - 2 or said.count("elements differ") - 2
    endless = said.count("MODE3_BN1024_warps4_fast is left out") - 2 or said.count("did not end within 5 s") - 2
    failed = sum(map(bool, (wrong, endless, modes != {1})))
    print(f"{3 - failed} passed, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(main())
