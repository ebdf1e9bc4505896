# SPDX-License-Identifier: MIT
"""Times bmm beside torch.bmm: bench_batches.py KERNELS [--shapes QxMxNxK,...] [--dtype bf16] [--orders nn,tn,nt,tt] [--rounds 11].

KERNELS is a folder that `tilegymc compile bmm` made, or one of several such folders, each a contestant of its own. Every contestant is checked against f64 first; one
that is wrong ends the run. Times are CUDA graphs of up to 20 launches, in an order shuffled each round; printed are torch's median in us and TFLOPS, and for each contestant
the ratio torch's time / its own. Orders say for a and b whether they are transposed views.
"""
import argparse
import os

import torch
from bench_products import DTYPES, folders_of, graph_of, launches_of, medians_of
from tilegym_ctypes import Package

CHECKED = [(3, 300, 520, 264), (5, 65, 72, 40), (2, 640, 1088, 512)]


def matrices(count, rows, columns, dtype, transposed=False):
    """Random normal numbers."""
    if transposed:
        return matrices(count, columns, rows, dtype).mT
    return torch.randn(count, rows, columns, device="cuda").to(dtype)


def operands(shape, dtype, order):
    q, m, n, k = shape
    return matrices(q, m, k, dtype, order[0] == "t"), matrices(q, k, n, dtype, order[1] == "t"), matrices(q, m, n, dtype)


def check(package, shape, dtype, order):
    a, b, c = operands(shape, dtype, order)
    package.call("bmm", a=a, b=b, c=c.fill_(float("nan")))
    want = a.double() @ b.double()
    assert bool(((c.double() - want).abs() / (1 + want.abs()) < 2e-2).all()), f"{package} is wrong at {shape} {order}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels")
    parser.add_argument("--shapes", default="16x1024x1024x1024,8x4096x4096x4096")
    parser.add_argument("--dtype", choices=["bf16", "f16", "f32"], default="bf16")
    parser.add_argument("--orders", default="nn")
    parser.add_argument("--rounds", type=int, default=11)
    args = parser.parse_args()
    dtype = DTYPES[args.dtype]
    folders = folders_of(args.kernels)
    torch.manual_seed(0)
    packages = {os.path.basename(folder): Package(folder, "./libtilegym.so") for folder in folders}
    for order in args.orders.split(","):
        for package in packages.values():
            for shape in CHECKED:
                check(package, shape, dtype, order)
        for text in args.shapes.split(","):
            shape = q, m, n, k = tuple(int(extent) for extent in text.split("x"))
            a, b, c = operands(shape, dtype, order)
            launches = launches_of(2 * q * m * n * k)
            runs = {"torch": graph_of(lambda: torch.bmm(a, b, out=c), launches)}
            for name, package in packages.items():
                runs[name] = graph_of(lambda: package.call("bmm", a=a, b=b, c=c), launches)
            took = medians_of(runs, launches, args.rounds)
            print(f"{text} {order} torch {took['torch']:.1f} us {2 * q * m * n * k / took['torch'] / 1e6:.0f} TFLOPS" +
                  "".join(f"; {name} {took['torch'] / took[name]:.3f}" for name in packages), flush=True)


if __name__ == "__main__":
    main()
