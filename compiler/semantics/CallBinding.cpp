// SPDX-License-Identifier: MIT
// Steps of a call in order: presence, dtypes, scalars, dims, checks, outputs. Each stops at its first errors, as later ones would
// only repeat them.
#include "compiler/semantics/CallBinding.h"
#include "compiler/semantics/Analyze.h"
#include "compiler/semantics/TileShape.h"
#include <algorithm>

namespace tilegym::sem {

CallShape CallShape::of(const OpModel &op) {
  CallShape call;
  call.tensors.resize(op.tensors.size());
  call.wanted.assign(op.tensors.size(), false);
  call.scalars.resize(op.scalars.size());
  call.dtypes.resize(op.typeVars.size());
  return call;
}

std::string CallError::text() const {
  std::string out = op;
  if (!argument.empty())
    out += ": argument `" + argument + "`";
  if (!found.empty())
    out += ": found " + found;
  if (!expected.empty())
    out += (found.empty() ? ": expected " : ", expected ") + expected;
  return help.empty() ? out : out + "; " + help;
}

namespace {

class Binder {
public:
  Binder(const OpModel &op, const CallShape &call, std::vector<CallError> &errors)
      : op(op), call(call), errors(errors), before(errors.size()) {}
  std::optional<BoundCall> run();

private:
  bool good() const { return errors.size() == before; }
  void fail(std::string argument, std::string found, std::string expected, SourceRange range,
            std::string help = {}) {
    errors.push_back(
        {op.name, std::move(argument), std::move(found), std::move(expected), std::move(help), range});
  }
  void presence();
  void dtypes();
  void scalars();
  void dims();
  void rank(const TensorParam &tensor, const std::vector<int64_t> &extents, const std::string &what);
  void bindDim(int64_t id);
  void agree(int64_t id);
  void axisAgrees(const TensorParam &tensor, size_t axis, size_t element,
                  const std::vector<int64_t> &extents);
  void choices();
  void checks();
  void outputs();
  std::optional<std::vector<int64_t>> computed(const TensorParam &tensor, size_t element);
  std::optional<int64_t> evaluate(const Expr &e, size_t element, const std::string &argument);
  std::string elementName(const TensorParam &tensor, size_t element) const {
    return tensor.isList ? tensor.name + "[" + std::to_string(element) + "]" : tensor.name;
  }

