// SPDX-License-Identifier: MIT
// One combination of settings at a time: dims first, as shapes and generators depend on them.
#include "compiler/semantics/TestCalls.h"
#include "compiler/semantics/Analyze.h"
#include <algorithm>

namespace tilegym::sem {
namespace {

constexpr size_t kMaxCalls = 1 << 16;
constexpr size_t kLongestGenerator = 24; ///< in the name of a call
constexpr size_t kListLength = 2;        ///< of a list tensor whose length nothing says

template <class T> const std::vector<T> &either(const std::vector<T> *own, const std::vector<T> *outer) {
  return own && !own->empty() ? *own : *outer;
}

class CallMaker {
public:
  CallMaker(const OpModel &op, const TestSettings &section, const TestCaseModel *one, SourceRange range,
            DiagnosticSink &sink, const Sizes *sizes = nullptr)
      : op(op), section(section), own(one ? &one->settings : nullptr), testCase(one), range(range),
        sizes(sizes), sink(sink) {}
  /// Each combination also without the optional tensors that nothing is said of: each in turn, and all of them.
  void leaveOutOptionals();
  void run(std::vector<TestCall> &calls);

private:
  struct Digit {
    size_t size, at;
  };
  /// A literal of the case fixes the dims it binds, whatever the section lists for them.
  bool fixedByLiteral(size_t id) const {
    int64_t tensor = op.dims[id].bindTensor;
    return own && tensor >= 0 && own->tensors[size_t(tensor)].size() == 1 &&
           own->tensors[size_t(tensor)][0].kind == Generator::Literal;
  }
  bool isGiven(size_t id) const { return sizes && (*sizes)[id]; }
  const std::vector<DimCandidate> &dims(size_t id) const {
    static const std::vector<DimCandidate> none;
    if (isGiven(id))
      return none;
    if (own && own->dims[id].empty() && fixedByLiteral(id))
      return own->dims[id];
    return either(own ? &own->dims[id] : nullptr, &section.dims[id]);
  }
  const std::vector<DType> &dtypes(size_t id) const {
    const auto &said = either(own ? &own->dtypes[id] : nullptr, &section.dtypes[id]);
    return said.empty() ? op.typeVars[id].choices : said;
  }
  const std::vector<Constant> &scalars(size_t id) const {
    return either(own ? &own->scalars[id] : nullptr, &section.scalars[id]);
  }
  const std::vector<Generator> &tensors(size_t id) const {
    return either(own ? &own->tensors[id] : nullptr, &section.tensors[id]);
  }
  const Generator *chosen(size_t tensor) const {
    const auto &all = tensors(tensor);
    return all.empty() ? nullptr : &all[tensorDigit[tensor]];
  }

  bool hasOutput(const std::vector<size_t> &absent) const;
  bool isLeftOut(size_t tensor) const {
    const std::vector<size_t> &absent = leftOut[leftOutDigit];
    return std::find(absent.begin(), absent.end(), tensor) != absent.end();
  }
  std::string generatorText(size_t tensor) const;
  bool make(TestCall &call);
  void dtypesAndScalars(TestCall &call);
  void dimsFromLiterals();
  bool evaluateDims();
  bool shapeOf(size_t tensor, TestCall &call);
  bool fill(size_t tensor, TestCall &call);
  std::string nameOf(const TestCall &call) const;
  bool fail(SourceRange at, const std::string &text) {
    sink.error(at.file ? at : range, text);
    return false;
  }

