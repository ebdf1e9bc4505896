// SPDX-License-Identifier: MIT
// A kernel of products becomes the program of one block of its cluster: which axis of each tile is cut follows from the products' results, op by op.
#include "compiler/transforms/LayoutClasses.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_SPREADPRODUCTS
#include "compiler/transforms/Passes.h.inc"

namespace {

RankedTensorType tileOf(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

/// The axis of a reshape's other side that is as long, with as many elements in front of it.
std::optional<int64_t> sameAxis(RankedTensorType from, RankedTensorType to, int64_t axis) {
  auto before = [](RankedTensorType type, int64_t end) {
    return ShapedType::getNumElements(type.getShape().take_front(end));
  };
  for (int64_t i = 0; i < to.getRank(); ++i)
    if (to.getDimSize(i) == from.getDimSize(axis) && before(to, i) == before(from, axis))
      return i;
  return {};
}

class Spreader {
public:
  Spreader(tile::KernelOp kernel) : kernel(kernel), blocks(kernel.getCtas()) {}

  LogicalResult run() {
    makeApart();
    bool failed = kernel
                      .walk([&](tile::DotOp dot) {
                        return succeeded(begin(dot)) ? WalkResult::advance() : WalkResult::interrupt();
                      })
                      .wasInterrupted();
    if (failed || llvm::any_of(effects(), [&](Operation *op) {
          return llvm::none_of(op->getOperands(), [&](Value value) { return axes.contains(value); }) &&
                 mlir::failed(refuse(op, "would be done by each block of the cluster"));
        }))
      return failure();
    rewrite();
    return success();
  }

private:
  InFlightDiagnostic error(Operation *op, StringRef why) {
    InFlightDiagnostic diagnostic = op->emitError("`ctas` cannot spread this kernel's products: this ")
                                    << why;
    diagnostic.attachNote()
        << "each block of a cluster makes equal parts of all tiles along the rows, or the "
           "columns, of a product: give this kernel `ctas = 1`";
    return diagnostic;
  }
  LogicalResult refuse(Operation *op, StringRef why) { return error(op, why); }

  /// What is made of nothing may be cut at one use and whole at another.
  void makeApart() {
    SmallVector<Operation *> made;
    kernel.walk([&](Operation *op) {
      if (isMadeForEachUse(op))
        made.push_back(op);
    });
    for (Operation *op : made)
      for (OpOperand &use : llvm::make_early_inc_range(op->getResult(0).getUses()))
        if (&use != &*op->getResult(0).use_begin())
          use.set(OpBuilder(op).clone(*op)->getResult(0));
  }

  SmallVector<Operation *> effects() {
    SmallVector<Operation *> found;
    kernel.walk([&](Operation *op) {
      bool isTileOp = isa<tile::TileDialect>(op->getDialect()) && !op->getNumRegions();
      if (isTileOp && !isMemoryEffectFree(op) &&
          !isa<tile::LoadOp, tile::DotOp, tile::AssumeOp, tile::AssertOp>(op))
        found.push_back(op);
    });
    return found;
  }

  /// The rows, where each block keeps enough of them for each of its warpgroups; else the columns.
  LogicalResult begin(tile::DotOp dot) {
    if (axes.contains(dot.getResult()))
      return success();
    constexpr int64_t warpgroup = 4, rowsOfWarpgroup = 64, columns = 8;
    int64_t least = rowsOfWarpgroup * std::max<int64_t>(1, kernel.getWarps() / warpgroup);
    RankedTensorType type = dot.getType();
    if (type.getDimSize(0) % (blocks * least) == 0)
      return cut(dot.getResult(), 0, dot);
    if (type.getDimSize(1) % (blocks * columns) == 0)
      return cut(dot.getResult(), 1, dot);
    return error(dot, "has ") << type.getDimSize(0) << " rows and " << type.getDimSize(1)
                              << " columns, neither of which " << blocks << " blocks of " << kernel.getWarps()
                              << " warps can share";
  }

  /// Cuts the tile, and all that must be cut with it.
  LogicalResult cut(Value value, int64_t axis, Operation *by) {
    SmallVector<std::pair<Value, Operation *>> work;
    auto mark = [&](Value tile, std::optional<int64_t> at, Operation *because) -> LogicalResult {
      if (!at || !tileOf(tile) || tileOf(tile).getDimSize(*at) % blocks)
        return refuse(because, "has a tile that the blocks cannot share");
      auto [found, isNew] = axes.try_emplace(tile, *at);
      if (!isNew)
        return found->second == *at ? success() : refuse(because, "needs a tile that is cut along two axes");
      work.emplace_back(tile, because);
      return success();
    };
    if (failed(mark(value, axis, by)))
      return failure();
    while (!work.empty()) {
      Value tile = work.pop_back_val().first;
      SmallVector<Operation *> near(tile.getUsers());
      if (Operation *made = tile.getDefiningOp())
        near.push_back(made);
      else
        near.push_back(cast<BlockArgument>(tile).getOwner()->getParentOp());
      for (Operation *op : near)
        if (failed(spread(op, tile, axes.lookup(tile), mark)))
          return failure();
    }
    return success();
  }

  using Mark = function_ref<LogicalResult(Value, std::optional<int64_t>, Operation *)>;

  /// From one tile of the op to its others.
  LogicalResult spread(Operation *op, Value tile, int64_t axis, Mark mark) {
    auto all = [&](auto &&values) {
      for (Value value : values)
        if (tileOf(value) && failed(mark(value, axis, op)))
          return failure();
      return success();
    };
    if (isa<tile::SplatOp, tile::IotaOp>(op))
      return success();
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return isa<SplatElementsAttr>(constant.getValue()) ? success()
                                                         : refuse(op, "lists the elements of a tile");
    if (op->hasTrait<OpTrait::Elementwise>())
      return success(succeeded(all(op->getOperands())) && succeeded(all(op->getResults())));
    if (isa<tile::ReduceOp, tile::ArgReduceOp, tile::ReduceWithOp>(op)) {
      auto reduced = op->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef();
      if (llvm::is_contained(reduced, axis))
        return refuse(op, "reduces along what the blocks would share");
      if (failed(all(op->getResults())))
        return failure();
      for (Value operand : op->getOperands())
        if (tileOf(operand) && failed(mark(operand, axis, op)))
          return failure();
      return success();
    }
    if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
      if (failed(mark(broadcast.getResult(), axis, op)))
        return failure();
      return broadcast.getValue().getType().getDimSize(axis) == 1 ? success()
                                                                  : mark(broadcast.getValue(), axis, op);
    }
    if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
      Value other = tile == reshape.getResult() ? reshape.getValue() : reshape.getResult();
      if (!tileOf(other))
        return refuse(op, "makes one element of what the blocks would share");
      return mark(other, sameAxis(tileOf(tile), tileOf(other), axis), op);
    }
    if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
      ArrayRef<int64_t> order = permute.getOrder();
      if (tile == permute.getResult())
        return mark(permute.getValue(), order[axis], op);
      return mark(permute.getResult(), llvm::find(order, axis) - order.begin(), op);
    }
    if (auto dot = dyn_cast<tile::DotOp>(op)) {
      bool isA = tile == dot.getA(), isB = tile == dot.getB();
      if ((isA && axis == 1) || (isB && axis == 0))
        return refuse(op, "sums along what the blocks would share");
      if (failed(mark(dot.getResult(), axis, op)) || failed(mark(dot.getAccumulator(), axis, op)))
        return failure();
      return mark(axis == 0 ? dot.getA() : dot.getB(), axis, op);
    }
    if (isa<tile::LoadOp, tile::StoreOp>(op))
      return spreadAccess(cast<tile::RegionOp>(op), axis, mark);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return spreadLoop(loop, tile, axis, mark);
    if (isa<scf::YieldOp>(op)) {
      Operation *outer = op->getParentOp();
      if (!isa<scf::IfOp, scf::ForOp>(outer))
        return refuse(op, "carries a tile as a whole");
      for (auto [value, result] : llvm::zip(op->getOperands(), outer->getResults()))
        if (value == tile && failed(mark(result, axis, op)))
          return failure();
      return success();
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      unsigned number = cast<OpResult>(tile).getResultNumber();
      for (Region &region : branch->getRegions())
        if (failed(mark(region.front().getTerminator()->getOperand(number), axis, op)))
          return failure();
      return success();
    }
    return refuse(op, "takes or gives a tile as a whole");
  }

  LogicalResult spreadAccess(tile::RegionOp op, int64_t axis, Mark mark) {
    Value tile = isa<tile::LoadOp>(op.getOperation()) ? op->getResult(0) : op->getOperand(0);
    if (failed(mark(tile, axis, op)) || (op.getMask() && failed(mark(op.getMask(), axis, op))))
      return failure();
    return spanOf(op, axis) ? success() : refuse(op, "gathers along what the blocks would share");
  }

  /// The axis of the tensor that the region's axis is a span of.
  static std::optional<int64_t> spanOf(tile::RegionOp op, int64_t axis) {
    for (auto [i, of] : llvm::enumerate(op.getRegionAxes()))
      if (of == axis && op.getAxis(int64_t(i)).kind == tile::AxisKind::Span)
        return int64_t(i);
    return {};
  }

  static LogicalResult spreadLoop(scf::ForOp loop, Value tile, int64_t axis, Mark mark) {
    for (unsigned i = 0; i < loop.getNumResults(); ++i) {
      Value same[] = {loop.getResult(i), loop.getRegionIterArg(i), loop.getInitArgs()[i],
                      loop.getYieldedValues()[i]};
      if (llvm::is_contained(same, tile))
        for (Value value : same)
          if (failed(mark(value, axis, loop)))
            return failure();
    }
    return success();
  }

  // ---- the block's own program

  void rewrite() {
    OpBuilder b(&kernel.getBody().front(), kernel.getBody().front().begin());
    Value rank = tile::ClusterRankOp::create(b, kernel.getLoc());
    kernel.walk([&](tile::RegionOp op) { moveRegion(op, rank); });
    for (auto [value, axis] : axes)
      shorten(value, axis, rank);
    NamedAttrList knobs(*kernel.getKnobs());
    knobs.erase("ctas");
    knobs.set("spread", b.getI64IntegerAttr(blocks));
    kernel.setKnobsAttr(knobs.getDictionary(b.getContext()));
  }

  /// Begins where the block's part does.
  void moveRegion(tile::RegionOp op, Value rank) {
    Value tile = isa<tile::LoadOp>(op.getOperation()) ? op->getResult(0) : op->getOperand(0);
    auto found = axes.find(tile);
    if (found == axes.end())
      return;
    int64_t axis = *spanOf(op, found->second), length = op.getLengths()[axis] / blocks;
    OpBuilder b(op);
    OpOperand &index = op->getOpOperands()[op.getIndices().getBeginOperandIndex() + axis];
    index.set(moved(b, op.getLoc(), index.get(), rank, length));
    SmallVector<int64_t> lengths(op.getLengths());
    lengths[axis] = length;
    op->setAttr("lengths", b.getDenseI64ArrayAttr(lengths));
  }

  static Value moved(OpBuilder &b, Location loc, Value index, Value rank, int64_t length) {
    Value each = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(length));
    Value by = arith::MulIOp::create(b, loc, rank, each, arith::IntegerOverflowFlags::nsw);
    if (!index.getType().isInteger(64))
      by = arith::TruncIOp::create(b, loc, index.getType(), by);
    return arith::AddIOp::create(b, loc, index, by);
  }

  void shorten(Value value, int64_t axis, Value rank) {
    RankedTensorType type = tileOf(value);
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] /= blocks;
    RankedTensorType part = RankedTensorType::get(shape, type.getElementType());
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).resizeSplat(part));
    value.setType(part);
    if (auto iota = value.getDefiningOp<tile::IotaOp>(); iota && iota.getAxis() == axis) {
      OpBuilder b(iota->getBlock(), std::next(iota->getIterator()));
      Type element = part.getElementType();
      Value zero = arith::ConstantOp::create(b, iota.getLoc(), b.getIntegerAttr(element, 0));
      Value first = moved(b, iota.getLoc(), zero, rank, shape[axis]);
      auto sum =
          arith::AddIOp::create(b, iota.getLoc(), iota, tile::SplatOp::create(b, iota.getLoc(), part, first));
      value.replaceAllUsesExcept(sum, sum);
    }
  }

  tile::KernelOp kernel;
  int64_t blocks;
  llvm::MapVector<Value, int64_t> axes; ///< along which a tile is cut
};

struct SpreadProducts : impl::SpreadProductsBase<SpreadProducts> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    bool hasProduct = kernel.walk([](tile::DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (kernel.getCtas() > 1 && hasProduct && failed(Spreader(kernel).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilegym::transforms
