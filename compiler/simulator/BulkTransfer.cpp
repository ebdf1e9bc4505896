// SPDX-License-Identifier: MIT
// The copy engine's operations.
#include "compiler/simulator/BulkTransfer.h"

#include "compiler/simulator/Mbarrier.h"

#include <cstring>

namespace tilegym::sim {

namespace {

[[noreturn]] void badOperand(Thread &thread, const Site *site, std::string text) {
  thread.machine->stop(fault(FindingKind::BadOperand, thread, site, std::move(text)));
}

/// What is on its way, run after run.
using Cargo = std::shared_ptr<std::vector<std::byte>>;

struct BulkGroups {
  AsyncGroups groups;
};

/// The window offset is the same in every block of a cluster.
uint64_t addressInRank(const Cluster &cluster, uint64_t address, uint32_t rank) {
  return cluster.windows->base() + (uint64_t(rank) << SharedWindows::rankShift) +
         (address & (SharedWindows::span - 1));
}

void fetch(AsyncOp &op, const Transfer &transfer, std::byte *to) {
  for (const BoxRun &run : transfer.runs) {
    if (run.inside)
      op.read(run.global, to, run.bytes);
    else
      fillOutside(*transfer.map, to, run.bytes);
    to += run.bytes;
  }
}

void place(AsyncOp &op, const Transfer &transfer, const std::byte *from, uint64_t difference) {
  for (const BoxRun &run : transfer.runs) {
    op.write(run.shared + difference, from, run.bytes);
    from += run.bytes;
  }
}

void reduceRun(AsyncOp &op, uint64_t address, const std::byte *from, uint32_t bytes, Reduction reduction) {
  auto size = uint32_t(elementBytes(reduction.type));
  op.update(address, bytes);
  for (uint32_t at = 0; at < bytes; at += size) {
    uint64_t old = 0, value = 0;
    auto *memory = reinterpret_cast<void *>(address + at);
    std::memcpy(&old, memory, size);
    std::memcpy(&value, from + at, size);
    if (auto combined = reduced(reduction.kind, reduction.type, old, value, /*flush=*/false))
      std::memcpy(memory, &*combined, size);
  }
}

void deliver(AsyncOp &op, const Transfer &transfer, const std::byte *from,
             std::optional<Reduction> reduction) {
  for (const BoxRun &run : transfer.runs) {
    if (run.inside && reduction)
      reduceRun(op, run.global, from, run.bytes, *reduction);
    else if (run.inside)
      op.write(run.global, from, run.bytes);
    from += run.bytes;
  }
}

const char *name(ReduceKind kind) {
  static constexpr const char *names[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  return names[size_t(kind)];
}

/// Whether the copy engine has the reduction; `inCluster`: into shared memory.
bool canReduce(Reduction reduction, bool inCluster) {
  using T = ElementType;
  ElementType type = reduction.type;
  bool is32 = type == T::U32 || type == T::S32, is64 = type == T::U64 || type == T::S64,
       isHalf = type == T::F16 || type == T::BF16;
  switch (reduction.kind) {
  case ReduceKind::Add:
    return inCluster ? is32 || type == T::U64 : is32 || is64 || isHalf || type == T::F32 || type == T::F64;
  case ReduceKind::Min:
  case ReduceKind::Max:
    return inCluster ? is32 : is32 || is64 || isHalf;
  case ReduceKind::Inc:
  case ReduceKind::Dec:
    return type == T::U32;
  case ReduceKind::And:
  case ReduceKind::Or:
  case ReduceKind::Xor:
    return is32 || (is64 && !inCluster);
  }
  return false;
}

} // namespace

AsyncGroups &bulkGroups(Thread &thread) { return thread.family.get<BulkGroups>().groups; }
const AsyncGroups *findBulkGroups(const Thread &thread) {
  const BulkGroups *made = thread.family.find<BulkGroups>();
  return made ? &made->groups : nullptr;
}

void checkMultiple(Thread &thread, const char *what, uint64_t value, uint32_t multiple, const Site *site) {
  if (value % multiple)
    thread.machine->stop(fault(FindingKind::Misaligned, thread, site,
                               std::string(what) + " is " + std::to_string(value % multiple) +
                                   " more than a multiple of " + std::to_string(multiple)));
}

Transfer rowTransfer(uint64_t shared, uint64_t elsewhere, uint32_t bytes) {
  return {{{shared, elsewhere, bytes, true}}, bytes, std::nullopt};
}

TensorMap readTensorMap(Thread &thread, uint64_t address, const Site *site) {
  thread.machine->accessRange(thread, address, sizeof(TensorMapBytes), Touch::Read, 64, site);
  auto map = decodeTensorMap(reinterpret_cast<const std::byte *>(address));
  if (!map)
    badOperand(thread, site, "uses 128 bytes as a tensor map that are none");
  return *map;
}

Transfer boxTransfer(Thread &thread, uint64_t map, std::span<const uint64_t> coordinates, uint64_t shared,
                     bool isStore, const Site *site) {
  Transfer transfer;
  transfer.map = readTensorMap(thread, map, site);
  if (int(coordinates.size()) != transfer.map->rank)
    badOperand(thread, site,
               "gives " + std::to_string(coordinates.size()) + " coordinates for a tensor map of rank " +
                   std::to_string(transfer.map->rank));
  checkMultiple(thread, "the box's address in shared memory", shared, 128, site);
  std::vector<int32_t> first(coordinates.size());
  for (size_t i = 0; i < first.size(); ++i)
    first[i] = int32_t(uint32_t(coordinates[i]));
  // Neither is in the PTX ISA; an H200 calls both an illegal instruction.
  int64_t offset = int64_t(first[0]) * transfer.map->elementBytes();
  if (offset % 16)
    badOperand(thread, site,
               "starts a box " + std::to_string(offset) +
                   " bytes along the innermost dimension, which must be a multiple of 16");
  if (isStore)
    for (size_t i = 0; i < first.size(); ++i)
      if (first[i] < 0)
        badOperand(thread, site,
                   "stores a box at coordinate " + std::to_string(first[i]) + " of dimension " +
                       std::to_string(i) + "; only loads may start before the tensor");
  walkBox(*transfer.map, first, shared, [&](const BoxRun &run) { transfer.runs.push_back(run); });
  transfer.bytes = transfer.map->boxBytes();
  return transfer;
}

void checkWholeUnits(Thread &thread, const Transfer &transfer, const Site *site) {
  for (const BoxRun &run : transfer.runs)
    if (run.inside && run.bytes % 16)
      badOperand(thread, site,
                 "writes whole units of 16 bytes, but a row of the tensor ends after " +
                     std::to_string(run.bytes) + " bytes of one");
}

void issueLoad(Thread &thread, Transfer transfer, uint64_t barrier, std::optional<uint64_t> mask,
               const char *what, const Site *site) {
  Machine &machine = *thread.machine;
  Cluster &cluster = *thread.block->cluster;
  findMbarrier(thread, barrier, site);
  std::vector<std::pair<uint64_t, uint64_t>> targets; // what is added to shared addresses, and the barrier
  uint64_t destination = transfer.runs.front().shared;
  if (!mask) {
    if (machine.windowOwner(destination) != machine.windowOwner(barrier))
      badOperand(thread, site,
                 "copies to one block and signals a barrier of another; both must be of the same one");
    targets.push_back({0, barrier});
  } else {
    if (*mask == 0 || *mask >> cluster.blocks.size())
      badOperand(thread, site,
                 "has multicast mask " + std::to_string(*mask) + " in a cluster of " +
                     std::to_string(cluster.blocks.size()) + " blocks");
    for (uint32_t rank = 0; rank < cluster.blocks.size(); ++rank)
      if (*mask >> rank & 1)
        targets.push_back(
            {addressInRank(cluster, destination, rank) - destination, addressInRank(cluster, barrier, rank)});
  }
  AsyncOp &op = machine.engine().issue(thread, site, what, true);
  auto moved = std::make_shared<Transfer>(std::move(transfer));
  uint64_t size = 0;
  for (const BoxRun &run : moved->runs)
    size += run.bytes;
  Cargo cargo = std::make_shared<std::vector<std::byte>>(size);
  op.steps = {[=](AsyncOp &self) { fetch(self, *moved, cargo->data()); }};
  for (auto [difference, signal] : targets)
    op.steps.push_back([=](AsyncOp &self) {
      place(self, *moved, cargo->data(), difference);
      completeTransactions(self, signal, moved->bytes, site);
    });
}

void issueStore(Thread &thread, Transfer transfer, std::optional<Reduction> reduction,
                std::optional<uint64_t> barrier, const char *what, const Site *site) {
  Machine &machine = *thread.machine;
  if (reduction && !canReduce(*reduction, barrier.has_value()))
    badOperand(thread, site,
               std::string("reduces by ") + name(reduction->kind) + " elements of type " +
                   name(reduction->type) + ", which the copy engine cannot" +
                   (barrier ? " in shared memory" : ""));
  if (barrier) {
    findMbarrier(thread, *barrier, site);
    if (machine.windowOwner(transfer.runs.front().global) != machine.windowOwner(*barrier))
      badOperand(thread, site,
                 "copies to one block and signals a barrier of another; both must be of the same one");
  }
  AsyncOp &op = machine.engine().issue(thread, site, what, true);
  auto moved = std::make_shared<Transfer>(std::move(transfer));
  Cargo cargo = std::make_shared<std::vector<std::byte>>();
  AsyncGroups *groups = barrier ? nullptr : &bulkGroups(thread);
  std::shared_ptr<AsyncGroup> group = groups ? groups->join(site) : nullptr;
  op.steps = {[=](AsyncOp &self) {
                for (const BoxRun &run : moved->runs) {
                  size_t at = cargo->size();
                  cargo->resize(at + run.bytes);
                  if (run.inside)
                    self.read(run.shared, cargo->data() + at, run.bytes);
                }
                if (groups)
                  groups->sourceRead(self, *group);
              },
              [=](AsyncOp &self) {
                deliver(self, *moved, cargo->data(), reduction);
                if (groups)
                  groups->finished(self, *group);
                else
                  completeTransactions(self, *barrier, moved->bytes, site);
              }};
}

} // namespace tilegym::sim