  const OpModel &op;
  const TestSettings &section;
  const TestSettings *own;
  const TestCaseModel *testCase;
  SourceRange range;
  const Sizes *sizes; ///< what a caller says in place of the section's lists; null: nothing
  DiagnosticSink &sink;
  std::vector<size_t> dimDigit, dtypeDigit, scalarDigit, tensorDigit;
  std::vector<std::vector<size_t>> leftOut = {{}}; ///< sets of optional tensors; the first: none
  size_t leftOutDigit = 0;
  HostValues values;
  std::vector<std::vector<int64_t>> groups;
};

void CallMaker::dtypesAndScalars(TestCall &call) {
  call.shape = CallShape::of(op);
  values = HostValues();
  values.dims.assign(op.dims.size(), kDynamic);
  values.lists.assign(op.dims.size(), {});
  values.lengths.assign(op.tensors.size(), kDynamic);
  groups.assign(op.dims.size(), {});
  for (size_t id = 0; id < op.typeVars.size(); ++id) {
    values.dtypes.push_back(dtypes(id)[dtypeDigit[id]]);
    call.shape.dtypes[id] = values.dtypes.back();
  }
  for (size_t id = 0; id < op.scalars.size(); ++id) {
    call.shape.scalars[id] = scalars(id).empty() ? op.scalars[id].defaultValue : scalars(id)[scalarDigit[id]];
    values.scalars.push_back(call.shape.scalars[id]);
  }
  for (size_t id = 0; id < op.tensors.size(); ++id) {
    bool absent = isLeftOut(id) || (chosen(id) && chosen(id)->kind == Generator::Absent);
    values.present.push_back(!absent);
    call.shape.wanted[id] = !absent && op.tensors[id].role == Role::Output;
  }
}

/// Dims that are not said take their value from the literal that binds them.
void CallMaker::dimsFromLiterals() {
  for (size_t id = 0; id < op.dims.size(); ++id) {
    const DimVar &dim = op.dims[id];
    const Generator *generator = dim.bindTensor >= 0 ? chosen(size_t(dim.bindTensor)) : nullptr;
    if (!dims(id).empty() || !generator || generator->kind != Generator::Literal)
      continue;
    const TensorParam &tensor = op.tensors[size_t(dim.bindTensor)];
    for (const LiteralTensor &literal : generator->literals) {
      size_t fromBack = tensor.dims.size() - size_t(dim.bindAxis);
      if (dim.isGroup) {
        groups[id].assign(literal.shape.begin(),
                          literal.shape.end() - std::ptrdiff_t(tensor.dims.size() - 1));
        values.dims[id] = 1;
        for (int64_t extent : groups[id])
          values.dims[id] *= extent;
      } else if (dim.perElement) {
        values.lists[id].push_back(literal.shape[literal.shape.size() - fromBack]);
      } else {
        values.dims[id] = literal.shape[literal.shape.size() - fromBack];
      }
    }
  }
}

/// `SK = S + 5` may stand before S: whatever can be computed is, until nothing new comes.
bool CallMaker::evaluateDims() {
  std::vector<bool> done(op.dims.size(), false);
  for (size_t id = 0; id < op.dims.size(); ++id) {
    done[id] = dims(id).empty();
    if (!isGiven(id))
      continue;
    groups[id] = *(*sizes)[id];
    values.dims[id] = 1;
    for (int64_t extent : groups[id])
      values.dims[id] *= extent;
  }
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t id = 0; id < op.dims.size(); ++id) {
      if (done[id])
        continue;
      const DimCandidate &candidate = dims(id)[dimDigit[id]];
      std::vector<int64_t> extents;
      for (const ExprPtr &e : candidate.values) {
        Evaluated value = evaluateHost(*e, values);
        if (value.unknown)
          break;
        if (!value)
          return fail(e->range, "`" + op.dims[id].name + "`: " + value.error);
        if (value.value->asInt() < 0)
          return fail(e->range, "`" + op.dims[id].name + "` would be " + toString(*value.value));
        extents.push_back(value.value->asInt());
      }
      if (extents.size() < candidate.values.size())
        continue;
      done[id] = progress = true;
      if (op.dims[id].perElement) {
        values.lists[id] = extents;
        continue;
      }
      values.dims[id] = 1;
      for (int64_t extent : extents)
        values.dims[id] *= extent;
      groups[id] = extents;
    }
  }
  for (size_t id = 0; id < op.dims.size(); ++id)
    if (!done[id])
      return fail(dims(id)[dimDigit[id]].values[0]->range,
                  "`" + op.dims[id].name + "` depends on itself or on a dim that is not said");
  return true;
}

/// A literal may use the extent 1 that `B|1` allows; an empty one leaves axes open.
static void takeShape(const LiteralTensor &literal, std::vector<int64_t> &extents) {
  std::vector<int64_t> shape = literal.shape;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == kDynamic && i < extents.size())
      shape[i] = extents[i];
  extents = std::move(shape);
}

bool CallMaker::shapeOf(size_t id, TestCall &call) {
  const TensorParam &tensor = op.tensors[id];
  const Generator *generator = chosen(id);
  size_t count = 1;
  if (tensor.isList) {
    count = generator && generator->kind == Generator::Literal ? generator->literals.size() : kListLength;
    for (const DimUse &use : tensor.dims)
      if (use.dim >= 0 && op.dims[size_t(use.dim)].perElement)
        count = values.lists[size_t(use.dim)].size();
    values.lengths[id] = int64_t(count);
  }
  for (size_t element = 0; element < count; ++element) {
    ArrayShape array{values.dtypes[size_t(tensor.typeVar)], {}};
    values.locals = {Constant{int64_t(element)}};
    for (const DimUse &use : tensor.dims) {
      if (use.isGroup) {
        array.extents.insert(array.extents.end(), groups[size_t(use.dim)].begin(),
                             groups[size_t(use.dim)].end());
        continue;
      }
      Evaluated extent = evaluateHost(*use.expr, values);
      if (!extent)
        return fail(use.range, "a dim of `" + tensor.name + "`: " + extent.error);
      array.extents.push_back(extent.value->asInt());
    }
    if (generator && element < generator->literals.size())
      takeShape(generator->literals[element], array.extents);
    call.shape.tensors[id].push_back(std::move(array));
  }
  values.locals.clear();
  return true;
}

