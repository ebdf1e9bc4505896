// SPDX-License-Identifier: MIT
// Atomics: literal values of each kind and type, floats rounded once.
#include "compiler/simulator/MemoryReduction.h"
#include "tests/unit/simulator/TestKernel.h"

using namespace tilegym::sim;
using Catch::Contains;

namespace {

struct Outcome {
  uint64_t old, now;
  bool operator==(const Outcome &) const = default;
};

/// One `atomic` of a kind on a word of global memory that holds `before`.
Outcome atomic(int64_t kind, uint8_t type, uint64_t before, uint64_t value, bool predicate = true) {
  Run run;
  Op op("atomic", {.attributes = {kind, 0, 2}, .operands = {i64, type, i1}, .results = {type}});
  uint64_t address = run.put<uint64_t>({before}), old = 0;
  requireClean(run({}, [&] { old = op({address, value, predicate}); }));
  return {old, run.at<uint64_t>(address)};
}

uint64_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }

} // namespace

TEST_CASE("Atomics of integers") {
  REQUIRE(atomic(0, i32, 5, 0xFFFFFFFF) == Outcome{5, 4});
  REQUIRE(atomic(0, i64, 5, uint64_t(-7)) == Outcome{5, uint64_t(-2)});
  REQUIRE(atomic(2, i32, 5, 0xFFFFFFFF) == Outcome{5, 0xFFFFFFFF}); // signed minimum
  REQUIRE(atomic(3, i32, 5, 0xFFFFFFFF) == Outcome{5, 5});
  REQUIRE(atomic(4, i32, 5, 0xFFFFFFFF) == Outcome{5, 5});
  REQUIRE(atomic(5, i32, 5, 0xFFFFFFFF) == Outcome{5, 0xFFFFFFFF});
  REQUIRE(atomic(2, i64, 5, uint64_t(-1)) == Outcome{5, uint64_t(-1)});
  REQUIRE(atomic(5, i64, uint64_t(-1), 5) == Outcome{uint64_t(-1), uint64_t(-1)});
  REQUIRE(atomic(6, i32, 12, 10) == Outcome{12, 8});
  REQUIRE(atomic(7, i32, 12, 10) == Outcome{12, 14});
  REQUIRE(atomic(8, i32, 12, 10) == Outcome{12, 6});
  REQUIRE(atomic(9, i32, 12, 10) == Outcome{12, 10});
  REQUIRE(atomic(9, i64, 12, uint64_t(10) << 40) == Outcome{12, uint64_t(10) << 40});
}

TEST_CASE("Atomics of floats round once, and global f32 sums flush") {
  REQUIRE(atomic(1, f32, bitsOf(1.5f), bitsOf(0.25f)) == Outcome{bitsOf(1.5f), bitsOf(1.75f)});
  REQUIRE(atomic(1, f32, bitsOf(1e-40f), 0) == Outcome{bitsOf(1e-40f), 0});
  REQUIRE(atomic(1, f32, bitsOf(INFINITY), bitsOf(-INFINITY)).now == 0x7FFFFFFF);
  REQUIRE(atomic(1, f64, std::bit_cast<uint64_t>(0.1), std::bit_cast<uint64_t>(0.2)).now ==
          std::bit_cast<uint64_t>(0.1 + 0.2));
  // 2048 + 1 is halfway between two f16 values: the even one. 2048 + 3 is halfway too.
  REQUIRE(atomic(1, f16, 0x6800, 0x3C00) == Outcome{0x6800, 0x6800});
  REQUIRE(atomic(1, f16, 0x6800, 0x4200) == Outcome{0x6800, 0x6802});
  REQUIRE(atomic(1, f16, 0x0001, 0x0001) == Outcome{0x0001, 0x0002}); // subnormals stay
  REQUIRE(atomic(1, f16, 0x7C00, 0xFC00) == Outcome{0x7C00, 0x7FFF});
  REQUIRE(atomic(1, bf16, 0x3F80, 0x3B80) == Outcome{0x3F80, 0x3F80}); // 1 + 2^-8: halfway, to even
  REQUIRE(atomic(1, bf16, 0x3F81, 0x3B80) == Outcome{0x3F81, 0x3F82});
}

TEST_CASE("Shared f32 sums keep subnormals") {
  Run run;
  Op op("atomic", {.attributes = {1, 0, 0}, .operands = {i64, f32, i1}, .results = {f32}});
  Store<uint32_t> store;
  Load<uint32_t> load;
  requireClean(run({.sharedBytes = 4}, [&] {
    store(shared(), 3);
    op({shared(), 2, 1});
    REQUIRE(load(shared()) == 5);
  }));
}

TEST_CASE("A false predicate touches nothing") {
  REQUIRE(atomic(0, i32, 5, 1, false).now == 5);
  Run run;
  Op swap("atomic_cas", {.attributes = {0, 2}, .operands = {i64, i32, i32, i1}, .results = {i32}});
  requireClean(run({}, [&] { swap({0, 0, 0, 0}); }));
}

