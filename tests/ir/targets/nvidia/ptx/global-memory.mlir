// SPDX-License-Identifier: MIT
// Target instructions round-trip, and refuse accesses that no instruction makes.
// RUN: tilegym-opt --split-input-file --verify-diagnostics %s | tilegym-opt --split-input-file | FileCheck %s

// CHECK-LABEL: llvm.func @round_trip
// CHECK: ptx.load_shared %{{.*}} + 16 bits 32 if %{{.*}} else %{{.*}}, %{{.*}} : i32, i32
// CHECK: ptx.load_global %{{.*}} + 0 bits 16 : i16
// CHECK: ptx.load_global %{{.*}} + 8 bits 32 if %{{.*}} else %{{.*}} : i32
// CHECK: ptx.inline "popc.b32 $0, $1;"(%{{.*}}) meaning %{{.*}} : (i32) -> i32
llvm.func @round_trip(%p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %ok: i1, %z: i32) {
  %d:2 = ptx.load_shared %s + 16 bits 32 if %ok else %z, %z : i32, i32
  %a = ptx.load_global %p + 0 bits 16 : i16
  %b = ptx.load_global %p + 8 bits 32 if %ok else %z : i32
  %c = ptx.inline "popc.b32 $0, $1;" (%b) meaning %z : (i32) -> i32
  llvm.return
}

// -----

llvm.func @three_words(%p: !llvm.ptr<1>) {
  // expected-error @+1 {{has 3 words, but an access has 1, 2 or 4}}
  %w:3 = ptx.load_global %p + 0 bits 32 : i32, i32, i32
  llvm.return
}

// -----

llvm.func @too_wide(%p: !llvm.ptr<1>) {
  // expected-error @+1 {{moves 32 bytes, but an access has at most 16}}
  %w:4 = ptx.load_global %p + 0 bits 64 : i64, i64, i64, i64
  llvm.return
}

// -----

llvm.func @no_other(%p: !llvm.ptr<1>, %z: i32) {
  // expected-error @+1 {{has a word of type 'i32' for 64 bits}}
  ptx.store_global %z at %p + 0 bits 64 : i32
  llvm.return
}

// -----

llvm.func @missing_other(%p: !llvm.ptr<1>, %ok: i1) {
  // expected-error @+1 {{needs one `else` word for each word under a predicate, and none without}}
  %w = "ptx.load_global"(%p, %ok) <{offset = 0 : i64, bits = 32 : i64, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!llvm.ptr<1>, i1) -> i32
  llvm.return
}

// -----

llvm.func @odd_bits(%p: !llvm.ptr<1>) {
  // expected-error @+1 {{has words of 24 bits, but 8, 16, 32 and 64 exist}}
  %w = ptx.load_global %p + 0 bits 24 : i32
  llvm.return
}
