// SPDX-License-Identifier: MIT
// What a loop multiplies last goes to the trip after: it runs beside that trip's first product and all that is done with it. The first trip, which has nothing to
// wait for, stands in front of the loop, and the last one's product behind it.
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_OVERLAPPRODUCTS
#include "compiler/transforms/Passes.h.inc"

namespace {

bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 && isPure(op);
}

bool isConversion(Operation *op) {
  return isElementwise(op) && op->getNumOperands() == 1 &&
         getElementTypeOrSelf(op->getOperand(0)) != getElementTypeOrSelf(op->getResult(0));
}

class Overlapper {
public:
  explicit Overlapper(scf::ForOp loop) : loop(loop), loc(loop.getLoc()), b(loop.getContext()) {}

  void run() {
    for (auto dot : loop.getBody()->getOps<tile::DotOp>())
      if (canLag(dot))
        return lag();
  }

private:
  /// A product whose A follows from another of the trip, that adds to what the loop carries, and whose B the induction variable alone decides.
  bool canLag(tile::DotOp dot) {
    last = dot;
    if (!dot.getWarpgroups() || !isa<RankedTensorType>(dot.getA().getType()) || !dot->hasOneUse())
      return false;
    OpOperand &use = *dot->getUses().begin();
    if (!isa<scf::YieldOp>(use.getOwner()) || use.getOwner()->getBlock() != loop.getBody())
      return false;
    sum = use.getOperandNumber();
    conversions.clear();
    carried = dot.getA();
    for (Operation *op = carried.getDefiningOp();
         op && isConversion(op) && op->hasOneUse() && op->getBlock() == loop.getBody();
         op = carried.getDefiningOp()) {
      conversions.insert(op);
      carried = op->getOperand(0);
    }
    auto isFirst = [&](tile::DotOp other) {
      Value from = other.getAccumulator();
      return other != dot && other.getWarpgroups() &&
             (matchPattern(from, m_PosZeroFloat()) || matchPattern(from, m_Zero())) &&
             follows(carried, other);
    };
    seen.clear();
    auto dots = loop.getBody()->getOps<tile::DotOp>();
    auto found = llvm::find_if(dots, isFirst);
    if (found == dots.end())
      return false;
    first = *found;
    loads.clear();
    return addsToCarried() && collect(dot.getB());
  }

