// SPDX-License-Identifier: MIT
// `gradient of`: the reference of a gradient op against central differences of the forward op's reference, both with every float
// dtype widened to f64. With loss = sum of dy * y over the outputs named, each dx must be its derivative.
#pragma once
#include "compiler/interpreter/Interpreter.h"
#include "compiler/semantics/TestCalls.h"

namespace tilegym::interp {

struct GradientOptions {
  int64_t elements = 24;         ///< of each input, drawn at random (all of a smaller one)
  int64_t directions = 2;        ///< random directions through all of an input besides
  int64_t maxElements = 1 << 15; ///< cases with a larger tensor are skipped
  double tolerance = 1e-5;       ///< times |dx| plus the root mean square of dx
  RunOptions run;
};

struct GradientResult {
  std::vector<std::string> failures;
  std::string skipped;  ///< why nothing was checked
  int64_t compared = 0; ///< derivatives
};

/// True for an op that says `gradient of`.
bool isGradient(const sem::OpModel &op);
/// The name of the op it is the gradient of.
std::string forwardName(const sem::OpModel &op);

/// Whether the forward op has the tensors that `gradient of` names as its own; those of the gradient op are checked with its spec.
bool checkGradientNames(const sem::OpModel &backward, const sem::OpModel &forward, DiagnosticSink &sink);

/// For ops whose names were checked. Inputs of the gradient op that are named as the forward op's outputs (`rstd`) are computed by the forward op, whatever the test says.
GradientResult checkGradient(const sem::OpModel &backward, const sem::OpModel &forward,
                             const sem::TestCall &test, const GradientOptions &options = {});

} // namespace tilegym::interp
