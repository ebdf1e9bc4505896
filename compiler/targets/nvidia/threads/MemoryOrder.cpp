// SPDX-License-Identifier: MIT
// Within a block, accesses to one tensor happen in program order, though different threads may make them: a barrier stands between two that could
// touch the same element from different threads. Tensors that nothing writes need none; neither do accesses that provably keep apart (AccessApart.h).
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/AccessApart.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilegym::nvidia {

/// The parameter number of a region's base, and whether nothing writes it.
static std::pair<int64_t, bool> tensorOf(tile::RegionOp op) {
  auto param = op.getBase().getDefiningOp<tile::ParamOp>();
  return {param.getNumber(), param.getParam().getReadonly()};
}

/// The barrier at which a kernel's warps, or its first team's, meet without its producer; the next one is the second team's.
static constexpr int64_t consumerBarrier = 1;

void ThreadBuilder::barrier() {
  if (rolesParted)
    ptx::NamedBarrierOp::create(
        b, loc, ptx::NamedBarrierKind::Sync,
        kernel.getTeams() > 1 ? add(team(), i32(consumerBarrier)) : i32(consumerBarrier), numThreads());
  else
    ptx::BarrierOp::create(b, loc);
  if (!rank)
    order = AccessOrder();
}

/// Behind the consumers' barrier and those at which warpgroups take turns, one each.
void ThreadBuilder::warpgroupBarrier() {
  int64_t groups = kernel.getWarps() / 4;
  ptx::NamedBarrierOp::create(b, loc, ptx::NamedBarrierKind::Sync,
                              add(warpgroup(), i32(consumerBarrier + 1 + groups)), 128);
}

void ThreadBuilder::barrierOfAll() { rank ? clusterBarrier() : barrier(); }

void ThreadBuilder::orderLoad(tile::RegionOp op) {
  if (tensorOf(op).second)
    return;
  // An output may share its buffer with an input that the signature names, so all that is written counts.
  if (!llvm::all_of(order.stores, [&](tile::RegionOp store) { return keepApart(*this, op, store); }))
    barrierOfAll();
  order.loads.insert(op);
}

void ThreadBuilder::orderStore(tile::RegionOp op) {
  auto keepsApart = [&](tile::RegionOp before) { return keepApart(*this, op, before); };
  auto ofSame = [&](tile::RegionOp store) { return tensorOf(store).first == tensorOf(op).first; };
  if (!llvm::all_of(order.loads, keepsApart) ||
      !llvm::all_of(order.stores, [&](tile::RegionOp store) { return !ofSame(store) || keepsApart(store); }))
    barrierOfAll();
  order.stores.insert(op);
}

/// Whether the loop's trips are blocks of the grid, which run in no order: none meets what another stores.
static bool isOverGrid(scf::ForOp loop) {
  Operation *step = loop.getStep().getDefiningOp();
  while (isa_and_present<arith::TruncIOp, arith::ExtUIOp, arith::ExtSIOp>(step))
    step = step->getOperand(0).getDefiningOp();
  return isa_and_present<tile::LaunchSizeOp>(step);
}

bool ThreadBuilder::needsLoopBarrier(Operation *loopOp) {
  auto loop = dyn_cast<scf::ForOp>(loopOp);
  if (rank && loop && isOverGrid(loop)) // a cluster's barrier waits for all that was stored
    return false;
  SmallVector<tile::RegionOp> loads, stores;
  loopOp->walk([&](tile::RegionOp op) {
    if (!isa<tile::LoadOp, tile::CopyAsyncOp>(op.getOperation()))
      stores.push_back(op);
    else if (!tensorOf(op).second)
      loads.push_back(op);
  });
  auto meets = [&](tile::RegionOp a, tile::RegionOp b) { return !loop || !turnsKeepApart(a, b, loop); };
  for (tile::RegionOp store : stores)
    if (llvm::any_of(loads, [&](tile::RegionOp load) { return meets(store, load); }) ||
        llvm::any_of(stores, [&](tile::RegionOp other) {
          return tensorOf(other).first == tensorOf(store).first && meets(store, other);
        }))
      return true;
  return false;
}

} // namespace tilegym::nvidia
