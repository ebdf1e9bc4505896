// SPDX-License-Identifier: MIT
// Conversions with a rounding mode, by the interpreter's numerics, which round every pair of types once.
#include "compiler/interpreter/NumericsConvert.h"
#include "compiler/simulator/Instructions.h"
#include "compiler/simulator/MatrixElement.h"
#include "compiler/simulator/MemoryReduction.h"
#include <cmath>
#include <optional>

namespace tilegym::sim {
namespace {

DType dtypeOf(uint8_t type, bool isUnsigned) {
  switch (type) {
  case Site::f16Type:
    return DType::F16;
  case Site::bf16Type:
    return DType::BF16;
  case Site::f32Type:
    return DType::F32;
  case Site::f64Type:
    return DType::F64;
  case 64:
    return isUnsigned ? DType::U64 : DType::I64;
  default:
    return isUnsigned ? DType::U32 : DType::I32;
  }
}

/// PTX's NaN in place of the language's.
uint64_t withNaN(DType type, uint64_t bits) {
  if (type == DType::F32 && (bits & 0x7FFFFFFF) > 0x7F800000)
    return canonicalNaN32;
  if ((type == DType::F16 && (bits & 0x7FFF) > 0x7C00) || (type == DType::BF16 && (bits & 0x7FFF) > 0x7F80))
    return canonicalNaN16;
  return bits;
}

/// NaN as an integer. The language says 0 and so does the GPU for f32 to 32 bits; with 64 bits on either side it gives the top bit alone.
std::optional<uint64_t> integerOfNaN(DType from, uint64_t bits, DType to) {
  if (isFloat(to) || !isFloat(from) || !std::isnan(interp::decode(floatFormat(from), bits)))
    return std::nullopt;
  if (sizeInBits(to) == 64)
    return uint64_t(1) << 63;
  return from == DType::F64 ? uint64_t(1) << 31 : 0;
}

enum Attribute { Mode, IsUnsigned };

void convert(const uint64_t *operands, uint64_t *results, const Site *site) {
  bool isUnsigned = site->attributes[IsUnsigned];
  DType from = dtypeOf(site->operandType(0), isUnsigned), to = dtypeOf(site->resultType(0), isUnsigned);
  if (auto bits = integerOfNaN(from, operands[0], to)) {
    results[0] = *bits;
    return;
  }
  auto mode = interp::Rounding(site->attributes[Mode]); // both in PTX's order: rn, rz, rm, rp
  uint64_t bits = interp::convertBits(from, operands[0], to, {.round = mode, .saturate = std::nullopt});
  if (to == DType::I32)
    bits &= 0xFFFFFFFF;
  results[0] = withNaN(to, bits);
}

/// Two f32 to two f8, which saturate.
void convertPair(const uint64_t *operands, uint64_t *results, const Site *site) {
  DType to = ElementType(site->attributes[0]) == ElementType::E4M3 ? DType::F8E4M3 : DType::F8E5M2;
  auto rounded = [&](uint64_t bits) {
    constexpr uint64_t nan = 0x7F;
    if (std::isnan(interp::decode(floatFormat(DType::F32), bits)))
      return nan;
    return interp::convertBits(DType::F32, bits, to,
                               {.round = interp::Rounding::NearestEven, .saturate = true});
  };
  results[0] = rounded(operands[0]) | rounded(operands[1]) << 8;
}

constexpr Row rows[] = {{"convert", convert}, {"convert_pair", convertPair}};

} // namespace

std::span<const Row> convertInstructions() { return rows; }

} // namespace tilegym::sim
