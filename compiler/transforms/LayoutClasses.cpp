// SPDX-License-Identifier: MIT
// One visit to each op: what it unites, and what follows from what.
#include "compiler/transforms/LayoutClasses.h"
#include "compiler/layout/Transform.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilegym::transforms {

using layout::Layout;

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }
static layout::Shape shapeOf(Value value) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  return layout::Shape(shape.begin(), shape.end());
}

bool isMadeForEachUse(Operation *op) {
  return op->getNumResults() == 1 && isTile(op->getResult(0)) &&
         isa<arith::ConstantOp, tile::SplatOp, tile::IotaOp>(op);
}

layout::Expected<Layout> gatherIndexLayout(tile::RegionOp op, int64_t axis, const Layout &region) {
  layout::Shape shape = shapeOf(op.getAxis(axis).index);
  int64_t first = op.getRegionAxes()[axis];
  Layout result = region;
  for (int64_t other = 0; other < region.rank(); ++other)
    if (other < first || other >= first + int64_t(shape.size()))
      result = layout::sliceAxis(result, int(other));
  return layout::reshape(result, shape);
}

Layout reducedLayout(Layout layout, ArrayRef<int64_t> axes) {
  for (int64_t axis : axes)
    layout = layout::sliceAxis(layout, int(axis));
  return layout;
}

Layout alongLayout(Layout layout, ArrayRef<int64_t> operandShape) {
  for (auto [axis, extent] : llvm::enumerate(operandShape))
    if (extent == 1)
      layout = layout::sliceAxis(layout, int(axis));
  return layout;
}

LayoutClasses::LayoutClasses(tile::KernelOp kernel) {
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      idOf(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          idOf(argument);
  });
  kernel.walk([&](Operation *op) { visit(op); });

  DenseMap<int, int> number;
  for (auto [id, value] : llvm::enumerate(values)) {
    auto [at, isNew] = number.try_emplace(parentOf(int(id)), int(classes.size()));
    if (isNew) {
      classes.emplace_back();
      classes.back().shape = shapeOf(value);
      classes.back().pieces.assign(classes.back().shape.size(), 1);
    }
    LayoutClass &c = classes[at->second];
    c.members.push_back(value);
    int64_t bits = cast<RankedTensorType>(value.getType()).getElementTypeBitWidth();
    c.elementBytes = std::min(c.elementBytes, std::max<int64_t>(1, bits / 8));
    classOf[value] = at->second;
  }
  for (auto &[value, op] : accesses)
    classes[of(value)].accesses.push_back(op);
  for (tile::DotOp product : products)
    if (LayoutClass &c = classes[of(product.getResult())]; !c.product)
      c.product = product;
  for (auto [value, axis] : reductions)
    classes[of(value)].reduced.insert(axis);
  for (const Pieces &p : pieces) {
    int64_t &count = classes[of(p.whole)].pieces[p.axis];
    count = std::max(count, p.count);
  }
  for (Relation &relation : relations)
    classes[of(relation.from)].followers.emplace_back(of(relation.to), std::move(relation.derive));
}

int LayoutClasses::parentOf(int id) {
  while (parents[id] != id)
    id = parents[id] = parents[parents[id]];
  return id;
}

int LayoutClasses::idOf(Value value) {
  if (!isTile(value))
    return -1;
  auto [at, isNew] = ids.try_emplace(value, int(values.size()));
  if (isNew) {
    parents.push_back(at->second);
    values.push_back(value);
  }
  return at->second;
}

void LayoutClasses::unite(Value a, Value b) {
  if (!isTile(a) || !isTile(b))
    return;
  int x = parentOf(idOf(a)), y = parentOf(idOf(b));
  parents[std::max(x, y)] = std::min(x, y);
}

void LayoutClasses::uniteAll(ValueRange range) {
  Value first;
  for (Value value : range) {
    if (!isTile(value))
      continue;
    if (first)
      unite(first, value);
    first = value;
  }
}

void LayoutClasses::unite(ValueRange a, ValueRange b) {
  for (auto [x, y] : llvm::zip(a, b))
    unite(x, y);
}

void LayoutClasses::follow(Value from, Value to, Derive derive) {
  if (isTile(from) && isTile(to))
    relations.push_back({from, to, std::move(derive)});
}

void LayoutClasses::visit(Operation *op) {
  if (auto region = dyn_cast<tile::RegionOp>(op))
    return visitRegion(region);
  if (isa<scf::SCFDialect>(op->getDialect()))
    return visitControl(op);
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    products.push_back(dot);
    return unite(dot.getAccumulator(), dot.getResult());
  }
  if (isa<tile::DotWaitOp, tile::SplitSumOp>(op))
    return unite(op->getOperands(), op->getResults());
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return visitReduction(reduce.getValue(), reduce.getResult(), reduce.getAxes());
  if (auto reduce = dyn_cast<tile::ArgReduceOp>(op))
    return visitReduction(reduce.getValue(), reduce.getResult(), reduce.getAxes());
  if (auto reduce = dyn_cast<tile::ReduceWithOp>(op))
    return visitReduction(reduce.getValues(), reduce.getResults(), reduce.getAxes());
  bool scans = isa<tile::ScanOp, tile::ScanWithOp>(op);
  if (scans) {
    int64_t axis =
        isa<tile::ScanOp>(op) ? cast<tile::ScanOp>(op).getAxis() : cast<tile::ScanWithOp>(op).getAxis();
    for (Value operand : op->getOperands())
      if (isTile(operand))
        reductions.emplace_back(operand, int(axis));
  }
  if (scans || op->hasTrait<OpTrait::Elementwise>() || isa<tile::PhiloxOp>(op)) {
    SmallVector<Value> all(op->getOperands());
    all.append(op->result_begin(), op->result_end());
    return uniteAll(all);
  }
  visitShape(op);
}

