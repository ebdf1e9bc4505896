# SPDX-License-Identifier: MIT
"""Times the ops on the same rows packed, at odd distances, and at a base that is one element off, which take the dense variants, and as every second element
of longer rows, which takes the general ones: these have to keep half of the packed one's speed, or, where a gap in each 1024 bytes makes memory fill units that are
partly written, half of what torch's own copy of such views has. `tilegymc bench` times what is packed, beside peers.

usage: bench_views.py PACKAGE-FOLDER [--out FILE] [--rounds N] [--shapes RxN,...] [--ops OP,...] [--views VIEW,...]
Each case is checked against torch in f64 first. A line a case: median times, and ratios to a device copy of the same bytes, to the packed one, and to torch's copy
of as many elements from and to views of the same kind.
"""
import argparse
import json
import statistics

import torch

import row_ops
from tilegym_ctypes import Package


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


VIEWS = {"packed": row_ops.packed,
         "padded": lambda rows, n, dtype: torch.empty(rows, n + 3, device="cuda", dtype=dtype)[:, :n],
         "off by one": lambda rows, n, dtype: torch.empty(rows * n + 1, device="cuda", dtype=dtype)[1:].view(rows, n),
         "every second": lambda rows, n, dtype: torch.empty(rows, 2 * n, device="cuda", dtype=dtype)[:, ::2]}


def wrong_by(call, dtype):
    """The largest relative error over the first rows, and whether it is too large."""
    error, wrong = 0.0, False
    for output, exact in call.outputs:
        want = exact(slice(64))
        error = max(error, ((output[:64].double() - want).norm() / want.norm()).item())
        wrong |= not error < (1e-2 if dtype == torch.bfloat16 else 1e-5) or bool(torch.isnan(output).any())
    return error, wrong


def bench_views(package, timer, op, rows, n, dtype, views):
    calls = {name: row_ops.make(op, rows, n, dtype, VIEWS[name]) for name in views}
    functions = {name: (lambda call=call: package.call(op, **call.arguments)) for name, call in calls.items()}
    for f in functions.values():
        f()
    torch.cuda.synchronize()
    errors = {name: wrong_by(call, dtype) for name, call in calls.items()}
    half, width = calls["packed"].moved // 2, min(n, row_ops.HEAD) if op == "rope" else n
    copied = {"copy": (torch.randn(half // 4, device="cuda"), torch.empty(half // 4, device="cuda"))}
    for name in views:
        copied["copy " + name] = [VIEWS[name](half // dtype.itemsize // width, width, dtype).fill_(1) for _ in range(2)]
    functions |= {name: (lambda pair=pair: pair[1].copy_(pair[0])) for name, pair in copied.items()}
    t = timer.medians(functions)
    lines = []
    for name in views:
        line = {"op": op, "shape": f"{rows}x{n}", "dtype": str(dtype)[6:], "view": name, "us": round(t[name] * 1e3, 2), "of_copy": round(t["copy"] / t[name], 3),
                "of_packed": round(t["packed"] / t[name], 3), "of_copy_of_views": round(t["copy " + name] / t[name], 3), "wrong": errors[name][1],
                "variant": package.explain(op, **calls[name].arguments)}
        has_gaps = name == "every second" or (name == "padded" and width * dtype.itemsize <= 1024)
        slow = max(line["of_packed"], line["of_copy_of_views"] if has_gaps else 0) < 0.5
        print(f"{op + ' ' + line['shape'] + ' ' + line['dtype']:34} {name:12} {line['us']:9.1f} {line['of_copy']:8.3f} {line['of_packed']:10.3f}"
              f" {line['of_copy_of_views']:13.3f}  {errors[name][0]:.1e}{' WRONG' if line['wrong'] else ''}{' SLOW' if slow else ''}", flush=True)
        lines.append({**line, "slow": slow})
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("package")
    parser.add_argument("--out")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--shapes", default="8192x8192,16384x4096,65536x1024,4096x16384,4096x5120,4096x65536")
    parser.add_argument("--ops", default=",".join(row_ops.OPS))
    parser.add_argument("--views", default=",".join(VIEWS), help="packed is always there")
    args = parser.parse_args()
    views = [name for name in VIEWS if name == "packed" or name in args.views.split(",")]
    package, timer, lines = Package(args.package), Timer(args.rounds), []
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    print(f"{'case':34} {'view':12} {'ours us':>9} {'of copy':>8} {'of packed':>10} {'of view copy':>13}  error")
    for op in (op for op in row_ops.OPS if op in package.ops and op in args.ops.split(",")):
        for shape in args.shapes.split(","):
            rows, n = map(int, shape.split("x"))
            for dtype in (torch.bfloat16, torch.float32):
                lines += bench_views(package, timer, op, rows, n, dtype, views)
    if args.out:
        with open(args.out, "w") as file:
            json.dump(lines, file, indent=1)
    return any(line["wrong"] or line["slow"] for line in lines)


if __name__ == "__main__":
    raise SystemExit(main())
