// SPDX-License-Identifier: MIT
// Which tensors a kernel's matrix product reads.
#pragma once
#include "compiler/semantics/OpModel.h"

namespace tilegym::sem {

/// Bit a tensor: the inputs, of two axes or more that are no group's, whose last two axes the kernel's only matrix product reads as rows and columns of an operand. No bit for a
/// kernel with several products, as one order of its operands is rarely right for all.
uint64_t productOperands(const OpModel &op, const Kernel &kernel);

} // namespace tilegym::sem
