// SPDX-License-Identifier: MIT
// What no instruction does is refused: what was found, and what can be.
// RUN: tilegym-opt --split-input-file --verify-diagnostics %s

llvm.func @ragged_barrier(%x: i32) {
  // expected-error @+1 {{has 100 threads, but whole warps meet: a multiple of 32 up to 1024}}
  ptx.named_barrier <sync> %x threads 100
  llvm.return
}

// -----

llvm.func @barrier_16() {
  %id = llvm.mlir.constant(16 : i32) : i32
  // expected-error @+1 {{has id 16, but a block has barriers 0 .. 15}}
  ptx.named_barrier <sync> %id threads 64
  llvm.return
}

// -----

llvm.func @ballot_bit(%p: i1) {
  // expected-error @+1 {{gives 'i1', but ballot gives i32 and the others i1}}
  %v = ptx.vote <ballot> %p : i1
  llvm.return
}

// -----

llvm.func @registers() {
  // expected-error @+1 {{has 100 registers, but a multiple of 8 from 24 to 256 is possible}}
  ptx.set_max_registers <increase> 100
  llvm.return
}

// -----

llvm.func @integer_fadd(%g: !llvm.ptr<1>, %x: i32) {
  // expected-error @+1 {{does fadd with 'i32', but fadd is for floats and the others are for integers}}
  %v = ptx.atomic <fadd> %g, %x : i32
  llvm.return
}

// -----

llvm.func @sc_atomic(%g: !llvm.ptr<1>, %x: i32) {
  // expected-error @+1 {{has the order sc, but can have relaxed acquire release acq_rel}}
  %v = ptx.atomic <add> %g, %x order <sc> : i32
  llvm.return
}

// -----

llvm.func @sc_cas(%g: !llvm.ptr<1>, %x: i32) {
  // expected-error @+1 {{has the order sc, but can have relaxed acquire release acq_rel}}
  %v = ptx.atomic_cas %g, %x, %x order <sc> : i32
  llvm.return
}

// -----

llvm.func @releasing_load(%g: !llvm.ptr<1>) {
  // expected-error @+1 {{has the order release, but can have relaxed acquire}}
  %v = ptx.atomic_load %g order <release> : i32
  llvm.return
}

// -----

llvm.func @acquiring_store(%g: !llvm.ptr<1>, %x: i32) {
  // expected-error @+1 {{has the order acquire, but can have relaxed release}}
  ptx.atomic_store %g, %x order <acquire> : i32
  llvm.return
}

// -----

llvm.func @three_words(%g: !llvm.ptr<1>, %f: f32) {
  // expected-error @+1 {{has 3 words, but updates 1, 2 or 4}}
  ptx.atomic_reduce <add> <f32> %g, (%f, %f, %f) : f32, f32, f32
  llvm.return
}

// -----

llvm.func @float_max(%g: !llvm.ptr<1>, %f: f32) {
  // expected-error @+1 {{does max on f32, but there are add of integers and floats, min and max of integers, f16 and bf16, inc and dec of u32, and, or and xor of integers}}
  ptx.atomic_reduce <max> <f32> %g, (%f) : f32
  llvm.return
}

// -----

llvm.func @acquiring_reduction(%g: !llvm.ptr<1>, %f: f32) {
  // expected-error @+1 {{has the order acquire, but can have relaxed release}}
  ptx.atomic_reduce <add> <f32> %g, (%f) order <acquire> : f32
  llvm.return
}

// -----

llvm.func @word_type(%g: !llvm.ptr<1>, %f: f32) {
  // expected-error @+1 {{has a word of type 'f32', but bf16 is in words of type 'i32'}}
  ptx.atomic_reduce <add> <bf16> %g, (%f) : f32
  llvm.return
}

// -----

llvm.func @one_half_max(%g: !llvm.ptr<1>, %x: i32) {
  // expected-error @+1 {{does max on one word of bf16, but one word can only add; several can}}
  ptx.atomic_reduce <max> <bf16> %g, (%x) : i32
  llvm.return
}

// -----

