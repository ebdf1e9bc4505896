// SPDX-License-Identifier: MIT
// Philox4x32-10 against the known answers published with Random123, and the numbering of its fields.
#include "compiler/interpreter/Numerics.h"

#include <catch2/catch.hpp>

#include <cstring>

using namespace tilegym;
using namespace tilegym::interp;

TEST_CASE("Philox4x32-10 known answers") {
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("element c is field c mod (128/bits) of block c div (128/bits)") {
  CHECK(philox(0, 0) == 0x6627e8d5);
  CHECK(philox(0, 3) == 0x9b00dbd8);
  CHECK(philox(0, 0, 16) == 0xe8d5);
  CHECK(philox(0, 1, 16) == 0x6627);
  CHECK(philox(0, 7, 16) == 0x9b00);
  CHECK(philox(0, 0, 8) == 0xd5);
  CHECK(philox(0, 15, 8) == 0x9b);
  // All 64 bits of seed and counter count.
  uint64_t seed = 0x0123456789abcdef, block = 0xfedcba9876543210 / 8;
  PhiloxBlock expected = philox4x32({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0},
                                    {0x89abcdef, 0x01234567});
  CHECK(philox(seed, block * 4 + 2) == expected[2]);
  CHECK(philox(seed, 4) == philox4x32({1, 0, 0, 0}, {0x89abcdef, 0x01234567})[0]);
  CHECK(philoxType(32) == DType::U32);
  CHECK(philoxType(16) == DType::U16);
  CHECK(philoxType(8) == DType::U8);
}

TEST_CASE("uniform is the field scaled to 0 to 1, which is left out") {
  CHECK(uniform(0, 0) == static_cast<float>(0x6627e8d5 >> 8) / 16777216.0f);
  CHECK(uniform(0, 1, 16) == 0x6627 / 65536.0f);
  CHECK(uniform(0, 15, 8) == 0x9b / 256.0f);
  for (uint64_t c = 0; c < 4000; ++c) {
    float value = uniform(7, c, 8);
    REQUIRE((value >= 0 && value < 1));
  }
}

TEST_CASE("a stream gives the same elements in any order") {
  PhiloxStream stream(42, 32);
  for (uint64_t c : {0, 1, 2, 3, 4, 9, 3, 0, 1000})
    CHECK(stream.at(c) == philox(42, c));
}
