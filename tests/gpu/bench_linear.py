# SPDX-License-Identifier: MIT
"""Times linear with a bias and an activation beside matmul: bench_linear.py KERNELS [--shapes MxNxK,...] [--dtype bf16] [--activations none,gelu,silu] [--rounds 11].

KERNELS is a folder that `tilegymc compile linear matmul` made, or one of several such folders, each a contestant of its own; the first one's matmul, of the same operands, is
what all are compared with. Results are checked against f64 first. Times are CUDA graphs of up to 20 launches, in an order shuffled each round; printed are matmul's
median in us and TFLOPS, the ratio of its time to torch.matmul's, to torch.nn.functional.linear's, and to each contestant's, and what is furthest from f64.
"""
import argparse
import os
import sys

import torch
from bench_products import DTYPES, folders_of, graph_of, launches_of, matrix, medians_of
from tilegym_ctypes import Package

ACTIVATIONS = {"none": lambda t: t, "gelu": torch.nn.functional.gelu, "silu": torch.nn.functional.silu}  # as the spec lists them
CHECKED = [(300, 520, 264), (65, 72, 33), (2176, 4352, 1088)]


def operands(shape, dtype):
    m, n, k = shape
    return matrix(m, k, dtype), matrix(n, k, dtype) * k**-0.5, matrix(1, n, dtype)[0]


def run_of(package, x, w, bias, y, activation):
    return lambda: package.call("linear", x=x, w=w, bias=bias, y=y, activation=list(ACTIVATIONS).index(activation))


def furthest(package, shape, dtype, activation):
    """The largest |found - wanted| / (|wanted| + 1), NaN where anything is."""
    x, w, bias = operands(shape, dtype)
    y = torch.full(shape[:2], float("nan"), device="cuda", dtype=dtype)
    run_of(package, x, w, bias, y, activation)()
    want = ACTIVATIONS[activation](x.double() @ w.double().T + bias.double())
    return float(((y.double() - want).abs() / (want.abs() + 1)).max())


def time_shape(packages, shape, dtype, activations, rounds):
    m, n, k = shape
    x, w, bias = operands(shape, dtype)
    y = matrix(m, n, dtype)
    launches = launches_of(2 * m * n * k)
    runs = {"matmul": lambda: next(iter(packages.values())).call("matmul", a=x, b=w.T, c=y, precision=0),
            "torch.matmul": lambda: torch.matmul(x, w.T, out=y), "torch's linear": lambda: torch.nn.functional.linear(x, w, bias)}
    for name, package in packages.items():
        runs.update({f"{name} {activation}": run_of(package, x, w, bias, y, activation) for activation in activations})
    return medians_of({name: graph_of(run, launches) for name, run in runs.items()}, launches, rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels")
    parser.add_argument("--shapes", default="4096x4096x4096,4096x14336x4096,2048x4096x14336,8192x8192x1024,8192x8192x8192")
    parser.add_argument("--dtype", choices=["f32", "f16", "bf16"], default="bf16")
    parser.add_argument("--activations", default="none,gelu")
    parser.add_argument("--rounds", type=int, default=11)
    args = parser.parse_args()
    dtype, activations = DTYPES[args.dtype], args.activations.split(",")
    folders = folders_of(args.kernels)
    torch.manual_seed(0)
    packages, wrong = {os.path.basename(folder): Package(folder, "./libtilegym.so") for folder in folders}, 0
    for name, package in packages.items():
        for activation in activations:
            worst = max(furthest(package, shape, dtype, activation) for shape in CHECKED)
            right = worst < {torch.float32: 2e-3, torch.float16: 1e-3}.get(dtype, 8e-3)
            wrong += not right
            print(f"{name} {activation}: at most {worst:.2e} off" + ("" if right else ", which is WRONG"))
    for text in args.shapes.split(","):
        m, n, k = shape = tuple(int(extent) for extent in text.split("x"))
        took = time_shape(packages, shape, dtype, activations, args.rounds)
        plain = took.pop("matmul")
        print(f"{text} matmul {plain:.1f} us {2 * m * n * k / plain / 1e6:.0f} TFLOPS" +
              "".join(f"; {name} {plain / value:.3f}" for name, value in took.items()), flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