llvm.func @shared_vector(%s: !llvm.ptr<3>, %f: f32) {
  // expected-error @+1 {{has 2 words of shared memory, but only global memory takes several}}
  ptx.atomic_reduce <add> <f32> %s, (%f, %f) : f32, f32 at !llvm.ptr<3>
  llvm.return
}

// -----

llvm.func @integer_vector(%g: !llvm.ptr<1>, %x: i32) {
  // expected-error @+1 {{does add on 2 words of u32, but several words are of f16, bf16, or added f32}}
  ptx.atomic_reduce <add> <u32> %g, (%x, %x) : i32, i32
  llvm.return
}

// -----

llvm.func @releasing_vector(%g: !llvm.ptr<1>, %f: f32) {
  // expected-error @+1 {{has the order release, but can have relaxed}}
  ptx.atomic_reduce <add> <f32> %g, (%f, %f) order <release> : f32, f32
  llvm.return
}

// -----

llvm.func @remote_state(%c: !llvm.ptr<7>) {
  // expected-error @+1 {{gives the state of a barrier at a cluster address, but only one of this block has a state to give}}
  %v = ptx.mbarrier_arrive %c : !llvm.ptr<7> -> i64
  llvm.return
}

// -----

llvm.func @remote_expect_state(%c: !llvm.ptr<7>, %x: i32) {
  // expected-error @+1 {{gives the state of a barrier at a cluster address, but only one of this block has a state to give}}
  %v = ptx.mbarrier_arrive_expect_tx %c, %x : !llvm.ptr<7> -> i64
  llvm.return
}

// -----

llvm.func @gpu_arrival(%s: !llvm.ptr<3>) {
  // expected-error @+1 {{has the scope gpu, but an mbarrier orders memory for cta or cluster}}
  ptx.mbarrier_arrive %s scope <gpu> : !llvm.ptr<3>
  llvm.return
}

// -----

llvm.func @system_wait(%s: !llvm.ptr<3>, %x: i32) {
  // expected-error @+1 {{has the scope sys, but an mbarrier orders memory for cta or cluster}}
  %v = ptx.mbarrier_try_wait %s, %x scope <sys> : i32
  llvm.return
}

// -----

llvm.func @gpu_test(%s: !llvm.ptr<3>, %x: i32) {
  // expected-error @+1 {{has the scope gpu, but an mbarrier orders memory for cta or cluster}}
  %v = ptx.mbarrier_test_wait %s, %x scope <gpu> : i32
  llvm.return
}

// -----

llvm.func @async_words(%c: !llvm.ptr<7>, %f: f32) {
  // expected-error @+1 {{has 3 words, but writes 1, 2 or 4}}
  ptx.store_async (%f, %f, %f) to %c signal %c : f32, f32, f32
  llvm.return
}

// -----

llvm.func @async_types(%c: !llvm.ptr<7>, %f: f32, %x: i32) {
  // expected-error @+1 {{has words of several types, but writes words of one}}
  ptx.store_async (%f, %x) to %c signal %c : f32, i32
  llvm.return
}

// -----

llvm.func @async_bytes(%c: !llvm.ptr<7>, %d: i64) {
  // expected-error @+1 {{writes 32 bytes, but can write 16 at most}}
  ptx.store_async (%d, %d, %d, %d) to %c signal %c : i64, i64, i64, i64
  llvm.return
}

// -----

llvm.func @acquire_fence() {
  // expected-error @+1 {{has the order acquire, but a fence has acq_rel or sc}}
  ptx.fence <acquire> scope <gpu>
  llvm.return
}

// -----

llvm.func @copy_12(%s: !llvm.ptr<3>, %g: !llvm.ptr<1>) {
  // expected-error @+1 {{copies 12 bytes, but can copy 4, 8 or 16}}
  ptx.copy_async %s, %g bytes 12
  llvm.return
}

// -----

llvm.func @copy_8_global(%s: !llvm.ptr<3>, %g: !llvm.ptr<1>) {
  // expected-error @+1 {{copies 8 bytes around L1, but only 16 can go so}}
  ptx.copy_async %s, %g bytes 8 cache <global>
  llvm.return
}

// -----

