// SPDX-License-Identifier: MIT
// cuBLASLt as a peer of products: opened at run time where there is one, never needed.
#pragma once
#include "Contestant.h"

namespace tilegym::cli {

/// What a spec's `peer torch "a @ b"`, `torch.bmm(a, b)` or `torch.nn.functional.linear(a, b, bias)` says of its op: which tensors are multiplied, and
/// which of them turned. What else stands around the last one, an activation, cuBLASLt does without.
struct Product {
  size_t a = 0, b = 0, c = 0; ///< ids of tensors
  std::optional<size_t> bias; ///< of c's columns
  bool turnA = false, turnB = false;
  int64_t m = 0, n = 0, k = 0, batch = 1;
};
/// Nothing where the op, called so, is no product of two matrices, or of two stacks of as many.
std::optional<Product> productOf(const sem::OpModel &op, const sem::TestCall &call);

/// Null, with `lacking` set, where there is no library or it does not take the product. `found` is a path to try after the library's own names.
std::unique_ptr<Contestant> cublasContestant(DeviceTimer &timer, const sem::OpModel &op,
                                             const sem::TestCall &call, const interp::Arguments &pattern,
                                             const Product &product, const std::string &found,
                                             std::string &lacking);

} // namespace tilegym::cli
