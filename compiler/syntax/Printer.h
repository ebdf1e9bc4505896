// SPDX-License-Identifier: MIT
// Syntax tree to text, in the one canonical format of `tilegymc fmt`. parse(print(parse(t))) equals parse(t), and print is a fixed point.
#pragma once
#include "compiler/syntax/AST.h"
#include <string>

namespace tilegym {
std::string printSpec(const ast::Spec &spec);
std::string printExpr(const ast::Expr &expr);
} // namespace tilegym
