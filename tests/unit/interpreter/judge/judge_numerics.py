# SPDX-License-Identifier: MIT
"""Judges the interpreter's numerics against NumPy and ml_dtypes, and against exact rational arithmetic.

usage: judge_numerics.py DUMP_PROGRAM conversions|arithmetic|integers|math|npy

Exhaustive over 16-bit and 8-bit formats: every value decodes right, and encoding is checked at every value, at every
midpoint between neighbours, and one step to either side of each. Rounding is monotonic, so those points decide it all.
Exits 77 where NumPy or ml_dtypes is missing.
"""
import io
import random
import subprocess
import sys
from fractions import Fraction

try:
    import ml_dtypes
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}; tools/setup installs numpy and ml_dtypes")
    sys.exit(77)

DUMP = sys.argv[1]
FLOATS = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
}
INTS = {
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
}
DTYPES = {**FLOATS, **INTS, "bool": np.uint8, "index": np.int64}
NARROW = ["f16", "bf16", "f8e4m3", "f8e5m2"]
checked = 0
rng = np.random.default_rng(20240521)
np.seterr(all="ignore")


def bits_of(array):
    return array.view({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[array.dtype.itemsize])


def run(args, *operands, out):
    data = b"".join(np.ascontiguousarray(x).tobytes() for x in operands)
    done = subprocess.run([DUMP, *args], input=data, stdout=subprocess.PIPE, check=True)
    return np.frombuffer(done.stdout, dtype=DTYPES[out])


def is_nan(array):
    return array != array


def same(what, got, want, *inputs):
    """Bits equal, any NaN equal to any NaN."""
    global checked
    assert got.shape == want.shape, (what, got.shape, want.shape)
    nans = is_nan(got.astype(np.float64)) & is_nan(want.astype(np.float64)) if got.dtype.kind not in "iu" else False
    wrong = np.flatnonzero((bits_of(got) != bits_of(want)) & ~np.asarray(nans))
    checked += got.size
    if wrong.size:
        i = wrong[0]
        print(f"{what}: {wrong.size} of {got.size} differ, the first at {i}:",
              f"inputs {[x[i] for x in inputs]} got {got[i]!r} want {want[i]!r}")
        sys.exit(1)


def all_values(name):
    width = np.uint8 if name.startswith("f8") else np.uint16
    return np.arange(2 ** (8 * width().itemsize), dtype=np.uint32).astype(width).view(FLOATS[name])


def finite_grid(name):
    """All finite magnitudes of a format in order, as f64, and the value that the next code would have."""
    positive = all_values(name)[: 128 if name.startswith("f8") else 32768].astype(np.float64)
    grid = positive[np.isfinite(positive)]
    return grid, grid[-1] + (grid[-1] - grid[-2])


def breakpoints(name):
    """f64 values at, midway between and just beside all values of a format."""
    grid, beyond = finite_grid(name)
    points = np.concatenate([grid, [beyond]])
    points = np.concatenate([points, (points[1:] + points[:-1]) / 2])
    points = np.concatenate([points, np.nextafter(points, np.inf), np.nextafter(points, -np.inf)])
    points = np.concatenate([points, [np.inf, np.nan, 1e300, 5e-324, 2 * beyond]])
    return np.concatenate([points, -points])


def rounded(name, values, mode, saturate):
    """By definition: the neighbours in the grid, an exact comparison with their midpoint, ties to the even code."""
    grid, beyond = finite_grid(name)
    has_infinity = name != "f8e4m3"
    grid = np.concatenate([grid, [beyond]])
    magnitude = np.abs(values)
    low = np.clip(np.searchsorted(grid, np.where(is_nan(magnitude), 0, magnitude), side="right") - 1, 0, grid.size - 1)
    high = np.minimum(low + 1, grid.size - 1)
    exact = grid[low] == magnitude
    middle = (grid[low] + grid[high]) / 2
    negative = np.signbit(values)
    if mode == "rn":
        up = (magnitude > middle) | ((magnitude == middle) & (low % 2 == 1))
    else:
        up = {"rz": np.zeros_like(negative), "rm": negative, "rp": ~negative}[mode]
    code = np.where(exact | ~up, low, high)
    inward = {"rn": np.zeros_like(negative), "rz": np.ones_like(negative), "rm": ~negative, "rp": negative}[mode]
    past = code >= grid.size - 1
    infinite = np.isinf(values)
    code = np.where(past & (inward | saturate) & ~infinite, grid.size - 2, code)
    code = np.where(infinite & saturate, grid.size - 2, code)
    width = np.uint8 if name.startswith("f8") else np.uint16
    result = code.astype(width)
    past = (code >= grid.size - 1) | (infinite & ~np.asarray(saturate))
    infinity = bits_of(np.array([np.inf if has_infinity else np.nan], dtype=FLOATS[name]))[0] & (2 ** (8 * width().itemsize - 1) - 1)
    result = np.where(past, width(infinity), result)
    result = result | (negative.astype(width) << (8 * width().itemsize - 1))
    result = np.where(is_nan(values), bits_of(np.array([np.nan], dtype=FLOATS[name]))[0], result).astype(width)
    return result.view(FLOATS[name])


def conversions():
    for name in NARROW:
        values = all_values(name)
        for wide in ["f32", "f64"]:
            same(f"{name} to {wide}", run(["convert", name, wide, "default", "default"], values, out=wide),
                 values.astype(FLOATS[wide]), values)
        same(f"{name} to itself", run(["convert", name, name, "default", "default"], values, out=name), values, values)
        points = breakpoints(name)
        singles = np.unique(np.concatenate([points.astype(np.float32), np.nextafter(points.astype(np.float32), np.float32(np.inf)),
                                            np.nextafter(points.astype(np.float32), np.float32(-np.inf))]))
        singles = np.concatenate([singles, np.array([-0.0, 0.0], np.float32)])
        # The library's own conversion: from f32 always; f16 from f64 too (ml_dtypes goes by way of f32 from f64).
        unsaturated = "0" if name.startswith("f8") else "default"
        same(f"f32 to {name}", run(["convert", "f32", name, "default", unsaturated], singles, out=name), singles.astype(FLOATS[name]), singles)
        if name == "f16":
            same("f64 to f16", run(["convert", "f64", name, "default", "default"], points, out=name), points.astype(np.float16), points)
        for source, inputs in [("f64", points), ("f32", singles)]:
            for mode in ["rn", "rz", "rm", "rp"]:
                for saturate in [False, True]:
                    got = run(["convert", source, name, mode, str(int(saturate))], inputs, out=name)
                    same(f"{source} to {name} {mode} sat={saturate}", got, rounded(name, inputs.astype(np.float64), mode, saturate), inputs)
        default = run(["convert", "f64", name, "default", "default"], points, out=name)
        same(f"f64 to {name} by default", default, rounded(name, points, "rn", name.startswith("f8")), points)
        for other in NARROW:
            got = run(["convert", name, other, "rn", "0"], values, out=other)
            same(f"{name} to {other}", got, rounded(other, values.astype(np.float64), "rn", False), values)
    doubles = rng.integers(0, 2**64, 200000, dtype=np.uint64).view(np.float64)
    halfway = (rng.integers(0, 2**32, 200000, dtype=np.uint64).astype(np.uint32).view(np.float32)).astype(np.float64)
    halfway = np.concatenate([halfway, (halfway + np.nextafter(halfway.astype(np.float32), np.float32(np.inf)).astype(np.float64)) / 2, doubles])
    halfway = np.concatenate([halfway, np.nextafter(halfway, np.inf), np.nextafter(halfway, -np.inf)])
    same("f64 to f32", run(["convert", "f64", "f32", "default", "default"], halfway, out="f32"), halfway.astype(np.float32), halfway)
    tf32()
    to_integers()
    from_integers()


def tf32():
    """By way of the definition: the value rounded to a multiple of its 2^(e-10)."""
    values = rng.integers(0, 2**32, 300000, dtype=np.uint64).astype(np.uint32)
    values = np.concatenate([values, (values >> 13 << 13) | 0x1000, np.arange(0, 2**24, 997, dtype=np.uint32)]).view(np.float32)
    values = values[np.isfinite(values)]
    exponent = np.maximum(np.frexp(values.astype(np.float64))[1] - 1, -126)
    unit = np.ldexp(1.0, exponent - 10)
    same("f32 to tf32", run(["tf32", "round", "f32"], values, out="f32"), (np.rint(values / unit) * unit).astype(np.float32), values)


def to_integers():
    for source in FLOATS:
        values = all_values(source) if source in NARROW else np.concatenate([
            rng.normal(size=20000) * 10.0 ** rng.integers(-3, 25, 20000), [0.0, -0.0, np.inf, -np.inf, np.nan],
            *[np.array([x, np.nextafter(x, np.inf), np.nextafter(x, -np.inf)]) for e in [7, 8, 15, 16, 31, 32, 63, 64]
              for x in (2.0**e, -(2.0**e), 2.0**e - 0.5)]]).astype(FLOATS[source])
        for target in [*INTS, "index", "bool"]:
            got = run(["convert", source, target, "default", "default"], values, out=target)
            info = np.iinfo(DTYPES[target])
            want = [0 if x != x else min(max(int(x) if abs(x) != float("inf") else (2**70 if x > 0 else -(2**70)), int(info.min)), int(info.max))
                    for x in values.astype(np.float64).tolist()]
            if target == "bool":
                want = [int(x != 0) for x in values.astype(np.float64).tolist()]
            same(f"{source} to {target}", got, np.array(want, dtype=DTYPES[target]), values)


def exact_round(value, name):
    """A Fraction rounded to nearest even in a format, as a float; None for overflow."""
    precision, least, greatest = {"f64": (53, -1022, 1023), "f32": (24, -126, 127), "f16": (11, -14, 15),
                                  "bf16": (8, -126, 127), "f8e4m3": (4, -6, 8), "f8e5m2": (3, -14, 15)}[name]
    if value == 0:
        return 0.0
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if abs(value) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, least) - precision + 1)
    result = round(value / unit) * unit  # Python rounds halves to even
    top = Fraction(448) if name == "f8e4m3" else Fraction(2) ** (greatest + 1) - Fraction(2) ** (greatest - precision + 1)
    return None if abs(result) > top else float(result)


