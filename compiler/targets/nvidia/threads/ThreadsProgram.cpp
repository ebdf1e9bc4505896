// SPDX-License-Identifier: MIT
// The kernel's parameters, block number and end; checks and prints; inline PTX.
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

/// The copy engine's first copy by a map waits for the map: one thread has it fetched as soon as it is known which of a list's it is. A producer is one thread.
void fetchMap(ThreadBuilder &t, tile::ParamOp op, Value map) {
  auto roles = op->getParentOfType<tile::RolesOp>();
  bool isProducer = roles && roles.getProducer().isAncestor(op->getParentRegion());
  ptx::TensorPrefetchOp::create(t.b, t.loc, map, ValueRange(), Value(),
                                isProducer ? Value() : t.isFirstThread());
}

/// Of a list: the address of a tensor map, or the value, in constant memory. A number beyond the list's room reads the last place, so that nothing but the list is read.
Value elementOf(ThreadBuilder &t, tile::ParamOp op) {
  tile::ParamAttr param = op.getParam();
  bool isMap = isa<tile::TensorMapType>(op.getType());
  Type type = parameterType(param);
  Value number = t.scalar(op.getElement());
  Value last = t.constant(number.getType(), param.getList() - 1);
  number = arith::MinUIOp::create(t.b, t.loc, number, last);
  Value list = t.argument(op.getNumber());
  Type each = isMap ? LLVM::LLVMArrayType::get(t.b.getI8Type(), 128) : type;
  Value at = LLVM::GEPOp::create(t.b, t.loc, list.getType(), each, list, LLVM::GEPArg(number));
  if (!isMap)
    return LLVM::LoadOp::create(t.b, t.loc, type, at);
  fetchMap(t, op, at);
  return at;
}

LogicalResult lowerParam(ThreadBuilder &t, Operation *op) {
  auto param = cast<tile::ParamOp>(op);
  Value value = param.isFixed() ? t.argument(param.getNumber()) : elementOf(t, param);
  if (param.getType().isInteger(1)) // a bool travels as a byte
    value =
        arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ne, value, t.constant(t.b.getI8Type(), 0));
  t.set(param, {value});
  return success();
}

/// In clusters, whose blocks follow one another in the launch.
Value inClusters(ThreadBuilder &t, Value blocks) {
  if (int64_t size = t.kernel.getClusterSize(); llvm::isPowerOf2_64(size))
    blocks = size > 1 ? arith::ShRUIOp::create(t.b, t.loc, blocks, t.i32(llvm::Log2_64(size))) : blocks;
  else
    blocks = arith::DivUIOp::create(t.b, t.loc, blocks, t.i32(size));
  return arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), blocks);
}

/// Which block of the grid this is part of.
Value gridBlock(ThreadBuilder &t) { return inClusters(t, ptx::BlockIdOp::create(t.b, t.loc)); }

LogicalResult lowerBlockId(ThreadBuilder &t, Operation *op) {
  t.set(op->getResult(0), {gridBlock(t)});
  return success();
}

LogicalResult lowerLaunchSize(ThreadBuilder &t, Operation *op) {
  t.set(op->getResult(0), {inClusters(t, ptx::GridSizeOp::create(t.b, t.loc))});
  return success();
}

LogicalResult lowerReturn(ThreadBuilder &t, Operation *) {
  t.leaveCluster();
  LLVM::ReturnOp::create(t.b, t.loc, ValueRange());
  return success();
}

LogicalResult lowerNothing(ThreadBuilder &, Operation *) { return success(); }

Value firstOfBlock(ThreadBuilder &t) {
  return arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, t.threadId(), t.i32(0));
}

/// "file:line" of the op, for messages from the GPU.
std::string place(Operation *op) {
  std::string text = "kernel";
  op->getLoc()->walk([&](Location loc) {
    auto file = dyn_cast<FileLineColLoc>(loc);
    if (!file)
      return WalkResult::advance();
    text = file.getFilename().str() + ":" + std::to_string(file.getLine());
    return WalkResult::interrupt();
  });
  return text;
}

