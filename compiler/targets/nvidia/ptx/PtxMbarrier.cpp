// SPDX-License-Identifier: MIT
// Verifiers and texts of mbarriers.
#include "compiler/targets/nvidia/ptx/AssemblyText.h"

using namespace mlir;
using namespace tilegym::ptx;

static LogicalResult verifyScope(Operation *op, Scope scope) {
  if (scope == Scope::Cta || scope == Scope::Cluster)
    return success();
  return op->emitOpError("has the scope ")
         << stringifyScope(scope) << ", but an mbarrier orders memory for cta or cluster";
}

/// An arrival's barrier and its state.
static LogicalResult verifyArrival(Operation *op, Scope scope, Value barrier, Value state) {
  if (state && spaceSuffix(barrier.getType()) == ".shared::cluster")
    return op->emitOpError(
        "gives the state of a barrier at a cluster address, but only one of this block has a state to give");
  return verifyScope(op, scope);
}

/// `.relaxed.cluster`; nothing for the default, which older targets know, too.
static std::string orderingSuffix(bool relaxed, Scope scope, StringRef ordering) {
  if (!relaxed && scope == Scope::Cta)
    return "";
  return "." + (relaxed ? "relaxed" : ordering.str()) + "." + stringifyScope(scope).str();
}

Assembly MbarrierInitOp::getAssembly() {
  AssemblyText i(*this);
  return i.text(i.guard(getPredicate()), "mbarrier.init.shared::cta.b64 ", i.at(getBarrier()), ", ",
                i[getCount()], ";");
}

Assembly MbarrierInvalOp::getAssembly() {
  AssemblyText i(*this);
  return i.text(i.guard(getPredicate()), "mbarrier.inval.shared::cta.b64 ", i.at(getBarrier()), ";");
}

LogicalResult MbarrierArriveOp::verify() {
  return verifyArrival(*this, getScope(), getBarrier(), getState());
}

Assembly MbarrierArriveOp::getAssembly() {
  AssemblyText i(*this);
  return i.text(i.guard(getPredicate()), "mbarrier.arrive",
                orderingSuffix(getRelaxed(), getScope(), "release"), spaceSuffix(getBarrier().getType()),
                ".b64 ", getState() ? "$0" : "_", ", ", i.at(getBarrier()), i.optional(getCount()), ";");
}

LogicalResult MbarrierArriveExpectTxOp::verify() {
  return verifyArrival(*this, getScope(), getBarrier(), getState());
}

Assembly MbarrierArriveExpectTxOp::getAssembly() {
  AssemblyText i(*this);
  return i.text(i.guard(getPredicate()), "mbarrier.arrive.expect_tx",
                orderingSuffix(getRelaxed(), getScope(), "release"), spaceSuffix(getBarrier().getType()),
                ".b64 ", getState() ? "$0" : "_", ", ", i.at(getBarrier()), ", ", i[getBytes()], ";");
}

/// `expect_tx` and `complete_tx` say their scope: that of the blocks that the address can be of.
static Assembly countBytes(Operation *op, StringRef name, Value barrier, Value bytes, Value predicate) {
  AssemblyText i(op);
  std::string space = spaceSuffix(barrier.getType());
  return i.text(i.guard(predicate), "mbarrier.", name.str(), ".relaxed",
                space == ".shared::cta" ? ".cta" : ".cluster", space, ".b64 ", i.at(barrier), ", ", i[bytes],
                ";");
}

Assembly MbarrierExpectTxOp::getAssembly() {
  return countBytes(*this, "expect_tx", getBarrier(), getBytes(), getPredicate());
}
Assembly MbarrierCompleteTxOp::getAssembly() {
  return countBytes(*this, "complete_tx", getBarrier(), getBytes(), getPredicate());
}

LogicalResult MbarrierTryWaitOp::verify() { return verifyScope(*this, getScope()); }
LogicalResult MbarrierTestWaitOp::verify() { return verifyScope(*this, getScope()); }

static std::string paritySuffix(Value phase) { return phase.getType().isInteger(32) ? ".parity" : ""; }

Assembly MbarrierTryWaitOp::getAssembly() {
  AssemblyText i(*this);
  return i.text("mbarrier.try_wait", paritySuffix(getPhase()),
                orderingSuffix(getRelaxed(), getScope(), "acquire"), ".shared::cta.b64 $0, ",
                i.at(getBarrier()), ", ", i[getPhase()], i.optional(getTicks()), ";");
}

Assembly MbarrierTestWaitOp::getAssembly() {
  AssemblyText i(*this);
  return i.text("mbarrier.test_wait", paritySuffix(getPhase()),
                orderingSuffix(getRelaxed(), getScope(), "acquire"), ".shared::cta.b64 $0, ",
                i.at(getBarrier()), ", ", i[getPhase()], ";");
}
