// SPDX-License-Identifier: MIT
// Host expressions to the postfix code of packages. The runtime's evaluator runs it; a test holds it against the language's own.
#pragma once
#include "compiler/semantics/OpModel.h"
#include "tilegym/format/Table.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace tilegym::emit {

/// The error names what the runtime cannot evaluate, with the expression's place.
llvm::Expected<std::vector<format::Inst>> compileHostExpr(const sem::Expr &expr);

} // namespace tilegym::emit
