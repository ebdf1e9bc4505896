# SPDX-License-Identifier: MIT
"""wgmma: every way an operand can lie in shared memory, in every type; widths, signs, scale, A in registers; how it adds up.

Operands are images of shared memory as they are, so that what an instruction reads is what its descriptor says, and no formula of a layout stands
between. The images hold small integers, whose sums are exact: a wrong element shows.
"""
from writer import Kernel

BYTES = {"f16": 2, "bf16": 2, "tf32": 4, "s8": 1, "u8": 1, "e4m3": 1, "e5m2": 1}
FIELD = {0: 0, 128: 1, 64: 2, 32: 3}


def descriptor(rows, swizzle, major, depth):
    """Bytes of the image, and the constant part of the descriptor. `depth` in elements along k."""
    if swizzle == 0:
        leading, stride = (rows * 16, 128) if major == "k" else (128, depth * 16)
        image = rows * 32
    elif major == "k":
        leading, stride, image = 16, 8 * swizzle, rows * swizzle
    else:
        atoms = (rows * 2 + swizzle - 1) // swizzle
        leading, stride, image = depth * swizzle, 8 * swizzle, atoms * depth * swizzle
    return (image + 1023) // 1024 * 1024, leading >> 4 << 16 | stride >> 4 << 32 | FIELD[swizzle] << 62


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def product(name, a, sum, n, b=None, swizzle=128, majors="kk", registers=False, scale="more", negate="", saturate=False, start=0, base=0, repeat=1,
            dataA=None, dataB=None, dataC=None, judge="bits", raw=1, mix=True):
    """The first `raw` registers of the sum are kept, and a mix of the others. `start`, `base`: where A's image starts within its 1024 bytes, and the descriptor's field for it. `repeat`: so many instructions in a row."""
    b = b or a
    bytes, half = BYTES[a], sum == "f16"
    depth = 32 // bytes
    low = 0 if "u8" in (a, b) else -4 if a in ("e4m3", "e5m2") else -9
    dataA, dataB = (data or f"small {seed} {low} {-low or 9}" for data, seed in ((dataA, 111), (dataB, 112)))
    dataC = dataC or "small 113 -50 50"
    imageA, constantA = descriptor(64, swizzle, majors[0], depth)
    imageB, constantB = descriptor(n, swizzle, majors[1], depth)
    imageA += 1024 if start else 0
    constantA |= base << 49
    count = n // 4 if half else n // 2  # registers of the sum
    type = "f32" if sum == "f32" else "i32"
    k = Kernel(name, block=128, shared=imageB + (0 if registers else imageA))
    sourceB = k.input(b, imageB // bytes, dataB)
    sourceA = k.input(a, 128 * 16 // bytes if registers else imageA // bytes, dataA)
    sums = k.input(sum, 128 * count * (2 if half else 1), dataC)
    raw = min(count, raw)
    out = k.output("u32" if half else sum, 128 * raw, judge)
    mixed = k.output("u32", 128) if raw < count and mix else None
    more = k.input("u32", 1, "list 1" if scale in ("more", "add") else "zero")
    thread, shared = k.thread(), k.shared_base()

    def fill(source, at, size):  # 16 bytes a thread and step
        for offset in range(0, size, 2048):
            index = k.plus(k.times(thread, 16), offset)
            k.add(f"scf.if {k.compare('ult', index, size)} {{")
            value = k.let(f"llvm.load {k.at(source, index, 'i8')} : !llvm.ptr<1> -> vector<4xi32>")
            k.add(f"llvm.store {value}, {k.at(shared, k.plus(index, at), 'i8', 3)} : vector<4xi32>, !llvm.ptr<3>")
            k.add("}")

    fill(sourceB, 0, imageB)
    if not registers:
        fill(sourceA, imageB, imageA)
    k.add("ptx.fence_proxy_async <shared_cta>")
    k.add("ptx.barrier")

    def described(at, constant):
        address = k.address(k.at(shared, at, "i8", 3) if at else shared)
        field = k.binary("andi", k.binary("shrui", address, 4, "i64"), 0x3FFF, "i64")
        return k.binary("ori", field, signed(constant), "i64")

    accumulators = [k.load(sums, k.plus(k.times(thread, count), i), type) for i in range(count)]
    if registers:
        operand = [k.load(sourceA, k.plus(k.times(thread, 4), i), "i32") for i in range(4)]
    else:
        operand = [described(imageB + start, constantA)]
    right = described(0, constantB)
    flag = f" scale {k.compare('ne', k.load(more, 0, 'i32'), 0)}" if scale != "add" else ""
    types = [type] * count
    if registers:
        accumulators += operand
        types = types + ["i32"] * 4
    got = k.lets(len(types), f"ptx.wgmma_fence ({', '.join(accumulators)}) : {', '.join(types)}")
    if registers:
        operand, got = got[count:], got[:count]
    tail = "".join(f" {word}" for word in (["transpose_a"] if majors[0] == "m" else []) + (["transpose_b"] if majors[1] == "m" else []) + negate.split()
                   + (["saturate"] if saturate else []))
    for i in range(repeat):
        got = k.lets(count, f"ptx.wgmma n {n} <{a}> ({', '.join(operand)}) * <{b}> ({right}) + <{sum}> ({', '.join(got)}){flag if i == 0 else ''}{tail}")
    k.add("ptx.wgmma_commit")
    got = k.lets(count, f"ptx.wgmma_wait 0 ({', '.join(got)}) : {', '.join([type] * count)}")
    for i in range(raw):
        k.store(got[i], out, k.plus(k.times(thread, raw), i), type)
    if mixed:
        total = k.const(0)
        for value in got[raw:]:
            total = k.plus(k.times(total, 31), k.bits(value, type))
        k.store(total, mixed, thread, "i32")
    return k


def layouts():
    for swizzle in (0, 32, 64, 128):
        for majors in ("kk", "mk", "km", "mm"):
            yield product(f"bf16_swizzle{swizzle}_{majors}", "bf16", "f32", 16, swizzle=swizzle, majors=majors)
            yield product(f"f16_wide_swizzle{swizzle}_{majors}", "f16", "f32", 136, swizzle=swizzle, majors=majors)
        for a in ("tf32", "e4m3", "s8"):
            yield product(f"{a}_swizzle{swizzle}", a, "s32" if a == "s8" else "f32", 24, swizzle=swizzle)
    yield product("bf16_base_offset", "bf16", "f32", 8, start=512, base=4)
    yield product("bf16_step_of_k", "bf16", "f32", 8, start=32)
    yield product("bf16_step_of_k_64", "bf16", "f32", 8, start=32, swizzle=64)


def types():
    pairs = [("f16", "f16"), ("bf16", "bf16"), ("tf32", "tf32"), ("e4m3", "e4m3"), ("e5m2", "e5m2"), ("e4m3", "e5m2"), ("e5m2", "e4m3"), ("s8", "s8"),
             ("u8", "u8"), ("s8", "u8"), ("u8", "s8")]
    for a, b in pairs:
        name = a if a == b else f"{a}_{b}"
        sums = ("s32",) if a in ("s8", "u8") else ("f32", "f16") if a in ("f16", "e4m3", "e5m2") else ("f32",)
        for sum in sums:
            for registers in (False, True):
                where = f"{name}_{sum}{'_registers' if registers else ''}"
                yield product(f"{where}_integers", a, sum, 8, b=b, registers=registers)
                if sum != "s32":
                    yield product(f"{where}_random", a, sum, 8, b=b, registers=registers, dataA="uniform 114 -2 2", dataB="uniform 115 -2 2",
                                  dataC="uniform 116 -4 4", raw=2, mix=False)
            full = dict(dataA="hash 117", dataB="hash 118", dataC="zero" if sum != "s32" else "hash 119", raw=2, mix=False)
            yield product(f"{name}_{sum}_bits", a, sum, 8, b=b, **full)
            if sum == "s32":
                yield product(f"{name}_{sum}_saturate", a, sum, 8, b=b, saturate=True, dataA="hash 117", dataB="hash 118",
                              dataC="list 2147483647 -2147483648 2147480000 -2147480000 5", raw=2, mix=False)
            else:
                yield product(f"{name}_{sum}_special", a, sum, 8, b=b, dataA="special", dataB="list 1 0 0 0 0 0 0 0 0 0 0", dataC="special", raw=2, mix=False)
                yield product(f"{name}_{sum}_twice", a, sum, 8, b=b, repeat=3, dataA="uniform 120 -2 2", dataB="uniform 121 -2 2", dataC="uniform 122 -4 4", raw=2, mix=False)


def settings():
    for n in (64, 256):
        for a, sum in (("bf16", "f32"), ("f16", "f16"), ("tf32", "f32"), ("e4m3", "f32"), ("s8", "s32")):
            yield product(f"{a}_{sum}_n{n}", a, sum, n)
        yield product(f"bf16_n{n}_registers", "bf16", "f32", n, registers=True, majors="km")
    for scale in ("replace", "add"):
        yield product(f"bf16_scale_{scale}", "bf16", "f32", 8, scale=scale)
        yield product(f"f16_scale_{scale}", "f16", "f16", 8, scale=scale)
        yield product(f"s8_scale_{scale}", "s8", "s32", 8, scale=scale)
    for a in ("bf16", "tf32", "e5m2"):
        for negate in ("negate_a", "negate_b", "negate_a negate_b"):
            yield product(f"{a}_{negate.replace(' ', '_')}", a, "f32", 8, negate=negate)
    yield product("bf16_negate_registers", "bf16", "f32", 8, negate="negate_a", registers=True)


def adding():
    """Lists along k, times one: a result is the sum of a row's terms and the accumulator."""
    small = 2.0 ** -13
    rows = {"cancel": [4096.0, small, -4096.0, small], "fall": [2.0 ** -i for i in range(16)], "tiny": [1.0] + [2.0 ** -8] * 31,
            "mixed": [(-1) ** i * 2.0 ** (i % 11 - 5) for i in range(32)]}
    starts = {"zero": "zero", "large": "uniform 123 -16777216 16777216", "small": "uniform 124 -1e-3 1e-3",
              "edges": "list 1 -1 4096 -4096 1.00000011920929 33554432 -0.5 3"}
    for a in ("f16", "tf32", "e4m3", "e5m2"):
        for name, row in rows.items():
            for start, text in starts.items():
                yield product(f"sum_{a}_{name}_{start}", a, "f32", 8, registers=True, dataA="list " + " ".join(map(repr, row)), dataB="list 1", dataC=text, mix=False)
    yield product("sum_e4m3_f16", "e4m3", "f16", 8, dataA="uniform 125 -400 400", dataB="list 1 2 -1 0.5", dataC="uniform 126 -2048 2048")
    yield product("sum_bf16_overflow", "bf16", "f32", 8, dataA="uniform 109 1e38 3e38", dataB="list 1 -1 2 1 1 1 1", dataC="list 3e38 -3e38 0")
    yield product("sum_bf16_subnormal", "bf16", "f32", 8, dataA="hash 127", dataB="list 1e-38 -1e-38 1e-30", dataC="uniform 128 -1e-38 1e-38")


def kernels():
    for family in (layouts, types, settings, adding):
        yield from family()
