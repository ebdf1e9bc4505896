// SPDX-License-Identifier: MIT
// Expands settings: a list of slots (one a name, with its candidates) is walked depth first, and every leaf becomes a case.
#pragma once
#include "compiler/interpreter/TestCases.h"
#include "compiler/semantics/HostEval.h"
#include <set>

namespace tilegym::interp {

class CaseExpander {
public:
  CaseExpander(const sem::OpModel &op, DiagnosticSink &sink) : op(op), sink(sink) {}

  /// `own` first, what it does not say from `section`. `crossed`: optional tensors that neither names are also left away.
  void expand(const sem::TestSettings &own, const sem::TestSettings *section,
              const std::vector<sem::Expectation> &expects, std::string name, SourceRange range,
              bool crossed);
  std::vector<TestCase> cases;

private:
  /// A name of the op that takes values in turn. Its candidates live in the settings, or are what the op says.
  struct Slot {
    enum Kind : uint8_t { DTypes, Dims, Scalars, Tensors, Presence } kind = Dims;
    int64_t id = -1;
    size_t count = 1;
  };
  /// What is chosen on the way to a leaf. Dims are evaluated there, as one may depend on another.
  struct State {
    std::vector<DType> dtypes;
    std::vector<sem::DimCandidate> dims;
    std::vector<sem::Constant> scalars;
    std::vector<const sem::Generator *> tensors; ///< null: nothing said
    bool leaveOptionals = false;
    std::string label;
  };

  void addSlots(const sem::TestSettings &own, const sem::TestSettings *section, bool crossed);
  std::set<int64_t> dimsOfLiterals(const sem::TestSettings &own) const;
  void walk(size_t at, const State &state);
  void choose(const Slot &slot, size_t candidate, State &state) const;
  void finish(const State &state);
  bool bindLiteral(TestCase &test, int64_t tensor, const std::vector<sem::LiteralTensor> &literals);
  bool bindDims(TestCase &test, const State &state);
  void setLengths(TestCase &test) const;
  bool evaluateRule(TestCase &test, int64_t tensor, const sem::Generator &generator);
  void error(SourceRange place, std::string message, std::string help = {});

  const sem::OpModel &op;
  DiagnosticSink &sink;
  std::set<std::pair<uint32_t, std::string>> said;
  // Of the settings at hand.
  std::vector<Slot> slots;
  std::vector<std::vector<sem::DimCandidate>> dims;
  std::vector<std::vector<DType>> dtypes;
  std::vector<std::vector<sem::Constant>> scalars;
  std::vector<std::vector<sem::Generator>> tensors;
  const std::vector<sem::Expectation> *expects = nullptr;
  std::string caseName;
  SourceRange caseRange;
};

/// What a host expression of a case is evaluated with.
sem::HostValues hostValues(const sem::OpModel &op, const TestCase &test);

} // namespace tilegym::interp
