// SPDX-License-Identifier: MIT
// Which operands of products are shared, how their buffers are laid out, and how long they live.
#include "compiler/ir/ProductLayouts.h"
#include "compiler/ir/VectorAccess.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_SHAREOPERANDS
#include "compiler/transforms/Passes.h.inc"

namespace {

template <class T> SmallVector<T> permuted(ArrayRef<T> list, ArrayRef<int64_t> order) {
  SmallVector<T> result;
  for (int64_t axis : order)
    result.push_back(list[axis]);
  return result;
}

/// permute(load(region)) as a load of the region with its axes in that order; null where its axes have no other order.
Value loadTransposed(tile::PermuteOp permute) {
  auto load = permute.getValue().getDefiningOp<tile::LoadOp>();
  if (!load || !load->hasOneUse() || load.getMask() || !load.getGroup().empty())
    return {};
  // Points stay in front; spans, of which the tile's axes are one each, take their turns.
  SmallVector<int64_t> order, spans;
  for (auto [axis, kind] : llvm::enumerate(load.getKinds())) {
    if (tile::AxisKind(kind) == tile::AxisKind::Gather)
      return {};
    (tile::AxisKind(kind) == tile::AxisKind::Point ? order : spans).push_back(int64_t(axis));
  }
  for (int64_t axis : permute.getOrder())
    order.push_back(spans[axis]);
  auto values = [&](ValueRange range) { return permuted<Value>(SmallVector<Value>(range), order); };
  OpBuilder b(load);
  return tile::LoadOp::create(
      b, load.getLoc(), permute.getType(), load.getBase(), permuted<int32_t>(load.getKinds(), order),
      values(load.getIndices()), permuted<int64_t>(load.getLengths(), order), values(load.getStrides()),
      values(load.getLowers()), values(load.getUppers()), permuted<int32_t>(load.getChecks(), order),
      ValueRange(), load.getPad(), /*mask=*/Value(), /*held=*/Value());
}

/// Whether elementwise work makes the value from a product's result, which loops and branches may pass on.
bool followsProduct(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
        loop && argument != loop.getInductionVar())
      return followsProduct(loop.getTiedLoopInit(argument)->get());
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<tile::DotOp, tile::DotWaitOp>(op))
    return true;
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return followsProduct(loop.getInitArgs()[number]);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return followsProduct(branch.thenYield().getOperand(number)) ||
           followsProduct(branch.elseYield().getOperand(number));
  return op->hasTrait<OpTrait::Elementwise>() && llvm::any_of(op->getOperands(), followsProduct);
}

/// The axis along which neighbours lie together where the tile is loaded from: the last where nothing says.
int contiguousAxis(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumOperands() != 1)
      break;
    value = op->getOperand(0); // a conversion
  }
  if (auto load = value.getDefiningOp<tile::LoadOp>()) {
    auto region = cast<tile::RegionOp>(load.getOperation());
    if (int64_t axis = tile::vectorAxis(region).axis; axis >= 0)
      return int(region.getRegionAxes()[axis]);
  }
  return 1;
}

class Sharer {
public:
  explicit Sharer(tile::KernelOp kernel) : kernel(kernel) {}

