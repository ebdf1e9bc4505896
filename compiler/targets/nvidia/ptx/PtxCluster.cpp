// SPDX-License-Identifier: MIT
// Verifiers and texts of clusters and fences.
#include "compiler/targets/nvidia/ptx/AssemblyText.h"

using namespace mlir;
using namespace tilegym::ptx;

Assembly ClusterArriveOp::getAssembly() {
  return AssemblyText(*this).text("barrier.cluster.arrive", getRelaxed() ? ".relaxed" : "", ".aligned;");
}

Assembly ClusterWaitOp::getAssembly() { return AssemblyText(*this).text("barrier.cluster.wait.aligned;"); }

LogicalResult StoreAsyncOp::verify() {
  size_t n = getWords().size();
  if (n != 1 && n != 2 && n != 4)
    return emitOpError("has ") << n << " words, but writes 1, 2 or 4";
  Type type = getWords().front().getType();
  if (!llvm::all_equal(getWords().getTypes()))
    return emitOpError("has words of several types, but writes words of one");
  if (int64_t bytes = type.getIntOrFloatBitWidth() / 8 * n; bytes > 16)
    return emitOpError("writes ") << bytes << " bytes, but can write 16 at most";
  return success();
}

Assembly StoreAsyncOp::getAssembly() {
  AssemblyText i(*this);
  return i.text(i.guard(getPredicate()), "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes",
                vectorSuffix(getWords().size()), ".b",
                std::to_string(getWords().front().getType().getIntOrFloatBitWidth()), " ", i.at(getAddress()),
                ", ", i.vector(getWords()), ", ", i.at(getBarrier()), ";");
}

Assembly FenceProxyAsyncOp::getAssembly() {
  std::string space;
  switch (getSpace()) {
  case ProxySpace::All:
    break;
  case ProxySpace::Global:
    space = ".global";
    break;
  case ProxySpace::SharedCta:
    space = ".shared::cta";
    break;
  case ProxySpace::SharedCluster:
    space = ".shared::cluster";
    break;
  }
  return AssemblyText(*this).text("fence.proxy.async", space, ";");
}

Assembly FenceMbarrierInitOp::getAssembly() {
  return AssemblyText(*this).text("fence.mbarrier_init.release.cluster;");
}

LogicalResult FenceOp::verify() {
  if (getOrdering() != Ordering::AcqRel && getOrdering() != Ordering::Sc)
    return emitOpError("has the order ")
           << stringifyOrdering(getOrdering()) << ", but a fence has acq_rel or sc";
  return success();
}

Assembly FenceOp::getAssembly() {
  return AssemblyText(*this).text("fence.", stringifyOrdering(getOrdering()).str(), ".",
                                  stringifyScope(getScope()).str(), ";");
}
