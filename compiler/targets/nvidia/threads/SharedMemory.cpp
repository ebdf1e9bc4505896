// SPDX-License-Identifier: MIT
// Shared memory as two buffers used in turn. With one barrier between the stores and the loads of a use, a thread that stores for use
// k has passed use k-1's barrier, and so has every thread that loaded in use k-2, which had the same buffer. Only where control
// flow meets is a barrier needed in front, too. The same holds in a cluster for the two buffers that other blocks write, with barriers of the
// cluster. A block may exit after its last one: it only reads its own memory then, and nobody writes it any more.
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilegym::nvidia {

Value ThreadBuilder::bufferBase(int which, int64_t bytes) {
  bufferBytes[which] = std::max(bufferBytes[which], bytes);
  auto offset = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
  bufferOffsets.emplace_back(offset, which);
  return LLVM::GEPOp::create(b, loc, sharedBase.getType(), b.getI8Type(), sharedBase, ValueRange{offset});
}

Value ThreadBuilder::acquireShared(int64_t bytes) {
  if (needsBarrier)
    barrier();
  needsBarrier = false;
  usedShared = true;
  buffer ^= 1;
  int which = ownBuffers ? besideBuffers + buffer : buffer;
  Value base = bufferBase(which, bytes);
  if (kernel.getTeams() == 1)
    return base;
  auto apart = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
  bufferParts.emplace_back(apart, which);
  Value distance = arith::MulIOp::create(b, loc, team(), apart); // not folded: it is 0 until the end
  return sharedAddress(base, distance);
}

Value ThreadBuilder::beginBuffer(int64_t offset, int64_t bytes, bool inLoop) {
  if (ownBuffers++ == 0 && (usedShared || inLoop))
    barrier(); // threads may still read what lay here
  ownEnd = std::max(ownEnd, offset + bytes);
  return LLVM::GEPOp::create(b, loc, sharedBase.getType(), b.getI8Type(), sharedBase,
                             ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

void ThreadBuilder::endBuffer() {
  --ownBuffers;
  needsBarrier = true;
}

void ThreadBuilder::publishShared() { barrier(); }

Value ThreadBuilder::reserveShared(int64_t bytes) {
  bufferBytes.push_back(0);
  return bufferBase(int(bufferBytes.size()) - 1, bytes);
}

int64_t ThreadBuilder::finishShared() {
  constexpr int64_t alignment = 128;
  SmallVector<int64_t> starts;
  int64_t end = 0;
  for (auto [i, bytes] : llvm::enumerate(bufferBytes)) {
    if (i == clusterBuffers) // peers write to these at any time
      end = std::max(end, ownEnd);
    starts.push_back(bytes ? llvm::alignTo(end, alignment) : end);
    bool hasParts = llvm::any_of(bufferParts, [&](auto part) { return part.second == int(i); });
    end = starts.back() + (hasParts ? llvm::alignTo(bytes, alignment) * kernel.getTeams() : bytes);
  }
  for (auto [part, which] : bufferParts)
    cast<arith::ConstantOp>(part).setValueAttr(
        b.getI32IntegerAttr(llvm::alignTo(bufferBytes[which], alignment)));
  for (auto [offset, which] : bufferOffsets)
    cast<arith::ConstantOp>(offset).setValueAttr(b.getI32IntegerAttr(starts[which]));
  return end;
}

void ThreadBuilder::ifTrue(Value condition, llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

Value ThreadBuilder::sharedAddress(Value base, Value byteOffset) {
  return LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base, ValueRange{byteOffset});
}

/// i1 has no place in memory: a byte holds it.
static Type memoryType(OpBuilder &b, Type element) {
  return element.isInteger(1) ? Type(b.getI8Type()) : element;
}

void ThreadBuilder::storeShared(Value base, Value byteOffset, ValueRange elements) {
  Type type = memoryType(b, elements[0].getType());
  SmallVector<Value> held(elements);
  if (type != elements[0].getType())
    for (Value &element : held)
      element = arith::ExtUIOp::create(b, loc, type, element);
  unsigned bytes = type.getIntOrFloatBitWidth() / 8;
  Value address = sharedAddress(base, byteOffset);
  if (held.size() == 1) {
    LLVM::StoreOp::create(b, loc, held[0], address, bytes);
    return;
  }
  Value vector = LLVM::PoisonOp::create(b, loc, VectorType::get(held.size(), type));
  for (auto [i, element] : llvm::enumerate(held))
    vector = LLVM::InsertElementOp::create(b, loc, vector, element, i32(i));
  LLVM::StoreOp::create(b, loc, vector, address, bytes * held.size());
}

Registers ThreadBuilder::loadShared(Value base, Value byteOffset, Type element, int64_t count,
                                    bool isVolatile) {
  Type type = memoryType(b, element);
  unsigned bytes = type.getIntOrFloatBitWidth() / 8;
  Value address = sharedAddress(base, byteOffset);
  Registers result;
  if (count == 1) {
    result.push_back(LLVM::LoadOp::create(b, loc, type, address, bytes, isVolatile));
  } else {
    Value vector =
        LLVM::LoadOp::create(b, loc, VectorType::get(count, type), address, bytes * count, isVolatile);
    for (int64_t i = 0; i < count; ++i)
      result.push_back(LLVM::ExtractElementOp::create(b, loc, vector, i32(i)));
  }
  if (type != element)
    for (Value &value : result)
      value = arith::TruncIOp::create(b, loc, element, value);
  return result;
}

Registers ThreadBuilder::throughShared(ArrayRef<Value> registers, const layout::Layout &from,
                                       int64_t resultRegisters, int64_t elements,
                                       llvm::function_ref<Value(int64_t)> store,
                                       llvm::function_ref<Value(int64_t)> load) {
  Type element = registers[0].getType();
  int64_t bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  Value base = acquireShared(elements * bytes);
  // One thread stores an element: others that hold a copy would race with it, if only to write the same.
  ifTrue(isOwner(from, /*inBlock=*/true), [&] {
    for (auto [r, value] : llvm::enumerate(registers))
      if (!isCopy(from, r))
        if (Value offset = store(r))
          storeShared(base, mul(offset, i32(bytes)), value);
  });
  publishShared();
  Registers result;
  for (int64_t r = 0; r < resultRegisters; ++r)
    result.push_back(loadShared(base, mul(load(r), i32(bytes)), element, 1).front());
  return result;
}

} // namespace tilegym::nvidia
