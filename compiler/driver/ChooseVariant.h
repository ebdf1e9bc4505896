// SPDX-License-Identifier: MIT
// One variant of an op from a few names and values, as a person would say it: `T=bf16`, `causal=true`, `BN=1024`, `warps=8`.
#pragma once
#include "compiler/semantics/OpModel.h"
#include <optional>
#include <string>
#include <utility>

namespace tilegym::driver {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// The first variant of the kernel that has every setting: dtypes by type variable, consts, const dims, tile parameters and knobs by name,
/// `NAME=absent` or `NAME=present` for an optional tensor. Reports what no variant has.
std::optional<sem::Specialization> chooseVariant(const sem::OpModel &op, std::string_view kernel,
                                                 const Settings &settings, std::string_view arch,
                                                 DiagnosticSink &sink);

} // namespace tilegym::driver
