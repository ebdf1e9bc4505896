// SPDX-License-Identifier: MIT
// Plain accesses: the check before a load or store of compiled code, and vectors of words under a predicate.
#include "compiler/simulator/Instructions.h"
#include "compiler/simulator/Machine.h"
#include <bit>
#include <cstring>

namespace tilegym::sim {
namespace {

void plain(const uint64_t *operands, Touch touch, const Site *site) {
  Thread &thread = current();
  thread.machine->maybePreempt();
  uint32_t bytes = uint32_t(operands[1]), alignment = site->numAttributes ? uint32_t(site->attributes[0]) : 0;
  thread.machine->access(thread, operands[0], bytes, touch, alignment, site);
  thread.machine->noteTraffic(thread, operands[0], bytes, writes(touch), site);
}

void load(const uint64_t *operands, uint64_t *, const Site *site) { plain(operands, Touch::Read, site); }
void store(const uint64_t *operands, uint64_t *, const Site *site) { plain(operands, Touch::Write, site); }

/// The check of a vector of `words`; false where the predicate is false.
bool vector(uint64_t address, uint32_t bytes, bool predicate, Touch touch, const Site *site) {
  Thread &thread = current();
  thread.machine->maybePreempt();
  if (predicate)
    thread.machine->access(thread, address, bytes, touch, bytes, site);
  thread.machine->noteTraffic(thread, address, predicate ? bytes : 0, writes(touch), site);
  return predicate;
}

enum LoadAttribute { LoadOffset, LoadBits };

/// address, predicate?, others...
void loadWords(const uint64_t *operands, uint64_t *results, const Site *site) {
  uint32_t words = site->numResults, bytes = uint32_t(site->attributes[LoadBits] / 8);
  bool isPredicated = site->segments[1] != 0;
  uint64_t address = operands[0] + uint64_t(site->attributes[LoadOffset]);
  bool predicate = !isPredicated || operands[1];
  if (!vector(address, bytes * words, predicate, Touch::Read, site)) {
    std::copy_n(operands + 2, words, results);
    return;
  }
  for (uint32_t i = 0; i < words; ++i) {
    results[i] = 0;
    std::memcpy(&results[i], reinterpret_cast<const void *>(address + i * bytes), bytes);
  }
}

enum StoreAttribute { StoreOffset, StoreBits };

/// words..., address, predicate?
void storeGlobal(const uint64_t *operands, uint64_t *, const Site *site) {
  uint32_t words = uint32_t(site->segments[0]), bytes = uint32_t(site->attributes[StoreBits] / 8);
  uint64_t address = operands[words] + uint64_t(site->attributes[StoreOffset]);
  bool predicate = site->segments[2] == 0 || operands[words + 1];
  if (vector(address, bytes * words, predicate, Touch::Write, site))
    for (uint32_t i = 0; i < words; ++i)
      std::memcpy(reinterpret_cast<void *>(address + i * bytes), &operands[i], bytes);
}

constexpr Row rows[] = {{"load", load},
                        {"store", store},
                        {"load_global", loadWords},
                        {"load_shared", loadWords},
                        {"store_global", storeGlobal}};

} // namespace

std::span<const Row> memoryInstructions() { return rows; }

} // namespace tilegym::sim
