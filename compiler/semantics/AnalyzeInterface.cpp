// SPDX-License-Identifier: MIT
// The header of an op: declares its names in order of appearance, then resolves what refers to them.
#include "compiler/semantics/Analyze.h"
#include "compiler/semantics/TileShape.h"
#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace tilegym::sem {
namespace {

class InterfaceAnalyzer {
public:
  InterfaceAnalyzer(OpModel &op, const ast::OpDecl &decl, DiagnosticSink &sink)
      : op(op), decl(decl), sink(sink) {}
  bool run();

private:
  // Declarations
  bool declare(const ast::BoundName &name, const char *kind);
  int64_t typeVar(const ast::BoundName &dtype, std::string_view user);
  int64_t fixedType(DType dtype);
  void tensor(const ast::Param &param, Role role);
  void scalar(const ast::Param &param);
  void axis(TensorParam &tensor, const ast::DimSpec &spec, size_t position);
  int64_t dim(const ast::Name &name, bool isGroup, bool perElement, Role role);
  // What refers to them
  void whereChoices(const ast::WhereItem &item);
  void typeChoices(TypeVar &var, const ast::WhereItem &item);
  void intChoices(const std::string &what, DType dtype, const ast::WhereItem &item,
                  const std::function<void(int64_t)> &add);
  void bindDims();
  void dimExpressions();
  void defaults();
  void aliases();
  void outputLists();
  void countInterfaces();
  void checks();
  void error(SourceRange range, std::string message, std::string help = {}) {
    sink.error(range, std::move(message), std::move(help));
  }

