// SPDX-License-Identifier: MIT
// Matrix products and tiles in shared memory: types and effects.
#include "compiler/ir/Tile.h"

using namespace mlir;
using namespace tilegym;
using namespace tilegym::tile;

RankedTensorType DotOp::tileOf(Value operand) {
  if (auto shared = dyn_cast<SharedType>(operand.getType()))
    return shared.getTile();
  return cast<RankedTensorType>(operand.getType());
}

void DotOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands())
    if (isa<SharedType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
}

static bool isFloat8(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8; }

bool DotOp::usesTensorCores() {
  Type element = getAType().getElementType();
  if (element.isF64() || (element.isF32() && getPrecision() == Precision::Full))
    return false;
  int64_t k = 256 / element.getIntOrFloatBitWidth(); // 32 bytes of K an instruction
  ArrayRef<int64_t> shape = getType().getShape();
  return shape[0] % 16 == 0 && shape[1] % 8 == 0 && getAType().getDimSize(1) % k == 0;
}

LogicalResult DotOp::verify() {
  RankedTensorType a = getAType(), b = getBType(), sum = getType();
  if (a.getRank() != 2 || b.getRank() != 2 || sum.getRank() != 2 || a.getDimSize(1) != b.getDimSize(0) ||
      a.getDimSize(0) != sum.getDimSize(0) || b.getDimSize(1) != sum.getDimSize(1))
    return emitOpError("has no [M, K], [K, N] and [M, N], but ") << a << ", " << b << " and " << sum;
  Type element = a.getElementType(), other = b.getElementType();
  if (element != other && !(isFloat8(element) && isFloat8(other)))
    return emitOpError("multiplies ") << element << " by " << other;
  bool known = element.isF32() || element.isF16() || element.isBF16() || isFloat8(element);
  Type wanted = known                  ? Type(Float32Type::get(getContext()))
                : element.isF64()      ? element
                : element.isInteger(8) ? Type(IntegerType::get(getContext(), 32))
                                       : Type();
  if (sum.getElementType() != wanted)
    return emitOpError("adds products of ") << element << " up in " << sum.getElementType();
  if (getInFlight() && !getWarpgroups())
    return emitOpError("is in flight, but only products of warpgroups run on");
  bool halves = getPrecision() == Precision::TF32 || getPrecision() == Precision::TF32x3;
  if (halves ? !element.isF32() : getPrecision() == Precision::Fast && !isFloat8(element))
    return emitOpError("has precision ") << stringifyPrecision(getPrecision()) << " for " << element;
  bool takesRest = getWarpgroups() && getPrecision() == Precision::TF32x3;
  if (getRest() && !takesRest)
    return emitOpError("has a rest, but only warpgroups multiply by one, with precision tf32x3");
  if (getRest() && getRest().getType() != getA().getType() && getRest().getType() != getB().getType())
    return emitOpError("has a rest of ") << tileOf(getRest()) << ", which is no operand's";
  return success();
}

LogicalResult DotWaitOp::verify() {
  if (getOperandTypes() != getResultTypes())
    return emitOpError("has other types of results than of values");
  return success();
}

LogicalResult SharedType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t slots,
                                 RankedTensorType tile) {
  if (slots < 1)
    return emitError() << "a buffer of " << slots << " slots";
  auto layout = dyn_cast_or_null<LayoutAttr>(tile.getEncoding());
  if (!layout || layout.getLayout().numRegisters() != tile.getNumElements())
    return emitError() << "the layout of a tile in shared memory has an offset for each element";
  return success();
}

layout::Layout SharedType::getLayout() const { return cast<LayoutAttr>(getTile().getEncoding()).getLayout(); }

int64_t SharedType::getSlotBytes() const {
  return getTile().getNumElements() * std::max<int64_t>(1, getTile().getElementTypeBitWidth() / 8);
}

static LogicalResult verifyFits(Operation *op, RankedTensorType value, Value slot) {
  auto shared = cast<SharedType>(slot.getType());
  if (shared.getSlots() != 1)
    return op->emitOpError("needs one slot of a buffer of ") << shared.getSlots();
  RankedTensorType tile = shared.getTile();
  if (value.getShape() != tile.getShape() || value.getElementType() != tile.getElementType())
    return op->emitOpError("writes ") << value << " to a slot of " << tile;
  return success();
}

LogicalResult PutOp::verify() { return verifyFits(*this, getValue().getType(), getSlot()); }

LogicalResult PutRestOp::verify() {
  SharedType type = getSlot().getType();
  if (type.getSlots() != 1 || !type.getTile().getElementType().isF32())
    return emitOpError("needs one slot of f32, but has ") << type;
  return success();
}

LogicalResult CopyAsyncOp::verify() {
  auto region = cast<RegionOp>(getOperation());
  auto type = RankedTensorType::get(region.getRegionShape(), getBase().getType().getElementType());
  if (llvm::any_of(getKinds(), [](int32_t kind) { return AxisKind(kind) == AxisKind::Gather; }))
    return emitOpError("copies points and spans only");
  return verifyFits(*this, type, getSlot());
}
