// SPDX-License-Identifier: MIT
// Scalars in memory and in expressions: every bit pattern of the small floats, and their rounding against the interpreter's.
#include "runtime/src/ScalarBits.h"
#include "compiler/interpreter/NumericsFloat.h"
#include "tests/unit/runtime/Calls.h"
#include <cmath>
#include <random>

using namespace tilegym;
using namespace tilegym::testing;
using runtime::Cell;
using runtime::readScalar;
using runtime::scalarBits;

TEST_CASE("every f16, bf16 and f8 comes back, and rounds as the interpreter rounds") {
  std::mt19937_64 random(3);
  for (tilegym::DType dtype :
       {tilegym::DType::F16, tilegym::DType::BF16, tilegym::DType::F8E4M3, tilegym::DType::F8E5M2}) {
    uint8_t number = uint8_t(dtype);
    uint32_t patterns = 1u << (8 * format::bytesOf(format::DType(number)));
    for (uint32_t bits = 0; bits < patterns; ++bits) {
      Cell cell = readScalar(&bits, number);
      if (std::isnan(cell.f)) {
        uint64_t back = scalarBits(cell, number);
        REQUIRE(std::isnan(readScalar(&back, number).f));
      } else if (!std::isinf(cell.f)) {
        REQUIRE(scalarBits(cell, number) == bits);
      }
    }
    for (int i = 0; i < 20000; ++i) {
      uint64_t bits = random();
      Cell cell;
      // Around the dtype's range, and now and then anywhere.
      if (i % 4)
        cell.f = std::ldexp(double(int64_t(bits)) / 9e18, int(random() % 60) - 40);
      else
        std::memcpy(&cell.f, &bits, 8);
      if (std::isnan(cell.f))
        continue;
      INFO(cell.f);
      REQUIRE(scalarBits(cell, number) == interp::encodeDouble(floatFormat(dtype), cell.f,
                                                               sem::Rounding::NearestEven,
                                                               interp::saturatesByDefault(dtype)));
    }
  }
}

TEST_CASE("scalars are read by their own size") {
  struct {
    uint8_t dtype;
    int64_t value;
  } rows[] = {{uint8_t(format::DType::I8), -1},  {uint8_t(format::DType::U8), 255},
              {uint8_t(format::DType::I16), -1}, {uint8_t(format::DType::U16), 65535},
              {uint8_t(format::DType::I32), -1}, {uint8_t(format::DType::U32), 4294967295},
              {uint8_t(format::DType::I64), -1}, {uint8_t(format::DType::U64), -1},
              {uint8_t(format::DType::Bool), 1}};
  for (auto row : rows) {
    // Exactly as many bytes as the dtype has, so that reading more is seen by a sanitizer.
    std::vector<unsigned char> bytes(size_t(format::bytesOf(format::DType(row.dtype))), 0xff);
    CHECK(readScalar(bytes.data(), row.dtype).i == row.value);
  }
  double d = 0.1;
  float f = 0.1f;
  CHECK(readScalar(&d, F64).f == 0.1);
  CHECK(readScalar(&f, F32).f == double(0.1f));
  Cell cell;
  cell.f = 0.1;
  CHECK(scalarBits(cell, F32) == 0x3dcccccd);
  CHECK(scalarBits(cell, F64) == 0x3fb999999999999a);
}
