# SPDX-License-Identifier: MIT
"""Judges whole runs of the interpreter against NumPy and ml_dtypes.

usage: judge_runs.py DUMP_PROGRAM reductions|sorting|products|softmax|shapes

What the language fixes to the bit (orders of summation, sorting, ties, NaN) is compared to the bit: NumPy does the same steps in the
same dtype. Transcendentals are compared with f64. Exits 77 where NumPy or ml_dtypes is missing.
"""
import os
import subprocess
import sys
import tempfile

try:
    import ml_dtypes
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}; tools/setup installs numpy and ml_dtypes")
    sys.exit(77)

DUMP = sys.argv[1]
DTYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "i8": np.int8, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u32": np.uint32, "u64": np.uint64,
}
rng = np.random.default_rng(7)
np.seterr(all="ignore")
checked = 0


def spec(inputs, outputs, reference, kernel="", case=""):
    """An op with fixed dtypes; the test section only has to be well-formed."""
    used = sorted({dtype for dtype, _ in outputs.values()})
    params = ", ".join(f"{n}: {d}[{', '.join(map(str, s))}]" for n, (d, s) in inputs.items())
    results = ", ".join(f"{n}: {d}[{', '.join(map(str, s))}]" for n, (d, s) in outputs.items())
    kernel = kernel or "kernel none() {\n  grid(1)\n}\n"
    return (f"op judged({params}) -> ({results})\nreference {{\n{reference}\n}}\n{kernel}\n"
            f"test {{\n  case \"one\" {{ {case} }}\n  tolerance {{ {'; '.join(d + ': 0' for d in used)} }}\n}}\n"
            "bench none \"a test\"\n")


def run(text, what, **arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "judged.tile")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        words = []
        for name, value in arguments.items():
            if isinstance(value, np.ndarray):
                np.save(os.path.join(folder, "in-" + name + ".npy"), value)
                words.append(f"{name}={os.path.join(folder, 'in-' + name + '.npy')}")
            else:
                words.append(f"{name}={value}")
        done = subprocess.run([DUMP, path, folder, what, *words], stderr=subprocess.PIPE, text=True)
        if done.returncode:
            print(done.stderr, text, sep="\n")
            sys.exit(1)
        return {name[:-4]: typed(np.load(os.path.join(folder, name))) for name in os.listdir(folder)
                if name.endswith(".npy") and not name.startswith("in-")}


def typed(array):
    """Raw elements of two bytes are bf16."""
    return array.view(ml_dtypes.bfloat16) if array.dtype.kind == "V" else array


def bits(array):
    return array.view({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[array.dtype.itemsize])


def same(what, got, want):
    """Bits equal, any NaN equal to any NaN."""
    global checked
    want = np.ascontiguousarray(want)
    assert got.shape == want.shape and got.dtype == want.dtype, (what, got.shape, got.dtype, want.shape, want.dtype)
    nans = (got != got) & (want != want)
    wrong = np.argwhere((bits(got) != bits(want)) & ~nans)
    checked += got.size
    if len(wrong):
        at = tuple(wrong[0])
        print(f"{what}: {len(wrong)} of {got.size} differ, the first at {at}: got {got[at]!r} want {want[at]!r}")
        sys.exit(1)


def near(what, got, want, bound):
    global checked
    error = np.abs(got.astype(np.float64) - want)
    checked += got.size
    wrong = np.argwhere(~(error <= bound))
    if len(wrong):
        at = tuple(wrong[0])
        print(f"{what}: {len(wrong)} of {got.size} are off, the first at {at}: got {got[at]!r} want {want[at]!r}")
        sys.exit(1)


def sample(name, shape, specials=True):
    dtype = DTYPES[name]
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, size=shape, dtype=dtype, endpoint=True)
    values = rng.normal(size=shape)
    if specials and values.size > 8:
        flat = values.reshape(-1)
        flat[rng.integers(0, flat.size, 3)] = 0.0
        flat[rng.integers(0, flat.size, 3)] = -0.0
    return values.astype(dtype)


def fold(array, combine):
    """The interpreter's documented order: the upper half onto the lower half of the last axis."""
    while array.shape[-1] > 1:
        upper = (array.shape[-1] + 1) // 2
        count = array.shape[-1] - upper
        lower = array[..., :upper].copy()
        lower[..., :count] = combine(array[..., :count], array[..., upper:])
        array = lower
    return array


SIZES = [(3, 1), (4, 2), (2, 7), (5, 64), (3, 1000), (2, 4099)]


