// SPDX-License-Identifier: MIT
// Reads and judges `test` and `bench`: shapes of literals against dims, what lacks a value, tolerances, oracles and peers.
#include "compiler/semantics/TestModel.h"
#include "compiler/semantics/Analyze.h"
#include "compiler/semantics/TestSettings.h"
#include <algorithm>

namespace tilegym::sem {
namespace {

/// The section's keyword alone, for what a whole section lacks.
SourceRange head(SourceRange range, uint32_t length) {
  return {range.file, range.begin, std::min(range.end, range.begin + length)};
}

template <class T> const std::vector<T> &either(const std::vector<T> *own, const std::vector<T> *section) {
  return own->empty() ? *section : *own;
}

/// The number a dim is fixed to: one candidate, constant; a group's dims multiplied.
std::optional<int64_t> fixedDim(const std::vector<DimCandidate> &candidates) {
  if (candidates.size() != 1)
    return std::nullopt;
  int64_t product = 1;
  for (const ExprPtr &value : candidates[0].values) {
    if (value->op != Op::Const)
      return std::nullopt;
    product *= value->constant.asInt();
  }
  return product;
}

/// Of a literal of a tensor with so many dims, the first of which may be a group: the extent of one, a group's multiplied.
int64_t extentOf(const LiteralTensor &literal, size_t rank, size_t axis, bool isGroup) {
  if (!isGroup)
    return literal.shape[literal.shape.size() - (rank - axis)];
  int64_t product = 1;
  for (size_t i = 0; i + rank - 1 < literal.shape.size(); ++i)
    product *= literal.shape[i];
  return product;
}

bool isLiteral(const std::vector<Generator> &generators) {
  return generators.size() == 1 && generators[0].kind == Generator::Literal;
}

} // namespace

void TestReader::checkShapes(const TestSettings &section, const TestCaseModel &one) {
  auto check = [&](int64_t id, const LiteralTensor &literal) {
    const TensorParam &tensor = op.tensors[id];
    for (size_t axis = 0; axis < tensor.dims.size(); ++axis) {
      const DimUse &use = tensor.dims[axis];
      if (use.dim < 0 || op.dims[use.dim].perElement)
        continue;
      auto want = fixedDim(either(&one.settings.dims[use.dim], &section.dims[use.dim]));
      // As in TestCalls: a literal of the case comes before what the section says.
      const DimVar &dim = op.dims[use.dim];
      if (one.settings.dims[use.dim].empty() && dim.bindTensor >= 0 &&
          isLiteral(one.settings.tensors[dim.bindTensor]))
        want = extentOf(one.settings.tensors[dim.bindTensor][0].literals[0],
                        op.tensors[dim.bindTensor].dims.size(), size_t(dim.bindAxis), dim.isGroup);
      if (!want || *want == kDynamic)
        continue;
      const int64_t found = extentOf(literal, tensor.dims.size(), axis, use.isGroup);
      if (found == kDynamic || found == *want || (use.orOne && found == 1))
        continue;
      std::string what = use.isGroup ? (tensor.dims.size() == 1 ? " elements" : " rows")
                                     : " elements along axis " + std::to_string(axis);
      sink.error(literal.range, "the literal of `" + tensor.name + "` has " + std::to_string(found) + what +
                                    ", but " + op.dims[use.dim].name + " = " + std::to_string(*want));
      return;
    }
  };
  for (size_t id = 0; id < op.tensors.size(); ++id)
    for (const Generator &generator : one.settings.tensors[id])
      for (const LiteralTensor &literal : generator.literals)
        check(int64_t(id), literal);
  for (const Expectation &expect : one.expects)
    for (const LiteralTensor &literal : expect.literals)
      check(expect.tensor, literal);
}

void TestReader::checkComplete(const TestSettings &section, const TestSettings &own, SourceRange at) {
  for (size_t id = 0; id < op.dims.size(); ++id) {
    const DimVar &dim = op.dims[id];
    bool known = !either(&own.dims[id], &section.dims[id]).empty() ||
                 (dim.bindTensor >= 0 &&
                  isLiteral(either(&own.tensors[dim.bindTensor], &section.tensors[dim.bindTensor])));
    if (!known)
      sink.error(at, place + " does not say what `" + dim.name + "` is",
                 "add " + dim.name +
                     (dim.perElement        ? " = [64, 128]"
                      : dim.choices.empty() ? " = 64"
                                            : " in all"));
  }
  for (size_t id = 0; id < op.scalars.size(); ++id) {
    const ScalarParam &scalar = op.scalars[id];
    if (!scalar.defaultValue && either(&own.scalars[id], &section.scalars[id]).empty())
      sink.error(at, place + " does not say what `" + scalar.name + "` is, which has no default",
                 "add " + scalar.name + (scalar.isConst ? " in all" : " = 1"));
  }
  for (size_t id = 0; id < op.tensors.size(); ++id) {
    const TensorParam &tensor = op.tensors[id];
    const std::vector<DType> &said = either(&own.dtypes[tensor.typeVar], &section.dtypes[tensor.typeVar]);
    const std::vector<DType> &choices = said.empty() ? op.typeVars[tensor.typeVar].choices : said;
    bool floats = std::all_of(choices.begin(), choices.end(), [](DType type) { return isFloat(type); });
    if (tensor.role != Role::Output && !floats && either(&own.tensors[id], &section.tensors[id]).empty())
      sink.error(at, place + " does not say what is in `" + tensor.name + "`, whose values are not floats",
                 "add " + tensor.name + " = randint(lo, hi), iota, permutation or a literal");
  }
}

const ToleranceModel *TestModel::tolerance(DType dtype) const {
  for (const ToleranceModel &one : tolerances)
    if (one.dtype == dtype)
      return &one;
  return nullptr;
}

void mergeErrors(std::vector<SeenError> &into, const std::vector<SeenError> &more) {
  for (const SeenError &error : more) {
    auto same =
        std::find_if(into.begin(), into.end(), [&](const SeenError &e) { return e.dtype == error.dtype; });
    if (same == into.end())
      into.push_back(error);
    else
      same->relative = std::max(same->relative, error.relative);
  }
}

ToleranceKey toleranceKey(const OpModel &op) {
  // Where there are several names, the one that decides how the result is rounded.
  for (const TensorParam &tensor : op.tensors)
    if (const TypeVar &var = op.typeVars[size_t(tensor.typeVar)];
        tensor.role != Role::Input && !var.name.empty())
      return {tensor.typeVar, var.choices};
  for (size_t i = 0; i < op.typeVars.size(); ++i)
    if (!op.typeVars[i].name.empty())
      return {int64_t(i), op.typeVars[i].choices};
  ToleranceKey key;
  for (const TensorParam &tensor : op.tensors)
    if (tensor.role != Role::Input)
      if (DType dtype = op.typeVars[tensor.typeVar].choices[0];
          std::find(key.dtypes.begin(), key.dtypes.end(), dtype) == key.dtypes.end())
        key.dtypes.push_back(dtype);
  return key;
}

static void readTolerances(const OpModel &op, const ast::TestDecl &decl, TestModel &model,
                           DiagnosticSink &sink) {
  const size_t before = sink.numErrors();
  ToleranceKey key = toleranceKey(op);
  std::vector<std::string> names, missing;
  for (DType dtype : key.dtypes)
    names.emplace_back(name(dtype));
  for (const ast::Tolerance &tolerance : decl.tolerances) {
    auto dtype = parseDType(tolerance.dtype.name);
    if (!dtype || std::find(key.dtypes.begin(), key.dtypes.end(), *dtype) == key.dtypes.end()) {
      sink.error(tolerance.dtype.range,
                 "`" + tolerance.dtype.name + "` is no dtype that a tolerance is keyed by",
                 (key.typeVar >= 0 ? "it is keyed by `" + op.typeVars[key.typeVar].name + "`: "
                                   : "it is keyed by the outputs' dtypes: ") +
                     quotedList(names));
      continue;
    }
    if (model.tolerance(*dtype)) {
      sink.error(tolerance.dtype.range, "the tolerance of " + tolerance.dtype.name + " is set twice");
      continue;
    }
    ToleranceModel one;
    one.dtype = *dtype;
    const auto *pair = ast::dynCast<ast::Tuple>(tolerance.value.get());
    auto number = [&](const ast::Expr &e, ExprPtr *formula) -> double {
      ExprPtr value = checkHostFloat(e, {op, "a tolerance"}, "a tolerance", sink);
      if (value && value->op != Op::Const) {
        if (formula)
          *formula = value;
        else
          sink.error(e.range, "a relative tolerance is a literal",
                     "only atol of (rtol, atol) may be a formula of dims");
      }
      if (!value || value->op != Op::Const)
        return 0;
      if (!(value->constant.asFloat() >= 0))
        sink.error(e.range, "a tolerance cannot be " + toString(value->constant),
                   "it is at least 0; 0 is bit-equal");
      return value->constant.asFloat();
    };
    if (pair && pair->elements.size() != 2) {
      sink.error(tolerance.value->range, "a tolerance is one number or two", "write r, or (rtol, atol)");
    } else if (pair) {
      one.relative = number(*pair->elements[0], nullptr);
      one.absolute = number(*pair->elements[1], &one.absoluteOf);
      one.absoluteIsFactor = false;
    } else if (tolerance.value) {
      one.relative = one.absolute = number(*tolerance.value, nullptr);
    }
    model.tolerances.push_back(one);
  }
  for (DType dtype : key.dtypes)
    if (!model.tolerance(dtype))
      missing.emplace_back(name(dtype));
  SourceRange at = decl.toleranceRange.file ? head(decl.toleranceRange, 9) : head(decl.range, 4);
  if (!missing.empty() && sink.numErrors() == before)
    sink.error(at, "`tolerance` does not name " + quotedList(missing), "add e.g. " + missing[0] + ": 1e-3");
}

/// Whether the case takes the section's value of a setting, rather than its own.
static bool takesFromSection(const OpModel &op, const TestSettings &one, const std::string &name) {
  if (int64_t id = op.findDim(name); id >= 0) {
    const int64_t tensor = op.dims[size_t(id)].bindTensor;
    return one.dims[size_t(id)].empty() && !(tensor >= 0 && isLiteral(one.tensors[size_t(tensor)]));
  }
  if (int64_t id = op.findTypeVar(name); id >= 0)
    return one.dtypes[size_t(id)].empty();
  if (int64_t id = op.findScalar(name); id >= 0)
    return one.scalars[size_t(id)].empty();
  return one.tensors[size_t(op.findTensor(name))].empty();
}

/// The section's combinations are tests of their own where it says all that a test needs. Where it lists values of a dim it must; where
/// it does not, its settings complete the cases, and one that completes none would do nothing without a word.
static void decideCrossed(const OpModel &op, const ast::TestDecl &decl, TestReader &reader, TestModel &model,
                          DiagnosticSink &sink) {
  DiagnosticSink lacking;
  TestReader(op, "a test", lacking).checkComplete(model.settings, model.settings, head(decl.range, 4));
  bool listed = false;
  for (const ast::Setting &setting : decl.settings)
    listed |= setting.kind == ast::Setting::In && op.findDim(setting.name.name) >= 0;
  model.crossed = listed || (!decl.settings.empty() && !lacking.hasErrors());
  if (listed)
    reader.checkComplete(model.settings, model.settings, head(decl.range, 4));
  if (model.crossed)
    return;
  for (const ast::Setting &setting : decl.settings) {
    bool used = false;
    for (const TestCaseModel &one : model.cases)
      used |= takesFromSection(op, one.settings, setting.name.name);
    if (!used)
      sink.error(setting.range,
                 "`" + setting.name.name +
                     "` has no effect: each case says its own, and there are no combinations, as " +
                     lacking.all()[0].message,
                 lacking.all()[0].help + " here, or leave this out");
  }
}

TestModel readTest(const OpModel &op, const ast::TestDecl &decl, DiagnosticSink &sink) {
  TestModel model;
  const size_t before = sink.numErrors();
  TestReader reader(op, "a test", sink);
  model.settings = reader.empty();
  auto readAll = [&](const std::vector<ast::Setting> &settings, TestSettings &out) {
    for (bool dtypes : {true, false})
      for (const ast::Setting &setting : settings)
        if ((op.findTypeVar(setting.name.name) >= 0) == dtypes)
          reader.read(setting, out);
  };
  reader.narrow(&model.settings, nullptr);
  readAll(decl.settings, model.settings);
  bool expected = false;
  for (const ast::Case &written : decl.cases) {
    TestCaseModel one;
    one.name = written.name;
    one.range = written.range;
    one.settings = reader.empty();
    for (const TestCaseModel &earlier : model.cases)
      if (earlier.name == one.name)
        sink.error(head(written.range, 4), "there is a case \"" + one.name + "\" already");
    reader.narrow(&one.settings, &model.settings);
    readAll(written.settings, one.settings);
    for (const ast::Setting &expect : written.expects) {
      expected = true;
      int64_t id = op.findTensor(expect.name.name);
      if (id < 0 || op.tensors[id].role == Role::Input) {
        std::vector<std::string> known;
        for (const TensorParam &tensor : op.tensors)
          if (tensor.role != Role::Input)
            known.push_back(tensor.name);
        sink.error(expect.name.range, "`" + expect.name.name + "` is no output of `" + op.name + "`",
                   suggestion(expect.name.name, known));
      } else if (expect.value) {
        Expectation e{id, reader.literals(*expect.value, id), expect.range};
        if (!e.literals.empty())
          one.expects.push_back(std::move(e));
      }
    }
    reader.checkShapes(model.settings, one);
    model.cases.push_back(std::move(one));
  }
  if (!expected)
    sink.error(head(decl.range, 4), "no case says what is expected, as literal values",
               "add case \"by hand\" { ... expect y = [[0.5, 0.5]] }");
  // What lacks a value is only said where the values given are right, as one mistake would look like two.
  if (sink.numErrors() == before) {
    decideCrossed(op, decl, reader, model, sink);
    for (size_t i = 0; sink.numErrors() == before && i < decl.cases.size(); ++i)
      reader.checkComplete(model.settings, model.cases[i].settings, head(decl.cases[i].range, 4));
  }
  readTolerances(op, decl, model, sink);
  for (const ast::External &oracle : decl.oracles)
    if (oracle.backend.name != "torch")
      sink.error(oracle.backend.range, "unknown oracle `" + oracle.backend.name + "`",
                 "write oracle torch \"...\"");
  return model;
}

BenchModel readBench(const OpModel &op, const ast::BenchDecl &decl, DiagnosticSink &sink) {
  BenchModel model;
  const size_t before = sink.numErrors();
  TestReader reader(op, "a benchmark", sink);
  model.settings = reader.empty();
  if (decl.none) {
    if (decl.noneReason.empty())
      sink.error(head(decl.range, 5), "`bench none` does not say why", "write bench none \"why\"");
    return model;
  }
  for (const ast::Setting &setting : decl.settings) {
    ExprPtr *count = setting.name.name == "bytes"   ? &model.bytes
                     : setting.name.name == "flops" ? &model.flops
                                                    : nullptr;
    if (!count || setting.kind == ast::Setting::Where) {
      reader.read(setting, model.settings);
      continue;
    }
    if (*count)
      sink.error(setting.name.range, "`" + setting.name.name + "` is set twice");
    if (setting.kind != ast::Setting::Equals)
      sink.error(setting.name.range, "`" + setting.name.name + "` is one formula",
                 "write " + setting.name.name + " = ...");
    else if (setting.value)
      *count = checkHostIndex(*setting.value, {op, "a benchmark"}, "`" + setting.name.name + "`", sink);
  }
  if (!model.bytes && !model.flops && sink.numErrors() == before)
    sink.error(head(decl.range, 5), "`bench` states neither `bytes` nor `flops`",
               "say what the op must move or compute, e.g. bytes = 2 * R * N * sizeof(T)");
  if (sink.numErrors() == before)
    reader.checkComplete(model.settings, model.settings, head(decl.range, 5));
  for (const ast::External &peer : decl.peers)
    if (peer.backend.name != "torch" && peer.backend.name != "compile" && peer.backend.name != "triton")
      sink.error(peer.backend.range, "unknown peer `" + peer.backend.name + "`",
                 "write peer torch, peer compile or peer triton");
  return model;
}

void analyzeTest(const OpModel &op, const ast::TestDecl &test, DiagnosticSink &sink) {
  readTest(op, test, sink);
}
void analyzeBench(const OpModel &op, const ast::BenchDecl &bench, DiagnosticSink &sink) {
  readBench(op, bench, sink);
}

} // namespace tilegym::sem
