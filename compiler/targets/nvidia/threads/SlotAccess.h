// SPDX-License-Identifier: MIT
// Addresses in a slot of shared memory: what a thread adds for its lane and warp once, and for each access a constant.
#pragma once
#include "compiler/layout/Shared.h"
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"

namespace tilegym::nvidia {

class SlotAccess {
public:
  /// `slot` is the address of its first byte; parts count elements of `elementBytes`.
  SlotAccess(ThreadBuilder &t, mlir::Value slot, llvm::ArrayRef<layout::OffsetPart> lanes,
             llvm::ArrayRef<layout::OffsetPart> warps, int64_t elementBytes);

  mlir::Value address(layout::OffsetPart part);

private:
  ThreadBuilder &t;
  mlir::Value slot;
  int64_t elementBytes;
  int64_t movable = 0;                  ///< bits that lane and warp may set, in bytes
  mlir::Value bits, step;               ///< of the thread, in bytes, i32; null: 0
  std::map<int64_t, mlir::Value> bases; ///< by the bits that are XORed
};

/// For each register of a tile that threads hold in `tile`, its address in a slot.
class TileInSlot {
public:
  static mlir::FailureOr<TileInSlot> make(ThreadBuilder &t, mlir::Operation *op, const layout::Layout &tile,
                                          mlir::Value slot);
  mlir::Value address(int64_t reg) { return access.address(addresses.registers[reg]); }
  /// Registers whose elements lie together in the slot, at most 16 bytes of them.
  const std::vector<std::vector<int64_t>> &groups() const { return vectors.groups; }

private:
  TileInSlot(layout::SharedAddresses addresses, layout::Vectors vectors, SlotAccess access)
      : addresses(std::move(addresses)), vectors(std::move(vectors)), access(std::move(access)) {}
  layout::SharedAddresses addresses;
  layout::Vectors vectors;
  SlotAccess access;
};

} // namespace tilegym::nvidia
