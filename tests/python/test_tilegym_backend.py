# SPDX-License-Identifier: MIT
"""The adapters that `serves` lines make, registered with TileGym: the real one where it is installed, else as much of it as a backend meets."""
import harness

harness.need("numpy")
import importlib.util  # noqa: E402
import inspect  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402

HAS_TORCH = importlib.util.find_spec("torch") is not None
if not HAS_TORCH or importlib.util.find_spec("tilegym") is None:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_tilegym"))
os.environ["TILEGYM_PACKAGE"] = harness.KERNELS
import numpy  # noqa: E402
import tilegym_aot  # noqa: E402
import tilegym_aot.tilegym_backend as backend  # noqa: E402
import tilegym.backend  # noqa: E402
from tilegym.backend.dispatcher import _REGISTRY  # noqa: E402


def call(name, *args, **keywords):
    return _REGISTRY[name]["tilegymc"](*args, **keywords)


class BackendTest(harness.Test):
    def setUp(self):
        tilegym_aot.use_reference(True)
        self.addCleanup(tilegym_aot.use_reference, False)
        self.x = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)

    def equal(self, found, expected):
        numpy.testing.assert_array_equal(found, expected)

    def test_what_is_registered(self):
        self.assertEqual(backend.names, ["affine", "affine.with_total", "halves", "matmul", "pairs"])
        self.assertIn("tilegymc", tilegym.backend.get_available_backends())
        self.assertEqual(_REGISTRY["affine"]["tilegymc"].__module__, "tilegym_aot.tilegym_backend")

    def test_names_order_and_defaults_are_the_other_librarys(self):
        self.assertEqual(list(inspect.signature(_REGISTRY["affine"]["tilegymc"]).parameters),
                         ["input", "w", "factor", "name", "bias", "mode", "keep", "inplace", "more"])
        self.equal(call("affine", self.x), self.x * 3)
        self.equal(call("affine", input=self.x, factor=1), self.x)
        self.equal(call("affine", x=self.x), self.x * 3)  # our name is understood where the other library has another
        self.equal(call("affine", self.x, None, 2, "what is ignored", None, "negate"), self.x * -2)

    def test_wrong_calls(self):
        self.raises(TypeError, "affine() missing required argument 'input'", call, "affine")
        self.raises(TypeError, "affine() got an unexpected keyword argument 'q'", call, "affine", self.x, q=1)
        self.raises(NotImplementedError, "affine: backend tilegymc takes no bias", call, "affine", self.x, bias=self.x)
        self.raises(TypeError, "matmul() missing required argument 'b'", call, "matmul", self.x)

    def test_results(self):
        total, nothing, y = call("affine.with_total", self.x, 5)
        self.equal(total, [3, 12])
        self.equal(y, self.x * 5)
        self.assertIsNone(nothing)

    def test_in_place(self):
        x = self.x.copy()
        self.assertIs(call("affine", x, inplace=True), x)
        self.equal(x, self.x * 3)
        self.assertIs(call("affine", x, factor=1, keep=False), x)
        self.assertIsNot(call("affine", x), x)
        y = numpy.empty((2, 1), dtype=numpy.float32)
        self.assertIs(call("halves", numpy.ones((2, 2), dtype=numpy.float32), y), y)

    def test_transposed(self):
        if not HAS_TORCH:
            self.skipTest("no torch, whose tensors have .mT")
        import torch
        a, b = torch.randn(4, 3), torch.randn(5, 4)
        torch.testing.assert_close(call("matmul", a, b, True, trans_b=True), a.T @ b.T)

    def test_the_real_library(self):
        if "fake_tilegym" in tilegym.__file__:
            self.skipTest("TileGym or torch is not installed")
        import torch
        # No op of TileGym's has the tests' names, so one of its own names stands for one of theirs.
        tilegym.backend.register_impl("softmax", backend="tilegymc")(lambda x, **_: call("affine", x))
        x = torch.randn(2, 3)
        torch.testing.assert_close(tilegym.ops.softmax(x, backend="tilegymc"), x * 3)
        tilegym.set_backend("tilegymc")
        torch.testing.assert_close(tilegym.ops.softmax(x, use_tma=True), x * 3)

    def test_what_the_projects_own_ops_serve(self):
        """TileGym's names and arguments, as its front ends have them, of each spec that serves one."""
        expected = {"softmax": "x use_tma", "rms_norm": "input normalized_shape weight eps bias mode", "gelu": "input approximate",
                    "layer_norm_legacy": "input normalized_shape weight bias eps weight_shift", "dropout": "x seed p training inplace",
                    "persistent_layer_norm": "input normalized_shape weight bias eps mean rstd", "silu_and_mul": "input out",
                    "matmul": "a b trans_a trans_b static_persistent use_tma", "bmm": "a b transpose_a transpose_b static_persistent",
                    "group_gemm": "group_A group_B static_persistent use_tma transpose_b",
                    "apply_rope_base": "q k cos sin position_ids unsqueeze_dim use_tma partial_rotary_factor", "fmha": "q k v scaling is_causal",
                    "splitk_reduce": "attn_splitk_out lse_splitk_out attn_out S_kv"}
        found = {}
        for name in sorted(os.listdir(os.path.join(harness.SOURCE, "specs"))):
            if name.endswith(".tile"):
                done = subprocess.run([harness.TOOL, "compile", os.path.join(harness.SOURCE, "specs", name), "--emit", "interface"],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                for line in json.loads(done.stdout)["ops"][0]["serves"]:
                    found[line["name"]] = " ".join(a["name"] for a in line["arguments"])
        for name, arguments in expected.items():
            self.assertTrue(found[name].startswith(arguments), f"{name}: {found[name]}")

    def test_factories(self):
        self.raises(NotImplementedError, "has no rotation for 'deepseek', expected llama", backend.get_apply_rope_func, "deepseek")
        self.raises(NotImplementedError, "has no module for 'bert', expected llama or gemma3", backend.get_rms_norm_module, "bert") if HAS_TORCH else None


harness.main()
