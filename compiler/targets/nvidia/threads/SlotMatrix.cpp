// SPDX-License-Identifier: MIT
// Distances are read off the slot's layout; that the layout is a swizzle of the hardware's is asked first.
#include "compiler/targets/nvidia/threads/SlotMatrix.h"
#include "compiler/layout/Build.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tilegym::nvidia {

/// Elements in groups of 8 rows, and distances and addresses in units of 16 bytes.
constexpr int64_t groupRows = 8, unitBytes = 16;

int64_t SlotMatrix::offset(int64_t major, int64_t k) const {
  layout::Coords coords(2);
  coords[kAxis] = k;
  coords[1 - kAxis] = major;
  return shared.find(coords).reg * elementBytes / unitBytes;
}

FailureOr<SlotMatrix> SlotMatrix::make(ThreadBuilder &t, tile::DotOp dot, int operand,
                                       const layout::Layout &groups, Value slot) {
  if (!slot)
    slot = dot->getOperand(unsigned(operand));
  auto type = dyn_cast<tile::SharedType>(slot.getType());
  if (!type)
    return dot.emitOpError("has operand ")
           << operand << " in registers, but the instructions of warpgroups read it from shared memory";
  int64_t bytes = type.getSlotBytes() / type.getTile().getNumElements();
  SlotMatrix matrix(t, type.getLayout(), 1 - operand, bytes);
  const layout::Layout &shared = matrix.shared;

  int contiguous = -1;
  int64_t swizzle = 0, mode = 0;
  for (int axis : {0, 1})
    for (auto [number, span] : {std::pair(1, 128), {2, 64}, {3, 32}})
      if (auto tile = layout::sharedTile(shared.shape(), int(bytes), {axis, 1 - axis}, span);
          tile && *tile == shared && contiguous < 0)
        std::tie(contiguous, swizzle, mode) = std::tuple(axis, span, number);
  matrix.transposed = contiguous != matrix.kAxis;
  if (contiguous < 0 || (matrix.transposed && bytes != 2))
    return dot.emitOpError("has operand ")
           << operand << " in a slot that no descriptor describes: " << type.getTile().getEncoding();

  // From one group of 8 rows to the next, and along K's other axis from one swizzled row to the next; 1 where there is none.
  auto distance = [&](int axis, int64_t step) -> int64_t {
    if (shared.shape()[axis] <= step)
      return 1;
    return axis == matrix.kAxis ? matrix.offset(0, step) : matrix.offset(step, 0);
  };
  int64_t stride = distance(1 - contiguous, groupRows);
  int64_t leading = matrix.transposed ? distance(contiguous, swizzle / bytes) : 1;
  uint64_t constant = uint64_t(mode) << 62 | uint64_t(stride) << 32 | uint64_t(leading) << 16;

  Value address = arith::ShRUIOp::create(
      t.b, t.loc, LLVM::PtrToIntOp::create(t.b, t.loc, t.b.getI32Type(), t.scalar(slot)),
      t.i32(llvm::Log2_64(unitBytes)));
  address = arith::AndIOp::create(t.b, t.loc, address, t.i32(0x3FFF)); // the field's width
  ArrayRef<layout::Vec> warps = groups.bases(layout::Dim::Warp);
  for (auto [bit, basis] : llvm::enumerate(warps.drop_front(2))) {
    int64_t step = matrix.offset(groups.unitCoords(basis)[operand], 0);
    if (step == 0)
      continue;
    Value shifted = t.warpgroup();
    if (bit)
      shifted = arith::ShRUIOp::create(t.b, t.loc, shifted, t.i32(int64_t(bit)));
    address = t.add(address, t.mul(arith::AndIOp::create(t.b, t.loc, shifted, t.i32(1)), t.i32(step)));
  }
  matrix.base = arith::OrIOp::create(
      t.b, t.loc, arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), address), t.i64(int64_t(constant)));
  return matrix;
}

Value SlotMatrix::at(int64_t major, int64_t k) const {
  int64_t steps = offset(major, k);
  return steps ? t.add(base, t.i64(steps)) : base;
}

} // namespace tilegym::nvidia
