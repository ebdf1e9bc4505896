// SPDX-License-Identifier: MIT
// A plan as a host runs it, and its launches as ops: what the compiler makes of a checked plan. The interpreter runs the tree itself.
#pragma once
#include "compiler/semantics/OpModel.h"

namespace tilegym::sem {

/// One axis of a tensor of the op that a launch is given a part of.
struct PlanAxis {
  int64_t axis = 0;     ///< of the tensor
  bool isPoint = false; ///< the axis is dropped
  ExprPtr start;        ///< null: 0
  ExprPtr extent;       ///< null for a point
};

/// What a tensor parameter of a launch is: a scratch buffer, or a part of a tensor of the op.
struct PlanTensor {
  int64_t scratch = -1, tensor = -1;
  std::vector<PlanAxis> axes; ///< of a part, the kept ones in the parameter's order
  SourceRange range;
};

/// A launch as a call of an op of its own. `model` is the plan's op, and behind its tensors, scalars and dims come the kernel's typed parameters, so
/// that whatever handles kernels of ops handles it. Its one kernel is the launched one.
struct PlanLaunch {
  std::shared_ptr<const OpModel> model;
  Specialization spec;
  std::vector<PlanTensor> tensors; ///< of the tensors behind the op's own
  std::vector<ExprPtr> scalars,
      dims; ///< values of the others behind the op's own, over the op's dims and scalars
};

struct PlanSteps {
  std::vector<ScratchBuffer> scratch; ///< its extents over the op's dims and scalars
  std::vector<PlanLaunch> launches;
};

/// Nothing where the plan does more than a host can without running code; each such place has been reported.
std::optional<PlanSteps> stepsOf(const OpModel &op, const Plan &plan, DiagnosticSink &sink);

} // namespace tilegym::sem
