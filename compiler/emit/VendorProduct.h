// SPDX-License-Identifier: MIT
// What the runtime must know of an op that a vendor's library has: TilegymProduct, with the numbers of the interface's arguments.
#pragma once
#include "compiler/semantics/OpModel.h"

namespace tilegym::emit {

struct VendorProduct {
  int a = -1, b = -1, bias = -1, c = -1; ///< -1: none
  bool turnA = false, turnB = false;
  int plain = -1; ///< the const whose value must be `plainValue`
  int64_t plainValue = 0;
};

/// Nothing where the op is more than a product of matrices, or none.
std::optional<VendorProduct> vendorProduct(const sem::OpModel &op);

} // namespace tilegym::emit
