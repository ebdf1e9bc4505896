// SPDX-License-Identifier: MIT
// Arithmetic on compile-time constants with the language's semantics: fixed-width integers wrap, `index` is exact (leaving 64 bits is an
// error), `//` and `%` floor, floats are rounded to their dtype once an operation.
#pragma once
#include "compiler/semantics/Checked.h"

namespace tilegym::sem {

/// A value, or why there is none ("division by zero").
struct Folded {
  std::optional<Constant> value;
  std::string error;
  explicit operator bool() const { return value.has_value(); }
};

/// True for the operations that fold* can do: all of the elementwise ones.
Folded foldUnary(Op op, DType type, const Constant &x);
/// Both operands have dtype `type`; comparisons give bool.
Folded foldBinary(Op op, DType type, const Constant &a, const Constant &b);
Folded foldConvert(DType from, DType to, const Constant &x, Rounding rounding = Rounding::NearestEven,
                   bool saturate = true);

/// The value nearest to `value` that a float dtype has (ties to even); beyond its range infinity, or the largest value for f8.
double roundToDType(double value, DType type);
/// A finite value that the float dtype has no finite value near enough for.
bool overflowsDType(double value, DType type);
/// The low bits of `value` as an integer of the dtype; u64 keeps its bits in the int64.
int64_t wrapToDType(int64_t value, DType type);
/// True where the integer constant, read in `from`, is a value of `to`.
bool fitsDType(int64_t value, DType from, DType to);

/// `7`, `1.5`, `true`, `inf`, as a spec would write it.
std::string toString(const Constant &constant);
std::string toString(const Constant &constant, DType type);

} // namespace tilegym::sem
