// SPDX-License-Identifier: MIT
// A producer's warp and the warps it feeds; the mbarriers by which slots change hands. The producer is one thread, so nothing in it is per lane.
#include "compiler/ir/SlotBoxes.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

constexpr int64_t mbarrierBytes = 8;

Value isFirst(ThreadBuilder &t, Value index) {
  return arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, index, t.i32(0));
}

/// They begin where the roles part.
LogicalResult lowerMake(ThreadBuilder &t, Operation *op) {
  auto make = cast<tile::MakeMbarriersOp>(op);
  if (make->getBlock()->getOps<tile::RolesOp>().empty())
    return op->emitOpError("stands in no block whose roles part");
  t.set(make, {t.reserveShared(make.getResult().getType().getCount() * mbarrierBytes)});
  return success();
}

Value barrierAt(ThreadBuilder &t, Value barriers, Value index) {
  return t.sharedAddress(t.scalar(barriers), t.mul(t.scalar(index), t.i32(mbarrierBytes)));
}

LogicalResult lowerWait(ThreadBuilder &t, Operation *op) {
  auto wait = cast<tile::MbarrierWaitOp>(op);
  t.awaitPhase(barrierAt(t, wait.getBarriers(), wait.getIndex()), t.scalar(wait.getParity()));
  return success();
}

LogicalResult lowerArrive(ThreadBuilder &t, Operation *op) {
  auto arrive = cast<tile::MbarrierArriveOp>(op);
  if (arrive.getReads()) // an arrival may overtake reads in front of it
    ptx::FenceProxyAsyncOp::create(t.b, t.loc, ptx::ProxySpace::SharedCta);
  ptx::WarpBarrierOp::create(t.b, t.loc);
  Value condition = arrive.getCondition() ? t.scalar(arrive.getCondition()) : Value();
  Value barrier = barrierAt(t, arrive.getBarriers(), arrive.getIndex());
  if (!arrive.getEverywhere()) {
    ptx::MbarrierArriveOp::create(t.b, t.loc, Type(), barrier, Value(),
                                  t.conjunction(condition, isFirst(t, t.laneId())));
    return success();
  }
  // Lane r at block r. Nothing is released, which would be a fence of the whole GPU: products have read when they are over.
  Value blocks = t.i32(t.kernel.getClusterSize());
  Value rank = arith::RemUIOp::create(t.b, t.loc, t.laneId(), blocks);
  Value isItsLane = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ult, t.laneId(), blocks);
  ptx::MbarrierArriveOp::create(t.b, t.loc, Type(), t.inPeer(barrier, rank), Value(),
                                t.conjunction(condition, isItsLane), /*relaxed=*/true, ptx::Scope::Cluster);
  return success();
}

LogicalResult lowerExpect(ThreadBuilder &t, Operation *op) {
  auto expect = cast<tile::MbarrierExpectOp>(op);
  ptx::MbarrierArriveExpectTxOp::create(t.b, t.loc, Type(),
                                        barrierAt(t, expect.getBarriers(), expect.getIndex()),
                                        t.i32(expect.getBytes()), Value());
  return success();
}

LogicalResult lowerTensorLoad(ThreadBuilder &t, Operation *op) {
  auto load = cast<tile::TensorLoadOp>(op);
  tile::TensorMapType map = load.getMap().getType();
  Value barrier = barrierAt(t, load.getBarriers(), load.getIndex());
  int64_t blocks = load.getShared() ? t.kernel.getClusterSize() : 1;
  tile::SharedBoxes boxes = *tile::sharedBoxesOf(map, load.getSlot().getType(), blocks);
  auto movedByRank = [&](Value value, int64_t step) {
    return step ? t.add(value, t.mul(t.partRank(), t.i32(step))) : value;
  };
  for (const tile::SlotBox &box : boxes.first) {
    SmallVector<Value> coordinates;
    for (int64_t axis : map.getOrder()) {
      Value at = movedByRank(t.scalar(load.getCoordinates()[axis]), boxes.step.distances[axis]);
      coordinates.push_back(box.distances[axis] ? t.add(at, t.i32(box.distances[axis])) : at);
    }
    Value to = t.sharedAddress(t.scalar(load.getSlot()), movedByRank(t.i32(box.bytes), boxes.step.bytes));
    Value everywhere;
    if (load.getShared()) {
      to = t.inPeer(to, t.partRank());
      everywhere = t.constant(t.b.getI16Type(), (1 << blocks) - 1);
    }
    ptx::TensorLoadOp::create(t.b, t.loc, to, t.scalar(load.getMap()), coordinates, barrier, everywhere,
                              Value(), Value());
  }
  return success();
}

