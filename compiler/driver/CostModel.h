// SPDX-License-Identifier: MIT
// Which candidate is likely fastest where nothing has been measured.
#pragma once
#include "compiler/semantics/OpModel.h"
#include <optional>

namespace tilegym::driver {

/// Elements of the largest tile of a kernel, and the size of a loaded element in bytes.
struct KernelSize {
  int64_t largestTile = 1;
  int64_t elementBytes = 4;
};
KernelSize sizeOf(const sem::Kernel &kernel);

/// Lower is better. For kernels bound by memory: enough bytes in flight a thread, few enough registers, not too few threads.
double cost(const KernelSize &size, int64_t warps);

/// The cheapest candidate that checks; the first of equals. Empty after errors or without candidates.
std::optional<sem::Specialization>
cheapest(const sem::OpModel &op, const std::vector<sem::Specialization> &candidates, DiagnosticSink &sink);

int64_t knob(const sem::Specialization &spec, std::string_view name, int64_t fallback);

} // namespace tilegym::driver
