# SPDX-License-Identifier: MIT
"""Times matmul beside torch.matmul: bench_products.py KERNELS [--shapes MxNxK,...] [--random N] [--dtype bf16] [--precision ieee] [--orders nn,tn,nt,tt] [--pad 8] [--aligned] [--rounds 11] [--rest MS] [--heat N].

KERNELS is a folder that `tilegymc compile matmul` made, or one of several such folders, each a contestant of its own. Every contestant is checked on odd and large
shapes against f64 first; one that is wrong is said so and left out. Times are CUDA graphs of up to 20 launches, in an order shuffled each round; printed are
torch's median in us and TFLOPS, and for each contestant the ratio torch's time / its own, at the end its geometric mean. --random: so many shapes near the
listed ones, always the same, in their place: a quarter less or more of each extent, M any number, N and K multiples of 8. Orders say for a and b whether they are transposed views; with --pad their
rows (and the result's) begin at multiples of so many elements, so that odd sizes can be copied by tensor maps. With --aligned the peer is not torch but the contestant itself, on packed
operands in the same orders whose extents are the next multiples of 64. A product that takes a card to its power limit is timed apart on one that has rested so many
milliseconds before each measurement (--rest), and on one that has just done the same so many times (--heat).
"""
import argparse
import os
import random
import statistics
import sys
import time

import torch
from tilegym_ctypes import Package

DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "f8e4m3": torch.float8_e4m3fn}
PRECISIONS = ["ieee", "tf32", "tf32x3", "fast"]  # as the spec lists them
CHECKED = [(300, 520, 264), (1024, 1024, 1024), (2176, 4352, 1088), (8, 8, 8), (64, 64, 0), (1000, 1000, 520), (1501, 1503, 1033), (1504, 1504, 1033)]
SHAPES = ",".join(f"{n}x{n}x{n}" for n in (1024, 2048, 4096, 8192)) + "," + ",".join(
    f"8192x8192x{k}" for k in (256, 512, 1024, 2048)) + "," + ",".join(
    f"{m}x{nk}" for m in (1, 16, 64, 128, 512, 2048, 8192) for nk in ("6144x4096", "28672x4096", "4096x14336"))


def near(shapes, count):
    chance = random.Random(6)
    def about(extent, step):
        return max(1, round(extent * chance.uniform(0.75, 1.25) / step)) * step
    for _ in range(count):
        m, n, k = (int(extent) for extent in chance.choice(shapes).split("x"))
        yield f"{about(m, 1)}x{about(n, 8)}x{about(k, 8)}"


def matrix(rows, columns, dtype, pad=1, transposed=False):
    """Random normal numbers; `pad`: neighbouring rows (columns of a transposed one) are a multiple of it apart."""
    if transposed:
        return matrix(columns, rows, dtype, pad).t()
    stride = -(-columns // pad) * pad
    return torch.randn(rows, max(stride, 1), device="cuda").to(dtype)[:, :columns]


def operands(shape, dtype, order, pad=1):
    m, n, k = shape
    return matrix(m, k, dtype, pad, order[0] == "t"), matrix(k, n, dtype, pad, order[1] == "t")


def peer(a, b, c, precision):
    """torch's product: of f8 by _scaled_mm into bf16, which adds as exactly as `precision` says."""
    if a.dtype == DTYPES["f8e4m3"]:
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16, use_fast_accum=precision == "fast")
    return lambda: torch.matmul(a, b, out=c)


def is_right(package, shape, dtype, order, pad, precision):
    m, n, k = shape
    a, b = operands(shape, dtype, order, pad)
    want = a.double() @ b.double()
    limit = {torch.float32: 0.1 if precision == "tf32" else 2e-3, DTYPES["f8e4m3"]: 0.14}.get(dtype, 2e-2)
    want = want.clamp(-448, 448) if dtype == DTYPES["f8e4m3"] else want
    for _ in range(3):
        c = matrix(m, n, dtype, pad)
        c.view(torch.uint8 if dtype.itemsize == 1 else dtype).fill_(255 if dtype.itemsize == 1 else float("nan"))
        package.call("matmul", a=a, b=b, c=c, precision=PRECISIONS.index(precision))
        if not bool((((c.double() - want).abs() / (1 + want.abs())) < limit).all()):
            return False
    return True


