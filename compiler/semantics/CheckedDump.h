// SPDX-License-Identifier: MIT
// Checked trees as text, one statement a line: for `--emit`, for tests and for whoever debugs a lowering. The text is stable, not parsed.
#pragma once
#include "compiler/semantics/OpModel.h"

namespace tilegym::sem {

std::string_view name(Op op); ///< `floordiv`, `view_index`

std::string dump(const OpModel &op, const Kernel &kernel);
std::string dump(const OpModel &op, const Plan &plan);
std::string dump(const OpModel &op, const Reference &reference);
/// One expression; `body` names its locals and `kernel` its parameters, where there are any.
std::string dump(const OpModel &op, const Expr &expr, const Body *body = nullptr,
                 const Kernel *kernel = nullptr);

} // namespace tilegym::sem
