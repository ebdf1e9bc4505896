// SPDX-License-Identifier: MIT
// Constants folded by semantics and values computed by the interpreter are the same bits: every elementwise operation, on every dtype
// it takes, over values at the edges.
#include "compiler/interpreter/Numerics.h"
#include "compiler/semantics/ConstFold.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

using namespace tilegym;

namespace {

struct Element {
  alignas(8) uint8_t bytes[8] = {};
};

/// A constant as the interpreter stores an element of the dtype.
Element store(DType type, const sem::Constant &c) {
  Element in, out;
  if (isFloat(type)) {
    double v = c.asFloat();
    std::memcpy(in.bytes, &v, 8);
    interp::convert(DType::F64, {in.bytes, 1}, type, out.bytes, 1);
  } else {
    int64_t v = c.asInt();
    std::memcpy(in.bytes, &v, 8);
    interp::convert(type == DType::U64 ? DType::U64 : DType::I64, {in.bytes, 1}, type, out.bytes, 1);
  }
  return out;
}

std::vector<sem::Constant> edges(DType type) {
  std::vector<sem::Constant> values;
  if (isBool(type))
    return {sem::Constant{false}, sem::Constant{true}};
  if (isFloat(type)) {
    for (double v : {0.0, -0.0, 1.0, -1.0, 0.1, -2.5, 3.0, 1e-7, 60000.0, -448.0, 1e30,
                     std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                     std::numeric_limits<double>::quiet_NaN()})
      values.push_back(sem::Constant{sem::roundToDType(v, type)});
    return values;
  }
  for (int64_t v : {int64_t(0), int64_t(1), int64_t(-1), int64_t(2), int64_t(-2), int64_t(3), int64_t(7),
                    int64_t(-7), int64_t(31), int64_t(64), int64_t(100), minInt(type), minInt(type) + 1,
                    int64_t(maxInt(type)), int64_t(maxInt(type)) - 1})
    values.push_back(sem::Constant{sem::wrapToDType(v, type)});
  return values;
}

bool same(DType type, const Element &a, const Element &b) {
  if (isFloat(type)) {
    double x = interp::toDouble(type, a.bytes), y = interp::toDouble(type, b.bytes);
    return std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y);
  }
  return std::memcmp(a.bytes, b.bytes, sizeInBytes(type)) == 0;
}

struct BinaryRow {
  sem::Op op;
  interp::BinaryOp interpreter;
  const char *name;
};
const BinaryRow binaries[] = {
    {sem::Op::Add, interp::BinaryOp::Add, "+"},
    {sem::Op::Sub, interp::BinaryOp::Sub, "-"},
    {sem::Op::Mul, interp::BinaryOp::Mul, "*"},
    {sem::Op::Div, interp::BinaryOp::Div, "/"},
    {sem::Op::FloorDiv, interp::BinaryOp::FloorDiv, "//"},
    {sem::Op::Mod, interp::BinaryOp::Mod, "%"},
    {sem::Op::Pow, interp::BinaryOp::Pow, "**"},
    {sem::Op::Min, interp::BinaryOp::Min, "min"},
    {sem::Op::Max, interp::BinaryOp::Max, "max"},
    {sem::Op::FMin, interp::BinaryOp::FMin, "fmin"},
    {sem::Op::FMax, interp::BinaryOp::FMax, "fmax"},
    {sem::Op::And, interp::BinaryOp::And, "&"},
    {sem::Op::Or, interp::BinaryOp::Or, "|"},
    {sem::Op::Xor, interp::BinaryOp::Xor, "^"},
    {sem::Op::Shl, interp::BinaryOp::Shl, "<<"},
    {sem::Op::Shr, interp::BinaryOp::Shr, ">>"},
    {sem::Op::CDiv, interp::BinaryOp::CDiv, "cdiv"},
};

struct UnaryRow {
  sem::Op op;
  interp::UnaryOp interpreter;
  const char *name;
};
const UnaryRow unaries[] = {
    {sem::Op::Neg, interp::UnaryOp::Neg, "-"},
    {sem::Op::Abs, interp::UnaryOp::Abs, "abs"},
    {sem::Op::Sqrt, interp::UnaryOp::Sqrt, "sqrt"},
    {sem::Op::Floor, interp::UnaryOp::Floor, "floor"},
    {sem::Op::Ceil, interp::UnaryOp::Ceil, "ceil"},
    {sem::Op::Round, interp::UnaryOp::Round, "round"},
    {sem::Op::Trunc, interp::UnaryOp::Trunc, "trunc"},
    {sem::Op::Pow2Ceil, interp::UnaryOp::Pow2Ceil, "pow2ceil"},
};

/// f8 has no arithmetic, and index is exact where the interpreter's fixed-width loops wrap.
bool compared(DType type) { return type != DType::F8E4M3 && type != DType::F8E5M2 && !isIndex(type); }

} // namespace

TEST_CASE("folding agrees with the interpreter on binary operations") {
  size_t count = 0;
  for (DType type : allDTypes)
    for (const BinaryRow &row : binaries)
      for (const sem::Constant &a : edges(type))
        for (const sem::Constant &b : edges(type)) {
          if (!compared(type))
            continue;
          sem::Folded folded = sem::foldBinary(row.op, type, a, b);
          if (!folded)
            continue; // no such operation, or division by zero
          Element x = store(type, a), y = store(type, b), z;
          INFO(name(type) << ": " << toString(a, type) << " " << row.name << " " << toString(b, type)
                          << " folded to " << toString(*folded.value, type));
          REQUIRE(interp::binary(row.interpreter, type, {x.bytes, 1}, {y.bytes, 1}, z.bytes, 1));
          // The library's pow of f64 may differ in its last bit from call to call site; narrower dtypes round it away.
          if (row.op == sem::Op::Pow && type == DType::F64)
            continue;
          CHECK(same(type, store(type, *folded.value), z));
          ++count;
        }
  CHECK(count > 20000);
}

TEST_CASE("folding agrees with the interpreter on unary operations") {
  size_t count = 0;
  for (DType type : allDTypes)
    for (const UnaryRow &row : unaries)
      for (const sem::Constant &a : edges(type)) {
        sem::Folded folded = compared(type) ? sem::foldUnary(row.op, type, a) : sem::Folded{};
        if (!folded)
          continue;
        Element x = store(type, a), z;
        INFO(name(type) << ": " << row.name << "(" << toString(a, type) << ") folded to "
                        << toString(*folded.value, type));
        REQUIRE(interp::unary(row.interpreter, type, {x.bytes, 1}, z.bytes, 1));
        CHECK(same(type, store(type, *folded.value), z));
        ++count;
      }
  CHECK(count > 500);
}

TEST_CASE("folding agrees with the interpreter on conversions") {
  size_t count = 0;
  for (DType from : allDTypes)
    for (DType to : allDTypes)
      for (const sem::Constant &a : edges(from)) {
        Element x = store(from, a), z;
        interp::convert(from, {x.bytes, 1}, to, z.bytes, 1);
        sem::Folded folded = sem::foldConvert(from, to, a);
        REQUIRE(folded);
        INFO(name(to) << "(" << toString(a, from) << " of " << name(from) << ") folded to "
                      << toString(*folded.value, to));
        CHECK(same(to, store(to, *folded.value), z));
        ++count;
      }
  CHECK(count > 3000);
}