def folders_of(kernels):
    """The contestants: the package itself, or those in the folder."""
    return [kernels] if os.path.exists(os.path.join(kernels, "manifest.json")) else sorted(os.path.join(kernels, name) for name in os.listdir(kernels))


def launches_of(flops):
    """As many as take some 3 ms at 700 TFLOPS, at most 20."""
    return max(1, min(20, int(3e-3 / (flops / 7e14 + 3e-6))))


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


def medians_of(graphs, launches, rounds, rest=0, heat=0):
    """What one launch of each graph takes, in us: the median of so many rounds, each in an order of its own. Before each there are so many ms of rest, and runs of the same graph."""
    times = {name: [] for name in graphs}
    for turn in range(rounds + 1):  # the first warms up
        for name in random.sample(list(graphs), len(graphs)):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            time.sleep(rest / 1e3)
            for _ in range(heat):
                graphs[name].replay()
            start.record()
            graphs[name].replay()
            end.record()
            torch.cuda.synchronize()
            if turn:
                times[name].append(start.elapsed_time(end) / launches * 1e3)
    return {name: statistics.median(values) for name, values in times.items()}


def time_shape(packages, shape, dtype, order, args):
    m, n, k = shape
    a, b = operands(shape, dtype, order, args.pad)
    c = matrix(m, n, dtype, args.pad)
    launches = launches_of(2 * m * n * k)
    theirs = peer(a, b, c, args.precision)  # what it holds is read at every replay
    runs = {"torch": graph_of(theirs, launches)}
    def ours(package, a, b, c):
        return graph_of(lambda: package.call("matmul", a=a, b=b, c=c, precision=PRECISIONS.index(args.precision)), launches)
    for name, package in packages.items():
        runs[name] = ours(package, a, b, c)
    if args.aligned:
        m, n, k = (-(-extent // 64) * 64 for extent in shape)
        x, y = operands((m, n, k), dtype, order)
        z = matrix(m, n, dtype)
        for name, package in packages.items():
            runs[name + " aligned"] = ours(package, x, y, z)
    return medians_of(runs, launches, args.rounds, args.rest, args.heat)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels")
    parser.add_argument("--shapes", default=SHAPES)
    parser.add_argument("--dtype", choices=list(DTYPES), default="bf16")
    parser.add_argument("--precision", choices=PRECISIONS, default="ieee")
    parser.add_argument("--orders", default="nn")
    parser.add_argument("--pad", type=int, default=1)
    parser.add_argument("--aligned", action="store_true")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--rest", type=float, default=0)
    parser.add_argument("--heat", type=int, default=0)
    args = parser.parse_args()
    dtype = DTYPES[args.dtype]
    folders = folders_of(args.kernels)
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = args.precision == "tf32"
    packages, wrong = {}, 0
    for folder in folders:
        package = Package(folder, "./libtilegym.so")
        bad = [(shape, order) for shape in CHECKED for order in args.orders.split(",") for pad in {1, args.pad}
               if not is_right(package, shape, dtype, order, pad, args.precision)]
        if bad:
            print(f"WRONG {os.path.basename(folder)} at {bad}")
            wrong += 1
        else:
            packages[os.path.basename(folder)] = package
    shapes = args.shapes.split(",")
    ratios = {name: [] for name in packages}
    for text in near(shapes, args.random) if args.random else shapes:
        shape = tuple(int(extent) for extent in text.split("x"))
        for order in args.orders.split(","):
            took = time_shape(packages, shape, dtype, order, args)
            rate = 2 * shape[0] * shape[1] * shape[2] / took["torch"] / 1e6
            ratio = {name: took[name + " aligned" if args.aligned else "torch"] / took[name] for name in packages}
            for name in packages:
                ratios[name].append(ratio[name])
            print(f"{text} {order} torch {took['torch']:.1f} us {rate:.0f} TFLOPS" +
                  "".join(f"; {name} {ratio[name]:.3f}" for name in packages), flush=True)
    print("geometric mean" + "".join(f"; {name} {statistics.geometric_mean(found):.3f}, least {min(found):.3f}" for name, found in ratios.items()))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
