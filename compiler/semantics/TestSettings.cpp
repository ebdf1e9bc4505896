// SPDX-License-Identifier: MIT
// One function a kind of name: dims, dtypes, scalars, tensors.
#include "compiler/semantics/TestSettings.h"
#include "compiler/semantics/Analyze.h"
#include "compiler/semantics/Builtins.h"
#include <algorithm>

namespace tilegym::sem {

TestSettings TestReader::empty() const {
  TestSettings settings;
  settings.dims.resize(op.dims.size());
  settings.dtypes.resize(op.typeVars.size());
  settings.scalars.resize(op.scalars.size());
  settings.tensors.resize(op.tensors.size());
  return settings;
}

TypeVar TestReader::narrowed(int64_t tensor) const {
  int64_t id = op.tensors[size_t(tensor)].typeVar;
  TypeVar var = op.typeVars[size_t(id)];
  for (const TestSettings *settings : {outerDTypes, ownDTypes})
    if (settings && !settings->dtypes[size_t(id)].empty())
      var.choices = settings->dtypes[size_t(id)];
  return var;
}

bool TestReader::isAll(const ast::Setting &setting) const {
  const auto *word = ast::dynCast<ast::Name>(setting.value.get());
  return setting.kind == ast::Setting::In && word && word->name == "all";
}

/// The expressions of `= e` (one) or `in [...]`.
std::vector<const ast::Expr *> TestReader::candidates(const ast::Setting &setting) {
  if (!setting.value)
    return {};
  if (setting.kind == ast::Setting::Equals)
    return {setting.value.get()};
  std::vector<const ast::Expr *> values;
  if (const auto *list = ast::dynCast<ast::List>(setting.value.get()))
    for (const ast::ExprPtr &element : list->elements)
      values.push_back(element.get());
  if (values.empty())
    sink.error(setting.value->range, "expected a list of values",
               "write " + setting.name.name + " in [1, 2, 4], or " + setting.name.name + " = 1");
  return values;
}

void TestReader::read(const ast::Setting &setting, TestSettings &out) {
  const std::string &name = setting.name.name;
  if (setting.kind == ast::Setting::Where) {
    sink.error(setting.range, "`where` does not belong in " + place, "list the values that are meant");
    return;
  }
  auto twice = [&](bool set) {
    if (set)
      sink.error(setting.name.range, "`" + name + "` is set twice");
    return set;
  };
  if (int64_t id = op.findDim(name); id >= 0) {
    if (!twice(!out.dims[id].empty()))
      dim(id, setting, out);
  } else if (id = op.findTypeVar(name); id >= 0) {
    if (!twice(!out.dtypes[id].empty()))
      dtype(id, setting, out);
  } else if (id = op.findScalar(name); id >= 0) {
    if (!twice(!out.scalars[id].empty()))
      scalar(id, setting, out);
  } else if (id = op.findTensor(name); id >= 0) {
    if (!twice(!out.tensors[id].empty()))
      tensor(id, setting, out);
  } else {
    std::vector<std::string> known;
    for (const DimVar &d : op.dims)
      known.push_back(d.name);
    for (const TypeVar &t : op.typeVars)
      if (!t.name.empty())
        known.push_back(t.name);
    for (const Argument &a : op.arguments)
      known.push_back(a.isTensor ? op.tensors[a.id].name : op.scalars[a.id].name);
    sink.error(setting.name.range, "`" + name + "` is no dim, dtype or argument of `" + op.name + "`",
               suggestion(name, known));
  }
}

void TestReader::dim(int64_t id, const ast::Setting &setting, TestSettings &out) {
  const DimVar &dim = op.dims[id];
  if (isAll(setting)) {
    if (dim.choices.empty())
      sink.error(setting.value->range, "`" + dim.name + "` has no list of values that `all` could mean",
                 "write " + dim.name + " in [1, 63, 1024]");
    for (int64_t choice : dim.choices)
      out.dims[id].push_back({{makeConst(DType::Index, Constant{choice}, setting.value->range)}, false});
    return;
  }
  for (const ast::Expr *e : candidates(setting)) {
    DimCandidate candidate;
    const auto *list = ast::dynCast<ast::List>(e);
    candidate.isList = list != nullptr;
    if (list && !dim.isGroup && !dim.perElement) {
      sink.error(e->range, "`" + dim.name + "` is one number",
                 "only leading dims `*R` and the dims of a list have several");
      continue;
    }
    if (!list && dim.perElement) {
      sink.error(e->range, "`" + dim.name + "` has one value for each list element",
                 "write " + dim.name + " = [128, 64]");
      continue;
    }
    std::vector<const ast::Expr *> parts;
    if (list)
      for (const ast::ExprPtr &element : list->elements)
        parts.push_back(element.get());
    else
      parts.push_back(e);
    bool good = true;
    for (const ast::Expr *part : parts) {
      ExprPtr value = checkHostIndex(*part, scope(), "`" + dim.name + "`", sink);
      good = good && value;
      if (!value)
        continue;
      if (value->op == Op::Const) {
        int64_t v = value->constant.asInt();
        if (v < 0) {
          sink.error(part->range, "`" + dim.name + "` cannot be " + std::to_string(v), "a dim is at least 0");
          good = false;
        } else if (!dim.choices.empty() &&
                   std::find(dim.choices.begin(), dim.choices.end(), v) == dim.choices.end()) {
          std::string all;
          for (int64_t choice : dim.choices)
            all += (all.empty() ? "" : " | ") + std::to_string(choice);
          sink.error(part->range,
                     std::to_string(v) + " is no value of the compile-time dim `" + dim.name +
                         "`, which takes " + all,
                     "to add one, list it: where " + dim.name + ": " + all + " | " + std::to_string(v));
          good = false;
        }
      }
      candidate.values.push_back(value);
    }
    if (good)
      out.dims[id].push_back(std::move(candidate));
  }
}

void TestReader::dtype(int64_t id, const ast::Setting &setting, TestSettings &out) {
  const TypeVar &var = op.typeVars[id];
  if (isAll(setting)) {
    out.dtypes[id] = var.choices;
    return;
  }
  for (const ast::Expr *e : candidates(setting)) {
    const auto *word = ast::dynCast<ast::Name>(e);
    auto dtype = word ? parseDType(word->name) : std::nullopt;
    std::vector<std::string> known;
    for (DType choice : var.choices)
      known.emplace_back(name(choice));
    if (!dtype)
      sink.error(e->range, "`" + sourceText(e->range) + "` is no dtype",
                 "`" + var.name + "` takes " + quotedList(known));
    else if (std::find(var.choices.begin(), var.choices.end(), *dtype) == var.choices.end())
      sink.error(e->range, "`" + var.name + "` cannot be " + word->name,
                 "it takes " + quotedList(known) + "; to add one, list it in the signature's where");
    else
      out.dtypes[id].push_back(*dtype);
  }
}

void TestReader::scalar(int64_t id, const ast::Setting &setting, TestSettings &out) {
  const ScalarParam &scalar = op.scalars[id];
  if (isAll(setting)) {
    if (!scalar.isConst)
      sink.error(setting.value->range, "`" + scalar.name + "` has no list of values that `all` could mean",
                 "write " + scalar.name + " in [0, 1]");
    out.scalars[id] = scalar.choices;
    return;
  }
  for (const ast::Expr *e : candidates(setting))
    if (auto value = scalarLiteral(*e, op, scalar, sink))
      out.scalars[id].push_back(*value);
}

void TestReader::tensor(int64_t id, const ast::Setting &setting, TestSettings &out) {
  for (const ast::Expr *e : candidates(setting))
    if (auto one = generator(id, *e))
      out.tensors[id].push_back(std::move(*one));
}

std::optional<Generator> TestReader::generator(int64_t id, const ast::Expr &e) {
  const TensorParam &tensor = op.tensors[id];
  Generator result;
  result.range = e.range;
  const auto *word = ast::dynCast<ast::Name>(&e);
  if (word && (word->name == "None" || word->name == "none")) {
    if (!tensor.optional) {
      sink.error(e.range, "`" + tensor.name + "` is not optional", "an optional tensor is declared with `?`");
      return std::nullopt;
    }
    result.kind = Generator::Absent;
    return result;
  }
  if (tensor.role == Role::Output) {
    sink.error(e.range, "`" + tensor.name + "` is an output, it is not given a value",
               tensor.optional
                   ? "write " + tensor.name + " = None to not ask for it, or expect " + tensor.name + " = ..."
                   : "write expect " + tensor.name + " = ... in a case");
    return std::nullopt;
  }
  if (ast::dynCast<ast::List>(&e)) {
    result.kind = Generator::Literal;
    result.literals = literals(e, id);
    return result.literals.empty() ? std::nullopt : std::optional(std::move(result));
  }
  bool named = word && !isReserved(word->name) && op.findDim(word->name) < 0 && op.findScalar(word->name) < 0;
  if (ast::dynCast<ast::Call>(&e) || named || (word && word->name == "iota"))
    return generatorCall(e, id, result) ? std::optional(std::move(result)) : std::nullopt;
  result.kind = Generator::Fill;
  if (auto value = literalValue(e, narrowed(id), "`" + tensor.name + "`", sink))
    result.args = {makeConst(DType::F64, Constant{value->asFloat()}, e.range)};
  return result.args.empty() ? std::nullopt : std::optional(std::move(result));
}

namespace {
struct GeneratorRow {
  Generator::Kind kind;
  const char *name;
  std::vector<const char *> params;
  std::vector<double> defaults; ///< of the last parameters
  bool integersOnly, floatsOnly;
};
const std::vector<GeneratorRow> &generatorRows() {
  static const std::vector<GeneratorRow> rows = {
      {Generator::Normal, "normal", {"mean", "std"}, {0, 1}, false, true},
      {Generator::Uniform, "uniform", {"lo", "hi"}, {0, 1}, false, true},
      {Generator::RandInt, "randint", {"lo", "hi"}, {}, false, false},
      {Generator::Iota, "iota", {}, {}, false, false},
      {Generator::OneHot, "one_hot", {"value", "off", "at"}, {1, 0, 0}, false, false},
      {Generator::Permutation, "permutation", {}, {}, true, false},
  };
  return rows;
}
} // namespace

/// `normal`, `randint(0, V)`, `one_hot(0.0, off=-inf, at=last)`.
bool TestReader::generatorCall(const ast::Expr &e, int64_t id, Generator &out) {
  const auto *call = ast::dynCast<ast::Call>(&e);
  const auto *word = ast::dynCast<ast::Name>(call ? call->callee.get() : &e);
  const GeneratorRow *row = nullptr;
  std::vector<std::string> known;
  for (const GeneratorRow &candidate : generatorRows()) {
    known.push_back(candidate.name);
    if (word && word->name == candidate.name)
      row = &candidate;
  }
  if (!row) {
    sink.error(word ? word->range : e.range,
               "unknown generator `" + sourceText(word ? word->range : e.range) + "`",
               suggestion(word ? word->name : "", known));
    return false;
  }
  bool anyInt = false, anyFloat = false;
  for (DType choice : narrowed(id).choices) {
    anyFloat |= isFloat(choice);
    anyInt |= !isFloat(choice);
  }
  if ((row->integersOnly && anyFloat) || (row->floatsOnly && anyInt)) {
    sink.error(e.range,
               "`" + std::string(row->name) + "` makes " + (row->integersOnly ? "integers" : "floats") +
                   ", but `" + op.tensors[id].name + "` holds " + (row->integersOnly ? "floats" : "integers"),
               row->integersOnly ? "" : "write randint(lo, hi), iota, permutation or a literal");
    return false;
  }
  out.kind = row->kind;
  out.args.resize(row->params.size());
  size_t position = 0;
  for (size_t i = 0; call && i < call->args.size(); ++i) {
    const ast::Arg &arg = call->args[i];
    size_t slot = position;
    if (!arg.name.empty())
      slot = size_t(std::find(row->params.begin(), row->params.end(), arg.name) - row->params.begin());
    else
      ++position;
    if (slot >= row->params.size() || out.args[slot]) {
      SourceRange at = arg.name.empty() ? arg.value->range : arg.nameRange;
      sink.error(at, "`" + std::string(row->name) + "` has no " +
                         (arg.name.empty() ? "argument " + std::to_string(slot + 1)
                                           : "argument `" + arg.name + "` (or it is given twice)"));
      return false;
    }
    const auto *last = ast::dynCast<ast::Name>(arg.value.get());
    if (row->kind == Generator::OneHot && slot == 2 && last && last->name == "last") {
      out.args[slot] = makeConst(DType::Index, Constant{int64_t(-1)}, arg.value->range);
      continue;
    }
    Operand value = checkHostExpr(*arg.value, scope(), sink);
    if (!value)
      return false;
    if (isBool(value.dtype()) || ((row->kind == Generator::RandInt || slot == 2) && !isInt(value.dtype()))) {
      sink.error(arg.value->range, "`" + std::string(row->params[slot]) + "` must be " +
                                       (isBool(value.dtype()) ? "a number" : "an integer") + ", found " +
                                       toString(value.type()));
      return false;
    }
    out.args[slot] = value.expr;
  }
  size_t withDefault = row->params.size() - row->defaults.size();
  for (size_t i = 0; i < out.args.size(); ++i) {
    if (out.args[i])
      continue;
    if (i < withDefault) {
      sink.error(e.range, "`" + std::string(row->name) + "` needs `" + row->params[i] + "`",
                 "write randint(lo, hi): integers from lo up to hi - 1");
      return false;
    }
    double value = row->defaults[i - withDefault];
    out.args[i] = out.kind == Generator::OneHot && i == 2
                      ? makeConst(DType::Index, Constant{int64_t(value)}, e.range)
                      : makeConst(DType::F64, Constant{value}, e.range);
  }
  return true;
}

// ---------------------------------------------------------------- literals

bool TestReader::flatten(const ast::Expr &e, int64_t tensor, size_t depth, LiteralTensor &out) {
  const auto *list = ast::dynCast<ast::List>(&e);
  if (!list) {
    if (depth != out.shape.size()) {
      sink.error(e.range, "found a number, expected a list: the literal is not nested evenly");
      return false;
    }
    auto value = literalValue(e, narrowed(tensor), "an element of `" + op.tensors[tensor].name + "`", sink);
    if (value)
      out.elements.push_back(*value);
    return value.has_value();
  }
  if (depth == out.shape.size()) {
    if (!out.elements.empty()) {
      sink.error(e.range, "found a list, expected a number: the literal is not nested evenly");
      return false;
    }
    out.shape.push_back(int64_t(list->elements.size()));
  } else if (out.shape[depth] != int64_t(list->elements.size())) {
    sink.error(e.range, "a row of " + std::to_string(list->elements.size()) + ", expected " +
                            std::to_string(out.shape[depth]) + " as in the first");
    return false;
  }
  for (const ast::ExprPtr &element : list->elements)
    if (!flatten(*element, tensor, depth + 1, out))
      return false;
  return true;
}

std::optional<LiteralTensor> TestReader::literal(const ast::Expr &e, int64_t id) {
  const TensorParam &tensor = op.tensors[id];
  LiteralTensor result;
  result.range = e.range;
  if (!flatten(e, id, 0, result))
    return std::nullopt;
  bool group = !tensor.dims.empty() && tensor.dims[0].isGroup;
  size_t rank = tensor.dims.size() - (group ? 1 : 0);
  // An empty list says nothing of the axes inside it.
  bool empty = std::find(result.shape.begin(), result.shape.end(), 0) != result.shape.end();
  while (empty && result.shape.size() < rank + (group ? 1 : 0))
    result.shape.push_back(kDynamic);
  if (group ? result.shape.size() < rank : result.shape.size() != rank) {
    sink.error(e.range, "the literal has rank " + std::to_string(result.shape.size()) + ", `" + tensor.name +
                            "` has " + (group ? "at least " : "") + std::to_string(rank));
    return std::nullopt;
  }
  return result;
}

std::vector<LiteralTensor> TestReader::literals(const ast::Expr &e, int64_t id) {
  std::vector<LiteralTensor> result;
  const auto *list = ast::dynCast<ast::List>(&e);
  if (!op.tensors[id].isList) {
    if (auto one = literal(e, id))
      result.push_back(std::move(*one));
    return result;
  }
  for (size_t i = 0; list && i < list->elements.size(); ++i) {
    auto one = literal(*list->elements[i], id);
    if (!one)
      return {};
    result.push_back(std::move(*one));
  }
  if (result.empty())
    sink.error(e.range, "expected a list with one literal for each tensor of `" + op.tensors[id].name + "`");
  return result;
}

} // namespace tilegym::sem
