// SPDX-License-Identifier: MIT
// What tests say to the fake driver and ask it: devices, memory, failures, and the calls it saw. Host memory stands for the GPU's, so that
// fills can be looked at.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace tilegym::testing {

struct FakeLaunch {
  std::string entry;
  unsigned grid[3], block[3], shared;
  void *stream;
  std::vector<uint64_t> params; ///< 8 bytes of each; an image whose text begins with a number has as many
  bool early = false;           ///< may start before the kernel in front of it has ended
  std::vector<std::vector<uint64_t>> words; ///< all of each, where the image's text says how many: "2 [64,1]"
};

struct FakePointer {
  int type = 2, device = 0; ///< CU_MEMORYTYPE_DEVICE
  unsigned managed = 0;
  size_t size = 0; ///< of a block
};

struct FakeCuda {
  struct Device {
    int major, minor, multiprocessors;
    std::string name;
  };
  std::mutex mutex;
  std::vector<Device> devices = {{9, 0, 132, "Fake H"}, {8, 0, 108, "Fake A"}};
  int device = 0;                               ///< of the current context, on every thread
  std::map<std::thread::id, int> deviceOf;      ///< of threads whose context is on another one
  bool hasContext = true;                       ///< false: threads begin without one
  uint64_t generation = 1;                      ///< of contexts: after a reset they are others
  size_t launchesOfFunctions = 0;               ///< the rest were of kernels in their place
  std::map<std::string, int> failures;          ///< symbol to the CUresult that it gives
  std::map<const void *, FakePointer> pointers; ///< others are device memory of `device`
  std::map<const char *, FakePointer>
      blocks;                     ///< allocations whose extent the driver tells, by where they begin
  std::set<void *> capturing;     ///< streams
  std::vector<std::string> calls; ///< "cuLibraryLoadData 15 cubin", "cuMemsetD32Async 8" ...
  std::vector<FakeLaunch> launches;
  std::map<void *, size_t> allocated;
  size_t tensorMaps = 0; ///< made so far: each is 128 bytes of its number ...
  bool packsTensorMaps =
      false; ///< ... or its address, strides and extents in places of their own, as a real driver's

  void reset() {
    std::lock_guard lock(mutex);
    devices = {{9, 0, 132, "Fake H"}, {8, 0, 108, "Fake A"}};
    device = 0;
    deviceOf.clear();
    hasContext = true;
    ++generation;
    launchesOfFunctions = 0;
    failures.clear();
    pointers.clear();
    blocks.clear();
    capturing.clear();
    calls.clear();
    launches.clear();
    tensorMaps = 0;
    packsTensorMaps = false;
  }
  size_t count(const std::string &prefix) {
    std::lock_guard lock(mutex);
    size_t n = 0;
    for (const std::string &call : calls)
      n += call.compare(0, prefix.size(), prefix) == 0;
    return n;
  }
};

} // namespace tilegym::testing
