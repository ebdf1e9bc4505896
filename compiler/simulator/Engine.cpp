// SPDX-License-Identifier: MIT
// Operations in flight.
#include "compiler/simulator/Engine.h"
#include <algorithm>
#include <cstring>

namespace tilegym::sim {

std::string AsyncOp::describe() const {
  return std::string(what) + " issued by block " + std::to_string(block->index) + " thread " +
         std::to_string(issuerIndex) + " (" + place(site) + ")";
}

void AsyncOp::read(uint64_t address, void *to, uint64_t bytes, uint32_t alignment) {
  machine->accessRange(*this, address, bytes, Touch::Read, alignment, site);
  std::memcpy(to, reinterpret_cast<const void *>(address), bytes);
}

void AsyncOp::write(uint64_t address, const void *from, uint64_t bytes, uint32_t alignment) {
  machine->accessRange(*this, address, bytes, Touch::Write, alignment, site);
  std::memcpy(reinterpret_cast<void *>(address), from, bytes);
}

void AsyncOp::update(uint64_t address, uint64_t bytes, uint32_t alignment) {
  machine->accessRange(*this, address, bytes, Touch::Update, alignment, site);
}

AsyncOp &Engine::issue(Thread &issuer, const Site *site, const char *what, bool asyncProxy) {
  Block &block = *issuer.block;
  // A slot that is taken again vouches for its earlier operation: one that is still in flight must not be vouched for.
  uint32_t first = asyncProxy ? genericSlots : 0,
           count = asyncProxy ? asyncSlots - genericSlots : genericSlots;
  uint32_t slot = first;
  for (uint32_t tries = 0; tries < count; ++tries) {
    slot = first + block.nextSlot++ % count;
    if (!block.slotsInUse[slot])
      break;
  }
  ++block.slotsInUse[slot];
  auto made = std::make_unique<AsyncOp>();
  AsyncOp &op = *made;
  op.machine = &machine;
  op.block = &block;
  op.asyncProxy = asyncProxy;
  op.serial = ++serial;
  op.issuer = &issuer;
  op.issuerIndex = issuer.index;
  op.site = site;
  op.what = what;
  op.clock = Clock(block.index, slot, ++block.slotCounts[slot]);
  op.visible.fill(Clock(block.index, slot, 0));
  SyncClock handover;
  handover.release(issuer);
  handover.acquire(op);
  ++block.cluster->pending;
  operations.push_back(std::move(made));
  return op;
}

bool Engine::isDone(uint64_t wanted) const {
  auto at = std::lower_bound(operations.begin(), operations.end(), wanted,
                             [](const auto &op, uint64_t number) { return op->serial < number; });
  return at == operations.end() || (*at)->serial != wanted;
}

const AsyncOp *Engine::anyOf(const Block &block) const {
  auto at = std::find_if(operations.begin(), operations.end(),
                         [&](const auto &op) { return op->block == &block && op->holdsBlock; });
  return at == operations.end() ? nullptr : at->get();
}

bool Engine::step() {
  if (operations.empty())
    return false;
  // The earliest one waits for none, so one is always found.
  size_t chosen = machine.random(operations.size());
  while (operations[chosen]->after && !isDone(operations[chosen]->after))
    chosen = (chosen + 1) % operations.size();
  AsyncOp &op = *operations[chosen];
  if (op.nextStep < op.steps.size())
    op.steps[op.nextStep++](op);
  if (op.nextStep < op.steps.size())
    return true;
  if (op.onDone)
    op.onDone(op);
  --op.block->cluster->pending;
  --op.block->slotsInUse[op.clock.epoch().index()];
  operations.erase(operations.begin() + ptrdiff_t(chosen)); // what it issued itself came behind it
  return true;
}

} // namespace tilegym::sim
