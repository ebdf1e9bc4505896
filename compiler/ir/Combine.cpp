// SPDX-License-Identifier: MIT
// One arith op a kind.
#include "compiler/ir/Combine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tilegym::tile {

Value combine(OpBuilder &b, Location loc, ReduceKind kind, Value a, Value x) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(a.getType()));
  switch (kind) {
  case ReduceKind::Sum:
    return isFloat ? Value(arith::AddFOp::create(b, loc, a, x)) : Value(arith::AddIOp::create(b, loc, a, x));
  case ReduceKind::Prod:
    return isFloat ? Value(arith::MulFOp::create(b, loc, a, x)) : Value(arith::MulIOp::create(b, loc, a, x));
  case ReduceKind::Max:
    return isFloat ? Value(arith::MaximumFOp::create(b, loc, a, x))
                   : Value(arith::MaxSIOp::create(b, loc, a, x));
  case ReduceKind::Min:
    return isFloat ? Value(arith::MinimumFOp::create(b, loc, a, x))
                   : Value(arith::MinSIOp::create(b, loc, a, x));
  case ReduceKind::UMax:
    return arith::MaxUIOp::create(b, loc, a, x);
  case ReduceKind::UMin:
    return arith::MinUIOp::create(b, loc, a, x);
  case ReduceKind::Any:
    return arith::OrIOp::create(b, loc, a, x);
  case ReduceKind::All:
    return arith::AndIOp::create(b, loc, a, x);
  }
  llvm_unreachable("a reduction of no kind");
}

TypedAttr identityOf(ReduceKind kind, Type element) {
  Builder b(element.getContext());
  if (auto type = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    switch (kind) {
    case ReduceKind::Max:
      return b.getFloatAttr(type, APFloat::getInf(semantics, /*Negative=*/true));
    case ReduceKind::Min:
      return b.getFloatAttr(type, APFloat::getInf(semantics));
    case ReduceKind::Prod:
      return b.getFloatAttr(type, 1);
    default: // a sum of nothing but -0 is -0
      return b.getFloatAttr(type, APFloat::getZero(semantics, /*Negative=*/true));
    }
  }
  unsigned bits = element.getIntOrFloatBitWidth();
  switch (kind) {
  case ReduceKind::Max:
    return b.getIntegerAttr(element, APInt::getSignedMinValue(bits));
  case ReduceKind::Min:
    return b.getIntegerAttr(element, APInt::getSignedMaxValue(bits));
  case ReduceKind::UMin:
  case ReduceKind::All:
    return b.getIntegerAttr(element, APInt::getAllOnes(bits));
  case ReduceKind::Prod:
    return b.getIntegerAttr(element, APInt(bits, 1));
  default:
    return b.getIntegerAttr(element, APInt::getZero(bits));
  }
}

} // namespace tilegym::tile
