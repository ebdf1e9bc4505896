# SPDX-License-Identifier: MIT
"""Torch tensors in the interpreter: eager calls, autograd through the op that a spec calls the gradient, torch.compile without a graph break."""
import harness

harness.need("torch")
import os  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402

import torch  # noqa: E402
import torch._dynamo.testing  # noqa: E402
import tilegym_aot  # noqa: E402
from tilegym_aot import _core  # noqa: E402


class TorchTest(harness.Test):
    def setUp(self):
        tilegym_aot.use_reference(True)
        self.addCleanup(tilegym_aot.use_reference, False)
        torch.manual_seed(0)
        torch._dynamo.reset()
        self.x, self.w = torch.randn(4, 5), torch.randn(5)

    @classmethod
    def setUpClass(cls):
        cls.ops = tilegym_aot.open(harness.KERNELS)

    def close(self, found, expected):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)

    def compiled(self, function, **options):
        return torch.compile(function, fullgraph=True, backend="aot_eager", **options)

    def test_eager(self):
        for on in True, False:  # by torch's table, and by capsules as with torch before 2.10
            _core.set_exchange(on)
            self.addCleanup(_core.set_exchange, True)
            y, total = self.ops.affine(self.x, self.w, 3, total=True)
            self.close(y, self.x * 3 * self.w)
            self.close(total, self.x.sum(1))
            self.assertIs(self.ops.affine(self.x, out=y), y)
            self.close(self.ops.affine(self.x.T), self.x.T * 2)
            self.assertTrue(self.ops.affine(self.x.T).is_contiguous())
            self.close(self.ops.affine(torch.nn.Parameter(self.x, requires_grad=False)), self.x * 2)
            self.assertEqual(self.ops.affine(self.x.half()).dtype, torch.float16)
            self.assertEqual(self.ops.halves(torch.zeros(2, 3, 8)).shape, (2, 3, 4))
        self.raises(ValueError, "affine: y:", self.ops.affine, self.x, out=torch.empty(3))

    def test_the_table_of_functions_is_used(self):
        self.assertTrue(hasattr(torch.Tensor, "__dlpack_c_exchange_api__"), "this torch is older than 2.10")
        called = []
        original = torch.Tensor.__dlpack__
        torch.Tensor.__dlpack__ = lambda *args, **keywords: called.append(1) or original(*args, **keywords)
        try:
            self.ops.affine(self.x)
            self.assertEqual(called, [])
        finally:
            torch.Tensor.__dlpack__ = original

    def test_autograd_by_the_gradient_op(self):
        for mode, sign in ("none", 1), ("negate", -1):
            x, w = self.x.clone().requires_grad_(), self.w.clone().requires_grad_()
            y = self.ops.affine(x, w, 3.0, 1, mode)
            self.assertIsInstance(y, torch.Tensor)
            self.close(y, sign * (self.x * 3 + 1) * self.w)
            dy = torch.randn_like(y)
            y.backward(dy)
            self.close(x.grad, sign * dy * 3 * self.w)
            self.close(w.grad, (sign * dy * (self.x * 3 + 1)).sum(0))
        # Without a weight's gradient; with the saved output asked for, too.
        x = self.x.clone().requires_grad_()
        y, total = self.ops.affine(x, total=True)
        self.assertTrue(y.requires_grad and not total.requires_grad)
        y.sum().backward()
        self.close(x.grad, torch.full_like(x, 2))
        with torch.no_grad():
            self.assertFalse(self.ops.affine(x).requires_grad)

    def test_autograd_by_the_op_itself(self):
        a, b = torch.randn(3, 4, requires_grad=True), torch.randn(4, 5, requires_grad=True)
        dc = torch.randn(3, 5)
        self.ops.matmul(a, b).backward(dc)
        self.close(a.grad, dc @ b.detach().T)
        self.close(b.grad, a.detach().T @ dc)

    def test_none_is_a_scalars_default_there_too(self):
        self.close(self.ops.affine(self.x.clone().requires_grad_(), None, None, None, None, None), self.x * 2)

    def test_an_op_without_a_gradient_says_so(self):
        y = self.ops.halves(torch.randn(2, 4, requires_grad=True))
        self.raises(NotImplementedError, "halves has no gradient: no op of its package is `gradient of halves`", y.sum().backward)
        self.raises(RuntimeError, "outputs that are given do not take part in autograd", self.ops.affine, self.x.clone().requires_grad_(),
                    out=torch.empty(4, 5))
        self.raises(RuntimeError, "affine: y requires a gradient and would be written in place", self.ops.affine, self.x, out=torch.empty(4, 5, requires_grad=True))
        self.raises(TypeError, "use tilegym_aot.set_backend() in place of backend=", self.ops.affine, self.x.clone().requires_grad_(), backend="tile")
        self.raises(TypeError, "use torch.cuda.stream() in place of stream=", self.ops.affine, self.x.clone().requires_grad_(), stream=3)

    def test_compiled_without_a_graph_break(self):
        def model(x, w):
            y, total = self.ops.affine(torch.relu(x), w, factor=3, mode="negate", total=True)
            return self.ops.affine(y + total[:, None]) - 1
        y = torch.relu(self.x) * -3 * self.w
        self.close(self.compiled(model)(self.x, self.w), (y + torch.relu(self.x).sum(1)[:, None]) * 2 - 1)

    def test_compiled_for_any_shape(self):
        counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
        compiled = torch.compile(lambda x: self.ops.halves(x) + 1, fullgraph=True, dynamic=True, backend=counter)
        for shape in (3, 4), (5, 8), (7, 6):
            x = torch.randn(shape)
            self.close(compiled(x), x[:, :shape[1] // 2] + 1)
        self.assertEqual(counter.frame_count, 1)

    def test_compiled_with_a_given_output(self):
        def model(x):
            y = torch.empty_like(x)
            self.ops.affine(x, out=y)
            return y + 1
        self.close(self.compiled(model)(self.x), self.x * 2 + 1)

    def test_compiled_with_autograd(self):
        x, w = self.x.clone().requires_grad_(), self.w.clone().requires_grad_()
        self.compiled(lambda x, w: self.ops.affine(x, w) * 2)(x, w).sum().backward()
        self.close(x.grad, (4 * self.w).expand(4, 5))
        self.close(w.grad, 4 * self.x.sum(0))

    def test_torchs_own_checks_of_custom_ops(self):
        ops = getattr(torch.ops, self.ops.torch_ops.namespace)
        x = self.x.clone().requires_grad_()
        for op, args in ((ops.affine, (x, self.w, 2.0, 0, "none", True, True)), (ops.affine, (x, None, 2.0, 1, "negate", True, True)),
                         (ops.halves, (torch.randn(3, 4), True, True)), (ops.affine_out, (self.x, None, 2.0, 0, "none", True, torch.empty(4, 5), None)),
                         (ops.matmul, (torch.randn(2, 3, requires_grad=True), torch.randn(3, 4)))):
            torch.library.opcheck(op.default, args)

    def test_subclasses_go_through_torch(self):
        from torch._subclasses.fake_tensor import FakeTensorMode
        with FakeTensorMode() as mode:
            y, total = self.ops.affine(mode.from_tensor(self.x), total=True)
        self.assertEqual((y.shape, total.shape, total.dtype), ((4, 5), (4,), torch.float32))

    def test_a_package_that_is_opened_after_dynamo_and_twice(self):
        again = tilegym_aot.open(harness.KERNELS)
        self.close(self.compiled(lambda x: again.affine(x))(self.x), self.x * 2)
        self.assertNotEqual(again.torch_ops.namespace, self.ops.torch_ops.namespace)

    def test_dynamo_is_not_imported_for_eager_calls(self):
        code = ("import sys, torch, tilegym_aot; tilegym_aot.use_reference(); k = tilegym_aot.open(sys.argv[1]); k.affine(torch.ones(2, 2)); "
                "assert 'torch._dynamo' not in sys.modules; f = torch.compile(lambda x: k.affine(x), fullgraph=True, backend='eager'); "
                "print(f(torch.ones(1, 1)).item())")
        done = subprocess.run([sys.executable, "-c", code, harness.KERNELS], capture_output=True, text=True, env=dict(os.environ, PYTHONPATH=harness.PACKAGE))
        self.assertEqual(done.stdout.strip(), "2.0", done.stderr)


harness.main()
