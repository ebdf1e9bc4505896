# SPDX-License-Identifier: MIT
"""Plain Triton kernels for the ops of row_ops.py, as a user would write them: what bench_ops.py measures beside ours."""
import torch
import triton
import triton.language as tl

from row_ops import DROPPED


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


@triton.jit
def layer_norm_kernel(x, w, b, y, N, eps, BN: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BN)
    v = tl.load(x + r * N + c, mask=c < N, other=0.0).to(tl.float32)
    d = tl.where(c < N, v - tl.sum(v, 0) / N, 0.0)
    s = tl.rsqrt(tl.sum(d * d, 0) / N + eps)
    scale, shift = tl.load(w + c, mask=c < N, other=0.0).to(tl.float32), tl.load(b + c, mask=c < N, other=0.0).to(tl.float32)
    tl.store(y + r * N + c, d * s * scale + shift, mask=c < N)


@triton.jit
def silu_and_mul_kernel(x, y, H, BN: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    a = tl.load(x + r * 2 * H + c, mask=c < H, other=0.0).to(tl.float32)
    b = tl.load(x + r * 2 * H + H + c, mask=c < H, other=0.0).to(tl.float32)
    tl.store(y + r * H + c, a * tl.sigmoid(a) * b, mask=c < H)


@triton.jit
def dropout_kernel(x, y, size, p, seed, BN: tl.constexpr):
    c = tl.program_id(0).to(tl.int64) * BN + tl.arange(0, BN)
    keep = tl.rand(seed, c) >= p
    v = tl.load(x + c, mask=c < size, other=0.0).to(tl.float32)
    tl.store(y + c, tl.where(keep, v / (1 - p), 0.0), mask=c < size)


@triton.jit
def rope_kernel(x, cosine, sine, y, H, S, D, half, BH: tl.constexpr, BP: tl.constexpr):
    token = tl.program_id(0)
    c = tl.arange(0, BP)[None, :]
    cos1 = tl.load(cosine + token * 2 * half + c, mask=c < half).to(tl.float32)
    sin1 = tl.load(sine + token * 2 * half + c, mask=c < half).to(tl.float32)
    for first in range(0, H, BH):
        h = first + tl.arange(0, BH)[:, None]
        at = (h.to(tl.int64) * S + token) * D + c
        inside = (h < H) & (c < half)
        a = tl.load(x + at, mask=inside).to(tl.float32)
        b = tl.load(x + at + half, mask=inside).to(tl.float32)
        tl.store(y + at, a * cos1 - b * sin1, mask=inside)
        tl.store(y + at + half, b * cos1 + a * sin1, mask=inside)


def warps_for(n):
    return 4 if n <= 2048 else 8 if n <= 8192 else 16


def peer(op, call):
    """A function that runs the op in Triton on the same inputs, with an output of its own; nothing where there is no kernel."""
    a = call.arguments
    if op == "rope":
        q_out, k_out = torch.empty_like(a["q"]), torch.empty_like(a["k"])
        half = a["cosine"].shape[-1] // 2

        def rope():
            for x, y in ((a["q"], q_out), (a["k"], k_out)):
                heads, tokens, width = x.shape[1:]
                rope_kernel[(tokens,)](x, a["cosine"], a["sine"], y, heads, tokens, width, half,
                                       BH=min(8, triton.next_power_of_2(heads)), BP=triton.next_power_of_2(half))

        return rope
    x = a["input"] if op == "silu_and_mul" else a["x"]
    output = call.outputs[0][0]
    rows, n = output.shape
    y, block = torch.empty_like(output), triton.next_power_of_2(n)
    if op == "softmax":
        return lambda: softmax_kernel[(rows,)](x, y, n, BN=block, num_warps=warps_for(n))
    if op == "rms_norm":
        return lambda: rms_norm_kernel[(rows,)](x, a["weight"], y, n, a["eps"], BN=block, num_warps=warps_for(n))
    if op == "layer_norm":
        return lambda: layer_norm_kernel[(rows,)](x, a["weight"], a["bias"], y, n, a["eps"], BN=block, num_warps=warps_for(n))
    if op == "silu_and_mul":
        block = min(block, 2048)
        return lambda: silu_and_mul_kernel[(rows, triton.cdiv(n, block))](x, y, n, BN=block, num_warps=4)
    if op == "dropout":
        return lambda: dropout_kernel[(triton.cdiv(rows * n, 2048),)](x, y, rows * n, DROPPED, 17, BN=2048, num_warps=4)
    return None
