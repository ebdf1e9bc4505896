# SPDX-License-Identifier: MIT
"""mbarriers, and bulk copies: phases, counts of bytes, copies and reductions in both directions and within a cluster."""
from writer import BYTES, Kernel, MLIR


def phases():
    # 64 producers' arrivals and a state; several phases; a count; expect and complete of bytes by hand.
    k = Kernel("mbarrier_phases", block=128, shared=2048)
    out = k.output("u32", 128 * 5)
    base, thread = k.shared_base(), k.thread()
    barrier, second = k.at(base, 1024, "i8", 3), k.at(base, 1032, "i8", 3)
    first = k.init_barriers([barrier, second], [128, 3])
    for phase in range(3):
        k.store(k.times(k.plus(thread, 1), 7 ** phase), base, k.plus(thread, 128 * (phase % 2)), "i32", 3)
        state = k.let(f"ptx.mbarrier_arrive {barrier} : !llvm.ptr<3> -> i64")
        if phase == 1:  # by the arrival's state
            k.loop_until(lambda: k.let(f"ptx.mbarrier_test_wait {barrier}, {state} : i64"))
        else:
            k.wait(barrier, phase % 2)
        k.store(k.load(base, k.plus(k.binary("xori", thread, 101), 128 * (phase % 2)), "i32", 3), out, k.plus(thread, 128 * phase), "i32")
    # The phase before is complete, the current one is not.
    k.add("ptx.barrier")
    for i in range(2):
        done = k.let(f"ptx.mbarrier_test_wait {second}, {k.const(1 - i)} : i32")
        k.store(k.let(f"arith.extui {done} : i1 to i32"), out, k.plus(thread, 128 * (3 + i)), "i32")
    k.add("ptx.barrier")
    k.add(f"scf.if {first} {{")
    k.add(f"ptx.mbarrier_expect_tx {second}, {k.const(64)} : !llvm.ptr<3>")
    k.add(f"ptx.mbarrier_arrive {second} count {k.const(2)} : !llvm.ptr<3>")
    k.add(f"ptx.mbarrier_arrive_expect_tx {second}, {k.const(32)} : !llvm.ptr<3>")
    k.add(f"ptx.mbarrier_complete_tx {second}, {k.const(96)} : !llvm.ptr<3>")
    k.add("}")
    k.wait(second, 0)
    k.add("ptx.barrier")
    k.add(f"ptx.mbarrier_inval {second} if {first}")
    yield k


def bulk_copies():
    k = Kernel("bulk_load_store", block=128, shared=4096)
    source, out = k.input("u32", 512, "hash 81"), k.output("u32", 512 + 64)
    base, thread = k.shared_base(), k.thread()
    barrier = k.at(base, 2048, "i8", 3)
    first = k.init_barriers([barrier], [1])
    k.add(f"ptx.mbarrier_arrive_expect_tx {barrier}, {k.const(2048)} if {first} : !llvm.ptr<3>")
    for part, bytes in ((0, 1024), (256, 16), (260, 1008)):
        k.add(f"ptx.bulk_load {k.at(base, part, 'i32', 3)}, {k.at(source, part, 'i32')}, {k.const(bytes)} signal {barrier} if {first} : !llvm.ptr<3>")
    k.wait(barrier, 0)
    for i in range(4):  # each word plus its place
        index = k.plus(thread, 128 * i)
        k.store(k.plus(k.load(base, index, "i32", 3), index), base, index, "i32", 3)
    k.add("ptx.fence_proxy_async <shared_cta>")
    k.add("ptx.barrier")
    k.add(f"ptx.bulk_store {out}, {base}, {k.const(1024)} if {first}")
    k.add("ptx.bulk_commit")
    k.add(f"ptx.bulk_store {k.at(out, 256 + 32, 'i32')}, {k.at(base, 256, 'i32', 3)}, {k.const(1024 - 64)} if {first}")
    k.add("ptx.bulk_commit")
    k.add("ptx.bulk_wait 1 read")
    k.add("ptx.bulk_wait 0")
    yield k


