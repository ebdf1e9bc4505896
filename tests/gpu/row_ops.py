# SPDX-License-Identifier: MIT
"""The library's ops on rows: how a shape rows x n becomes a call of each, and what torch says in f64. For the scripts beside this one."""
import functools
from dataclasses import dataclass
from typing import Callable

import torch

OPS = ("vector_add", "softmax", "rms_norm", "layer_norm", "silu_and_mul", "dropout", "rope")
HEAD = 128  # columns of a head of rope where n is several of them
SEED, DROPPED = 0x123456789ABCDEF, 0.25


@dataclass
class Call:
    arguments: dict
    outputs: list[tuple[torch.Tensor, Callable[[slice], torch.Tensor]]]  # each as the op writes it, and any rows of it in f64
    moved: int  # bytes


def packed(rows, n, dtype):
    return torch.empty(rows, n, device="cuda", dtype=dtype)


def philox(seed, calls):
    """Philox4x32-10 at counters `calls`: eight 16-bit numbers each."""
    low, words = 0xFFFFFFFF, (calls & 0xFFFFFFFF, calls >> 32, 0 * calls, 0 * calls)
    for turn in range(10):
        even, odd = words[0] * 0xD2511F53, words[2] * 0xCD9E8D57  # the low 64 bits of a product are right, whatever the sign
        words = ((odd >> 32 & low) ^ words[1] ^ ((seed & low) + turn * 0x9E3779B9 & low), odd & low,
                 (even >> 32 & low) ^ words[3] ^ ((seed >> 32) + turn * 0xBB67AE85 & low), even & low)
    return torch.stack([word >> shift & 0xFFFF for word in words for shift in (0, 16)], -1).flatten()


def dropped(x, rows):
    first, n, x = rows.indices(len(x))[0], x.shape[-1], x[rows]
    begin, end = first * n, first * n + x.numel()
    numbers = philox(SEED, torch.arange(begin // 8, end // 8 + 1, device=x.device))[begin % 8 :][: x.numel()].reshape(x.shape)
    return torch.where(numbers >= round(DROPPED * 65536), x.double() / (1 - DROPPED), 0)


def turned(x, cosine, sine, rows):
    """Of rows x heads x columns, these rows."""
    x, p = x[rows].double(), cosine.shape[-1]
    swapped = torch.cat((-x[..., p // 2 : p], x[..., : p // 2]), -1)
    return torch.cat((x[..., :p] * cosine[rows, None].double() + swapped * sine[rows, None].double(), x[..., p:]), -1)


def make(op, rows, n, dtype, view=packed):
    """`view(rows, n, dtype)` makes each matrix; what is read is filled, what is written is NaN."""
    def given(rows, n):
        return view(rows, n, dtype).copy_(torch.randn(rows, n, device="cuda"))

    def wanted(rows, n):
        return view(rows, n, dtype).fill_(float("nan"))

    column = functools.partial(torch.randn, n, device="cuda", dtype=dtype)
    size = torch.empty((), dtype=dtype).element_size()
    if op == "silu_and_mul":
        x, y = given(rows, 2 * n), wanted(rows, n)
        exact = lambda rows: torch.nn.functional.silu(x[rows, :n].double()) * x[rows, n:].double()
        return Call(dict(input=x, out=y), [(y, exact)], 3 * rows * n * size)
    if op == "rope":
        heads, width = (n // HEAD, HEAD) if n >= HEAD else (1, n)
        groups = max(1, heads // 4)
        # Heads outside, tokens inside, as TileGym has them.
        q, k, q_out, k_out = (made(count * rows, width).unflatten(0, (1, count, rows))
                              for made, count in ((given, heads), (given, groups), (wanted, heads), (wanted, groups)))
        angles = torch.rand(1, rows, width // 2, device="cuda").mul_(6.3).repeat(1, 1, 2)
        cosine, sine = angles.cos().to(dtype), angles.sin().to(dtype)
        by_token = lambda x: x[0].transpose(0, 1)
        outputs = [(by_token(q_out), lambda rows: turned(by_token(q), cosine[0], sine[0], rows)),
                   (by_token(k_out), lambda rows: turned(by_token(k), cosine[0], sine[0], rows))]
        return Call(dict(q=q, k=k, cosine=cosine, sine=sine, q_out=q_out, k_out=k_out), outputs,
                    2 * rows * ((heads + groups) * width + 2 * (width // 2)) * size)
    x, y = given(rows, n), wanted(rows, n)
    if op == "vector_add":
        z = given(rows, n)
        return Call(dict(x=x, y=z, z=y), [(y, lambda rows: x[rows].double() + z[rows].double())], 3 * rows * n * size)
    if op == "softmax":
        return Call(dict(x=x, y=y), [(y, lambda rows: torch.softmax(x[rows].double(), -1))], 2 * rows * n * size)
    if op == "rms_norm":
        w = column()
        exact = lambda rows: torch.nn.functional.rms_norm(x[rows].double(), (n,), w.double(), 1e-6)
        return Call(dict(x=x, weight=w, y=y, eps=1e-6), [(y, exact)], (2 * rows * n + n) * size)
    if op == "layer_norm":
        w, b = column(), column()
        x += 3
        exact = lambda rows: torch.nn.functional.layer_norm(x[rows].double(), (n,), w.double(), b.double(), 1e-5)
        return Call(dict(x=x, weight=w, bias=b, y=y, eps=1e-5), [(y, exact)], (2 * rows * n + 2 * n) * size)
    if op == "dropout":
        return Call(dict(x=x, y=y, seed=SEED, p=DROPPED, training=1), [(y, lambda rows: dropped(x, rows))], 2 * rows * n * size)
    raise ValueError(op)
