// SPDX-License-Identifier: MIT
// Random numbers: philox is an op; uniform scales its top 24 bits (or all of 16 or 8) exactly.
#include "compiler/lowering/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilegym;
using namespace tilegym::lowering;

Value Lowerer::random(const sem::Expr &e) {
  Value seed = convertInts(operand(e, 0), e.operands[0]->type.dtype, DType::U64);
  Value counter = convertInts(operand(e, 1), e.operands[1]->type.dtype, DType::U64);
  int64_t bits = e.ints.at(0);
  auto withElement = [&](Type element) {
    auto tile = dyn_cast<RankedTensorType>(counter.getType());
    return tile ? Type(tile.clone(element)) : element;
  };
  Value field = create<tile::PhiloxOp>(withElement(builder.getIntegerType(bits)), seed, counter);
  if (e.op == sem::Op::Philox)
    return field;
  if (bits == 32)
    field = create<arith::ShRUIOp>(field, number(field.getType(), 8));
  Type type = withElement(builder.getF32Type());
  double scale = bits == 32 ? 0x1p-24 : bits == 16 ? 0x1p-16 : 0x1p-8;
  return create<arith::MulFOp>(create<arith::UIToFPOp>(type, field), floatNumber(type, scale));
}
