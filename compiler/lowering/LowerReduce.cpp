// SPDX-License-Identifier: MIT
// Reductions and scans, named ones and those by a function.
#include "compiler/lowering/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

using namespace mlir;
using namespace tilegym;
using namespace tilegym::lowering;
using Code = sem::Op;
using tile::ReduceKind;

static ReduceKind kindOf(Code op, DType dtype) {
  bool isSigned = !isUnsigned(dtype);
  switch (op) {
  case Code::Sum:
  case Code::CumSum:
    return ReduceKind::Sum;
  case Code::Prod:
    return ReduceKind::Prod;
  case Code::ReduceMax:
  case Code::ArgMax:
    return isBool(dtype) ? ReduceKind::Any : isSigned ? ReduceKind::Max : ReduceKind::UMax;
  case Code::ReduceMin:
  case Code::ArgMin:
    return isBool(dtype) ? ReduceKind::All : isSigned ? ReduceKind::Min : ReduceKind::UMin;
  case Code::Any:
    return ReduceKind::Any;
  default:
    return ReduceKind::All;
  }
}

static SmallVector<int64_t> axesOf(const sem::Expr &e, int64_t rank) {
  SmallVector<int64_t> axes(e.ints.begin(), e.ints.end());
  if (e.wholeTile) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  llvm::sort(axes);
  return axes;
}

Value Lowerer::reduction(const sem::Expr &e) {
  Value x = operand(e, 0);
  DType dtype = e.operands[0]->type.dtype;
  auto tile = dyn_cast<RankedTensorType>(x.getType());
  bool isArg = e.op == Code::ArgMax || e.op == Code::ArgMin;
  if (!tile) // of a scalar
    return isArg ? zero(typeOf(e.type)) : convertTo(x, dtype, e.type.dtype, sem::Rounding::NearestEven, true);
  if (e.op == Code::CumSum)
    return create<tile::ScanOp>(ReduceKind::Sum, x, e.index, e.reverse);
  SmallVector<int64_t> axes = axesOf(e, tile.getRank());
  if (isArg) {
    if (isBool(dtype)) { // as bytes
      x = toMemory(x, dtype);
      dtype = DType::U8;
    }
    return create<tile::ArgReduceOp>(typeOf(e.type), kindOf(e.op, dtype), x, axes);
  }
  // Sums and products accumulate in the dtype named; the others are exact in their own.
  DType in = e.op == Code::Sum || e.op == Code::Prod ? e.accType : dtype;
  x = convertTo(x, dtype, in, sem::Rounding::NearestEven, true);
  sem::Type kept = e.type;
  kept.dtype = in;
  Value result = create<tile::ReduceOp>(typeOf(kept), kindOf(e.op, in), x, axes);
  return convertTo(result, in, e.type.dtype, sem::Rounding::NearestEven, true);
}

Values Lowerer::combine(const sem::Expr &e) {
  size_t count = e.operands.size() / 2;
  SmallVector<Value> tiles, inits;
  SmallVector<Type> types, scalars;
  for (size_t i = 0; i < count; ++i) {
    tiles.push_back(operand(e, i));
    inits.push_back(operand(e, count + i));
    types.push_back(typeOf(e.type.kind == sem::Type::Tuple ? e.type.elements[i] : e.type));
    scalars.push_back(inits.back().getType());
  }
  Operation *combined;
  Region *region;
  if (e.op == Code::Scan) {
    auto scan = tile::ScanWithOp::create(builder, location, types, tiles, inits, e.index, e.reverse);
    combined = scan;
    region = &scan.getCombiner();
  } else {
    int64_t rank = cast<RankedTensorType>(tiles[0].getType()).getRank();
    SmallVector<int64_t> axes = {e.index};
    if (e.index < 0) {
      axes.resize(rank);
      std::iota(axes.begin(), axes.end(), 0);
    }
    auto reduce = tile::ReduceWithOp::create(builder, location, types, tiles, inits, axes);
    combined = reduce;
    region = &reduce.getCombiner();
  }
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> arguments(scalars);
  arguments.append(scalars);
  Block *body = builder.createBlock(region, {}, arguments, SmallVector<Location>(arguments.size(), location));
  tile::YieldOp::create(builder, location, callLambda(*e.lambda, body->getArguments()));
  return Values(combined->getResults());
}
