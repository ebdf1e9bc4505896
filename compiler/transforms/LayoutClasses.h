// SPDX-License-Identifier: MIT
// The tiles of a kernel in classes that must have one layout, and how the layout of one class follows from another's.
#pragma once
#include "compiler/transforms/LayoutCost.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallSet.h"
#include <functional>

namespace tilegym::transforms {

using Derive = std::function<layout::Expected<layout::Layout>(const layout::Layout &)>;

struct LayoutClass {
  llvm::SmallVector<mlir::Value> members;
  layout::Shape shape;
  int64_t elementBytes = 8; ///< the least of its members
  llvm::SmallVector<tile::RegionOp> accesses;
  tile::DotOp product; ///< the first whose result is in it, or null: its instructions say where elements are
  llvm::SmallSet<int, 4> reduced; ///< axes along which it is reduced or scanned
  /// By axis: equal pieces that are taken apart or put together, which registers should tell apart.
  llvm::SmallVector<int64_t> pieces;
  /// Classes whose layout follows from this one's.
  llvm::SmallVector<std::pair<int, Derive>> followers;

  int64_t numElements() const {
    int64_t n = 1;
    for (int64_t extent : shape)
      n *= extent;
    return n;
  }
};

class LayoutClasses {
public:
  explicit LayoutClasses(tile::KernelOp kernel);

  std::vector<LayoutClass> classes;
  /// The class of a tile.
  int of(mlir::Value value) const { return classOf.lookup(value); }

private:
  int parentOf(int id);
  int idOf(mlir::Value value);
  void unite(mlir::Value a, mlir::Value b);
  void uniteAll(mlir::ValueRange values);
  void unite(mlir::ValueRange a, mlir::ValueRange b);
  void visit(mlir::Operation *op);
  void visitRegion(tile::RegionOp op);
  void visitControl(mlir::Operation *op);
  void visitReduction(mlir::ValueRange values, mlir::ValueRange results, llvm::ArrayRef<int64_t> axes);
  void visitShape(mlir::Operation *op);
  void visitPieces(mlir::Value whole, mlir::Value piece);
  void follow(mlir::Value from, mlir::Value to, Derive derive);

  struct Relation {
    mlir::Value from, to;
    Derive derive;
  };
  llvm::SmallVector<int> parents;
  llvm::SmallVector<mlir::Value> values; ///< by id, in order of the program
  llvm::DenseMap<mlir::Value, int> ids, classOf;
  llvm::SmallVector<Relation> relations;
  llvm::SmallVector<std::pair<mlir::Value, tile::RegionOp>> accesses;
  llvm::SmallVector<std::pair<mlir::Value, int>> reductions;
  llvm::SmallVector<tile::DotOp> products;
  struct Pieces {
    mlir::Value whole;
    int axis;
    int64_t count;
  };
  llvm::SmallVector<Pieces> pieces;
};

/// Whether an op only makes a tile of little: cheaper made again than moved.
bool isMadeForEachUse(mlir::Operation *op);
/// The layout of a gather's index tile that goes with a layout of the region.
layout::Expected<layout::Layout> gatherIndexLayout(tile::RegionOp op, int64_t axis,
                                                   const layout::Layout &region);
/// The layout of a reduction's result.
layout::Layout reducedLayout(layout::Layout layout, llvm::ArrayRef<int64_t> axes);
/// The layout of a broadcast's operand that needs no move.
layout::Layout alongLayout(layout::Layout layout, llvm::ArrayRef<int64_t> operandShape);

} // namespace tilegym::transforms
