# SPDX-License-Identifier: MIT
"""Loads and stores of each width, of global and shared memory, under predicates; cp.async."""
from writer import Kernel

WORDS = {8: "i16", 16: "i16", 32: "i32", 64: "i64"}
ELEMENTS = {8: "u8", 16: "u16", 32: "u32", 64: "u64"}


def copies():
    """out = in, through load_global and store_global; lanes whose predicate is false read nothing (their address is far away) and write nothing."""
    for bits, vectors in ((8, (1, 2, 4)), (16, (1, 2, 4)), (32, (1, 2, 4)), (64, (1, 2))):
        k = Kernel(f"global_{bits}", block=64)
        source = k.input(ELEMENTS[bits], 64 * 4, "hash 11")
        outs = [k.output(ELEMENTS[bits], 64 * n) for n in vectors for _ in range(2)]
        thread, word = k.thread(), WORDS[bits]
        even = k.compare("eq", k.binary("andi", thread, 1), 0)
        far = k.let(f"arith.select {even}, {thread}, {k.const(1 << 28)} : i32")
        other = k.const(90 + bits, word)
        for i, n in enumerate(vectors):
            step = bits // 8 * n
            types = ", ".join([word] * n)
            at = [k.at(source, k.times(index, step), "i8") for index in (thread, far)]
            to = [k.at(outs[2 * i + j], k.times(index, step), "i8") for j, index in ((0, thread), (1, far))]
            words = k.lets(n, f"ptx.load_global {at[0]} + 0 bits {bits} readonly : {types}")
            k.add(f"ptx.store_global {', '.join(words)} at {to[0]} + 0 bits {bits} : {types}")
            words = k.lets(n, f"ptx.load_global {at[1]} + 0 bits {bits} if {even} else {', '.join([other] * n)} cache <streaming> : {types}")
            k.add(f"ptx.store_global {', '.join(words)} at {to[1]} + 0 bits {bits} if {even} cache <streaming> : {types}")
            if n == 1 and bits > 8:  # what the others got, and an offset
                got = k.lets(1, f"ptx.load_global {at[0]} + {64 * bits // 8} bits {bits} if {even} else {other} : {types}")
                k.add(f"ptx.store_global {got[0]} at {to[0]} + 0 bits {bits} : {types}")
        yield k


def shared():
    """Each thread writes, the thread across reads, in every width."""
    for type, element, width in (("i8", "u8", 1), ("i16", "u16", 2), ("i32", "u32", 4), ("i64", "u64", 8), ("vector<2xi32>", "u32", 8),
                                 ("vector<4xi32>", "u32", 16), ("vector<2xf16>", "u16", 4), ("vector<8xbf16>", "u16", 16)):
        name = type.replace("<", "_").replace(">", "").replace("vector_", "vector")
        count = 64 * width // {"u8": 1, "u16": 2, "u32": 4, "u64": 8}[element]
        k = Kernel(f"shared_{name}", block=64, shared=2048)
        source, out = k.input(element, count, "hash 12"), k.output(element, count)
        base, thread = k.shared_base(), k.thread()
        across = k.binary("xori", thread, 45)
        k.store(k.load(source, thread, type), base, thread, type, 3)
        k.add("ptx.barrier")
        k.store(k.load(base, across, type, 3), out, across, type)
        yield k


def copy_async():
    """cp.async of 4, 8 and 16 bytes with every count of source bytes: the rest is zero."""
    for size in (4, 8, 16):
        k = Kernel(f"copy_async_{size}", block=64, shared=8192)
        source, out = k.input("u8", 64 * size, "hash 13"), k.output("u8", 64 * size * 3)
        base, thread = k.shared_base(), k.thread()
        count = k.binary("remui", thread, size + 1)
        odd = k.compare("ne", k.binary("andi", thread, 1), 0)
        for part in range(3):  # poison, so that what is not written stays
            for byte in range(0, size, 4):
                k.store(k.const(-1515870811), base, k.plus(k.times(thread, size // 4), (64 * size * part + byte) // 4), "i32", 3)
        k.add("ptx.warp_barrier")
        cache = " cache <global>" if size == 16 else ""
        at = k.at(source, k.times(thread, size), "i8")
        to = [k.at(base, k.plus(k.times(thread, size), 64 * size * part), "i8", 3) for part in range(3)]
        k.add(f"ptx.copy_async {to[0]}, {at} bytes {size}{cache}")
        k.add("ptx.copy_async_commit")
        k.add(f"ptx.copy_async {to[1]}, {at} bytes {size} from {count}{cache}")
        k.add("ptx.copy_async_commit")
        k.add(f"ptx.copy_async {to[2]}, {at} bytes {size} if {odd}{cache} fetch 128")
        k.add("ptx.copy_async_commit")
        k.add("ptx.copy_async_wait 2")
        k.add("ptx.copy_async_wait 0")
        k.add("ptx.barrier")
        across = k.binary("xori", thread, 63)
        for part in range(3):
            for byte in range(0, size, 4):
                index = k.plus(k.times(across, size // 4), (64 * size * part + byte) // 4)
                k.store(k.load(base, index, "i32", 3), out, index, "i32")
        yield k


def copy_async_barrier():
    """cp.async whose arrival is at an mbarrier: planned (noinc) and on top."""
    for noinc in (True, False):
        k = Kernel("copy_async_arrive" + ("_noinc" if noinc else ""), block=64, shared=2048)
        source, out = k.input("u32", 64 * 4, "hash 14"), k.output("u32", 64 * 4)
        base, thread = k.shared_base(), k.thread()
        barrier = k.at(base, 1024, "i8", 3)
        k.init_barriers([barrier], [64])
        k.add(f"ptx.copy_async {k.at(base, k.times(thread, 16), 'i8', 3)}, {k.at(source, k.times(thread, 16), 'i8')} bytes 16")
        k.add(f"ptx.copy_async_arrive {barrier}" + (" noinc" if noinc else ""))
        if not noinc:
            k.let(f"ptx.mbarrier_arrive {barrier} : !llvm.ptr<3> -> i64")
        k.wait(barrier, 0)
        across = k.binary("xori", thread, 63)
        for i in range(4):
            index = k.plus(k.times(across, 4), i)
            k.store(k.load(base, index, "i32", 3), out, index, "i32")
        yield k


def kernels():
    for family in (copies, shared, copy_async, copy_async_barrier):
        yield from family()
