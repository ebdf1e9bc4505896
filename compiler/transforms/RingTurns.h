// SPDX-License-Identifier: MIT
// Where a side of a ring is: which slot comes next, and the parity of the phase to wait for. Values of the program, carried through its loops.
#pragma once
#include "mlir/IR/Builders.h"

namespace tilegym::transforms {

struct Turn {
  mlir::Value slot, parity;
};
using Turns = llvm::SmallVector<Turn>; ///< by ring

mlir::Value number(mlir::OpBuilder &b, mlir::Location loc, int64_t value);
/// Slots are empty at first: to the producer (parity 1), as if a phase before the first were complete.
Turns firstTurns(mlir::OpBuilder &b, mlir::Location loc, size_t rings, int64_t parity);
/// The next slot of a ring of `slots`.
Turn after(mlir::OpBuilder &b, mlir::Location loc, Turn turn, int64_t slots);
/// So many slots on, however many.
Turn afterMany(mlir::OpBuilder &b, mlir::Location loc, Turn turn, int64_t slots, mlir::Value count);
/// The slot of the turn before.
mlir::Value slotBefore(mlir::OpBuilder &b, mlir::Location loc, Turn turn, int64_t slots);

/// What a loop carries of the rings that turn within it, and back.
llvm::SmallVector<mlir::Value> flat(const Turns &turns, llvm::ArrayRef<size_t> within);
void unflat(mlir::ValueRange values, llvm::ArrayRef<size_t> within, Turns &turns);

} // namespace tilegym::transforms
