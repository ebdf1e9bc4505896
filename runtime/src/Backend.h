// SPDX-License-Identifier: MIT
// What may stand in for the GPU. The runtime knows no such backend itself; a library that has one installs it.
#pragma once
#include "Call.h"
#include <memory>

namespace tilegym::runtime {

struct Backend {
  /// Makes what the backend needs of an op. Called once for an op of a package, the result is kept with the package.
  TilegymStatus (*prepare)(const Table &table, const format::Op &op, std::shared_ptr<const void> *state);
  /// Runs a call that was bound and checked; ends when its outputs are written.
  TilegymStatus (*run)(const Call &call, const void *state);
};

/// The one in use; null: the GPU.
const Backend *currentBackend();
/// Returns the one that was in use.
const Backend *useBackend(const Backend *backend);

} // namespace tilegym::runtime
