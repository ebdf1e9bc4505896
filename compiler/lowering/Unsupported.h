// SPDX-License-Identifier: MIT
// What the checked tree may hold and no target lowers yet.
#pragma once
#include "compiler/semantics/OpModel.h"

namespace tilegym::lowering {

/// One error for each use, at its place in the spec.
void reportUnsupported(const sem::OpModel &op, const sem::Kernel &kernel, DiagnosticSink &sink);

} // namespace tilegym::lowering