def hints():
    """Cache policies and prefetches change no result."""
    k = Kernel("hints", block=32, shared=2048)
    k.input("u32", 256, "hash 83")
    out = k.output("u32", 256)
    map = k.map("u32 of 0 dims 32,8 strides 128 box 32,4")
    base, lane = k.shared_base(), k.let("ptx.lane_id")
    barrier = k.at(base, 1024, "i8", 3)
    first = k.init_barriers([barrier], [1])
    hint = k.const(0x12F0000000000000, "i64")
    k.add(f"ptx.tensor_prefetch {map}[] if {first}")
    k.add(f"ptx.tensor_prefetch {map}[{k.const(0)}, {k.const(4)}] hint {hint} if {first}")
    k.add(f"ptx.mbarrier_arrive_expect_tx {barrier}, {k.const(1024)} if {first} : !llvm.ptr<3>")
    k.add(f"ptx.tensor_load {base}, {map}[{k.const(0)}, {k.const(4)}] signal {barrier} hint {hint} if {first} : !llvm.ptr<3>")
    k.add(f"ptx.bulk_load {k.at(base, 128, 'i32', 3)}, %p0, {k.const(512)} signal {barrier} hint {hint} if {first} : !llvm.ptr<3>")
    k.wait(barrier, 0)
    k.add(f"ptx.bulk_store {out}, {base}, {k.const(1024)} hint {hint} if {first}")
    k.add("ptx.bulk_commit")
    k.add("ptx.bulk_wait 0")
    start, end = k.let("ptx.clock <cycles>"), k.let("ptx.clock <cycles>")
    later = k.let(f"arith.extui {k.compare('uge', end, start, 'i64')} : i1 to i32")
    k.store(later, k.output("u32", 32), lane, "i32")
    yield k


