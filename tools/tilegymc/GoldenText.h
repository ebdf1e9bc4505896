// SPDX-License-Identifier: MIT
// The texts of goldens: header, manifest and summary of an op for one arch, without what changes from machine to machine.
#pragma once
#ifdef TILEGYM_HAS_COMPILER
#include "compiler/emit/Package.h"

namespace tilegym::cli {

struct GoldenFile {
  std::string name; ///< "softmax.sm_90a.summary"
  std::string text;
};
std::vector<GoldenFile> goldenFiles(const emit::Package &package, const std::string &chip);

} // namespace tilegym::cli
#endif
