// SPDX-License-Identifier: MIT
// A driver in this process whose every function succeeds and does nothing, so that only the runtime's own work is left to count and to time. All
// memory is one allocation of its one device.
#pragma once
#include "runtime/src/Driver.h"
#include <set>
#include <string>

namespace tilegym::testing {

inline runtime::Driver nullDriver() {
  using namespace runtime;
  Driver d;
#define X(name, symbol, parameters) d.name = [] parameters -> CUresult { return kSuccess; };
#include "runtime/src/CudaSymbols.inc"
#undef X
  d.deviceGetAttribute = [](int *value, int attribute, CUdevice) {
    *value = attribute == kAttributeComputeMajor ? 9 : attribute == kAttributeComputeMinor ? 0 : 132;
    return CUresult(kSuccess);
  };
  d.ctxGetDevice = [](CUdevice *ordinal) { return *ordinal = 0, CUresult(kSuccess); };
  d.ctxGetId = [](CUcontext, unsigned long long *number) { return *number = 1, CUresult(kSuccess); };
  d.pointerGetAttributes = [](unsigned n, int *names, void **values, CUdeviceptr) {
    for (unsigned i = 0; i < n; ++i)
      if (names[i] == kPointerRangeStart || names[i] == kPointerRangeSize)
        *static_cast<uint64_t *>(values[i]) = names[i] == kPointerRangeSize ? UINT64_MAX : 0;
      else
        *static_cast<int *>(values[i]) = names[i] == kPointerMemoryType ? 2 : 0;
    return CUresult(kSuccess);
  };
  d.libraryGetKernel = [](CUkernel *kernel, CUlibrary, const char *) {
    return *kernel = reinterpret_cast<CUkernel>(size_t(64)), CUresult(kSuccess);
  };
  d.tensorMapEncodeTiled = [](void *map, int, uint32_t rank, void *address, const uint64_t *extents,
                              const uint64_t *strides, const uint32_t *, const uint32_t *, int, int, int,
                              int) -> CUresult {
    auto *words = static_cast<uint64_t *>(map); // numbers in places, as a device has them
    for (size_t i = 0; i < kTensorMapBytes / 8; ++i)
      words[i] = 0;
    words[0] = reinterpret_cast<uint64_t>(address);
    for (uint32_t i = 0; i < rank; ++i)
      words[1 + i] = extents[i] - 1;
    for (uint32_t i = 0; i + 1 < rank; ++i)
      words[8 + i] = strides[i] >> 4;
    return kSuccess;
  };
  return d;
}

/// Makes kernels and functions pointers to their names, so that a launch can be told by what it launches.
inline void nameKernels(runtime::Driver &d) {
  using namespace runtime;
  d.libraryGetKernel = [](CUkernel *kernel, CUlibrary, const char *name) {
    static std::set<std::string> names;
    return *kernel = reinterpret_cast<CUkernel>(const_cast<char *>(names.insert(name).first->c_str())),
           CUresult(kSuccess);
  };
  d.kernelGetFunction = [](CUfunction *function, CUkernel kernel) {
    return *function = reinterpret_cast<CUfunction>(kernel), CUresult(kSuccess);
  };
}

} // namespace tilegym::testing
