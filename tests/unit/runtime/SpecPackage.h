// SPDX-License-Identifier: MIT
// Packages of real specs made without the compiler: the interface and the texts, and kernels of the fake driver.
#pragma once
#include "compiler/semantics/OpModel.h"
#include "tests/unit/runtime/PackageBuilder.h"

namespace tilegym::testing {

/// The op of a spec whose dims are all names. `libraries` are name and text. With `variant`, one general kernel that takes every call of the
/// first dtypes and consts, with the tensors of `present`.
OpText opOfSpec(const std::string &text,
                const std::vector<std::pair<std::string, std::string>> &libraries = {},
                std::vector<uint64_t> present = {});
/// The contents of a file of the source tree.
std::string sourceFile(const std::string &path);

} // namespace tilegym::testing
