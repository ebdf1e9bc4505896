// SPDX-License-Identifier: MIT
// What the least size that a variant takes says of its masks: `pow2ceil(N)` leaves no N whose row ends in the tile's first half.
#include "Equivalence.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"

using namespace mlir;

namespace tilegym::mutation {

/// True wherever it is computed, by the ranges of what it is computed from.
static bool isAlwaysTrue(Value condition) {
  Operation *module = condition.getParentRegion()->getParentOfType<ModuleOp>();
  DataFlowSolver solver;
  solver.load<dataflow::DeadCodeAnalysis>();
  solver.load<dataflow::SparseConstantPropagation>();
  solver.load<dataflow::IntegerRangeAnalysis>();
  if (failed(solver.initializeAndRun(module)))
    return false;
  auto *range = solver.lookupState<dataflow::IntegerValueRangeLattice>(condition);
  if (!range || range->getValue().isUninitialized())
    return false;
  std::optional<APInt> constant = range->getValue().getValue().getConstantValue();
  return constant && constant->isOne();
}

std::string equivalentByRange(const Operator &kind, Operation *op) {
  if (kind.name != "change-other")
    return ""; // the operation may be gone
  auto load = dyn_cast<ptx::LoadGlobalOp>(op);
  return load && load.getPredicate() && isAlwaysTrue(load.getPredicate()) ? "columns of every size" : "";
}

} // namespace tilegym::mutation
