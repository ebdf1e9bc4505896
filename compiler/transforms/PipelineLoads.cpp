// SPDX-License-Identifier: MIT
// A ring of slots for each load that fills shared memory: copies run `stages` - 1 trips ahead, all of a trip in one group.
#include "compiler/ir/VectorAccess.h"
#include "compiler/layout/Shared.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_PIPELINELOADS
#include "compiler/transforms/Passes.h.inc"

namespace {

/// Deep enough to hide memory's latency behind products of tiles of some 32 KB.
constexpr int64_t defaultStages = 3;

struct Fill {
  tile::LoadOp load;
  tile::PutOp put;
  tile::SlotOp slot;
  tile::AllocOp alloc;
  SmallVector<Operation *> indices; ///< what computes the load's operands in the loop, in order
};

/// Adds what makes the value in the loop's body; false if that is more than arithmetic on the induction variable.
bool collect(scf::ForOp loop, Value value, llvm::SetVector<Operation *> &ops) {
  if (loop.isDefinedOutsideOfLoop(value) || value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || op->getNumRegions() || !isPure(op))
    return false;
  if (ops.contains(op))
    return true;
  for (Value operand : op->getOperands())
    if (!collect(loop, operand, ops))
      return false;
  ops.insert(op);
  return true;
}

/// Whether copies of 4, 8 or 16 bytes can take the region to the slot by themselves.
bool copies(tile::LoadOp load, tile::SharedType slot) {
  auto param = load.getBase().getDefiningOp<tile::ParamOp>();
  auto region = cast<tile::RegionOp>(load.getOperation());
  if (!param || !param.getParam().getReadonly() || load.getMask() || !load.getGroup().empty())
    return false;
  if (load.getPad() && !matchPattern(load.getPad(), m_AnyZeroFloat()) &&
      !matchPattern(load.getPad(), m_Zero()))
    return false;
  tile::VectorAxis vector = tile::vectorAxis(region);
  auto type = cast<RankedTensorType>(load.getType());
  int64_t bytes = std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
  if (vector.axis < 0 ||
      llvm::any_of(load.getKinds(), [](int32_t k) { return tile::AxisKind(k) == tile::AxisKind::Gather; }))
    return false;
  int axis = int(region.getRegionAxes()[vector.axis]);
  layout::Layout by = cast<tile::LayoutAttr>(type.getEncoding()).getLayout();
  int64_t width = by.vectors(axis, vector.width).width;
  return width * bytes >= 4 && layout::contiguousRun(slot.getLayout(), axis, width) == width;
}

class Pipeliner {
public:
  Pipeliner(scf::ForOp loop, int64_t stages) : loop(loop), stages(stages), b(loop.getContext()) {}

  void run() {
    find();
    if (fills.empty())
      return;
    b.setInsertionPoint(loop);
    for (Fill &fill : fills)
      widen(fill);
    for (int64_t stage = 0; stage + 1 < stages; ++stage)
      group(ahead(loop.getLowerBound(), stage), number(stage));
    auto old = loop;
    Value zero = number(0);
    loop = cast<scf::ForOp>(*old.replaceWithAdditionalYields(
        b, zero, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &at, Location, ArrayRef<BlockArgument> read) -> SmallVector<Value> {
          return {turn(at, read[0], stages - 1, 0, 1)};
        }));
    Value read = loop.getRegionIterArgs().back();
    b.setInsertionPointToStart(loop.getBody());
    tile::CopyWaitOp::create(b, loop.getLoc(), stages - 2);
    group(ahead(loop.getInductionVar(), stages - 1), turn(b, read, 0, stages - 1, -1));
    for (Fill &fill : fills) {
      fill.slot.getIndexMutable().assign(read);
      b.eraseOp(fill.put);
      b.eraseOp(fill.load);
    }
  }

private:
  void find() {
    for (auto put : loop.getBody()->getOps<tile::PutOp>()) {
      Fill fill{put.getValue().getDefiningOp<tile::LoadOp>(),
                put,
                put.getSlot().getDefiningOp<tile::SlotOp>(),
                {},
                {}};
      if (!fill.load || !fill.slot || fill.load->getBlock() != loop.getBody() || !fill.load->hasOneUse())
        continue;
      fill.alloc = fill.slot.getBuffer().getDefiningOp<tile::AllocOp>();
      llvm::SetVector<Operation *> ops;
      auto known = [&](Value value) { return collect(loop, value, ops); };
      bool isRing =
          fill.alloc && fill.alloc->getBlock() == loop->getBlock() &&
          llvm::count_if(fill.alloc->getUsers(), [](Operation *op) { return isa<tile::SlotOp>(op); }) == 1;
      if (!isRing || !copies(fill.load, fill.slot.getSlot().getType()) ||
          !llvm::all_of(fill.load->getOperands(), known))
        continue;
      fill.indices = ops.takeVector();
      fills.push_back(std::move(fill));
    }
  }

