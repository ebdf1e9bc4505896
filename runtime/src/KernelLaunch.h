// SPDX-License-Identifier: MIT
// From a chosen variant to the GPU: parameters, fills, loading, launch.
#pragma once
#include "Call.h"
#include "Driver.h"
#include "VariantChoice.h"
#include <atomic>
#include <memory>
#include <mutex>

namespace tilegym::runtime {

/// What is loaded of one variant. Loading is lazy, once a device; afterwards a call reads two atomics.
struct LoadedVariant {
  std::atomic<CUkernel> kernel{nullptr};
  std::atomic<uint64_t> devices{0}; ///< bit a device on which it is ready to launch
};

/// The loaded code of a package, by op and variant.
class Loader {
public:
  explicit Loader(const Table &table);
  ~Loader();
  TilegymStatus load(const Driver &driver, const Device &device, uint32_t op, const Choice &choice,
                     CUstream stream, CUkernel *kernel);

private:
  TilegymStatus loadNow(const Driver &driver, const Device &device, uint32_t op, const Choice &choice,
                        CUkernel *kernel);
  const Table &table;
  std::mutex mutex;
  std::unique_ptr<std::unique_ptr<LoadedVariant[]>[]> variants;
  const Driver *usedDriver = nullptr;
  std::unique_ptr<std::unique_ptr<CUlibrary[]>[]> libraries;
};

/// Number of blocks along each grid axis, and in all.
struct Grid {
  int64_t axes[3] = {1, 1, 1};
  int64_t blocks = 1;
};
TilegymStatus computeGrid(const Call &call, const Choice &choice, int smCount, Grid *grid);

/// The kernel's parameters, laid out for cuLaunchKernel.
struct Parameters {
  alignas(8) unsigned char storage[512 * 8];
  void *pointers[512];
};
void fillParameters(const Call &call, const Choice &choice, const Grid &grid, int smCount,
                    Parameters *parameters);

/// Fills outputs that the signature gives a first value.
TilegymStatus fillOutputs(const Driver &driver, const Call &call, CUstream stream);

/// Tensors must lie on the current device, in memory that it can reach.
TilegymStatus checkPointers(const Driver &driver, const Device &device, const Call &call);

} // namespace tilegym::runtime
