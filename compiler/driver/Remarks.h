// SPDX-License-Identifier: MIT
// What became of a variant's accesses to memory and its products, at the lines of the spec: how wide, what keeps them from 16 bytes, what is
// checked, on which cores. Read off the module where every tile has its layout, with the same functions that code generation asks.
#pragma once
#include "compiler/driver/Compile.h"

namespace tilegym::driver {

struct Remark {
  SourceRange range;
  std::string text;
};
/// In the order of the spec; each is said once, however often the code has the access.
std::vector<Remark> variantRemarks(const sem::OpModel &op, mlir::Operation *module);

} // namespace tilegym::driver
