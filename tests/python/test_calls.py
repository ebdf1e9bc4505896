# SPDX-License-Identifier: MIT
"""Calls on NumPy arrays in the interpreter: how arguments are bound, what is made, what errors say. No framework but NumPy is needed."""
import harness

harness.need("numpy")
import inspect  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import shutil  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import weakref  # noqa: E402
from concurrent.futures import ThreadPoolExecutor  # noqa: E402

import numpy  # noqa: E402
import tilegym_aot  # noqa: E402
from tilegym_aot import stubs  # noqa: E402


class CallsTest(harness.Test):
    def setUp(self):
        tilegym_aot.use_reference(True)
        self.addCleanup(tilegym_aot.use_reference, False)
        self.ops = tilegym_aot.open(harness.KERNELS)
        self.x = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)

    def equal(self, found, expected):
        numpy.testing.assert_array_equal(found, numpy.asarray(expected, dtype=numpy.asarray(found).dtype))

    def test_an_output_is_made(self):
        y = self.ops.affine(self.x)
        self.assertIs(type(y), numpy.ndarray)
        self.equal(y, self.x * 2)

    def test_arguments_by_place_and_by_name(self):
        w = numpy.array([1, 2, 3], dtype=numpy.float32)
        expected = -(self.x * 0.5 + 4) * w + 1
        self.equal(self.ops.affine(self.x, w, 0.5, 4, "negate", False), expected)
        self.equal(self.ops.affine(keep=False, mode="negate", offset=4, factor=0.5, w=w, x=self.x), expected)
        self.equal(self.ops.affine(self.x, None, offset=-1), self.x * 2 - 1)

    def test_an_output_is_given(self):
        for name in "y", "out":
            y = numpy.empty_like(self.x)
            self.assertIs(self.ops.affine(self.x, **{name: y}), y)
            self.equal(y, self.x * 2)
        copy = self.x.copy()
        self.ops.affine(copy, out=copy)
        self.equal(copy, self.x * 2)

    def test_an_optional_output_is_asked_for(self):
        y, total = self.ops.affine(self.x, total=True)
        self.equal(y, self.x * 2)
        self.equal(total, [3, 12])
        self.equal(self.ops.affine(self.x, total=False), y)
        given = numpy.empty(2, dtype=numpy.float32)
        self.assertIs(self.ops.affine(self.x, total=given)[1], given)

    def test_an_output_of_another_shape(self):
        self.equal(self.ops.halves(self.x[:, :2]), [[0], [3]])
        self.assertEqual(self.ops.halves(numpy.zeros((2, 3, 4), dtype=numpy.int64)).shape, (2, 3, 2))
        self.assertEqual(self.ops.halves(numpy.zeros((0, 4), dtype=numpy.int32)).dtype, numpy.int32)

    def test_outputs_that_are_asked_for_together(self):
        y, head, tail = self.ops.halves(self.x[:, :2], head=True, tail=True)
        self.equal(head, [0, 3])
        self.equal(tail, [1, 4])
        self.raises(ValueError, "halves: head and tail are asked for together", self.ops.halves, self.x[:, :2], head=True)

    def test_strided_views(self):
        self.equal(self.ops.affine(self.x.T), self.x.T * 2)
        self.equal(self.ops.affine(self.x[:, ::-1]), self.x[:, ::-1] * 2)

    def test_wrong_calls(self):
        f, x = self.ops.affine, self.x
        self.raises(TypeError, "affine() missing required argument 'x'", f)
        self.raises(TypeError, "affine() takes 6 positional arguments but 7 were given; outputs are given by name", f, x, None, 1, 2, "none", True, x)
        self.raises(TypeError, "affine() got an unexpected keyword argument 'z'; expected affine(x, w=None, factor=2.0", f, x, z=1)
        self.raises(TypeError, "affine() got multiple values for argument 'x'", f, x, x=x)
        self.raises(TypeError, "affine: x is no tensor: it has no __dlpack__", f, [1, 2])
        self.raises(ValueError, "affine: mode is 'up', expected one of 'none', 'negate'", f, x, mode="up")
        self.raises(TypeError, "must be real number, not str", f, x, factor="2")
        self.raises(OverflowError, "affine: offset is 4294967296, which does not fit 32 bits", f, x, offset=1 << 32)
        self.raises(TypeError, "no op takes tensors of DLPack's dtype code 5 with 64 bits", f, x.astype(numpy.complex64))
        self.raises(ValueError, "9 axes, and ops take 8 at most", f, x.reshape((1,) * 7 + (2, 3)))
        error = self.raises(tilegym_aot.InvalidArgument, "affine: x: has dtype f64, expected one of f32, f16", f, x.astype(numpy.float64))
        self.assertEqual(error.status, 1)
        self.assertIsInstance(error, ValueError)
        self.raises(tilegym_aot.InvalidArgument, "halves: the last axis is two halves", self.ops.halves, x)
        self.raises(AttributeError, "package python_tests has no op softmax; it has affine,", lambda: self.ops.softmax)
        locked = x.copy()
        locked.flags.writeable = False
        self.raises((ValueError, BufferError, TypeError), "read", f, x, out=locked)

    def test_without_the_reference_there_is_a_driver_or_an_error(self):
        tilegym_aot.use_reference(False)
        self.raises(tilegym_aot.NoDriver, "no CUDA driver: no-driver-here.so", self.ops.affine, self.x)

    def test_what_a_function_says_of_itself(self):
        self.assertEqual(str(inspect.signature(self.ops.affine)),
                         "(x, w=None, factor=2.0, offset=0, mode='none', keep=True, *, y=None, total=None, out=None, stream=None, backend=None)")
        # An optional argument before a required one has no default.
        self.assertTrue(str(inspect.signature(self.ops.affine_backward)).startswith("(dy, x, w, total, factor=2.0,"))
        for text in ("every kind of argument", "w: T[N] (optional)", "total: f32[*R] (optional), written", "mode: none | negate", "T: f32, f16",
                     "total: True asks for a new one"):
            self.assertIn(text, self.ops.affine.__doc__)
        self.assertEqual(self.ops.ops, ["affine", "affine_backward", "halves", "matmul", "pairs"])
        self.assertIn("affine", dir(self.ops))

    def test_stubs_are_python(self):
        with open(os.path.join(harness.KERNELS, "interface.json"), encoding="utf-8") as file:
            text = stubs.stub(json.load(file))
        space = {}
        exec(compile(text, "stub", "exec"), space)
        parameters = inspect.signature(space["affine"]).parameters
        self.assertEqual(list(parameters), list(inspect.signature(self.ops.affine).parameters))
        self.assertIn("mode: Literal['none', 'negate'] = 'none'", text)
        done = subprocess.run([sys.executable, "-m", "tilegym_aot.stubs", harness.KERNELS], capture_output=True, text=True,
                              env=dict(os.environ, PYTHONPATH=harness.PACKAGE))
        self.assertEqual((done.stdout, done.returncode), (text, 0), done.stderr)

    def test_the_default_package(self):
        code = "import tilegym_aot, numpy; tilegym_aot.use_reference(); from tilegym_aot import ops; print(ops.affine(numpy.ones((1, 1), dtype='f4')))"
        def run(path):
            return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                  env=dict(os.environ, PYTHONPATH=harness.PACKAGE, TILEGYM_PACKAGE=path))
        self.assertEqual(run(harness.KERNELS).stdout.strip(), "[[2.]]")
        self.assertIn("no kernel package: set TILEGYM_PACKAGE", run("").stderr)

    def test_packages_that_do_not_fit(self):
        with tempfile.TemporaryDirectory() as folder:
            self.raises(tilegym_aot.BadPackage, "interface.json is missing; `tilegymc compile -o FOLDER` writes it", tilegym_aot.open, folder)
            shutil.copy(os.path.join(harness.KERNELS, "interface.json"), folder)
            self.raises(tilegym_aot.BadPackage, "python_tests.tgk", tilegym_aot.open, folder)
            shutil.copy(os.path.join(harness.KERNELS, "python_tests.tgk"), folder)
            path = os.path.join(folder, "python_tests.tgk")
            self.assertEqual(tilegym_aot.open(path).ops, self.ops.ops)
            with open(os.path.join(folder, "interface.json"), encoding="utf-8") as file:
                interface = json.load(file)
            interface["hash"] = "0" * 16
            with open(os.path.join(folder, "interface.json"), "w", encoding="utf-8") as file:
                json.dump(interface, file)
            self.raises(tilegym_aot.BadPackage, "is not the package that", tilegym_aot.open, path)
            self.assertEqual(tilegym_aot.open(path, check=False).ops, self.ops.ops)
            with open(path, "r+b") as file:
                file.truncate(1000)
            self.raises(tilegym_aot.BadPackage, "python_tests.tgk", tilegym_aot.open, path)

    def test_backends(self):
        tilegym_aot.use_reference(False)
        self.equal(self.ops.affine(self.x, backend="reference"), self.x * 2)
        self.raises(tilegym_aot.NoDriver, "no-driver-here.so", self.ops.affine, self.x, backend="tile")
        self.raises(ValueError, "affine: there is no backend 'cutile'", self.ops.affine, self.x, backend="cutile")
        self.raises(ValueError, "there is no backend 'cutile'", tilegym_aot.set_backend, "cutile")
        tilegym_aot.set_backend("reference")
        self.addCleanup(tilegym_aot.set_backend, "tile")
        self.assertEqual(tilegym_aot.current_backend(), "reference")
        self.equal(self.ops.affine(self.x), self.x * 2)

    def test_describe(self):
        self.assertIn("affine", tilegym_aot.describe(self.ops))
        self.assertIn("reference", str(json.loads(tilegym_aot.describe(json=True))))

    def test_functions_keep_the_package_open_and_nothing_else_does(self):
        package = tilegym_aot.open(harness.KERNELS)
        affine, state = package.affine, weakref.ref(package._state)
        del package
        self.equal(affine(self.x), self.x * 2)
        self.assertIsNotNone(state())
        del affine
        self.assertIsNone(state())

    def test_many_threads(self):
        with ThreadPoolExecutor(8) as pool:
            for n, y in enumerate(pool.map(lambda n: self.ops.affine(self.x, None, float(n)), range(200))):
                self.equal(y, self.x * n)

    def test_references_are_not_lost(self):
        before = sys.getrefcount(self.x), sys.getrefcount(None)
        for _ in range(200):
            y = self.ops.affine(self.x, None, total=True)
            try:
                self.ops.affine(self.x, out=self.x[:1])
            except ValueError:
                pass
        self.assertLess(abs(sys.getrefcount(None) - before[1]), 50)
        self.assertEqual(sys.getrefcount(self.x), before[0])
        self.assertEqual(sys.getrefcount(y[0]), 2)

    def test_a_shared_library_of_kernels(self):
        compiler = shutil.which("clang++-22") or shutil.which("c++")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "libkernels.so")
            subprocess.run([compiler, "-shared", "-o", path, os.path.join(harness.KERNELS, "python_tests.o"), "-Wl,--whole-archive", harness.RUNTIME,
                            "-Wl,--no-whole-archive", "-ldl", "-lpthread"], check=True)
            shutil.copy(os.path.join(harness.KERNELS, "interface.json"), folder)
            ops = tilegym_aot.open(path)
            self.assertEqual(ops.ops, self.ops.ops)
            # Its own runtime takes the call, where nothing turned the reference on.
            self.raises(tilegym_aot.NoDriver, "no-driver-here.so", ops.affine, self.x)
            self.raises(tilegym_aot.BadPackage, "undefined symbol: other_package", tilegym_aot._core.open_library, path, "other")


harness.main()
