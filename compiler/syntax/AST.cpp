// SPDX-License-Identifier: MIT
// How each operator is written.
#include "compiler/syntax/AST.h"

namespace tilegym::ast {

const char *spelling(UnaryOp op) {
  static const char *const table[] = {"-", "!", "~"};
  return table[static_cast<int>(op)];
}

const char *spelling(BinaryOp op) {
  static const char *const table[] = {"+", "-",  "*",  "/",  "//", "%", "**", "@", "&", "|",
                                      "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">="};
  static_assert(sizeof(table) / sizeof(*table) == static_cast<int>(BinaryOp::Ge) + 1);
  return table[static_cast<int>(op)];
}

} // namespace tilegym::ast