  OpModel &op;
  const ast::OpDecl &decl;
  DiagnosticSink &sink;
  std::map<std::string, SourceRange> declared;
  std::map<std::string, SourceRange> typeUses, dimUses; ///< first sight, for errors
  struct OpenDim {
    size_t tensor, axis;
    const ast::Expr *expr;
  };
  std::vector<OpenDim> openDims;
  std::set<std::string> misused; ///< dims reported once already
};

/// False (after an error) where the name is taken.
bool InterfaceAnalyzer::declare(const ast::BoundName &name, const char *kind) {
  if (isReserved(name.name)) {
    error(name.range, "`" + name.name + "` is a word of the language and cannot name a " + kind,
          "choose another name");
    return false;
  }
  auto [it, fresh] = declared.emplace(name.name, name.range);
  if (fresh)
    return true;
  Diagnostic note;
  note.severity = Severity::Note;
  note.range = it->second;
  note.message = "first declared here";
  sink.error(name.range, "`" + name.name + "` is declared twice").notes.push_back(note);
  return false;
}

int64_t InterfaceAnalyzer::fixedType(DType dtype) {
  for (size_t i = 0; i < op.typeVars.size(); ++i)
    if (op.typeVars[i].name.empty() && op.typeVars[i].choices[0] == dtype)
      return int64_t(i);
  op.typeVars.push_back({"", {dtype}, false});
  return int64_t(op.typeVars.size()) - 1;
}

int64_t InterfaceAnalyzer::typeVar(const ast::BoundName &dtype, std::string_view user) {
  if (auto fixed = parseDType(dtype.name)) {
    if (!isStorage(*fixed))
      error(dtype.range,
            "`" + std::string(user) + "` cannot have dtype " + dtype.name + ", which is never stored",
            "use i64 or i32");
    return fixedType(*fixed);
  }
  if (int64_t id = op.findTypeVar(dtype.name); id >= 0)
    return id;
  typeUses.emplace(dtype.name, dtype.range);
  op.typeVars.push_back({dtype.name, {}, false});
  return int64_t(op.typeVars.size()) - 1;
}

/// The dim a lone name stands for; -1 where an output's name is no dim (it may be a scalar) or after an error.
int64_t InterfaceAnalyzer::dim(const ast::Name &name, bool isGroup, bool perElement, Role role) {
  int64_t id = op.findDim(name.name);
  if (id >= 0) {
    const DimVar &known = op.dims[id];
    bool wrong = perElement != known.perElement || (isGroup && !known.isGroup);
    if (wrong && !misused.insert(name.name).second)
      return -1;
    if (perElement != known.perElement)
      error(name.range,
            perElement ? "`" + name.name + "[]` was one value for the whole op before"
                       : "`" + name.name + "` has one value for each list element",
            perElement ? "write " + name.name + ", or use another name" : "write " + name.name + "[]");
    else if (isGroup && !known.isGroup)
      error(name.range, "`*" + name.name + "` was a single dim before",
            "write " + name.name + ", or use another name");
    else
      return id;
    return -1;
  }
  if (role == Role::Output) {
    if (isGroup || perElement)
      error(name.range, "unknown dim `" + name.name + "`: no input has it",
            "dims of outputs come from inputs, scalars and consts");
    return -1;
  }
  if (!declare({name.name, name.range}, "dim"))
    return -1;
  op.dims.push_back({name.name, {}, isGroup, perElement, -1, -1});
  dimUses.emplace(name.name, name.range);
  return int64_t(op.dims.size()) - 1;
}

static ExprPtr dimExpr(const OpModel &op, int64_t id, SourceRange range) {
  auto expr = std::make_shared<Expr>();
  expr->type = scalarType(DType::Index);
  expr->index = id;
  expr->range = range;
  expr->op = Op::Dim;
  if (op.dims[id].perElement) {
    // The element number is local 0 of whoever asks.
    auto element = std::make_shared<Expr>();
    element->op = Op::Local;
    element->type = scalarType(DType::Index);
    expr->op = Op::ListDim;
    expr->operands = {element};
  }
  return expr;
}

void InterfaceAnalyzer::axis(TensorParam &tensor, const ast::DimSpec &spec, size_t position) {
  DimUse use;
  use.range = spec.range;
  use.orOne = spec.orOne;
  use.isGroup = spec.leading;
  const auto *name = ast::dynCast<ast::Name>(spec.expr.get());
  if (spec.leading && position != 0)
    error(spec.range, "`" + sourceText(spec.range) + "` must be the first axis",
          "leading dims stand in front of the others");
  if (spec.orOne && tensor.role == Role::Output)
    error(spec.range, "an output has one shape: `|1` is for inputs");
  if (spec.perElement && !tensor.isList)
    error(spec.range, "`" + tensor.name + "` is not a list, so it has no dims for each element",
          "write list " + tensor.name + ": ..., or leave out the []");
  if (!name && (spec.leading || spec.orOne || spec.perElement))
    error(spec.range, "expected a dim name here, found an expression");
  if (name)
    use.dim = dim(*name, spec.leading, spec.perElement, tensor.role);
  if (use.dim >= 0)
    use.expr = dimExpr(op, use.dim, spec.range);
  else if (spec.expr && (!name || (tensor.role == Role::Output && !spec.leading && !spec.perElement)))
    openDims.push_back({op.tensors.size(), tensor.dims.size(), spec.expr.get()});
  tensor.dims.push_back(std::move(use));
}

void InterfaceAnalyzer::tensor(const ast::Param &param, Role role) {
  TensorParam tensor;
  tensor.name = param.name.name;
  tensor.role = role;
  tensor.optional = param.type.optional;
  tensor.isList = param.isList;
  tensor.range = param.name.range;
  declare(param.name, "tensor");
  tensor.typeVar = typeVar(param.type.dtype, tensor.name);
  if (param.type.dims.size() > size_t(kMaxRank))
    error(param.type.range, "`" + tensor.name + "` has rank " + std::to_string(param.type.dims.size()) +
                                ", at most 8 is possible");
  for (size_t i = 0; i < param.type.dims.size(); ++i)
    axis(tensor, param.type.dims[i], i);
  if (param.defaultValue && role != Role::Output)
    error(param.defaultValue->range, "the tensor `" + tensor.name + "` cannot have a default value",
          "make it optional: " + tensor.name + ": ...?");
  op.arguments.push_back({true, int64_t(op.tensors.size())});
  op.tensors.push_back(std::move(tensor));
}

void InterfaceAnalyzer::scalar(const ast::Param &param) {
  ScalarParam scalar;
  scalar.name = param.name.name;
  scalar.isConst = param.isConst;
  scalar.range = param.name.range;
  declare(param.name, "scalar");
  if (param.isInout || param.isList)
    error(param.range,
          "only tensors can be `" + std::string(param.isInout ? "inout" : "list") + "`, `" + scalar.name +
              "` is a scalar",
          "a tensor has brackets: " + scalar.name + ": " + param.type.dtype.name + "[]");
  if (param.type.optional)
    error(param.type.range, "a scalar cannot be optional",
          "give it a default: " + scalar.name + ": " + param.type.dtype.name + " = 0");
  if (!param.enumerators.empty()) {
    scalar.typeVar = fixedType(DType::I32);
    for (const ast::BoundName &word : param.enumerators) {
      for (const std::string &known : scalar.enumerators)
        if (known == word.name)
          error(word.range, "`" + word.name + "` is listed twice");
      scalar.choices.push_back(Constant{int64_t(scalar.enumerators.size())});
      scalar.enumerators.push_back(word.name);
    }
    if (!param.isConst)
      error(param.range, "`" + scalar.name + "` is one of several names, which only a const can be",
            "write const " + scalar.name + ": ...");
    scalar.isConst = true;
  } else {
    scalar.typeVar = typeVar(param.type.dtype, scalar.name);
  }
  op.arguments.push_back({false, int64_t(op.scalars.size())});
  op.scalars.push_back(std::move(scalar));
}

// ---------------------------------------------------------------- where

void InterfaceAnalyzer::typeChoices(TypeVar &var, const ast::WhereItem &item) {
  for (const ast::ExprPtr &choice : item.choices) {
    const auto *word = ast::dynCast<ast::Name>(choice.get());
    auto dtype = word ? parseDType(word->name) : std::nullopt;
    if (!dtype || !isStorage(*dtype)) {
      std::vector<std::string> known;
      for (DType type : allDTypes)
        if (isStorage(type))
          known.emplace_back(name(type));
      error(choice->range, "unknown dtype `" + sourceText(choice->range) + "`",
            suggestion(word ? word->name : "", known));
    } else if (std::find(var.choices.begin(), var.choices.end(), *dtype) != var.choices.end()) {
      error(choice->range, word->name + " is listed twice");
    } else {
      var.choices.push_back(*dtype);
    }
  }
}

void InterfaceAnalyzer::intChoices(const std::string &what, DType dtype, const ast::WhereItem &item,
                                   const std::function<void(int64_t)> &add) {
  std::vector<int64_t> seen;
  for (const ast::ExprPtr &choice : item.choices) {
    auto value = literalValue(*choice, {"", {dtype}, false}, what, sink);
    if (!value)
      continue;
    if (std::find(seen.begin(), seen.end(), value->asInt()) != seen.end())
      error(choice->range, toString(*value) + " is listed twice");
    seen.push_back(value->asInt());
    add(value->asInt());
  }
}

void InterfaceAnalyzer::whereChoices(const ast::WhereItem &item) {
  const std::string &name = item.name.name;
  auto once = [&](bool empty) {
    if (!empty)
      error(item.name.range, "the values of `" + name + "` are listed twice");
    return empty;
  };
  if (int64_t id = op.findTypeVar(name); id >= 0) {
    if (once(op.typeVars[id].choices.empty()))
      typeChoices(op.typeVars[id], item);
  } else if (id = op.findDim(name); id >= 0) {
    DimVar &dim = op.dims[id];
    if (dim.isGroup || dim.perElement)
      error(item.name.range, "`" + name + "` cannot be a compile-time dim", "only a dim of one axis can");
    else if (once(dim.choices.empty()))
      intChoices("a dim", DType::Index, item, [&](int64_t v) {
        if (v < 1)
          error(item.range, "a compile-time dim is at least 1, found " + std::to_string(v));
        dim.choices.push_back(v);
      });
  } else if (id = op.findScalar(name); id >= 0) {
    ScalarParam &scalar = op.scalars[id];
    DType dtype =
        op.typeVars[scalar.typeVar].choices.empty() ? DType::F32 : op.typeVars[scalar.typeVar].choices[0];
    if (!scalar.isConst || !scalar.enumerators.empty() || !isInt(dtype))
      error(item.name.range, "only an integer const takes a list of values, `" + name + "` is none",
            scalar.isConst ? "" : "write const " + name + ": i32 in the signature");
    else if (once(scalar.choices.empty()))
      intChoices("`" + name + "`", dtype, item, [&](int64_t v) { scalar.choices.push_back(Constant{v}); });
  } else {
    std::vector<std::string> known;
    for (const TypeVar &var : op.typeVars)
      if (!var.name.empty())
        known.push_back(var.name);
    for (const DimVar &dim : op.dims)
      known.push_back(dim.name);
    error(item.name.range, "`where` lists values of `" + name + "`, which the signature does not name",
          suggestion(name, known));
  }
}

// ---------------------------------------------------------------- after all names are known

/// A dim takes its value where that is surest: from a tensor always given, on an axis that must have the full extent.
void InterfaceAnalyzer::bindDims() {
  std::vector<int> best(op.dims.size(), 100);
  for (size_t t = 0; t < op.tensors.size(); ++t) {
    const TensorParam &tensor = op.tensors[t];
    if (tensor.role == Role::Output)
      continue;
    for (size_t a = 0; a < tensor.dims.size(); ++a) {
      const DimUse &use = tensor.dims[a];
      if (use.dim < 0 || (op.dims[use.dim].isGroup && !use.isGroup))
        continue;
      int cost = (use.orOne ? 2 : 0) + (tensor.optional ? 4 : 0) +
                 (tensor.isList && !op.dims[use.dim].perElement ? 1 : 0);
      if (cost < best[use.dim]) {
        best[use.dim] = cost;
        op.dims[use.dim].bindTensor = int64_t(t);
        op.dims[use.dim].bindAxis = int64_t(a);
      }
    }
  }
  // A dtype that no tensor is sure to bring is said by the caller.
  for (TypeVar &var : op.typeVars) {
    if (var.name.empty())
      continue;
    var.isArgument = true;
    for (const TensorParam &tensor : op.tensors)
      if (&op.typeVars[tensor.typeVar] == &var && tensor.role != Role::Output && !tensor.optional)
        var.isArgument = false;
  }
}

void InterfaceAnalyzer::dimExpressions() {
  for (const OpenDim &open : openDims) {
    TensorParam &tensor = op.tensors[open.tensor];
    bool output = tensor.role == Role::Output;
    HostScope scope{op, "a dim of " + std::string(output ? "an output" : "an input")};
    scope.scalars = output;
    tensor.dims[open.axis].expr = checkHostIndex(*open.expr, scope, "a dim", sink);
  }
}

void InterfaceAnalyzer::defaults() {
  auto scalarOf = [&](size_t i) -> ScalarParam & { return op.scalars[i]; };
  size_t next = 0;
  for (const ast::Param &param : decl.params) {
    if (param.type.hasShape)
      continue;
    ScalarParam &scalar = scalarOf(next++);
    const std::vector<DType> &choices = op.typeVars[scalar.typeVar].choices;
    if (choices.empty())
      continue;
    if (scalar.isConst && scalar.enumerators.empty()) {
      if (isBool(choices[0]))
        scalar.choices = {Constant{false}, Constant{true}};
      else if (!isInt(choices[0]))
        error(param.name.range,
              "the const `" + scalar.name + "` is " + std::string(name(choices[0])) +
                  ", expected bool, an integer or a list of names",
              "leave out `const` for a run-time scalar");
      else if (scalar.choices.empty())
        error(param.name.range, "the const `" + scalar.name + "` has no values",
              "list them: where " + scalar.name + ": 1 | 2");
    }
    if (param.defaultValue)
      scalar.defaultValue = scalarLiteral(*param.defaultValue, op, scalar, sink);
  }
  for (const ast::Param &result : decl.results) {
    int64_t id = op.findTensor(result.name.name);
    if (id >= 0 && result.defaultValue && !op.typeVars[op.tensors[id].typeVar].choices.empty())
      op.tensors[id].fill = literalValue(*result.defaultValue, op.typeVars[op.tensors[id].typeVar],
                                         "the fill value of `" + result.name.name + "`", sink);
  }
}

static bool sameShape(const TensorParam &a, const TensorParam &b) {
  if (a.dims.size() != b.dims.size())
    return false;
  for (size_t i = 0; i < a.dims.size(); ++i)
    if (a.dims[i].dim != b.dims[i].dim || a.dims[i].dim < 0 || a.dims[i].orOne || b.dims[i].orOne)
      return false;
  return true;
}

void InterfaceAnalyzer::aliases() {
  for (const ast::NamePair &pair : decl.aliases) {
    int64_t out = op.findTensor(pair.from.name), in = op.findTensor(pair.to.name);
    if (out < 0 || op.tensors[out].role != Role::Output)
      error(pair.from.range, "`" + pair.from.name + "` is not an output", "write: OUTPUT alias INPUT");
    else if (in < 0 || op.tensors[in].role == Role::Output)
      error(pair.to.range, "`" + pair.to.name + "` is not an input", "write: OUTPUT alias INPUT");
    else if (op.tensors[out].typeVar != op.tensors[in].typeVar)
      error(pair.to.range,
            "`" + pair.from.name + "` and `" + pair.to.name + "` cannot share a buffer: their dtypes differ");
    else if (!sameShape(op.tensors[out], op.tensors[in]))
      error(pair.to.range,
            "`" + pair.from.name + "` and `" + pair.to.name + "` cannot share a buffer: their shapes differ");
    else if (op.tensors[out].aliasOf >= 0)
      error(pair.from.range, "`" + pair.from.name + "` has an alias already");
    else if (op.tensors[out].fill)
      error(pair.from.range,
            "`" + pair.from.name + "` is filled before the op runs, which would destroy `" + pair.to.name +
                "`",
            "leave out the fill value or the alias");
    else
      op.tensors[out].aliasOf = in;
  }
}

/// How many an output list has follows from an input list with the same dim.
void InterfaceAnalyzer::outputLists() {
  for (const TensorParam &tensor : op.tensors) {
    bool counted = !tensor.isList || tensor.role != Role::Output;
    for (const DimUse &use : tensor.dims)
      counted |= use.dim >= 0 && op.dims[size_t(use.dim)].perElement;
    if (!counted)
      error(tensor.range, "nothing says how many tensors the output list `" + tensor.name + "` has",
            "give it a dim for each element that an input list has: " + tensor.name + ": T[M[]]");
  }
}

/// Each combination is code to build: past this, something should be an argument of the call.
void InterfaceAnalyzer::countInterfaces() {
  constexpr size_t limit = 1 << 16;
  size_t count = 1;
  auto times = [&](size_t n) { count = std::min(limit + 1, count * std::max<size_t>(1, n)); };
  for (const TypeVar &var : op.typeVars)
    times(var.choices.size());
  for (const ScalarParam &scalar : op.scalars)
    times(scalar.isConst ? scalar.choices.size() : 1);
  for (const DimVar &dim : op.dims)
    times(dim.choices.size());
  for (const TensorParam &tensor : op.tensors)
    times(tensor.optional ? 2 : 1);
  if (count > limit)
    error(decl.name.range,
          "dtypes, consts, compile-time dims and optional tensors make more than " + std::to_string(limit) +
              " variants of `" + op.name + "`",
          "make some of them run-time arguments");
}

void InterfaceAnalyzer::checks() {
  for (const ast::WhereItem &item : decl.where) {
    if (!item.condition)
      continue;
    HostScope scope{op, "a check"};
    ExprPtr condition = checkHostBool(*item.condition, scope, "a check", sink);
    if (!condition)
      continue;
    if (condition->op == Op::Const && !condition->constant.asBool())
      error(item.condition->range, "this check never holds");
    op.checks.push_back(
        {condition, item.message.empty() ? sourceText(item.condition->range) : item.message, item.range});
  }
}

bool InterfaceAnalyzer::run() {
  size_t before = sink.numErrors();
  for (const ast::Param &param : decl.params) {
    if (!param.type.hasShape)
      scalar(param);
    else if (param.isConst)
      error(param.range, "`" + param.name.name + "` is a tensor and cannot be const");
    else
      tensor(param, param.isInout ? Role::Inout : Role::Input);
  }
  for (const ast::Param &result : decl.results) {
    if (!result.type.hasShape)
      error(result.range, "the output `" + result.name.name + "` is not a tensor",
            "a scalar result is a tensor of rank 0: " + result.name.name + ": " + result.type.dtype.name +
                "[]");
    else if (result.isConst || result.isInout)
      error(result.range, "an output is neither const nor inout");
    else
      tensor(result, Role::Output);
  }
  bool writes = false;
  for (const TensorParam &tensor : op.tensors)
    writes |= tensor.role != Role::Input;
  if (!writes && sink.numErrors() == before)
    error(decl.name.range, "op `" + op.name + "` has no output", "add -> y: T[N], or mark a tensor inout");
  for (const ast::WhereItem &item : decl.where)
    if (!item.condition)
      whereChoices(item);
  for (const TypeVar &var : op.typeVars)
    if (var.choices.empty() && sink.numErrors() == before)
      error(typeUses[var.name], "the dtype `" + var.name + "` has no values",
            "list them: where " + var.name + ": f32 | f16 | bf16");
  if (sink.numErrors() != before)
    return false;
  bindDims();
  dimExpressions();
  defaults();
  aliases();
  checks();
  outputLists();
  countInterfaces();
  return sink.numErrors() == before;
}

} // namespace

bool analyzeInterface(OpModel &op, const ast::OpDecl &decl, DiagnosticSink &sink) {
  return InterfaceAnalyzer(op, decl, sink).run();
}

} // namespace tilegym::sem
