# SPDX-License-Identifier: MIT
"""Odd shapes, strides and bases of every row op against torch in f64; outputs poisoned. usage: smoke.py PACKAGE-FOLDER"""
import sys

import torch

import row_ops
from tilegym_ctypes import Package

TOLERANCE = {torch.float32: 4e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


LAYOUTS = {
    "packed": row_ops.packed,
    "padded rows": lambda rows, n, dtype: torch.empty(rows, n + 3, device="cuda", dtype=dtype)[:, :n],
    "transposed": lambda rows, n, dtype: torch.empty(n, rows, device="cuda", dtype=dtype).T,
    "every second": lambda rows, n, dtype: torch.empty(rows, 2 * n, device="cuda", dtype=dtype)[:, ::2],
    "misaligned": lambda rows, n, dtype: torch.empty(rows * n + 1, device="cuda", dtype=dtype)[1:].view(rows, n),
}


def main():
    package = Package(sys.argv[1])
    runs = failures = 0
    torch.manual_seed(0)
    for op in row_ops.OPS:
        if op not in package.ops:
            continue
        widths = [(2, n) for n in (2, 3, 31, 127, 129, 192, 229, 257)]
        for rows, n in widths + [(0, 5), (1, 1), (3, 63), (7, 128), (5, 1000), (64, 1024), (9, 4097), (33, 8192), (2, 16384), (3, 50257), (4, 65536)]:
            for dtype in TOLERANCE:
                for layout, view in LAYOUTS.items():
                    call = row_ops.make(op, rows, n, dtype, view)
                    runs += 1
                    try:
                        package.call(op, **call.arguments)
                        torch.cuda.synchronize()
                    except Exception as error:
                        failures += 1
                        print(f"FAILED {op} {rows}x{n} {dtype} {layout}: {error}")
                        if failures > 20:
                            return 1
                        continue
                    for output, exact in call.outputs:
                        got, want = output.double(), exact(slice(rows))
                        near = (got - want).abs() <= TOLERANCE[dtype] * (want.abs() + want.square().mean(-1, keepdim=True).sqrt())
                        if near.all():
                            continue
                        failures += 1
                        where = tuple((~near).nonzero()[0].tolist())
                        print(f"FAILED {op} {rows}x{n} {dtype} {layout}: {int((~near).sum())} of {near.numel()} wrong, first at {list(where)}: "
                              f"got {got[where].item()}, want {want[where].item()}; {package.explain(op, **call.arguments)}")
                    if failures > 20:
                        return 1
    print(f"{runs - failures} passed, {failures} failed")
    return failures != 0


if __name__ == "__main__":
    raise SystemExit(main())
