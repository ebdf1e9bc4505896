// SPDX-License-Identifier: MIT
// Finds the rows that reductions part into phases, and makes a loop of each phase.
#include "compiler/ir/VectorAccess.h"
#include "compiler/transforms/Passes.h"
#include "compiler/transforms/StripReduction.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"
#include <map>

namespace tilegym::transforms {
#define GEN_PASS_DEF_HOLDINSHARED
#include "compiler/transforms/Passes.h.inc"

using namespace mlir;

namespace {

/// What needs the same reductions to be done, and no more: a loop.
struct Phase {
  SmallVector<Operation *> sinks;     ///< reductions and stores of wide tiles, in order
  llvm::SetVector<Operation *> slice; ///< the wide ops that they need, themselves among them
};

class Rows {
public:
  explicit Rows(tile::KernelOp kernel)
      : kernel(kernel), body(kernel.getBody().front()), stays(kernel.getKnob("persistent", 0)) {}
  /// Whether there is something to hold, and all that is done with it can be done in strips.
  bool analyse();
  void rewrite();

private:
  bool findMain();
  bool sortIntoPhases();
  bool chooseHeld();
  void holdNarrow();
  Value endOfPhase(OpBuilder &b, const Phase &phase, Location loc);
  void build(OpBuilder &b, const Phase &phase);
  void buildWhole(OpBuilder &b, const Phase &phase);

