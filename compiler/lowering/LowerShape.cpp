// SPDX-License-Identifier: MIT
// Broadcasts, reshapes and their kin. A tile of rank 0 is a scalar.
#include "compiler/lowering/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilegym;
using namespace tilegym::lowering;
using Code = sem::Op;

static ArrayRef<int64_t> shapeOf(Value x) {
  auto tile = dyn_cast<RankedTensorType>(x.getType());
  return tile ? tile.getShape() : ArrayRef<int64_t>();
}

Value Lowerer::reshapeTo(Value x, ArrayRef<int64_t> shape) {
  if (shapeOf(x) == shape)
    return x;
  Type element = getElementTypeOrSelf(x.getType());
  if (shapeOf(x).empty())
    return create<tile::SplatOp>(RankedTensorType::get(shape, element), x);
  Type type = shape.empty() ? element : RankedTensorType::get(shape, element);
  return create<tile::ReshapeOp>(type, x);
}

Value Lowerer::broadcastTo(Value x, ArrayRef<int64_t> shape) {
  if (shapeOf(x) == shape)
    return x;
  Type element = getElementTypeOrSelf(x.getType());
  if (shapeOf(x).empty())
    return create<tile::SplatOp>(RankedTensorType::get(shape, element), x);
  // Missing axes come in front.
  SmallVector<int64_t> padded(shape.size() - shapeOf(x).size(), 1);
  llvm::append_range(padded, shapeOf(x));
  Value aligned = reshapeTo(x, padded);
  return shape == ArrayRef<int64_t>(padded)
             ? aligned
             : create<tile::BroadcastOp>(RankedTensorType::get(shape, element), aligned);
}

Value Lowerer::shape(const sem::Expr &e) {
  Value x = operand(e, 0);
  Type type = typeOf(e.type);
  switch (e.op) {
  case Code::Broadcast:
    return broadcastTo(x, e.type.shape);
  case Code::Reshape:
    return reshapeTo(x, e.type.shape);
  case Code::Permute:
    return create<tile::PermuteOp>(type, x, builder.getDenseI64ArrayAttr(e.ints));
  case Code::Extract:
    return create<tile::ExtractOp>(type, x, builder.getDenseI64ArrayAttr(e.ints));
  case Code::Cat: {
    SmallVector<Value> parts = {x};
    for (size_t i = 1; i < e.operands.size(); ++i)
      parts.push_back(operand(e, i));
    return create<tile::CatOp>(type, e.index, parts);
  }
  default: { // Bitcast; a bool is a byte of 0 or 1
    DType from = e.operands[0]->type.dtype, to = e.type.dtype;
    Value bytes = toMemory(x, from);
    auto tileType = dyn_cast<RankedTensorType>(type);
    Type memory = tileType ? tileType.clone(memoryType(to)) : memoryType(to);
    Value bits = bytes.getType() == memory            ? bytes
                 : sizeInBits(from) == sizeInBits(to) ? create<arith::BitcastOp>(memory, bytes)
                                                      : create<tile::BitcastOp>(memory, bytes);
    return fromMemory(bits, to);
  }
  }
}
