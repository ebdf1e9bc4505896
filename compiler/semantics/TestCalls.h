// SPDX-License-Identifier: MIT
// The calls that a spec's `test` and `bench` ask for: lists crossed, cases completed from the section, dims that depend on others
// computed, shapes of every input. What a runner adds is data and a backend.
#pragma once
#include "compiler/semantics/CallBinding.h"
#include "compiler/semantics/TestModel.h"

namespace tilegym::sem {

/// A generator with its arguments evaluated.
struct Filling {
  Generator::Kind kind = Generator::Normal;
  std::vector<double> args;               ///< as Generator::args
  const LiteralTensor *literal = nullptr; ///< points into the TestModel
};

struct TestCall {
  std::string name;                        ///< `R=7 N=63 T=f16`, or `by hand T=f16`: unique in the section
  const TestCaseModel *testCase = nullptr; ///< points into the TestModel; null for the section's own lists
  CallShape shape; ///< inputs and inouts; outputs are left out, the optional ones asked for
  BoundCall bound; ///< shape, bound
  std::vector<std::vector<Filling>> fillings; ///< by OpModel::tensors: of each input, a list's elements each
  uint64_t seed = 0;                          ///< from the op's and the call's name
};

/// Elements of all its tensors together.
int64_t elementsOf(const TestCall &call);

/// Lists that are crossed leave out combinations which a `where` of the op refuses; a case that is refused is an error.
std::vector<TestCall> testCalls(const OpModel &op, const TestModel &model, DiagnosticSink &sink);
/// By OpModel::dims: of a group its leading dims; of a dim whose lists hold, nothing.
using Sizes = std::vector<std::optional<std::vector<int64_t>>>;
/// The calls that the section's own lists make, or those of one of its cases, at other sizes. None where the op refuses them.
std::vector<TestCall> resizedCalls(const OpModel &op, const TestModel &model, const Sizes &sizes,
                                   const TestCaseModel *one = nullptr);
std::vector<TestCall> benchCalls(const OpModel &op, const BenchModel &model, DiagnosticSink &sink);

} // namespace tilegym::sem
