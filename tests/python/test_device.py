# SPDX-License-Identifier: MIT
"""What a call tells the driver: its stream, its device. On the driver made for tests, with arrays that say they are on a GPU, by capsule and by table."""
import harness

harness.need("numpy")
import ctypes  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import types  # noqa: E402

LOG = tempfile.NamedTemporaryFile()
os.environ.update(TILEGYM_DRIVER=harness.FAKE_DRIVER, TILEGYM_FAKE_LAUNCHED=LOG.name, TILEGYM_FAKE_DEVICES="2")
import numpy  # noqa: E402
import tilegym_aot  # noqa: E402

CUDA = 2


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int32), ("id", ctypes.c_int32), ("rank", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


make_capsule = ctypes.pythonapi.PyCapsule_New
make_capsule.restype, make_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Array:
    """Host memory that says it is a GPU's; notes for which stream it was asked."""

    def __init__(self, shape=(2, 3), device=0):
        self.array = numpy.zeros(shape, dtype=numpy.float32)
        self.device, self.streams = device, []
        self.shape = (ctypes.c_int64 * len(shape))(*shape)

    def tensor(self):
        return DLTensor(self.array.ctypes.data, CUDA, self.device, self.array.ndim, 2, 32, 1, self.shape, None, 0)

    def __dlpack_device__(self):
        return CUDA, self.device

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        self.managed = Managed(self.tensor(), None, None)
        return make_capsule(ctypes.addressof(self.managed), b"dltensor", None)


BORROW = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
STREAM = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class Exchange(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p), ("allocate", ctypes.c_void_p),
                ("from_object", ctypes.c_void_p), ("to_object", ctypes.c_void_p), ("borrow", BORROW), ("stream", STREAM)]


@BORROW
def borrow(array, out):
    out[0] = array.tensor()
    return 0


@STREAM
def current_stream(_, device, out):
    out[0] = 4000 + device
    return 0


TABLE = Exchange(1, 2, None, None, None, None, borrow, current_stream)


class TabledArray(Array):
    """The same by a table of functions, as torch has it."""
    __dlpack_c_exchange_api__ = make_capsule(ctypes.addressof(TABLE), b"dlpack_exchange_api", None)


class Stream:
    cuda_stream = 77


class CudaStream:
    def __cuda_stream__(self):
        return (0, 78)


class DeviceTest(harness.Test):
    def setUp(self):
        self.ops = tilegym_aot.open(harness.KERNELS)
        LOG.truncate(0)

    def log(self):
        with open(LOG.name, encoding="utf-8") as file:
            return file.read().split("\n")[:-1]

    def test_the_frameworks_current_stream(self):
        x, y = TabledArray(), TabledArray()
        self.assertIs(self.ops.affine(x, out=y), y)
        self.assertEqual(self.log(), ["stream 4000"])
        self.assertEqual(x.streams, [])

    def test_a_stream_that_is_given(self):
        for stream, number in ((5, 5), (Stream(), 77), (CudaStream(), 78), (0, 0)):
            LOG.truncate(0)
            x = TabledArray()
            self.ops.affine(x, out=TabledArray(), stream=stream)
            self.assertEqual(self.log(), [f"stream {number}"])
        self.raises(TypeError, "expected a number, or a stream of torch, CuPy or CUDA's Python packages", self.ops.affine, TabledArray(),
                    out=TabledArray(), stream="main")

    def test_a_producer_is_told_the_stream(self):
        x = Array()
        self.ops.affine(x, out=Array(), stream=9)
        self.ops.affine(x, out=Array())
        self.assertEqual(x.streams, [9, 1])  # without one, the legacy default stream
        self.assertEqual(self.log(), ["stream 9", "stream 0"])

    def test_the_device_is_the_tensors(self):
        self.ops.affine(TabledArray(device=1), out=TabledArray(device=1))
        self.assertEqual(self.log(), ["push 1", "stream 4001", "pop 0"])
        self.raises(ValueError, "affine: y is on device 1 of DLPack's type 2, expected device 0 of type 2 as the first tensor's", self.ops.affine,
                    TabledArray(), out=TabledArray(device=1))
        self.raises(ValueError, "affine: y is on device 0 of DLPack's type 1", self.ops.affine, TabledArray(), out=numpy.zeros((2, 3), dtype="f4"))

    def test_an_output_is_made_on_the_tensors_device_by_its_framework(self):
        entered = []

        class Device:
            __enter__ = lambda self: entered.append("enter")
            __exit__ = lambda self, *_: entered.append("exit")

        class ndarray(Array):
            __module__ = "cupy"
            tensor = lambda self: DLTensor(self.array.ctypes.data, CUDA, 0, 2, 2, 32, 1, self.shape, None, 0)
            __dlpack_device__ = lambda self: (CUDA, 0)

        x, made = ndarray(device=Device()), ndarray(device=Device())
        cupy = types.ModuleType("cupy")
        cupy.float32 = "float32"
        cupy.empty = lambda shape, dtype: entered.append((shape, dtype)) or made
        sys.modules["cupy"] = cupy
        self.addCleanup(sys.modules.pop, "cupy")
        self.assertIs(self.ops.affine(x), made)
        self.assertEqual(entered, ["enter", ((2, 3), "float32"), "exit"])

    def test_an_output_that_nothing_can_make(self):
        self.raises(TypeError, "no way is known to make a float32 tensor like __main__.Array; give the outputs", self.ops.affine, Array())

    def test_nothing_is_launched_by_prepare_and_explain(self):
        self.ops.prepare("affine", TabledArray(), out=TabledArray())
        self.assertIn("affine_rows_f32", self.ops.explain("affine", TabledArray(), out=TabledArray()))
        self.assertEqual(self.log(), [])

    def test_a_product_by_the_vendors_library(self):
        os.environ["TILEGYM_DISABLE_FALLBACK"] = "1"  # read when a call first falls back, which none here did yet
        a, b, c = TabledArray((2, 3)), TabledArray((3, 4)), TabledArray((2, 4))
        a.array[:] = numpy.arange(6).reshape(2, 3)
        b.array[:] = numpy.arange(12).reshape(3, 4) - 5
        self.assertIs(self.ops.matmul(a, b, out=c, backend="vendor"), c)
        numpy.testing.assert_array_equal(c.array, a.array @ b.array)
        self.assertEqual(self.log(), [])  # no kernel
        tilegym_aot.set_backend("vendor")
        self.addCleanup(tilegym_aot.set_backend, "tile")
        c.array[:] = 0
        self.ops.matmul(a, b, out=c)
        numpy.testing.assert_array_equal(c.array, a.array @ b.array)
        self.raises(tilegym_aot.Unavailable, "affine is not implemented for vendor; it is implemented for tile", self.ops.affine, TabledArray(),
                    out=TabledArray())


harness.main()
