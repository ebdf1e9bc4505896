# SPDX-License-Identifier: MIT
"""Odd shapes, strides and bases of the three first ops against torch in f64; outputs poisoned. usage: smoke.py PACKAGE-FOLDER"""
import sys

import torch

from tilegym_ctypes import Package

TOLERANCE = {torch.float32: 4e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


def layouts(rows, n, dtype):
    """Views of (rows, n) with different strides and bases, each uninitialised."""
    yield "packed", torch.empty(rows, n, device="cuda", dtype=dtype)
    yield "padded rows", torch.empty(rows, n + 3, device="cuda", dtype=dtype)[:, :n]
    yield "transposed", torch.empty(n, rows, device="cuda", dtype=dtype).T
    yield "every second", torch.empty(rows, 2 * n, device="cuda", dtype=dtype)[:, ::2]
    yield "misaligned", torch.empty(rows * n + 1, device="cuda", dtype=dtype)[1:].view(rows, n)


def exact(op, x, other):
    x = x.double()
    if op == "softmax":
        return torch.softmax(x, -1)
    if op == "rms_norm":
        return torch.nn.functional.rms_norm(x, (x.shape[-1],), other.double(), 1e-6)
    return x + other.double()


def main():
    package = Package(sys.argv[1])
    runs = failures = 0
    torch.manual_seed(0)
    for op in ("vector_add", "softmax", "rms_norm"):
        if op not in package.ops:
            continue
        for rows, n in [(0, 5), (1, 1), (3, 63), (7, 128), (5, 1000), (64, 1024), (9, 4097), (33, 8192), (2, 16384), (3, 50257), (4, 65536)]:
            for dtype in TOLERANCE:
                for (layout, x), (_, y) in zip(layouts(rows, n, dtype), layouts(rows, n, dtype)):
                    x.copy_(torch.randn(rows, n, device="cuda"))
                    y.fill_(float("nan"))
                    other = torch.randn(n, device="cuda", dtype=dtype) if op == "rms_norm" else torch.randn(rows, n, device="cuda", dtype=dtype)
                    arguments = {"softmax": dict(x=x, y=y), "rms_norm": dict(x=x, weight=other, y=y, eps=1e-6),
                                 "vector_add": dict(x=x, y=other, z=y)}[op]
                    runs += 1
                    try:
                        package.call(op, **arguments)
                        torch.cuda.synchronize()
                    except Exception as error:
                        failures += 1
                        print(f"FAILED {op} {rows}x{n} {dtype} {layout}: {error}")
                        if failures > 20:
                            return 1
                        continue
                    want = exact(op, x, other)
                    bad = ~((y.double() - want).abs() <= TOLERANCE[dtype] * (want.abs() + want.square().mean(-1, keepdim=True).sqrt()))
                    if bad.any():
                        failures += 1
                        where = bad.nonzero()[0].tolist()
                        print(f"FAILED {op} {rows}x{n} {dtype} {layout}: {int(bad.sum())} of {bad.numel()} wrong, first at {where}: "
                              f"got {y[tuple(where)].item()}, want {want[tuple(where)].item()}; {package.explain(op, **arguments)}")
                        if failures > 20:
                            return 1
    print(f"{runs - failures} passed, {failures} failed")
    return failures != 0


if __name__ == "__main__":
    raise SystemExit(main())
