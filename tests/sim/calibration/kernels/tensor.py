# SPDX-License-Identifier: MIT
"""The copy engine's boxes: ranks, swizzles, element strides, what lies outside, multicast, stores that are clipped, reductions."""
from writer import BYTES, Kernel, MLIR

SWIZZLES = (0, 32, 64, 128)


def strides_of(dims, bytes):
    strides, stride = [], bytes
    for extent in dims[:-1]:
        stride *= extent
        stride = (stride + 15) // 16 * 16
        strides.append(stride)
    return strides, stride * dims[-1]


def described(element, buffer, dims, box, steps=None, swizzle=0, nan=False):
    strides, size = strides_of(dims, BYTES[MLIR[element]])
    text = f"{element} of {buffer} dims {','.join(map(str, dims))}"
    if strides:
        text += f" strides {','.join(map(str, strides))}"
    text += f" box {','.join(map(str, box))}"
    if steps:
        text += f" steps {','.join(map(str, steps))}"
    if swizzle:
        text += f" swizzle {swizzle}"
    return text + (" nan" if nan else ""), size // BYTES[MLIR[element]]


def load(name, element, dims, box, corners, steps=None, swizzle=0, nan=False, generator="index 1 1"):
    """Loads a box at each corner; the output is shared memory as it is afterwards, byte for byte, poisoned before."""
    text, count = described(element, 0, dims, box, steps, swizzle, nan)
    bytes = BYTES[MLIR[element]]
    counts = [(b + s - 1) // s if i else b for i, (b, s) in enumerate(zip(box, steps or [1] * len(box)))]
    moved = bytes
    for n in counts:
        moved *= n
    area = moved // (counts[0] * bytes) * max(counts[0] * bytes, swizzle)
    slot = (area + 1023) // 1024 * 1024
    k = Kernel(name, block=128, shared=slot + 1024)
    k.input(element, count, generator)
    out = k.output("u32", len(corners) * area // 4)
    map = k.map(text)
    base, thread = k.shared_base(), k.thread()
    barrier = k.at(base, slot, "i8", 3)
    first = k.init_barriers([barrier], [1])
    for i, corner in enumerate(corners):
        for at in range(0, area // 4, 128):
            index = k.plus(thread, at)
            k.add(f"scf.if {k.compare('ult', index, area // 4)} {{")
            k.store(k.const(-1515870811), base, index, "i32", 3)
            k.add("}")
        k.add("ptx.fence_proxy_async <shared_cta>")
        k.add("ptx.barrier")
        k.add(f"ptx.mbarrier_arrive_expect_tx {barrier}, {k.const(moved)} if {first} : !llvm.ptr<3>")
        at = ", ".join(k.const(x) for x in corner)
        k.add(f"ptx.tensor_load {base}, {map}[{at}] signal {barrier} if {first} : !llvm.ptr<3>")
        k.wait(barrier, i % 2)
        for at in range(0, area // 4, 128):
            index = k.plus(thread, at)
            k.add(f"scf.if {k.compare('ult', index, area // 4)} {{")
            k.store(k.load(base, index, "i32", 3), out, k.plus(index, i * area // 4), "i32")
            k.add("}")
        k.add("ptx.barrier")
    return k


def loads():
    yield load("load_1d", "u32", [50], [20], [(0,), (40,), (-7,), (60,), (-30,)])
    for swizzle in SWIZZLES:
        inner = swizzle // 2 or 24
        yield load(f"load_2d_swizzle_{swizzle}", "u16", [72, 20], [inner, 16], [(0, 0), (8, 3), (-4, 12), (66, -5)], swizzle=swizzle)
    # A box that is narrower than its swizzle.
    yield load("load_2d_narrow", "bf16", [40, 12], [16, 8], [(8, 1), (30, 8)], swizzle=128)
    yield load("load_2d_narrow_32", "u8", [48, 12], [16, 8], [(16, 1), (40, 8)], swizzle=32)
    yield load("load_3d", "f32", [10, 7, 5], [8, 3, 2], [(0, 0, 0), (5, 5, 4), (-3, -1, -1), (2, 6, 1)], swizzle=32)
    yield load("load_4d", "f16", [16, 3, 4, 3], [8, 2, 2, 2], [(0, 0, 0, 0), (12, 2, 3, 2), (-4, -1, -1, -1)])
    yield load("load_5d", "u8", [32, 3, 3, 2, 2], [16, 2, 2, 2, 2], [(0, 0, 0, 0, 0), (24, 2, 2, 1, 1), (-8, -1, -1, -1, -1)])
    for element in ("u64", "s32", "f64"):
        yield load(f"load_{element}", element, [12, 9], [4, 4], [(0, 0), (10, 7), (-2, -1)])
    for element in ("f16", "bf16", "f32", "f64"):
        yield load(f"load_nan_{element}", element, [16, 9], [8, 4], [(0, 0), (12, 7), (-2, -1)], nan=True)
    yield load("load_steps", "u32", [16, 20], [8, 10], [(0, 0), (1, 3), (-4, -4), (12, 14)], steps=[1, 3])
    yield load("load_steps_3d", "f16", [16, 9, 8], [16, 6, 5], [(0, 0, 0), (2, 1, 1), (-8, -2, -3)], steps=[1, 2, 4], swizzle=32)
    yield load("load_steps_inner", "u32", [40, 8], [16, 4], [(0, 0), (3, 2), (-4, -1), (36, 6)], steps=[2, 1])
    yield load("load_narrowed_nan", "f32", [8, 4], [8, 4], [(0, 0), (4, 2)], nan=True, generator="special")


def multicast():
    for size in (2, 4):
        for swizzle in (0, 128) if size == 2 else (128,):
            rows = 16 // size
            text, count = described("u16", 0, [64, rows * size], [64, rows], swizzle=swizzle)
            k = Kernel(f"multicast_{size}_swizzle_{swizzle}", block=64, grid=size, cluster=size, shared=size * 1024 + 1024)
            k.input("u16", count, "index 1 1")
            out = k.output("u32", size * size * rows * 32)
            map = k.map(text)
            base, thread, rank, block = k.shared_base(), k.thread(), k.let("ptx.cluster_rank"), k.let("ptx.block_id")
            barrier = k.at(base, size * 1024, "i8", 3)
            first = k.init_barriers([barrier], [1])
            k.add(f"ptx.mbarrier_arrive_expect_tx {barrier}, {k.const(128 * rows * size)} if {first} : !llvm.ptr<3>")
            k.meet()
            local = k.let(f"ptx.map_shared_rank {k.at(base, k.times(rank, 1024), 'i8', 3)}, {rank}")
            k.add(f"ptx.tensor_load {local}, {map}[{k.const(0)}, {k.times(block, rows)}] signal {barrier} multicast {k.const((1 << size) - 1, 'i16')} if {first}"
                  " : !llvm.ptr<7>")
            k.wait(barrier, 0)
            for part in range(size):
                for i in range(0, rows * 32, 64):
                    k.store(k.load(base, k.plus(thread, 256 * part + i), "i32", 3), out, k.plus(k.times(block, rows * 32 * size), k.plus(thread, part * rows * 32 + i)), "i32")
            k.meet()
            yield k


def store(name, element, dims, box, corners, steps=None, swizzle=0, reduce=None, start="byte 165", values="index 1 1"):
    """Stores (or reduces) a box at each corner; the output is the tensor."""
    text, count = described(element, 0, dims, box, steps, swizzle)
    type = MLIR[element]
    bytes = BYTES[type]
    counts = [(b + s - 1) // s if i else b for i, (b, s) in enumerate(zip(box, steps or [1] * len(box)))]
    rows = 1
    for n in counts[1:]:
        rows *= n
    elements = rows * max(counts[0] * bytes, swizzle) // bytes
    k = Kernel(name, block=128, shared=(elements * bytes + 1023) // 1024 * 1024)
    k.output(element, count, "bits", start)
    source = k.input(element, elements, values)
    map = k.map(text)
    base, thread = k.shared_base(), k.thread()
    for at in range(0, elements, 128):
        index = k.plus(thread, at)
        k.add(f"scf.if {k.compare('ult', index, elements)} {{")
        k.store(k.load(source, index, type), base, index, type, 3)
        k.add("}")
    k.add("ptx.fence_proxy_async <shared_cta>")
    k.add("ptx.barrier")
    first = k.first()
    for corner in corners:
        at = ", ".join(k.const(x) for x in corner)
        k.add(f"ptx.tensor_{f'reduce <{reduce}>' if reduce else 'store'} {map}[{at}], {base} if {first}")
        k.add("ptx.bulk_commit")
        k.add("ptx.bulk_wait 0")
    return k


def stores():
    yield store("store_1d", "u32", [50], [20], [(3,), (40,), (-12,)])
    for swizzle in SWIZZLES:
        yield store(f"store_2d_swizzle_{swizzle}", "u16", [72, 20], [swizzle // 2 or 24, 8], [(0, 0), (66, 14), (-3, 9)], swizzle=swizzle)
    yield store("store_3d", "f32", [10, 7, 5], [8, 3, 2], [(1, 1, 1), (5, 5, 4), (-3, -1, -1)])
    yield store("store_4d", "bf16", [16, 3, 4, 3], [8, 2, 2, 2], [(0, 0, 0, 0), (12, 2, 3, 2), (-4, -1, -1, -1)])
    yield store("store_5d", "u8", [32, 3, 3, 2, 2], [16, 2, 2, 2, 2], [(0, 0, 0, 0, 0), (24, 2, 2, 1, 1), (-8, -1, -1, -1, -1)])
    yield store("store_steps", "u32", [16, 20], [8, 10], [(0, 0), (9, 3), (-4, 12)], steps=[1, 3])
    for element in ("f16", "bf16", "f32"):
        kinds = ("add", "min", "max") if element != "f32" else ("add",)
        for kind in kinds:
            yield store(f"reduce_{element}_{kind}", element, [24, 24], [24, 24], [(0, 0)], reduce=kind, start="pairs 0", values="pairs 1")
    yield store("reduce_f32_clipped", "f32", [20, 6], [8, 4], [(0, 0), (16, 4), (-4, -2), (0, 0)], swizzle=32, reduce="add", start="index 0 0.5",
                values="index 1 1")
    for element, kinds in (("u32", ("add", "min", "max", "inc", "dec", "and", "or", "xor")), ("s32", ("add", "min", "max")), ("u64", ("add", "min", "max"))):
        for kind in kinds:
            yield store(f"reduce_{element}_{kind}", element, [12, 12], [12, 12], [(0, 0)], reduce=kind, start="pairs 0", values="pairs 1")


def kernels():
    for family in (loads, multicast, stores):
        yield from family()
