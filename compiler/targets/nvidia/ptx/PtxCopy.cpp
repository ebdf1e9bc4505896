// SPDX-License-Identifier: MIT
// Verifiers and texts of asynchronous copies: cp.async, bulk and tensor copies.
#include "compiler/targets/nvidia/ptx/AssemblyText.h"
#include "compiler/targets/nvidia/ptx/MemoryReductions.h"

using namespace mlir;
using namespace tilegym::ptx;

namespace {

LogicalResult verifyPending(Operation *op, int64_t pending) {
  if (pending >= 0)
    return success();
  return op->emitOpError("waits until ") << pending << " groups are pending, but 0 is the least";
}

LogicalResult verifyMulticast(Operation *op, Value multicast, Value destination) {
  if (multicast && spaceSuffix(destination.getType()) != ".shared::cluster")
    return op->emitOpError(
        "has a multicast mask, but the destination is not a cluster address (!llvm.ptr<7>)");
  return success();
}

LogicalResult verifyCoordinates(Operation *op, size_t count) {
  if (count >= 1 && count <= 5)
    return success();
  return op->emitOpError("has ") << count << " coordinates, but a tensor map has 1 to 5 dimensions";
}

/// The endings that optional operands add to an instruction's name.
std::string hintSuffix(Value hint) { return hint ? ".L2::cache_hint" : ""; }
std::string multicastSuffix(Value multicast) { return multicast ? ".multicast::cluster" : ""; }

constexpr char signal[] = ".mbarrier::complete_tx::bytes";

/// `.2d`
std::string rank(OperandRange coordinates) { return "." + std::to_string(coordinates.size()) + "d"; }

/// `[$1, {$2, $3}]`
std::string box(const AssemblyText &i, Value map, OperandRange coordinates) {
  unsigned first = coordinates.getBeginOperandIndex() + coordinates.getBase()->getOwner()->getNumResults();
  std::string text = "[" + i[map] + ", {";
  for (size_t n = 0; n < coordinates.size(); ++n)
    text += (n ? ", $" : "$") + std::to_string(first + n);
  return text + "}]";
}

} // namespace

LogicalResult CopyAsyncOp::verify() {
  if (getBytes() != 4 && getBytes() != 8 && getBytes() != 16)
    return emitOpError("copies ") << getBytes() << " bytes, but can copy 4, 8 or 16";
  if (getCache() == CopyAsyncCache::Global && getBytes() != 16)
    return emitOpError("copies ") << getBytes() << " bytes around L1, but only 16 can go so";
  if (!llvm::is_contained({0, 64, 128, 256}, getFetch()))
    return emitOpError("fetches ") << getFetch() << " bytes into L2, but can fetch 64, 128 or 256";
  return success();
}

Assembly CopyAsyncOp::getAssembly() {
  AssemblyText i(*this);
  std::string fetch = getFetch() ? ".L2::" + std::to_string(getFetch()) + "B" : "";
  return i.text(i.guard(getPredicate()), "cp.async.", getCache() == CopyAsyncCache::Global ? "cg" : "ca",
                ".shared::cta.global", fetch, " ", i.at(getDestination()), ", ", i.at(getSource()), ", ",
                std::to_string(getBytes()), i.optional(getSourceBytes()), ";");
}

Assembly CopyAsyncCommitOp::getAssembly() { return AssemblyText(*this).text("cp.async.commit_group;"); }
LogicalResult CopyAsyncWaitOp::verify() { return verifyPending(*this, getPending()); }
Assembly CopyAsyncWaitOp::getAssembly() {
  return AssemblyText(*this).text("cp.async.wait_group ", std::to_string(getPending()), ";");
}
Assembly CopyAsyncArriveOp::getAssembly() {
  AssemblyText i(*this);
  return i.text("cp.async.mbarrier.arrive", getNoinc() ? ".noinc" : "", ".shared::cta.b64 ",
                i.at(getBarrier()), ";");
}

LogicalResult BulkLoadOp::verify() { return verifyMulticast(*this, getMulticast(), getDestination()); }

Assembly BulkLoadOp::getAssembly() {
  AssemblyText i(*this);
  return i.text(i.guard(getPredicate()), "cp.async.bulk", spaceSuffix(getDestination().getType()), ".global",
                signal, multicastSuffix(getMulticast()), hintSuffix(getHint()), " ", i.at(getDestination()),
                ", ", i.at(getSource()), ", ", i[getBytes()], ", ", i.at(getBarrier()),
                i.optional(getMulticast()), i.optional(getHint()), ";");
}

Assembly BulkStoreOp::getAssembly() {
  AssemblyText i(*this);
  return i.text(i.guard(getPredicate()), "cp.async.bulk.global.shared::cta.bulk_group", hintSuffix(getHint()),
                " ", i.at(getDestination()), ", ", i.at(getSource()), ", ", i[getBytes()],
                i.optional(getHint()), ";");
}

