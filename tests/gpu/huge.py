# SPDX-License-Identifier: MIT
"""Tensors of more than 2^32 elements, more than 2^31 rows, and strides beyond 2^31 and 2^32 elements: every element against torch in f64.

usage: huge.py PACKAGE-FOLDER [OP...]
Takes up to 90 GB of the GPU's memory; says so and tests what fits where there is less.
"""
import sys
import time

import torch

import row_ops
from smoke import TOLERANCE
from tilegym_ctypes import Package

CHUNK = 1 << 26  # elements compared at a time


def spread(row_stride):
    """Rows so many elements apart."""
    return lambda rows, n, dtype: torch.empty((rows - 1) * row_stride + n, device="cuda", dtype=dtype).as_strided((rows, n), (row_stride, 1))


def columns(column_stride):
    """Columns so many elements apart, rows next to each other."""
    return lambda rows, n, dtype: torch.empty((n - 1) * column_stride + rows, device="cuda", dtype=dtype).as_strided((rows, n), (1, column_stride))


def cases(op):
    """(name, rows, n, dtype, view, memory that it takes in GB)"""
    tensors = {"vector_add": 3, "silu_and_mul": 3, "rope": 3}.get(op, 2)
    for n in (5120, 4099) if op in ("softmax", "vector_add") else (5120,):
        yield f"2^32 elements in rows of {n}", (1 << 32) // n + 7, n, torch.bfloat16, row_ops.packed, 8.6 * tensors + 18 * (1 + (op == "silu_and_mul"))
    if op == "softmax":
        yield "2^31 elements", (1 << 31) // 5120 + 7, 5120, torch.float32, row_ops.packed, 30
        yield "2^31 elements", (1 << 31) // 5120 + 7, 5120, torch.float16, row_ops.packed, 18
    if op in ("vector_add", "dropout", "rms_norm"):
        yield "2^31 rows", (1 << 31) + 9, 1, torch.bfloat16, row_ops.packed, 4.3 * tensors + 9
    rows, tensors = (2, 4) if op == "rope" else (3, tensors)
    for power in (31, 32):
        step = (1 << power) + 24
        yield f"rows 2^{power} + 24 apart", rows, 96, torch.bfloat16, spread(step), 2e-9 * (rows - 1) * step * tensors
        yield f"rows 2^{power} + 23 apart", rows, 96, torch.float16, spread(step - 1), 2e-9 * (rows - 1) * step * tensors
    if op != "rope":
        yield "columns 2^31 + 24 apart", 5, 3, torch.bfloat16, columns((1 << 31) + 24), 4.3 * 9


def difference(call, rows, tolerance):
    """The first wrong element, in a line; nothing where all are right."""
    for output, exact in call.outputs:
        step = max(1, CHUNK // max(1, output[:1].numel()))
        for first in range(0, rows, step):
            at = slice(first, min(first + step, rows))
            got, want = output[at].double(), exact(at)
            near = (got - want).abs() <= tolerance * (want.abs() + want.square().mean(-1, keepdim=True).sqrt())
            if not near.all():
                where = tuple((~near).nonzero()[0].tolist())
                return f"{int((~near).sum())} wrong in rows {at.start}..{at.stop - 1}, first at {[first + where[0], *where[1:]]}: " \
                       f"got {got[where].item()}, want {want[where].item()}"
    return None


def main():
    package, wanted = Package(sys.argv[1]), sys.argv[2:] or row_ops.OPS
    passed = failures = 0
    torch.manual_seed(0)
    for op in (op for op in row_ops.OPS if op in package.ops and op in wanted):
        for name, rows, n, dtype, view, gigabytes in cases(op):
            torch.cuda.empty_cache()
            label = f"{op} {str(dtype)[6:]}, {name}"
            if gigabytes * 1e9 > torch.cuda.mem_get_info()[0]:
                print(f"skipped {label}: takes {gigabytes:.0f} GB, and {torch.cuda.mem_get_info()[0] / 1e9:.0f} are free")
                continue
            begin = time.time()
            try:
                call = row_ops.make(op, rows, n, dtype, view)
                package.call(op, **call.arguments)
                torch.cuda.synchronize()
                wrong = difference(call, rows, TOLERANCE[dtype])
                variant = package.explain(op, **call.arguments)
            except Exception as error:  # the others are still to be judged
                wrong, variant = f"{type(error).__name__}: {error}", "?"
            call = None
            passed, failures = passed + (wrong is None), failures + (wrong is not None)
            print(f"{'FAILED' if wrong else 'passed'} {label} ({variant}, {time.time() - begin:.1f} s){': ' + wrong if wrong else ''}", flush=True)
    print(f"{passed} passed, {failures} failed")
    return failures != 0


if __name__ == "__main__":
    raise SystemExit(main())
