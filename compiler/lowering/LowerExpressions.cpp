// SPDX-License-Identifier: MIT
// Which family an operation belongs to, and the leaves.
#include "compiler/lowering/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilegym;
using namespace tilegym::lowering;
using Code = sem::Op;

Value Lowerer::constant(const sem::Expr &e) {
  Type type = typeOf(e.type);
  return isFloat(e.type.dtype) ? floatNumber(type, e.constant.asFloat()) : number(type, e.constant.asInt());
}

Value Lowerer::leaf(const sem::Expr &e) {
  switch (e.op) {
  case Code::Const:
    return constant(e);
  case Code::Dim: {
    int64_t fixed =
        e.index < int64_t(kernel.spec.constDims.size()) ? kernel.spec.constDims[e.index] : sem::kDynamic;
    return fixed == sem::kDynamic ? params.get(builder, tile::ParamKind::Extent, e.index) : index(fixed);
  }
  case Code::Scalar: {
    // In a host expression (an output's extent) every integer is an index and every float f64, whatever the parameter is.
    DType own = kernel.spec.dtypes[op.scalars[e.index].typeVar];
    Value x = fromMemory(params.get(builder, tile::ParamKind::Scalar, e.index), own);
    Type wide = typeOf(e.type.dtype);
    if (x.getType() == wide)
      return x;
    if (isFloat(own))
      return create<arith::ExtFOp>(wide, x);
    return isSigned(own) ? Value(create<arith::ExtSIOp>(wide, x)) : Value(create<arith::ExtUIOp>(wide, x));
  }
  case Code::BlockId:
    return create<tile::BlockIdOp>(builder.getI64Type(), e.index);
  case Code::NumBlocks:
    return create<tile::NumBlocksOp>(builder.getI64Type(), e.index);
  case Code::Present:
    return boolean(kernel.spec.present[e.index]);
  case Code::SizeOf:
    return index(sizeInBytes(kernel.spec.dtypes[e.index]));
  case Code::TypeCode:
    return index(int64_t(kernel.spec.dtypes[e.index]));
  case Code::SmCount:
    return params.get(builder, tile::ParamKind::SmCount, 0);
  case Code::ListLen:
    return params.get(builder, tile::ParamKind::ListLength, e.index);
  case Code::ListDim:
    return params.get(builder, tile::ParamKind::Extent, e.index, 0, operand(e, 0));
  default: // Iota
    return create<tile::IotaOp>(typeOf(e.type), 0);
  }
}

Value Lowerer::value(const sem::Expr &e) {
  Values all = values(e);
  return all.empty() ? zero(typeOf(e.type)) : all[0];
}

Values Lowerer::values(const sem::Expr &e) {
  Location outer = location;
  location = locationOf(e.range);
  Values result;
  switch (e.op) {
  case Code::Local:
    result = locals[e.index];
    break;
  case Code::Const:
  case Code::Dim:
  case Code::Scalar:
  case Code::BlockId:
  case Code::NumBlocks:
  case Code::SmCount:
  case Code::Iota:
  case Code::Present:
  case Code::SizeOf:
  case Code::TypeCode:
  case Code::ListLen:
  case Code::ListDim:
    result = {leaf(e)};
    break;
  case Code::ListSum:
    result = {listSum(e)};
    break;
  case Code::Bitcast:
  case Code::Broadcast:
  case Code::Reshape:
  case Code::Permute:
  case Code::Cat:
  case Code::Extract:
    result = {shape(e)};
    break;
  case Code::Sum:
  case Code::Prod:
  case Code::ReduceMax:
  case Code::ReduceMin:
  case Code::ArgMax:
  case Code::ArgMin:
  case Code::Any:
  case Code::All:
  case Code::CumSum:
    result = {reduction(e)};
    break;
  case Code::Mma:
    result = {product(e)};
    break;
  case Code::Reduce:
  case Code::Scan:
    result = combine(e);
    break;
  case Code::MakeTuple:
    for (const sem::ExprPtr &element : e.operands)
      llvm::append_range(result, values(*element));
    break;
  case Code::TupleGet: {
    // Elements are single values: a tuple in a tuple has been flattened by the checker.
    Values all = values(*e.operands[0]);
    result = {all[e.index]};
    break;
  }
  case Code::Philox:
  case Code::Uniform:
    result = {random(e)};
    break;
  case Code::Load:
  case Code::AtomicAdd:
  case Code::AtomicMin:
  case Code::AtomicMax:
  case Code::AtomicAnd:
  case Code::AtomicOr:
  case Code::AtomicXor:
  case Code::AtomicExchange:
  case Code::AtomicCas:
    result = {memory(e)};
    break;
  case Code::Store:
    store(e);
    break;
  case Code::Assume:
  case Code::Assert:
  case Code::Print:
    check(e);
    break;
  case Code::InlinePtx:
    result = {inlinePtx(e)};
    break;
  case Code::KernelParam:
  case Code::ValueIndex:
  case Code::Sort:
  case Code::TopK:
  case Code::Histogram:
  case Code::MmaScaled:
  case Code::MatMul:
  case Code::Tensor:
  case Code::ListElement:
  case Code::ViewIndex:
  case Code::ViewTile:
  case Code::ViewPermute:
    // Refused before the kernel was begun, or no value.
    unsupported(e.range, "this");
    break;
  default:
    result = {elementwise(e)};
    break;
  }
  location = outer;
  return result;
}

Values Lowerer::callLambda(const sem::Lambda &lambda, ValueRange arguments) {
  for (auto [param, argument] : llvm::zip_equal(lambda.params, arguments))
    locals[param] = {argument};
  lowerBlock(lambda.body);
  Values results;
  for (const sem::ExprPtr &result : lambda.results)
    results.push_back(value(*result));
  return results;
}
