# SPDX-License-Identifier: MIT
"""As much of torch as the tests of tools/oracle.py and tools/peers.py need, on lists of Python numbers: f32, bf16, i32, i64 and bool. What runs between two
events takes 40 us."""
import contextlib
import itertools
import math
import struct
import types

__version__ = "0.0"


class dtype:
    def __init__(self, code, size):
        self.code, self.size = code, size


float64, float32, bfloat16 = dtype("d", 8), dtype("f", 4), dtype("H", 2)
uint8 = dtype("B", 1)
int32, int64, bool = dtype("i", 4), dtype("q", 8), dtype("?", 1)


def _rounded(value, kind):
    if kind in (int32, int64):
        return int(value)
    if kind is bool:
        return value != 0
    if kind is float64 or not math.isfinite(value):
        return float(value)
    value = struct.unpack("f", struct.pack("f", value))[0]
    if kind is bfloat16:  # to nearest even
        bits = struct.unpack("I", struct.pack("f", value))[0]
        bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
        value = struct.unpack("f", struct.pack("I", bits))[0]
    return value


class Tensor:
    def __init__(self, values, shape, kind):
        self.values, self.shape, self.dtype = [_rounded(v, kind) for v in values], tuple(shape), kind

    def numel(self):
        return len(self.values)

    def to(self, what):
        return Tensor(self.values, self.shape, what) if isinstance(what, dtype) else self

    def float(self):
        return self.to(float32)

    def double(self):
        return self.to(float64)

    def reshape(self, shape):
        return Tensor(self.values, shape, self.dtype)

    def flatten(self):
        return self.reshape([self.numel()])

    def __getitem__(self, i):
        values = self.values[i] if isinstance(i, slice) else [self.values[i]]
        return Tensor(values, [len(values)] if isinstance(i, slice) else [], self.dtype)

    def repeat(self, times):
        return Tensor(self.values * times, [self.numel() * times], self.dtype)

    def clone(self):
        return self.reshape(self.shape)

    def zero_(self):
        return self

    def item(self):
        return self.values[0]

    def _map(self, fn, kind=None):
        return Tensor([fn(v) for v in self.values], self.shape, kind or self.dtype)

    def _with(self, other, fn, kind=None):
        """Elementwise; the other side is a number, of this shape, or has extent 1 on the last axis."""
        if not isinstance(other, Tensor):
            return self._map(lambda v: fn(v, other), kind)
        repeats = self.shape[-1] if other.shape != self.shape else 1
        values = [v for v in other.values for _ in range(repeats)]
        return Tensor([fn(a, b) for a, b in zip(self.values, values, strict=True)], self.shape, kind or self.dtype)

    def _rows(self, fn, keepdim):
        width = self.shape[-1]
        rows = [fn(self.values[i : i + width]) for i in range(0, self.numel(), max(width, 1))]
        return Tensor(rows, self.shape[:-1] + ((1,) if keepdim else ()), self.dtype)

    def sum(self, axis=None, keepdim=False):
        return Tensor([sum(self.values)], [], float64) if axis is None else self._rows(sum, keepdim)

    def argmax(self):
        return Tensor([self.values.index(max(self.values))], [], int64)

    def clamp(self, min):
        return self._map(lambda v: max(v, min))

    def abs(self):
        return self._map(abs)

    def square(self):
        return self._map(lambda v: v * v)

    def sqrt(self):
        return self._map(math.sqrt)

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._with(other, lambda a, b: a / b)

    def __eq__(self, other):
        return self._with(other, lambda a, b: a == b, bool)

    def __ne__(self, other):
        return self._with(other, lambda a, b: a != b, bool)

    def __le__(self, other):
        return self._with(other, lambda a, b: a <= b, bool)

    def __and__(self, other):
        return self._with(other, lambda a, b: a and b)

    def __or__(self, other):
        return self._with(other, lambda a, b: a or b)

    def __invert__(self):
        return self._map(lambda v: not v)


def frombuffer(data, dtype):
    values = [v for (v,) in struct.iter_unpack("<" + dtype.code, bytes(data))]
    if dtype is bfloat16:
        values = [struct.unpack("f", struct.pack("I", v << 16))[0] for v in values]
    return Tensor(values, [len(values)], dtype)


def empty(count, dtype, device=None):
    return Tensor([], [count], dtype)


def isfinite(x):
    return x._map(math.isfinite, bool)


def zeros_like(x):
    return x._map(lambda v: 0)


def where(condition, a, b):
    return Tensor([x if c else y for c, x, y in zip(condition.values, a.values, b.values)], a.shape, a.dtype)


def cumsum(x, axis):
    rows = [x.values[i : i + x.shape[-1]] for i in range(0, x.numel(), max(x.shape[-1], 1))]
    return Tensor([v for row in rows for v in itertools.accumulate(row)], x.shape, x.dtype)


class Event:
    def __init__(self, enable_timing):
        self.record = self.synchronize = lambda: None

    def elapsed_time(self, other):
        return 0.04


class CUDAGraph:
    def replay(self):
        pass


cuda = types.SimpleNamespace(is_available=lambda: True, synchronize=lambda: None, empty_cache=lambda: None, Event=Event, CUDAGraph=CUDAGraph,
                             graph=lambda graph: contextlib.nullcontext())
compile = lambda function: function
