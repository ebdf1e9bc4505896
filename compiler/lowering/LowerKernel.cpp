// SPDX-License-Identifier: MIT
// A kernel: what cannot be lowered yet is reported first, so that the families need not; then the op, its body, and
// the attributes that depend on what the body used.
#include "compiler/lowering/Lowerer.h"
#include "compiler/lowering/Lowering.h"
#include "compiler/lowering/Unsupported.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilegym;
using namespace tilegym::lowering;

Lowerer::Lowerer(const sem::OpModel &op, const sem::Kernel &kernel, const tile::FactSet &facts,
                 OpBuilder &builder, DiagnosticSink &sink)
    : op(op), kernel(kernel), builder(builder), sink(sink), params(op, kernel, facts),
      location(builder.getUnknownLoc()), locals(kernel.locals.size()), views(kernel.locals.size()) {
  using arith::FastMathFlags;
  FastMathFlags flags = FastMathFlags::none, function = FastMathFlags::none;
  if (kernel.math.contract)
    flags = function = FastMathFlags::contract;
  if (kernel.math.approx)
    function = function | FastMathFlags::afn | FastMathFlags::arcp;
  fastMath = arith::FastMathFlagsAttr::get(builder.getContext(), flags);
  fastMathFunction = arith::FastMathFlagsAttr::get(builder.getContext(), function);
}

void Lowerer::unsupported(SourceRange range, StringRef what) {
  sink.error(range, "the target cannot lower " + what.str() + " yet", "it can be checked and interpreted");
}

Location Lowerer::locationOf(SourceRange range) {
  if (!range.file)
    return location;
  SourceFile::LineColumn place = range.file->lineColumn(range.begin);
  return FileLineColLoc::get(builder.getContext(), range.file->name(), place.line, place.column);
}

Type Lowerer::memoryType(DType dtype) const { return lowering::memoryType(builder.getContext(), dtype); }

Type Lowerer::typeOf(DType dtype) const {
  return dtype == DType::Bool ? builder.getI1Type() : memoryType(dtype);
}

Type Lowerer::typeOf(const sem::Type &type) const {
  Type element = typeOf(type.dtype);
  return type.isScalar() ? element : RankedTensorType::get(type.shape, element);
}

Value Lowerer::index(int64_t value) { return number(builder.getI64Type(), value); }
Value Lowerer::boolean(bool value) { return number(builder.getI1Type(), value); }

Value Lowerer::number(Type type, int64_t value) {
  Type element = getElementTypeOrSelf(type);
  if (isa<FloatType>(element))
    return floatNumber(type, double(value));
  TypedAttr attr =
      builder.getIntegerAttr(element, APInt(element.getIntOrFloatBitWidth(), uint64_t(value), false, true));
  if (auto tile = dyn_cast<RankedTensorType>(type))
    attr = SplatElementsAttr::get(tile, attr);
  return create<arith::ConstantOp>(attr);
}

Value Lowerer::floatNumber(Type type, double value) {
  TypedAttr attr = builder.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto tile = dyn_cast<RankedTensorType>(type))
    attr = SplatElementsAttr::get(tile, attr);
  return create<arith::ConstantOp>(attr);
}

void Lowerer::lowerBody() { lowerBlock(kernel.block); }

bool tilegym::lowering::asksForVectors(const sem::OpModel &op, const sem::Kernel &kernel) {
  KernelParams params(op, kernel, tile::FactKind::Fast);
  return llvm::any_of(params.tensorFacts(), [](const tile::TensorFacts &facts) { return facts.aligned; });
}

bool tilegym::lowering::lowerKernel(const sem::OpModel &op, const sem::Kernel &kernel,
                                    const tile::FactSet &facts, StringRef entry, ModuleOp module,
                                    DiagnosticSink &sink) {
  size_t errors = sink.numErrors();
  reportUnsupported(op, kernel, sink);
  if (sink.numErrors() != errors)
    return false;
  MLIRContext *context = module.getContext();
  context->loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  auto builder = OpBuilder::atBlockEnd(module.getBody());

  int64_t warps = 4;
  SmallVector<NamedAttribute> knobs;
  for (const sem::NamedInt &knob : kernel.spec.knobs) {
    if (knob.name == "warps")
      warps = knob.value;
    else
      knobs.push_back(builder.getNamedAttr(knob.name, builder.getI64IntegerAttr(knob.value)));
  }
  auto factsAttr = tile::FactsAttr::get(context, facts.facts());
  auto math = kernel.math;
  auto mathAttr = math.approx || math.ftz || math.contract
                      ? tile::MathAttr::get(context, math.approx, math.ftz, math.contract)
                      : tile::MathAttr();
  int64_t gridRank = int64_t(kernel.grid.size());
  SmallVector<int64_t> gridParams(gridRank, -1);
  auto kernelOp = tile::KernelOp::create(
      builder, module.getLoc(), builder.getStringAttr(entry), builder.getI64IntegerAttr(gridRank),
      builder.getDenseI64ArrayAttr(gridParams), factsAttr, builder.getI64IntegerAttr(warps),
      builder.getArrayAttr({}), mathAttr, knobs.empty() ? DictionaryAttr() : builder.getDictionaryAttr(knobs),
      DenseI64ArrayAttr());
  builder.setInsertionPointToEnd(&kernelOp.getBody().emplaceBlock());

  Lowerer lowerer(op, kernel, facts, builder, sink);
  lowerer.lowerBody();
  tile::ReturnOp::create(builder, builder.getUnknownLoc());
  if (sink.numErrors() != errors) {
    kernelOp.erase();
    return false;
  }

  KernelParams &params = lowerer.kernelParams();
  for (int64_t axis = 0; axis < gridRank; ++axis) {
    const sem::Expr *extent = kernel.grid[axis].get();
    if (extent->op == sem::Op::CDiv && extent->operands[1]->op == sem::Op::Const &&
        extent->operands[1]->constant.asInt() == 1)
      extent = extent->operands[0].get(); // tiles of one
    if (extent->op == sem::Op::Dim)
      gridParams[axis] = params.find(tile::ParamKind::Extent, extent->index);
  }
  kernelOp.setGridParams(gridParams);
  kernelOp.setParamsAttr(builder.getArrayAttr(params.list()));
  if (params.isFast()) {
    SmallVector<int64_t> bits;
    for (const tile::TensorFacts &tensor : params.tensorFacts())
      bits.push_back(tensor.bits());
    kernelOp.setTensorFactsAttr(builder.getDenseI64ArrayAttr(bits));
  }
  return true;
}
