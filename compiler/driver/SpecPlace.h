// SPDX-License-Identifier: MIT
// Where in a spec a piece of the IR comes from.
#pragma once
#include "compiler/semantics/OpModel.h"
#include "mlir/IR/Location.h"

namespace tilegym::driver {

/// In the spec or one of its libraries; its file is null where there is no such place.
SourceRange rangeOf(const sem::OpModel &op, mlir::Location location);

} // namespace tilegym::driver