bool CallMaker::fill(size_t id, TestCall &call) {
  static const Generator standard{Generator::Normal, {}, {}, {}};
  const Generator &generator = chosen(id) ? *chosen(id) : standard;
  for (size_t element = 0; element < call.shape.tensors[id].size(); ++element) {
    Filling filling;
    filling.kind = generator.kind;
    if (&generator == &standard)
      filling.args = {0, 1};
    for (const ExprPtr &arg : generator.args) {
      Evaluated value = evaluateHost(*arg, values);
      if (!value)
        return fail(arg->range, "what is in `" + op.tensors[id].name + "`: " + value.error);
      filling.args.push_back(value.value->asFloat());
    }
    if (element < generator.literals.size())
      filling.literal = &generator.literals[element];
    call.fillings[id].push_back(std::move(filling));
  }
  return true;
}

std::string CallMaker::nameOf(const TestCall &call) const {
  std::string text = testCase ? testCase->name : "";
  auto add = [&](const std::string &name, const std::string &value) {
    text += (text.empty() ? "" : " ") + name + "=" + value;
  };
  auto list = [](const std::vector<int64_t> &extents) {
    std::string out = "[";
    for (size_t i = 0; i < extents.size(); ++i)
      out += (i ? "," : "") + std::to_string(extents[i]);
    return out + "]";
  };
  // A case's name says what it fixes; only what varies is added.
  for (size_t id = 0; id < op.dims.size(); ++id) {
    if (testCase && dims(id).size() < 2 && !isGiven(id))
      continue;
    if (op.dims[id].perElement)
      add(op.dims[id].name, list(values.lists[id]));
    else
      add(op.dims[id].name,
          op.dims[id].isGroup && groups[id].size() != 1 ? list(groups[id]) : std::to_string(values.dims[id]));
  }
  for (size_t id = 0; id < op.typeVars.size(); ++id)
    if (op.typeVars[id].choices.size() > 1 && (!testCase || dtypes(id).size() > 1))
      add(op.typeVars[id].name, std::string(name(values.dtypes[id])));
  for (size_t id = 0; id < op.scalars.size(); ++id) {
    const ScalarParam &scalar = op.scalars[id];
    if (scalars(id).size() > 1)
      add(scalar.name, scalar.enumerators.empty()
                           ? toString(*call.shape.scalars[id])
                           : scalar.enumerators[size_t(call.shape.scalars[id]->asInt())]);
  }
  for (size_t id = 0; id < op.tensors.size(); ++id)
    if (tensors(id).size() > 1 || isLeftOut(id))
      add(op.tensors[id].name, values.present[id] ? generatorText(id) : "None");
  return text;
}

/// The generator as written, where that is short and tells it from the others; else its number.
std::string CallMaker::generatorText(size_t tensor) const {
  const std::vector<Generator> &all = tensors(tensor);
  const std::string text = sourceText(all[tensorDigit[tensor]].range);
  size_t same = 0;
  for (const Generator &other : all)
    same += sourceText(other.range) == text;
  bool fits = same == 1 && text.size() <= kLongestGenerator && text.find('\n') == std::string::npos;
  return fits ? text : "#" + std::to_string(tensorDigit[tensor]);
}

bool CallMaker::hasOutput(const std::vector<size_t> &absent) const {
  for (size_t id = 0; id < op.tensors.size(); ++id)
    if (op.tensors[id].role != Role::Input && std::find(absent.begin(), absent.end(), id) == absent.end())
      return true;
  return false;
}

void CallMaker::leaveOutOptionals() {
  std::vector<size_t> optional;
  for (size_t id = 0; id < op.tensors.size(); ++id)
    if (op.tensors[id].optional && tensors(id).empty())
      optional.push_back(id);
  for (size_t id : optional)
    if (hasOutput({id}))
      leftOut.push_back({id});
  if (optional.size() > 1 && hasOutput(optional))
    leftOut.push_back(optional);
}