std::string escapePercent(StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '%' ? "%%" : std::string(1, c);
  return result;
}

LogicalResult lowerAssert(ThreadBuilder &t, Operation *op) {
  auto check = cast<tile::AssertOp>(op);
  Value failedCheck = arith::XOrIOp::create(t.b, t.loc, t.scalar(check.getCondition()), t.boolean(true));
  std::string text = place(op) + ": assertion failed: " + escapePercent(check.getText()) + " (block %lld)\n";
  t.ifTrue(failedCheck, [&] {
    t.ifTrue(firstOfBlock(t), [&] { ptx::PrintOp::create(t.b, t.loc, text, ValueRange{gridBlock(t)}); });
    ptx::TrapOp::create(t.b, t.loc);
  });
  return success();
}

/// What printf takes: i64 or f64.
Value printable(ThreadBuilder &t, Value value) {
  Type type = value.getType();
  if (isa<FloatType>(type))
    return type.isF64() ? value : Value(arith::ExtFOp::create(t.b, t.loc, t.b.getF64Type(), value));
  if (type.isInteger(64))
    return value;
  return type.isInteger(1) ? Value(arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), value))
                           : Value(arith::ExtSIOp::create(t.b, t.loc, t.b.getI64Type(), value));
}

LogicalResult lowerPrint(ThreadBuilder &t, Operation *op) {
  auto print = cast<tile::PrintOp>(op);
  // Each `{}` is one value; a tile prints a line for each of its elements, from the thread that owns it.
  const layout::Layout *layout = nullptr;
  for (Value value : print.getValues())
    if (const layout::Layout *l = t.layoutOf(value.getType()))
      layout = l;
  auto line = [&](int64_t reg) {
    SmallVector<Value> values;
    std::string format;
    StringRef rest = print.getText();
    for (Value value : print.getValues()) {
      auto [before, after] = rest.split("{}");
      const Registers &registers = t.get(value);
      Value shown = printable(t, registers[registers.size() == 1 ? 0 : reg]);
      format += escapePercent(before) + (isa<FloatType>(shown.getType()) ? "%g" : "%lld");
      values.push_back(shown);
      rest = after;
    }
    format += escapePercent(rest) + "\n";
    ptx::PrintOp::create(t.b, t.loc, format, values);
  };
  t.ifTrue(layout ? t.isOwner(*layout) : t.isFirstThread(), [&] {
    for (int64_t r = 0, n = layout ? layout->numRegisters() : 1; r < n; ++r)
      if (!layout || !t.isCopy(*layout, r))
        line(r);
  });
  return success();
}

LogicalResult lowerInlinePtx(ThreadBuilder &t, Operation *op) {
  auto inlined = cast<tile::InlinePtxOp>(op);
  Type element = t.elementType(inlined.getType());
  Registers result;
  for (int64_t r = 0, n = t.numRegisters(inlined.getType()); r < n; ++r) {
    SmallVector<Value> operands;
    for (Value value : inlined.getValues())
      operands.push_back(t.get(value)[isa<RankedTensorType>(value.getType()) ? r : 0]);
    // What it means goes along for the simulator; on the way to PTX it is unused, and LLVM drops it.
    Value meaning = inlineScalarRegion(t, inlined.getMeaning(), operands).front();
    result.push_back(ptx::InlineOp::create(t.b, t.loc, element, inlined.getText(), operands, meaning));
  }
  t.set(inlined, std::move(result));
  return success();
}

} // namespace

void addProgramHandlers(HandlerTable &table) {
  table["tile.param"] = lowerParam;
  table["tile.linear_block_id"] = lowerBlockId;
  table["tile.launch_size"] = lowerLaunchSize;
  table["tile.return"] = lowerReturn;
  table["tile.assume"] = lowerNothing;
}

void addDebugHandlers(HandlerTable &table) {
  table["tile.assert"] = lowerAssert;
  table["tile.print"] = lowerPrint;
  table["tile.inline_ptx"] = lowerInlinePtx;
}

} // namespace tilegym::nvidia
