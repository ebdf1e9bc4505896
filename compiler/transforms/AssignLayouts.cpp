// SPDX-License-Identifier: MIT
// Chooses a layout for each class of tiles, largest first, lets the others follow, writes the layouts into the types, and puts conversions
// where two do not agree.
#include "compiler/ir/ProductLayouts.h"
#include "compiler/layout/Build.h"
#include "compiler/layout/Convert.h"
#include "compiler/layout/Shared.h"
#include "compiler/layout/Transform.h"
#include "compiler/transforms/LayoutClasses.h"
#include "compiler/transforms/Passes.h"
#include "compiler/transforms/RemakeTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tilegym::transforms {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "compiler/transforms/Passes.h.inc"

using namespace mlir;
using layout::Layout;

namespace {

/// A use of its own for each reader, so that each reader's layout is theirs.
void makeForEachUse(tile::KernelOp kernel) {
  SmallVector<Operation *> cheap;
  kernel.walk([&](Operation *op) {
    if (isMadeForEachUse(op))
      cheap.push_back(op);
  });
  for (Operation *op : cheap) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op->getResult(0).getUses())
      uses.push_back(&use);
    OpBuilder b(op);
    for (OpOperand *use : ArrayRef(uses).drop_front(uses.empty() ? 0 : 1))
      use->set(b.clone(*op)->getResult(0));
  }
}

class Assigner {
public:
  explicit Assigner(tile::KernelOp kernel) : kernel(kernel), classes(kernel) {
    layouts.resize(classes.classes.size());
    for (const LayoutClass &c : classes.classes)
      for (tile::RegionOp op : c.accesses)
        widest = std::max(widest, accessShape(op).width);
    kernel.walk([&](Operation *op) { inOrder |= isa<tile::ScanOp, tile::ScanWithOp, tile::HoldOp>(op); });
  }

  LogicalResult run();

private:
  LogicalResult choose();
  std::optional<Layout> forCopyAcross(const LayoutClass &c);
  FailureOr<Layout> best(const LayoutClass &c);
  layout::BlockedSpec specFor(const AccessShape &access, const layout::Shape &shape, int blockAxis);
  int blockAxis(const LayoutClass &c);
  layout::Expected<Layout> forAccess(const layout::Shape &shape, const AccessShape &access, int blockAxis);
  std::optional<Layout> betterFor(const Layout &layout, const AccessShape &access);
  layout::Expected<Layout> forClass(const LayoutClass &c, const AccessShape &access);
  void letFollow(int from);
  bool suits(const LayoutClass &c, const Layout &layout);

  void write();
  Value converted(OpBuilder &b, Location loc, Value value, const Layout &layout);
  void convertOperand(OpOperand &operand, const Layout &layout);
  void convertResult(OpResult result, const Layout &made);
  void settle(Operation *op);
  void settleRegion(tile::RegionOp op);

  tile::KernelOp kernel;
  LayoutClasses classes;
  std::vector<std::optional<Layout>> layouts; ///< by class
  int64_t widest = 1;                         ///< vector of any access
  /// Something meets elements in their order, or reads its part of them in several layouts: blocks of a cluster have stretches.
  bool inOrder = false;
};

/// Widths here count elements, so an element is one "byte".
layout::BlockedSpec Assigner::specFor(const AccessShape &access, const layout::Shape &shape, int blockAxis) {
  int rank = int(shape.size());
  layout::BlockedSpec spec;
  spec.elemBytes = 1;
  spec.vectorBytes = int(access.width);
  spec.warps = int(kernel.getWarps());
  spec.blocks = int(kernel.getCtas());
  spec.blockAxis = blockAxis;
  spec.contiguous = inOrder;
  if (rank > 0)
    spec.order.push_back(access.axis);
  for (int axis = rank - 1; axis >= 0; --axis)
    if (axis != access.axis)
      spec.order.push_back(axis);
  return spec;
}