  void run() {
    SmallVector<tile::PermuteOp> permutes;
    kernel.walk([&](tile::PermuteOp permute) { permutes.push_back(permute); });
    for (tile::PermuteOp permute : permutes)
      if (llvm::all_of(permute->getUsers(), [](Operation *user) { return isa<tile::DotOp>(user); }))
        if (Value load = loadTransposed(permute)) {
          Operation *old = permute.getValue().getDefiningOp();
          permute.getResult().replaceAllUsesWith(load);
          permute.erase();
          old->erase();
        }
    SmallVector<tile::DotOp> dots;
    kernel.walk([&](tile::DotOp dot) { dots.push_back(dot); });
    for (tile::DotOp dot : dots) {
      if (!(dot.usesTensorCores() && followsProduct(dot.getA())))
        share(dot, dot.getAMutable());
      share(dot, dot.getBMutable());
      if (dot.getWarpgroups() && dot.getPrecision() == tile::Precision::TF32x3)
        addRest(dot);
    }
    for (tile::AllocOp alloc : allocs)
      release(alloc);
  }

private:
  void share(tile::DotOp dot, OpOperand &operand) {
    Value value = operand.get();
    auto by = tile::LayoutAttr::get(
        kernel.getContext(), tile::slotLayout(dot, int(operand.getOperandNumber()), contiguousAxis(value)));
    Value slot = slots.lookup({value, by});
    if (!slot)
      slot = fill(dot, value, by);
    if (value.getDefiningOp()) // else the slot may be filled where another reader does not see it
      slots[{value, by}] = slot;
    operand.set(slot);
  }

  /// The value in a slot of its own, written as late as its readers allow, so that other loads are on their way by then.
  Value fill(tile::DotOp dot, Value value, tile::LayoutAttr by) {
    auto tile = cast<RankedTensorType>(value.getType());
    auto type = tile::SharedType::get(kernel.getContext(), 1,
                                      RankedTensorType::get(tile.getShape(), tile.getElementType(), by));
    OpBuilder b(dot);
    Operation *made = value.getDefiningOp();
    if (made && made->getBlock() != dot->getBlock())
      b.setInsertionPointAfter(made);
    Value slot = makeSlot(b, dot.getLoc(), type);
    tile::PutOp::create(b, dot.getLoc(), value, slot);
    return slot;
  }

  /// A slot for what is put into it at the builder's place; its buffer in front of the innermost loop around that.
  Value makeSlot(OpBuilder &b, Location loc, tile::SharedType type) {
    Operation *place = &*b.getInsertionPoint(), *outer = place->getParentOp();
    while (!isa<scf::ForOp, scf::WhileOp, tile::KernelOp>(outer))
      outer = outer->getParentOp();
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(isa<tile::KernelOp>(outer) ? kernel.getBody().front().findAncestorOpInBlock(*place)
                                                     : outer);
      allocs.push_back(tile::AllocOp::create(b, loc, type, IntegerAttr()));
    }
    Value zero = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
    return tile::SlotOp::create(b, loc, type, allocs.back(), zero);
  }

  /// What the instructions do not read of the operand that they read from its slot.
  void addRest(tile::DotOp dot) {
    Value whole = tile::isMadeTransposed(dot) ? dot.getA() : dot.getB();
    OpBuilder b(dot);
    Value rest = makeSlot(b, dot.getLoc(), cast<tile::SharedType>(whole.getType()));
    tile::PutRestOp::create(b, dot.getLoc(), whole, rest);
    dot.getRestMutable().assign(rest);
  }

  void release(tile::AllocOp alloc) {
    Block *block = alloc->getBlock();
    Operation *last = alloc;
    auto visit = [&](auto &&self, Value value) -> void {
      for (Operation *user : value.getUsers()) {
        Operation *here = block->findAncestorOpInBlock(*user);
        if (last->isBeforeInBlock(here))
          last = here;
        if (isa<tile::SlotOp>(user))
          self(self, user->getResult(0));
      }
    };
    visit(visit, alloc);
    OpBuilder b(alloc.getContext());
    b.setInsertionPointAfter(last);
    tile::DeallocOp::create(b, alloc.getLoc(), alloc);
  }

  tile::KernelOp kernel;
  DenseMap<std::pair<Value, Attribute>, Value> slots; ///< by operand and the slot's layout
  SmallVector<tile::AllocOp> allocs;
};

struct ShareOperandsPass : impl::ShareOperandsBase<ShareOperandsPass> {
  void runOnOperation() override { Sharer(getOperation()).run(); }
};

} // namespace
} // namespace tilegym::transforms
