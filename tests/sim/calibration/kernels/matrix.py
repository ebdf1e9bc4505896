# SPDX-License-Identifier: MIT
"""Matrix fragments of a warp: ldmatrix and stmatrix, and mma.sync of each type and shape.

Each product is run on data that is exact and tells every element apart (one operand holds a single one a row, the other its place), on small random
integers, on random floats, and on cases that show how a tensor core adds up.
"""
from writer import Kernel

# Type, elements of k (long), elements in a word.
TYPES = {"f16": (16, 2), "bf16": (16, 2), "tf32": (8, 1), "s8": (32, 4), "u8": (32, 4), "e4m3": (32, 4), "e5m2": (32, 4)}


def fragments():
    for n in (1, 2, 4):
        for transposed in (False, True):
            how = " transposed" if transposed else ""
            k = Kernel(f"ldmatrix_x{n}{'_trans' if transposed else ''}", shared=1024)
            source, out = k.input("u16", 256, "index 0 1"), k.output("u32", 32 * n)
            base, lane = k.shared_base(), k.let("ptx.lane_id")
            for i in range(4):
                index = k.plus(lane, 32 * i)
                k.store(k.load(source, index, "i32"), base, index, "i32", 3)
            k.add("ptx.warp_barrier")
            row = k.binary("xori", lane, 5)  # rows of a matrix lie out of order
            words = k.lets(n, f"ptx.load_matrix {k.at(base, k.times(row, 16), 'i8', 3)}{how} : {', '.join(['i32'] * n)}")
            for i, word in enumerate(words):
                k.store(word, out, k.plus(k.times(lane, n), i), "i32")
            yield k
            k = Kernel(f"stmatrix_x{n}{'_trans' if transposed else ''}", shared=1024)
            source, out = k.input("u16", 64 * n, "index 0 1"), k.output("u32", 128)
            base, lane = k.shared_base(), k.let("ptx.lane_id")
            for i in range(4):
                k.store(k.const(-1515870811), base, k.plus(lane, 32 * i), "i32", 3)
            k.add("ptx.warp_barrier")
            words = [k.load(source, k.plus(k.times(lane, n), i), "i32") for i in range(n)]
            row = k.binary("xori", lane, 5)
            k.add(f"ptx.store_matrix {', '.join(words)} to {k.at(base, k.times(row, 16), 'i8', 3)}{how}")
            k.add("ptx.warp_barrier")
            for i in range(4):
                index = k.plus(lane, 32 * i)
                k.store(k.load(base, index, "i32", 3), out, index, "i32")
            yield k


def product(name, a, b, sum, depth, judge, dataA, dataB, dataC, saturate=False):
    """Each lane's words of A, B and C as they lie in the buffers; results likewise."""
    long, per = TYPES[a]
    wordsA = 4 if depth == long else 2
    wordsB, wordsC = wordsA // 2, 2 if sum == "f16" else 4
    k = Kernel(name)
    inputs = [k.input(a, 32 * wordsA * per, dataA), k.input(b, 32 * wordsB * per, dataB)]
    accumulators = k.input(sum, 32 * wordsC * (2 if sum == "f16" else 1), dataC)
    out = k.output(sum, 32 * wordsC * (2 if sum == "f16" else 1), judge)
    lane = k.let("ptx.lane_id")
    type = "f32" if sum == "f32" else "i32"
    words = [[k.load(pointer, k.plus(k.times(lane, n), i), type) for i in range(n)]
             for pointer, n, type in ((inputs[0], wordsA, "i32"), (inputs[1], wordsB, "i32"), (accumulators, wordsC, type))]
    lists = [", ".join(names) for names in words]
    results = k.lets(wordsC, f"ptx.mma k {depth} <{a}> ({lists[0]}) * <{b}> ({lists[1]}) + <{sum}> ({lists[2]}){' saturate' if saturate else ''}")
    for i, value in enumerate(results):
        k.store(value, out, k.plus(k.times(lane, wordsC), i), type)
    return k


def single(count, rows):
    """A list of a one among noughts: each period of `rows` numbers has it at another place."""
    return "list " + " ".join("1" if i % (rows + 1) == 0 else "0" for i in range(count))


