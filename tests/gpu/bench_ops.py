# SPDX-License-Identifier: MIT
"""Times the ops beside torch, Triton and a device copy of the same bytes, in one process, interleaved.

usage: bench_ops.py PACKAGE-FOLDER [--out FILE] [--rounds N] [--shapes RxN,...]
Each case is checked against torch in f64 first. A line a case: median times, GB/s, and ratios to the copy and to the best peer.
"""
import argparse
import json
import statistics

import torch
import triton
import triton.language as tl

from tilegym_ctypes import Package


@triton.jit
def softmax_kernel(x, y, N, BN: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BN)
    v = tl.load(x + r * N + c, mask=c < N, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + r * N + c, e / tl.sum(e, 0), mask=c < N)


@triton.jit
def rms_norm_kernel(x, w, y, N, eps, BN: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BN)
    v = tl.load(x + r * N + c, mask=c < N, other=0.0).to(tl.float32)
    s = tl.rsqrt(tl.sum(v * v, 0) / N + eps)
    tl.store(y + r * N + c, v * s * tl.load(w + c, mask=c < N, other=0.0).to(tl.float32), mask=c < N)


def warps_for(n):
    return 4 if n <= 2048 else 8 if n <= 8192 else 16


class Timer:
    """Medians of single launches between events, with the L2 flushed before each."""

    def __init__(self, rounds):
        self.rounds = rounds
        self.flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")

    def medians(self, functions):
        for f in functions.values():
            for _ in range(3):
                f()
        times = {name: [] for name in functions}
        for _ in range(self.rounds):
            for name, f in functions.items():
                self.flush.zero_()
                start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                start.record()
                f()
                end.record()
                end.synchronize()
                times[name].append(start.elapsed_time(end))
        return {name: statistics.median(t) for name, t in times.items()}


def cases(package, op, rows, n, dtype):
    """Functions that each run the op once on their own output, the exact result, and the bytes that must move."""
    x = torch.randn(rows, n, device="cuda", dtype=dtype)
    ours, tri = torch.full_like(x, float("nan")), torch.empty_like(x)
    size = x.element_size()
    block = triton.next_power_of_2(n)
    if op == "softmax":
        return ours, torch.softmax(x[:64].double(), -1), 2 * rows * n * size, {
            "ours": lambda: package.call(op, x=x, y=ours),
            "torch": lambda: torch.softmax(x, -1),
            "triton": lambda: softmax_kernel[(rows,)](x, tri, n, BN=block, num_warps=warps_for(n))}
    if op == "rms_norm":
        w = torch.randn(n, device="cuda", dtype=dtype)
        exact = torch.nn.functional.rms_norm(x[:64].double(), (n,), w.double(), 1e-6)
        return ours, exact, (2 * rows * n + n) * size, {
            "ours": lambda: package.call(op, x=x, weight=w, y=ours, eps=1e-6),
            "torch": lambda: torch.nn.functional.rms_norm(x, (n,), w, 1e-6),
            "triton": lambda: rms_norm_kernel[(rows,)](x, w, tri, n, 1e-6, BN=block, num_warps=warps_for(n))}
    if op == "vector_add":
        z = torch.randn(rows, n, device="cuda", dtype=dtype)
        return ours, (x[:64].double() + z[:64].double()), 3 * rows * n * size, {
            "ours": lambda: package.call(op, x=x, y=z, z=ours),
            "torch": lambda: torch.add(x, z, out=tri)}
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("package")
    parser.add_argument("--out")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--shapes", default="8192x8192,16384x4096,65536x1024,4096x16384,4096x5120,4096x65536")
    args = parser.parse_args()
    package, timer, lines = Package(args.package), Timer(args.rounds), []
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}")
    print(f"{'case':34} {'ours us':>9} {'GB/s':>7} {'of copy':>8} {'of torch':>9} {'of triton':>9}  error")
    for op in package.ops:
        for shape in args.shapes.split(","):
            rows, n = map(int, shape.split("x"))
            for dtype in (torch.bfloat16, torch.float32):
                made = cases(package, op, rows, n, dtype)
                if made is None:
                    continue
                ours, exact, moved, functions = made
                functions["ours"]()
                torch.cuda.synchronize()
                error = ((ours[:64].double() - exact).norm() / exact.norm()).item()
                wrong = not error < (1e-2 if dtype == torch.bfloat16 else 1e-5) or bool(torch.isnan(ours).any())
                source = torch.randn(moved // 2 // 4, device="cuda")
                target = torch.empty_like(source)
                functions["copy"] = lambda: target.copy_(source)
                t = timer.medians(functions)
                line = {"op": op, "shape": shape, "dtype": str(dtype)[6:], "us": {k: round(v * 1e3, 2) for k, v in t.items()},
                        "gbps": round(moved / t["ours"] / 1e6, 1), "of_copy": round(t["copy"] / t["ours"], 3),
                        "error": error, "wrong": wrong, "variant": ""}
                ratio = lambda peer: f"{t[peer] / t['ours']:9.3f}" if peer in t else " " * 9
                print(f"{op + ' ' + shape + ' ' + line['dtype']:34} {t['ours'] * 1e3:9.1f} {line['gbps']:7.0f} {line['of_copy']:8.3f} "
                      f"{ratio('torch')} {ratio('triton')}  {error:.1e}{' WRONG' if wrong else ''}", flush=True)
                lines.append(line)
                del functions, source, target, ours
    if args.out:
        with open(args.out, "w") as file:
            json.dump(lines, file, indent=1)
    return any(line["wrong"] for line in lines)


if __name__ == "__main__":
    raise SystemExit(main())
