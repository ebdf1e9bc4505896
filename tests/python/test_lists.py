# SPDX-License-Identifier: MIT
"""Ops on lists of tensors: what is taken for a list, what comes back, what errors say. On NumPy arrays in the interpreter, and on torch's where it is installed."""
import harness

harness.need("numpy")
import importlib.util  # noqa: E402
import inspect  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402

import numpy  # noqa: E402
import tilegym_aot  # noqa: E402
from tilegym_aot import stubs  # noqa: E402
from tilegym_aot._adapters import Served  # noqa: E402

HAS_TORCH = importlib.util.find_spec("torch") is not None


class ListsTest(harness.Test):
    def setUp(self):
        tilegym_aot.use_reference(True)
        self.addCleanup(tilegym_aot.use_reference, False)
        self.ops = tilegym_aot.open(harness.KERNELS)
        self.a = [numpy.arange(6, dtype=numpy.float32).reshape(2, 3), numpy.ones((1, 4), dtype=numpy.float32)]
        self.b = [numpy.ones((3, 2), dtype=numpy.float32), numpy.arange(12, dtype=numpy.float32).reshape(4, 3)]

    def are_equal(self, found, expected):
        self.assertEqual(len(found), len(expected))
        for x, y in zip(found, expected):
            numpy.testing.assert_array_equal(x, y)

    def test_a_list_is_made(self):
        c = self.ops.pairs(self.a, self.b)
        self.assertIs(type(c), list)
        self.are_equal(c, [x @ y for x, y in zip(self.a, self.b)])
        self.are_equal(self.ops.pairs(tuple(self.a), tuple(self.b), 2), [2 * x @ y for x, y in zip(self.a, self.b)])

    def test_a_list_is_given(self):
        for name in "c", "out":
            c = [numpy.empty((2, 2), dtype=numpy.float32), numpy.empty((1, 3), dtype=numpy.float32)]
            self.assertIs(self.ops.pairs(self.a, self.b, **{name: c}), c)
            self.are_equal(c, [x @ y for x, y in zip(self.a, self.b)])

    def test_views_and_tensors_without_elements(self):
        self.are_equal(self.ops.pairs([x.T for x in self.b], [x.T for x in self.a]), [(x @ y).T for x, y in zip(self.a, self.b)])
        c = self.ops.pairs([self.a[0][:0], self.a[1]], self.b)
        self.assertEqual([x.shape for x in c], [(0, 2), (1, 3)])

    def test_wrong_calls(self):
        f = self.ops.pairs
        self.raises(TypeError, "pairs: a is no list or tuple of tensors", f, self.a[0], self.b)
        self.raises(TypeError, "pairs: a[1] is no tensor: it has no __dlpack__", f, [self.a[0], 3], self.b)
        self.raises(TypeError, "pairs() missing required argument 'b'", f, self.a)
        self.raises(tilegym_aot.InvalidArgument, "pairs: a: has no tensors, so that its dtype T follows from nothing that was given", f, [], [])
        self.raises(tilegym_aot.InvalidArgument, "pairs: b: has 1 tensors, expected 2 as a has", f, self.a, self.b[:1])
        self.raises(tilegym_aot.InvalidArgument, "pairs: b[1]: axis 0 has extent 3, expected K = 4", f, self.a, [self.b[0], self.b[1][:3]])
        self.raises(tilegym_aot.InvalidArgument, "pairs: a: has 65 tensors, but a list has at most 64", f, self.a[:1] * 65, self.b[:1] * 65)
        locked = self.b[1].copy()
        locked.flags.writeable = False
        self.raises((ValueError, BufferError, TypeError), "read", f, self.a, self.b, c=[self.b[0], locked])

    def test_what_a_function_says_of_itself(self):
        self.assertEqual(str(inspect.signature(self.ops.pairs)), "(a, b, scale=1.0, *, c=None, out=None, stream=None, backend=None)")
        self.assertIn("a: list of T[M[], K[]]", self.ops.pairs.__doc__)
        with open(os.path.join(harness.KERNELS, "interface.json"), encoding="utf-8") as file:
            text = stubs.stub(json.load(file))
        self.assertIn("def pairs(a: Sequence[Tensor], b: Sequence[Tensor], scale: float = 1.0, *, c: Sequence[Tensor] | None = None", text)
        self.assertIn(") -> list[Tensor]:", text)

    def test_as_another_library_calls_it(self):
        op = self.ops.interfaces["pairs"]
        served = Served(op, op.serves[0], self.ops.pairs).adapter()
        self.are_equal(served(self.a, self.b), [x @ y for x, y in zip(self.a, self.b)])
        self.are_equal(served(group_A=self.a, b=self.b), [x @ y for x, y in zip(self.a, self.b)])

    def test_torch(self):
        if not HAS_TORCH:
            self.skipTest("no torch")
        import torch
        a, b = [torch.from_numpy(x) for x in self.a], [torch.from_numpy(x) for x in self.b]
        for x, y, z in zip(a, b, self.ops.pairs(a, b)):
            torch.testing.assert_close(z, x @ y)
        op = self.ops.interfaces["pairs"]
        served = Served(op, op.serves[0], self.ops.pairs).adapter()
        for x, y, z in zip(a, b, served(a, [y.mT.contiguous() for y in b], transpose_b=True)):
            torch.testing.assert_close(z, x @ y)
        a[1].requires_grad_()
        self.raises(NotImplementedError, "pairs: a[1] requires a gradient, which ops on lists have not; call it under torch.no_grad()", self.ops.pairs, a, b)
        with torch.no_grad():
            self.assertEqual(len(self.ops.pairs(a, b)), 2)
        with torch._subclasses.FakeTensorMode():
            fake = [torch.empty(2, 3)]
        self.raises(NotImplementedError, "pairs: a[0] is a tensor that torch's dispatch has to see", self.ops.pairs, fake, b[:1])
        self.ops.affine(torch.ones(2, 3, requires_grad=True))  # which has torch's dispatch as ever

    def test_torch_compile(self):
        if not HAS_TORCH:
            self.skipTest("no torch")
        import torch

        def f(a, b):
            return [2 * c for c in self.ops.pairs(a, b)]
        a, b = [torch.from_numpy(x) for x in self.a], [torch.from_numpy(x) for x in self.b]
        for x, y, z in zip(a, b, torch.compile(f, backend="eager")(a, b)):
            torch.testing.assert_close(z, 2 * x @ y)


harness.main()
