// SPDX-License-Identifier: MIT
// The syntax tree as indented S-expressions: what `--emit ast` shows, and how tests see that two trees are equal.
#pragma once
#include "compiler/syntax/AST.h"
#include <string>

namespace tilegym {
/// Structure only: no places, comments, parentheses or line breaks.
std::string dumpSpec(const ast::Spec &spec);
std::string dumpExpr(const ast::Expr &expr);
} // namespace tilegym
