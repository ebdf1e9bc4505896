# SPDX-License-Identifier: MIT
"""Every variant of the default policy of these specs, for two targets: none spills, none is large, and the package is small.

budget.py TILEGYMC SPEC...
"""
import json
import os
import subprocess
import sys
import tempfile

CUBIN_BYTES = 48 * 1024
PACKAGE_BYTES_A_VARIANT = 15_000  # as packed: code for both targets, PTX for one

tool, specs = sys.argv[1], sys.argv[2:]
with tempfile.TemporaryDirectory() as folder:
    done = subprocess.run([tool, "compile", *specs, "--arch", "sm_80,sm_90a", "--name", "budget", "-o", folder], capture_output=True, text=True)
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
if not variants:
    wrong.append("there are no variants")
print(f"{len(variants)} variants, the largest of {max((v['cubin_bytes'] for v in variants), default=0)} bytes, package of {size} bytes")
sys.exit("\n".join(wrong) or 0)
