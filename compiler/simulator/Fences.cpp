// SPDX-License-Identifier: MIT
// Fences: of memory order, and between the proxies.
#include "compiler/simulator/Instructions.h"
#include "compiler/simulator/Machine.h"
#include "compiler/simulator/Mbarrier.h"
#include "compiler/simulator/Ordering.h"

namespace tilegym::sim {

namespace {

void fenceMemory(const uint64_t *, uint64_t *, const Site *site) {
  fence(current(), Scope(site->attributes[1]));
}

void fenceProxy(const uint64_t *, uint64_t *, const Site *site) {
  auto space = ProxySpace(site->attributes[0]);
  fenceProxyAsync(current(), space != ProxySpace::Global,
                  space == ProxySpace::All || space == ProxySpace::Global);
  if (space != ProxySpace::Global)
    publishMbarriers(current());
}

void fenceMbarrierInit(const uint64_t *, uint64_t *, const Site *) { publishMbarriers(current()); }

constexpr Row rows[] = {
    {"fence", fenceMemory}, {"fence_proxy_async", fenceProxy}, {"fence_mbarrier_init", fenceMbarrierInit}};

} // namespace

std::span<const Row> fenceInstructions() { return rows; }

} // namespace tilegym::sim
