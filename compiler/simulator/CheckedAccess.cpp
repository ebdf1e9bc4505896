// SPDX-License-Identifier: MIT
// The check before every access. Races are found by happens-before, as FastTrack does it: a cell knows its last write and the reads since,
// and who touches it next must know them to be earlier. So a race is found whichever order this run happened to take.
#include "compiler/simulator/ExitChecks.h"
#include "compiler/simulator/Machine.h"
#include "compiler/simulator/MachineState.h"
#include <algorithm>
#include <bit>

namespace tilegym::sim {
namespace {

constexpr uint32_t pageBytes = uint32_t(ShadowPage::size);

const char *verb(Touch touch) {
  switch (touch) {
  case Touch::Read:
    return "reads";
  case Touch::Write:
    return "writes";
  case Touch::AtomicRead:
    return "reads (atomic)";
  case Touch::AtomicWrite:
    return "writes (atomic)";
  case Touch::Update:
    return "updates (atomic)";
  }
  return "";
}

std::string hex(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string bytesText(uint64_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

/// "offset 16 of allocation 3 (64 bytes)".
std::string where(Machine &machine, const Agent &agent, uint64_t address) {
  if (const Block *owner = machine.windowOwner(address)) {
    int64_t offset = int64_t(address - owner->sharedStart);
    std::string whose = owner == agent.block ? std::string("shared memory")
                                             : "shared memory of block " + std::to_string(owner->index);
    return "offset " + std::to_string(offset) + " of " + whose + " (" + bytesText(owner->sharedBytes) + ")";
  }
  if (const Allocation *near = machine.memory().owns(address) ? machine.memory().nearest(address) : nullptr) {
    std::string name = near->name + " (" + bytesText(near->bytes) + (near->freed ? ", freed)" : ")");
    if (address < near->address)
      return bytesText(near->address - address) + " before " + name;
    return "offset " + std::to_string(address - near->address) + " of " + name;
  }
  return "address " + hex(address) + ", which is no device memory";
}

std::string action(Touch touch, uint64_t bytes) { return std::string(verb(touch)) + " " + bytesText(bytes); }

/// Who bore an epoch: a thread by its number, an operation by its slot.
std::string describe(Epoch epoch) {
  std::string block = "block " + std::to_string(epoch.block());
  if (epoch.index() >= asyncSlots)
    return block + " thread " + std::to_string(epoch.index() - asyncSlots);
  return "an asynchronous operation of " + block;
}

} // namespace

void Machine::outOfBounds(Agent &agent, uint64_t address, uint64_t bytes, Touch touch, const Site *site) {
  stop(fault(FindingKind::OutOfBounds, agent, site,
             action(touch, bytes) + " out of bounds: " + where(*this, agent, address)));
}

/// Null where the access needs no more checks (parameters). Stops where nothing is there.
inline ShadowPage *Machine::shadowOf(Agent &agent, uint64_t address, uint32_t bytes, Touch touch,
                                     const Site *site) {
  if (address < uint64_t(1) << 32) {
    Block *owner = windows[address >> SharedWindows::rankShift];
    if (!owner || owner->cluster != agent.block->cluster || address < owner->sharedStart ||
        address + bytes > owner->sharedStart + owner->sharedBytes)
      outOfBounds(agent, address, bytes, touch, site);
    if (owner->hasExited() && owner != agent.block)
      stop(fault(FindingKind::OutOfBounds, agent, site,
                 action(touch, bytes) + " of " + where(*this, agent, address) +
                     ", but that block has exited: a cluster barrier must keep it"));
    if (owner != agent.block)
      noteRemoteAccess(*owner, agent, site);
    return &owner->shadow[(address - owner->window) >> ShadowPage::shift];
  }
  if (deviceMemory->owns(address)) {
    ShadowPage *page = deviceMemory->page(address);
    if (!page || uint32_t(address & (pageBytes - 1)) + bytes > page->validBytes)
      outOfBounds(agent, address, bytes, touch, site);
    return page;
  }
  for (auto [start, size] : launched->parameterSpace)
    if (!writes(touch) && address >= start && address - start <= size && bytes <= size - (address - start))
      return nullptr;
  outOfBounds(agent, address, bytes, touch, site);
}

/// Reported with both parties. `earlier` is what the cell remembers.
void Machine::race(Agent &agent, uint64_t address, Touch touch, const Site *site, Epoch earlier,
                   const Site *earlierSite, bool earlierWrote) {
  if (!state->isNew(FindingKind::Race, site, earlierSite))
    return;
  Finding finding = fault(FindingKind::Race, agent, site, "");
  finding.text = "race at " + where(*this, agent, address) + ": " + agent.describe() + " " + verb(touch) +
                 " (" + place(site) + ") and " + describe(earlier) + (earlierWrote ? " writes" : " reads") +
                 (earlier.isAtomic() ? " (atomic)" : "") + " (" + place(earlierSite) +
                 ") with nothing that orders them";
  finding.other = earlierSite;
  keep(std::move(finding));
}

void Machine::missingProxyFence(Agent &agent, uint64_t address, Touch touch, const Site *site, Epoch earlier,
                                const Site *earlierSite, bool earlierWrote) {
  if (!state->isNew(FindingKind::ProxyFence, site, earlierSite))
    return;
  Finding finding = fault(FindingKind::ProxyFence, agent, site, "");
  finding.text = "missing fence.proxy.async: " + agent.describe() + " " + verb(touch) + " " +
                 where(*this, agent, address) + " through the async proxy (" + place(site) + "), which " +
                 describe(earlier) + (earlierWrote ? " wrote" : " read") + " through the generic proxy (" +
                 place(earlierSite) + ")";
  finding.other = earlierSite;
  keep(std::move(finding));
}

/// Adds a reader to those that are not ordered with each other.
void Machine::addReader(Cell &cell, const Agent &agent, Epoch me, const Site *site) {
  auto add = [](ReadSet &set, Epoch epoch, const Site *at) {
    Epoch first(epoch.block(), epoch.index() & ~31u, epoch.count(), epoch.isAtomic());
    uint32_t lane = uint32_t(1) << (epoch.index() & 31);
    for (ReadSet::Entry &entry : set.entries)
      if (entry.first == first) {
        entry.lanes |= lane;
        return true;
      }
    if (set.entries.size() >= ReadSet::limit)
      return false;
    set.entries.push_back({first, lane, at});
    return true;
  };
  if (!cell.readers) {
    cell.readers = std::make_unique<ReadSet>();
    add(*cell.readers, cell.read, cell.readSite);
    cell.read = {};
  }
  ReadSet &set = *cell.readers;
  if (add(set, me, site))
    return;
  // Full: readers that are ordered before this one need no place; where all are unordered, one is forgotten.
  std::erase_if(set.entries, [&](const ReadSet::Entry &entry) {
    for (uint32_t lanes = entry.lanes; lanes; lanes &= lanes - 1) {
      uint32_t index = entry.first.index() + uint32_t(std::countr_zero(lanes));
      if (!agent.clock.covers(Epoch(entry.first.block(), index, entry.first.count())))
        return false;
    }
    return true;
  });
  if (set.entries.size() >= ReadSet::limit)
    set.entries.erase(set.entries.begin() + ptrdiff_t(random(ReadSet::limit)));
  add(set, me, site);
}

static ProxyMemory spaceOf(uint64_t address) {
  return address < uint64_t(1) << 32 ? ProxyMemory::Shared : ProxyMemory::Global;
}

/// In shared memory a read that is ordered before a copy may still be overtaken by it, unless a proxy fence stands between: an H200 lets an
/// mbarrier's arrival pass the ldmatrix in front of it.
void Machine::checkReaders(const Cell &cell, Agent &agent, uint64_t address, Touch touch, const Site *site) {
  bool atomic = isAtomic(touch), crosses = agent.asyncProxy && spaceOf(address) == ProxyMemory::Shared;
  Epoch me = agent.clock.epoch();
  auto isUnfenced = [&](Epoch reader) {
    return crosses && !reader.isAsyncProxy() && !agent.visible[size_t(ProxyMemory::Shared)].covers(reader);
  };
  if (cell.read && cell.read.agent() != me.agent() && !(atomic && cell.read.isAtomic())) {
    if (!agent.clock.covers(cell.read))
      race(agent, address, touch, site, cell.read, cell.readSite, false);
    else if (isUnfenced(cell.read))
      missingProxyFence(agent, address, touch, site, cell.read, cell.readSite, false);
  }
  if (!cell.readers)
    return;
  for (const ReadSet::Entry &entry : cell.readers->entries) {
    if (atomic && entry.first.isAtomic())
      continue;
    for (uint32_t lanes = entry.lanes; lanes; lanes &= lanes - 1) {
      Epoch reader(entry.first.block(), entry.first.index() + uint32_t(std::countr_zero(lanes)),
                   entry.first.count(), entry.first.isAtomic());
      if (!agent.clock.covers(reader)) {
        race(agent, address, touch, site, reader, entry.site, false);
        break;
      }
      if (isUnfenced(reader)) {
        missingProxyFence(agent, address, touch, site, reader, entry.site, false);
        break;
      }
    }
  }
}

inline void Machine::touchCell(Cell &cell, Agent &agent, uint64_t address, Touch touch, const Site *site) {
  bool atomic = isAtomic(touch);
  Epoch me = agent.clock.epoch();
  if (atomic)
    me = me.asAtomic();
  if (!writes(touch) && cell.read == me)
    return;
  if (cell.write && cell.write.agent() != me.agent()) {
    if (!(atomic && cell.write.isAtomic()) && !agent.clock.covers(cell.write))
      race(agent, address, touch, site, cell.write, cell.writeSite, true);
    else if (agent.asyncProxy && !cell.write.isAsyncProxy() &&
             !agent.visible[size_t(spaceOf(address))].covers(cell.write))
      missingProxyFence(agent, address, touch, site, cell.write, cell.writeSite, true);
  }
  if (writes(touch)) {
    if (cell.read || cell.readers) {
      checkReaders(cell, agent, address, touch, site);
      cell.read = {};
      cell.readers.reset();
    }
    cell.write = me;
    cell.writeSite = site;
  } else if (!cell.readers &&
             (!cell.read || cell.read.agent() == me.agent() || agent.clock.covers(cell.read))) {
    cell.read = me;
    cell.readSite = site;
  } else {
    addReader(cell, agent, me, site);
  }
}

void Machine::access(Agent &agent, uint64_t address, uint32_t bytes, Touch touch, uint32_t alignment,
                     const Site *site) {
  uint32_t offset = uint32_t(address & (pageBytes - 1));
  if (offset + bytes > pageBytes || bytes == 0) [[unlikely]]
    return accessRange(agent, address, bytes, touch, alignment, site);
  ++running->accesses;
  if (alignment > 1 && address & (alignment - 1)) [[unlikely]]
    stop(fault(FindingKind::Misaligned, agent, site,
               action(touch, bytes) + " at " + where(*this, agent, address) + ", address " + hex(address) +
                   ": not a multiple of " + std::to_string(alignment)));
  ShadowPage *page = shadowOf(agent, address, bytes, touch, site);
  if (!page)
    return;
  if (reads(touch) && !page->isInitialised(offset, bytes)) [[unlikely]] {
    if (state->isNew(FindingKind::Uninitialised, site, nullptr))
      keep(fault(FindingKind::Uninitialised, agent, site,
                 action(touch, bytes) + " that nobody wrote: " + where(*this, agent, address)));
  }
  if (page->launch != launchNumber) [[unlikely]] {
    page->launch = launchNumber;
    page->cells.clear();
  }
  if (page->cells.empty() || (offset | bytes) & ((1u << page->cellShift) - 1))
    page->refine(offset, bytes);
  Cell *cell = &page->cells[offset >> page->cellShift];
  Cell *end = &page->cells[0] + ((offset + bytes) >> page->cellShift);
  for (uint64_t at = address; cell != end; ++cell, at += uint64_t(1) << page->cellShift)
    touchCell(*cell, agent, at, touch, site);
  if (writes(touch)) {
    page->setInitialised(offset, bytes);
    if (touch !=
        Touch::Update) // an update that changes nothing is how a lock is polled; the atomic itself knows
      idleTurns = 0;
  }
}

void Machine::accessRange(Agent &agent, uint64_t address, uint64_t bytes, Touch touch, uint32_t alignment,
                          const Site *site) {
  if (alignment > 1 && address & (alignment - 1))
    stop(fault(FindingKind::Misaligned, agent, site,
               action(touch, bytes) + " at " + where(*this, agent, address) + ", address " + hex(address) +
                   ": not a multiple of " + std::to_string(alignment)));
  while (bytes) {
    uint32_t here = uint32_t(std::min<uint64_t>(bytes, pageBytes - (address & (pageBytes - 1))));
    access(agent, address, here, touch, 1, site);
    address += here, bytes -= here;
  }
}

} // namespace tilegym::sim
