// SPDX-License-Identifier: MIT
// Host expressions: what a call evaluates before a kernel runs (guards, dims, grids, checks, derived parameters, bench counts).
// Scalars only. Integers of every dtype are `index` here and floats are f64, so a scalar argument converts where it is named.
#pragma once
#include "compiler/semantics/OpModel.h"
#include "compiler/semantics/Operators.h"
#include <map>

namespace tilegym::sem {

/// What names mean in a host expression, and which are allowed.
struct HostScope {
  const OpModel &op;
  std::string place;                    ///< for errors: "a guard", "the grid"
  const Specialization *spec = nullptr; ///< if given, consts, const dims, presence and dtypes are folded
  std::map<std::string, Operand, std::less<>> names = {}; ///< further names: tile parameters, host lets
  std::map<std::string, std::string, std::less<>> unavailable =
      {};               ///< names that exist but not here, and why
  bool scalars = true;  ///< scalars and consts may be named
  bool smCount = false; ///< `sm_count()` may be called
};

/// Null after an error, which has been reported.
Operand checkHostExpr(const ast::Expr &e, const HostScope &scope, DiagnosticSink &sink);
/// The same, of one kind: index (literals settle), or bool.
ExprPtr checkHostIndex(const ast::Expr &e, const HostScope &scope, std::string_view what,
                       DiagnosticSink &sink);
ExprPtr checkHostBool(const ast::Expr &e, const HostScope &scope, std::string_view what,
                      DiagnosticSink &sink);
/// A number as f64.
ExprPtr checkHostFloat(const ast::Expr &e, const HostScope &scope, std::string_view what,
                       DiagnosticSink &sink);

/// For `reduction == mean`, where one side names an enum const: the other side's number, and which side is the const.
/// Empty where the comparison has nothing to do with an enum; an unknown enumerator is reported and sets `failed`.
struct EnumComparison {
  int64_t scalar = -1; ///< -1: not one
  int64_t value = 0;
  bool failed = false;
};
EnumComparison matchEnumComparison(const ast::Binary &e, const OpModel &op, DiagnosticSink &sink);

/// Dims, scalars and tensors that an expression depends on.
struct HostUses {
  std::vector<int64_t> dims, scalars;
  bool smCount = false;
};
HostUses usesOf(const Expr &e);

/// The same expression with what `spec` fixes (consts, const dims, presence, dtypes) folded in.
ExprPtr specializeHost(const ExprPtr &e, const OpModel &op, const Specialization &spec);

} // namespace tilegym::sem
