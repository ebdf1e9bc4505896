// SPDX-License-Identifier: MIT
// The dtype table against the facts of language.md and of the formats' definitions.
#include "compiler/semantics/DType.h"

#include <catch2/catch.hpp>

using namespace tilegym;

TEST_CASE("names print and parse back") {
  for (DType type : allDTypes)
    CHECK(parseDType(name(type)) == type);
  CHECK(!parseDType("tf32"));
  CHECK(!parseDType("F32"));
  CHECK(!parseDType(""));
  CHECK(name(DType::F8E4M3) == "f8e4m3");
}

TEST_CASE("each dtype is one kind") {
  for (DType type : allDTypes)
    CHECK(isFloat(type) + isSigned(type) + isUnsigned(type) + isBool(type) == 1);
  CHECK(isInt(DType::Index));
  CHECK(!isStorage(DType::Index));
  CHECK(!isInt(DType::Bool));
}

TEST_CASE("float formats fill their storage") {
  for (DType type : allDTypes)
    if (isFloat(type))
      CHECK(floatFormat(type).totalBits() == int(sizeInBits(type)));
  CHECK(floatFormat(DType::F16).maxExponent() == 15);
  CHECK(floatFormat(DType::F8E4M3).maxExponent() == 8);
  CHECK(floatFormat(DType::F8E4M3).minExponent() == -6);
  CHECK(floatFormat(DType::F8E5M2).maxExponent() == 15);
  CHECK(floatFormat(DType::BF16).minExponent() == -126);
  CHECK(tf32Format.precision() == 11);
}

TEST_CASE("integer ranges") {
  CHECK(minInt(DType::I8) == -128);
  CHECK(maxInt(DType::I8) == 127);
  CHECK(maxInt(DType::U16) == 65535);
  CHECK(minInt(DType::Index) == INT64_MIN);
  CHECK(maxInt(DType::Index) == uint64_t(INT64_MAX));
  CHECK(maxInt(DType::U64) == UINT64_MAX);
  CHECK(maxInt(DType::Bool) == 1);
  CHECK(minInt(DType::U32) == 0);
}

TEST_CASE("fitsIn says which conversions lose nothing") {
  CHECK(fitsIn(DType::F16, DType::F32));
  CHECK(fitsIn(DType::BF16, DType::F32));
  CHECK(!fitsIn(DType::F16, DType::BF16));
  CHECK(!fitsIn(DType::BF16, DType::F16));
  CHECK(fitsIn(DType::F8E5M2, DType::F16));
  CHECK(fitsIn(DType::F8E4M3, DType::F16));
  CHECK(!fitsIn(DType::F8E5M2, DType::F8E4M3));
  CHECK(fitsIn(DType::U8, DType::I16));
  CHECK(!fitsIn(DType::U32, DType::I32));
  CHECK(!fitsIn(DType::I8, DType::U64));
  CHECK(fitsIn(DType::I16, DType::F32));
  CHECK(!fitsIn(DType::I32, DType::F32));
  CHECK(fitsIn(DType::U32, DType::F64));
  CHECK(!fitsIn(DType::F32, DType::I64));
}
