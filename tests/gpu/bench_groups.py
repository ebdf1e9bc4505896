# SPDX-License-Identifier: MIT
"""Times group_gemm beside products of equal work: bench_groups.py KERNELS [--groups 8x2048,...] [--dtype bf16] [--rounds 11]; `--groups ""` checks alone.

KERNELS is a folder that `tilegymc compile group_gemm matmul` made. 8x2048 are eight products of 2048 cubed; 1024+512+256 one of each. Results are checked against f64
first. Beside ours stand one product of as much work (rows of all products in one matrix, where all are equal), ours and torch's, and torch's loop over the products.
Times are CUDA graphs, in an order shuffled each round; printed are medians in us, TFLOPS, and the ratios other's time / ours.
"""
import argparse
import sys

import torch
from bench_products import DTYPES, graph_of, launches_of, medians_of
from tilegym_ctypes import Package

CHECKED = [[(300, 520, 264), (8, 8, 8), (0, 64, 64), (1000, 1000, 520)], [(129, 72, 0), (33, 40, 70)], [(1024, 1024, 1024)] * 4, [(1, 8, 8)] * 64,
           [(2176, 4352, 1088), (1, 1, 1)], [(512, 256, 128), (256, 512, 384), (640, 384, 256)]]


def lists(shapes, dtype, order="nn"):
    def matrix(rows, columns, turned):
        made = torch.randn(columns if turned else rows, rows if turned else columns, device="cuda").to(dtype)
        return made.t() if turned else made
    a = [matrix(m, k, order[0] == "t") for m, n, k in shapes]
    b = [matrix(k, n, order[1] == "t") for m, n, k in shapes]
    c = [torch.full((m, n), 7.0, device="cuda").to(dtype) for m, n, k in shapes]
    return a, b, c


def is_right(package, shapes, dtype, order):
    a, b, c = lists(shapes, dtype, order)
    limit, largest = {DTYPES["f8e4m3"]: (0.14, 448)}.get(dtype, (2e-3 if dtype == torch.float32 else 2e-2, float("inf")))
    for _ in range(2):
        package.call("group_gemm", a=a, b=b, c=c)
        for x, y, z in zip(a, b, c):
            want = (x.double() @ y.double()).clamp(-largest, largest)
            if not bool((((z.double() - want).abs() / (1 + want.abs())) < limit).all()):
                return False
    return True


def shapes_of(text):
    if "x" in text:
        count, size = map(int, text.split("x"))
        return [(size,) * 3] * count
    return [(size,) * 3 for size in map(int, text.split("+"))]


def time_groups(package, text, dtype, rounds):
    shapes = shapes_of(text)
    flops = sum(2 * m * n * k for m, n, k in shapes)
    a, b, c = lists(shapes, dtype)
    runs = {"ours": lambda: package.call("group_gemm", a=a, b=b, c=c), "torch loop": lambda: [torch.matmul(x, y, out=z) for x, y, z in zip(a, b, c)]}
    if len(set(shapes)) == 1:
        m, n, k = shapes[0]
        (x,), (y,), (z,) = lists([(m * len(shapes), n, k)], dtype)
        runs["one matmul of ours"] = lambda: package.call("matmul", a=x, b=y, c=z)
        runs["one torch.matmul"] = lambda: torch.matmul(x, y, out=z)
        q, r, s = (torch.stack(t) for t in (a, b, c))
        runs["torch.bmm"] = lambda: torch.bmm(q, r, out=s)
    launches = launches_of(flops)
    took = medians_of({name: graph_of(run, launches) for name, run in runs.items()}, launches, rounds)
    print(f"{text} {took['ours']:.1f} us {flops / took['ours'] / 1e6:.0f} TFLOPS, {package.explain('group_gemm', a=a, b=b, c=c).split(',')[0]}" +
          "".join(f"; {name} {took[name] / took['ours']:.3f}" for name in runs if name != "ours"), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels")
    parser.add_argument("--groups", default="8x1024,8x2048,8x4096,16x1024,4x2048,4x4096,64x512,1024+512+256+128")
    parser.add_argument("--dtype", choices=list(DTYPES), default="bf16")
    parser.add_argument("--rounds", type=int, default=11)
    args = parser.parse_args()
    torch.manual_seed(0)
    package = Package(args.kernels, "./libtilegym.so")
    wrong = [(shapes, order) for shapes in CHECKED for order in ("nn", "nt", "tn", "tt") if not is_right(package, shapes, DTYPES[args.dtype], order)]
    print(f"WRONG at {wrong}" if wrong else f"{4 * len(CHECKED)} lists are right")
    for text in filter(None, args.groups.split(",")):
        time_groups(package, text, DTYPES[args.dtype], args.rounds)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
