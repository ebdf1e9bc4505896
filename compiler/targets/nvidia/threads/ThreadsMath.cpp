// SPDX-License-Identifier: MIT
// Functions of math: the special-function unit where the kernel allows approximation (`afn`), libdevice elsewhere; correctly
// rounded ones stay LLVM's. Half precision goes through f32, which holds its values, and is rounded once more.
//
// Bounds, against the exact function of the f32 operand: libdevice exp, exp2, log, log2, sin, cos, tanh, erf, pow at most 2 ulp (CUDA C++ Programming
// Guide, "Mathematical Functions"; sin and cos in their whole range, pow 4); rsqrt here 2 ulp. Approximate ones: see ptx.approx; exp adds the
// rounding of x * log2(e), |x| / 1.4 ulp at most.
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

/// An op of math, and how it is done in f32 where approximation is allowed and where not.
struct Function {
  const char *name;
  const char *libdevice; ///< f32 name; f64's lacks the trailing f
  Value (*approximate)(ThreadBuilder &, Value) = nullptr;
};

Value approx(ThreadBuilder &t, ptx::ApproxKind kind, Value x) {
  return ptx::ApproxOp::create(t.b, t.loc, t.b.getF32Type(), kind, x, t.kernel.hasFtz());
}
template <ptx::ApproxKind kind> Value direct(ThreadBuilder &t, Value x) { return approx(t, kind, x); }
Value multiply(ThreadBuilder &t, Value x, double factor) {
  return arith::MulFOp::create(t.b, t.loc, x, t.constantFloat(t.b.getF32Type(), factor));
}
Value approximateExp(ThreadBuilder &t, Value x) {
  return approx(t, ptx::ApproxKind::Ex2, multiply(t, x, 1.4426950408889634));
}
Value approximateLog(ThreadBuilder &t, Value x) {
  return multiply(t, approx(t, ptx::ApproxKind::Lg2, x), 0.6931471805599453);
}

const Function functions[] = {
    {"math.exp", "__nv_expf", approximateExp},
    {"math.exp2", "__nv_exp2f", direct<ptx::ApproxKind::Ex2>},
    {"math.log", "__nv_logf", approximateLog},
    {"math.log2", "__nv_log2f", direct<ptx::ApproxKind::Lg2>},
    {"math.sin", "__nv_sinf", direct<ptx::ApproxKind::Sin>},
    {"math.cos", "__nv_cosf", direct<ptx::ApproxKind::Cos>},
    {"math.tanh", "__nv_tanhf", direct<ptx::ApproxKind::Tanh>},
    {"math.erf", "__nv_erff"},
    {"math.powf", "__nv_powf"},
};

bool isApproximate(ThreadBuilder &t, Operation *op) {
  auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
  return flags && flags.getFastMathFlagsAttr() &&
         bitEnumContainsAll(flags.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::afn);
}

/// Applies `f`, which takes f32 or f64, to each register, widening half precision to f32 around it.
LogicalResult mapFloat(ThreadBuilder &t, Operation *op, llvm::function_ref<Value(ValueRange)> f) {
  Type element = t.elementType(op->getResult(0).getType());
  bool half = element.getIntOrFloatBitWidth() == 16;
  Registers result;
  for (int64_t r = 0, n = t.numRegisters(op->getResult(0).getType()); r < n; ++r) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      Value x = t.get(operand)[r];
      operands.push_back(half ? Value(arith::ExtFOp::create(t.b, t.loc, t.b.getF32Type(), x)) : x);
    }
    Value y = f(operands);
    result.push_back(half ? Value(arith::TruncFOp::create(t.b, t.loc, element, y)) : y);
  }
  t.set(op->getResult(0), std::move(result));
  return success();
}

Value callLibdevice(ThreadBuilder &t, StringRef f32Name, ValueRange operands) {
  Type type = operands[0].getType();
  StringRef name = type.isF64() ? f32Name.drop_back() : f32Name;
  return ptx::LibdeviceOp::create(t.b, t.loc, type, t.b.getStringAttr(name), operands);
}

LogicalResult lowerFunction(ThreadBuilder &t, Operation *op) {
  const Function *function =
      llvm::find_if(functions, [&](const Function &f) { return op->getName().getStringRef() == f.name; });
  bool approximate = function->approximate && isApproximate(t, op);
  return mapFloat(t, op, [&](ValueRange x) -> Value {
    if (approximate && x[0].getType().isF32())
      return function->approximate(t, x[0]);
    return callLibdevice(t, function->libdevice, x);
  });
}

/// 1 / sqrt(x), both correctly rounded.
LogicalResult lowerRsqrt(ThreadBuilder &t, Operation *op) {
  bool approximate = isApproximate(t, op);
  return mapFloat(t, op, [&](ValueRange x) -> Value {
    if (approximate && x[0].getType().isF32())
      return approx(t, ptx::ApproxKind::Rsqrt, x[0]);
    Value root = math::SqrtOp::create(t.b, t.loc, x[0]);
    return arith::DivFOp::create(t.b, t.loc, t.constantFloat(x[0].getType(), 1.0), root);
  });
}

LogicalResult lowerSqrt(ThreadBuilder &t, Operation *op) {
  bool approximate = isApproximate(t, op);
  return mapFloat(t, op, [&](ValueRange x) -> Value {
    if (approximate && x[0].getType().isF32())
      return approx(t, ptx::ApproxKind::Sqrt, x[0]);
    return math::SqrtOp::create(t.b, t.loc, x[0]);
  });
}

LogicalResult lowerDivide(ThreadBuilder &t, Operation *op) {
  bool approximate = isApproximate(t, op);
  return mapFloat(t, op, [&](ValueRange x) -> Value {
    if (!approximate || !x[0].getType().isF32())
      return arith::DivFOp::create(t.b, t.loc, x[0], x[1]);
    // The reciprocal of a scalar that many elements share is worth one instruction, not eight.
    FloatAttr numerator;
    if (auto constant = x[0].getDefiningOp<arith::ConstantOp>())
      numerator = dyn_cast<FloatAttr>(constant.getValue());
    if (numerator && numerator.getValueAsDouble() == 1.0)
      return approx(t, ptx::ApproxKind::Rcp, x[1]);
    return ptx::DivideApproxOp::create(t.b, t.loc, t.b.getF32Type(), x[0], x[1], t.kernel.hasFtz());
  });
}

/// Exact in f32 for half precision, and what LLVM can do for bf16 on every target.
template <class Op> LogicalResult lowerThroughF32(ThreadBuilder &t, Operation *op) {
  return mapFloat(t, op, [&](ValueRange x) -> Value { return Op::create(t.b, t.loc, x[0]); });
}

} // namespace

void addMathHandlers(HandlerTable &table) {
  for (const Function &function : functions)
    table[function.name] = lowerFunction;
  table["math.rsqrt"] = lowerRsqrt;
  table["math.sqrt"] = lowerSqrt;
  table["arith.divf"] = lowerDivide;
  table["math.floor"] = lowerThroughF32<math::FloorOp>;
  table["math.ceil"] = lowerThroughF32<math::CeilOp>;
  table["math.trunc"] = lowerThroughF32<math::TruncOp>;
  table["math.roundeven"] = lowerThroughF32<math::RoundEvenOp>;
}

} // namespace tilegym::nvidia
