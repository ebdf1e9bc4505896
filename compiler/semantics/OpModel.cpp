// SPDX-License-Identifier: MIT
// Lookup by name, and `analyze`: the order of its steps and the sections a spec must have.
#include "compiler/semantics/OpModel.h"
#include "compiler/semantics/Analyze.h"
#include "compiler/semantics/Builtins.h"

namespace tilegym::sem {

template <class T> static int64_t find(const std::vector<T> &list, std::string_view name) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name && !name.empty())
      return int64_t(i);
  return -1;
}

int64_t OpModel::findTensor(std::string_view name) const { return find(tensors, name); }
int64_t OpModel::findScalar(std::string_view name) const { return find(scalars, name); }
int64_t OpModel::findDim(std::string_view name) const { return find(dims, name); }
int64_t OpModel::findTypeVar(std::string_view name) const { return find(typeVars, name); }

std::string sourceText(SourceRange range) {
  if (!range.file || range.end < range.begin || range.end > range.file->text().size())
    return {};
  return std::string(range.file->text().substr(range.begin, range.end - range.begin));
}

std::string quotedList(const std::vector<std::string> &words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "`" : i + 1 == words.size() ? " and `" : ", `") + words[i] + "`";
  return text;
}

std::string suggestion(std::string_view word, const std::vector<std::string> &known) {
  if (std::string near = nearest(word, known); !near.empty())
    return "did you mean `" + near + "`?";
  std::string all;
  for (const std::string &one : known)
    all += (all.empty() ? "known: " : ", ") + one;
  return all;
}

bool isReserved(std::string_view word) {
  for (std::string_view taken : {"inf", "nan", "PI", "LOG2E", "all", "last", "None", "true", "false"})
    if (word == taken)
      return true;
  return parseDType(word) || findBuiltin(word);
}

std::optional<Constant> literalValue(const ast::Expr &e, const TypeVar &typeVar, std::string_view what,
                                     DiagnosticSink &sink) {
  static const OpModel nothing;
  Operators ops(sink, ShapeMode::Host);
  Operand value = checkHostExpr(e, HostScope{nothing, std::string(what)}, sink);
  if (!value)
    return std::nullopt;
  if (!value.constant()) {
    sink.error(e.range, std::string(what) + " must be a literal");
    return std::nullopt;
  }
  std::optional<Constant> result;
  for (DType choice : typeVar.choices) {
    Operand typed = ops.require(value, choice, what);
    if (!typed)
      return std::nullopt;
    result = typed.constant() ? *typed.constant() : *value.constant();
  }
  // Where several dtypes are possible, the value is kept as written and rounded to the dtype of the call.
  return typeVar.choices.size() > 1 && isFloat(typeVar.choices[0]) ? Constant{value.constant()->asFloat()}
                                                                   : result;
}

std::optional<Constant> scalarLiteral(const ast::Expr &e, const OpModel &op, const ScalarParam &scalar,
                                      DiagnosticSink &sink) {
  if (!scalar.enumerators.empty()) {
    const auto *word = ast::dynCast<ast::Name>(&e);
    for (size_t i = 0; word && i < scalar.enumerators.size(); ++i)
      if (scalar.enumerators[i] == word->name)
        return Constant{int64_t(i)};
    sink.error(e.range, "`" + sourceText(e.range) + "` is no value of `" + scalar.name + "`",
               "it takes " + quotedList(scalar.enumerators) + "; to add one, list it in the signature");
    return std::nullopt;
  }
  auto value = literalValue(e, op.typeVars[scalar.typeVar], "`" + scalar.name + "`", sink);
  if (!value || !scalar.isConst)
    return value;
  std::string all;
  for (const Constant &choice : scalar.choices) {
    if (choice == *value)
      return value;
    all += (all.empty() ? "" : " | ") + toString(choice);
  }
  if (!all.empty()) // a const without choices has had its own error
    sink.error(e.range,
               toString(*value) + " is no value of the const `" + scalar.name + "`, which takes " + all,
               "to add one, list it: where " + scalar.name + ": " + all + " | " + toString(*value));
  return std::nullopt;
}

static void checkSections(const OpModel &op, const ast::Spec &spec, DiagnosticSink &sink) {
  SourceRange at = spec.op->name.range;
  auto missing = [&](const char *section, const char *help) {
    sink.error(at, "op `" + op.name + "` has no `" + section + "` section", help);
  };
  if (!spec.reference)
    missing("reference", "say what the op means: reference { y = ... }");
  if (spec.kernels.empty())
    missing("kernel", "say how the op runs: kernel NAME(BN) { ... }");
  if (!spec.test)
    missing("test", "say how it is tested: test { N in [1, 1024]; case \"by hand\" { ... expect y = ... } }");
  if (!spec.bench)
    missing("bench", "say how it is measured: bench { ... }, or bench none \"why\"");
}

std::shared_ptr<const OpModel> analyze(std::shared_ptr<const ast::Spec> spec, const SearchPath &path,
                                       DiagnosticSink &sink) {
  size_t errorsBefore = sink.numErrors();
  if (!spec->op) {
    sink.error({spec->file.get(), 0, 0}, "no `op` section",
               "a spec starts with its interface: op NAME(x: T[N]) -> y: T[N]");
    return nullptr;
  }
  auto op = std::make_shared<OpModel>();
  op->name = spec->op->name.name;
  op->doc = spec->op->doc;
  op->spec = spec;
  op->nondeterministic = spec->op->nondeterministic;
  checkSections(*op, *spec, sink);
  loadLibraries(*op, path, sink);
  if (!analyzeInterface(*op, *spec->op, sink))
    return nullptr;
  analyzeNamesServed(*op, *spec->op, sink);
  analyzeKernels(*op, *spec, sink);
  if (spec->test)
    analyzeTest(*op, *spec->test, sink);
  if (spec->bench)
    analyzeBench(*op, *spec->bench, sink);
  return sink.numErrors() == errorsBefore ? op : nullptr;
}

} // namespace tilegym::sem