/// What would suit one access best.
layout::Expected<Layout> Assigner::forAccess(const layout::Shape &shape, const AccessShape &access,
                                             int blockAxis) {
  return layout::blocked(shape, specFor(access, shape, blockAxis));
}

/// The axis along which a layout's blocks differ; -1 where each holds the whole tile.
int sharedAxis(const Layout &layout) {
  for (layout::Vec basis : layout.bases(layout::Dim::Block))
    for (int axis = 0; axis < layout.rank(); ++axis)
      if (layout.unitCoords(basis)[axis])
        return axis;
  return -1;
}

/// The layout for the access where converting to it pays, and moves nothing between the blocks of a cluster.
std::optional<Layout> Assigner::betterFor(const Layout &layout, const AccessShape &access) {
  layout::Expected<Layout> own = forAccess(layout.shape(), access, sharedAxis(layout));
  bool pays = own && paysToConvert(layout, *own, access) && layout::staysInBlocks(layout, *own) &&
              layout::staysInBlocks(*own, layout);
  return pays ? std::optional<Layout>(*own) : std::nullopt;
}

/// The axis that the blocks of a cluster share: the longest of those that are reduced, else of all. -1 where each block has the whole tile, which is
/// too small to give every thread an element.
int Assigner::blockAxis(const LayoutClass &c) {
  if (c.numElements() < kernel.getCtas() * kernel.getNumThreads())
    return -1;
  int longest = -1;
  for (int axis = 0; axis < int(c.shape.size()); ++axis)
    if ((c.reduced.empty() || c.reduced.count(axis)) && (longest < 0 || c.shape[axis] > c.shape[longest]))
      longest = axis;
  return longest;
}

/// Whether an access splits its first axis into the dims of a group, which costs a thread much for each row that it holds.
bool splitsRows(const LayoutClass &c) {
  return llvm::any_of(c.accesses, [](tile::RegionOp op) {
    return op.hasGroup() && op.getAxis(0).kind == tile::AxisKind::Span;
  });
}

/// The same for a class: warps go first to axes that are not reduced, of these to rows that are split, and pieces that are taken apart lie in registers
/// of one thread. Where no access of a kernel with 32-bit offsets has vectors, they go last to the axis of neighbours: a thread's elements of a row then share its address.
layout::Expected<Layout> Assigner::forClass(const LayoutClass &c, const AccessShape &access) {
  int rank = int(c.shape.size());
  layout::BlockedSpec spec = specFor(access, c.shape, blockAxis(c));
  bool isSingle = widest == 1 && kernel.getFacts() == tile::Facts::Fast;
  auto turnOf = [&, rows = splitsRows(c)](int axis) {
    return c.reduced.count(axis) || (isSingle && axis == access.axis) ? 2 : rows && axis == 0 ? 0 : 1;
  };
  for (int turn : {0, 1, 2})
    for (int axis : spec.order)
      if (turnOf(axis) == turn)
        spec.warpOrder.push_back(axis);
  layout::Shape piece = c.shape;
  for (int axis = 0; axis < rank; ++axis)
    piece[axis] /= c.pieces[axis];
  layout::Expected<Layout> layout = layout::blocked(piece, spec);
  for (int axis = 0; layout && axis < rank; ++axis)
    if (c.pieces[axis] > 1)
      layout = layout::joinAxis(*layout, axis, c.pieces[axis]);
  return layout ? layout : layout::blocked(c.shape, spec);
}

/// A load of 32-bit elements that goes to a slot where another axis is contiguous than in memory.
std::optional<Layout> Assigner::forCopyAcross(const LayoutClass &c) {
  if (c.accesses.size() != 1)
    return {};
  tile::RegionOp region = c.accesses[0];
  auto load = dyn_cast<tile::LoadOp>(region.getOperation());
  auto put = load && load->hasOneUse() ? dyn_cast<tile::PutOp>(*load->user_begin()) : tile::PutOp();
  if (!put || c.shape.size() != 2 || c.elementBytes != 4)
    return {};
  AccessShape access = accessShape(region);
  Layout slot = cast<tile::SharedType>(put.getSlot().getType()).getLayout();
  if (layout::contiguousRun(slot, 1 - access.axis, 4) != 4)
    return {};
  layout::Expected<Layout> layout = layout::acrossCopy(c.shape, access.axis, int(kernel.getWarps()));
  return layout ? std::optional<Layout>(*layout) : std::nullopt;
}

