// SPDX-License-Identifier: MIT
// The arena of device memory, and the windows below 4 GiB.
#include "compiler/simulator/DeviceMemory.h"
#include <algorithm>
#include <bitset>
#include <cstring>
#include <mutex>
#include <new>
#include <sys/mman.h>

namespace tilegym::sim {
namespace {

constexpr uint64_t arenaBytes = uint64_t(256) << 30;
constexpr uint64_t guardBytes = uint64_t(1)
                                << 20; // an access that misses by less is told of by the allocation's name
constexpr uint64_t pageMask = ShadowPage::size - 1;

uint64_t roundUp(uint64_t bytes) { return (bytes + pageMask) & ~pageMask; }

void *reserve(uint64_t bytes, int protection) {
  void *at = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw std::bad_alloc();
  return at;
}

void *pointer(uint64_t address) { return reinterpret_cast<void *>(address); }

} // namespace

Memory::Memory() : reserved(arenaBytes) {
  base = reinterpret_cast<uint64_t>(reserve(reserved, PROT_NONE));
  pages = static_cast<ShadowPage **>(
      reserve(reserved / ShadowPage::size * sizeof(ShadowPage *), PROT_READ | PROT_WRITE));
  next = base + guardBytes;
}

Memory::~Memory() {
  munmap(pointer(base), reserved);
  munmap(pages, reserved / ShadowPage::size * sizeof(ShadowPage *));
}

uint64_t Memory::takeRange(uint64_t bytes) {
  if (bytes <= base + reserved - next) {
    next += bytes;
    return next - bytes;
  }
  for (auto it = quarantine.begin(); it != quarantine.end(); ++it) {
    uint64_t address = *it;
    if (roundUp(allocations[address].bytes) + guardBytes < bytes)
      continue;
    quarantine.erase(it);
    allocations.erase(address);
    return address;
  }
  throw std::bad_alloc();
}

uint64_t Memory::allocate(uint64_t bytes, std::string name, bool initialised) {
  if (bytes > reserved)
    throw std::bad_alloc();
  uint64_t used = roundUp(bytes), address = takeRange(used + guardBytes);
  ++serial;
  Allocation &made = allocations[address];
  made = {address, bytes, name.empty() ? "allocation " + std::to_string(serial) : std::move(name), false, {}};
  if (!used)
    return address;
  if (mprotect(pointer(address), used, PROT_READ | PROT_WRITE) != 0)
    throw std::bad_alloc();
  std::memset(pointer(address), poisonByte, used);
  made.shadow = std::make_unique<ShadowPage[]>(used / ShadowPage::size);
  for (uint64_t at = 0; at < used; at += ShadowPage::size) {
    ShadowPage &page = made.shadow[at / ShadowPage::size];
    page.validBytes = uint32_t(std::min(ShadowPage::size, bytes - at));
    if (initialised)
      page.setInitialised(0, page.validBytes);
    pages[(address + at - base) / ShadowPage::size] = &page;
  }
  return address;
}

bool Memory::free(uint64_t address) {
  auto found = allocations.find(address);
  if (found == allocations.end() || found->second.freed)
    return false;
  uint64_t used = roundUp(found->second.bytes);
  for (uint64_t at = 0; at < used; at += ShadowPage::size)
    pages[(address + at - base) / ShadowPage::size] = nullptr;
  found->second.freed = true;
  found->second.shadow.reset();
  if (used) {
    madvise(pointer(address), used, MADV_DONTNEED);
    mprotect(pointer(address), used, PROT_NONE);
  }
  quarantine.push_back(address);
  return true;
}

bool Memory::write(uint64_t address, const void *from, uint64_t bytes) {
  if (!find(address, bytes))
    return false;
  std::memcpy(pointer(address), from, bytes);
  markInitialised(address, bytes);
  return true;
}

bool Memory::read(uint64_t address, void *to, uint64_t bytes) const {
  if (!find(address, bytes))
    return false;
  std::memcpy(to, pointer(address), bytes);
  return true;
}

bool Memory::fill(uint64_t address, uint8_t value, uint64_t bytes) {
  if (!find(address, bytes))
    return false;
  std::memset(pointer(address), value, bytes);
  markInitialised(address, bytes);
  return true;
}

void Memory::markInitialised(uint64_t address, uint64_t bytes) {
  while (bytes) {
    uint32_t offset = uint32_t(address & pageMask);
    uint32_t here = uint32_t(std::min<uint64_t>(bytes, ShadowPage::size - offset));
    if (ShadowPage *at = page(address))
      at->setInitialised(offset, here);
    address += here, bytes -= here;
  }
}

const Allocation *Memory::nearest(uint64_t address) const {
  auto after = allocations.upper_bound(address);
  const Allocation *below = after == allocations.begin() ? nullptr : &std::prev(after)->second;
  const Allocation *above = after == allocations.end() ? nullptr : &after->second;
  if (below && address < below->address + below->bytes)
    return below;
  if (below && (!above || address - (below->address + below->bytes) <= above->address - address))
    return below;
  return above;
}

const Allocation *Memory::find(uint64_t address, uint64_t bytes) const {
  const Allocation *found = owns(address) ? nearest(address) : nullptr;
  bool holds = found && !found->freed && address >= found->address &&
               address - found->address <= found->bytes && bytes <= found->bytes - (address - found->address);
  return holds ? found : nullptr;
}

namespace {

// Below the first 256 MiB lie programs that are not position-independent; above 0x70000000 AddressSanitizer's shadow.
constexpr unsigned firstUnit = 16, endUnit = 112;
std::mutex unitsLock;
std::bitset<endUnit> unitsTaken;

} // namespace

std::unique_ptr<SharedWindows> SharedWindows::take(unsigned blocks) {
  std::lock_guard lock(unitsLock);
  for (unsigned unit = firstUnit; unit + blocks <= endUnit; ++unit) {
    bool isFree = true;
    for (unsigned i = 0; i < blocks; ++i)
      isFree &= !unitsTaken[unit + i];
    if (!isFree)
      continue;
    void *at = mmap(pointer(unit * span), blocks * span, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == MAP_FAILED)
      continue; // somebody else's
    if (reinterpret_cast<uint64_t>(at) !=
        unit * span) { // a kernel that does not know the flag took it for a hint
      munmap(at, blocks * span);
      continue;
    }
    for (unsigned i = 0; i < blocks; ++i)
      unitsTaken.set(unit + i);
    return std::unique_ptr<SharedWindows>(new SharedWindows(unit * span, blocks));
  }
  return nullptr;
}

SharedWindows::~SharedWindows() {
  std::lock_guard lock(unitsLock);
  munmap(pointer(start), blocks * span);
  for (unsigned i = 0; i < blocks; ++i)
    unitsTaken.reset(start / span + i);
}

} // namespace tilegym::sim
