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


def each(make, name, element, dims, box, corners, **how):
    """A kernel a corner: one that the hardware refuses leaves the others."""
    for corner in corners:
        place = "_".join(str(x).replace("-", "m") for x in corner)
        yield make(f"{name}_at_{place}", element, dims, box, [corner], **how)


def loads():
    yield from each(load, "load_1d", "u32", [50], [20], [(0,), (40,), (-8,), (60,), (-32,), (7,)])
    # In bounds, across each edge, outside; at multiples of 16 bytes, and not.
    edges = [(0, 0), (4, 0), (1, 0), (2, 3), (-4, 0), (-3, 0), (16, 0), (17, 1), (0, -2), (0, 10), (16, 10), (-4, -2), (100, 0), (-100, 0), (0, 50)]
    yield from each(load, "load_2d", "f32", [20, 12], [8, 4], edges)
    yield from each(load, "load_bytes", "u8", [64, 4], [16, 4], [(16, 0), (1, 0), (8, 1), (-8, 0), (-16, 0), (48, 2), (56, 0)])
    yield from each(load, "load_halves", "f16", [40, 6], [8, 4], [(1, 0), (8, 1), (7, 3), (36, 0)])
    yield from each(load, "load_doubles", "f64", [12, 6], [4, 4], [(1, 0), (-1, 0), (11, 0)])
    for swizzle in SWIZZLES:
        yield from each(load, f"load_swizzle_{swizzle}", "u16", [72, 12], [swizzle // 2 or 24, 10], [(0, 0), (8, 5), (-8, -3)], swizzle=swizzle)
    # A box that is narrower than its swizzle.
    yield from each(load, "load_narrow", "bf16", [40, 12], [16, 8], [(0, 0), (8, 1), (32, 8)], swizzle=128)
    yield from each(load, "load_narrow_64", "f32", [8, 12], [4, 8], [(0, 0)], swizzle=64)
    yield from each(load, "load_narrow_32", "u8", [48, 12], [16, 8], [(0, 0), (16, 1)], swizzle=32)
    yield from each(load, "load_3d", "f32", [12, 7, 5], [8, 3, 2], [(0, 0, 0), (8, 5, 4), (-4, -1, -1), (4, 6, 1)], swizzle=32)
    yield from each(load, "load_4d", "f16", [16, 3, 4, 3], [8, 2, 2, 2], [(0, 0, 0, 0), (8, 2, 3, 2), (-8, -1, -1, -1)])
    yield from each(load, "load_5d", "u8", [32, 3, 3, 2, 2], [16, 2, 2, 2, 2], [(0, 0, 0, 0, 0), (16, 2, 2, 1, 1), (-16, -1, -1, -1, -1)])
    for element in ("u64", "s32", "f64"):
        yield from each(load, f"load_{element}", element, [12, 9], [4, 4], [(8, 7), (-4, -1)])
    for element in ("f16", "bf16", "f32", "f64"):
        yield from each(load, f"load_nan_{element}", element, [16, 9], [8, 4], [(8, 7), (-8, -1)], nan=True)
    yield from each(load, "load_steps", "u32", [16, 12], [8, 10], [(0, 0), (4, 1), (-4, -4)], steps=[1, 3])
    yield from each(load, "load_steps_3d", "f16", [16, 9, 8], [16, 6, 5], [(0, 0, 0), (8, 1, 1), (-8, -2, -3)], steps=[1, 2, 4], swizzle=32)
    yield from each(load, "load_steps_inner", "u32", [40, 8], [16, 4], [(0, 0), (4, 2), (-4, -1), (36, 6)], steps=[2, 1])
    yield load("load_nan_values", "f32", [8, 4], [8, 4], [(0, 0)], nan=True, generator="special")
    yield load("load_again", "f32", [20, 12], [8, 4], [(0, 0), (8, 4), (12, 8)])


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
    # None ends within 16 bytes of a row: an H200 writes the rest of them, beyond the output, and the simulator refuses that.
    yield from each(store, "store_1d", "u32", [50], [20], [(4,), (-12,), (3,)])
    yield from each(store, "store_2d", "f32", [20, 12], [8, 4], [(0, 0), (4, 0), (1, 0), (-4, 0), (-3, 0), (16, 0), (17, 1), (0, -2), (16, 10), (100, 0)])
    for swizzle in SWIZZLES:
        yield from each(store, f"store_swizzle_{swizzle}", "u16", [72, 10], [swizzle // 2 or 24, 8], [(0, 0), (64, 4), (-8, -1)], swizzle=swizzle)
    yield from each(store, "store_3d", "f32", [12, 7, 5], [8, 3, 2], [(4, 1, 1), (8, 5, 4), (-4, -1, -1)])
    yield from each(store, "store_4d", "bf16", [16, 3, 4, 3], [8, 2, 2, 2], [(0, 0, 0, 0), (8, 2, 3, 2), (-8, -1, -1, -1)])
    yield from each(store, "store_5d", "u8", [32, 3, 3, 2, 2], [16, 2, 2, 2, 2], [(0, 0, 0, 0, 0), (16, 2, 2, 1, 1), (-16, -1, -1, -1, -1)])
    yield from each(store, "store_steps", "u32", [16, 12], [8, 10], [(0, 0), (8, 3), (-4, -4)], steps=[1, 3])
    yield from each(store, "store_steps_inner", "u32", [40, 8], [16, 4], [(0, 0), (4, 2)], steps=[2, 1])
    yield from each(store, "reduce_f32", "f32", [20, 12], [8, 4], [(0, 0), (4, 0), (16, 0), (-4, 0), (0, -2), (1, 0)], reduce="add", start="index 0 0.5")
    yield from each(store, "reduce_f32_swizzle", "f32", [20, 12], [8, 4], [(0, 0), (16, 10)], swizzle=32, reduce="add", start="index 0 0.5")
    yield store("store_again", "f32", [20, 12], [8, 4], [(0, 0), (8, 4), (12, 8)])
    for element in ("f16", "bf16", "f32"):
        kinds = ("add", "min", "max") if element != "f32" else ("add",)
        for kind in kinds:
            yield store(f"reduce_{element}_{kind}", element, [24, 24], [24, 24], [(0, 0)], reduce=kind, start="pairs 0", values="pairs 1")
    for element, kinds in (("u32", ("add", "min", "max", "inc", "dec", "and", "or", "xor")), ("s32", ("add", "min", "max")), ("u64", ("add", "min", "max"))):
        for kind in kinds:
            yield store(f"reduce_{element}_{kind}", element, [12, 12], [12, 12], [(0, 0)], reduce=kind, start="pairs 0", values="pairs 1")


def kernels():
    for family in (loads, multicast, stores):
        yield from family()
