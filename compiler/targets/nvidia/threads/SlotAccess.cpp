// SPDX-License-Identifier: MIT
// Bits of a register that no thread sets are part of the constant; only the others cost an XOR.
#include "compiler/targets/nvidia/threads/SlotAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tilegym::nvidia {

using layout::OffsetPart;

/// Sum of `steps[i]` over the set bits i of `index`; null where it is 0.
static Value sumOver(ThreadBuilder &t, Value index, ArrayRef<int64_t> steps) {
  Value sum;
  for (auto [bit, step] : llvm::enumerate(steps)) {
    if (step == 0)
      continue;
    Value shifted = bit ? Value(arith::ShRUIOp::create(t.b, t.loc, index, t.i32(int64_t(bit)))) : index;
    Value part = t.mul(arith::AndIOp::create(t.b, t.loc, shifted, t.i32(1)), t.i32(step));
    sum = sum ? t.add(sum, part) : part;
  }
  return sum;
}

SlotAccess::SlotAccess(ThreadBuilder &t, Value slot, ArrayRef<OffsetPart> lanes, ArrayRef<OffsetPart> warps,
                       int64_t elementBytes)
    : t(t), slot(slot), elementBytes(elementBytes) {
  for (auto [index, parts] : {std::pair(t.laneId(), lanes), {t.warpId(), warps}}) {
    SmallVector<int64_t> masks, steps;
    for (const OffsetPart &part : parts) {
      masks.push_back(part.bits * elementBytes);
      steps.push_back(part.step * elementBytes);
      movable |= masks.back();
    }
    if (Value more = t.linear(index, masks))
      bits = bits ? Value(arith::XOrIOp::create(t.b, t.loc, bits, more)) : more;
    if (Value more = sumOver(t, index, steps))
      step = step ? t.add(step, more) : more;
  }
}

Value SlotAccess::address(OffsetPart part) {
  int64_t own = part.bits * elementBytes, fixed = (own & ~movable) + part.step * elementBytes;
  Value &base = bases[own & movable];
  if (!base) {
    Value offset = bits;
    if (own & movable)
      offset = arith::XOrIOp::create(t.b, t.loc, bits, t.i32(own & movable));
    if (step)
      offset = offset ? t.add(offset, step) : step;
    base = offset ? t.sharedAddress(slot, offset) : slot;
  }
  if (fixed == 0)
    return base;
  return LLVM::GEPOp::create(t.b, t.loc, base.getType(), t.b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{int32_t(fixed)});
}

FailureOr<TileInSlot> TileInSlot::make(ThreadBuilder &t, Operation *op, const layout::Layout &tile,
                                       Value slot) {
  auto type = cast<tile::SharedType>(slot.getType());
  layout::Layout shared = type.getLayout();
  layout::Expected<layout::SharedAddresses> addresses = layout::sharedAddresses(tile, shared);
  if (!addresses)
    return op->emitOpError(addresses.error());
  int64_t bytes = type.getSlotBytes() / type.getTile().getNumElements();
  // Along the axis that is contiguous in the slot.
  layout::Vectors best;
  for (int axis = 0; axis < shared.rank(); ++axis) {
    int64_t together = layout::contiguousRun(shared, axis, 16 / bytes);
    layout::Vectors vectors = tile.vectors(axis, together);
    if (best.groups.empty() || vectors.width > best.width)
      best = std::move(vectors);
  }
  SlotAccess access(t, t.scalar(slot), addresses->laneBits, addresses->warpBits, bytes);
  return TileInSlot(std::move(*addresses), std::move(best), std::move(access));
}

} // namespace tilegym::nvidia
