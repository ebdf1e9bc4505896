// SPDX-License-Identifier: MIT
// The instructions of the copy engine: rows of bytes, boxes of tensors, and their groups.
#include "compiler/simulator/BulkTransfer.h"
#include "compiler/simulator/ExitChecks.h"
#include "compiler/simulator/Instructions.h"
#include "compiler/simulator/Operands.h"

namespace tilegym::sim {

namespace {

std::optional<uint64_t> given(const Operands &in, unsigned place) {
  return in.has(place) ? std::optional(in[place]) : std::nullopt;
}

Transfer row(uint64_t shared, uint64_t elsewhere, uint64_t bytes, const Site *site) {
  checkMultiple(current(), "the address in shared memory", shared, 16, site);
  checkMultiple(current(), "the other address", elsewhere, 16, site);
  checkMultiple(current(), "the number of bytes", uint32_t(bytes), 16, site);
  return rowTransfer(shared, elsewhere, uint32_t(bytes));
}

void bulkLoad(const uint64_t *operands, uint64_t *, const Site *site) {
  Operands in(operands, site, 7, 6);
  if (in.holds(6))
    issueLoad(current(), row(in[0], in[1], in[2], site), in[3], given(in, 4), "bulk copy", site);
}

void bulkStore(const uint64_t *operands, uint64_t *, const Site *site) {
  Operands in(operands, site, 5, 4);
  if (in.holds(4))
    issueStore(current(), row(in[1], in[0], in[2], site), std::nullopt, std::nullopt, "bulk store", site);
}

void bulkReduce(const uint64_t *operands, uint64_t *, const Site *site) {
  Operands in(operands, site, 6, 5);
  Reduction reduction{ReduceKind(site->attributes[0]), ElementType(site->attributes[1])};
  if (in.holds(5))
    issueStore(current(), row(in[1], in[0], in[2], site), reduction, given(in, 3), "bulk reduction", site);
}

void bulkCopyCluster(const uint64_t *operands, uint64_t *, const Site *site) {
  Operands in(operands, site, 5, 4);
  if (in.holds(4))
    issueStore(current(), row(in[1], in[0], in[2], site), std::nullopt, in[3], "bulk copy", site);
}

void bulkCommit(const uint64_t *, uint64_t *, const Site *) { bulkGroups(current()).commit(); }

void bulkWait(const uint64_t *, uint64_t *, const Site *site) {
  bulkGroups(current()).wait(size_t(site->attributes[0]), site->attributes[1] != 0, site);
}

void tensorLoad(const uint64_t *operands, uint64_t *, const Site *site) {
  Operands in(operands, site, 7, 2);
  if (in.holds(6))
    issueLoad(current(), boxTransfer(current(), in[1], in.group(2), in[0], false, site), in[3], given(in, 4),
              "tensor copy", site);
}

void tensorStore(const uint64_t *operands, uint64_t *, const Site *site) {
  Operands in(operands, site, 5, 1);
  if (!in.holds(4))
    return;
  Transfer transfer = boxTransfer(current(), in[0], in.group(1), in[2], true, site);
  checkWholeUnits(current(), transfer, site);
  issueStore(current(), std::move(transfer), std::nullopt, std::nullopt, "tensor store", site);
}

/// A tensor's elements as reductions know them; types that they do not have come out as one that no reduction has.
ElementType reductionType(TensorType type) {
  using T = ElementType;
  constexpr ElementType types[] = {T::U8,  T::U8,  T::U32, T::S32, T::U64,
                                   T::S64, T::F16, T::F32, T::F64, T::BF16};
  return types[size_t(type)];
}

void tensorReduce(const uint64_t *operands, uint64_t *, const Site *site) {
  Operands in(operands, site, 5, 1);
  if (!in.holds(4))
    return;
  Transfer transfer = boxTransfer(current(), in[0], in.group(1), in[2], true, site);
  Reduction reduction{ReduceKind(site->attributes[0]), reductionType(transfer.map->type)};
  issueStore(current(), std::move(transfer), reduction, std::nullopt, "tensor reduction", site);
}

void tensorPrefetch(const uint64_t *operands, uint64_t *, const Site *site) {
  Operands in(operands, site, 4, 1);
  if (!in.holds(3))
    return;
  if (in.group(1).empty()) // the bytes alone, whatever they are: that of a tensor without elements is none
    current().machine->accessRange(current(), in[0], sizeof(TensorMapBytes), Touch::Read, 64, site);
  else
    readTensorMap(current(), in[0], site);
}

constexpr Row rows[] = {{"bulk_load", bulkLoad},         {"bulk_store", bulkStore},
                        {"bulk_reduce", bulkReduce},     {"bulk_copy_cluster", bulkCopyCluster},
                        {"bulk_commit", bulkCommit},     {"bulk_wait", bulkWait},
                        {"tensor_load", tensorLoad},     {"tensor_store", tensorStore},
                        {"tensor_reduce", tensorReduce}, {"tensor_prefetch", tensorPrefetch}};

} // namespace

void checkBulkGroupsAtExit(Thread &thread) {
  const AsyncGroups *groups = findBulkGroups(thread);
  if (const Site *store = groups ? groups->unwaited() : nullptr)
    thread.machine->report(fault(FindingKind::PendingAtExit, thread, store,
                                 "ends without having waited for its bulk stores: their source may be gone "
                                 "before it is read; bulk_wait must come first"));
}

std::span<const Row> bulkInstructions() { return rows; }

} // namespace tilegym::sim