def from_integers():
    for source in [*INTS, "index"]:
        info = np.iinfo(DTYPES[source])
        picks = [0, 1, 2, 3, 448, 464, 465, 2047, 2049, 65519, 65520, 2**24 + 1, 2**53 + 1, 2**54 + 2, 2**24 * 3 + 1]
        picks += [2**e + d for e in range(64) for d in (-1, 0, 1)] + [random.Random(3).getrandbits(e) for e in range(1, 65) for _ in range(20)]
        # f64 first would round these wrongly: one above a tie of the narrow format, beyond f64's reach.
        picks += [2**62 + 2 ** (62 - p) + 1 for p in (3, 4, 8, 11, 24)]
        picks = [x for p in picks for x in (p, -p) if info.min <= x <= info.max]
        values = np.array(picks, dtype=DTYPES[source])
        for target in FLOATS:
            got = run(["convert", source, target, "default", "default"], values, out=target)
            saturated = 448.0 if target == "f8e4m3" else 57344.0 if target == "f8e5m2" else float("inf")
            want = [exact_round(Fraction(x), target) for x in picks]
            want = [(saturated if x > 0 else -saturated) if w is None else w for w, x in zip(want, picks)]
            same(f"{source} to {target}", got, np.array(want).astype(FLOATS[target]), values)
        for target in [*INTS, "index", "bool"]:
            got = run(["convert", source, target, "default", "default"], values, out=target)
            want = (values != 0).astype(np.uint8) if target == "bool" else values.astype(DTYPES[target])
            same(f"{source} to {target}", got, want, values)


