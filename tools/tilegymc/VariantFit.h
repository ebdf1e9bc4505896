// SPDX-License-Identifier: MIT
// Which variants of a package could take a call, and why the others cannot.
#pragma once
#include "runtime/src/VariantChoice.h"
#include <string>
#include <vector>

namespace tilegym::cli {

/// What a call means for one kernel.
struct KernelFit {
  bool guardHolds = true;
  std::vector<int64_t> derived; ///< by parameter; kRunTime for a tuned one
};
KernelFit fitOf(const runtime::Call &call, uint32_t kernel);

/// Why a call cannot take a variant of the kernel that `fits` is of; empty: it can.
std::string whyNot(const runtime::Call &call, const format::Variant &variant, const KernelFit &fits,
                   int arch);

} // namespace tilegym::cli
