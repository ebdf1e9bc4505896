# SPDX-License-Identifier: MIT
"""Atomics of every kind and type, on pairs of edge cases: each thread has words of its own, so that no order matters."""
from writer import BITS, BYTES, Kernel, MLIR

SPECIALS = {"float": 24, "integer": 12}
INTEGER_KINDS = ("add", "smin", "smax", "umin", "umax", "and", "or", "xor", "exch")


def guard(k, thread, count):
    k.add(f"scf.if {k.compare('ult', thread, count)} {{")


def float_adds():
    """old + x for all pairs of edge cases, then for random bits; f16 and bf16 keep subnormals, and shared f32 atomics too."""
    count = SPECIALS["float"] ** 2
    for element in ("f16", "bf16", "f32", "f64"):
        for space in (1, 3) if element != "f64" else (1,):
            type = MLIR[element]
            k = Kernel(f"add_{element}_{'global' if space == 1 else 'shared'}", block=128, grid=(count + 127) // 128, shared=1024 if space == 3 else 0)
            sums = k.output(element, count, "bits", "pairs 0")
            values = k.input(element, count, "pairs 1")
            old = k.output(element, 64)
            thread = k.global_thread()
            if space == 3:
                local, base = k.thread(), k.shared_base()
            guard(k, thread, count)
            value = k.load(values, thread, type)
            if space == 1:
                at = k.at(sums, thread, type)
            else:
                at = k.at(base, local, type, 3)
                k.add(f"llvm.store {k.load(sums, thread, type)}, {at} : {type}, !llvm.ptr<3>")
            got = k.let(f"ptx.atomic <fadd> {at}, {value} : {type} at !llvm.ptr<{space}>" if space == 3 else f"ptx.atomic <fadd> {at}, {value} : {type}")
            if space == 3:
                k.store(k.let(f"llvm.load {at} : !llvm.ptr<3> -> {type}"), sums, thread, type)
            guard(k, thread, 64)
            k.store(got, old, thread, type)
            k.add("}")
            k.add("}")
            yield k
        k = Kernel(f"add_{element}_random", block=128)
        sums, values = k.output(element, 128, "bits", "hash 21"), k.input(element, 128, "hash 22")
        close, far = k.output(element, 128, "bits", "uniform 23 -1 1"), k.input(element, 128, "uniform 24 -1 1")
        thread, type = k.global_thread(), MLIR[element]
        k.let(f"ptx.atomic <fadd> {k.at(sums, thread, type)}, {k.load(values, thread, type)} : {type}")
        k.let(f"ptx.atomic <fadd> {k.at(close, thread, type)}, {k.load(far, thread, type)} : {type}")
        yield k


def integers():
    count = SPECIALS["integer"] ** 2
    for element in ("u32", "u64"):
        for space in (1, 3):
            type = MLIR[element]
            k = Kernel(f"{element}_{'global' if space == 1 else 'shared'}", block=160, shared=2048 if space == 3 else 0)
            values = k.input(element, count, "pairs 1")
            outs = [k.output(element, count, "bits", "pairs 0") for _ in INTEGER_KINDS]
            old = k.output(element, count)
            thread = k.thread()
            base = k.shared_base() if space == 3 else None
            guard(k, thread, count)
            value = k.load(values, thread, type)
            for kind, out in zip(INTEGER_KINDS, outs):
                at = k.at(out, thread, type) if space == 1 else k.at(base, thread, type, 3)
                if space == 3:
                    k.add(f"llvm.store {k.load(out, thread, type)}, {at} : {type}, !llvm.ptr<3>")
                got = k.let(f"ptx.atomic <{kind}> {at}, {value} order <acq_rel> scope <cta> : {type}" + (" at !llvm.ptr<3>" if space == 3 else ""))
                if space == 3:
                    k.store(k.let(f"llvm.load {at} : !llvm.ptr<3> -> {type}"), out, thread, type)
            k.store(got, old, thread, type)
            k.add("}")
            yield k


def compare_and_swap():
    for element in ("u16", "u32", "u64"):
        type = MLIR[element]
        k = Kernel(f"cas_{element}", block=64)
        memory, compares = k.output(element, 64, "bits", "small 31 0 3"), k.input(element, 64, "small 32 0 3")
        values, old = k.input(element, 64, "hash 33"), k.output(element, 64)
        thread = k.thread()
        at = k.at(memory, thread, type)
        k.store(k.let(f"ptx.atomic_cas {at}, {k.load(compares, thread, type)}, {k.load(values, thread, type)} : {type}"), old, thread, type)
        yield k


def contended():
    """Sums whose order does not matter, of all threads of several blocks; a counter that hands out numbers, whose sum is fixed."""
    k = Kernel("contended", block=96, grid=4)
    values = k.input("u32", 384, "hash 34")
    sums = k.output("u32", 8, "bits", "zero")
    thread = k.global_thread()
    value = k.load(values, thread, "i32")
    for i, kind in enumerate(("add", "smin", "smax", "umin", "umax", "or", "xor")):
        k.let(f"ptx.atomic <{kind}> {k.at(sums, i, 'i32')}, {value} : i32")
    number = k.let(f"ptx.atomic <add> {k.at(sums, 7, 'i32')}, {k.const(1)} : i32")
    handed = k.output("u32", 2, "bits", "zero")
    k.let(f"ptx.atomic <add> {k.at(handed, 0, 'i32')}, {number} : i32")
    k.let(f"ptx.atomic <umax> {k.at(handed, 1, 'i32')}, {number} : i32")
    odd = k.compare("ne", k.binary("andi", thread, 1), 0)
    only = k.output("u32", 1, "bits", "zero")
    k.let(f"ptx.atomic <add> {k.at(only, 0, 'i32')}, {k.const(3)} if {odd} : i32")
    yield k


def reduces():
    """`red`, of one word and of several. f16 and bf16 words are pairs: pair i of the edge cases."""
    for element in ("u32", "s32", "u64", "s64"):
        count = SPECIALS["integer"] ** 2
        type = "i64" if element[1:] == "64" else "i32"
        buffer = "u64" if type == "i64" else "u32"
        kinds = ["add", "min", "max"] + (["and", "or", "xor"] if element[0] == "u" else []) + (["inc", "dec"] if element == "u32" else [])
        kinds = [kind for kind in kinds if not (element == "s64" and kind == "add")]
        k = Kernel(f"reduce_{element}", block=160)
        values = k.input(buffer, count, "pairs 1")
        outs = [k.output(buffer, count, "bits", "pairs 0") for _ in kinds]
        thread = k.thread()
        guard(k, thread, count)
        value = k.load(values, thread, type)
        for kind, out in zip(kinds, outs):
            k.add(f"ptx.atomic_reduce <{kind}> <{element}> {k.at(out, thread, type)}, ({value}) : {type}")
        k.add("}")
        yield k
    count = SPECIALS["float"] ** 2 // 16 * 16
    for element in ("f16", "bf16"):
        for kind in ("add", "min", "max"):
            k = Kernel(f"reduce_{element}x2_{kind}", block=128, grid=(count // 4 + 127) // 128)
            values, out = k.input(element, count, "pairs 1"), k.output(element, count, "bits", "pairs 0")
            thread = k.global_thread()
            guard(k, thread, count // 8)
            words = [k.load(values, k.plus(k.times(thread, 4), i), "i32") for i in range(4)]
            k.add(f"ptx.atomic_reduce <{kind}> <{element}> {k.at(out, k.times(thread, 4), 'i32')}, ({', '.join(words)}) : i32, i32, i32, i32")
            k.add("}")
            yield k
        k = Kernel(f"reduce_{element}x2_add_shared", block=128, shared=1024)
        values, out = k.input(element, 256, "uniform 41 -2 2"), k.output(element, 256, "bits", "uniform 42 -2 2")
        thread, base = k.thread(), k.shared_base()
        at = k.at(base, thread, "i32", 3)
        k.add(f"llvm.store {k.load(out, thread, 'i32')}, {at} : i32, !llvm.ptr<3>")
        k.add(f"ptx.atomic_reduce <add> <{element}> {at}, ({k.load(values, thread, 'i32')}) : i32 at !llvm.ptr<3>")
        k.store(k.let(f"llvm.load {at} : !llvm.ptr<3> -> i32"), out, thread, "i32")
        yield k
    count = SPECIALS["float"] ** 2
    k = Kernel("reduce_f32_vectors", block=128, grid=2)
    outs = [k.output("f32", count, "bits", "pairs 0") for _ in range(3)]
    values = k.input("f32", count, "pairs 1")
    thread = k.global_thread()
    guard(k, thread, count // 4)
    at = k.times(thread, 4)
    words = [k.load(values, k.plus(at, i), "f32") for i in range(4)]
    k.add(f"ptx.atomic_reduce <add> <f32> {k.at(outs[0], at, 'f32')}, ({', '.join(words)}) : f32, f32, f32, f32")
    for half in (0, 2):
        k.add(f"ptx.atomic_reduce <add> <f32> {k.at(outs[1], k.plus(at, half), 'f32')}, ({', '.join(words[half:half + 2])}) : f32, f32")
    for i in range(4):
        k.add(f"ptx.atomic_reduce <add> <f32> {k.at(outs[2], k.plus(at, i), 'f32')}, ({words[i]}) : f32")
    k.add("}")
    yield k
    k = Kernel("reduce_f64", block=128, grid=5)
    out, values = k.output("f64", count, "bits", "pairs 0"), k.input("f64", count, "pairs 1")
    thread = k.global_thread()
    guard(k, thread, count)
    k.add(f"ptx.atomic_reduce <add> <f64> {k.at(out, thread, 'f64')}, ({k.load(values, thread, 'f64')}) : f64")
    k.add("}")
    yield k


def messages():
    """A value and a flag: released and acquired, block to block in a fixed order."""
    k = Kernel("release_acquire", block=32, grid=3)
    flags, out = k.output("u32", 4, "bits", "zero"), k.output("u32", 128, "bits", "zero")
    block, thread = k.let("ptx.block_id"), k.thread()
    # A block waits until those before it are done (they are resident: the grid is small).
    done = k.at(flags, 0, "i32")
    k.loop_until(lambda: k.compare("eq", k.let(f"ptx.atomic_load {done} order <acquire> scope <gpu> : i32"), block))
    previous = k.load(out, k.plus(thread, k.times(block, 32)), "i32")
    own = k.plus(k.times(k.plus(previous, 7), 3), thread)
    k.store(own, out, k.plus(thread, k.times(k.plus(block, 1), 32)), "i32")
    k.add("ptx.fence <acq_rel> scope <gpu>")
    k.add("ptx.barrier")
    k.add(f"ptx.atomic_store {done}, {k.plus(block, 1)} if {k.first()} order <release> scope <gpu> : i32")
    yield k


def kernels():
    for family in (float_adds, integers, compare_and_swap, contended, reduces, messages):
        yield from family()