  void widen(Fill &fill) {
    tile::SharedType one = fill.alloc.getBuffer().getType();
    fill.alloc.getBuffer().setType(tile::SharedType::get(b.getContext(), stages, one.getTile()));
  }

  Value number(int64_t value) {
    return arith::ConstantOp::create(b, loop.getLoc(), b.getI32IntegerAttr(int32_t(value)));
  }

  /// The induction variable `trips` after `value`.
  Value ahead(Value value, int64_t trips) {
    if (trips == 0)
      return value;
    Location loc = loop.getLoc();
    Value count = arith::ConstantOp::create(b, loc, b.getIntegerAttr(value.getType(), trips));
    Value distance = b.createOrFold<arith::MulIOp>(loc, loop.getStep(), count);
    return arith::AddIOp::create(b, loc, value, distance);
  }

  /// The slot after (or before) another: `wrapped` where it is `last`.
  Value turn(OpBuilder &at, Value slot, int64_t last, int64_t wrapped, int64_t by) {
    Location loc = loop.getLoc();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(at, loc, at.getI32IntegerAttr(int32_t(value)));
    };
    Value isLast = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq, slot, constant(last));
    return arith::SelectOp::create(at, loc, isLast, constant(wrapped),
                                   arith::AddIOp::create(at, loc, slot, constant(by)));
  }

  /// All copies of the trip whose induction variable is `value`, if there is such a trip.
  void group(Value value, Value slotNumber) {
    Value exists =
        arith::CmpIOp::create(b, loop.getLoc(), arith::CmpIPredicate::slt, value, loop.getUpperBound());
    IRMapping map;
    map.map(loop.getInductionVar(), value);
    for (Fill &fill : fills) {
      for (Operation *op : fill.indices)
        if (!map.contains(op->getResult(0)))
          b.clone(*op, map);
      auto values = [&](ValueRange range) {
        return llvm::map_to_vector(range, [&](Value v) { return map.lookupOrDefault(v); });
      };
      Location loc = fill.load.getLoc();
      Value slot = tile::SlotOp::create(b, loc, fill.slot.getSlot().getType(), fill.alloc, slotNumber);
      auto by = cast<tile::LayoutAttr>(cast<RankedTensorType>(fill.load.getType()).getEncoding());
      tile::CopyAsyncOp::create(
          b, loc, fill.load.getBase(), fill.load.getKindsAttr(), values(fill.load.getIndices()),
          fill.load.getLengthsAttr(), values(fill.load.getStrides()), values(fill.load.getLowers()),
          values(fill.load.getUppers()), fill.load.getChecksAttr(), ValueRange(), slot, exists, by);
    }
    tile::CopyCommitOp::create(b, loop.getLoc());
  }

  scf::ForOp loop;
  int64_t stages;
  IRRewriter b;
  SmallVector<Fill> fills;
};

struct PipelineLoadsPass : impl::PipelineLoadsBase<PipelineLoadsPass> {
  void runOnOperation() override {
    int64_t stages = getOperation().getKnob("stages", defaultStages);
    if (stages < 2)
      return;
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      Pipeliner(loop, stages).run();
  }
};

} // namespace
} // namespace tilegym::transforms
