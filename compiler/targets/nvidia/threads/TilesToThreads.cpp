// SPDX-License-Identifier: MIT
// The pass: each `tile.kernel` becomes the `llvm.func` that one thread runs. Families register what they lower; arith and math ops that
// nothing claims are applied register by register.
#include "compiler/ir/KernelABI.h"
#include "compiler/targets/nvidia/Passes.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

namespace tilegym::nvidia {
#define GEN_PASS_DEF_TILESTOTHREADS
#include "compiler/targets/nvidia/Passes.h.inc"

using namespace mlir;

namespace {

const HandlerTable &handlers() {
  static const HandlerTable table = [] {
    HandlerTable t;
    addAtomicHandlers(t);
    addControlHandlers(t);
    addConvertHandlers(t);
    addDebugHandlers(t);
    addElementwiseHandlers(t);
    addFloat8Handlers(t);
    addHoldHandlers(t);
    addMathHandlers(t);
    addMemoryHandlers(t);
    addProductHandlers(t);
    addProgramHandlers(t);
    addRandomHandlers(t);
    addReduceHandlers(t);
    addRoleHandlers(t);
    addRoundHandlers(t);
    addScanHandlers(t);
    addShapeHandlers(t);
    addSplitHandlers(t);
    addSharedHandlers(t);
    return t;
  }();
  return table;
}

} // namespace

Type parameterType(tile::ParamAttr param) {
  Type type = param.getType();
  if (isa<tile::PtrType>(type))
    return LLVM::LLVMPointerType::get(type.getContext(), 1);
  if (isa<tile::TensorMapType>(type))
    return LLVM::LLVMPointerType::get(type.getContext());
  if (type.isInteger(1) || (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8))
    return IntegerType::get(type.getContext(), 8);
  return type;
}

namespace {

/// What is passed as memory: a tensor map, and the values of a list.
LLVM::LLVMArrayType memoryOf(tile::ParamAttr param) {
  bool isMap = isa<tile::TensorMapType>(param.getType());
  if (!isMap && !param.getList())
    return {};
  Type bytes = LLVM::LLVMArrayType::get(IntegerType::get(param.getContext(), 8), 128);
  Type one = isMap ? bytes : parameterType(param);
  if (!param.getList())
    return cast<LLVM::LLVMArrayType>(one);
  return LLVM::LLVMArrayType::get(one, uint64_t(param.getList()));
}

LogicalResult lowerKernel(tile::KernelOp kernel, bool float8Pairs) {
  OpBuilder b(kernel);
  SmallVector<Type> types;
  for (int64_t i = 0; i < kernel.getNumParams(); ++i) {
    tile::ParamAttr param = kernel.getParam(i);
    types.push_back(param.getList() ? LLVM::LLVMPointerType::get(b.getContext()) : parameterType(param));
  }
  auto signature = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types);
  auto function = LLVM::LLVMFuncOp::create(b, kernel.getLoc(), kernel.getSymName(), signature);
  for (int64_t i = 0; i < kernel.getNumParams(); ++i) {
    LLVM::LLVMArrayType memory = memoryOf(kernel.getParam(i));
    if (!memory)
      continue;
    int64_t alignment = isa<tile::TensorMapType>(kernel.getParam(i).getType()) ? 64 : 8;
    function.setArgAttr(unsigned(i), LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(memory));
    function.setArgAttr(unsigned(i), LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(alignment));
    function.setArgAttr(unsigned(i), "nvvm.grid_constant", b.getUnitAttr());
  }
  function->setAttr("nvvm.kernel", b.getUnitAttr());
  int32_t threads = int32_t(tile::abiOf(kernel).threads());
  function->setAttr("nvvm.reqntid", b.getDenseI32ArrayAttr({threads, 1, 1}));
  if (kernel.getProducerWarps() > 1) // else setmaxnreg is ignored
    function->setAttr("nvvm.minctasm", b.getI32IntegerAttr(int32_t(kernel.getBlocksAtOnce())));
  if (int32_t blocks = int32_t(kernel.getClusterSize()); blocks > 1)
    function->setAttr("nvvm.cluster_dim", b.getDenseI32ArrayAttr({blocks, 1, 1}));
  if (kernel.hasFtz())
    function.setPassthroughAttr(b.getArrayAttr(b.getArrayAttr(
        {b.getStringAttr("denormal-fp-math-f32"), b.getStringAttr("preserve-sign,preserve-sign")})));
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  ThreadBuilder t(b, kernel, entry->getArguments());
  t.hasFloat8Pairs = float8Pairs;
  b.setInsertionPointToEnd(entry);
  if (failed(t.lowerBlock(kernel.getBody().front())))
    return failure();
  function->setAttr("tilegym.shared_bytes", b.getI64IntegerAttr(t.finishShared()));
  kernel.erase();
  return success();
}

struct TilesToThreadsPass : impl::TilesToThreadsBase<TilesToThreadsPass> {
  using TilesToThreadsBase::TilesToThreadsBase;
  void runOnOperation() override {
    for (tile::KernelOp kernel : llvm::make_early_inc_range(getOperation().getOps<tile::KernelOp>()))
      if (failed(lowerKernel(kernel, float8Pairs)))
        return signalPassFailure();
  }
};

} // namespace

LogicalResult ThreadBuilder::lower(Operation *op) {
  loc = op->getLoc();
  StringRef name = op->getName().getStringRef();
  if (auto found = handlers().find(name); found != handlers().end())
    return found->second(*this, op);
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return lowerElementwise(*this, op);
  return op->emitOpError("has no lowering to threads");
}

LogicalResult ThreadBuilder::lowerBlock(Block &block) {
  for (Operation &op : block)
    if (failed(lower(&op)))
      return failure();
  return success();
}

} // namespace tilegym::nvidia
