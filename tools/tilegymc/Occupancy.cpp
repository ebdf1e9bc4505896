// SPDX-License-Identifier: MIT
// The limits are those of the CUDA C++ Programming Guide's table of compute capabilities; registers are given out to warps by 256, shared memory
// by 128 bytes, and 1 KB of it is the system's in each block.
#include "Occupancy.h"
#include <algorithm>
#include <array>

namespace tilegym::cli {
namespace {

struct Multiprocessor {
  int arch;
  int64_t warps, blocks, sharedBytes;
};
constexpr int64_t kRegisters = 65536;
constexpr Multiprocessor kMultiprocessors[] = {
    {80, 64, 32, 164 << 10}, {86, 48, 16, 100 << 10},  {87, 48, 16, 164 << 10}, {89, 48, 24, 100 << 10},
    {90, 64, 32, 228 << 10}, {100, 64, 32, 228 << 10}, {120, 48, 32, 100 << 10}};

int64_t roundedUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

} // namespace

Occupancy occupancyOf(int arch, int64_t threads, int64_t registers, int64_t sharedBytes) {
  const auto *m = std::find_if(std::begin(kMultiprocessors), std::end(kMultiprocessors),
                               [&](const Multiprocessor &one) { return one.arch == arch; });
  Occupancy result;
  if (m == std::end(kMultiprocessors) || threads <= 0)
    return result;
  int64_t warps = (threads + 31) / 32;
  struct Limit {
    int64_t blocks;
    const char *name;
  };
  std::array<Limit, 4> limits = {
      {{m->warps / warps, "warps"},
       {m->blocks, "blocks"},
       {registers ? kRegisters / (roundedUp(registers * 32, 256) * warps) : m->blocks, "registers"},
       {m->sharedBytes / (roundedUp(sharedBytes, 128) + 1024), "shared memory"}}};
  Limit least = *std::min_element(limits.begin(), limits.end(),
                                  [](const Limit &a, const Limit &b) { return a.blocks < b.blocks; });
  return {least.blocks, least.blocks * warps, m->warps, least.name};
}

} // namespace tilegym::cli
