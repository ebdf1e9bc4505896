// SPDX-License-Identifier: MIT
// Conversion between any two dtypes, over arrays.
#pragma once

#include "compiler/interpreter/NumericsFloat.h"

#include <cstddef>
#include <optional>

namespace tilegym::interp {

/// Elements to read: `step` is in elements, 1 to walk, 0 to repeat one (a scalar operand); any other stride
/// works too.
struct Source {
  const void *data = nullptr;
  ptrdiff_t step = 1;
};

/// `round=` and `sat=` of a conversion. Left out: float to integer truncates and saturates, everything else
/// rounds to nearest even; f8 saturates, other floats overflow to infinity; integers wrap. With `sat=true`
/// f16, bf16 and f32 stop at their largest finite value and integers at their ends.
struct Conversion {
  std::optional<Rounding> round;
  std::optional<bool> saturate;
};

/// to[i] = convert(from[i]). Every pair of dtypes is allowed and is rounded at most once. To Bool: whether it
/// is not zero (NaN is not); from Bool: 0 or 1.
void convert(DType from, Source source, DType to, void *out, size_t count, Conversion options = {});

/// For one element held as bits in the low bytes.
uint64_t convertBits(DType from, uint64_t bits, DType to, Conversion options = {});

/// Float elements as f64 (exact), and integers of any kind as f64 (rounded from 64 bits). For comparing and
/// printing.
double toDouble(DType type, const void *element);

} // namespace tilegym::interp
