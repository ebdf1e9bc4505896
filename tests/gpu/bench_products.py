# SPDX-License-Identifier: MIT
"""Times matmul beside torch.matmul: bench_products.py KERNELS [--shapes MxNxK,...] [--dtype bf16] [--rounds 11].

KERNELS is a folder that `tilegymc compile matmul` made, or one of several such folders, each a contestant of its own. Every contestant is checked on odd and large
shapes against f64 first; one that is wrong is said so and left out. Times are CUDA graphs of up to 20 launches, in an order shuffled each round; printed are
torch's median in us and TFLOPS, and for each contestant the ratio torch's time / its own.
"""
import argparse
import os
import random
import statistics
import sys

import torch
from tilegym_ctypes import Package

DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
CHECKED = [(300, 520, 264), (1024, 1024, 1024), (2176, 4352, 1088), (8, 8, 8), (64, 64, 0), (1000, 1000, 520)]
SHAPES = ",".join(f"{n}x{n}x{n}" for n in (1024, 2048, 4096, 8192)) + "," + ",".join(
    f"8192x8192x{k}" for k in (256, 512, 1024, 2048)) + "," + ",".join(
    f"{m}x{nk}" for m in (1, 16, 64, 128, 512, 2048, 8192) for nk in ("6144x4096", "28672x4096", "4096x14336"))


def is_right(package, shape, dtype):
    m, n, k = shape
    a, b = torch.randn(m, k, device="cuda").to(dtype), torch.randn(k, n, device="cuda").to(dtype)
    want = a.double() @ b.double()
    limit = 2e-3 if dtype == torch.float32 else 2e-2
    for _ in range(3):
        c = torch.full((m, n), float("nan"), device="cuda", dtype=dtype)
        package.call("matmul", a=a, b=b, c=c)
        if not bool((((c.double() - want).abs() / (1 + want.abs())) < limit).all()):
            return False
    return True


def graph_of(run, launches):
    stream = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        run()
        stream.synchronize()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(launches):
                run()
    return graph


def time_shape(packages, shape, dtype, rounds):
    m, n, k = shape
    a, b = torch.randn(m, k, device="cuda").to(dtype), torch.randn(k, n, device="cuda").to(dtype)
    c = torch.empty(m, n, device="cuda", dtype=dtype)
    launches = max(1, min(20, int(3e-3 / (2 * m * n * k / 7e14 + 3e-6))))
    runs = {"torch": graph_of(lambda: torch.matmul(a, b, out=c), launches)}
    for name, package in packages.items():
        runs[name] = graph_of(lambda p=package: p.call("matmul", a=a, b=b, c=c), launches)
    times = {name: [] for name in runs}
    for turn in range(rounds + 1):  # the first warms up
        for name in random.sample(list(runs), len(runs)):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            runs[name].replay()
            end.record()
            torch.cuda.synchronize()
            if turn:
                times[name].append(start.elapsed_time(end) / launches * 1e3)
    return {name: statistics.median(values) for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels")
    parser.add_argument("--shapes", default=SHAPES)
    parser.add_argument("--dtype", choices=list(DTYPES), default="bf16")
    parser.add_argument("--rounds", type=int, default=11)
    args = parser.parse_args()
    dtype = DTYPES[args.dtype]
    folders = [args.kernels] if os.path.exists(os.path.join(args.kernels, "manifest.json")) else sorted(
        os.path.join(args.kernels, name) for name in os.listdir(args.kernels))
    torch.manual_seed(0)
    packages, wrong = {}, 0
    for folder in folders:
        package = Package(folder, "./libtilegym.so")
        bad = [shape for shape in CHECKED if not is_right(package, shape, dtype)]
        if bad:
            print(f"WRONG {os.path.basename(folder)} at {bad}")
            wrong += 1
        else:
            packages[os.path.basename(folder)] = package
    for text in args.shapes.split(","):
        shape = tuple(int(extent) for extent in text.split("x"))
        took = time_shape(packages, shape, dtype, args.rounds)
        rate = 2 * shape[0] * shape[1] * shape[2] / took["torch"] / 1e6
        print(f"{text} torch {took['torch']:.1f} us {rate:.0f} TFLOPS" +
              "".join(f"; {name} {took['torch'] / took[name]:.3f}" for name in packages), flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
