// SPDX-License-Identifier: MIT
// Ranges of integer results, which let index arithmetic be done in 32 bits and bounds be proved.
#include "compiler/ir/Tile.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilegym::tile;

/// Launches have at most 2^31 - 1 blocks.
static constexpr int64_t maxBlocks = (int64_t(1) << 31) - 1;

static ConstantIntRanges between(Type type, int64_t low, int64_t high) {
  unsigned width = ConstantIntRanges::getStorageBitwidth(type);
  return ConstantIntRanges::fromSigned(APInt(width, low, true), APInt(width, high, true));
}

void ParamOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn set) {
  ParamAttr param = getParam();
  if (!isa<IntegerType>(getType()))
    return;
  if (param && param.getUpper() >= 0)
    set(getResult(), between(getType(), 0, param.getUpper()));
  else
    set(getResult(), ConstantIntRanges::maxRange(ConstantIntRanges::getStorageBitwidth(getType())));
}

void BlockIdOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn set) {
  set(getResult(), between(getType(), 0, maxBlocks - 1));
}
void NumBlocksOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn set) {
  set(getResult(), between(getType(), 0, maxBlocks));
}
void LinearBlockIdOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn set) {
  set(getResult(), between(getType(), 0, maxBlocks - 1));
}

void LaunchSizeOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn set) {
  set(getResult(), between(getType(), 1, maxBlocks));
}

void ClusterRankOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn set) {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  set(getResult(), between(getType(), 0, kernel ? kernel.getClusterSize() - 1 : maxBlocks - 1));
}

void IotaOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn set) {
  set(getResult(), between(getType(), 0, getType().getDimSize(getAxis()) - 1));
}

/// Whatever the operand is: of floats nothing is ever known, and the analysis would take a result that waits for them for one that is never computed.
void ArgReduceOp::inferResultRangesFromOptional(ArrayRef<IntegerValueRange>, SetIntLatticeFn set) {
  int64_t places = 1;
  for (int64_t axis : getAxes())
    places *= getValue().getType().getDimSize(axis);
  set(getResult(), IntegerValueRange(between(getType(), 0, places - 1)));
}

// Ops that only move elements keep their range.
static void keepRange(Value result, ArrayRef<ConstantIntRanges> operands, SetIntRangeFn set) {
  if (!isa<IntegerType>(getElementTypeOrSelf(result.getType())))
    return;
  ConstantIntRanges range = operands[0];
  for (const ConstantIntRanges &other : operands.drop_front())
    range = range.rangeUnion(other);
  set(result, range);
}
void SplatOp::inferResultRanges(ArrayRef<ConstantIntRanges> operands, SetIntRangeFn set) {
  keepRange(getResult(), operands, set);
}
void BroadcastOp::inferResultRanges(ArrayRef<ConstantIntRanges> operands, SetIntRangeFn set) {
  keepRange(getResult(), operands, set);
}
void ReshapeOp::inferResultRanges(ArrayRef<ConstantIntRanges> operands, SetIntRangeFn set) {
  keepRange(getResult(), operands, set);
}
void PermuteOp::inferResultRanges(ArrayRef<ConstantIntRanges> operands, SetIntRangeFn set) {
  keepRange(getResult(), operands, set);
}
void CatOp::inferResultRanges(ArrayRef<ConstantIntRanges> operands, SetIntRangeFn set) {
  keepRange(getResult(), operands, set);
}
void ExtractOp::inferResultRanges(ArrayRef<ConstantIntRanges> operands, SetIntRangeFn set) {
  keepRange(getResult(), operands, set);
}

void ReduceOp::inferResultRanges(ArrayRef<ConstantIntRanges> operands, SetIntRangeFn set) {
  if (!isa<IntegerType>(getElementTypeOrSelf(getType())))
    return;
  bool keeps = getKind() != ReduceKind::Sum && getKind() != ReduceKind::Prod;
  set(getResult(),
      keeps ? operands[0] : ConstantIntRanges::maxRange(ConstantIntRanges::getStorageBitwidth(getType())));
}
