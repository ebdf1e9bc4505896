// SPDX-License-Identifier: MIT
// Walks back from a tile through elementwise ops, broadcasts and reshapes to scalars, constants and iota.
#include "compiler/transforms/RemakeTile.h"
#include "compiler/layout/Transform.h"
#include "compiler/transforms/LayoutClasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilegym::transforms {

using layout::Layout;

RankedTensorType withLayout(Type tile, const Layout &layout) {
  auto type = cast<RankedTensorType>(tile);
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               tile::LayoutAttr::get(type.getContext(), layout));
}

void setLayout(Value value, const Layout &layout) {
  RankedTensorType type = withLayout(value.getType(), layout);
  value.setType(type);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    auto dense = cast<DenseElementsAttr>(constant.getValue());
    constant.setValueAttr(DenseElementsAttr::getFromRawBuffer(type, dense.getRawData()));
  }
}

Layout layoutOf(Value tile) {
  return cast<tile::LayoutAttr>(cast<RankedTensorType>(tile.getType()).getEncoding()).getLayout();
}

namespace {

/// The layout in which an op needs an operand to give its result in `layout`; none if that is not all it takes.
std::optional<Layout> operandLayout(Operation *op, Value operand, const Layout &layout) {
  ArrayRef<int64_t> extents = cast<RankedTensorType>(operand.getType()).getShape();
  if (isa<tile::BroadcastOp>(op))
    return alongLayout(layout, extents);
  if (isa<tile::ReshapeOp>(op)) {
    auto seen = layout::reshape(layout, layout::Shape(extents.begin(), extents.end()));
    return seen ? std::optional(*seen) : std::nullopt;
  }
  return layout;
}

bool isPlain(Operation *op) {
  bool kind = isMadeForEachUse(op) || op->hasTrait<OpTrait::Elementwise>() ||
              isa<tile::BroadcastOp, tile::ReshapeOp>(op);
  return kind && op->getNumResults() == 1 && op->getNumRegions() == 0 && isPure(op);
}

/// Plans first, so that nothing is cloned in vain: the ops to clone, in order, with the layouts of their results.
struct Plan {
  SmallVector<std::pair<Operation *, Layout>> clones;
  bool add(Value value, const Layout &layout);
};

bool Plan::add(Value value, const Layout &layout) {
  constexpr size_t maxClones = 8;
  if (layoutOf(value) == layout)
    return true;
  for (auto &[op, have] : clones)
    if (op->getResult(0) == value && have == layout)
      return true;
  Operation *op = value.getDefiningOp();
  if (!op || !isPlain(op) || clones.size() >= maxClones)
    return false;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType())) {
      std::optional<Layout> needed = operandLayout(op, operand, layout);
      if (!needed || !add(operand, *needed))
        return false;
    }
  if (clones.size() >= maxClones)
    return false;
  clones.emplace_back(op, layout);
  return true;
}

} // namespace

Value remakeTile(OpBuilder &b, Value value, const Layout &layout) {
  Plan plan;
  if (!plan.add(value, layout) || plan.clones.empty())
    return Value();
  SmallVector<Value> made; // by clone
  auto find = [&](Value operand, const Layout &wanted) {
    for (auto [clone, result] : llvm::zip(plan.clones, made))
      if (clone.first->getResult(0) == operand && clone.second == wanted)
        return result;
    return operand;
  };
  for (auto &[op, wanted] : plan.clones) {
    Operation *clone = b.clone(*op);
    for (OpOperand &operand : clone->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        operand.set(find(operand.get(), *operandLayout(op, operand.get(), wanted)));
    setLayout(clone->getResult(0), wanted);
    made.push_back(clone->getResult(0));
  }
  return made.back();
}

} // namespace tilegym::transforms