def bulk_reduces():
    """Every kind and type; 64 pairs of random bits and of edge cases."""
    integer = {"u32": ("add", "min", "max", "inc", "dec", "and", "or", "xor"), "s32": ("add", "min", "max"), "u64": ("add", "min", "max", "and", "or", "xor"),
               "s64": ("min", "max")}
    floats = {"f16": ("add", "min", "max"), "bf16": ("add", "min", "max"), "f32": ("add",), "f64": ("add",)}
    for element, kinds in {**integer, **floats}.items():
        isFloat = element in floats
        count = (576 if element in ("f16", "bf16", "f32") else 256) if isFloat else 144
        count = count // 16 * 16
        name = {"s64": "u64"}.get(element, element)
        type = MLIR[name]
        bytes = BYTES[type]
        k = Kernel(f"bulk_reduce_{element}", block=128, shared=(count * bytes + 1023) // 1024 * 1024)
        values = k.input(name, count, "pairs 1")
        outs = [k.output(name, count, "bits", "pairs 0") for _ in kinds]
        base, thread = k.shared_base(), k.thread()
        for i in range(0, count, 128):
            index = k.plus(thread, i)
            k.add(f"scf.if {k.compare('ult', index, count)} {{")
            k.store(k.load(values, index, type), base, index, type, 3)
            k.add("}")
        k.add("ptx.fence_proxy_async <shared_cta>")
        k.add("ptx.barrier")
        first = k.first()
        for kind, out in zip(kinds, outs):
            k.add(f"ptx.bulk_reduce <{kind}> <{element}> {out}, {base}, {k.const(count * bytes)} if {first} : !llvm.ptr<1>")
        k.add("ptx.bulk_commit")
        k.add("ptx.bulk_wait 0")
        yield k


def cluster_copies():
    # Each block sends its words to the next block's memory, by the copy engine, by store_async and by bulk reductions.
    k = Kernel("cluster_bulk", block=64, grid=4, cluster=4, shared=4096)
    out = k.output("u32", 4 * 64 * 3)
    base, thread, rank = k.shared_base(), k.thread(), k.let("ptx.cluster_rank")
    barrier = k.at(base, 2048, "i8", 3)
    next = k.binary("remui", k.plus(rank, 1), 4)
    own = k.plus(k.times(rank, 1000), thread)
    for part in range(4):  # 0: what is sent; 1..3: what comes; the reduction adds to 100
        k.store(own if part == 0 else k.const(100), base, k.plus(thread, 64 * part), "i32", 3)
    first = k.init_barriers([barrier], [1])
    k.add("ptx.fence_proxy_async <shared_cta>")
    k.meet()
    remote = k.let(f"ptx.map_shared_rank {base}, {next}")
    signal = k.let(f"ptx.map_shared_rank {barrier}, {next}")
    k.add(f"ptx.mbarrier_arrive_expect_tx {barrier}, {k.const(768)} if {first} : !llvm.ptr<3>")
    k.add(f"ptx.bulk_copy_cluster {k.at(remote, 64, 'i32', 7)}, {base}, {k.const(256)} signal {signal} if {first}")
    k.add(f"ptx.bulk_reduce <add> <u32> {k.at(remote, 128, 'i32', 7)}, {base}, {k.const(256)} signal {signal} if {first} : !llvm.ptr<7>")
    k.add(f"ptx.store_async ({k.times(own, 3)}) to {k.at(remote, k.plus(thread, 192), 'i32', 7)} signal {signal} : i32")
    k.wait(barrier, 0)
    for part in range(3):
        k.store(k.load(base, k.plus(thread, 64 * part + 64), "i32", 3), out, k.plus(k.times(k.let("ptx.block_id"), 192), k.plus(thread, 64 * part)), "i32")
    k.meet()
    yield k
    # A bulk load to several blocks at once, and to another block.
    for size in (2, 4):
        k = Kernel(f"bulk_multicast_{size}", block=64, grid=size, cluster=size, shared=4096)
        source, out = k.input("u32", 64 * size, "hash 82"), k.output("u32", 64 * size * size)
        base, thread, rank, block = k.shared_base(), k.thread(), k.let("ptx.cluster_rank"), k.let("ptx.block_id")
        barrier = k.at(base, 2048, "i8", 3)
        first = k.init_barriers([barrier], [1])
        k.add(f"ptx.mbarrier_arrive_expect_tx {barrier}, {k.const(256 * size)} if {first} : !llvm.ptr<3>")
        k.meet()
        mask = k.const((1 << size) - 1, "i16")
        local = k.let(f"ptx.map_shared_rank {k.at(base, k.times(rank, 64), 'i32', 3)}, {rank}")
        k.add(f"ptx.bulk_load {local}, {k.at(source, k.times(block, 64), 'i32')}, {k.const(256)} signal {barrier} multicast {mask} if {first} : !llvm.ptr<7>")
        k.wait(barrier, 0)
        for i in range(size):
            k.store(k.load(base, k.plus(thread, 64 * i), "i32", 3), out, k.plus(k.times(block, 64 * size), k.plus(thread, 64 * i)), "i32")
        k.meet()
        yield k


def distributed():
    # Plain loads, stores and atomics of another block's memory; ranks; arrivals at another block's mbarrier.
    for size in (2, 4):
        k = Kernel(f"distributed_{size}", block=64, grid=size, cluster=size, shared=2048)
        out = k.output("u32", 64 * size * 4)
        base, thread, rank = k.shared_base(), k.thread(), k.let("ptx.cluster_rank")
        barrier = k.at(base, 1024, "i8", 3)
        k.store(k.plus(k.times(k.let("ptx.block_id"), 1000), thread), base, thread, "i32", 3)
        k.store(k.const(0), base, k.plus(thread, 64), "i32", 3)
        k.init_barriers([barrier], [64 * size])
        across = k.binary("xori", rank, size - 1)
        remote = k.let(f"ptx.map_shared_rank {base}, {across}")
        seen = k.load(remote, k.binary("xori", thread, 63), "i32", 7)
        for other in range(size):
            there = k.let(f"ptx.map_shared_rank {base}, {k.const(other)}")
            k.let(f"ptx.atomic <add> {k.at(there, k.plus(thread, 64), 'i32', 7)}, {k.plus(rank, 1)} order <relaxed> scope <cluster> : i32 at !llvm.ptr<7>")
            signal = k.let(f"ptx.map_shared_rank {barrier}, {k.const(other)}")
            k.add(f"ptx.mbarrier_arrive {signal} scope <cluster> : !llvm.ptr<7>")
        k.loop_until(lambda: k.let(f"ptx.mbarrier_try_wait {barrier}, {k.const(0)} scope <cluster> : i32"))
        at = k.times(k.plus(k.times(k.let("ptx.block_id"), 64), thread), 4)
        for i, value in enumerate((seen, k.load(base, k.plus(thread, 64), "i32", 3), rank, k.let("ptx.cluster_size"))):
            k.store(value, out, k.plus(at, i), "i32")
        k.meet()
        yield k


def control():
    # Registers move from two warpgroups to one; a grid that may start early.
    k = Kernel("registers_and_grids", block=384, attributes=["nvvm.minctasm = 1 : i32"])
    out = k.output("u32", 384)
    thread = k.thread()
    k.add("ptx.grid_dependency_wait")
    k.add(f"scf.if {k.compare('ult', thread, 128)} {{")
    k.add("ptx.set_max_registers <increase> 232")
    k.store(k.times(thread, 5), out, thread, "i32")
    k.add("} else {")
    k.add("ptx.set_max_registers <decrease> 40")
    k.store(k.times(thread, 7), out, thread, "i32")
    k.add("}")
    k.add("ptx.grid_launch_dependents")
    yield k


def kernels():
    for family in (phases, bulk_copies, hints, bulk_reduces, cluster_copies, distributed, control):
        yield from family()