FailureOr<Layout> Assigner::best(const LayoutClass &c) {
  if (tile::DotOp product = c.product) {
    layout::Expected<Layout> layout = tile::accumulatorLayout(product);
    if (layout)
      return *layout;
    return product.emitOpError("has a result that no threads can hold: ") << layout.error();
  }
  if (std::optional<Layout> layout = forCopyAcross(c))
    return *layout;
  SmallVector<AccessShape> accesses;
  for (tile::RegionOp op : c.accesses)
    accesses.push_back(accessShape(op));
  // A tile that nothing in memory asks about: as an access to its last axis would have it.
  AccessShape none;
  none.axis = std::max(0, int(c.shape.size()) - 1);
  none.width = std::min<int64_t>(widest, std::max<int64_t>(1, 16 / c.elementBytes));
  SmallVector<AccessShape> candidates = accesses;
  if (candidates.empty())
    candidates.push_back(none);

  std::optional<Layout> chosen;
  int64_t least = 0;
  for (const AccessShape &candidate : candidates) {
    layout::Expected<Layout> layout = forClass(c, candidate);
    if (!layout)
      return kernel.emitOpError("has a tile that no threads can hold: ") << layout.error();
    int64_t cost = 0;
    for (const AccessShape &access : accesses) {
      int64_t here = accessCost(*layout, access);
      if (std::optional<Layout> own = betterFor(*layout, access))
        here = accessCost(*own, access) + conversionCost(own->numRegisters());
      cost += here * access.weight;
    }
    if (!chosen || cost < least) {
      chosen = *layout;
      least = cost;
    }
  }
  return *chosen;
}

bool Assigner::suits(const LayoutClass &c, const Layout &layout) {
  return llvm::all_of(c.accesses, [&](tile::RegionOp op) { return !betterFor(layout, accessShape(op)); });
}

void Assigner::letFollow(int start) {
  SmallVector<int> open = {start};
  while (!open.empty()) {
    int from = open.pop_back_val();
    for (auto &[to, derive] : classes.classes[from].followers) {
      if (layouts[to])
        continue;
      layout::Expected<Layout> layout = derive(*layouts[from]);
      // An access that would suffer decides for itself later, by its own class's turn.
      if (!layout || !suits(classes.classes[to], *layout))
        continue;
      layouts[to] = *layout;
      open.push_back(to);
    }
  }
}

LogicalResult Assigner::choose() {
  // Results of products first, then large tiles, among equals those that memory asks about; then in order of the program.
  SmallVector<int> order(classes.classes.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int x, int y) {
    const LayoutClass &a = classes.classes[x], &b = classes.classes[y];
    return std::tuple(!a.product, -a.numElements(), a.accesses.empty(), x) <
           std::tuple(!b.product, -b.numElements(), b.accesses.empty(), y);
  });
  for (int id : order) {
    if (layouts[id])
      continue;
    FailureOr<Layout> layout = best(classes.classes[id]);
    if (failed(layout))
      return failure();
    layouts[id] = *layout;
    letFollow(id);
  }
  return success();
}

Value Assigner::converted(OpBuilder &b, Location loc, Value value, const Layout &layout) {
  RankedTensorType type = withLayout(value.getType(), layout);
  if (type == value.getType())
    return value;
  if (Value again = remakeTile(b, value, layout))
    return again;
  return tile::ConvertLayoutOp::create(b, loc, type, value);
}

void Assigner::convertOperand(OpOperand &operand, const Layout &layout) {
  OpBuilder b(operand.getOwner());
  operand.set(converted(b, operand.getOwner()->getLoc(), operand.get(), layout));
}

