// SPDX-License-Identifier: MIT
// Loads and stores of regions: vectors of up to 16 bytes under one predicate where the facts allow it.
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/Access.h"
#include "compiler/targets/nvidia/threads/Words.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

bool isReadonly(tile::RegionOp op) {
  return op.getBase().getDefiningOp<tile::ParamOp>().getParam().getReadonly();
}

LogicalResult lowerLoad(ThreadBuilder &t, Operation *op) {
  auto load = cast<tile::LoadOp>(op);
  if (load.getHeld())
    return lowerHeldLoad(t, load);
  auto region = cast<tile::RegionOp>(op);
  Type element = t.elementType(load.getType());
  const layout::Layout *layout = t.layoutOf(load.getType());
  t.orderLoad(region);
  Access access(t, region, layout);
  Value pad = load.getPad() ? t.scalar(load.getPad()) : Value();
  bool maskedTile = load.getMask() && layout;
  Registers result(layout ? layout->numRegisters() : 1);
  // A masked-off element that is in bounds may be read: the pad replaces it afterwards, and the vector stays whole.
  std::vector<std::vector<int64_t>> groups =
      layout ? access.vectorGroups(/*maskInTheWay=*/false) : std::vector<std::vector<int64_t>>{{0}};
  for (const std::vector<int64_t> &group : groups) {
    int64_t n = group.size();
    Words form = wordsFor(t, access.elementBytes(), n);
    Access::Address address = access.address(group[0]);
    Value predicate = access.inBounds(group[0], /*ignoreMask=*/maskedTile && n > 1);
    SmallVector<Value> other;
    if (predicate) {
      Value padding = pad;
      if (!padding)
        padding = isa<FloatType>(element) ? t.constantFloat(element, 0) : t.constant(element, 0);
      other = pack(t, SmallVector<Value>(n, padding), form);
    }
    // What is read once goes through L1 like the rest: around it (L1::no_allocate, evict_first) streams are 2 to 9 % slower on an H200.
    auto words = ptx::LoadGlobalOp::create(t.b, t.loc, SmallVector<Type>(form.words, form.wordType),
                                           address.pointer, predicate, other, address.fixedBytes,
                                           form.wordBits, isReadonly(region), ptx::Cache::Default);
    Registers loaded = unpack(t, words.getWords(), element, n, form);
    for (auto [r, value] : llvm::zip(group, loaded))
      result[r] = value;
  }
  if (maskedTile && pad)
    for (auto [r, value] : llvm::enumerate(result))
      value = arith::SelectOp::create(t.b, t.loc, t.get(load.getMask())[r], value, pad);
  t.set(load, std::move(result));
  return success();
}

LogicalResult lowerStore(ThreadBuilder &t, Operation *op) {
  auto store = cast<tile::StoreOp>(op);
  auto region = cast<tile::RegionOp>(op);
  const layout::Layout *layout = t.layoutOf(store.getValue().getType());
  t.orderStore(region);
  Access access(t, region, layout);
  const Registers &values = t.get(store.getValue());
  // Of the threads that hold copies, one writes.
  Value owner = layout ? t.isOwner(*layout) : t.isFirstThread();
  std::vector<std::vector<int64_t>> groups = layout
                                                 ? access.vectorGroups(/*maskInTheWay=*/bool(store.getMask()))
                                                 : std::vector<std::vector<int64_t>>{{0}};
  for (const std::vector<int64_t> &group : groups) {
    if (layout && t.isCopy(*layout, group[0]))
      continue;
    Words form = wordsFor(t, access.elementBytes(), group.size());
    Access::Address address = access.address(group[0]);
    Value predicate = t.conjunction(owner, access.inBounds(group[0]));
    SmallVector<Value> elements;
    for (int64_t r : group)
      elements.push_back(values[r]);
    ptx::StoreGlobalOp::create(t.b, t.loc, pack(t, elements, form), address.pointer, predicate,
                               address.fixedBytes, form.wordBits, ptx::Cache::Default);
  }
  return success();
}

} // namespace

void addMemoryHandlers(HandlerTable &table) {
  table["tile.load"] = lowerLoad;
  table["tile.store"] = lowerStore;
}

} // namespace tilegym::nvidia
