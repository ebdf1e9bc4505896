// SPDX-License-Identifier: MIT
// Walks back from what a strip needs; each op is made once a strip.
#include "compiler/transforms/Strips.h"
#include "compiler/ir/VectorAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilegym::transforms {

static ArrayRef<int64_t> shapeOf(Value value) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  return tile ? tile.getShape() : ArrayRef<int64_t>();
}

bool isWide(Value value, int64_t length) {
  ArrayRef<int64_t> shape = shapeOf(value);
  return !shape.empty() && shape.back() == length;
}

Value endOf(tile::RegionOp op) { return op.getUppers().back(); }

bool spansFromZero(tile::RegionOp op) {
  int64_t last = op.getNumAxes() - 1;
  tile::RegionAxis axis = op.getAxis(last);
  return axis.kind == tile::AxisKind::Span && matchPattern(axis.index, m_Zero()) &&
         matchPattern(axis.lower, m_Zero());
}

/// A region that a strip can be cut from.
static bool canCut(tile::RegionOp op) {
  int64_t last = op.getNumAxes() - 1;
  return last >= 0 && op.getAxis(last).kind == tile::AxisKind::Span && !op.hasGroup() && !op.getMask();
}

bool canStrip(Operation *op, int64_t length) {
  auto wide = [&](Value value) { return isWide(value, length); };
  if (isa<tile::LoadOp, tile::StoreOp>(op))
    return canCut(cast<tile::RegionOp>(op));
  if (isa<tile::ReduceOp, tile::ReduceWithOp>(op)) {
    auto axes =
        isa<tile::ReduceOp>(op) ? cast<tile::ReduceOp>(op).getAxes() : cast<tile::ReduceWithOp>(op).getAxes();
    int64_t last = int64_t(shapeOf(op->getOperand(0)).size()) - 1;
    return wide(op->getOperand(0)) && llvm::is_contained(axes, last);
  }
  if (op->getNumResults() != 1 || !wide(op->getResult(0)))
    return false;
  if (isa<tile::BroadcastOp>(op))
    return wide(op->getOperand(0)) || shapeOf(op->getOperand(0)).back() == 1;
  if (isa<tile::ReshapeOp>(op))
    return wide(op->getOperand(0));
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    return dense && dense.isSplat();
  }
  return isa<tile::SplatOp, tile::IotaOp>(op) || (op->hasTrait<OpTrait::Elementwise>() && isPure(op));
}

Type Strip::stripOf(Type type) {
  auto tile = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tile.getShape());
  shape.back() = width;
  return RankedTensorType::get(shape, tile.getElementType());
}

SmallVector<Value> Strip::stripIndices(tile::RegionOp op) {
  SmallVector<Value> indices(op.getIndices());
  indices.back() = b.createOrFold<arith::AddIOp>(op.getLoc(), indices.back(), start);
  return indices;
}

Value Strip::load(tile::LoadOp load) {
  auto region = cast<tile::RegionOp>(load.getOperation());
  Type type = stripOf(load.getType());
  if (!start) {
    if (!load.getPad() || !spansFromZero(region) || endOf(region) != end)
      return {};
    return tile::SplatOp::create(b, load.getLoc(), type, load.getPad());
  }
  SmallVector<int64_t> lengths(load.getLengths());
  lengths.back() = width;
  return tile::LoadOp::create(b, load.getLoc(), type, load.getBase(), load.getKinds(), stripIndices(region),
                              lengths, load.getStrides(), load.getLowers(), load.getUppers(),
                              load.getChecks(), load.getGroup(), load.getPad(), Value(), held.lookup(load));
}

void Strip::store(tile::StoreOp store) {
  auto region = cast<tile::RegionOp>(store.getOperation());
  SmallVector<int64_t> lengths(store.getLengths());
  lengths.back() = width;
  tile::StoreOp::create(b, store.getLoc(), of(store.getValue()), store.getBase(), store.getKinds(),
                        stripIndices(region), lengths, store.getStrides(), store.getLowers(),
                        store.getUppers(), store.getChecks(), store.getGroup(), Value());
}

Value Strip::iota(tile::IotaOp op) {
  auto type = cast<RankedTensorType>(stripOf(op.getType()));
  bool along = int64_t(op.getAxis()) == type.getRank() - 1;
  if (along && !start)
    return {};
  Value within = tile::IotaOp::create(b, op.getLoc(), type, op.getAxisAttr());
  if (!along)
    return within;
  Value first = start;
  if (type.getElementType() != start.getType())
    first = b.createOrFold<arith::TruncIOp>(op.getLoc(), type.getElementType(), start);
  return arith::AddIOp::create(b, op.getLoc(), within, tile::SplatOp::create(b, op.getLoc(), type, first));
}

/// `iota < end`, which does not hold beyond it.
Value Strip::compareWithEnd(Operation *op) {
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || start)
    return {};
  auto iota = compare.getLhs().getDefiningOp<tile::IotaOp>();
  auto splat = compare.getRhs().getDefiningOp<tile::SplatOp>();
  bool along = iota && int64_t(iota.getAxis()) == iota.getType().getRank() - 1;
  bool less = compare.getPredicate() == arith::CmpIPredicate::slt ||
              compare.getPredicate() == arith::CmpIPredicate::ult;
  if (!along || !splat || splat.getValue() != end || !less)
    return {};
  auto type = cast<RankedTensorType>(stripOf(compare.getType()));
  return arith::ConstantOp::create(b, op->getLoc(), SplatElementsAttr::get(type, b.getBoolAttr(false)));
}

Value Strip::cloned(Operation *op) {
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    Value part = of(operand);
    if (!part)
      return {};
    mapping.map(operand, part);
  }
  Operation *clone = b.clone(*op, mapping);
  Value result = clone->getResult(0);
  if (auto constant = dyn_cast<arith::ConstantOp>(clone))
    constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue())
                              .resizeSplat(cast<RankedTensorType>(stripOf(result.getType()))));
  result.setType(cast<RankedTensorType>(stripOf(result.getType())));
  // What pads lead to is often a constant.
  SmallVector<Value> folded;
  if (succeeded(b.tryFold(clone, folded)) && folded.size() == 1) {
    clone->erase();
    return folded[0];
  }
  return result;
}

Value Strip::make(Operation *op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return this->load(load);
  if (auto iota = dyn_cast<tile::IotaOp>(op))
    return this->iota(iota);
  if (Value known = compareWithEnd(op))
    return known;
  return cloned(op);
}

Value Strip::of(Value value) {
  if (!isWide(value, length))
    return value;
  auto found = made.find(value);
  if (found != made.end())
    return found->second;
  Value part = make(value.getDefiningOp());
  made[value] = part;
  return part;
}

} // namespace tilegym::transforms
