// SPDX-License-Identifier: MIT
// Upstream's integer range analysis, with the ops of the dialect telling their own ranges.
#include "compiler/transforms/IndexRange.h"
#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlowFramework.h"

using namespace mlir;

namespace tilegym::transforms {

IndexRanges::IndexRanges(Operation *root) : solver(std::make_unique<DataFlowSolver>()) {
  solver->load<dataflow::DeadCodeAnalysis>();
  solver->load<dataflow::SparseConstantPropagation>();
  solver->load<dataflow::IntegerRangeAnalysis>();
  valid = succeeded(solver->initializeAndRun(root));
}

IndexRanges::~IndexRanges() = default;

std::optional<IndexRanges::Range> IndexRanges::of(Value value) const {
  auto *state = solver->lookupState<dataflow::IntegerValueRangeLattice>(value);
  if (!state || state->getValue().isUninitialized())
    return {};
  const ConstantIntRanges &range = state->getValue().getValue();
  if (range.smin().getBitWidth() == 0 || range.smin().getBitWidth() > 64)
    return {};
  return Range{range.smin().getSExtValue(), range.smax().getSExtValue()};
}

} // namespace tilegym::transforms
