// SPDX-License-Identifier: MIT
// From a call's arguments to what a run works on: dims, outputs, memory and views.
#pragma once
#include "compiler/interpreter/Evaluator.h"

namespace tilegym::interp {

/// Dims of a call while they are being found, and the extents of leading groups.
struct BoundDims {
  DimValues dims;           ///< kDynamic where not yet known
  std::vector<Dims> groups; ///< by dim id: the leading extents of a group dim
};

// These throw RunFault.
BoundDims bindOrFail(const sem::OpModel &op, const sem::Specialization &interface, const Arguments &args);
/// The specialization's consts in place of those scalars.
std::vector<sem::Constant> scalarsFor(const sem::OpModel &op, const sem::Specialization &interface,
                                      const Arguments &args);
std::vector<std::vector<Dims>> outputShapesOrFail(const sem::OpModel &op,
                                                  const sem::Specialization &interface, const Arguments &args,
                                                  const BoundDims &bound);
Value evaluateHostOrFail(const sem::OpModel &op, const sem::Specialization &interface, const DimValues &dims,
                         const std::vector<sem::Constant> &scalars, const Arguments &args, const sem::Expr &e,
                         int64_t smCount);
/// How many locals an expression's lambdas name.
size_t localsOf(const sem::Expr &e);

/// The whole of a tensor as kernels see it: leading group merged, `B|1` repeated. `dims` may be null (scratch).
View wholeView(Memory &memory, const std::vector<sem::DimUse> *dims, const BoundDims *bound);

/// Allocates and fills outputs, copies inouts, checks overlaps, makes memory, shadow and views.
void prepare(RunContext &context, const Arguments &args);
/// One Unwritten fault for each output with elements that nothing wrote.
void checkWritten(const RunContext &context, std::vector<Fault> &faults);

} // namespace tilegym::interp