/// Who takes turns: warpgroups, or teams where there are several. They wait at barriers behind the block's and the consumers', each for what the one before it says.
struct Takers {
  Value own;
  int64_t count, firstTurn, threadsOfTurn;
};
Takers takersOf(ThreadBuilder &t) {
  int64_t teams = t.kernel.getTeams();
  if (teams > 1)
    return {t.team(), teams, 1 + teams, 2 * t.numThreads()};
  return {t.warpgroup(), t.kernel.getWarps() / 4, 2, 256};
}

/// Registers of a producer's thread and of the others.
struct RegisterShares {
  int64_t producer, consumer;
};

/// What there is, for as many blocks as are to be resident. A producer does with 24 where products in flight and their A in registers leave the others little else.
RegisterShares sharesOf(ThreadBuilder &t, tile::RolesOp roles) {
  constexpr int64_t all = 65536, warpgroup = 128, step = 8, most = 240, few = 24, enough = 40, many = 144;
  int64_t taken = 0;
  roles.getConsumer().walk([&](tile::DotOp dot) {
    if (!dot.getInFlight())
      return;
    taken += t.numRegisters(dot.getType());
    if (isa<RankedTensorType>(dot.getA().getType()))
      taken += t.numRegisters(dot.getA().getType()) * dot.getAType().getElementTypeBitWidth() / 32;
  });
  int64_t groups = t.kernel.getWarps() * t.kernel.getTeams() / 4, threads = (groups + 1) * warpgroup;
  int64_t atEntry = all / (threads * t.kernel.getBlocksAtOnce()) / step * step;
  int64_t producer = std::min(atEntry, taken > many ? few : enough);
  return {producer, std::min(most, (atEntry * (groups + 1) - producer) / groups / step * step)};
}

void meetAtTurn(ThreadBuilder &t, const Takers &takers, ptx::NamedBarrierKind kind, Value taker) {
  ptx::NamedBarrierOp::create(t.b, t.loc, kind, t.add(taker, t.i32(takers.firstTurn)), takers.threadsOfTurn);
}

LogicalResult lowerTakeTurn(ThreadBuilder &t, Operation *) {
  Takers takers = takersOf(t);
  meetAtTurn(t, takers, ptx::NamedBarrierKind::Sync, takers.own);
  return success();
}

LogicalResult lowerPassTurn(ThreadBuilder &t, Operation *) {
  Takers takers = takersOf(t);
  Value next = t.add(takers.own, t.i32(1));
  Value wraps = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, next, t.i32(takers.count));
  next = arith::SelectOp::create(t.b, t.loc, wraps, t.i32(0), next);
  meetAtTurn(t, takers, ptx::NamedBarrierKind::Arrive, next);
  return success();
}

/// The first has the first turn: from the last one.
void beginTurns(ThreadBuilder &t) {
  Takers takers = takersOf(t);
  Value isLast =
      arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, takers.own, t.i32(takers.count - 1));
  t.ifTrue(isLast, [&] { meetAtTurn(t, takers, ptx::NamedBarrierKind::Arrive, t.i32(0)); });
}

LogicalResult lowerTeam(ThreadBuilder &t, Operation *op) {
  t.set(op->getResult(0), {t.team()});
  return success();
}

