// SPDX-License-Identifier: MIT
// A spec's `test` section as concrete cases: lists crossed, each `case` laid over the section's settings; dims, dtypes, consts, scalars
// and the rule of every input fixed. Nothing is run here and no input is made yet.
//
// - A `case` inherits what it does not set. A literal input fixes the dims it binds, so the case need not repeat them.
// - What no setting names: dtypes and compile-time dims take all their choices; scalars and consts their default; float inputs are
//   normal(0, 1). Optional tensors are present in a `case`; in the crossed lists once all are and once none.
#pragma once
#include "compiler/interpreter/Interpreter.h"
#include "compiler/semantics/TestModel.h"
#include <string>
#include <vector>

namespace tilegym::interp {

/// How the elements of an input are made, with the numbers of its sem::Generator evaluated.
struct InputRule {
  sem::Generator::Kind kind = sem::Generator::Normal;
  double a = 0, b = 1;    ///< Normal: mean, deviation. Uniform: ends. OneHot: value, off. Fill: a
  int64_t lo = 0, hi = 0; ///< RandInt: lo to hi, hi excluded
  int64_t at = 0;         ///< OneHot: position in each row; negative counts from the end
  std::vector<sem::LiteralTensor> literals;
  SourceRange range;
};

struct TestCase {
  std::string
      name; ///< "by hand T=f16" or "T=f16 R=7 N=63": unique in a spec, and the seed of its random inputs
  SourceRange range;
  sem::Specialization interface;
  DimValues dims;
  std::vector<Dims> groups;           ///< by dim id: the leading extents that `*R` stands for
  std::vector<int64_t> lengths;       ///< by tensor id: how many tensors a list has; 1 for the others
  std::vector<sem::Constant> scalars; ///< by OpModel::scalars
  std::vector<InputRule> inputs;      ///< by tensor id
  std::vector<sem::Expectation> expects;
  uint64_t seed = 0;
};

/// Every case of the section. Those that cannot be made (a dim that depends on itself) are reported.
std::vector<TestCase> expandTestCases(const sem::OpModel &op, const sem::TestModel &model,
                                      DiagnosticSink &sink);

/// A measurement: its call, and what the op must move and compute at least.
struct BenchCase {
  TestCase call;
  std::optional<int64_t> bytes, flops;
};
std::vector<BenchCase> expandBenchCases(const sem::OpModel &op, const sem::BenchModel &model,
                                        DiagnosticSink &sink);

/// Settings from elsewhere (`run OP N=1024 T=f16`), crossed in the same way.
std::vector<TestCase> expandSettings(const sem::OpModel &op, const sem::TestSettings &settings,
                                     SourceRange range, DiagnosticSink &sink);

/// Extents of an input of the case, one for each element of a list.
std::optional<std::vector<Dims>> inputShapes(const sem::OpModel &op, const TestCase &test, int64_t tensor,
                                             std::vector<Fault> &faults);

/// FNV-1a: seeds come from names, so they are the same everywhere.
uint64_t hashName(std::string_view text, uint64_t start = 0xcbf29ce484222325);

} // namespace tilegym::interp