  /// Through what lies in the loop; what was seen to lead to no product of the kind is not followed twice.
  bool follows(Value value, tile::DotOp dot) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    while (op->getBlock() != loop.getBody())
      if (op = op->getParentOp(); !op || !loop->isProperAncestor(op))
        return false;
    if (op == dot)
      return true;
    if (!seen.insert({op, dot}).second)
      return false;
    bool found = false;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        found |= operand.getParentBlock() == loop.getBody() && follows(operand, dot);
    });
    return found;
  }

  /// Whether nothing but the product sees the sum, and what is made of it on the way there; collects that.
  bool addsToCarried() {
    rescales.clear();
    Value value = loop.getRegionIterArg(unsigned(sum));
    while (value.hasOneUse()) {
      OpOperand &use = *value.getUses().begin();
      Operation *op = use.getOwner();
      if (op == last)
        return &use == &last.getAccumulatorMutable();
      if (op->getBlock() != loop.getBody() || !isElementwise(op))
        return false;
      rescales.insert(op);
      value = op->getResult(0);
    }
    return false;
  }

  /// Adds what makes the value; false where that cannot be made again for another trip.
  bool collect(Value value) {
    if (loop.isDefinedOutsideOfLoop(value) || value == loop.getInductionVar())
      return true;
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != loop.getBody() || op->getNumRegions())
      return false;
    if (loads.contains(op))
      return true;
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      auto param = load.getBase().getDefiningOp<tile::ParamOp>();
      if (!param || !param.getParam().getReadonly())
        return false;
    } else if (!isPure(op)) {
      return false;
    }
    if (!llvm::all_of(op->getOperands(), [&](Value operand) { return collect(operand); }))
      return false;
    loads.insert(op);
    return true;
  }

  /// The last product of the trip whose induction variable is `at`.
  tile::DotOp multiply(Value at, Value value, Value sumBefore) {
    IRMapping map;
    map.map(loop.getInductionVar(), at);
    for (Operation *op : loads)
      b.clone(*op, map);
    map.map(carried, value);
    for (Operation *op : llvm::reverse(conversions))
      b.clone(*op, map);
    map.map(last.getAccumulator(), sumBefore);
    return cast<tile::DotOp>(b.clone(*last, map));
  }

  bool isOfLast(Operation *op) {
    if (op == last || conversions.contains(op) || rescales.contains(op))
      return true;
    return loads.contains(op) &&
           llvm::all_of(op->getUsers(), [&](Operation *user) { return isOfLast(user); });
  }

  /// A trip but for its last product; `made` is told of each op. What it leads to: results for the loop, the last being the value to carry.
  SmallVector<Value> trip(IRMapping &map, llvm::function_ref<void(Operation *, Operation *)> made,
                          llvm::function_ref<void()> beforeRescale) {
    for (Operation &op : loop.getBody()->without_terminator())
      if (!isOfLast(&op))
        made(&op, b.clone(op, map));
    beforeRescale();
    for (Operation *op : rescales)
      b.clone(*op, map);
    SmallVector<Value> results;
    for (auto [i, value] : llvm::enumerate(loop.getYieldedValues()))
      results.push_back(map.lookupOrDefault(i == sum ? last.getAccumulator() : value));
    results.push_back(map.lookupOrDefault(carried));
    return results;
  }

  Value number(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(loop.getInductionVar().getType(), value));
  }

  void lag() {
    Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
    b.setInsertionPoint(loop);
    Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lower, upper);
    auto branch = scf::IfOp::create(b, loc, loop.getResultTypes(), any, /*withElseRegion=*/true);
    b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(b, loc, loop.getInitArgs());

    b.setInsertionPointToEnd(branch.thenBlock());
    IRMapping map;
    map.map(loop.getInductionVar(), lower);
    map.map(loop.getRegionIterArgs(), loop.getInitArgs());
    SmallVector<Value> inits = trip(map, [](Operation *, Operation *) {}, [] {});
    Value second = arith::AddIOp::create(b, loc, lower, step);
    auto made = scf::ForOp::create(b, loc, second, upper, step, inits);
    made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(made.getBody());
      IRMapping inner;
      inner.map(loop.getInductionVar(), made.getInductionVar());
      inner.map(loop.getRegionIterArgs(), made.getRegionIterArgs().drop_back());
      tile::DotOp lagging;
      auto wait = [&](Value value, int64_t pending) {
        return tile::DotWaitOp::create(b, loc, TypeRange{value.getType()}, pending, ValueRange{value})
            .getResult(0);
      };
      auto afterEach = [&](Operation *op, Operation *copy) {
        if (op == first) {
          Value before = arith::SubIOp::create(b, loc, made.getInductionVar(), step);
          lagging = multiply(before, made.getRegionIterArgs().back(), made.getRegionIterArg(unsigned(sum)));
          lagging.setInFlight(true);
          cast<tile::DotOp>(copy).setInFlight(true);
          inner.map(first.getResult(), wait(copy->getResult(0), lagsBehind));
        } else if (op == carried.getDefiningOp()) {
          // No earlier than all that leads to it is done is the last product waited for.
          inner.map(carried, wait(inner.lookup(carried), lagsBehind));
        }
      };
      auto finish = [&] { inner.map(loop.getRegionIterArg(unsigned(sum)), wait(lagging.getResult(), 0)); };
      SmallVector<Value> results = trip(inner, afterEach, finish);
      scf::YieldOp::create(b, loc, results);
    }
    // lower + (upper - lower - 1) / step * step
    Value distance = arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, upper, lower), number(1));
    Value whole = arith::MulIOp::create(b, loc, arith::DivUIOp::create(b, loc, distance, step), step);
    Value end = arith::AddIOp::create(b, loc, lower, whole);
    SmallVector<Value> results(made.getResults().drop_back());
    results[sum] = multiply(end, made.getResults().back(), results[sum]).getResult();
    scf::YieldOp::create(b, loc, results);
    b.replaceOp(loop, branch);
  }

  static constexpr int64_t lagsBehind = 1; ///< products that may go on when the first is over

  scf::ForOp loop;
  Location loc;
  IRRewriter b;
  tile::DotOp first, last;
  size_t sum = 0; ///< which of the loop's results the last product adds to
  llvm::DenseSet<std::pair<Operation *, Operation *>> seen;
  Value carried;                            ///< what the last product's A is converted from
  llvm::SetVector<Operation *> conversions; ///< from A back to it
  llvm::SetVector<Operation *> rescales;    ///< what is done to the sum in front of the product
  llvm::SetVector<Operation *> loads;       ///< what makes B
};

struct OverlapProductsPass : impl::OverlapProductsBase<OverlapProductsPass> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    // Without facts, loads go through registers; and threads that copy by themselves gain nothing by it.
    if (kernel.getFacts() != tile::Facts::Fast || kernel.getKnob("schedule", 0) == 0)
      return;
    SmallVector<scf::ForOp> loops;
    kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      Overlapper(loop).run();
  }
};

} // namespace
} // namespace tilegym::transforms
