# SPDX-License-Identifier: MIT
"""Times fmha beside torch's attention by cuDNN: bench_attention.py KERNELS [--cases all] [--rounds 7].

KERNELS is a folder that `tilegymc compile fmha` made, or one of several such folders, each a contestant of its own, for the head dims and causality that it was
compiled for. Every contestant is checked against f64 first, on odd lengths and grouped heads, and twice for the same bits; one that is wrong is said so and left out. A case is
B-H-HK-S-D-causal. Times are of a few launches between two events, in an order shuffled each round; printed are cuDNN's median in us and TFLOPS, and for each contestant
the ratio cuDNN's time / its own.
"""
import argparse
import math
import os
import random
import statistics
import sys

import torch
from bench_products import folders_of
from tilegym_ctypes import Error, Package
from torch.nn.attention import SDPBackend, sdpa_kernel

CHECKED = [(1, 2, 2, 128, 128), (1, 3, 1, 333, 333), (2, 4, 2, 640, 1000), (1, 2, 1, 1000, 640), (3, 25, 5, 777, 777), (1, 1, 1, 5, 0),
           (2, 40, 8, 1100, 1100)]
CASES = " ".join(f"{b}-{h}-{hk}-{s}-{d}-{c}" for h, hk, d in ((32, 32, 64), (16, 16, 128), (8, 8, 256)) for b, s in ((16, 1024), (4, 4096), (1, 16384))
                 for c in (0, 1)) + " 4-32-8-8192-128-1"


def inputs(b, h, hk, s, sk, d, dtype, spread=1.0):
    return [(torch.randn(*shape, device="cuda") * f).to(dtype)
            for shape, f in (((b, h, s, d), spread), ((b, hk, sk, d), 1), ((b, hk, sk, d), 1))]


def exact(q, k, v, scale, causal):
    heads, keys = q.shape[1] // k.shape[1], k.shape[2]
    out = torch.zeros_like(q, dtype=torch.float64)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            t = q[b, h].double() @ k[b, h // heads].double().T * scale
            if causal:
                t = t.masked_fill(torch.ones_like(t, dtype=torch.bool).triu(1 + keys - q.shape[2]), -math.inf)
            p = torch.softmax(t, -1).nan_to_num(0) if keys else t
            out[b, h] = p @ v[b, h // heads].double()
    return out


def is_right(package, shape, d, causal, dtype):
    b, h, hk, s, sk = shape
    for spread in (1.0, 4.0):
        q, k, v = inputs(b, h, hk, s, sk, d, dtype, spread)
        scale = 1 / math.sqrt(d)
        want, before = exact(q, k, v, scale, causal), None
        for _ in range(4):
            o = torch.full_like(q, float("nan"))
            package.call("fmha", q=q, k=k, v=v, scale=scale, causal=causal, o=o)
            if not bool(((o.double() - want).abs() < 1.6e-2 + 1.6e-2 * want.abs()).all()):
                return False
            if before is not None and not torch.equal(o, before):
                return False
            before = o
    return True


def time_case(packages, case, dtype, rounds):
    b, h, hk, s, d, causal = case
    q, k, v = inputs(b, h, hk, s, s, d, dtype)
    o, scale = torch.empty_like(q), 1 / math.sqrt(d)
    flops = (2 if causal else 4) * b * h * s * s * d
    launches = max(1, min(10, int(2e-3 / (flops / 6e14))))

    def peer():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=bool(causal), scale=scale, enable_gqa=h != hk)

    runs = {"cudnn": peer}
    for name, package in packages.items():
        runs[name] = lambda p=package: p.call("fmha", q=q, k=k, v=v, scale=scale, causal=causal, o=o)
    times = {name: [] for name in runs}
    for turn in range(rounds + 1):  # the first warms up
        for name in random.sample(list(runs), len(runs)):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            for _ in range(launches):
                runs[name]()
            end.record()
            torch.cuda.synchronize()
            if turn:
                times[name].append(start.elapsed_time(end) / launches * 1e3)
    return {name: statistics.median(values) for name, values in times.items()}, flops


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels")
    parser.add_argument("--cases", default=CASES)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    dtype = torch.bfloat16
    folders = folders_of(args.kernels)
    torch.manual_seed(0)
    cases = [tuple(int(number) for number in text.split("-")) for text in args.cases.split()]
    kinds = sorted({case[4:] for case in cases})
    packages, wrong = {kind: {} for kind in kinds}, 0
    for folder in folders:
        name, package = os.path.basename(folder), Package(folder, "./libtilegym.so")
        for d, causal in kinds:
            q, k, v = inputs(1, 1, 1, 64, 64, d, dtype)
            try:
                package.call("fmha", q=q, k=k, v=v, scale=1.0, causal=causal, o=torch.empty_like(q))
                torch.cuda.synchronize()
            except Error:
                continue  # not compiled for it
            bad = [shape for shape in CHECKED if not is_right(package, shape, d, causal, dtype)]
            if bad:
                print(f"WRONG {name} D={d} causal={causal} at {bad}", flush=True)
                wrong += 1
            else:
                packages[d, causal][name] = package
    best = []
    for case in cases:
        took, flops = time_case(packages[case[4:]], case, dtype, args.rounds)
        ratios = {name: took["cudnn"] / took[name] for name in packages[case[4:]]}
        best.append(max(ratios.values(), default=float("nan")))
        print("-".join(map(str, case)), f"cudnn {took['cudnn']:.1f} us {flops / took['cudnn'] / 1e6:.0f} TFLOPS" +
              "".join(f"; {name} {ratio:.3f}" for name, ratio in ratios.items()), flush=True)
    print(f"geomean of the best {statistics.geometric_mean(best):.3f}, least {min(best):.3f}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
