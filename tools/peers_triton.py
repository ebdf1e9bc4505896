# SPDX-License-Identifier: MIT
"""Plain Triton kernels, as a user would write them: what a spec's `peer triton "softmax(x)"` may name."""
import torch
import triton
import triton.language as tl


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
def rope_kernel(x, cosine, sine, y, H, S, D, half, BH: tl.constexpr, BP: tl.constexpr, BR: tl.constexpr):
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
        rest = 2 * half + tl.arange(0, BR)[None, :]
        stays = (h < H) & (rest < D)
        place = (h.to(tl.int64) * S + token) * D + rest
        tl.store(y + place, tl.load(x + place, mask=stays), mask=stays)


def _rows(x):
    """Rows, their length, the block that holds one, and the warps for it."""
    n = x.shape[-1]
    return x.numel() // n, n, triton.next_power_of_2(n), 4 if n <= 2048 else 8 if n <= 8192 else 16


def softmax(x):
    rows, n, block, warps = _rows(x)
    y = torch.empty_like(x)
    softmax_kernel[(rows,)](x, y, n, BN=block, num_warps=warps)
    return y


def rms_norm(x, weight, eps):
    rows, n, block, warps = _rows(x)
    y = torch.empty_like(x)
    rms_norm_kernel[(rows,)](x, weight, y, n, eps, BN=block, num_warps=warps)
    return y


def layer_norm(x, weight, bias, eps):
    rows, n, block, warps = _rows(x)
    y = torch.empty_like(x)
    layer_norm_kernel[(rows,)](x, weight, bias, y, n, eps, BN=block, num_warps=warps)
    return y


def silu_and_mul(x):
    rows, n, _, _ = _rows(x)
    half, y = n // 2, torch.empty(*x.shape[:-1], n // 2, dtype=x.dtype, device=x.device)
    block = min(triton.next_power_of_2(half), 2048)
    silu_and_mul_kernel[(rows, triton.cdiv(half, block))](x, y, half, BN=block, num_warps=4)
    return y


def dropout(x, p, seed):
    y = torch.empty_like(x)
    dropout_kernel[(triton.cdiv(x.numel(), 2048),)](x, y, x.numel(), p, seed, BN=2048, num_warps=4)
    return y


def rope(q, k, cosine, sine):
    """One batch; of each head the first columns turn, the others stay."""
    half, outputs = cosine.shape[-1] // 2, []
    for x in (q, k):
        _, heads, tokens, width = x.shape
        y = torch.empty_like(x)
        rope_kernel[(tokens,)](x, cosine, sine, y, heads, tokens, width, half, BH=min(8, triton.next_power_of_2(heads)),
                               BP=triton.next_power_of_2(half), BR=triton.next_power_of_2(max(width - 2 * half, 1)))
        outputs.append(y)
    return tuple(outputs)
