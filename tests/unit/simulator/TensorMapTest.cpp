// SPDX-License-Identifier: MIT
// Tensor maps: each rule refused with its text, and boxes walked against plain indexing.
#include "compiler/simulator/TensorBox.h"

#include "catch2/catch.hpp"

#include <cstring>
#include <map>
#include <random>
#include <vector>

using namespace tilegym::sim;

namespace {
TensorMap plain() {
  TensorMap map;
  map.address = 0x10000;
  map.rank = 2;
  map.type = TensorType::BF16;
  map.extents = {100, 30};
  map.strides = {208};
  map.box = {64, 8};
  map.swizzle = Swizzle::B128;
  return map;
}
std::string fault(const std::function<void(TensorMap &)> &change) {
  TensorMap map = plain();
  change(map);
  return tensorMapFault(map).value_or("none");
}
} // namespace

TEST_CASE("what a tensor map may not be", "[tensormap]") {
  CHECK(fault([](TensorMap &) {}) == "none");
  CHECK(fault([](TensorMap &m) { m.rank = 6; }) == "the rank is 6; expected 1 to 5");
  CHECK(fault([](TensorMap &m) { m.address += 8; }) == "the global address modulo 16 is 8; expected 0");
  CHECK(fault([](TensorMap &m) { m.strides[0] = 200; }) ==
        "the stride of dimension 1 is 200; expected a multiple of 16 bytes below 2^40");
  CHECK(fault([](TensorMap &m) { m.strides[0] = uint64_t(1) << 40; }) ==
        "the stride of dimension 1 is 1099511627776; expected a multiple of 16 bytes below 2^40");
  CHECK(fault([](TensorMap &m) { m.extents[1] = 0; }) ==
        "the extent of dimension 1 is 0; expected 1 to 2^32");
  CHECK(fault([](TensorMap &m) { m.extents[1] = uint64_t(1) << 32; }) == "none");
  CHECK(fault([](TensorMap &m) { m.box[1] = 257; }) == "the box of dimension 1 is 257; expected 1 to 256");
  CHECK(fault([](TensorMap &m) { m.elementStrides[1] = 9; }) ==
        "the element stride of dimension 1 is 9; expected 1 to 8");
  CHECK(fault([](TensorMap &m) { m.box[0] = 60; }) ==
        "the box's inner row in bytes is 120; expected a multiple of 16");
  CHECK(fault([](TensorMap &m) { m.box[0] = 72; }) ==
        "the box's inner row in bytes is 144; expected at most the swizzle's 128");
  CHECK(fault([](TensorMap &m) { m.box[0] = 72, m.swizzle = Swizzle::None; }) == "none");
  CHECK(fault([](TensorMap &m) { m.interleave = 1; }) ==
        "the interleave is 1; expected 0 (none), the only one simulated");
  CHECK(fault([](TensorMap &m) { m.type = TensorType::U16, m.fillNaN = true; }) ==
        "the fill of an integer tensor is 1; expected 0 (zero): only floats have NaN");
}

TEST_CASE("tensor maps keep what they were made of", "[tensormap]") {
  TensorMap map = plain();
  map.rank = 5;
  map.extents = {uint64_t(1) << 32, 2, 3, 4, 5};
  map.strides = {16, 32, 48, uint64_t(1) << 39};
  map.box = {8, 2, 3, 4, 5};
  map.elementStrides = {1, 2, 3, 4, 8};
  map.fillNaN = true;
  TensorMapBytes bytes = encodeTensorMap(map);
  TensorMap back = decodeTensorMap(bytes.data()).value();
  CHECK((back.address == map.address && back.rank == 5 && back.extents == map.extents &&
         back.strides == map.strides && back.box == map.box));
  CHECK((back.elementStrides == map.elementStrides && back.fillNaN && back.type == map.type &&
         back.swizzle == map.swizzle));
  TensorMapBytes zeros{};
  CHECK_FALSE(decodeTensorMap(zeros.data()));
}

