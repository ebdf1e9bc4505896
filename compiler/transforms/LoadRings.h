// SPDX-License-Identifier: MIT
// Loads that the copy engine can take to shared memory for warps that only compute: which they are, and which share a ring of slots.
#pragma once
#include "compiler/ir/Tile.h"

namespace tilegym::transforms {

struct RingFill {
  tile::LoadOp load;
  tile::PutOp put;
  tile::SlotOp slot;
  tile::AllocOp alloc;
  mlir::Value map;
  bool shared = false; ///< all blocks of a cluster take the same: each copies a part of it to all
};

/// A place of the program where slots are filled together and read together.
struct RingSite {
  llvm::SmallVector<RingFill> fills;
  mlir::Operation *first = nullptr;       ///< of their puts
  mlir::Operation *firstReader = nullptr; ///< in the block of the puts, as is what ends the last read
  mlir::Operation *lastReader = nullptr;
  bool readByThreads = false; ///< not by instructions that read shared memory themselves
  /// Where its one reader is a product that adds to what the loop carries: it may still run while the next turn's begins.
  tile::DotOp overlapped;
};

/// Slots that the producer fills in turns, at one site after another.
struct LoadRing {
  llvm::SmallVector<RingSite> sites;
  int64_t slots = 1;
  mlir::Value full, empty; ///< mbarriers
};

/// In program order. Rings have `stages` slots, but one where other rings turn within their turn, or two where a loop comes back to it and they fit. Sites whose lives are apart, and
/// that take the same of the same tensor, share one. Empty where there is nothing for a producer to do. Adds the tensor maps to the kernel.
llvm::SmallVector<LoadRing> findLoadRings(tile::KernelOp kernel, int64_t stages, int64_t sharedBytes);

} // namespace tilegym::transforms
