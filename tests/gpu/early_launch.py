# SPDX-License-Identifier: MIT
"""Early launches (tilegym_set_early_launch): chains of calls that read what the one before them wrote, against the same chains launched as ever, bit for bit;
and what a short call takes in a chain, in microseconds, in a stream's graph.

usage: early_launch.py KERNELS [--rounds N]
"""
import argparse
import os
import statistics
import sys

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tilegym_ctypes import Package  # noqa: E402

SIZES = [(1, 64), (16, 1024), (132, 4096), (512, 8192), (4096, 4096)]


def chain(package, x, y, z, times):
    """x stays in range: a softmax, its sum with x, a norm of the sum."""
    for _ in range(times):
        package.call("softmax", x=x, y=y)
        package.call("vector_add", x=x, y=y, z=z)
        package.call("softmax", x=z, y=x)


def captured(package, tensors, times):
    graph = torch.cuda.CUDAGraph()
    chain(package, *tensors, 1)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        chain(package, *tensors, times)
    return graph


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("package")
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    package = Package(options.package)
    early = package.library.tilegym_set_early_launch
    wrong = 0
    for dtype in torch.float32, torch.bfloat16:
        for rows, columns in SIZES:
            torch.manual_seed(1)
            start = torch.randn(rows, columns, device="cuda").to(dtype)
            graphs, results = [], []
            for on in 0, 1:
                early(on)
                tensors = [start.clone(), torch.empty_like(start), torch.empty_like(start)]
                for _ in range(options.rounds):  # outside of a graph
                    chain(package, *tensors, 5)
                graph = captured(package, tensors, 20)
                for _ in range(options.rounds):
                    graph.replay()
                torch.cuda.synchronize()
                results.append(tensors)
                graphs.append(graph)
            early(0)
            same = all(torch.equal(a, b) for a, b in zip(*results))
            wrong += not same
            times = [[], []]
            for _ in range(options.rounds):
                for graph, list_ in zip(graphs, times):
                    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                    begin.record()
                    graph.replay()
                    end.record()
                    end.synchronize()
                    list_.append(begin.elapsed_time(end) * 1000 / 60)
            ever, soon = map(statistics.median, times)
            print(f"{str(dtype):16} {rows:5} x {columns:5}  as ever {ever:7.2f} us  early {soon:7.2f} us  {ever / soon:.2f}  {'same bits' if same else 'DIFFERENT'}", flush=True)
    print(f"{wrong} chains differed" if wrong else "all chains agree")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