LogicalResult BulkReduceOp::verify() {
  bool toCluster = spaceSuffix(getDestination().getType()) == ".shared::cluster";
  if (toCluster != bool(getBarrier()))
    return emitOpError("signals an mbarrier exactly where the destination is a cluster address");
  if (toCluster && getHint())
    return emitOpError("has an L2 hint, but writes shared memory");
  if (toCluster &&
      !llvm::is_contained({ElementType::U32, ElementType::S32, ElementType::U64}, getElementType()))
    return emitOpError("combines ") << stringifyElementType(getElementType())
                                    << " in shared memory, but there u32, s32 and u64 can be";
  return verifyReduction(*this, getKind(), getElementType());
}

Assembly BulkReduceOp::getAssembly() {
  AssemblyText i(*this);
  bool isHalfSum = getKind() == ReduceKind::Add &&
                   (getElementType() == ElementType::F16 || getElementType() == ElementType::BF16);
  return i.text(i.guard(getPredicate()), "cp.reduce.async.bulk", spaceSuffix(getDestination().getType()),
                ".shared::cta", getBarrier() ? signal : ".bulk_group", hintSuffix(getHint()), ".",
                stringifyReduceKind(getKind()).str(), isHalfSum ? ".noftz" : "", ".",
                reductionType(getKind(), getElementType()), " ", i.at(getDestination()), ", ",
                i.at(getSource()), ", ", i[getBytes()], getBarrier() ? ", " + i.at(getBarrier()) : "",
                i.optional(getHint()), ";");
}

Assembly BulkCopyClusterOp::getAssembly() {
  AssemblyText i(*this);
  return i.text(i.guard(getPredicate()), "cp.async.bulk.shared::cluster.shared::cta", signal, " ",
                i.at(getDestination()), ", ", i.at(getSource()), ", ", i[getBytes()], ", ",
                i.at(getBarrier()), ";");
}

Assembly BulkCommitOp::getAssembly() { return AssemblyText(*this).text("cp.async.bulk.commit_group;"); }
LogicalResult BulkWaitOp::verify() { return verifyPending(*this, getPending()); }
Assembly BulkWaitOp::getAssembly() {
  return AssemblyText(*this).text("cp.async.bulk.wait_group", getRead() ? ".read" : "", " ",
                                  std::to_string(getPending()), ";");
}

LogicalResult TensorLoadOp::verify() {
  if (failed(verifyCoordinates(*this, getCoordinates().size())))
    return failure();
  return verifyMulticast(*this, getMulticast(), getDestination());
}

Assembly TensorLoadOp::getAssembly() {
  AssemblyText i(*this);
  return i.text(i.guard(getPredicate()), "cp.async.bulk.tensor", rank(getCoordinates()),
                spaceSuffix(getDestination().getType()), ".global.tile", signal,
                multicastSuffix(getMulticast()), hintSuffix(getHint()), " ", i.at(getDestination()), ", ",
                box(i, getMap(), getCoordinates()), ", ", i.at(getBarrier()), i.optional(getMulticast()),
                i.optional(getHint()), ";");
}

LogicalResult TensorStoreOp::verify() { return verifyCoordinates(*this, getCoordinates().size()); }

Assembly TensorStoreOp::getAssembly() {
  AssemblyText i(*this);
  return i.text(i.guard(getPredicate()), "cp.async.bulk.tensor", rank(getCoordinates()),
                ".global.shared::cta.tile.bulk_group", hintSuffix(getHint()), " ",
                box(i, getMap(), getCoordinates()), ", ", i.at(getSource()), i.optional(getHint()), ";");
}

LogicalResult TensorReduceOp::verify() { return verifyCoordinates(*this, getCoordinates().size()); }

Assembly TensorReduceOp::getAssembly() {
  AssemblyText i(*this);
  return i.text(i.guard(getPredicate()), "cp.reduce.async.bulk.tensor", rank(getCoordinates()),
                ".global.shared::cta.", stringifyReduceKind(getKind()).str(), ".tile.bulk_group",
                hintSuffix(getHint()), " ", box(i, getMap(), getCoordinates()), ", ", i.at(getSource()),
                i.optional(getHint()), ";");
}

LogicalResult TensorPrefetchOp::verify() {
  if (!getCoordinates().empty())
    return verifyCoordinates(*this, getCoordinates().size());
  if (getHint())
    return emitOpError("has an L2 hint, but without coordinates it fetches the map itself");
  return success();
}

Assembly TensorPrefetchOp::getAssembly() {
  AssemblyText i(*this);
  if (getCoordinates().empty())
    return i.text(i.guard(getPredicate()), "prefetch.tensormap ", i.at(getMap()), ";");
  return i.text(i.guard(getPredicate()), "cp.async.bulk.prefetch.tensor", rank(getCoordinates()),
                ".L2.global.tile", hintSuffix(getHint()), " ", box(i, getMap(), getCoordinates()),
                i.optional(getHint()), ";");
}