def sample(name, count):
    """Random bits, with a third of near-equal exponents so that sums round and cancel."""
    if name in NARROW:
        values = rng.choice(all_values(name), count)
    else:
        unsigned = np.uint32 if name == "f32" else np.uint64
        values = rng.integers(0, 2 ** (8 * unsigned().itemsize), count, dtype=np.uint64).astype(unsigned).view(FLOATS[name])
    near = rng.normal(size=count).astype(FLOATS[name])
    return np.where(rng.random(count) < 0.4, near, values)


def judge_exact(name, op, operands, got, formula):
    """Finite operands against rationals, rounded once."""
    global checked
    for i, row in enumerate(zip(*[x.astype(np.float64).tolist() for x in operands])):
        if not all(np.isfinite(row)):
            continue
        try:
            exact = formula(*[Fraction(x) for x in row])
        except ZeroDivisionError:
            continue
        want = exact_round(exact, name)
        value = float(got[i])
        if want is None:
            top = {"f8e4m3": 448.0, "f8e5m2": 57344.0}.get(name, float("inf"))
            want = top if exact > 0 else -top
        checked += 1
        if value != want:
            print(f"{name} {op}{row}: got {value!r} want {want!r} (exactly {float(exact)!r})")
            sys.exit(1)


def arithmetic():
    count = 6000
    for name in FLOATS:
        if name.startswith("f8"):
            values = all_values(name)
            a, b = [x.ravel() for x in np.meshgrid(values, values)]
        else:
            a, b = sample(name, count), sample(name, count)
        c = sample(name, a.size)
        for op, formula in {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y}.items():
            got = run(["binary", op, name], a, b, out=name)
            judge_exact(name, op, [a, b], got, formula)
            if name in ("f64", "f32", "f16", "bf16"):  # specials too: the library keeps infinities
                want = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[op](a, b)
                same(f"{name} {op}", got, want, a, b)
        fma = run(["fma", "fma", name], a, b, c, out=name)
        judge_exact(name, "fma", [a, b, c], fma, lambda x, y, z: x * y + z)
        # Products that lie just off a tie of the sum: where rounding twice goes wrong.
        tiny = np.array([2.0 ** -e for e in range(1, 12)]).astype(FLOATS[name])
        ones = (1 + sample(name, tiny.size).astype(np.float64) % 1).astype(FLOATS[name])
        near = run(["fma", "fma", name], tiny, tiny, ones, out=name)
        judge_exact(name, "fma", [tiny, tiny, ones], near, lambda x, y, z: x * y + z)
        roots = all_values(name) if name in NARROW else np.abs(sample(name, 50000))
        got = run(["unary", "sqrt", name], roots, out=name)
        if name in ("f64", "f32", "f16"):
            same(f"{name} sqrt", got, np.sqrt(roots), roots)
        else:
            same(f"{name} sqrt", got, rounded(name, np.sqrt(roots.astype(np.float64)), "rn", name.startswith("f8")), roots)
        minima(name, a, b)