namespace {
/// Loads the box by walking it and compares with one element at a time, by index arithmetic alone.
void compareWalk(const TensorMap &map, const std::vector<int32_t> &at) {
  REQUIRE_FALSE(tensorMapFault(map));
  constexpr uint64_t base = 0x4000;
  std::map<uint64_t, uint64_t> found; // shared byte -> global byte, 0 for outside
  uint64_t bytes = 0;
  walkBox(map, at, base, [&](const BoxRun &run) {
    bytes += run.bytes;
    for (uint32_t i = 0; i < run.bytes; ++i)
      found[run.shared + i] = run.inside ? run.global + i : 0;
  });
  CHECK(bytes == map.boxBytes());
  CHECK(found.size() == map.boxBytes());
  auto es = uint64_t(map.elementBytes());
  std::array<uint32_t, 5> count{1, 1, 1, 1, 1};
  for (int i = 0; i < map.rank; ++i)
    count[size_t(i)] = map.boxCount(i);
  for (uint32_t i4 = 0; i4 < count[4]; ++i4)
    for (uint32_t i3 = 0; i3 < count[3]; ++i3)
      for (uint32_t i2 = 0; i2 < count[2]; ++i2)
        for (uint32_t i1 = 0; i1 < count[1]; ++i1)
          for (uint32_t i0 = 0; i0 < count[0]; ++i0) {
            std::array<uint32_t, 5> index{i0, i1, i2, i3, i4};
            uint64_t global = map.address;
            bool inside = true;
            for (int d = 0; d < map.rank; ++d) {
              auto dim = size_t(d);
              int64_t c = at[dim] + int64_t(index[dim]) * (d ? map.elementStrides[dim] : 1);
              inside &= c >= 0 && c < int64_t(map.extents[dim]);
              global += uint64_t(c) * (d ? map.strides[dim - 1] : es);
            }
            uint64_t row = ((uint64_t(i4) * count[3] + i3) * count[2] + i2) * count[1] + i1;
            uint64_t shared = swizzled(base + row * map.rowPitch() + i0 * es, map.swizzle);
            REQUIRE(found.at(shared) == (inside ? global : 0));
          }
}
} // namespace

TEST_CASE("boxes of every rank, swizzle and position", "[tensormap]") {
  std::mt19937 random(4);
  TensorType types[] = {TensorType::U8, TensorType::BF16, TensorType::F32, TensorType::F64};
  Swizzle modes[] = {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128};
  for (int i = 0; i < 300; ++i) {
    TensorMap map;
    map.address = 0x100000;
    map.rank = 1 + i % 5;
    map.type = types[random() % 4];
    map.swizzle = modes[random() % 4];
    uint32_t es = uint32_t(map.elementBytes()),
             span = map.swizzle == Swizzle::None ? 128 : uint32_t(map.swizzle);
    uint64_t stride = 16;
    std::vector<int32_t> at;
    for (int d = 0; d < map.rank; ++d) {
      auto dim = size_t(d);
      map.extents[dim] = 1 + random() % 40;
      map.box[dim] = d ? 1 + random() % 6 : (1 + random() % (span / 16)) * 16 / es;
      map.elementStrides[dim] = 1 + random() % 3;
      if (d)
        map.strides[dim - 1] = stride = (stride + 15) / 16 * 16;
      stride = (d ? stride : es) * map.extents[dim] + 16 * (random() % 3);
      at.push_back(int32_t(random() % 50) - 10);
    }
    compareWalk(map, at);
  }
}

TEST_CASE("rows of a swizzled box", "[tensormap]") {
  // A 64 x 8 box of bf16: the chunk of row r moves by XOR with r.
  TensorMap map = plain();
  std::vector<uint64_t> starts;
  walkBox(map, std::vector<int32_t>{0, 0}, 0x400, [&](const BoxRun &run) {
    if (run.inside && (run.global - map.address) % 208 == 32)
      starts.push_back(run.shared);
  });
  REQUIRE(starts.size() == 8);
  for (uint64_t r = 0; r < 8; ++r)
    CHECK(starts[r] == 0x400 + r * 128 + ((2 ^ r) << 4));
}

TEST_CASE("what lies outside is nought or NaN", "[tensormap]") {
  TensorMap map = plain();
  std::byte bytes[8];
  fillOutside(map, bytes, 8);
  CHECK(std::memcmp(bytes, "\0\0\0\0\0\0\0\0", 8) == 0);
  map.fillNaN = true;
  fillOutside(map, bytes, 8);
  CHECK(std::memcmp(bytes, "\xF7\x7F\xF7\x7F\xF7\x7F\xF7\x7F", 8) == 0);
}
