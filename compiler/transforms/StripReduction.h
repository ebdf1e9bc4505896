// SPDX-License-Identifier: MIT
// Reductions strip by strip: threads keep one partial result a vector in a loop, and meet once, behind it.
#pragma once
#include "compiler/transforms/Strips.h"

namespace tilegym::transforms {

class StripReduction {
public:
  /// Strips of `width` elements, in vectors of `vector` neighbours that one thread holds.
  StripReduction(mlir::Operation *op, int64_t width, int64_t vector) : op(op), width(width), vector(vector) {}

  /// The accumulators before the first strip, and after one more.
  llvm::SmallVector<mlir::Value> start(mlir::OpBuilder &b);
  llvm::SmallVector<mlir::Value> add(mlir::OpBuilder &b, mlir::ValueRange accumulators, Strip &strip);
  /// The op's results.
  llvm::SmallVector<mlir::Value> finish(mlir::OpBuilder &b, mlir::ValueRange accumulators);

  /// Whether strips that lie wholly beyond the end can be left out: what they would add is nothing, or is told by one of their elements.
  bool canEnd(mlir::OpBuilder &b, Strip &beyond);
  /// Their share, of `count` elements, added to the results. After canEnd.
  void addBeyond(mlir::OpBuilder &b, llvm::SmallVectorImpl<mlir::Value> &results, mlir::Value count);

private:
  mlir::RankedTensorType partialType(mlir::Value tile);
  llvm::SmallVector<mlir::Value> combineTiles(mlir::OpBuilder &b, mlir::ValueRange accumulators,
                                              mlir::ValueRange elements);
  mlir::Value shaped(mlir::OpBuilder &b, mlir::Value tile, mlir::Type type);

  mlir::Operation *op;
  int64_t width, vector;
  mlir::Value share; ///< of one element beyond the end; null: nothing
};

} // namespace tilegym::transforms