llvm.func @copy_fetch(%s: !llvm.ptr<3>, %g: !llvm.ptr<1>) {
  // expected-error @+1 {{fetches 32 bytes into L2, but can fetch 64, 128 or 256}}
  ptx.copy_async %s, %g bytes 8 fetch 32
  llvm.return
}

// -----

llvm.func @copy_pending() {
  // expected-error @+1 {{waits until -1 groups are pending, but 0 is the least}}
  ptx.copy_async_wait -1
  llvm.return
}

// -----

llvm.func @bulk_pending() {
  // expected-error @+1 {{waits until -2 groups are pending, but 0 is the least}}
  ptx.bulk_wait -2
  llvm.return
}

// -----

llvm.func @bulk_multicast(%s: !llvm.ptr<3>, %g: !llvm.ptr<1>, %x: i32, %k: i16) {
  // expected-error @+1 {{has a multicast mask, but the destination is not a cluster address (!llvm.ptr<7>)}}
  ptx.bulk_load %s, %g, %x signal %s multicast %k : !llvm.ptr<3>
  llvm.return
}

// -----

llvm.func @bulk_reduce_signal(%s: !llvm.ptr<3>, %c: !llvm.ptr<7>, %x: i32) {
  // expected-error @+1 {{signals an mbarrier exactly where the destination is a cluster address}}
  ptx.bulk_reduce <add> <u32> %c, %s, %x : !llvm.ptr<7>
  llvm.return
}

// -----

llvm.func @bulk_reduce_hint(%s: !llvm.ptr<3>, %c: !llvm.ptr<7>, %x: i32, %d: i64) {
  // expected-error @+1 {{has an L2 hint, but writes shared memory}}
  ptx.bulk_reduce <add> <u32> %c, %s, %x signal %c hint %d : !llvm.ptr<7>
  llvm.return
}

// -----

llvm.func @bulk_reduce_float(%s: !llvm.ptr<3>, %c: !llvm.ptr<7>, %x: i32) {
  // expected-error @+1 {{combines f32 in shared memory, but there u32, s32 and u64 can be}}
  ptx.bulk_reduce <add> <f32> %c, %s, %x signal %c : !llvm.ptr<7>
  llvm.return
}

// -----

llvm.func @bulk_reduce_kind(%s: !llvm.ptr<3>, %g: !llvm.ptr<1>, %x: i32) {
  // expected-error @+1 {{does and on f32, but there are add}}
  ptx.bulk_reduce <and> <f32> %g, %s, %x : !llvm.ptr<1>
  llvm.return
}

// -----

llvm.func @no_coordinates(%s: !llvm.ptr<3>, %m: !llvm.ptr) {
  // expected-error @+1 {{has 0 coordinates, but a tensor map has 1 to 5 dimensions}}
  ptx.tensor_load %s, %m[] signal %s : !llvm.ptr<3>
  llvm.return
}

// -----

llvm.func @six_coordinates(%s: !llvm.ptr<3>, %m: !llvm.ptr, %x: i32) {
  // expected-error @+1 {{has 6 coordinates, but a tensor map has 1 to 5 dimensions}}
  ptx.tensor_store %m[%x, %x, %x, %x, %x, %x], %s
  llvm.return
}

// -----

llvm.func @reduce_coordinates(%s: !llvm.ptr<3>, %m: !llvm.ptr) {
  // expected-error @+1 {{has 0 coordinates, but a tensor map has 1 to 5 dimensions}}
  ptx.tensor_reduce <add> %m[], %s
  llvm.return
}

// -----

llvm.func @prefetch_coordinates(%m: !llvm.ptr, %x: i32) {
  // expected-error @+1 {{has 6 coordinates, but a tensor map has 1 to 5 dimensions}}
  ptx.tensor_prefetch %m[%x, %x, %x, %x, %x, %x]
  llvm.return
}

// -----

llvm.func @tensor_multicast(%s: !llvm.ptr<3>, %m: !llvm.ptr, %x: i32, %k: i16) {
  // expected-error @+1 {{has a multicast mask, but the destination is not a cluster address (!llvm.ptr<7>)}}
  ptx.tensor_load %s, %m[%x] signal %s multicast %k : !llvm.ptr<3>
  llvm.return
}

