// SPDX-License-Identifier: MIT
// Reads the settings of `test`, `case` and `bench` into a TestSettings.
#pragma once
#include "compiler/semantics/TestModel.h"

namespace tilegym::sem {

class TestReader {
public:
  /// `place`: "a test", "a benchmark".
  TestReader(const OpModel &op, std::string place, DiagnosticSink &sink)
      : op(op), place(std::move(place)), sink(sink) {}

  TestSettings empty() const;
  /// Literals are judged by the dtypes that these settings leave; the dtypes of a case are read before the rest of it.
  void narrow(const TestSettings *own, const TestSettings *outer) {
    ownDTypes = own;
    outerDTypes = outer;
  }
  /// Adds one setting; `extra` names are left to the caller (bytes, flops).
  void read(const ast::Setting &setting, TestSettings &out);
  /// A literal tensor: numbers in brackets, nested as deep as its rank.
  std::optional<LiteralTensor> literal(const ast::Expr &e, int64_t tensor);
  /// One literal, or one for each element of a list tensor.
  std::vector<LiteralTensor> literals(const ast::Expr &e, int64_t tensor);
  /// Where the settings fix dims and literals both, they must agree.
  void checkShapes(const TestSettings &section, const TestCaseModel &one);
  /// Every dim, scalar without default and integer input needs a value, from `own` or `section`.
  void checkComplete(const TestSettings &section, const TestSettings &own, SourceRange at);

private:
  std::vector<const ast::Expr *> candidates(const ast::Setting &setting);
  void dim(int64_t id, const ast::Setting &setting, TestSettings &out);
  void dtype(int64_t id, const ast::Setting &setting, TestSettings &out);
  void scalar(int64_t id, const ast::Setting &setting, TestSettings &out);
  void tensor(int64_t id, const ast::Setting &setting, TestSettings &out);
  std::optional<Generator> generator(int64_t id, const ast::Expr &e);
  bool generatorCall(const ast::Expr &e, int64_t id, Generator &out);
  bool flatten(const ast::Expr &e, int64_t tensor, size_t depth, LiteralTensor &out);
  bool isAll(const ast::Setting &setting) const;
  HostScope scope() const { return {op, place}; }

  TypeVar narrowed(int64_t tensor) const;

  const OpModel &op;
  std::string place;
  DiagnosticSink &sink;
  const TestSettings *ownDTypes = nullptr, *outerDTypes = nullptr;
};

} // namespace tilegym::sem
