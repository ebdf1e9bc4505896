# SPDX-License-Identifier: MIT
"""Threads of a warp and of a block: who they are, shuffles, votes, matches, reductions, named barriers."""
from writer import Kernel

DISTANCES = [0, 1, 3, 16, 31, 32, 33, 63, -1]


def shuffles():
    for kind in ("xor", "up", "down", "index"):
        k = Kernel(f"shuffle_{kind}")
        source = k.input("u32", 32, "hash 1")
        out = k.output("u32", 32 * len(DISTANCES))
        lane = k.let("ptx.lane_id")
        value = k.load(source, lane, "i32")
        for i, distance in enumerate(DISTANCES):
            got = k.let(f"ptx.shuffle <{kind}> {value}, {k.const(distance)} : i32")
            k.store(got, out, k.plus(lane, 32 * i), "i32")
        yield k
        k = Kernel(f"shuffle_{kind}_lanes")
        source, lanes = k.input("f32", 32, "special"), k.input("u32", 32, "small 2 0 31")
        out = k.output("f32", 32)
        lane = k.let("ptx.lane_id")
        value, which = k.load(source, lane, "f32"), k.load(lanes, lane, "i32")
        k.store(k.let(f"ptx.shuffle <{kind}> {value}, {which} : f32"), out, lane, "f32")
        yield k


def votes():
    k = Kernel("votes")
    words = k.input("u32", 32, "hash 3")
    out = k.output("u32", 32 * 6 * 4)
    thread = k.thread()
    word = k.load(words, thread, "i32")
    zero = k.binary("andi", word, 0)
    tests = [k.let(f"arith.trunci {word} : i32 to i1"), k.compare("eq", zero, 0), k.compare("ne", zero, 0),
             k.compare("eq", k.let("ptx.lane_id"), 31), k.compare("ne", k.let("ptx.lane_id"), 0), k.compare("ult", thread, 16)]
    for i, test in enumerate(tests):
        for j, kind in enumerate(("any", "all", "uni", "ballot")):
            got = k.let(f"ptx.vote <{kind}> {test} : {'i32' if kind == 'ballot' else 'i1'}")
            if kind != "ballot":
                got = k.let(f"arith.extui {got} : i1 to i32")
            k.store(got, out, k.plus(thread, 32 * (4 * i + j)), "i32")
    yield k


def matches():
    for type, element in (("i32", "u32"), ("i64", "u64")):
        k = Kernel(f"match_{type}")
        inputs = [k.input(element, 32, text) for text in ("small 4 0 3", "hash 5", "list 7")]
        out = k.output("u32", 32 * 6)
        lane = k.let("ptx.lane_id")
        for i, pointer in enumerate(inputs):
            value = k.load(pointer, lane, type)
            for j, kind in enumerate(("any", "all")):
                k.store(k.let(f"ptx.match <{kind}> {value} : {type}"), out, k.plus(lane, 32 * (2 * i + j)), "i32")
        yield k


def reductions():
    kinds = ("add", "min", "max", "umin", "umax", "and", "or", "xor")
    k = Kernel("redux")
    inputs = [k.input("u32", 32, text) for text in ("hash 6", "small 7 0 9", "special")]
    out = k.output("u32", 32 * len(kinds) * 3)
    thread = k.thread()
    for i, pointer in enumerate(inputs):
        value = k.load(pointer, thread, "i32")
        for j, kind in enumerate(kinds):
            k.store(k.let(f"ptx.redux <{kind}> {value}"), out, k.plus(thread, 32 * (len(kinds) * i + j)), "i32")
    yield k


def places():
    """Which lane is elected is open, but it is one."""
    k = Kernel("places", block=64, grid=3)
    out = k.output("u32", 64 * 3 * 5)
    at = k.times(k.global_thread(), 5)
    one = k.let("ptx.elect")
    ballot = k.let(f"ptx.vote <ballot> {one} : i32")
    values = [k.thread(), k.let("ptx.block_id"), k.let("ptx.grid_size"), k.let("ptx.lane_id"), k.let(f"math.ctpop {ballot} : i32")]
    for i, value in enumerate(values):
        k.store(value, out, k.plus(at, i), "i32")
    yield k


def barriers():
    # Two producer warps arrive, two consumer warps wait; then back, for the next round.
    k = Kernel("named_barriers", block=128, shared=1024)
    out = k.output("u32", 64 * 3)
    base, thread = k.shared_base(), k.thread()
    slot = k.binary("andi", thread, 63)
    producer = k.compare("ult", thread, 64)
    full, empty = k.const(1), k.const(2)
    k.add(f"scf.if {producer} {{")
    for i in range(3):
        if i:
            k.add(f"ptx.named_barrier <sync> {empty} threads 128")
        k.store(k.times(k.plus(thread, 1), 10 ** i), base, slot, "i32", 3)
        k.add(f"ptx.named_barrier <arrive> {full} threads 128")
    k.add("} else {")
    for i in range(3):
        k.add(f"ptx.named_barrier <sync> {full} threads 128")
        k.store(k.load(base, k.binary("xori", slot, 37), "i32", 3), out, k.plus(slot, 64 * i), "i32")
        if i < 2:
            k.add(f"ptx.named_barrier <arrive> {empty} threads 128")
    k.add("}")
    yield k
    k = Kernel("warp_and_block_barriers", block=128, shared=1024)
    out = k.output("u32", 256)
    base, thread = k.shared_base(), k.thread()
    k.store(k.times(thread, thread), base, thread, "i32", 3)
    k.add("ptx.warp_barrier")
    k.store(k.load(base, k.binary("xori", thread, 21), "i32", 3), out, thread, "i32")
    k.add("ptx.barrier")
    k.store(k.load(base, k.binary("xori", thread, 127), "i32", 3), out, k.plus(thread, 128), "i32")
    yield k


def kernels():
    for family in (shuffles, votes, matches, reductions, places, barriers):
        yield from family()
