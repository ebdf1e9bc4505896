// SPDX-License-Identifier: MIT
// What a TilegymPackage is.
#pragma once
#include "Backend.h"
#include "ChoiceCache.h"
#include "KernelLaunch.h"
#include "tilegym/tilegym.h"

struct TilegymPackage {
  TilegymPackage();
  const uint64_t number; ///< which no other package of this process ever has
  tilegym::runtime::Table table;
  std::unique_ptr<unsigned char[]> owned; ///< the file's bytes
  std::vector<std::string> opNames;
  std::unique_ptr<tilegym::runtime::Loader> loader;
  std::vector<std::unique_ptr<tilegym::runtime::ChoiceCache>> choices; ///< by op

  /// Of a backend other than the GPU, by op; made on first use.
  std::mutex statesMutex;
  std::vector<std::shared_ptr<const void>> states;
};
