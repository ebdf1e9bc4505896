// SPDX-License-Identifier: MIT
// Wide tiles, cut into strips along their last axis: the same ops for a strip at a time.
#pragma once
#include "compiler/ir/Tile.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace tilegym::transforms {

/// Whether the value is a tile whose last axis has this length.
bool isWide(mlir::Value value, int64_t length);
/// Whether what the op does to wide tiles can be done strip by strip: elementwise, along other axes, or a load, store or reduction.
bool canStrip(mlir::Operation *op, int64_t length);
/// Whether the region of a load or store ends where its last axis does, which starts at 0; `end` is the upper bound there.
bool spansFromZero(tile::RegionOp op);
mlir::Value endOf(tile::RegionOp op);

/// The strip of `width` elements from `start` on. Or, with a null start, one element beyond `end`, where loads give their pads: then only what
/// follows from that is known.
class Strip {
public:
  Strip(mlir::OpBuilder &b, int64_t length, int64_t width, mlir::Value start, mlir::Value end,
        const llvm::DenseMap<mlir::Operation *, mlir::Value> &held)
      : b(b), length(length), width(width), start(start), end(end), held(held) {}

  /// The strip's part of a wide tile; a narrow value is itself. Null where it is not known.
  mlir::Value of(mlir::Value value);
  /// Ops of these kinds for the strip.
  mlir::Value load(tile::LoadOp load);
  void store(tile::StoreOp store);

private:
  mlir::Value make(mlir::Operation *op);
  mlir::Value cloned(mlir::Operation *op);
  mlir::Value iota(tile::IotaOp op);
  mlir::Type stripOf(mlir::Type type);
  mlir::Value compareWithEnd(mlir::Operation *op);
  llvm::SmallVector<mlir::Value> stripIndices(tile::RegionOp op);

  mlir::OpBuilder &b;
  int64_t length, width;
  mlir::Value start, end;
  const llvm::DenseMap<mlir::Operation *, mlir::Value> &held; ///< by load
  llvm::DenseMap<mlir::Value, mlir::Value> made;
};

} // namespace tilegym::transforms