// -----

llvm.func @map_hint(%m: !llvm.ptr, %d: i64) {
  // expected-error @+1 {{has an L2 hint, but without coordinates it fetches the map itself}}
  ptx.tensor_prefetch %m[] hint %d
  llvm.return
}

// -----

llvm.func @three_matrices(%s: !llvm.ptr<3>) {
  // expected-error @+1 {{has 3 matrices, but moves 1, 2 or 4}}
  %v:3 = ptx.load_matrix %s : i32, i32, i32
  llvm.return
}

// -----

llvm.func @stored_matrices(%s: !llvm.ptr<3>, %x: i32) {
  // expected-error @+1 {{has 3 matrices, but moves 1, 2 or 4}}
  ptx.store_matrix %x, %x, %x to %s
  llvm.return
}

// -----

llvm.func @mixed_mma(%x: i32, %f: f32) {
  // expected-error @+1 {{multiplies bf16 by f16, but can multiply f16, bf16 or tf32 by the same, e4m3 and e5m2, or s8 and u8}}
  %v:4 = ptx.mma k 16 <bf16> (%x, %x, %x, %x) * <f16> (%x, %x) + <f32> (%f, %f, %f, %f)
  llvm.return
}

// -----

llvm.func @bf16_sum(%x: i32) {
  // expected-error @+1 {{adds products of bf16 up in f16, which no instruction does}}
  %v:2 = ptx.mma k 16 <bf16> (%x, %x, %x, %x) * <bf16> (%x, %x) + <f16> (%x, %x)
  llvm.return
}

// -----

llvm.func @mma_k(%x: i32, %f: f32) {
  // expected-error @+1 {{has k 32, but k is 16 or 8 for bf16}}
  %v:4 = ptx.mma k 32 <bf16> (%x, %x, %x, %x) * <bf16> (%x, %x) + <f32> (%f, %f, %f, %f)
  llvm.return
}

// -----

llvm.func @mma_float8_k(%x: i32, %f: f32) {
  // expected-error @+1 {{has k 16, but k is 32 for e4m3}}
  %v:4 = ptx.mma k 16 <e4m3> (%x, %x) * <e4m3> (%x) + <f32> (%f, %f, %f, %f)
  llvm.return
}

// -----

llvm.func @mma_words(%x: i32, %f: f32) {
  // expected-error @+1 {{has 4 words of A and 2 of B, but k 8 of bf16 is in 2 and 1}}
  %v:4 = ptx.mma k 8 <bf16> (%x, %x, %x, %x) * <bf16> (%x, %x) + <f32> (%f, %f, %f, %f)
  llvm.return
}

// -----

llvm.func @mma_accumulators(%x: i32, %f: f32) {
  // expected-error @+1 {{has 2 accumulators, but a thread holds 4 registers of the f32 sum}}
  %v:2 = ptx.mma k 8 <bf16> (%x, %x) * <bf16> (%x) + <f32> (%f, %f)
  llvm.return
}

// -----

llvm.func @mma_saturation(%x: i32, %f: f32) {
  // expected-error @+1 {{saturates a sum of bf16 products, but only integer sums saturate}}
  %v:4 = ptx.mma k 8 <bf16> (%x, %x) * <bf16> (%x) + <f32> (%f, %f, %f, %f) saturate
  llvm.return
}

// -----

llvm.func @wgmma_types(%d: i64, %f: f32) {
  // expected-error @+1 {{multiplies bf16 by f16, but can multiply}}
  %v:4 = ptx.wgmma n 8 <bf16> (%d) * <f16> (%d) + <f32> (%f, %f, %f, %f)
  llvm.return
}

// -----

llvm.func @wgmma_sum(%d: i64, %f: f32) {
  // expected-error @+1 {{adds products of s8 up in f32, which no instruction does}}
  %v:4 = ptx.wgmma n 8 <s8> (%d) * <s8> (%d) + <f32> (%f, %f, %f, %f)
  llvm.return
}

// -----

