// SPDX-License-Identifier: MIT
// How an element of each dtype sits in memory and in which C++ type it is computed; and the jump from a
// run-time dtype to code written for one. Loops over elements are templates on the dtype, so each is compiled
// once a dtype.
#pragma once

#include "compiler/interpreter/NumericsFloat.h"

#include <bit>
#include <cstddef>
#include <type_traits>

namespace tilegym::interp {

namespace detail {
template <DType type> struct ElementTypes;
template <> struct ElementTypes<DType::F64> {
  using Storage = double;
};
template <> struct ElementTypes<DType::F32> {
  using Storage = float;
};
template <> struct ElementTypes<DType::F16> {
  using Storage = uint16_t;
};
template <> struct ElementTypes<DType::BF16> {
  using Storage = uint16_t;
};
template <> struct ElementTypes<DType::F8E4M3> {
  using Storage = uint8_t;
};
template <> struct ElementTypes<DType::F8E5M2> {
  using Storage = uint8_t;
};
template <> struct ElementTypes<DType::I8> {
  using Storage = int8_t;
};
template <> struct ElementTypes<DType::I16> {
  using Storage = int16_t;
};
template <> struct ElementTypes<DType::I32> {
  using Storage = int32_t;
};
template <> struct ElementTypes<DType::I64> {
  using Storage = int64_t;
};
template <> struct ElementTypes<DType::U8> {
  using Storage = uint8_t;
};
template <> struct ElementTypes<DType::U16> {
  using Storage = uint16_t;
};
template <> struct ElementTypes<DType::U32> {
  using Storage = uint32_t;
};
template <> struct ElementTypes<DType::U64> {
  using Storage = uint64_t;
};
template <> struct ElementTypes<DType::Bool> {
  using Storage = uint8_t;
};
template <> struct ElementTypes<DType::Index> {
  using Storage = int64_t;
};

/// Every f8 value as f32, by its bits.
const float *f8Values(DType type);

/// Placed in f32's fields the exponent is 112 too small; multiplying by 2^112 mends it, subnormals included. Inline and without a
/// branch, so that loops over arrays are vectorised.
inline float f16Value(uint16_t bits) {
  const uint32_t magnitude = uint32_t(bits & 0x7fff) << 13, sign = uint32_t(bits & 0x8000) << 16;
  const uint32_t finite = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  const bool isFinite = magnitude < uint32_t(0x1f) << 23;
  return std::bit_cast<float>(sign | (isFinite ? finite : 0x7f800000 | (magnitude & 0x7fffff)));
}
} // namespace detail

/// One element: `Storage` in memory, `Value` to compute with. Loading is exact; storing rounds to nearest
/// even, once. f16, bf16 and the f8s compute in f32, which then rounds as if once for + - * / sqrt: f32 has
/// more than 2p + 1 bits.
template <DType type> struct Element {
  using Storage = typename detail::ElementTypes<type>::Storage;
  static constexpr bool narrow = isFloat(type) && type != DType::F64 && type != DType::F32;
  using Value = std::conditional_t<narrow, float, Storage>;

  static Value load(Storage bits) {
    if constexpr (type == DType::BF16)
      return std::bit_cast<float>(uint32_t(bits) << 16);
    else if constexpr (type == DType::F16)
      return detail::f16Value(bits);
    else if constexpr (narrow)
      return detail::f8Values(type)[bits];
    else if constexpr (isBool(type))
      return bits != 0;
    else
      return bits;
  }

  static Storage store(Value value) {
    if constexpr (narrow)
      return static_cast<Storage>(encodeNearest<type>(value));
    else if constexpr (isBool(type))
      return value != 0;
    else
      return value;
  }

  /// A result computed in f64: rounded straight to this dtype.
  static Storage storeDouble(double value) {
    if constexpr (narrow)
      return static_cast<Storage>(encodeNearest<type>(value));
    else
      return static_cast<Storage>(value);
  }
};

/// Calls `body.template operator()<type>()` for the run-time dtype.
template <class Body> decltype(auto) forDType(DType type, Body &&body) {
#define TILEGYM_DTYPE_CASE(NAME)                                                                             \
  case DType::NAME:                                                                                          \
    return body.template operator()<DType::NAME>();
  switch (type) {
    TILEGYM_DTYPE_CASE(F64)
    TILEGYM_DTYPE_CASE(F32)
    TILEGYM_DTYPE_CASE(F16)
    TILEGYM_DTYPE_CASE(BF16)
    TILEGYM_DTYPE_CASE(F8E4M3)
    TILEGYM_DTYPE_CASE(F8E5M2)
    TILEGYM_DTYPE_CASE(I8)
    TILEGYM_DTYPE_CASE(I16)
    TILEGYM_DTYPE_CASE(I32)
    TILEGYM_DTYPE_CASE(I64)
    TILEGYM_DTYPE_CASE(U8)
    TILEGYM_DTYPE_CASE(U16)
    TILEGYM_DTYPE_CASE(U32)
    TILEGYM_DTYPE_CASE(U64)
    TILEGYM_DTYPE_CASE(Bool)
  default:
    TILEGYM_DTYPE_CASE(Index)
  }
#undef TILEGYM_DTYPE_CASE
}

} // namespace tilegym::interp
