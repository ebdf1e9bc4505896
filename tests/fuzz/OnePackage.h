// SPDX-License-Identifier: MIT
// One input of the package fuzzers.
#pragma once
#include <cstddef>

namespace tilegym::fuzz {

/// Opens these bytes, their checksums and sizes set right, and calls what is in them; true where they were accepted. Crashes are the finding.
bool onePackage(const void *data, size_t size);

} // namespace tilegym::fuzz