llvm.func @wgmma_n(%d: i64, %f: f32) {
  // expected-error @+1 {{has n 12, but n is a multiple of 8 up to 256 for bf16}}
  %v:4 = ptx.wgmma n 12 <bf16> (%d) * <bf16> (%d) + <f32> (%f, %f, %f, %f)
  llvm.return
}

// -----

llvm.func @wgmma_integer_n(%d: i64, %x: i32) {
  // expected-error @+1 {{has n 40, but n is a multiple of 16 (or 8, 24) up to 256 for s8}}
  %v:4 = ptx.wgmma n 40 <s8> (%d) * <s8> (%d) + <s32> (%x, %x, %x, %x)
  llvm.return
}

// -----

llvm.func @wgmma_accumulators(%d: i64, %f: f32) {
  // expected-error @+1 {{has 4 accumulators, but a thread holds 8 registers of the f32 sum}}
  %v:4 = ptx.wgmma n 16 <bf16> (%d) * <bf16> (%d) + <f32> (%f, %f, %f, %f)
  llvm.return
}

// -----

llvm.func @wgmma_a(%d: i64, %x: i32, %f: f32) {
  // expected-error @+1 {{has an A that is neither one i64 descriptor nor four i32 words}}
  %v:4 = ptx.wgmma n 8 <bf16> (%x, %x) * <bf16> (%d) + <f32> (%f, %f, %f, %f)
  llvm.return
}

// -----

llvm.func @wgmma_transposed_registers(%d: i64, %x: i32, %f: f32) {
  // expected-error @+1 {{transposes A, but only a descriptor's A can be transposed}}
  %v:4 = ptx.wgmma n 8 <bf16> (%x, %x, %x, %x) * <bf16> (%d) + <f32> (%f, %f, %f, %f) transpose_a
  llvm.return
}

// -----

llvm.func @wgmma_transposed_bytes(%d: i64, %f: f32) {
  // expected-error @+1 {{transposes an operand of e4m3, but only f16 and bf16 can be transposed}}
  %v:4 = ptx.wgmma n 8 <e4m3> (%d) * <e4m3> (%d) + <f32> (%f, %f, %f, %f) transpose_b
  llvm.return
}

// -----

llvm.func @wgmma_negated(%d: i64, %x: i32) {
  // expected-error @+1 {{negates an operand of s8, but only floats can be negated}}
  %v:4 = ptx.wgmma n 8 <s8> (%d) * <s8> (%d) + <s32> (%x, %x, %x, %x) negate_a
  llvm.return
}

// -----

llvm.func @wgmma_saturated(%d: i64, %f: f32) {
  // expected-error @+1 {{saturates a sum of bf16 products, but only integer sums saturate}}
  %v:4 = ptx.wgmma n 8 <bf16> (%d) * <bf16> (%d) + <f32> (%f, %f, %f, %f) saturate
  llvm.return
}

// -----

llvm.func @wgmma_pending(%f: f32) {
  // expected-error @+1 {{waits until 8 groups are pending, but 0 to 7 can be}}
  ptx.wgmma_wait 8
  llvm.return
}

// -----

llvm.func @accumulator_type(%d: i64, %x: i32) {
  // expected-error @+1 {{has accumulators or results that are not of type 'f32'}}
  %v:4 = "ptx.wgmma"(%d, %d, %x, %x, %x, %x) <{n = 8 : i64, aType = #ptx.element_type<bf16>, bType = #ptx.element_type<bf16>, accumulatorType = #ptx.element_type<f32>, operandSegmentSizes = array<i32: 1, 1, 4, 0>}> : (i64, i64, i32, i32, i32, i32) -> (i32, i32, i32, i32)
  llvm.return
}

// -----

llvm.func @wait_types(%f: f32) {
  // expected-error @+1 {{has other types of results than of values}}
  %v = "ptx.wgmma_wait"(%f) <{pending = 0 : i64}> : (f32) -> i32
  llvm.return
}

// -----

llvm.func @pair_of_bf16(%x: f32) {
  // expected-error @+1 {{makes no bf16, but e4m3 or e5m2}}
  %w = ptx.convert_pair %x, %x to <bf16>
  llvm.return
}
