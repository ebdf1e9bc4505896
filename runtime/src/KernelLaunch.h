// SPDX-License-Identifier: MIT
// From a chosen variant to the GPU: parameters, fills, loading, launch.
#pragma once
#include "Call.h"
#include "CallMaps.h"
#include "Driver.h"
#include "VariantChoice.h"
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace tilegym::runtime {

/// What is loaded of one image. Loading is lazy, once a device; afterwards a call reads three atomics.
struct LoadedImage {
  std::atomic<CUkernel> kernel{nullptr};
  std::atomic<uint64_t> devices{0}; ///< bit a device on which it is ready to launch
  std::atomic<uint64_t> context{
      0}; ///< the number of the first context that loaded it, whose function is `function`
  std::atomic<CUfunction> function{nullptr};
  std::atomic<uint32_t> blocksThatFit{
      0}; ///< of clusters that stay, at the same time; on the device with the fewest
  CUlibrary library = nullptr;
};

/// The loaded code of a package. By image, not by variant: devices of several architectures in one machine take different images.
class Loader {
public:
  explicit Loader(const Table &table);
  ~Loader();
  /// Gives what to launch in the current context, whose number is `context` (0 if that is not known). `op` is its Table::numberOf. Where clusters stay, `*blocks`
  /// becomes at most what fits the device.
  TilegymStatus load(const Driver &driver, const Device &device, uint64_t context, uint32_t op,
                     const Choice &choice, CUstream stream, CUfunction *function, int64_t *blocks);

private:
  TilegymStatus loadNow(const Driver &driver, const Device &device, uint64_t context, uint32_t op,
                        const Choice &choice, LoadedImage &loaded);
  TilegymStatus open(const Driver &driver, const Device &device, uint32_t op, const Choice &choice,
                     LoadedImage &loaded);
  TilegymStatus refused(const Driver &driver, const std::string &name, const std::string &entry,
                        std::string_view code, bool isPtx, CUresult result) const;
  const Table &table;
  std::mutex mutex;
  std::vector<std::vector<size_t>>
      firstImages; ///< by op (Table::numberOf) and variant: its first one's place in `images`
  std::unique_ptr<LoadedImage[]> images;
  size_t count = 0;
  const Driver *usedDriver = nullptr;
  bool saidPtx = false; ///< that the driver compiles
};

/// The oldest driver that takes this code, as 13000 for CUDA 13.0, read off the code itself; 0 where it does not say.
int neededDriver(std::string_view code, bool isPtx);

/// Number of blocks along each grid axis (the last of a cluster's kernel is the cluster), and in all.
struct Grid {
  int64_t axes[4] = {1, 1, 1, 1};
  int64_t blocks = 1;
};
TilegymStatus computeGrid(const Call &call, const Choice &choice, Grid *grid);
/// The blocks of a launch for so many of the grid's: no more than are resident at once where each takes several, in whole clusters. Fewer of these may fit: Loader::load.
int64_t launchBlocks(const format::Variant &variant, int64_t smCount, int64_t blocks);

/// The kernel's parameters, laid out for cuLaunchKernel.
struct Parameters {
  alignas(64) unsigned char maps[format::kMaxMaps][kTensorMapBytes];
  alignas(8) unsigned char storage[format::kMaxParams * 8];
  void *pointers[format::kMaxParams];
  alignas(64) unsigned char lists
      [format::kMaxParamBytes]; ///< of those that have a value for each tensor of a list
};
/// What a parameter's 8 bytes are; of a tensor map's nothing.
uint64_t parameterBits(const Call &call, const format::Param &p, const Grid &grid);
/// `templates`: of the variant (MapTemplates); without them the driver makes every tensor map.
TilegymStatus fillParameters(const Driver &driver, const Call &call, const Choice &choice, const Grid &grid,
                             Parameters *parameters, MapTemplate *templates = nullptr);

/// `early`: where the code can, it may start before the kernel in front of it has ended.
TilegymStatus launchKernel(const Driver &driver, const Call &call, const Choice &choice, const Grid &grid,
                           CUfunction function, CUstream stream, MapTemplate *maps, bool early);

/// The same with parameters that are there already.
TilegymStatus launchKernel(const Driver &driver, const Call &call, const Choice &choice, int64_t blocks,
                           CUfunction function, CUstream stream, void **parameters, bool early);

/// Whether this thread's launches may start early (tilegym_set_early_launch).
bool launchesEarly();

/// Fills outputs that the signature gives a first value.
TilegymStatus fillOutputs(const Driver &driver, const Call &call, CUstream stream);

/// Tensors must lie on the current device, in memory that it can reach. While `stream` is captured, the driver knows nothing of what the capture has
/// allocated so far: then an address that it does not know passes.
TilegymStatus checkPointers(const Driver &driver, const Device &device, const Call &call, CUstream stream);

} // namespace tilegym::runtime
