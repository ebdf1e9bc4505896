# SPDX-License-Identifier: MIT
"""The backend `vendor` on the cuBLASLt that torch brought: products of every dtype and layout that it takes, through the dispatcher in C and in Python, beside
`tile` and beside torch in f64; what it declines is refused (or run by `tile`, where falling back is allowed); and what both take.

usage: vendor.py PACKAGE-FOLDER
The package has matmul, bmm and linear. It fails where a result is wrong or a call went to another backend than the one that was named.
"""
import ctypes
import glob
import os
import sys
import time

os.environ["TILEGYM_DISABLE_FALLBACK"] = "1"  # read once, by either runtime: a call that vendor does not take is an error
import torch  # noqa: E402

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "python"), os.path.dirname(os.path.abspath(__file__))]
import tilegym_aot  # noqa: E402
from tilegym_ctypes import Error, Package  # noqa: E402

VENDOR = 2
TOLERANCE = {torch.float32: 1e-4, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


def find_library():
    """Torch's wheels keep cuBLASLt where no loader looks; importing torch has loaded it, under the name that the runtime asks for. Else it is named."""
    try:
        ctypes.CDLL("libcublasLt.so.13")
    except OSError:
        found = glob.glob(os.path.join(os.path.dirname(torch.__file__), "..", "nvidia", "**", "libcublasLt.so.1?"), recursive=True)
        if not found:
            sys.exit("there is no cuBLASLt beside torch")
        os.environ["TILEGYM_CUBLASLT"] = found[0]


class Product(ctypes.Structure):
    _fields_ = [("op", ctypes.c_char_p)] + [(name, ctypes.c_int32) for name in ("a", "b", "bias", "c", "turn_a", "turn_b", "plain")] + [
        ("plain_value", ctypes.c_int64)]


class ByC:
    """The C interface of the shared runtime."""

    def __init__(self, folder, interfaces):
        self.package = Package(folder)
        products = (Product * 8)()
        named = [op for op in interfaces.values() if op.product]
        for place, op in zip(products, named):
            for (field, _), value in zip(Product._fields_, [op.name.encode(), *op.product]):
                setattr(place, field, value)
        self.package.check(self.package.library.tilegym_add_vendor(products, ctypes.c_size_t(len(named))))

    def __call__(self, name, backend, out, **values):
        number, pointers, alive = self.package.arguments(name, values)
        self.package.check(self.package.library.tilegym_call_on(self.package.handle, ctypes.c_size_t(number), pointers,
                                                                ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), backend))
        return out


def operands(shape, dtype, turned, padded):
    """Of the shape, with columns together where it is turned and rows apart where it is padded."""
    *lead, rows, columns = shape
    if turned:
        return operands([*lead, columns, rows], dtype, False, padded).mT
    wide = torch.randn(*lead, rows, columns + (8 if padded else 0), device="cuda").to(dtype)
    return wide[..., :columns]


def check(name, found, expected, dtype):
    error = ((found.double() - expected).abs() / (1 + expected.abs())).max().item() if expected.numel() else 0
    if not error <= TOLERANCE[dtype] * 4:
        raise SystemExit(f"{name}: differs by {error}")


def median_us(call):
    times = []
    for _ in range(30):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(10):
            call()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e5)
    return sorted(times)[len(times) // 2]


def main():
    find_library()
    k = tilegym_aot.open(sys.argv[1])
    by_c, done = ByC(sys.argv[1], k.interfaces), 0
    torch.manual_seed(1)
    for dtype in TOLERANCE:
        for m, n, depth in ((1, 64, 64), (16, 136, 1024), (200, 136, 104), (512, 512, 512), (1, 1, 1), (33, 77, 129)):
            for turned in range(4):
                for padded in (False, True):
                    a, b = operands([m, depth], dtype, turned & 1, padded), operands([depth, n], dtype, turned & 2, padded)
                    name, expected = f"matmul {dtype} {m} x {n} x {depth}, turned {turned}, padded {padded}", a.double() @ b.double()
                    tile = k.matmul(a, b, backend="tile")
                    check(name + " by tile", tile, expected, dtype)
                    check(name + " by vendor in Python", k.matmul(a, b, backend="vendor"), expected, dtype)
                    c = torch.empty(m, n, device="cuda", dtype=dtype)
                    check(name + " by vendor in C", by_c("matmul", VENDOR, c, a=a, b=b, c=c), expected, dtype)
                    done += 1
        a, b = operands([5, 40, 72], dtype, False, False), operands([5, 72, 56], dtype, True, False)
        check(f"bmm {dtype}", k.bmm(a, b, backend="vendor"), a.double() @ b.double(), dtype)
        x, w, bias = operands([3, 20, 64], dtype, False, False), operands([48, 64], dtype, False, True), torch.randn(48, device="cuda").to(dtype)
        check(f"linear {dtype}", k.linear(x, w, bias, backend="vendor"), x.double() @ w.double().mT + bias.double(), dtype)
        done += 2
    # What it declines, and who then may take it.
    f8 = torch.randn(64, 64, device="cuda").to(torch.float8_e4m3fn)
    try:
        k.matmul(f8, f8, backend="vendor")
    except tilegym_aot.Unavailable as error:
        assert "vendor does not take this call" in str(error), error
    else:
        raise SystemExit("vendor took f8 in Python")
    try:
        by_c("matmul", VENDOR, None, a=f8, b=f8, c=torch.empty_like(f8))
    except Error as error:
        assert "vendor does not take this call" in str(error), error
    else:
        raise SystemExit("vendor took f8 in C")
    # On a stream of torch's, and in a graph.
    stream, a = torch.cuda.Stream(), torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16) / 64
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        found, expected = k.matmul(a @ a, a, backend="vendor"), (a @ a) @ a
    stream.synchronize()
    check("on a stream", found, expected.double(), torch.bfloat16)
    for size in (512, 4096):
        a, c = torch.randn(size, size, device="cuda", dtype=torch.bfloat16), torch.empty(size, size, device="cuda", dtype=torch.bfloat16)
        times = {name: median_us(call) for name, call in (("vendor", lambda: k.matmul(a, a, c=c, backend="vendor")), ("tile", lambda: k.matmul(a, a, c=c)),
                                                         ("torch", lambda: torch.matmul(a, a, out=c)))}
        print(f"{size} cubed, bf16, us a call: " + ", ".join(f"{name} {us:.1f}" for name, us in times.items()))
    print(f"{done} products by vendor in C and in Python: right")


if __name__ == "__main__":
    main()
