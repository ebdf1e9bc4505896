// SPDX-License-Identifier: MIT
// The CUDA driver, opened at run time. The few types and constants of its interface that are needed are declared here, so that neither building nor
// linking needs CUDA's headers.
#pragma once
#include "Error.h"
#include <cstddef>
#include <cstdint>

namespace tilegym::runtime {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUstream = struct CUstream_st *;
using CUlibrary = struct CUlib_st *;
using CUkernel = struct CUkern_st *;
using CUfunction = struct CUfunc_st *;
using CUevent = struct CUevent_st *;

enum : int { // CUresult, CUdevice_attribute, CUpointer_attribute, CUfunction_attribute
  kSuccess = 0,
  kErrorInvalidContext = 201,
  kAttributeComputeMajor = 75,
  kAttributeComputeMinor = 76,
  kAttributeMultiprocessors = 16,
  kPointerMemoryType = 2,
  kPointerIsManaged = 8,
  kPointerDeviceOrdinal = 9,
  kPointerRangeStart = 11,
  kPointerRangeSize = 12,
  kMemoryTypeHost = 1,
  kFunctionMaxDynamicShared = 8,
  kInterleaveNone = 0, // and of tensor maps
  kPromote128Bytes = 2,
  kFillZeros = 0,
};

/// A CUtensorMap, which is aligned to 64 bytes.
constexpr size_t kTensorMapBytes = 128;

/// CUlaunchAttribute, of which only one is used here: a cluster's size stands in the code.
struct CUlaunchAttribute {
  int id, padding;
  int value, unused[15];
};
constexpr CUlaunchAttribute kMayStartEarly = {6, 0, 1, {}}; ///< PROGRAMMATIC_STREAM_SERIALIZATION

struct CUlaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  CUstream stream;
  const CUlaunchAttribute *attributes;
  unsigned numAttributes;
};

/// Every function of CudaSymbols.inc as a member, `driver.init(0)`.
struct Driver {
// NOLINTNEXTLINE(bugprone-macro-parentheses): names and parameter lists take no parentheses
#define X(name, symbol, parameters) CUresult(*name) parameters = nullptr;
#include "CudaSymbols.inc"
#undef X
  int version = 0; ///< 13000 for CUDA 13.0

  /// `early`: it may start before the kernel in front of it has ended, for which it waits itself.
  CUresult launch(CUfunction function, unsigned blocks, unsigned threads, unsigned sharedBytes,
                  CUstream stream, void **parameters, bool early = false) const {
    CUlaunchConfig config{blocks, 1, 1, threads, 1, 1, sharedBytes, stream, &kMayStartEarly, early};
    return launchKernelEx(&config, function, parameters, nullptr);
  }

  /// `what` (a phrase: "loading the kernel") failed with `result`: `status` with the driver's name for it.
  TilegymStatus failure(const char *what, CUresult result, TilegymStatus status = TILEGYM_CUDA_ERROR) const;
};

/// From here on this thread's calls go to these functions, which are those of another driver in this process (a simulator's); null: to the system's again.
/// Its devices must have ordinals that no real one has, as facts of devices are kept by them.
void useDriver(const Driver *driver);

/// Opens the driver and initialises it, once. On failure the reason is the thread's error each time.
TilegymStatus getDriver(const Driver **driver);

/// Facts of a device, read once.
struct Device {
  CUdevice ordinal = 0;
  int arch = 0; ///< 90 for compute capability 9.0
  int multiprocessors = 0;
  char name[128] = "";
};
/// The device of the thread's current context. A thread that has none is given the primary context of the device on which `memory` lies,
/// of the first device where that is unknown. `*context` becomes the context's number, which no other one ever has in this process; 0 where the driver does
/// not say.
TilegymStatus currentDevice(const Driver &driver, const void *memory, const Device **device,
                            uint64_t *context = nullptr);

} // namespace tilegym::runtime
