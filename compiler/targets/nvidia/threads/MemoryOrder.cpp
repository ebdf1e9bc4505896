// SPDX-License-Identifier: MIT
// Within a block, accesses to one tensor happen in program order, though different threads may make them: a barrier stands between two that could
// touch the same element. Tensors that nothing writes need none; neither do stores to places that provably differ.
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilegym::nvidia {

/// The parameter number of a region's base, and whether nothing writes it.
static std::pair<int64_t, bool> tensorOf(tile::RegionOp op) {
  auto param = op.getBase().getDefiningOp<tile::ParamOp>();
  return {param.getNumber(), param.getParam().getReadonly()};
}

void ThreadBuilder::barrier() {
  ptx::BarrierOp::create(b, loc);
  if (!rank)
    order = AccessOrder();
}

void ThreadBuilder::barrierOfAll() { rank ? clusterBarrier() : barrier(); }

void ThreadBuilder::orderLoad(tile::RegionOp op) {
  auto [tensor, readonly] = tensorOf(op);
  if (readonly)
    return;
  // An output may share its buffer with an input that the signature names, so all that is written counts.
  if (order.storedAny)
    barrierOfAll();
  order.loadedMutable = true;
}

void ThreadBuilder::orderStore(tile::RegionOp op) {
  int64_t tensor = tensorOf(op).first;
  if (order.loadedMutable || order.stored.contains(tensor))
    barrierOfAll();
  order.storedAny = true;
  order.stored.insert(tensor);
}

/// Whether two iterations of the loop around `op` write different elements: some axis is a span of n elements that starts at the induction
/// variable, whose step is at least n; or one axis is an index that is the variable itself.
static bool differsEachIteration(tile::RegionOp op, scf::ForOp loop) {
  IntegerAttr stepAttr;
  if (!matchPattern(loop.getStep(), m_Constant(&stepAttr)))
    return false;
  auto isVariable = [&](Value index) {
    while (auto extended = index.getDefiningOp<arith::ExtSIOp>())
      index = extended.getIn();
    while (auto truncated = index.getDefiningOp<arith::TruncIOp>())
      index = truncated.getIn();
    return index == loop.getInductionVar();
  };
  for (int64_t axis = 0; axis < op.getNumAxes(); ++axis) {
    tile::RegionAxis a = op.getAxis(axis);
    int64_t extent = a.kind == tile::AxisKind::Span ? a.length : 1;
    if (a.kind != tile::AxisKind::Gather && isVariable(a.index) && stepAttr.getInt() >= extent)
      return true;
  }
  return false;
}

bool ThreadBuilder::needsLoopBarrier(Operation *loopOp) {
  auto loop = dyn_cast<scf::ForOp>(loopOp);
  bool loads = false, stores = false, overlapping = false;
  loopOp->walk([&](Operation *op) {
    auto region = dyn_cast<tile::RegionOp>(op);
    if (!region)
      return;
    if (isa<tile::LoadOp>(op)) {
      loads |= !tensorOf(region).second;
      return;
    }
    stores = true;
    bool direct = loop && op->getParentOp() == loop.getOperation();
    overlapping |= !isa<tile::StoreOp>(op) || !direct || !differsEachIteration(region, loop);
  });
  return stores && (loads || overlapping);
}

} // namespace tilegym::nvidia
