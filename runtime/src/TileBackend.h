// SPDX-License-Identifier: MIT
// The backend `tile`: what a package has kernels for, on the current GPU.
#pragma once
#include "PackageHandle.h"
#include "PlanLaunch.h"

namespace tilegym::runtime {

enum class Until { Launched, Loaded };

/// One call: no allocation, lock or formatting once its code is loaded (unit.runtime.call-counts).
TilegymStatus runTile(TilegymPackage *package, size_t opNumber, const format::Op &op, const void *const *args,
                      CUstream stream, Until until, const Workspace &workspace = {});
/// How many bytes of scratch memory it takes.
TilegymStatus tileWorkspace(TilegymPackage *package, size_t opNumber, const format::Op &op,
                            const void *const *args, size_t *bytes);
/// Whether it would take this call, or with null any call, on the current GPU. Nothing is loaded.
TilegymStatus tileTakes(const TilegymPackage &package, const format::Op &op, const void *const *args);
/// tilegym_explain.
TilegymStatus explainTile(const TilegymPackage *package, const format::Op &op, const void *const *args,
                          const char **text);

} // namespace tilegym::runtime