def minima(name, a, b):
    for op in ["eq", "ne", "lt", "le", "gt", "ge"]:
        wide = [x.astype(np.float64) for x in (a, b)]
        want = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}[op](*wide)
        same(f"{name} {op}", run(["compare", op, name], a, b, out="bool"), want.astype(np.uint8), a, b)
    same(f"{name} isnan", run(["isnan", "isnan", name], a, out="bool"), is_nan(a).astype(np.uint8), a)
    for op, ufunc in {"min": np.minimum, "max": np.maximum, "fmin": np.fmin, "fmax": np.fmax}.items():
        want = ufunc(a.astype(np.float64), b.astype(np.float64))
        both_zero = (a.astype(np.float64) == 0) & (b.astype(np.float64) == 0)  # NumPy leaves their order open
        some_negative = np.signbit(a.astype(np.float64)) | np.signbit(b.astype(np.float64))
        all_negative = np.signbit(a.astype(np.float64)) & np.signbit(b.astype(np.float64))
        zero = np.where(some_negative if op.endswith("min") else all_negative, -0.0, 0.0)
        want = np.where(both_zero, zero, want)
        got = run(["binary", op, name], a, b, out=name)
        if name == "f8e5m2":  # a result is stored as a conversion stores: saturated
            want = np.clip(want, -57344.0, 57344.0)
        same(f"{name} {op}", got, want.astype(FLOATS[name]), a, b)


