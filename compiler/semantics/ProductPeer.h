// SPDX-License-Identifier: MIT
// Which ops are a product of matrices, by what their benchmark's peer says: such a one a vendor's library has, too.
#pragma once
#include "compiler/semantics/OpModel.h"

namespace tilegym::sem {

/// What a spec's `peer torch "a @ b"`, `torch.bmm(a, b)` or `torch.nn.functional.linear(a, b, bias)` says of its op: ids of tensors, and which of them are turned.
struct ProductPeer {
  int64_t a = 0, b = 0, bias = -1;
  bool turnA = false, turnB = false;
  /// Whether the op is that product and nothing else, for every call; or, where `plainConst` names a const, for those where it has `plainValue`: what
  /// `{'none': lambda t: t, ...}[activation](...)` says. Other texts stand around the product, which then is only the most of it.
  bool isAll = false;
  int64_t plainConst = -1, plainValue = 0;
};

/// Nothing where no peer is a product of inputs of the op.
std::optional<ProductPeer> productPeer(const OpModel &op);

} // namespace tilegym::sem