def reductions():
    for name in ["f64", "f32", "f16", "bf16", "i32", "u8", "i64", "u64"]:
        is_float = name in ("f64", "f32", "f16", "bf16")
        text = spec({"x": (name, ["M", "N"])},
                    {"s": (name, ["M", 1]), "columns": (name, [1, "N"]), "product": (name, ["M", 1]), "greatest": (name, ["M", 1]),
                     "least": (name, ["M", 1]), "first": ("i64", ["M", 1]), "lowest": ("i64", ["M", 1]), "running": (name, ["M", "N"])},
                    "s = sum(x, axis=1)\ncolumns = sum(x, axis=0)\nproduct = prod(x, axis=1)\ngreatest = max(x, axis=1)\n"
                    "least = min(x, axis=1)\nfirst = i64(argmax(x, axis=1))\nlowest = i64(argmin(x, axis=1))\nrunning = cumsum(x, axis=1)",
                    case="M = 1; N = 1; x = [[0]]; expect s = [[0]]")
        for shape in SIZES:
            x = sample(name, shape)
            for with_nan in [False, True] if is_float else [False]:
                if with_nan:
                    x[0, shape[1] // 2] = np.nan
                got = run(text, "reference", x=x)
                same(f"sum {name} {shape}", got["s"], fold(x, np.add))
                same(f"sum axis 0 {name} {shape}", got["columns"], fold(x.T, np.add).T)
                same(f"prod {name} {shape}", got["product"], fold(x, np.multiply))
                zeros = lambda a: np.where(a == 0, np.abs(a), a) if is_float else a  # NumPy does not order zeros
                same(f"max {name} {shape}", zeros(got["greatest"]), zeros(x.max(axis=1, keepdims=True)))
                same(f"min {name} {shape}", zeros(got["least"]), zeros(x.min(axis=1, keepdims=True)))
                key = x.astype(np.float64) if is_float else x
                same(f"argmax {name} {shape}", got["first"], np.argmax(key, axis=1, keepdims=True).astype(np.int64))
                same(f"argmin {name} {shape}", got["lowest"], np.argmin(key, axis=1, keepdims=True).astype(np.int64))
                running = np.empty_like(x)
                running[:, 0] = x[:, 0]
                for k in range(1, shape[1]):
                    running[:, k] = running[:, k - 1] + x[:, k]
                same(f"cumsum {name} {shape}", got["running"], running)
    # Accumulating in another dtype.
    text = spec({"x": ("bf16", ["M", "N"])}, {"s": ("f32", ["M", 1])}, "s = sum(x, axis=1, acc=f32)",
                case="M = 1; N = 1; x = [[0]]; expect s = [[0]]")
    for shape in SIZES:
        x = sample("bf16", shape)
        same(f"sum bf16 in f32 {shape}", run(text, "reference", x=x)["s"], fold(x.astype(np.float32), np.add))


def sorting():
    for name in ["f64", "f32", "f16", "bf16", "i32", "u8", "u64"]:
        text = spec({"x": (name, ["M", "N"])},
                    {"up": (name, ["M", "N"]), "down": (name, ["M", "N"]), "columns": (name, ["M", "N"]), "top": (name, ["M", 2]),
                     "at": ("i64", ["M", 2])},
                    "up = sort(x, axis=1)\ndown = sort(x, axis=1, reverse=true)\ncolumns = sort(x, axis=0)\n"
                    "let (v, i) = topk(x, 2, axis=1)\ntop = v\nat = i64(i)",
                    case="M = 1; N = 2; x = [[0, 0]]; expect up = [[0, 0]]")
        for shape in SIZES[1:-1]:
            x = sample(name, shape)
            if name not in ("i32", "u8", "u64"):
                x[0, 0] = np.nan
                x[-1, -1] = -np.inf
            key = x.astype(np.float64) if x.dtype.kind not in "iu" else x

            def order(line, descending):
                def rank(i):
                    value = line[i]
                    missing = value != value
                    return (missing, 0 if missing else (-value if descending else value))
                # Python's sort is stable; integers are made exact ones first, since -value of u64 wraps.
                if line.dtype.kind in "iu":
                    return sorted(range(len(line)), key=lambda i: -int(line[i]) if descending else int(line[i]))
                return sorted(range(len(line)), key=rank)

            up = np.array([order(line, False) for line in key])
            down = np.array([order(line, True) for line in key])
            columns = np.array([order(line, False) for line in key.T]).T
            got = run(text, "reference", x=x)
            same(f"sort {name} {shape}", got["up"], np.take_along_axis(x, up, 1))
            same(f"sort down {name} {shape}", got["down"], np.take_along_axis(x, down, 1))
            same(f"sort axis 0 {name} {shape}", got["columns"], np.take_along_axis(x, columns, 0))
            same(f"topk {name} {shape}", got["top"], np.take_along_axis(x, down[:, :2], 1))
            same(f"topk index {name} {shape}", got["at"], down[:, :2].astype(np.int64))


def products():
    # `@`: sums of 64 products from zero, added in turn.
    for name, work in [("f32", np.float32), ("f64", np.float64), ("i32", np.int32), ("i64", np.int64)]:
        text = spec({"a": (name, ["M", "K"]), "b": (name, ["K", "N"])}, {"c": (name, ["M", "N"])}, "c = a @ b",
                    case="M = 1; N = 1; K = 1; a = [[0]]; b = [[0]]; expect c = [[0]]")
        for m, n, k in [(1, 1, 1), (5, 17, 63), (8, 16, 64), (3, 40, 200), (33, 31, 129)]:
            a, b = sample(name, (m, k)), sample(name, (k, n))
            want = np.zeros((m, n), work)
            for start in range(0, k, 64):
                part = np.zeros((m, n), work)
                for i in range(start, min(k, start + 64)):
                    part = part + a[:, i:i + 1] * b[i:i + 1, :]
                want = want + part
            same(f"{name} @ {(m, n, k)}", run(text, "reference", a=a, b=b)["c"], want)
    # mma: in order of k from the accumulator.
    for name, to in [("f16", "f32"), ("bf16", "f32"), ("f32", "f32"), ("f64", "f64"), ("i8", "i32")]:
        option = ", precision=ieee" if name == "f32" else ""
        kernel = (f"kernel k() {{\n  grid(cdiv(M, 16), cdiv(N, 32))\n  let (i, j) = blocks()\n  let A = a.tile(16, 32)\n"
                  f"  let B = b.tile(32, 32)\n  var acc = zeros({to}, [16, 32])\n  for k in 0 .. cdiv(K, 32) {{\n"
                  f"    acc = mma(load(A[i, k]), load(B[k, j]), acc{option})\n  }}\n  store(c.tile(16, 32)[i, j], acc)\n}}\n")
        text = spec({"a": (name, ["M", "K"]), "b": (name, ["K", "N"])}, {"c": (to, ["M", "N"])}, f"c = {to}(a) @ {to}(b)", kernel,
                    "M = 1; N = 1; K = 1; a = [[0]]; b = [[0]]; expect c = [[0]]")
        for m, n, k in [(1, 1, 1), (20, 45, 100), (16, 32, 32)]:
            a, b = sample(name, (m, k), specials=False), sample(name, (k, n), specials=False)
            work = DTYPES[to]
            want = np.zeros((m, n), work)
            for i in range(k):
                want = want + a[:, i:i + 1].astype(work) * b[i:i + 1, :].astype(work)
            same(f"mma {name} {(m, n, k)}", run(text, "k", a=a, b=b)["c"], want)


def softmax():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../specs/softmax.tile")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name in ["f32", "f16", "bf16"]:
        # The spec's dtype is a choice of three, and raw bytes do not say that they are bf16.
        fixed = text
        for old, new in [("T: f32 | f16 | bf16", f"T: {name}"), ("f32: 2e-6; f16: 1e-3; bf16: 8e-3", f"{name}: 1e-2"),
                         ("[f32, bf16]", f"[{name}]")]:
            fixed = fixed.replace(old, new)
        eps = {"f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}[name]
        for shape in [(1, 1), (7, 63), (3, 50257)]:
            x = sample(name, shape)
            wide = x.astype(np.float64)
            e = np.exp(wide - wide.max(axis=1, keepdims=True))
            want = e / e.sum(axis=1, keepdims=True)
            for what in ["reference", "resident:BM=2", "streaming:BN=2048"]:
                if what.startswith("resident") and shape[1] > 16384:
                    continue
                got = run(fixed, what, x=x)["y"]
                near(f"softmax {name} {shape} {what}", got, want, want * (eps / 2 * 1.01 + 2e-6) + 2.0**-25)


def shapes():
    text = spec({"x": ("f32", ["M", "N"]), "rows": ("i32", ["G"]), "b": ("f32", ["N"])},
                {"turned": ("f32", ["N", "M"]), "picked": ("f32", ["G", "N"]), "outer": ("f32", ["M", "M"]), "cut": ("f32", ["M - 1", "N"]),
                 "both": ("f32", ["2 * M", "N"]), "flat": ("f32", ["M * N"]), "chosen": ("f32", ["M", "N"]), "pairs": ("f32", ["G"])},
                "turned = permute(x, 1, 0)\npicked = x[rows]\nlet d = sum(x, axis=1)\nouter = d * permute(d, 1, 0)\ncut = x[1 : M]\n"
                "both = cat(x, x + b, axis=0)\nflat = reshape(x, [M * N])\nchosen = select(x > b, x, b)\npairs = x[rows, rows]",
                case="M = 2; N = 2; G = 1; x = [[0, 0], [0, 0]]; rows = [0]; b = [0, 0]; expect turned = [[0, 0], [0, 0]]")
    for m, n in [(2, 3), (9, 33), (64, 65)]:
        x, b = sample("f32", (m, n)), sample("f32", (n,))
        rows = rng.integers(0, min(m, n), size=5).astype(np.int32)
        got = run(text, "reference", x=x, rows=rows, b=b)
        d = fold(x, np.add)
        for name, want in {"turned": x.T, "picked": x[rows], "outer": d * d.T, "cut": x[1:], "both": np.concatenate([x, x + b]),
                           "flat": x.reshape(-1), "chosen": np.where(x > b, x, b), "pairs": x[rows, rows]}.items():
            same(f"{name} {(m, n)}", got[name], want)


{"reductions": reductions, "sorting": sorting, "products": products, "softmax": softmax, "shapes": shapes}[sys.argv[2]]()
print(f"{checked} values agree")
