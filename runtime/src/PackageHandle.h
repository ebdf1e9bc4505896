// SPDX-License-Identifier: MIT
// What a TilegymPackage is.
#pragma once
#include "Backend.h"
#include "ChoiceCache.h"
#include "RepeatedLaunch.h"
#include "tilegym/tilegym.h"
#include <mutex>

struct TilegymPackage {
  TilegymPackage();
  ~TilegymPackage();
  const uint64_t number; ///< which no other package of this process ever has
  tilegym::runtime::Table table;
  std::unique_ptr<unsigned char[]> owned; ///< the file's table
  int file = -1;                          ///< its images stay there until they are loaded
  std::vector<std::string> opNames;
  std::unique_ptr<tilegym::runtime::Loader> loader;
  std::unique_ptr<tilegym::runtime::MapTemplates> maps;
  std::unique_ptr<tilegym::runtime::Grids> grids;
  std::vector<std::unique_ptr<tilegym::runtime::ChoiceCache>> choices; ///< by op

  std::unique_ptr<tilegym::runtime::Implementations> implementations;

  /// Of the reference backend, by op; made on first use.
  std::mutex statesMutex;
  std::vector<std::shared_ptr<const void>> states;
};

namespace tilegym::runtime {

/// Whether a backend has the op at all.
bool implements(TilegymPackage &package, size_t op, int32_t backend);
/// The names of the backends that have the op, as "tile, reference".
std::string backendsOf(TilegymPackage &package, size_t op);

} // namespace tilegym::runtime