TEST_CASE("Compare and swap") {
  Run run;
  Op swap16("atomic_cas", {.attributes = {0, 2}, .operands = {i64, i16, i16, i1}, .results = {i16}});
  Op swap64("atomic_cas", {.attributes = {0, 2}, .operands = {i64, i64, i64}, .results = {i64}});
  uint64_t x = run.put<uint64_t>({0x1111222233334444});
  requireClean(run({}, [&] {
    REQUIRE(swap16({x + 2, 0x3333, 0xAAAA, 1}) == 0x3333);
    REQUIRE(swap16({x + 2, 0x3333, 0xBBBB, 1}) == 0xAAAA);
    REQUIRE(swap64({x, 0x11112222AAAA4444, 7}) == 0x11112222AAAA4444);
  }));
  REQUIRE(run.at<uint64_t>(x) == 7);
}

TEST_CASE("Reductions of neighbouring words") {
  Run run;
  Op pairs("atomic_reduce",
           {.attributes = {0, 4, 0, 2}, .operands = {i64, i32, i32}, .segments = {1, 2, 0}}); // add f16x2
  Op floats("atomic_reduce",
            {.attributes = {0, 6, 0, 2}, .operands = {i64, f32, f32, i1}, .segments = {1, 2, 1}}); // add f32
  Op largest("atomic_reduce",
             {.attributes = {2, 5, 0, 2}, .operands = {i64, i32}, .segments = {1, 1, 0}}); // max bf16x2
  Op wrap("atomic_reduce",
          {.attributes = {3, 0, 0, 2}, .operands = {i64, i32}, .segments = {1, 1, 0}}); // inc u32
  uint64_t x = run.put<uint32_t>(
      {0x3C004000, 0x00000000, std::bit_cast<uint32_t>(1.0f), std::bit_cast<uint32_t>(2.0f), 0xBF803F80, 3});
  requireClean(run({}, [&] {
    pairs({x, 0x3C003C00, 0x40003C00});
    floats({x + 8, bitsOf(0.5f), bitsOf(0.25f), 1});
    floats({x + 8, bitsOf(0.5f), bitsOf(0.25f), 0});
    largest({x + 16, 0x40004000});
    wrap({x + 20, 3});
  }));
  REQUIRE(run.at<uint32_t>(x, 0) == 0x40004200);
  REQUIRE(run.at<uint32_t>(x, 1) == 0x40003C00);
  REQUIRE(run.at<float>(x, 2) == 1.5f);
  REQUIRE(run.at<float>(x, 3) == 2.25f);
  REQUIRE(run.at<uint32_t>(x, 4) == 0x40004000);
  REQUIRE(run.at<uint32_t>(x, 5) == 0);
}

TEST_CASE("Reductions by kind") {
  auto u32 = [](ReduceKind kind, uint64_t old, uint64_t value) {
    return *reduced(kind, ElementType::U32, old, value, false);
  };
  REQUIRE(u32(ReduceKind::Inc, 2, 3) == 3);
  REQUIRE(u32(ReduceKind::Inc, 3, 3) == 0);
  REQUIRE(u32(ReduceKind::Dec, 0, 9) == 9);
  REQUIRE(u32(ReduceKind::Dec, 12, 9) == 9);
  REQUIRE(u32(ReduceKind::Dec, 5, 9) == 4);
  REQUIRE(*reduced(ReduceKind::Min, ElementType::S32, 5, 0xFFFFFFFE, false) == 0xFFFFFFFE);
  REQUIRE(*reduced(ReduceKind::Min, ElementType::S64, 5, uint64_t(-2), false) == uint64_t(-2));
  REQUIRE(*reduced(ReduceKind::Max, ElementType::U64, 5, uint64_t(-2), false) == uint64_t(-2));
  REQUIRE(*reduced(ReduceKind::Min, ElementType::F16, 0x7FFF, 0x3C00, false) == 0x3C00); // NaN gives way
  REQUIRE(*reduced(ReduceKind::Max, ElementType::F16, 0x3C00, 0x7E00, false) == 0x3C00);
  REQUIRE(*reduced(ReduceKind::Min, ElementType::F16, 0x0000, 0x8000, false) == 0x8000);
  REQUIRE(*reduced(ReduceKind::Max, ElementType::F16, 0x8000, 0x0000, false) == 0x0000);
  REQUIRE_FALSE(reduced(ReduceKind::Xor, ElementType::F16, 0, 0, false));
  REQUIRE_FALSE(reduced(ReduceKind::Min, ElementType::F32, 0, 0, false));
}

TEST_CASE("A kind that the type does not have is refused") {
  Run run;
  Op op("atomic",
        {.attributes = {1, 0, 2}, .operands = {i64, i32, i1}, .results = {i32}}); // a float sum of integers
  uint64_t x = run.put<uint32_t>({0});
  REQUIRE_THAT(only(run({}, [&] { op({x, 0, 1}); }), FindingKind::BadOperand),
               Contains("carries out an atomic of a kind that there is not for its type"));
}
