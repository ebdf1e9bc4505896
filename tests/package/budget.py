# SPDX-License-Identifier: MIT
"""Every variant of these specs, of the default policy and of the tuned tables, for two targets: none spills, none is large, the package is small, and
where a time is given, compiling them anew takes no longer.

budget.py TILEGYMC --cache DIR [--minutes M --megabytes B] SPEC...
Where a time is given, the cache is emptied first; another run may take from it what this one compiled.
Minutes are of two cores: what all processes together spend of a core counts, so that other work on the machine does not.
"""
import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

CUBIN_BYTES = 52 * 1024
PACKAGE_BYTES_A_VARIANT = 15_000  # as packed: code for both targets, PTX for one

parser = argparse.ArgumentParser()
parser.add_argument("tool")
parser.add_argument("specs", nargs="+")
parser.add_argument("--cache", required=True)
parser.add_argument("--minutes", type=float)
parser.add_argument("--megabytes", type=float)
options = parser.parse_args()
if options.minutes is not None:
    shutil.rmtree(options.cache, ignore_errors=True)
with tempfile.TemporaryDirectory() as folder:
    command = [options.tool, "compile", *options.specs, "--arch", "sm_80,sm_90a", "--name", "budget", "-o", folder]
    done = subprocess.run(command, env=os.environ | {"TILEGYM_CACHE_DIR": options.cache}, capture_output=True, text=True)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = spent.ru_utime + spent.ru_stime
    print(done.stderr, end="")
    if done.returncode != 0:
        sys.exit("the specs do not compile")
    if "PTX only" in done.stderr:
        print("[SKIP] there is no ptxas, so nothing is known of machine code")
        sys.exit(77)
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        variants = [variant for op in json.load(file)["ops"] for variant in op["variants"]]
    size = os.path.getsize(os.path.join(folder, "budget.tgk"))
wrong = [f"{v['entry']} for {v['arch']} spills {v['spill_bytes']} bytes" for v in variants if v["spill_bytes"]]
wrong += [f"{v['entry']} for {v['arch']} has {v['cubin_bytes']} bytes of at most {CUBIN_BYTES}" for v in variants if v["cubin_bytes"] > CUBIN_BYTES]
if size > PACKAGE_BYTES_A_VARIANT * len(variants):
    wrong.append(f"the package of {len(variants)} variants has {size} bytes of at most {PACKAGE_BYTES_A_VARIANT * len(variants)}")
if options.megabytes is not None and size > options.megabytes * 1e6:
    wrong.append(f"the package has {size} bytes, expected at most {options.megabytes:g} MB")
if options.minutes is not None and " 0 from the cache)" not in done.stderr + done.stdout:
    wrong.append("what was timed was not compiled anew")
if options.minutes is not None and seconds > options.minutes * 60 * 2:
    wrong.append(f"compiling took {seconds:.1f} s of a core, expected at most {options.minutes:g} minutes of two cores")
if not variants:
    wrong.append("there are no variants")
print(f"{len(variants)} variants, the largest of {max((v['cubin_bytes'] for v in variants), default=0)} bytes, package of {size} bytes, "
      f"{seconds:.1f} s of a core")
sys.exit("\n".join(wrong) or 0)
