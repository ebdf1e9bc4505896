// SPDX-License-Identifier: MIT
// Fences: of memory order, and between the proxies.
#include "compiler/simulator/Instructions.h"
#include "compiler/simulator/Machine.h"
#include "compiler/simulator/Mbarrier.h"
#include "compiler/simulator/Ordering.h"

namespace tilegym::sim {

namespace {

void fenceMemory(const uint64_t *, uint64_t *, const Site *) { fence(current()); }

/// Spaces are not told apart: a fence of one space orders accesses of all.
void fenceProxy(const uint64_t *, uint64_t *, const Site *) {
  fenceProxyAsync(current());
  publishMbarriers(current());
}

void fenceMbarrierInit(const uint64_t *, uint64_t *, const Site *) { publishMbarriers(current()); }

constexpr Row rows[] = {
    {"fence", fenceMemory}, {"fence_proxy_async", fenceProxy}, {"fence_mbarrier_init", fenceMbarrierInit}};

} // namespace

std::span<const Row> fenceInstructions() { return rows; }

} // namespace tilegym::sim
