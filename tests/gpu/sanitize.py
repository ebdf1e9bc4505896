# SPDX-License-Identifier: MIT
"""A few small calls of one op, each kernel of it once, for compute-sanitizer. usage: sanitize.py PACKAGE-FOLDER OP"""
import sys

import torch

from tilegym_ctypes import Package


def main():
    package, op = Package(sys.argv[1]), sys.argv[2]
    runs = 0
    for rows, n in [(3, 63), (5, 1000), (4, 1024), (3, 4096), (2, 16384), (2, 20000), (1, 24576)]:
        for dtype in (torch.float32, torch.bfloat16):
            for pad in (0, 3): # packed, and rows at odd places: the fast and the general variants
                x = torch.randn(rows, n + pad, device="cuda", dtype=dtype)[:, :n]
                y = torch.empty(rows, n, device="cuda", dtype=dtype)
                other = torch.randn(n, device="cuda", dtype=dtype) if op == "rms_norm" else torch.randn_like(y)
                rstd = torch.empty(rows, device="cuda", dtype=torch.float32)
                package.call(op, **{"softmax": dict(x=x, y=y), "rms_norm": dict(x=x, weight=other, y=y, rstd=rstd, eps=1e-6),
                                    "vector_add": dict(x=x, y=other, z=y)}[op])
                runs += 1
    torch.cuda.synchronize()
    print(f"{runs} passed, 0 failed")


main()
