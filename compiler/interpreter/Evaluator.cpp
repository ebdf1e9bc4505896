// SPDX-License-Identifier: MIT
// The switch over families, leaves and views.
#include "compiler/interpreter/Evaluator.h"
#include "compiler/interpreter/NumericsConvert.h"
#include <bit>

namespace tilegym::interp {

using sem::Op;

int64_t indexValue(Evaluator &evaluator, const sem::ExprPtr &e) { return evaluator.value(*e).asInt(); }

Value Evaluator::value(const sem::Expr &e) {
  Slot slot = eval(e);
  if (auto *value = std::get_if<Value>(&slot))
    return std::move(*value);
  fail(Fault::Program, "a value was expected here", e.range);
}

View Evaluator::view(const sem::Expr &e) {
  Slot slot = eval(e);
  if (auto *view = std::get_if<View>(&slot))
    return std::move(*view);
  fail(Fault::Program, "a tensor or a view was expected here", e.range);
}

const Tuple &Evaluator::tuple(const Slot &slot, SourceRange range) {
  if (auto *tuple = std::get_if<std::shared_ptr<const Tuple>>(&slot))
    return **tuple;
  fail(Fault::Program, "a tuple was expected here", range);
}

Value Evaluator::constant(const sem::Constant &constant, DType dtype, SourceRange range) {
  if (constant.isFloat())
    return Value::scalar(dtype, convertBits(DType::F64, std::bit_cast<uint64_t>(constant.asFloat()), dtype));
  const int64_t integer = constant.asInt();
  if (dtype == DType::I64 || dtype == DType::U64 || dtype == DType::Index)
    return Value::scalar(dtype, uint64_t(integer));
  return Value::scalar(dtype, convertBits(DType::I64, uint64_t(integer), dtype));
}

Value Evaluator::leaf(const sem::Expr &e) {
  switch (e.op) {
  case Op::Const:
    return constant(e.constant, e.type.dtype, e.range);
  case Op::Dim:
    return Value::index(context.dims.values.at(size_t(e.index)));
  case Op::Scalar:
    return constant(context.scalars.at(size_t(e.index)), e.type.dtype, e.range);
  case Op::ListDim: {
    const auto &list = context.dims.lists.at(size_t(e.index));
    int64_t element = indexValue(*this, e.operands[0]);
    if (element < 0 || element >= int64_t(list.size()))
      fail(Fault::OutOfBounds,
           "element " + std::to_string(element) + " of a list of " + std::to_string(list.size()), e.range);
    return Value::index(list[size_t(element)]);
  }
  case Op::ListLen:
    return Value::index(int64_t(context.hostTensors.at(size_t(e.index)).size()));
  case Op::SmCount:
    return Value::index(context.options.smCount);
  case Op::Present:
    return Value::boolean(context.spec.present.at(size_t(e.index)));
  case Op::SizeOf:
    return Value::index(sizeInBytes(context.spec.dtypes.at(size_t(e.index))));
  case Op::TypeCode:
    return Value::index(int64_t(context.spec.dtypes.at(size_t(e.index))));
  case Op::BlockId:
    return Value::index(size_t(e.index) < block.size() ? block[size_t(e.index)] : 0);
  case Op::NumBlocks:
    return Value::index(launch && size_t(e.index) < launch->grid.size() ? launch->grid[size_t(e.index)] : 1);
  default:
    fail(Fault::Program, "the interpreter does not know this operation", e.range);
  }
}

Value Evaluator::listSum(const sem::Expr &e) {
  const sem::Lambda &lambda = *e.lambda;
  int64_t low = indexValue(*this, e.operands[0]), high = indexValue(*this, e.operands[1]), sum = 0;
  for (int64_t g = low; g < high; ++g)
    if (__builtin_add_overflow(sum, callLambda(lambda, {Value::index(g)}).front().asInt(), &sum))
      fail(Fault::IndexRange, "a sum over a list does not fit 64 bits", e.range);
  return Value::index(sum);
}

View Evaluator::tensorView(const sem::Expr &e) {
  if (e.isKernelParam) {
    if (!launch || size_t(e.index) >= launch->params.size())
      fail(Fault::Program, "a kernel with typed parameters runs only where a plan launches it", e.range);
    if (auto *view = std::get_if<View>(&launch->params[size_t(e.index)]))
      return *view;
    fail(Fault::Program, "the launch gave no tensor for this parameter", e.range);
  }
  const auto &list = context.views.at(size_t(e.index));
  int64_t element = e.op == Op::ListElement ? indexValue(*this, e.operands[0]) : 0;
  if (element < 0 || element >= int64_t(list.size()))
    fail(Fault::OutOfBounds,
         e.op == Op::ListElement
             ? "element " + std::to_string(element) + " of a list of " + std::to_string(list.size())
             : "tensor '" + context.op.tensors[size_t(e.index)].name + "' was not given",
         e.range);
  return list[size_t(element)];
}

Slot Evaluator::eval(const sem::Expr &e) {
  switch (e.op) {
  case Op::Local:
    return locals.at(size_t(e.index));
  case Op::KernelParam:
    if (!launch || size_t(e.index) >= launch->params.size())
      fail(Fault::Program, "a kernel with typed parameters runs only where a plan launches it", e.range);
    return launch->params[size_t(e.index)];
  case Op::Iota:
    return iota(e);
  case Op::ListSum:
    return listSum(e);
  case Op::Fma:
    return fmaOp(e);
  case Op::Select:
    return selectOp(e);
  case Op::Convert:
    return convertOp(e);
  case Op::Bitcast:
    return bitcastOp(e);
  case Op::Broadcast:
  case Op::Reshape:
  case Op::Permute:
  case Op::Cat:
  case Op::Extract:
    return shapeOp(e);
  case Op::ValueIndex:
    return valueIndex(e);
  case Op::Sum:
  case Op::Prod:
  case Op::ReduceMax:
  case Op::ReduceMin:
  case Op::Any:
  case Op::All:
    return reduceOp(e);
  case Op::ArgMax:
  case Op::ArgMin:
    return argReduce(e);
  case Op::Reduce:
    return combineReduce(e);
  case Op::Scan:
    return combineScan(e);
  case Op::CumSum:
    return cumSum(e);
  case Op::Sort:
    return sortOp(e);
  case Op::TopK:
    return topK(e);
  case Op::Histogram:
    return histogram(e);
  case Op::MakeTuple: {
    auto made = std::make_shared<Tuple>();
    for (const auto &operand : e.operands)
      made->elements.push_back(eval(*operand));
    return std::shared_ptr<const Tuple>(std::move(made));
  }
  case Op::TupleGet: {
    Slot slot = eval(*e.operands[0]);
    return tuple(slot, e.range).elements.at(size_t(e.index));
  }
  case Op::Mma:
    return mma(e);
  case Op::MmaScaled:
    return mmaScaled(e);
  case Op::MatMul:
    return matMul(e);
  case Op::Philox:
  case Op::Uniform:
    return random(e);
  case Op::Tensor:
  case Op::ListElement:
    return tensorView(e);
  case Op::ViewIndex:
    return indexView(view(*e.operands[0]), indexers(e.items), e.range);
  case Op::ViewTile: {
    View tiled = view(*e.operands[0]);
    tiled.tileSizes = e.ints;
    return tiled;
  }
  case Op::ViewPermute:
    return permuteView(view(*e.operands[0]), e.ints);
  case Op::Load:
    return load(e);
  case Op::Store:
    store(e);
    return {};
  case Op::AtomicAdd:
  case Op::AtomicMin:
  case Op::AtomicMax:
  case Op::AtomicAnd:
  case Op::AtomicOr:
  case Op::AtomicXor:
  case Op::AtomicExchange:
  case Op::AtomicCas:
    return atomic(e);
  case Op::Assume:
  case Op::Assert:
    check(e);
    return {};
  case Op::Print:
    print(e);
    return {};
  case Op::InlinePtx:
    return inlinePtx(e);
  default:
    if (e.op >= Op::Neg && e.op <= Op::Pow2Ceil)
      return unaryOp(e);
    if (e.op >= Op::Eq && e.op <= Op::Ge)
      return compareOp(e);
    if (e.op >= Op::Add && e.op <= Op::CDiv)
      return binaryOp(e);
    return leaf(e);
  }
}

} // namespace tilegym::interp
