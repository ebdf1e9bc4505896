// SPDX-License-Identifier: MIT
// A spec's `test` section as concrete cases: lists crossed, each `case` laid over the section's settings, dims, dtypes, consts,
// scalars and the rule of every input fixed. Nothing is run here and no input is made yet.
//
// - A `case` inherits what it doesn't set. A literal input fixes the dims it binds, so the case need not repeat them.
// - What no setting names: dtypes and compile-time dims take all their choices; scalars and consts their default (a const without one:
//   all choices); float inputs are normal(0, 1). Optional tensors are present in a `case`; in the crossed lists once all are and once none.
// - `x = none` leaves an optional tensor away. `R = [2, 3]` gives a group of leading dims two extents; `M = [3, 0, 5]` gives a per-element
//   dim of lists its values.
#pragma once
#include "compiler/interpreter/Interpreter.h"
#include <string>
#include <vector>

namespace tilegym::interp {

/// Values written out, row-major. Without a shape it is one value for every element.
struct LiteralValues {
  Dims shape;
  bool isScalar = false;
  std::vector<sem::Constant> values;
};

/// How the elements of an input are made.
struct InputRule {
  enum Kind : uint8_t {
    Normal,      ///< mean a, deviation b
    Uniform,     ///< from a to b
    RandInt,     ///< lo to hi, hi excluded
    Iota,        ///< a, a + b, a + 2 b ... in row-major order
    OneHot,      ///< along the last axis one element a, the others b; where: `at`
    Permutation, ///< of 0 .. n-1, along the last axis, another for each row
    Literal,
    Absent, ///< an optional tensor left away
  } kind = Normal;
  double a = 0, b = 1;
  int64_t lo = 0, hi = 0;
  std::optional<int64_t> at; ///< negative counts from the end; nullopt: random for each row
  LiteralValues literal;
  SourceRange range;
};

struct Expectation {
  int64_t tensor = 0;
  LiteralValues values;
  SourceRange range;
};

struct TestCase {
  std::string
      name; ///< "by hand T=f16" or "R=7 N=63 T=f16": unique in a spec, and the seed of its random inputs
  SourceRange range;
  sem::Specialization interface;
  DimValues dims;
  std::vector<Dims> groups;           ///< by dim id: the leading extents that `*R` stands for
  std::vector<sem::Constant> scalars; ///< by OpModel::scalars
  std::vector<InputRule> inputs;      ///< by tensor id
  std::vector<Expectation> expects;
  uint64_t seed = 0;
};

/// Every case of the section. Mistakes in it are reported with their place; cases without mistakes are still returned.
std::vector<TestCase> expandTestCases(const sem::OpModel &op, DiagnosticSink &sink);

/// One case made from settings that a user gives outside the spec (`run OP N=1024 T=f16`): text of settings as a `case` holds them.
/// The first of every list is taken.
std::optional<TestCase> caseFromSettings(const sem::OpModel &op, const std::vector<ast::Setting> &settings,
                                         std::string name, DiagnosticSink &sink);

/// Extents of a tensor of the case, one for each element of a list. Outputs are for the interpreter to compute.
std::optional<std::vector<Dims>> inputShapes(const sem::OpModel &op, const TestCase &test, int64_t tensor,
                                             std::vector<Fault> &faults);

/// FNV-1a: seeds come from names, so they are the same everywhere.
uint64_t hashName(std::string_view text, uint64_t start = 0xcbf29ce484222325);

} // namespace tilegym::interp
