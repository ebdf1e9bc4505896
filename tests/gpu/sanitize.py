# SPDX-License-Identifier: MIT
"""A few small calls of one op, each kernel of it once, for compute-sanitizer. usage: sanitize.py PACKAGE-FOLDER OP"""
import sys

import torch

import row_ops
from tilegym_ctypes import Package


def main():
    package, op = Package(sys.argv[1]), sys.argv[2]
    runs = 0
    for rows, n in [(3, 63), (5, 1000), (4, 1024), (3, 4096), (2, 16384), (2, 20000), (1, 24576), (3, 65536)]:
        for dtype in (torch.float32, torch.bfloat16):
            for pad, step in ((0, 1), (3, 1), (0, 2)): # packed, rows at odd places, every second element: the fast, dense and general variants
                view = lambda rows, n, dtype: torch.empty(rows, step * n + pad, device="cuda", dtype=dtype)[:, : step * n : step]
                arguments = row_ops.make(op, rows, n, dtype, view).arguments
                if op in ("rms_norm", "layer_norm"):
                    arguments["rstd"] = torch.empty(rows, device="cuda", dtype=torch.float32)
                if op == "layer_norm":
                    arguments["mean"] = torch.empty_like(arguments["rstd"])
                package.call(op, **arguments)
                runs += 1
    torch.cuda.synchronize()
    print(f"{runs} passed, 0 failed")


main()