def integers():
    for name, dtype in {**INTS, "index": np.int64}.items():
        info = np.iinfo(dtype)
        if info.bits == 8:
            a, b = [x.ravel() for x in np.meshgrid(np.arange(info.min, info.max + 1), np.arange(info.min, info.max + 1))]
            a, b = a.astype(dtype), b.astype(dtype)
        else:
            edge = np.array([info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, info.bits - 1, info.bits, info.bits + 1], dtype=dtype)
            edge = np.concatenate([edge, (0 - edge.astype(np.int64)).astype(dtype)])
            x, y = [v.ravel() for v in np.meshgrid(edge, edge)]
            a = np.concatenate([x, rng.integers(info.min, info.max, 20000, dtype=dtype, endpoint=True)])
            b = np.concatenate([y, rng.integers(info.min, info.max, 20000, dtype=dtype, endpoint=True)])
            b = np.where(rng.random(b.size) < 0.3, b % dtype(100), b).astype(dtype)
        small = (b % dtype(info.bits)).astype(dtype)
        pairs = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "floordiv": np.floor_divide, "mod": np.mod, "min": np.minimum,
                 "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
        for op, ufunc in pairs.items():
            same(f"{name} {op}", run(["binary", op, name], a, b, out=name), ufunc(a, b), a, b)
        bits, mask = info.bits, (1 << info.bits) - 1

        def wrap(x):
            x &= mask
            return x - (1 << bits) if info.min < 0 and x >> (bits - 1) else x

        def python(op, fn, x, y):
            want = np.array([wrap(fn(int(p), int(q))) for p, q in zip(x.tolist(), y.tolist())], dtype=dtype)
            same(f"{name} {op}", run(["binary", op, name], x, y, out=name), want, x, y)

        inside = lambda n: 0 <= n < bits
        python("shl", lambda p, q: p << q if inside(q) else 0, a, b)
        python("shr", lambda p, q: p >> q if inside(q) else (-1 if p < 0 else 0), a, b)
        python("shl", lambda p, q: p << q, a, small)
        python("cdiv", lambda p, q: -(-p // q) if q else 0, a, b)
        python("pow", lambda p, q: pow(p, q, 1 << bits) if q >= 0 else (1 if p == 1 else (-1) ** (q & 1) if p == -1 else 0), a, b)
        for op, fn in {"neg": lambda p: -p, "abs": abs, "not": lambda p: ~p}.items():
            want = np.array([wrap(fn(int(p))) for p in a.tolist()], dtype=dtype)
            same(f"{name} {op}", run(["unary", op, name], a, out=name), want, a)
        ceil = [1 if p <= 1 else (1 << (p - 1).bit_length()) for p in a.tolist()]
        want = np.array([p if p <= info.max else 0 for p in ceil], dtype=dtype)
        same(f"{name} pow2ceil", run(["unary", "pow2ceil", name], a, out=name), want, a)


def math():
    """Every value of the narrow formats: what NumPy gives in f64, rounded once. (The bound for f32 and f64, and erf, which
    NumPy lacks, are judged by long double in the unit tests.)"""
    functions = {
        "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sin": np.sin, "cos": np.cos, "tanh": np.tanh,
        "floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc, "abs": np.abs, "neg": np.negative,
        "rsqrt": lambda x: 1 / np.sqrt(x), "sigmoid": lambda x: np.where(x >= 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x))),
    }
    for name in NARROW:
        values = all_values(name)
        for op, ufunc in functions.items():
            got = run(["unary", op, name], values, out=name)
            same(f"{name} {op}", got, rounded(name, ufunc(values.astype(np.float64)), "rn", name.startswith("f8")), values)
    for name in ["f64", "f32", "f16"]:
        a, b = sample(name, 20000), sample(name, 20000)
        for op, ufunc in {"mod": np.mod, "floordiv": np.floor_divide}.items():
            got = run(["binary", op, name], a, b, out=name)
            want = rounded("f16", ufunc(a.astype(np.float64), b.astype(np.float64)), "rn", False) if name == "f16" \
                else ufunc(a.astype(np.float64), b.astype(np.float64)).astype(FLOATS[name])
            same(f"{name} {op}", got, want, a, b)


def npy():
    """Files that NumPy writes are read, and files that we write NumPy reads, for every dtype, rank and order."""
    for name, dtype in {**FLOATS, **INTS, "bool": np.bool_}.items():
        for shape in [(), (0, 3), (5,), (2, 3), (2, 1, 3, 4)]:
            values = rng.integers(0, 2 if name == "bool" else 100, shape).astype(dtype)
            raw = {"bf16": np.uint16, "f8e4m3": np.uint8, "f8e5m2": np.uint8}.get(name)
            for stored in [values, np.asfortranarray(values)] + ([np.array(values.view(raw))] if raw else [values.astype(values.dtype.newbyteorder(">"))]):
                file = io.BytesIO()
                np.save(file, stored)
                done = subprocess.run([DUMP, "npy", "copy", name], input=file.getvalue(), stdout=subprocess.PIPE, check=True)
                back = np.load(io.BytesIO(done.stdout))
                assert back.shape == stored.shape, (name, stored.shape, back.shape)
                back = np.frombuffer(back.tobytes(), dtype)
                same(f"npy of {name}{list(shape)}", back, values.ravel(), values.ravel())


{"conversions": conversions, "arithmetic": arithmetic, "integers": integers, "math": math, "npy": npy}[sys.argv[2]]()
print(f"{sys.argv[2]}: {checked} results agree (numpy {np.__version__}, ml_dtypes {ml_dtypes.__version__})")