/// What one thread does while the block begins. The copy engine's first copy by a map waits for the map. One branch around all of it: ptxas makes one, and a fence, for each
/// mbarrier that has a condition of its own.
void beginBlock(ThreadBuilder &t, Operation *roles) {
  t.ifTrue(isFirst(t, t.threadOfBlock()), [&] {
    for (auto [number, param] : llvm::enumerate(t.kernel.getParams().getAsRange<tile::ParamAttr>()))
      if (isa<tile::TensorMapType>(param.getType()) && !param.getList()) // of a list it is not known which
        ptx::TensorPrefetchOp::create(t.b, t.loc, t.argument(int64_t(number)), ValueRange(), Value(),
                                      Value());
    for (auto make : roles->getBlock()->getOps<tile::MakeMbarriersOp>())
      for (int64_t i = 0; i < make.getResult().getType().getCount(); ++i)
        ptx::MbarrierInitOp::create(t.b, t.loc,
                                    t.sharedAddress(t.scalar(make.getResult()), t.i32(i * mbarrierBytes)),
                                    t.i32(make.getArrivals()), Value());
  });
}

LogicalResult lowerRoles(ThreadBuilder &t, Operation *op) {
  auto roles = cast<tile::RolesOp>(op);
  beginBlock(t, op);
  ptx::FenceMbarrierInitOp::create(t.b, t.loc);
  // All see the mbarriers, in other blocks that signal there, too.
  auto isShared = [](tile::TensorLoadOp load) {
    return load.getShared() ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (roles.walk(isShared).wasInterrupted()) {
    ptx::ClusterArriveOp::create(t.b, t.loc, /*relaxed=*/false);
    ptx::ClusterWaitOp::create(t.b, t.loc);
  } else {
    t.barrier();
  }
  int64_t consumers = t.kernel.getWarps() * t.kernel.getTeams();
  Value warp = t.kernel.getTeams() == 1
                   ? t.warpId()
                   : arith::ShRUIOp::create(t.b, t.loc, t.threadOfBlock(), t.i32(5)).getResult();
  Value isProducer = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::uge, warp, t.i32(consumers));
  auto branch = scf::IfOp::create(t.b, t.loc, isProducer, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(t.b);
  t.partRoles();
  t.b.setInsertionPoint(branch.thenYield());
  RegisterShares shares = sharesOf(t, roles);
  if (roles.getShiftsRegisters()) {
    ptx::SetMaxRegistersOp::create(t.b, t.loc, ptx::RegisterChange::Decrease, shares.producer);
    Value isFeeder = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, warp, t.i32(consumers));
    auto feeder = scf::IfOp::create(t.b, t.loc, isFeeder, /*withElseRegion=*/false);
    t.b.setInsertionPoint(feeder.thenYield());
  }
  auto one = scf::IfOp::create(t.b, t.loc, ptx::ElectOp::create(t.b, t.loc), /*withElseRegion=*/false);
  t.b.setInsertionPoint(one.thenYield());
  if (failed(t.lowerBlock(roles.getProducer().front())))
    return failure();
  t.b.setInsertionPoint(branch.elseYield());
  if (roles.getShiftsRegisters())
    ptx::SetMaxRegistersOp::create(t.b, t.loc, ptx::RegisterChange::Increase, shares.consumer);
  if (roles.getConsumer().walk([](tile::TakeTurnOp) { return WalkResult::interrupt(); }).wasInterrupted())
    beginTurns(t);
  return t.lowerBlock(roles.getConsumer().front());
}

} // namespace

void addRoleHandlers(HandlerTable &table) {
  table["tile.make_mbarriers"] = lowerMake;
  table["tile.mbarrier_wait"] = lowerWait;
  table["tile.mbarrier_arrive"] = lowerArrive;
  table["tile.mbarrier_expect"] = lowerExpect;
  table["tile.tensor_load"] = lowerTensorLoad;
  table["tile.roles"] = lowerRoles;
  table["tile.team"] = lowerTeam;
  table["tile.take_turn"] = lowerTakeTurn;
  table["tile.pass_turn"] = lowerPassTurn;
}

} // namespace tilegym::nvidia