/// The op makes its result in `made`; its readers get it in the layout it had.
void Assigner::convertResult(OpResult result, const Layout &made) {
  Layout wanted = layoutOf(result);
  if (made == wanted)
    return;
  setLayout(result, made);
  if (result.use_empty())
    return;
  OpBuilder b(result.getContext());
  b.setInsertionPointAfter(result.getOwner());
  Value moved = converted(b, result.getOwner()->getLoc(), result, wanted);
  result.replaceAllUsesExcept(moved, moved.getDefiningOp());
}

void Assigner::settleRegion(tile::RegionOp op) {
  Value tile = tile::accessedTile(op);
  if (!tile)
    return;
  Layout layout = layoutOf(tile);
  AccessShape access = accessShape(op);
  if (std::optional<Layout> own = betterFor(layout, access))
    layout = *own;
  SmallVector<Value> indices;
  for (int64_t axis = 0; axis < op.getNumAxes(); ++axis) {
    tile::RegionAxis a = op.getAxis(axis);
    if (a.kind == tile::AxisKind::Gather)
      if (layout::Expected<Layout> wanted = gatherIndexLayout(op, axis, layout))
        for (OpOperand &operand : op->getOpOperands())
          if (operand.get() == a.index)
            convertOperand(operand, *wanted);
  }
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    bool isIndex = llvm::is_contained(op.getIndices(), value);
    if (isa<RankedTensorType>(value.getType()) && !isIndex)
      convertOperand(operand, layout);
  }
  for (OpResult result : op->getResults())
    convertResult(result, layout);
}

void Assigner::settle(Operation *op) {
  if (auto region = dyn_cast<tile::RegionOp>(op))
    return settleRegion(region);
  auto isTile = [](Value value) { return isa<RankedTensorType>(value.getType()); };
  if (isa<tile::ReduceOp, tile::ArgReduceOp>(op)) {
    if (!isTile(op->getResult(0)))
      return;
    ArrayRef<int64_t> axes =
        isa<tile::ReduceOp>(op) ? cast<tile::ReduceOp>(op).getAxes() : cast<tile::ArgReduceOp>(op).getAxes();
    convertResult(op->getResult(0), reducedLayout(layoutOf(op->getOperand(0)), axes));
  } else if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(broadcast.getValue().getType()).getShape();
    convertOperand(broadcast->getOpOperand(0), alongLayout(layoutOf(broadcast.getResult()), shape));
  } else if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    if (!isTile(reshape.getValue()) || !isTile(reshape.getResult()))
      return;
    ArrayRef<int64_t> shape = cast<RankedTensorType>(reshape.getType()).getShape();
    if (auto made = layout::reshape(layoutOf(reshape.getValue()), layout::Shape(shape.begin(), shape.end())))
      convertResult(reshape->getResult(0), *made);
  } else if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
    std::vector<int> order(permute.getOrder().begin(), permute.getOrder().end());
    if (auto made = layout::permuteAxes(layoutOf(permute.getValue()), order))
      convertResult(permute->getResult(0), *made);
  } else if (auto dot = dyn_cast<tile::DotOp>(op)) {
    if (isTile(dot.getA()))
      if (layout::Expected<Layout> needed = tile::fragmentLayout(dot, 0, layoutOf(dot.getResult())))
        convertOperand(dot.getAMutable(), *needed);
  }
}

void Assigner::write() {
  for (LayoutClass &c : classes.classes)
    for (Value value : c.members)
      setLayout(value, *layouts[classes.of(value)]);
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    settle(op);
}

LogicalResult Assigner::run() {
  if (failed(choose()))
    return failure();
  write();
  return success();
}

struct AssignLayoutsPass : impl::AssignLayoutsBase<AssignLayoutsPass> {
  void runOnOperation() override {
    for (tile::KernelOp kernel : getOperation().getOps<tile::KernelOp>()) {
      makeForEachUse(kernel);
      if (failed(Assigner(kernel).run()))
        return signalPassFailure();
    }
  }
};

} // namespace

} // namespace tilegym::transforms
