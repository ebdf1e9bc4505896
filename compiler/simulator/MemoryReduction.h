// SPDX-License-Identifier: MIT
// What a reduction into memory computes, for atomics and bulk reductions alike.
#pragma once
#include "compiler/simulator/MatrixElement.h"
#include <cstdint>
#include <optional>

namespace tilegym::sim {

/// Numbered as the dialect numbers them.
enum class ReduceKind : uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor };

/// The new value of an element that holds `old`, both as bits; nothing where the kind does not fit the type (and of f32 but `Add`). Float
/// sums are rounded once, to nearest even. `flush`: f32 subnormals count as zero, as atomics on global memory have it (bulk reductions do not). f16 and bf16
/// minima and maxima take the number where one operand is NaN.
std::optional<uint64_t> reduced(ReduceKind kind, ElementType type, uint64_t old, uint64_t value, bool flush);

/// PTX's NaN, of any NaN result: all ones but the sign.
inline constexpr uint32_t canonicalNaN32 = 0x7FFFFFFF, canonicalNaN16 = 0x7FFF;
/// What an atomic gives for infinity - infinity in f64, which keeps other NaNs as they are.
inline constexpr uint64_t invalidSum64 = 0xFFF8000000000000;
/// Sign-preserving zero for a subnormal.
float flushed(float value);

} // namespace tilegym::sim
