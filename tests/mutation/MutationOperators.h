// SPDX-License-Identifier: MIT
// Mutation operators: small mistakes that a pass could make, at places of one thread's program (the threads stage).
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace tilegym::mutation {

struct Operator {
  llvm::StringLiteral name;
  /// At how many places of `op` the mistake can be made.
  unsigned (*places)(mlir::Operation *op);
  /// Makes it at one of them. `op` may be gone afterwards. `random` chooses where several mistakes are possible there.
  void (*apply)(mlir::Operation *op, unsigned place, uint64_t random);
  /// Survival would always be a hole: a short run takes these.
  bool isPlain = false;
};

/// Of what orders threads and operations in flight.
llvm::ArrayRef<Operator> orderOperators();
/// Of arithmetic, conditions and lanes.
llvm::ArrayRef<Operator> valueOperators();
/// Of accesses.
llvm::ArrayRef<Operator> memoryOperators();

/// The three lists in turn.
std::vector<const Operator *> allOperators();

/// What the families share.
mlir::Value constantBefore(mlir::Operation *op, mlir::Type type, int64_t value);
/// Takes the operation out; its results become its last operands (what a wait or fence passes on).
void dropOperation(mlir::Operation *op);
/// Operand of an instruction's `if`, null where it has none.
mlir::OpOperand *predicateOf(mlir::Operation *op);

} // namespace tilegym::mutation
