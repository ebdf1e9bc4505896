// SPDX-License-Identifier: MIT
// Expands a test section: a list of slots (one a name, each with its alternatives) is walked depth first, and every leaf is a case.
#pragma once
#include "compiler/interpreter/SettingValues.h"
#include "compiler/interpreter/TestCases.h"
#include <set>

namespace tilegym::interp {

inline constexpr size_t maxCases = 20000;

/// A name of the op that takes values in turn. `setting` is null for what the section doesn't mention.
struct Slot {
  enum Kind : uint8_t { DTypes, Dims, Scalars, Inputs, Where, Presence } kind = Dims;
  int64_t id = -1;
  const ast::Setting *setting = nullptr;
  bool shown = true; ///< its value is part of the case's name
};

class CaseExpander {
public:
  CaseExpander(const sem::OpModel &op, DiagnosticSink &sink) : op(op), sink(sink) {}

  void section(const ast::TestDecl &test);
  void named(const std::vector<ast::Setting> &inherited, const std::vector<ast::Setting> &own,
             const std::vector<ast::Setting> &expects, std::string name, SourceRange range);
  std::vector<TestCase> cases;

private:
  struct State {
    SettingScope scope;
    std::vector<std::optional<InputRule>> rules; ///< by tensor id
    bool allAbsent = false;
    std::string label;
  };
  State start() const;
  std::optional<Slot> slotOf(const ast::Setting &setting);
  void addImplicit(std::vector<Slot> &slots, bool crossed) const;
  std::set<int64_t> dimsOfLiterals(const std::vector<ast::Setting> &own) const;
  void walk(const std::vector<Slot> &slots, size_t at, const State &state);
  void walkImplicit(const std::vector<Slot> &slots, size_t at, const State &state);
  std::vector<const ast::Expr *> alternatives(const ast::Setting &setting, std::vector<int64_t> &range);
  void take(const std::vector<Slot> &slots, size_t at, State state, const ast::Expr &value);
  bool takeDim(State &state, const Slot &slot, const ast::Expr &value);
  bool takeScalar(State &state, const Slot &slot, const ast::Expr &value);
  void finish(State state);
  bool bindLiterals(State &state);
  bool bindLiteral(State &state, int64_t tensor, const InputRule &rule);
  bool complete(const State &state);

  void error(SourceRange place, std::string message, std::string help = {}) {
    ++mistakes;
    // One mistake would be met again in every case of the cross product.
    if (said.emplace(place.begin, message).second)
      sink.error(place, std::move(message), std::move(help));
  }
  template <class Fn> auto once(Fn fn) {
    DiagnosticSink local;
    auto result = fn(local);
    for (const Diagnostic &diagnostic : local.all())
      error(diagnostic.range, diagnostic.message, diagnostic.help);
    return result;
  }

  const sem::OpModel &op;
  DiagnosticSink &sink;
  std::set<std::pair<uint32_t, std::string>> said;
  size_t mistakes = 0;
  // Of the case at hand.
  std::string caseName;
  SourceRange caseRange;
  const std::vector<ast::Setting> *expects = nullptr;
};

/// An expression as the spec has it.
std::string textOf(const ast::Expr &expr);
/// Product of extents; where it leaves 64 bits, the greatest integer.
int64_t productOf(const Dims &extents);

} // namespace tilegym::interp