  const OpModel &op;
  const CallShape &call;
  std::vector<CallError> &errors;
  const size_t before;
  BoundCall result;
};

/// Where axis `axis` as written lies in an array: axes after a group are counted from the back.
size_t position(const TensorParam &tensor, size_t axis, size_t rank) {
  bool group = !tensor.dims.empty() && tensor.dims[0].isGroup;
  return group && axis > 0 ? rank - (tensor.dims.size() - axis) : axis;
}

size_t groupRank(const TensorParam &tensor, size_t rank) { return rank - (tensor.dims.size() - 1); }

void Binder::presence() {
  result.spec.present.resize(op.tensors.size());
  for (size_t t = 0; t < op.tensors.size(); ++t) {
    const TensorParam &tensor = op.tensors[t];
    bool given = !call.tensors[t].empty();
    if (tensor.role == Role::Output)
      result.spec.present[t] = !tensor.optional || given || call.wanted[t];
    else
      result.spec.present[t] = given;
    if (tensor.role != Role::Output && !given && !tensor.optional && !tensor.isList)
      fail(tensor.name, "nothing", "a tensor", tensor.range);
    if (!tensor.isList && call.tensors[t].size() > 1)
      fail(tensor.name, std::to_string(call.tensors[t].size()) + " tensors", "one", tensor.range);
    if (tensor.isList && !tensor.optional)
      result.spec.present[t] = true;
  }
}

void Binder::dtypes() {
  std::vector<std::optional<DType>> bound(op.typeVars.size());
  std::vector<std::string> from(op.typeVars.size());
  for (size_t v = 0; v < op.typeVars.size(); ++v) {
    const TypeVar &var = op.typeVars[v];
    if (var.isArgument && call.dtypes[v]) {
      bound[v] = call.dtypes[v];
      from[v] = var.name;
    } else if (var.choices.size() == 1) {
      bound[v] = var.choices[0];
    }
  }
  for (size_t t = 0; t < op.tensors.size(); ++t) {
    const TensorParam &tensor = op.tensors[t];
    const TypeVar &var = op.typeVars[tensor.typeVar];
    for (size_t i = 0; i < call.tensors[t].size(); ++i) {
      DType found = call.tensors[t][i].dtype;
      auto &want = bound[tensor.typeVar];
      if (want && *want != found) {
        std::string why = from[tensor.typeVar].empty() ? "" : " as `" + from[tensor.typeVar] + "` has";
        fail(elementName(tensor, i), "dtype " + std::string(name(found)), std::string(name(*want)) + why,
             tensor.range);
      } else if (std::find(var.choices.begin(), var.choices.end(), found) == var.choices.end()) {
        std::string all;
        for (DType choice : var.choices)
          all += (all.empty() ? "" : " | ") + std::string(name(choice));
        fail(elementName(tensor, i), "dtype " + std::string(name(found)), all, tensor.range);
      } else if (!want) {
        want = found;
        from[tensor.typeVar] = tensor.name;
      }
    }
  }
  for (size_t v = 0; v < op.typeVars.size(); ++v) {
    if (!bound[v] && good())
      fail(op.typeVars[v].name, "nothing", "a dtype", {}, "no tensor that was given has it");
    result.spec.dtypes.push_back(
        bound[v].value_or(op.typeVars[v].choices.empty() ? DType::F32 : op.typeVars[v].choices[0]));
  }
}

void Binder::scalars() {
  result.spec.consts.resize(op.scalars.size());
  result.values.scalars.resize(op.scalars.size());
  for (size_t s = 0; s < op.scalars.size(); ++s) {
    const ScalarParam &scalar = op.scalars[s];
    DType dtype = result.spec.dtypes[scalar.typeVar];
    std::optional<Constant> value = call.scalars[s] ? call.scalars[s] : scalar.defaultValue;
    if (!value) {
      fail(scalar.name, "nothing", std::string(name(dtype)), scalar.range);
      continue;
    }
    if (isFloat(dtype))
      value = Constant{roundToDType(value->asFloat(), dtype)};
    else if (value->isFloat() ||
             (isInt(dtype) &&
              !fitsDType(value->asInt(), dtype == DType::U64 ? DType::U64 : DType::Index, dtype)))
      fail(scalar.name, toString(*value), std::string(name(dtype)), scalar.range);
    else if (isBool(dtype))
      value = Constant{value->asBool()};
    if (scalar.isConst &&
        std::find(scalar.choices.begin(), scalar.choices.end(), *value) == scalar.choices.end()) {
      std::string all, text = toString(*value);
      for (size_t i = 0; i < scalar.choices.size(); ++i)
        all += (i ? " | " : "") +
               (scalar.enumerators.empty() ? toString(scalar.choices[i]) : scalar.enumerators[i]);
      fail(scalar.name, text, all, scalar.range,
           "a const takes the values that the spec lists; to add one, list it there and compile again");
    }
    result.values.scalars[s] = value;
    if (scalar.isConst)
      result.spec.consts[s] = *value;
  }
}

void Binder::rank(const TensorParam &tensor, const std::vector<int64_t> &extents, const std::string &what) {
  bool group = !tensor.dims.empty() && tensor.dims[0].isGroup;
  size_t want = tensor.dims.size() - (group ? 1 : 0);
  if (group ? extents.size() < want : extents.size() != want)
    fail(what, "rank " + std::to_string(extents.size()), (group ? "at least " : "") + std::to_string(want),
         tensor.range);
  for (int64_t extent : extents)
    if (extent < 0)
      fail(what, "extent " + std::to_string(extent), "at least 0", tensor.range);
}

void Binder::bindDim(int64_t id) {
  const DimVar &dim = op.dims[id];
  if (dim.bindTensor < 0)
    return;
  const TensorParam &tensor = op.tensors[dim.bindTensor];
  const auto &arrays = call.tensors[dim.bindTensor];
  size_t axis = size_t(dim.bindAxis);
  if (dim.perElement) {
    for (const ArrayShape &array : arrays)
      result.values.lists[id].push_back(array.extents[position(tensor, axis, array.extents.size())]);
    return;
  }
  if (arrays.empty()) { // bound by an optional tensor alone, which is absent
    result.values.dims[id] = 0;
    return;
  }
  const std::vector<int64_t> &extents = arrays[0].extents;
  if (dim.isGroup) {
    result.groups[id].assign(extents.begin(),
                             extents.begin() + std::ptrdiff_t(groupRank(tensor, extents.size())));
    int64_t product = 1;
    for (int64_t extent : result.groups[id])
      if (__builtin_mul_overflow(product, extent, &product))
        return fail(tensor.name, "leading dims " + shapeText(result.groups[id]), "fewer than 2^63 rows",
                    tensor.range);
    result.values.dims[id] = product;
    return;
  }
  result.values.dims[id] = extents[position(tensor, axis, extents.size())];
  if (!tensor.dims[axis].orOne || result.values.dims[id] != 1)
    return;
  // Every use says `|1`: the dim is what any of them has that is not 1.
  for (size_t t = 0; t < op.tensors.size(); ++t)
    for (size_t a = 0; a < op.tensors[t].dims.size(); ++a)
      if (op.tensors[t].dims[a].dim == id && op.tensors[t].role != Role::Output && !call.tensors[t].empty()) {
        const std::vector<int64_t> &other = call.tensors[t][0].extents;
        if (int64_t extent = other[position(op.tensors[t], a, other.size())]; extent != 1)
          result.values.dims[id] = extent;
      }
}

std::optional<int64_t> Binder::evaluate(const Expr &e, size_t element, const std::string &argument) {
  HostValues values = result.values;
  values.locals = {Constant{int64_t(element)}};
  Evaluated value = evaluateHost(e, values);
  if (value)
    return value.value->asInt();
  fail(argument, "", "a dim that can be computed: " + value.error, e.range);
  return std::nullopt;
}

void Binder::axisAgrees(const TensorParam &tensor, size_t axis, size_t element,
                        const std::vector<int64_t> &extents) {
  const DimUse &use = tensor.dims[axis];
  std::string argument = elementName(tensor, element);
  if (use.isGroup) {
    std::vector<int64_t> found(extents.begin(),
                               extents.begin() + std::ptrdiff_t(groupRank(tensor, extents.size())));
    if (found != result.groups[use.dim])
      fail(argument, "leading dims " + shapeText(found),
           shapeText(result.groups[use.dim]) + " as `" + op.tensors[op.dims[use.dim].bindTensor].name +
               "` has",
           use.range);
    return;
  }
  if (!use.expr)
    return;
  auto want = evaluate(*use.expr, element, argument);
  int64_t found = extents[position(tensor, axis, extents.size())];
  if (!want || found == *want || (use.orOne && found == 1))
    return;
  std::string expected = std::to_string(*want) + (use.orOne ? " or 1" : "");
  if (use.dim >= 0 && op.dims[use.dim].bindTensor >= 0)
    expected +=
        " (`" + op.dims[use.dim].name + "`, from `" + op.tensors[op.dims[use.dim].bindTensor].name + "`)";
  else
    expected += " (`" + sourceText(use.range) + "`)";
  fail(argument,
       "extent " + std::to_string(found) + " along axis " +
           std::to_string(position(tensor, axis, extents.size())),
       expected, use.range);
}

void Binder::dims() {
  result.values.dims.assign(op.dims.size(), kDynamic);
  result.values.lists.resize(op.dims.size());
  result.groups.resize(op.dims.size());
  result.values.lengths.assign(op.tensors.size(), kDynamic);
  for (size_t t = 0; t < op.tensors.size(); ++t) {
    const TensorParam &tensor = op.tensors[t];
    if (tensor.isList && tensor.role != Role::Output)
      result.values.lengths[t] = int64_t(call.tensors[t].size());
    for (size_t i = 0; i < call.tensors[t].size(); ++i)
      rank(tensor, call.tensors[t][i].extents, elementName(tensor, i));
  }
  if (!good())
    return;
  for (size_t id = 0; id < op.dims.size(); ++id)
    bindDim(int64_t(id));
  // Lists that share a dim have one length.
  for (size_t t = 0; t < op.tensors.size(); ++t)
    for (const DimUse &use : op.tensors[t].dims)
      if (use.dim >= 0 && op.dims[use.dim].perElement && op.tensors[t].role != Role::Output &&
          call.tensors[t].size() != result.values.lists[use.dim].size()) {
        fail(op.tensors[t].name, std::to_string(call.tensors[t].size()) + " tensors",
             std::to_string(result.values.lists[use.dim].size()) + " as `" +
                 op.tensors[op.dims[use.dim].bindTensor].name + "` has",
             use.range);
        break;
      }
  if (!good())
    return;
  for (size_t t = 0; t < op.tensors.size(); ++t)
    if (op.tensors[t].role != Role::Output)
      for (size_t i = 0; i < call.tensors[t].size(); ++i)
        for (size_t axis = 0; axis < op.tensors[t].dims.size(); ++axis)
          axisAgrees(op.tensors[t], axis, i, call.tensors[t][i].extents);
}

void Binder::choices() {
  for (size_t id = 0; id < op.dims.size(); ++id) {
    const DimVar &dim = op.dims[id];
    result.spec.constDims.push_back(dim.choices.empty() ? kDynamic : result.values.dims[id]);
    if (dim.choices.empty() ||
        std::find(dim.choices.begin(), dim.choices.end(), result.values.dims[id]) != dim.choices.end())
      continue;
    std::string all;
    for (int64_t choice : dim.choices)
      all += (all.empty() ? "" : " | ") + std::to_string(choice);
    const TensorParam &tensor = op.tensors[dim.bindTensor];
    fail(tensor.name, "`" + dim.name + "` = " + std::to_string(result.values.dims[id]), all,
         tensor.dims[size_t(dim.bindAxis)].range,
         "a compile-time dim takes the values that the spec lists; to add one, list it there and compile "
         "again");
  }
}

void Binder::checks() {
  for (const Check &check : op.checks) {
    Evaluated holds = evaluateHost(*check.condition, result.values);
    if (!holds) {
      fail("", holds.error, "`" + check.message + "`", check.range);
      continue;
    }
    if (holds.value->asBool())
      continue;
    std::string found;
    HostUses uses = usesOf(*check.condition);
    for (int64_t id : uses.dims)
      if (!op.dims[id].perElement)
        found +=
            (found.empty() ? "" : ", ") + op.dims[id].name + " = " + std::to_string(result.values.dims[id]);
    for (int64_t id : uses.scalars)
      found += (found.empty() ? "" : ", ") + op.scalars[id].name + " = " +
               (op.scalars[id].enumerators.empty()
                    ? toString(*result.values.scalars[id])
                    : op.scalars[id].enumerators[size_t(result.values.scalars[id]->asInt())]);
    fail("", found, "`" + check.message + "`", check.range);
  }
}

std::optional<std::vector<int64_t>> Binder::computed(const TensorParam &tensor, size_t element) {
  std::vector<int64_t> shape;
  for (const DimUse &use : tensor.dims) {
    if (use.isGroup) {
      shape.insert(shape.end(), result.groups[use.dim].begin(), result.groups[use.dim].end());
      continue;
    }
    auto extent = evaluate(*use.expr, element, elementName(tensor, element));
    if (!extent)
      return std::nullopt;
    if (*extent < 0) {
      fail(elementName(tensor, element), "extent " + std::to_string(*extent), "at least 0", use.range);
      return std::nullopt;
    }
    shape.push_back(*extent);
  }
  return shape;
}

void Binder::outputs() {
  result.shapes.resize(op.tensors.size());
  for (size_t t = 0; t < op.tensors.size(); ++t) {
    const TensorParam &tensor = op.tensors[t];
    if (tensor.role != Role::Output) {
      for (const ArrayShape &array : call.tensors[t])
        result.shapes[t].push_back(array.extents);
      continue;
    }
    if (!result.spec.present[t])
      continue;
    size_t count = 1;
    if (tensor.isList) {
      count = 0;
      for (const DimUse &use : tensor.dims)
        if (use.dim >= 0 && op.dims[use.dim].perElement)
          count = result.values.lists[use.dim].size();
      result.values.lengths[t] = int64_t(count);
    }
    if (!call.tensors[t].empty() && call.tensors[t].size() != count)
      fail(tensor.name, std::to_string(call.tensors[t].size()) + " tensors", std::to_string(count),
           tensor.range);
    for (size_t i = 0; i < count && good(); ++i) {
      auto shape = computed(tensor, i);
      if (!shape)
        return;
      if (i < call.tensors[t].size() && call.tensors[t][i].extents != *shape)
        fail(elementName(tensor, i), "shape " + shapeText(call.tensors[t][i].extents), shapeText(*shape),
             tensor.range);
      result.shapes[t].push_back(std::move(*shape));
    }
  }
}

std::optional<BoundCall> Binder::run() {
  using Step = void (Binder::*)();
  for (Step step : {&Binder::presence, &Binder::dtypes, &Binder::scalars, &Binder::dims, &Binder::choices}) {
    (this->*step)();
    if (!good())
      return std::nullopt;
  }
  result.values.dtypes = result.spec.dtypes;
  result.values.present = result.spec.present;
  checks();
  if (good())
    outputs();
  if (!good())
    return std::nullopt;
  return std::move(result);
}

} // namespace

std::optional<BoundCall> bindCall(const OpModel &op, const CallShape &call, std::vector<CallError> &errors) {
  return Binder(op, call, errors).run();
}

bool guardHolds(const OpModel &op, int64_t kernel, const BoundCall &call, int64_t smCount) {
  const KernelModel &model = op.kernels[size_t(kernel)];
  if (!model.guard)
    return true;
  HostValues values = call.values;
  values.smCount = smCount;
  Evaluated holds = evaluateHost(*model.guard, values);
  return holds && holds.value->asBool();
}

std::optional<Specialization> deriveFor(const OpModel &op, int64_t kernel, const BoundCall &call) {
  const KernelModel &model = op.kernels[size_t(kernel)];
  Specialization spec = call.spec;
  spec.kernel = kernel;
  for (size_t i = 0; i < model.tileParams.size(); ++i) {
    if (!model.derived[i])
      continue;
    Evaluated value = evaluateHost(*model.derived[i], call.values);
    if (!value)
      return std::nullopt;
    spec.params.push_back({model.tileParams[i], value.value->asInt()});
  }
  return spec;
}

} // namespace tilegym::sem