  tile::KernelOp kernel;
  Block &body;
  tile::LoadOp main; ///< the widest load
  int64_t length = 0, width = 0;
  int64_t vector = 0; ///< neighbours that one thread holds
  bool stays;         ///< blocks take row after row: what is held is to be copied rows ahead
  std::map<int64_t, Phase> phases;
  SmallVector<tile::LoadOp> toHold;
  DenseMap<Operation *, Value> held;
};

int64_t bytesOf(tile::LoadOp load) {
  return std::max<int64_t>(1, load.getBase().getType().getElementType().getIntOrFloatBitWidth() / 8);
}

bool isReadonly(tile::LoadOp load) {
  return load.getBase().getDefiningOp<tile::ParamOp>().getParam().getReadonly();
}

/// The copy engine takes whole 16-byte vectors along the last axis, which starts at 0. Of a row that may begin or end within one it takes those between; each of
/// several such rows would have a place of its own to be read at.
bool canHold(tile::LoadOp load) {
  auto region = cast<tile::RegionOp>(load.getOperation());
  tile::VectorAxis vector = tile::vectorAxis(region);
  bool gathers = llvm::is_contained(load.getKinds(), int32_t(tile::AxisKind::Gather));
  if (gathers || vector.axis != region.getNumAxes() - 1 || !spansFromZero(region))
    return false;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(load.getType()).getShape();
  return vector.width * bytesOf(load) == 16 ||
         (ShapedType::getNumElements(shape) == shape.back() && shape.back() * bytesOf(load) % 16 == 0);
}

/// What every block reads (weights) is found in the caches each time.
bool isAlikeInAllBlocks(tile::LoadOp load) {
  return llvm::all_of(load.getIndices(), [](Value index) { return matchPattern(index, m_Constant()); });
}

/// Whether the block's number is all that must be known, so that it can be worked out for blocks to come.
bool followsFromBlock(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isPure(op) && llvm::all_of(op->getOperands(), followsFromBlock);
}

/// A slot takes whole units, wherever its row lies.
bool canHoldAhead(tile::LoadOp load) {
  tile::VectorAxis vector = tile::vectorAxis(cast<tile::RegionOp>(load.getOperation()));
  return canHold(load) && vector.width * bytesOf(load) == 16 &&
         llvm::all_of(load.getOperands(), followsFromBlock);
}

bool Rows::findMain() {
  int64_t most = 0;
  for (tile::LoadOp load : body.getOps<tile::LoadOp>()) {
    auto type = dyn_cast<RankedTensorType>(load.getType());
    if (type && type.getNumElements() > most && canHold(load) && !isAlikeInAllBlocks(load)) {
      main = load;
      most = type.getNumElements();
    }
  }
  if (!main)
    return false;
  auto type = cast<RankedTensorType>(main.getType());
  length = type.getShape().back();
  vector = tile::vectorAxis(cast<tile::RegionOp>(main.getOperation())).width;
  int64_t rows = type.getNumElements() / length, least = 16 / bytesOf(main);
  int64_t atOnce = kernel.getNumThreads() * kernel.getCtas() * least * kernel.getKnob("vectors", 2);
  width = std::max<int64_t>(least, llvm::bit_floor(uint64_t(std::max<int64_t>(1, atOnce / rows))));
  while (width > least && length % width)
    width /= 2;
  if (width > length || length % width)
    width = length;
  return length > least;
}

bool Rows::sortIntoPhases() {
  DenseMap<Value, int64_t> levels;
  auto levelOf = [&](Operation &op) {
    int64_t level = 0;
    auto see = [&](Value value) { level = std::max(level, levels.lookup(value)); };
    for (Value operand : op.getOperands())
      see(operand);
    visitUsedValuesDefinedAbove(op.getRegions(), [&](OpOperand *use) { see(use->get()); });
    return level;
  };
  auto wide = [&](Value value) { return isWide(value, length); };
  for (Operation &op : body.without_terminator()) {
    bool touches = llvm::any_of(op.getOperands(), wide) || llvm::any_of(op.getResults(), wide);
    if (touches && !canStrip(&op, length))
      return false;
    bool inside = false;
    for (Region &region : op.getRegions())
      region.walk([&](Operation *inner) {
        inside |= llvm::any_of(inner->getOperands(), wide) || llvm::any_of(inner->getResults(), wide);
      });
    if (inside)
      return false;
    int64_t level = levelOf(op);
    bool reduces = touches && isa<tile::ReduceOp, tile::ReduceWithOp>(op);
    if (reduces || (touches && isa<tile::StoreOp>(op)))
      phases[level].sinks.push_back(&op);
    for (Value result : op.getResults())
      levels[result] = level + reduces;
  }
  for (auto &[level, phase] : phases) {
    phase.slice.insert(phase.sinks.begin(), phase.sinks.end());
    for (size_t i = 0; i < phase.slice.size(); ++i)
      for (Value operand : phase.slice[i]->getOperands())
        if (wide(operand))
          phase.slice.insert(operand.getDefiningOp());
  }
  return phases.size() > 1;
}

bool Rows::chooseHeld() {
  constexpr int most = 2; // transcendental functions are cheap to do twice, not more
  DenseMap<Operation *, int> times;
  for (auto &[level, phase] : phases)
    for (Operation *op : phase.slice)
      ++times[op];
  for (Operation &op : body) {
    auto load = dyn_cast<tile::LoadOp>(op);
    if (load && times.lookup(load)) {
      if (!isReadonly(load))
        return false;
      if (times[load] > 1 && !isAlikeInAllBlocks(load)) {
        if (!canHold(load) || (stays && !canHoldAhead(load)))
          return false;
        toHold.push_back(load);
      }
    }
    if (isa<math::MathDialect>(op.getDialect()) && times.lookup(&op) > most)
      return false;
  }
  return !toHold.empty();
}

bool Rows::analyse() { return findMain() && sortIntoPhases() && chooseHeld(); }

/// Where the rows end, if all that the phase loads and stores ends there; null if not.
Value Rows::endOfPhase(OpBuilder &b, const Phase &phase, Location loc) {
  Value end = endOf(cast<tile::RegionOp>(main.getOperation()));
  for (Operation *op : phase.slice)
    if (auto store = dyn_cast<tile::StoreOp>(op)) {
      auto region = cast<tile::RegionOp>(op);
      if (!spansFromZero(region) || endOf(region) != end)
        return {};
    }
  return end;
}

/// A phase of one strip, the whole tile: shared memory is then but the way to registers, on which many bytes are without a register waiting for each.
void Rows::buildWhole(OpBuilder &b, const Phase &phase) {
  Value zero = arith::ConstantOp::create(b, main.getLoc(), b.getI64IntegerAttr(0));
  Strip strip(b, length, width, zero, Value(), held);
  for (Operation *sink : phase.sinks) {
    if (auto store = dyn_cast<tile::StoreOp>(sink)) {
      strip.store(store);
      continue;
    }
    IRMapping mapping;
    for (Value operand : sink->getOperands())
      mapping.map(operand, strip.of(operand));
    sink->replaceAllUsesWith(b.clone(*sink, mapping)->getResults());
  }
}

void Rows::build(OpBuilder &b, const Phase &phase) {
  if (width == length)
    return buildWhole(b, phase);
  Location loc = phase.sinks.front()->getLoc();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  };
  SmallVector<StripReduction> reductions;
  SmallVector<Operation *> reduced;
  SmallVector<Value> accumulators;
  for (Operation *sink : phase.sinks)
    if (!isa<tile::StoreOp>(sink)) {
      reductions.emplace_back(sink, width, vector);
      reduced.push_back(sink);
      llvm::append_range(accumulators, reductions.back().start(b));
    }
  // The loop ends with the row where what is beyond it adds nothing, or what can be told beforehand.
  Value end = endOfPhase(b, phase, loc);
  Strip beyond(b, length, /*width=*/1, /*start=*/Value(), end, held);
  if (end && !llvm::all_of(reductions, [&](StripReduction &r) { return r.canEnd(b, beyond); }))
    end = Value();
  Value upper = number(length);
  if (end)
    upper = arith::MinSIOp::create(b, loc, end, upper);
  auto loop =
      scf::ForOp::create(b, loc, number(0), upper, number(width), accumulators,
                         [&](OpBuilder &inner, Location, Value start, ValueRange carried) {
                           Strip strip(inner, length, width, start, Value(), held);
                           SmallVector<Value> next;
                           size_t done = 0;
                           for (StripReduction &reduction : reductions) {
                             size_t n = reduced[&reduction - reductions.begin()]->getNumResults();
                             llvm::append_range(next, reduction.add(inner, carried.slice(done, n), strip));
                             done += n;
                           }
                           for (Operation *sink : phase.sinks)
                             if (auto store = dyn_cast<tile::StoreOp>(sink))
                               strip.store(store);
                           scf::YieldOp::create(inner, loc, next);
                         });
  size_t done = 0;
  for (auto [reduction, op] : llvm::zip(reductions, reduced)) {
    size_t n = op->getNumResults();
    SmallVector<Value> results = reduction.finish(b, loop.getResults().slice(done, n));
    if (end) {
      Value strips = arith::CeilDivSIOp::create(b, loc, upper, number(width));
      Value covered = arith::MulIOp::create(b, loc, strips, number(width));
      reduction.addBeyond(b, results, arith::SubIOp::create(b, loc, number(length), covered));
    }
    op->replaceAllUsesWith(results);
    done += n;
  }
}

tile::HoldOp holdFor(tile::LoadOp load) {
  OpBuilder b(load);
  return tile::HoldOp::create(b, load.getLoc(), tile::HeldType::get(b.getContext()), load.getBase(),
                              load.getKinds(), load.getIndices(), load.getLengths(), load.getStrides(),
                              load.getLowers(), load.getUppers(), load.getChecks(), load.getGroup(), Value(),
                              Value(), Value());
}

/// A row's other loads would be waited for in each trip.
void Rows::holdNarrow() {
  for (tile::LoadOp load : llvm::to_vector(body.getOps<tile::LoadOp>())) {
    if (isWide(load, length) || !isa<RankedTensorType>(load.getType()) || load.getMask() ||
        !isReadonly(load) || isAlikeInAllBlocks(load) || !canHoldAhead(load))
      continue;
    tile::HoldOp hold = holdFor(load);
    OpBuilder b(load);
    load.getHeldMutable().assign(tile::AwaitOp::create(b, load.getLoc(), hold, ValueRange()));
  }
}

void Rows::rewrite() {
  SmallVector<tile::HoldOp> holds = llvm::map_to_vector(toHold, holdFor);
  if (stays)
    holdNarrow();
  OpBuilder b(body.getTerminator());
  for (auto &[level, phase] : phases) {
    // What blocks that stay keep in registers for all rows leaves no room for a row's elements: each phase reads them anew.
    if (held.empty() || stays)
      for (auto [load, hold] : llvm::zip(toHold, holds))
        held[load] = tile::AwaitOp::create(b, load.getLoc(), hold, ValueRange());
    build(b, phase);
  }
  for (auto &[level, phase] : phases)
    for (Operation *sink : phase.sinks)
      sink->erase();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  // Loops stand at the end; what needs their results goes behind them.
  sortTopologically(&body);
}

struct HoldInShared : impl::HoldInSharedBase<HoldInShared> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    if (kernel.getKnob("hold", 0) == 0 || kernel.getFacts() != tile::Facts::Fast)
      return;
    if (Rows rows(kernel); rows.analyse())
      rows.rewrite();
  }
};

} // namespace
} // namespace tilegym::transforms