bool CallMaker::make(TestCall &call) {
  call.testCase = testCase;
  dtypesAndScalars(call);
  dimsFromLiterals();
  if (!evaluateDims())
    return false;
  call.fillings.resize(op.tensors.size());
  for (size_t id = 0; id < op.tensors.size(); ++id)
    if (op.tensors[id].role != Role::Output && values.present[id] && !(shapeOf(id, call) && fill(id, call)))
      return false;
  call.name = nameOf(call);
  call.seed = 1469598103934665603u; // FNV-1a
  for (char c : op.name + ":" + call.name)
    call.seed = (call.seed ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return true;
}

void CallMaker::run(std::vector<TestCall> &calls) {
  dimDigit.assign(op.dims.size(), 0);
  dtypeDigit.assign(op.typeVars.size(), 0);
  scalarDigit.assign(op.scalars.size(), 0);
  tensorDigit.assign(op.tensors.size(), 0);
  // The last digit runs fastest.
  std::vector<std::pair<size_t *, size_t>> digits = {{&leftOutDigit, leftOut.size()}};
  for (size_t id = 0; id < op.dims.size(); ++id)
    digits.emplace_back(&dimDigit[id], dims(id).size());
  for (size_t id = 0; id < op.tensors.size(); ++id)
    digits.emplace_back(&tensorDigit[id], tensors(id).size());
  for (size_t id = 0; id < op.scalars.size(); ++id)
    digits.emplace_back(&scalarDigit[id], scalars(id).size());
  for (size_t id = 0; id < op.typeVars.size(); ++id)
    digits.emplace_back(&dtypeDigit[id], dtypes(id).size());
  size_t combinations = 1, made = 0;
  for (auto &[digit, size] : digits)
    combinations = std::min(kMaxCalls + 1, combinations * std::max<size_t>(1, size));
  if (combinations > kMaxCalls) {
    sink.error(range, "these lists make more than " + std::to_string(kMaxCalls) + " calls",
               "shorten them, or use cases");
    return;
  }
  std::string refused;
  for (size_t n = 0; n < combinations; ++n) {
    TestCall call;
    if (!make(call))
      return;
    std::vector<CallError> errors;
    auto bound = bindCall(op, call.shape, errors);
    if (bound) {
      call.bound = std::move(*bound);
      calls.push_back(std::move(call));
      ++made;
    } else {
      bool byWhere = true; // a `where` speaks of the call as a whole
      for (const CallError &error : errors)
        byWhere = byWhere && error.argument.empty();
      refused = errors[0].text();
      // An op that needs an optional tensor after all, to know a dim, is not asked without it.
      if (leftOutDigit == 0 && (!byWhere || combinations == 1)) {
        sink.error(range, "`" + call.name + "` is no call of the op: " + refused);
        return;
      }
    }
    for (size_t i = digits.size(); i-- > 0;) {
      if (++*digits[i].first < digits[i].second)
        break;
      *digits[i].first = 0;
    }
  }
  if (made == 0)
    sink.error(range, "the op refuses every call that these lists make: " + refused);
}

SourceRange head(SourceRange range, uint32_t length) {
  return {range.file, range.begin, std::min(range.end, range.begin + length)};
}

} // namespace

std::vector<TestCall> testCalls(const OpModel &op, const TestModel &model, DiagnosticSink &sink) {
  std::vector<TestCall> calls;
  SourceRange range = op.spec->test ? head(op.spec->test->range, 4) : SourceRange{};
  if (model.crossed) {
    CallMaker section(op, model.settings, nullptr, range, sink);
    section.leaveOutOptionals();
    section.run(calls);
  }
  for (const TestCaseModel &one : model.cases)
    CallMaker(op, model.settings, &one, head(one.range, 4), sink).run(calls);
  return calls;
}

std::vector<TestCall> resizedCalls(const OpModel &op, const TestModel &model, const Sizes &sizes,
                                   const TestCaseModel *one) {
  std::vector<TestCall> calls;
  DiagnosticSink refused;
  CallMaker maker(op, model.settings, one, {}, refused, &sizes);
  if (!one)
    maker.leaveOutOptionals();
  maker.run(calls);
  return calls;
}

std::vector<TestCall> benchCalls(const OpModel &op, const BenchModel &model, DiagnosticSink &sink) {
  std::vector<TestCall> calls;
  if (op.spec->bench && !op.spec->bench->none)
    CallMaker(op, model.settings, nullptr, head(op.spec->bench->range, 5), sink).run(calls);
  return calls;
}

int64_t elementsOf(const TestCall &call) {
  int64_t all = 0;
  for (const auto &list : call.bound.shapes)
    for (const auto &shape : list) {
      int64_t count = 1;
      for (int64_t extent : shape)
        count *= extent;
      all += count;
    }
  return all;
}

} // namespace tilegym::sem
