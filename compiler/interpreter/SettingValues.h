// SPDX-License-Identifier: MIT
// The expressions of a `test` section: numbers over dims, consts and scalars that are already fixed, dtype names, input rules and
// literal tensors. They are evaluated from the syntax tree: a test section is data about an op, no part of its program.
#pragma once
#include "compiler/interpreter/TestCases.h"

namespace tilegym::interp {

/// What is fixed so far while a case is expanded.
struct SettingScope {
  const sem::OpModel *op = nullptr;
  std::vector<std::optional<DType>> dtypes; ///< by OpModel::typeVars
  std::vector<std::optional<int64_t>> dims; ///< by OpModel::dims; of a group: the product
  std::vector<std::vector<int64_t>> lists;  ///< per-element dims
  std::vector<Dims> groups;
  std::vector<std::optional<sem::Constant>> scalars; ///< by OpModel::scalars
};

/// A number or truth value; reports what it cannot evaluate.
std::optional<sem::Constant> evaluateSetting(const SettingScope &scope, const ast::Expr &expr,
                                             DiagnosticSink &sink);
/// An integer >= 0, as extents are.
std::optional<int64_t> evaluateExtent(const SettingScope &scope, const ast::Expr &expr, DiagnosticSink &sink);
/// `normal(0, 1)`, `iota`, `[[1, 2], [3, 4]]`, `none`, `0.5` ...
std::optional<InputRule> evaluateRule(const SettingScope &scope, const ast::Expr &expr, DiagnosticSink &sink);
std::optional<LiteralValues> evaluateLiteral(const SettingScope &scope, const ast::Expr &expr,
                                             DiagnosticSink &sink);

} // namespace tilegym::interp
