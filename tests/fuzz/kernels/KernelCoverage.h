// SPDX-License-Identifier: MIT
// What kernels use: builtins by name as written, operations by dtype as checked.
#pragma once
#include "tests/fuzz/kernels/KernelCase.h"
#include <map>
#include <string>

namespace tilegym::fuzz {

/// "builtin exp", "op exp f32", "index gather", "statement while": each counted once a kernel.
std::set<std::string> usesOf(const KernelCase &kernel);

/// A table of the counts over many kernels, dtypes across.
std::string coverageTable(const std::map<std::string, uint64_t> &counts);

/// Builtins that compile and are in no kernel of `counts`.
std::vector<std::string> builtinsNotUsed(const std::map<std::string, uint64_t> &counts);

} // namespace tilegym::fuzz
