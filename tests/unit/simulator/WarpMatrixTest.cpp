// SPDX-License-Identifier: MIT
// ldmatrix, stmatrix and mma.sync against plain loops.
#include "compiler/simulator/MatrixFragment.h"
#include "tests/unit/simulator/SmallMatrix.h"
#include "tests/unit/simulator/TestKernel.h"

using namespace tilegym::sim;

TEST_CASE("matrices from and to shared memory", "[warpmatrix]") {
  for (bool transposed : {false, true})
    for (uint32_t count : {1u, 2u, 4u}) {
      std::vector<uint8_t> words(count, i32), storeTypes = words;
      storeTypes.push_back(i64);
      Op load("load_matrix", {.attributes = {transposed}, .operands = {i64}, .results = words});
      Op store("store_matrix", {.attributes = {transposed}, .operands = storeTypes});
      Op sync("warp_barrier");
      Store<uint16_t> write;
      Load<uint16_t> read;
      Run run;
      requireClean(run({.block = {32}, .sharedBytes = 4096}, [&] {
        // Rows 48 bytes apart, so that neither is contiguous.
        for (uint32_t i = thread(); i < 64 * count; i += 32)
          write(shared(i / 8 * 48 + i % 8 * 2), uint16_t(i));
        sync();
        uint64_t row = thread() < 8 * count ? shared(thread() * 48) : 0;
        auto got = load.all({row});
        for (uint32_t m = 0; m < count; ++m)
          for (int e = 0; e < 2; ++e) {
            Place place = matrixPlace(int(thread()), e, transposed);
            if ((got[m] >> 16 * e & 0xFFFF) != m * 64 + uint32_t(place.row) * 8 + uint32_t(place.column))
              throw std::runtime_error("load_matrix");
          }
        std::vector<uint64_t> operands(got.begin(), got.begin() + count);
        operands.push_back(row ? row + 2048 : 0);
        store.all(operands);
        sync();
        for (uint32_t i = thread(); i < 64 * count; i += 32)
          if (read(shared(2048 + i / 8 * 48 + i % 8 * 2)) != i)
            throw std::runtime_error("store_matrix");
      }));
    }
}

TEST_CASE("bank conflicts of matrix rows", "[warpmatrix]") {
  Op load("load_matrix", {.attributes = {0}, .operands = {i64}, .results = {i32, i32, i32, i32}});
  Op store("store_matrix", {.attributes = {0}, .operands = {i32, i32, i32, i32, i64}});
  for (bool swizzled : {false, true}) {
    Run run;
    Report report = run({.block = {32}, .sharedBytes = 4096, .countTraffic = true}, [&] {
      uint32_t row = thread(), chunk = swizzled ? row & 7 : 0; // rows of 128 bytes
      uint64_t address = shared(row * 128 + chunk * 16);
      store({1, 2, 3, 4, address});
      load({address});
    });
    requireClean(report);
    REQUIRE(report.traffic.size() == 2);
    for (const Traffic &traffic : report.traffic) {
      CHECK((traffic.isShared && traffic.requests == 1 && traffic.ideal == 4));
      CHECK(traffic.done == (swizzled ? 4 : 32));
    }
  }
}

TEST_CASE("misplaced rows", "[warpmatrix]") {
  Op load("load_matrix", {.attributes = {0}, .operands = {i64}, .results = {i32}});
  Store<uint32_t> write;
  Run run;
  CHECK(only(run({.block = {32}, .sharedBytes = 1024}, [&] { load({shared(thread() * 16 + 8)}); }),
             FindingKind::Misaligned)
            .find("not a multiple of 16") != std::string::npos);
  CHECK(only(run({.block = {16}, .sharedBytes = 1024}, [&] { load({shared(thread() * 16)}); }),
             FindingKind::BadOperand) ==
        "block 0 thread 0 carries out load_matrix in a warp of fewer than 32 threads " + at(load.line()));
}

namespace {

void product(ElementType a, ElementType b, ElementType sum, int k) {
  INFO(name(a) << " " << name(b) << " " << name(sum) << " k " << k);
  int bytes = elementBytes(a), word = 4 / bytes, aWords = k * bytes / 8,
      sums = sum == ElementType::F16 ? 2 : 4;
  SmallMatrix left(16, k, 1, a == ElementType::U8), right(8, k, 2, b == ElementType::U8), start(16, 8, 3);
  uint8_t sumType = sum == ElementType::F32 ? f32 : i32;
  std::vector<uint8_t> types(size_t(aWords + aWords / 2), i32);
  types.insert(types.end(), size_t(sums), sumType);
  Op mma("mma", {.attributes = {k, int64_t(a), int64_t(b), int64_t(sum), 0},
                 .operands = types,
                 .results = std::vector<uint8_t>(size_t(sums), sumType),
                 .segments = {aWords, aWords / 2, sums}});
  Run run;
  requireClean(run({.block = {32}}, [&] {
    int lane = int(thread());
    std::vector<uint64_t> operands;
    for (int r = 0; r < aWords; ++r)
      operands.push_back(
          packed(word, [&](int e) { return left.bits(a, operandAPlace(0, lane, r, e, bytes)); }));
    for (int r = 0; r < aWords / 2; ++r)
      operands.push_back(packed(word, [&](int e) {
        Place place = operandBPlace(lane, r, e, bytes);
        return right.bits(b, {place.column, place.row});
      }));
    for (int r = 0; r < sums; ++r)
      operands.push_back(packed(
          4 / sums, [&](int e) { return start.bits(sum, accumulatorPlace(0, lane, r * 4 / sums + e)); }));
    auto got = mma.all(operands);
    for (int r = 0; r < sums; ++r)
      if (got[size_t(r)] != packed(4 / sums, [&](int e) {
            Place place = accumulatorPlace(0, lane, r * 4 / sums + e);
            return elementBits(sum, start.at(place) + dot(left, place.row, right, place.column));
          }))
        throw std::runtime_error("a sum differs");
  }));
}

} // namespace

TEST_CASE("mma.sync in every type and shape", "[warpmatrix]") {
  using T = ElementType;
  for (int k : {8, 16}) {
    product(T::F16, T::F16, T::F32, k);
    product(T::F16, T::F16, T::F16, k);
    product(T::BF16, T::BF16, T::F32, k);
    product(T::TF32, T::TF32, T::F32, k / 2);
  }
  for (T a : {T::S8, T::U8})
    for (T b : {T::S8, T::U8})
      for (int k : {16, 32})
        product(a, b, T::S32, k);
  for (T a : {T::E4M3, T::E5M2})
    for (T b : {T::E4M3, T::E5M2})
      product(a, b, T::F32, 32);
}

TEST_CASE("mma.sync that does not exist", "[warpmatrix]") {
  Op mma("mma", {.attributes = {32, int64_t(ElementType::BF16), int64_t(ElementType::BF16),
                                int64_t(ElementType::F32), 0},
                 .operands = {i32},
                 .segments = {8, 4, 4}});
  Run run;
  CHECK(only(run({.block = {32}}, [&] { mma(); }), FindingKind::BadOperand)
            .find("multiplies bf16 by bf16 with k 32, which mma.sync cannot " + at(mma.line())) !=
        std::string::npos);
}