void LayoutClasses::visitRegion(tile::RegionOp op) {
  Value tile = tile::accessedTile(op);
  if (!tile)
    return;
  SmallVector<Value> together(op->getResults());
  together.push_back(tile);
  if (Value mask = op.getMask())
    together.push_back(mask);
  if (auto cas = dyn_cast<tile::AtomicCasOp>(op.getOperation()))
    together.push_back(cas.getCompare());
  uniteAll(together);
  accesses.emplace_back(tile, op);
  for (int64_t axis = 0; axis < op.getNumAxes(); ++axis)
    if (op.getAxis(axis).kind == tile::AxisKind::Gather)
      follow(tile, op.getAxis(axis).index,
             [op, axis](const Layout &region) { return gatherIndexLayout(op, axis, region); });
}

void LayoutClasses::visitControl(Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case<scf::ForOp>([&](scf::ForOp loop) {
        unite(loop.getInitArgs(), loop.getRegionIterArgs());
        unite(loop.getInitArgs(), loop.getResults());
        unite(loop.getInitArgs(), loop.getYieldedValues());
      })
      .Case<scf::IfOp>([&](scf::IfOp branch) {
        if (branch.getNumResults() == 0)
          return;
        unite(branch.getResults(), branch.thenYield().getOperands());
        unite(branch.getResults(), branch.elseYield().getOperands());
      })
      .Case<scf::WhileOp>([&](scf::WhileOp loop) {
        unite(loop.getInits(), loop.getBeforeArguments());
        unite(loop.getInits(), loop.getYieldOp().getOperands());
        unite(loop.getConditionOp().getArgs(), loop.getAfterArguments());
        unite(loop.getConditionOp().getArgs(), loop.getResults());
      });
}

void LayoutClasses::visitReduction(ValueRange tiles, ValueRange results, ArrayRef<int64_t> axes) {
  uniteAll(tiles);
  uniteAll(results);
  for (int64_t axis : axes)
    reductions.emplace_back(tiles[0], int(axis));
  SmallVector<int64_t> list(axes);
  follow(tiles[0], results[0], [list](const Layout &layout) { return reducedLayout(layout, list); });
}

void LayoutClasses::visitPieces(Value whole, Value piece) {
  layout::Shape large = shapeOf(whole), small = shapeOf(piece);
  for (auto [axis, extent] : llvm::enumerate(small))
    if (large[axis] % extent)
      return;
  SmallVector<std::pair<int, int64_t>> counts;
  for (auto [axis, extent] : llvm::enumerate(small))
    if (extent != large[axis]) {
      counts.emplace_back(int(axis), large[axis] / extent);
      pieces.push_back({whole, int(axis), large[axis] / extent});
    }
  auto each = [counts](const Layout &start, auto change) -> layout::Expected<Layout> {
    Layout layout = start;
    for (auto [axis, count] : counts) {
      layout::Expected<Layout> next = change(layout, axis, count);
      if (!next)
        return next;
      layout = *next;
    }
    return layout;
  };
  follow(whole, piece, [each](const Layout &layout) { return each(layout, layout::splitAxis); });
  follow(piece, whole, [each](const Layout &layout) { return each(layout, layout::joinAxis); });
}

void LayoutClasses::visitShape(Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case<tile::BroadcastOp>([&](tile::BroadcastOp broadcast) {
        follow(broadcast.getResult(), broadcast.getValue(),
               [shape = shapeOf(broadcast.getValue())](const Layout &layout) {
                 return alongLayout(layout, shape);
               });
      })
      .Case<tile::ReshapeOp>([&](tile::ReshapeOp reshape) {
        for (auto [from, to] : {std::pair(reshape.getValue(), Value(reshape.getResult())),
                                {Value(reshape.getResult()), reshape.getValue()}})
          if (isTile(to))
            follow(from, to,
                   [shape = shapeOf(to)](const Layout &layout) { return layout::reshape(layout, shape); });
      })
      .Case<tile::PermuteOp>([&](tile::PermuteOp permute) {
        std::vector<int> order(permute.getOrder().begin(), permute.getOrder().end()), back(order.size());
        for (auto [i, axis] : llvm::enumerate(order))
          back[axis] = int(i);
        follow(permute.getValue(), permute.getResult(),
               [order](const Layout &layout) { return layout::permuteAxes(layout, order); });
        follow(permute.getResult(), permute.getValue(),
               [back](const Layout &layout) { return layout::permuteAxes(layout, back); });
      })
      .Case<tile::CatOp>([&](tile::CatOp cat) {
        bool equal = llvm::all_of(cat.getValues(),
                                  [&](Value value) { return shapeOf(value) == shapeOf(cat.getValues()[0]); });
        if (equal)
          for (Value value : cat.getValues())
            visitPieces(cat.getResult(), value);
      })
      .Case<tile::ExtractOp>([&](tile::ExtractOp extract) {
        layout::Shape piece = shapeOf(extract.getResult());
        bool whole = llvm::all_of(llvm::zip(extract.getOffsets(), piece),
                                  [](auto pair) { return std::get<0>(pair) % std::get<1>(pair) == 0; });
        if (whole)
          visitPieces(extract.getValue(), extract.getResult());
      });
}

} // namespace tilegym::transforms
