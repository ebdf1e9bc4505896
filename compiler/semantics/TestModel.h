// SPDX-License-Identifier: MIT
// `test` and `bench` as data: what each setting may be, once checked. The analysis of a spec reads them to complain, the runners to
// make calls (see TestCalls.h).
#pragma once
#include "compiler/semantics/HostExpr.h"

namespace tilegym::sem {

/// A literal tensor, row-major.
struct LiteralTensor {
  std::vector<int64_t> shape; ///< kDynamic for an axis inside of an empty list
  std::vector<Constant> elements;
  SourceRange range;
};

/// How a tensor of a test is filled. `args` are host expressions over the test's dims and scalars.
struct Generator {
  enum Kind : uint8_t {
    Normal,      ///< args: mean, standard deviation
    Uniform,     ///< args: lo, hi; [lo, hi)
    RandInt,     ///< args: lo, hi; integers in [lo, hi)
    Iota,        ///< 0, 1, 2 ... in row-major order
    OneHot,      ///< args: value, off, position in each row of the last axis (-1: the last; none: one a row)
    Permutation, ///< of 0 .. n-1 along the last axis, another one a row
    Fill,        ///< args: value
    Choice,      ///< args: one of them each; no spec writes it (see EdgeCalls.h)
    Literal,     ///< `literals`, one a tensor (several for a list)
    Absent,      ///< an optional tensor that is not given, an output not asked for
  } kind = Normal;
  std::vector<ExprPtr> args;
  std::vector<LiteralTensor> literals;
  SourceRange range;
};

/// Candidate values of a dim: one expression, or several for a group's leading dims or the elements of a list.
struct DimCandidate {
  std::vector<ExprPtr> values;
  bool isList = false;
};

/// The settings of a section or case. An empty list means: not said here.
struct TestSettings {
  std::vector<std::vector<DimCandidate>> dims; ///< by OpModel::dims
  std::vector<std::vector<DType>> dtypes;      ///< by OpModel::typeVars
  std::vector<std::vector<Constant>> scalars;  ///< by OpModel::scalars
  std::vector<std::vector<Generator>> tensors; ///< by OpModel::tensors
};

struct Expectation {
  int64_t tensor = -1;
  std::vector<LiteralTensor> literals; ///< one, or one for each element of a list
  SourceRange range;
};
struct TestCaseModel {
  std::string name;
  TestSettings settings;
  std::vector<Expectation> expects;
  SourceRange range;
};
struct ToleranceModel {
  DType dtype = DType::F32;
  double relative = 0,
         absolute = 0; ///< the absolute part is a factor of the row's root mean square; 0 and 0: bit-equal
  bool absoluteIsFactor = true; ///< false where a pair (rtol, atol) was written: atol as it stands
  ExprPtr
      absoluteOf; ///< f64, of a pair: atol where it is a formula of the call's dims, such as an error that grows with a sum
};
struct TestModel {
  TestSettings settings;
  bool crossed = false; ///< the section's own settings make tests (else they only complete its cases)
  std::vector<TestCaseModel> cases;
  std::vector<ToleranceModel> tolerances;
  /// By the dtype that keys it; null where the spec names none.
  const ToleranceModel *tolerance(DType dtype) const;
};
struct BenchModel {
  TestSettings settings;
  ExprPtr bytes, flops; ///< index expressions, or null
};

/// The largest error seen in outputs that one dtype of `tolerance` judges, as the tolerance that would just have taken it.
struct SeenError {
  DType dtype = DType::F32;
  double relative = 0;
};
/// Keeps the larger of each dtype's.
void mergeErrors(std::vector<SeenError> &into, const std::vector<SeenError> &more);

/// The dtypes that key `tolerance`: the choices of the op's dtype name (of several, the first that an output has), or the outputs' own
/// dtypes where there is no name.
struct ToleranceKey {
  int64_t typeVar = -1; ///< -1: the output's dtype
  std::vector<DType> dtypes;
};
ToleranceKey toleranceKey(const OpModel &op);

TestModel readTest(const OpModel &op, const ast::TestDecl &decl, DiagnosticSink &sink);
BenchModel readBench(const OpModel &op, const ast::BenchDecl &decl, DiagnosticSink &sink);

} // namespace tilegym::sem
