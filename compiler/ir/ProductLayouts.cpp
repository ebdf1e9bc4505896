// SPDX-License-Identifier: MIT
// Warps take parts of the result that are near squares, as those read least; where A comes from another product's registers, they take rows, as
// then no element of it moves.
#include "compiler/ir/ProductLayouts.h"
#include "compiler/layout/Shared.h"
#include "compiler/layout/Transform.h"

using namespace mlir;

namespace tilegym::tile {

using layout::Layout;
using layout::Shape;

static Shape shapeOf(RankedTensorType type) { return Shape(type.getShape().begin(), type.getShape().end()); }

static layout::WarpGrid gridFor(const Shape &shape, int64_t warps, bool rowsFirst) {
  int64_t maxRows = layout::powerOfTwoPart(shape[0]) / 16, maxColumns = layout::powerOfTwoPart(shape[1]) / 8;
  layout::WarpGrid best;
  int64_t least = 0;
  for (int64_t rows = 1; rows <= std::min(maxRows, warps); rows *= 2) {
    int64_t columns = std::min(maxColumns, warps / rows), used = rows * columns;
    // Elements of A and B that a warp reads a step, more where warps are idle.
    int64_t cost = (shape[0] / rows + shape[1] / columns) * (warps / used);
    if (rowsFirst)
      cost = -rows;
    if (least == 0 || cost < least) {
      best = {int(rows), int(columns), int(warps / used)};
      least = cost;
    }
  }
  return best;
}

/// Elements that one 16-byte access gets along an operand's `axis`, where that is its contiguous one.
static int vectorAlong(mlir::Value operand, int axis) {
  auto shared = dyn_cast<SharedType>(operand.getType());
  if (!shared)
    return 1;
  return int(
      layout::contiguousRun(shared.getLayout(), axis, 16 / (shared.getTile().getElementTypeBitWidth() / 8)));
}

/// The widest instruction of which a group's columns are a multiple. Those of integers come in steps of 16.
static int64_t widestColumns(int64_t all, bool integers) {
  int64_t n = std::min<int64_t>(all, 256) / 8 * 8;
  while (all % n || (integers && n > 24 && n % 16))
    n -= 8;
  return n;
}

bool isMadeTransposed(DotOp dot) {
  auto slot = dyn_cast<SharedType>(dot.getB().getType());
  return dot.getWarpgroups() && slot && slot.getTile().getElementTypeBitWidth() == 32 &&
         layout::contiguousRun(slot.getLayout(), 1, 2) == 2;
}

/// Whether the product can be made so: the only one of its kernel, as others might add to its result, with columns that go in parts of 64.
static bool canMakeTransposed(DotOp dot) {
  bool alone = true;
  dot->getParentOfType<KernelOp>().walk([&](DotOp other) { alone &= other == dot; });
  return alone && dot.getBType().getElementTypeBitWidth() == 32 && dot.getType().getDimSize(1) % 64 == 0;
}

/// Bit i of a row of the instructions is bit [i] of a column of the result, within 64. The two rows of which a thread holds words are neighbours in the slot, so that it reads both at once;
/// and the 16 threads that the hardware lets read together, four rows of K by four such pairs, meet in no bank: the swizzle moves chunks of four columns by the row of K, so
/// pairs must differ within a chunk and in the chunk's highest bit.
static const std::vector<int> columnBits = {1, 4, 2, 0, 3, 5};

int64_t columnOfRow(int64_t row) {
  int64_t column = row >> columnBits.size() << columnBits.size();
  for (auto [bit, to] : llvm::enumerate(columnBits))
    column |= (row >> bit & 1) << to;
  return column;
}

layout::Layout rowsOfInstructions(const layout::Layout &result) {
  std::vector<int> rowBits(columnBits.size());
  for (auto [bit, to] : llvm::enumerate(columnBits))
    rowBits[size_t(to)] = int(bit);
  return *layout::permuteBits(*layout::permuteAxes(result, {1, 0}), 0, rowBits);
}

/// Rows of instructions become columns of the result, or of the operand that A is made from.
static layout::Expected<Layout> asMade(const layout::Expected<Layout> &byInstructions) {
  if (!byInstructions)
    return byInstructions;
  auto moved = layout::permuteBits(*byInstructions, 0, columnBits);
  return moved ? layout::permuteAxes(*moved, {1, 0}) : moved;
}

std::optional<WarpgroupShape> warpgroupShape(DotOp dot) {
  constexpr int64_t groupWarps = 4, groupRows = 64;
  Shape shape = shapeOf(dot.getType());
  if (isMadeTransposed(dot))
    std::swap(shape[0], shape[1]);
  int64_t warps = dot->getParentOfType<KernelOp>().getWarps();
  if (!dot.usesTensorCores() || shape[0] % groupRows || warps % groupWarps)
    return {};
  // Rows first: then A can come from another product's registers, and a group's instructions are the widest.
  int64_t groups = warps / groupWarps;
  int64_t rows = std::min(groups, layout::powerOfTwoPart(shape[0]) / groupRows), columns = groups / rows;
  int64_t own = columns == 1 ? shape[1] : layout::powerOfTwoPart(shape[1]) / columns;
  if (own < 8)
    return {};
  return WarpgroupShape{{int(rows), int(columns), 1},
                        widestColumns(own, dot.getType().getElementType().isInteger())};
}

std::optional<PromotedParts> promotedParts(DotOp dot) {
  bool isFloat8 =
      dot.getAType().getElementTypeBitWidth() == 8 && isa<FloatType>(dot.getType().getElementType());
  if (!dot.getWarpgroups() || !isFloat8 || dot.getPrecision() == Precision::Fast)
    return {};
  constexpr int64_t most = 128, registers = 224; // of 232, and some are for addresses
  PromotedParts parts{warpgroupShape(dot)->columns};
  while (parts.columns > most && parts.columns % 16 == 0)
    parts.columns /= 2;
  int64_t sums = dot.getType().getNumElements() / (32 * dot->getParentOfType<KernelOp>().getWarps());
  int64_t own = parts.columns / 2, depth = dot.getAType().getDimSize(1);
  bool several = sums > own || depth > PromotedParts::depth;
  parts.inPairs = several && sums + 2 * own <= registers;
  return parts;
}

layout::Layout slotLayout(DotOp dot, int operand, int contiguous) {
  RankedTensorType tile = operand == 0 ? dot.getAType() : dot.getBType();
  Shape shape = shapeOf(tile);
  int bytes = int(tile.getElementTypeBitWidth() / 8), kAxis = 1 - operand;
  // The plain cores multiply fastest what lies along the result's axes: of vectors along K a thread would hold four steps, and ptxas move its sums to find room.
  bool isPlain = !dot.usesTensorCores() && bytes == 4;
  if (isPlain && dot->getParentOfType<KernelOp>().getKnob("schedule", 0) == 0)
    contiguous = 1 - kAxis;
  int64_t inRow = shape[contiguous];
  if (dot.getWarpgroups() && contiguous != kAxis && !(operand == 1 && canMakeTransposed(dot))) {
    // An instruction's part of a row must be whole rows of the swizzle, and only 16-bit elements can lie across K.
    inRow = operand == 0 ? 64 : warpgroupShape(dot)->columns;
    if (bytes != 2 || inRow * bytes % 32) {
      contiguous = kAxis;
      inRow = shape[kAxis];
    }
  }
  for (int swizzle : {128, 64, 32})
    if (inRow * bytes % swizzle == 0 && shape[1 - contiguous] % 8 == 0)
      return *layout::sharedTile(shape, bytes, {contiguous, 1 - contiguous}, swizzle);
  return *layout::sharedTile(shape, bytes, {contiguous, 1 - contiguous}, 0);
}

layout::Expected<Layout> accumulatorLayout(DotOp dot) {
  auto kernel = dot->getParentOfType<KernelOp>();
  Shape shape = shapeOf(dot.getType());
  if (isMadeTransposed(dot))
    return asMade(layout::wgmmaAccumulator({shape[1], shape[0]}, warpgroupShape(dot)->groups));
  if (dot.getWarpgroups())
    return layout::wgmmaAccumulator(shape, warpgroupShape(dot)->groups);
  if (!dot.usesTensorCores())
    return layout::plainAccumulator(shape, {.warps = int(kernel.getWarps()),
                                            .rowVector = std::min(4, vectorAlong(dot.getA(), 0)),
                                            .columnVector = std::min(4, vectorAlong(dot.getB(), 1))});
  bool chained = false;
  kernel.walk([&](DotOp other) { chained |= isa<RankedTensorType>(other.getA().getType()); });
  return layout::mmaAccumulator(shape, gridFor(shape, kernel.getWarps(), chained));
}

layout::Expected<Layout> fragmentLayout(DotOp dot, int operand, const Layout &accumulator) {
  RankedTensorType type = operand == 0 ? dot.getAType() : dot.getBType();
  if (!dot.usesTensorCores())
    return layout::plainOperand(accumulator, operand, dot.getAType().getDimSize(1));
  // The accumulator's warp bits, in order: those along rows, those along columns, copies.
  int rowAxis = isMadeTransposed(dot) ? 1 : 0;
  layout::WarpGrid grid;
  for (layout::Vec basis : accumulator.bases(layout::Dim::Warp)) {
    layout::Coords at = accumulator.unitCoords(basis);
    (at[rowAxis] ? grid.rows : at[1 - rowAxis] ? grid.columns : grid.copies) *= 2;
  }
  int bytes = int(type.getElementTypeBitWidth() / 8);
  if (operand == 1 && rowAxis == 1)
    return asMade(layout::mmaOperandA({type.getDimSize(1), type.getDimSize(0)}, bytes, grid));
  return operand == 0 ? layout::mmaOperandA(shapeOf(type), bytes, grid)
                      : layout::mmaOperandB(shapeOf(type), bytes, grid);
}

} // namespace tilegym::tile
