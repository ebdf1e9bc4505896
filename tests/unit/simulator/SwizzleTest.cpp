// SPDX-License-Identifier: MIT
// Swizzles and wgmma descriptors against worked values, and against independent formulas for whole tiles.
#include "compiler/simulator/MatrixDescriptor.h"
#include "tests/unit/simulator/TileOffsets.h"

#include "catch2/catch.hpp"

#include <set>

using namespace tilegym::sim;

TEST_CASE("swizzles exchange chunks by row", "[swizzle]") {
  for (uint64_t address = 0; address < 4096; ++address) {
    auto bits = [&](int high, int low) { return address >> low & ((1u << (high - low + 1)) - 1); };
    CHECK(swizzled(address, Swizzle::None) == address);
    CHECK(swizzled(address, Swizzle::B128) == (address ^ bits(9, 7) << 4));
    CHECK(swizzled(address, Swizzle::B64) == (address ^ bits(8, 7) << 4));
    CHECK(swizzled(address, Swizzle::B32) == (address ^ bits(7, 7) << 4));
    for (Swizzle mode : {Swizzle::B32, Swizzle::B64, Swizzle::B128})
      CHECK(swizzled(swizzled(address, mode), mode) == address);
    // A pattern that starts at 128 * base looks, from there, as one that starts at nought.
    for (uint32_t base = 0; base < 8; ++base)
      CHECK(swizzled(address + base * 128, Swizzle::B128, base) - base * 128 ==
            (swizzled(address, Swizzle::B128)));
  }
}

TEST_CASE("descriptors, worked values", "[descriptor]") {
  auto same = [](const MatrixDescriptor &descriptor, uint64_t bits) {
    CHECK(encodeDescriptor(descriptor) == bits);
    CHECK(decodeDescriptor(bits) == descriptor);
    CHECK_FALSE(descriptorFault(bits));
    CHECK_FALSE(alignmentFault(descriptor));
  };
  same({0x1000, 16, 1024, 0, Swizzle::B128}, 0x4000004000010100);
  same({0x1020, 16, 1024, 0, Swizzle::B128}, 0x4000004000010102);
  same({0x3000, 16, 1024, 0, Swizzle::B128}, 0x4000004000010300);
  same({0x8000, 8192, 1024, 0, Swizzle::B128}, 0x4000004002000800);
  same({0x8800, 8192, 1024, 0, Swizzle::B128}, 0x4000004002000880);
  same({0x400, 16, 512, 0, Swizzle::B64}, 0x8000002000010040);
  same({0x400, 16, 256, 0, Swizzle::B32}, 0xC000001000010040);
  same({0x480, 16, 1024, 1, Swizzle::B128}, 0x4002004000010048);
}

TEST_CASE("descriptors with faults", "[descriptor]") {
  CHECK(*descriptorFault(uint64_t(1) << 14 | uint64_t(1) << 52) ==
        "descriptor 0x10000000004000 has reserved bits 0x10000000004000 set; only the start, leading, "
        "stride, base offset and swizzle fields may be");
  CHECK(*alignmentFault({0x1180, 16, 1024, 0, Swizzle::B128}) ==
        "start address 0x1180 lies in row 3 of the 128-byte swizzle pattern (base offset 0); it must lie in "
        "row 0: align the tile to 1024 bytes");
  CHECK(alignmentFault({0x1100, 16, 512, 0, Swizzle::B64}));
  CHECK(alignmentFault({0x1080, 16, 256, 0, Swizzle::B32}));
  CHECK_FALSE(alignmentFault({0x1010, 16, 128, 0, Swizzle::None}));
  CHECK_FALSE(alignmentFault({0x1180, 16, 1024, 3, Swizzle::B128}));
}

TEST_CASE("K-major operands of all swizzles and element sizes", "[descriptor]") {
  for (uint32_t span : {128u, 64u, 32u})
    for (uint32_t es : {1u, 2u, 4u})
      for (uint32_t step = 0; step < span / 32; ++step) { // 32 bytes of k each
        MatrixDescriptor descriptor{0x2000 + 32 * step, 16, 8 * span, 0, Swizzle(span)};
        CHECK_FALSE(alignmentFault(descriptor));
        for (uint32_t r = 0; r < 64; ++r)
          for (uint32_t k = 0; k < 32 / es; ++k)
            CHECK(elementAddress(descriptor, Major::K, int(r), int(k), int(es)) ==
                  0x2000 + kMajorOffset(r, k + step * (32 / es), 64, es, span));
      }
}

TEST_CASE("MN-major operands of all swizzles", "[descriptor]") {
  constexpr uint32_t depth = 64;
  for (uint32_t span : {128u, 64u, 32u})
    for (uint32_t step = 0; step < depth / 16; ++step) {
      MatrixDescriptor descriptor{0x2000 + 2 * step * 8 * span, depth * span, 8 * span, 0, Swizzle(span)};
      CHECK_FALSE(alignmentFault(descriptor));
      for (uint32_t mn = 0; mn < 256; ++mn)
        for (uint32_t k = 0; k < 16; ++k)
          CHECK(elementAddress(descriptor, Major::MN, int(mn), int(k), 2) ==
                0x2000 + mnMajorOffset(mn, k + 16 * step, depth, span));
    }
}

TEST_CASE("operands without swizzle", "[descriptor]") {
  // Columns of 16 bytes, each all rows long: LBO = rows * 16, SBO = 128.
  MatrixDescriptor columns{0x400, 64 * 16, 128, 0, Swizzle::None};
  for (uint32_t r = 0; r < 64; ++r)
    for (uint32_t k = 0; k < 16; ++k)
      CHECK(elementAddress(columns, Major::K, int(r), int(k), 2) ==
            0x400 + k / 8 * 64 * 16 + r * 16 + k % 8 * 2);
  // MN-major: rows of 8 elements along MN, 16 k deep: SBO from one 8 of MN to the next, LBO to the next 8 of k.
  MatrixDescriptor rows{0x400, 128, 256, 0, Swizzle::None};
  std::set<uint32_t> seen;
  for (uint32_t mn = 0; mn < 64; ++mn)
    for (uint32_t k = 0; k < 16; ++k) {
      uint32_t address = elementAddress(rows, Major::MN, int(mn), int(k), 2);
      CHECK(address == 0x400 + mn / 8 * 256 + k / 8 * 128 + k % 8 * 16 + mn % 8 * 2);
      seen.insert(address);
    }
  CHECK(seen.size() == 64 * 16);
}
