// SPDX-License-Identifier: MIT
// What a loop multiplies first goes to the trip before, where it runs beside the work between the trip's two products.
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_OVERLAPPRODUCTS
#include "compiler/transforms/Passes.h.inc"

namespace {

class Overlapper {
public:
  explicit Overlapper(scf::ForOp loop) : loop(loop), b(loop.getContext()) {}

  void run() {
    for (auto dot : loop.getBody()->getOps<tile::DotOp>())
      if (canLead(dot))
        return lead(dot);
  }

private:
  /// A product from zero of what the induction variable alone decides, from which another product's A follows.
  bool canLead(tile::DotOp dot) {
    Value sum = dot.getAccumulator();
    bool fromZero = matchPattern(sum, m_PosZeroFloat()) || matchPattern(sum, m_Zero());
    slice.clear();
    return dot.getWarpgroups() && fromZero &&
           llvm::all_of(dot->getOperands(), [&](Value v) { return collect(v); }) &&
           llvm::any_of(loop.getBody()->getOps<tile::DotOp>(), [&](tile::DotOp other) {
             return other != dot && other.getWarpgroups() && follows(other.getA(), dot);
           });
  }

  bool follows(Value value, tile::DotOp dot) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != loop.getBody())
      return false;
    return op == dot || llvm::any_of(op->getOperands(), [&](Value operand) { return follows(operand, dot); });
  }

  /// Adds what makes the value to the slice; false where that cannot be made for a trip that may not come.
  bool collect(Value value) {
    if (loop.isDefinedOutsideOfLoop(value) || value == loop.getInductionVar())
      return true;
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != loop.getBody() || op->getNumRegions())
      return false;
    if (slice.contains(op))
      return true;
    auto load = dyn_cast<tile::LoadOp>(op);
    if (load ? !staysInside(load) : !isPure(op))
      return false;
    if (!llvm::all_of(op->getOperands(), [&](Value operand) { return collect(operand); }))
      return false;
    slice.insert(op);
    return true;
  }

  /// Whether nothing writes the tensor, and a bound that is checked keeps the load from what lies behind the last trip.
  bool staysInside(tile::LoadOp load) {
    auto param = load.getBase().getDefiningOp<tile::ParamOp>();
    if (!param || !param.getParam().getReadonly())
      return false;
    auto region = cast<tile::RegionOp>(load.getOperation());
    for (int64_t axis = 0; axis < region.getNumAxes(); ++axis) {
      tile::RegionAxis a = region.getAxis(axis);
      if (!loop.isDefinedOutsideOfLoop(a.index) && !(a.check & tile::CheckUpper))
        return false;
    }
    return true;
  }

  /// The product for the trip whose induction variable is `value`.
  tile::DotOp cloneFor(Value value, tile::DotOp dot) {
    IRMapping map;
    map.map(loop.getInductionVar(), value);
    for (Operation *op : slice)
      b.clone(*op, map);
    return cast<tile::DotOp>(b.clone(*dot, map));
  }

  void lead(tile::DotOp dot) {
    Location loc = dot.getLoc();
    b.setInsertionPoint(loop);
    Value first = cloneFor(loop.getLowerBound(), dot).getResult();
    b.setInsertionPointToStart(loop.getBody());
    Value next = arith::AddIOp::create(b, loc, loop.getInductionVar(), loop.getStep());
    tile::DotOp ahead = cloneFor(next, dot);
    ahead.setInFlight(true);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    Value done = tile::DotWaitOp::create(b, loc, dot->getResultTypes(), 0, ahead.getResult()).getResult(0);
    b.setInsertionPoint(loop);
    loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        b, first, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return SmallVector<Value>{done}; }));
    b.replaceOp(dot, loop.getRegionIterArgs().back());
    for (Operation *op : llvm::reverse(slice))
      if (op->use_empty())
        b.eraseOp(op);
  }

  scf::ForOp loop;
  IRRewriter b;
  llvm::SetVector<Operation *> slice; ///< what makes the product's operands in the loop, in order
};

struct OverlapProductsPass : impl::OverlapProductsBase<OverlapProductsPass> {
  void runOnOperation() override {
    // Without facts, loads go through registers, of which this takes as many as the product has.
    if (getOperation().getFacts() != tile::Facts::Fast)
      return;
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      Overlapper(loop).run();
  }
};

} // namespace
} // namespace tilegym::transforms
