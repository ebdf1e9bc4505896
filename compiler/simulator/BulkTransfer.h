// SPDX-License-Identifier: MIT
// What all operations of the copy engine have in common: runs of bytes to move, and how their end is told.
#pragma once
#include "compiler/simulator/AsyncGroups.h"
#include "compiler/simulator/MemoryReduction.h"
#include "compiler/simulator/TensorBox.h"
#include <optional>

namespace tilegym::sim {

/// Bytes between shared memory and elsewhere (global memory, or shared memory of another block).
struct Transfer {
  std::vector<BoxRun> runs;
  uint32_t bytes = 0;           ///< what is counted, in all
  std::optional<TensorMap> map; ///< says what fills runs outside the tensor
};

/// One row of bytes.
Transfer rowTransfer(uint64_t shared, uint64_t elsewhere, uint32_t bytes);
/// A box of a tensor; ends the launch where coordinates and map do not agree, or the hardware has no such copy.
Transfer boxTransfer(Thread &thread, uint64_t map, std::span<const uint64_t> coordinates, uint64_t shared,
                     bool isStore, const Site *site);
/// Ends the launch where a store of the box would write beyond a row of the tensor: an H200 writes whole units of 16 bytes, though it loads single elements.
void checkWholeUnits(Thread &thread, const Transfer &transfer, const Site *site);
/// The map at an address that the kernel was given; ends the launch where there is none.
TensorMap readTensorMap(Thread &thread, uint64_t address, const Site *site);

/// Ends the launch where an address or a size is no multiple of `multiple`.
void checkMultiple(Thread &thread, const char *what, uint64_t value, uint32_t multiple, const Site *site);

/// From elsewhere to shared memory: of the block that `barrier` is in or, with a mask, of the blocks whose bits are set, at the same offset in each; then
/// counts the bytes at the barrier of each.
void issueLoad(Thread &thread, Transfer transfer, uint64_t barrier, std::optional<uint64_t> mask,
               const char *what, const Site *site);

struct Reduction {
  ReduceKind kind;
  ElementType type;
};
/// From shared memory to elsewhere: in the thread's bulk group, or with a signal to a barrier in the block that the destination is in.
void issueStore(Thread &thread, Transfer transfer, std::optional<Reduction> reduction,
                std::optional<uint64_t> barrier, const char *what, const Site *site);

/// The current thread's bulk groups.
AsyncGroups &bulkGroups(Thread &thread);
/// Null where the thread never had any.
const AsyncGroups *findBulkGroups(const Thread &thread);

} // namespace tilegym::sim