def shapes():
    for a, (long, _) in TYPES.items():
        for depth in (long, long // 2) if a not in ("e4m3", "e5m2") else (long,):
            for sum in {"f16": ("f16", "f32"), "s8": ("s32",), "u8": ("s32",)}.get(a, ("f32",)):
                yield a, a, sum, depth
    yield "s8", "u8", "s32", 32
    yield "u8", "s8", "s32", 32
    yield "e4m3", "e5m2", "f32", 32
    yield "e5m2", "e4m3", "f32", 32


def products():
    for a, b, sum, depth in shapes():
        name = f"mma_{a}{'_' + b if b != a else ''}_{sum}_k{depth}"
        signed = "small {} -9 9" if a != "u8" and b != "u8" else "small {} 0 9"
        if a in ("e4m3", "e5m2"):
            signed = "small {} -4 4"
        # The places: 1 of A meets each row of B, and the other way round, told apart by distinct values of the other operand.
        many = {"e4m3": "small 91 0 15", "e5m2": "small 91 0 7", "s8": "index -60 1", "u8": "index 0 1"}
        yield product(name + "_a", a, b, sum, depth, "bits", many.get(a, "index 1 1"), single(64, 32), "zero")
        yield product(name + "_b", a, b, sum, depth, "bits", single(128, 32), many.get(b, "index 1 1"), "index 0 0.5" if sum != "s32" else "index 0 1")
        yield product(name + "_integers", a, b, sum, depth, "bits", signed.format(92), signed.format(93), "small 94 -50 50")
        if sum != "s32":
            yield product(name + "_random", a, b, sum, depth, "bits", "uniform 95 -2 2", "uniform 96 -2 2", "uniform 97 -4 4")
            yield product(name + "_bits", a, b, sum, depth, "bits", "hash 98", "hash 99", "zero")
            yield product(name + "_special", a, b, sum, depth, "bits", "special", "list 1 0 0 0 0 0 0 0 0 0 0", "special")
        else:
            yield product(name + "_full", a, b, sum, depth, "bits", "hash 98", "hash 99", "hash 100")
            yield product(name + "_saturate", a, b, sum, depth, "bits", "hash 101", "hash 102", "list 2147483647 -2147483648 2147480000 -2147480000",
                          saturate=True)


def sums():
    """How terms are added: each list is one row of A times ones, so that a result is the sum of the row's terms and the accumulator."""
    big, small = 2.0 ** 12, 2.0 ** -13
    rows = {
        "cancel": [big, small, -big, small] * 4,
        "tiny": [1] + [2.0 ** -12] * 15,
        "fall": [2.0 ** (-i) * (1 + 2.0 ** -9) for i in range(16)],
        "mixed": [(-1) ** i * 2.0 ** (i - 8) * (1 + i / 1024) for i in range(16)],
    }
    for name, row in rows.items():
        text = "list " + " ".join(repr(x) for x in row)
        for start in ("zero", "uniform 103 -16777216 16777216", "uniform 104 -1e-3 1e-3", "list 1 -1 4096 -4096 1.00000011920929 33554432 -0.5 3"):
            kind = start.split()[0] + ("" if "1e-3" not in start else "_small")
            yield product(f"sum_{name}_{kind}", "f16", "f16", "f32", 16, "bits", text, "list 1", start)
    yield product("sum_f16_ties", "f16", "f16", "f16", 16, "bits", "uniform 105 -1 1", "list 1", "uniform 106 -2048 2048")
    yield product("sum_subnormal", "bf16", "bf16", "f32", 16, "bits", "hash 107", "list 1e-38 -1e-38 1e-30", "uniform 108 -1e-38 1e-38")
    yield product("sum_overflow", "bf16", "bf16", "f32", 16, "bits", "uniform 109 1e38 3e38", "list 1 -1 2 1 1 1 1", "list 3e38 -3e38 0")
    yield product("sum_overflow_f16", "f16", "f16", "f16", 16, "bits", "uniform 110 20000 60000", "list 1 -1 2 1 1 1 1", "list 60000 -60000 0")


def kernels():
    for family in (fragments, products, sums):
        yield from family()
