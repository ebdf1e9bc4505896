// SPDX-License-Identifier: MIT
// Benchmark calls of other sizes than the spec lists.
#include "BenchCalls.h"
#include "compiler/interpreter/HostTensor.h"
#include <algorithm>
#include <set>

namespace tilegym::cli {

/// The most elements of a tensor that has the dim, or an extent made of dims. Those of b stay where a product's rows become fewer.
static int64_t largestWith(const sem::OpModel &op, const sem::BoundCall &bound, int64_t dim) {
  int64_t most = 0;
  for (size_t id = 0; id < op.tensors.size(); ++id)
    if (std::any_of(op.tensors[id].dims.begin(), op.tensors[id].dims.end(),
                    [&](const sem::DimUse &use) { return use.dim == dim || use.dim < 0; }))
      for (const auto &shape : bound.shapes[id])
        most = std::max(most, interp::numElements(shape));
  return most;
}

std::optional<sem::TestCall> withDim(const sem::OpModel &op, const sem::TestCall &call, size_t dim,
                                     int64_t value) {
  sem::TestCall out = call;
  sem::HostValues values = call.bound.values;
  values.dims[dim] = value;
  if (op.dims[dim].perElement) // of each tensor of a list as far as it is larger
    for (int64_t &each : values.lists[dim])
      each = std::min(each, value);
  for (size_t id = 0; id < op.tensors.size(); ++id)
    for (size_t element = 0; element < out.shape.tensors[id].size(); ++element) {
      sem::ArrayShape &array = out.shape.tensors[id][element];
      values.locals = {sem::Constant{int64_t(element)}};
      array.extents.clear();
      for (const sem::DimUse &use : op.tensors[id].dims) {
        if (use.isGroup && size_t(use.dim) == dim) {
          array.extents.push_back(value);
          continue;
        }
        if (use.isGroup) {
          const auto &group = call.bound.groups[size_t(use.dim)];
          array.extents.insert(array.extents.end(), group.begin(), group.end());
          continue;
        }
        sem::Evaluated extent = sem::evaluateHost(*use.expr, values);
        if (!extent || extent.unknown)
          return std::nullopt;
        array.extents.push_back(extent.value->asInt());
      }
    }
  std::vector<sem::CallError> errors;
  std::optional<sem::BoundCall> bound = sem::bindCall(op, out.shape, errors);
  if (!bound)
    return std::nullopt;
  out.bound = std::move(*bound);
  return out;
}

/// A dim's value; of a dim of a list's tensors the greatest.
static int64_t extentIn(const sem::OpModel &op, const sem::TestCall &call, size_t dim) {
  if (!op.dims[dim].perElement)
    return call.bound.values.dims[dim];
  int64_t most = 0;
  for (int64_t each : call.bound.values.lists[dim])
    most = std::max(most, each);
  return most;
}

/// "8x2048" where all are equal, else "[1, 2, 3]".
static std::string listText(const std::vector<int64_t> &values) {
  if (values.size() > 1 && std::count(values.begin(), values.end(), values[0]) == int64_t(values.size()))
    return std::to_string(values.size()) + "x" + std::to_string(values[0]);
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? "," : "") + std::to_string(values[i]);
  return text + "]";
}

/// Of the first tensor's axes but the last, which decides what variants there are; -1: all are 1.
static int64_t longestDim(const sem::OpModel &op, const sem::TestCall &call) {
  int64_t longest = -1;
  auto extentOf = [&](int64_t dim) { return extentIn(op, call, size_t(dim)); };
  if (op.tensors.empty())
    return longest;
  const std::vector<sem::DimUse> &uses = op.tensors[0].dims;
  for (size_t axis = 0; axis + (uses.size() > 1) < uses.size(); ++axis) {
    int64_t dim = uses[axis].dim;
    if (dim >= 0 && op.dims[size_t(dim)].choices.empty() && extentOf(dim) > 1 &&
        (longest < 0 || extentOf(dim) > extentOf(longest)))
      longest = dim;
  }
  return longest;
}

sem::TestCall smallEnough(const sem::OpModel &op, const sem::TestCall &call, int64_t elements) {
  sem::TestCall small = call;
  for (;;) {
    int64_t dim = longestDim(op, small);
    if (dim < 0 || largestWith(op, small.bound, dim) <= elements)
      break;
    std::optional<sem::TestCall> less = withDim(op, small, size_t(dim), extentIn(op, small, size_t(dim)) / 2);
    if (!less)
      break;
    small = std::move(*less);
    small.name =
        call.name + ", " + op.dims[size_t(dim)].name + "=" + std::to_string(extentIn(op, small, size_t(dim)));
  }
  return small;
}

std::string callName(const sem::OpModel &op, const sem::TestCall &call) {
  std::string name;
  auto add = [&](const std::string &what, const std::string &value) {
    name += (name.empty() ? "" : " ") + what + "=" + value;
  };
  for (size_t i = 0; i < op.dims.size(); ++i)
    if (op.dims[i].perElement)
      add(op.dims[i].name, listText(call.bound.values.lists[i]));
    else
      add(op.dims[i].name, std::to_string(call.bound.values.dims[i]));
  const sem::Specialization &spec = call.bound.spec;
  for (size_t i = 0; i < op.typeVars.size(); ++i)
    if (op.typeVars[i].choices.size() > 1)
      add(op.typeVars[i].name, std::string(tilegym::name(spec.dtypes[i])));
  for (size_t i = 0; i < op.scalars.size(); ++i)
    if (op.scalars[i].isConst)
      add(op.scalars[i].name, std::to_string(spec.consts[i].asInt()));
  for (size_t i = 0; i < op.tensors.size(); ++i)
    if (op.tensors[i].optional && spec.present[i])
      name += " " + op.tensors[i].name;
  return name;
}

static std::optional<Shape> parseShape(const std::string &text) {
  Shape shape;
  for (const std::string &part : splitList({text})) {
    size_t equals = part.find('=');
    char *end = nullptr;
    long long value = equals == std::string::npos ? 0 : std::strtoll(part.c_str() + equals + 1, &end, 10);
    if (equals == std::string::npos || equals == 0 || *end || end == part.c_str() + equals + 1 || value < 1) {
      complain("--shape: found '%s', expected values of dims, such as R=4096,N=1024", text.c_str());
      return std::nullopt;
    }
    shape.emplace_back(part.substr(0, equals), value);
  }
  return shape;
}

std::vector<sem::TestCall> shapedCalls(const sem::OpModel &op, const sem::BenchModel &bench,
                                       const std::vector<Shape> &shapes, DiagnosticSink &sink) {
  std::vector<sem::TestCall> calls;
  std::set<std::string> names;
  SourceRange place = op.spec->bench->range;
  for (const Shape &shape : shapes.empty() ? std::vector<Shape>{{}} : shapes)
    for (sem::TestCall call : sem::benchCalls(op, bench, sink)) {
      bool fits = true;
      for (const auto &[name, value] : shape) {
        int64_t dim = op.findDim(name);
        std::optional<sem::TestCall> other;
        if (dim < 0 || !op.dims[size_t(dim)].choices.empty())
          sink.error(place, "--shape: '" + name + "' is no run-time dim of the op");
        else if (other = withDim(op, call, size_t(dim), value); !other)
          sink.error(place, "--shape: the op refuses " + name + "=" + std::to_string(value));
        fits &= other.has_value();
        if (other)
          call = std::move(*other);
      }
      call.name = callName(op, call);
      if (fits && names.insert(call.name).second)
        calls.push_back(std::move(call));
      if (sink.hasErrors())
        return {};
    }
  return calls;
}

std::optional<std::vector<Shape>> parseShapes(const std::vector<std::string> &texts) {
  std::vector<Shape> shapes;
  for (const std::string &text : texts) {
    std::optional<Shape> shape = parseShape(text);
    if (!shape)
      return std::nullopt;
    shapes.push_back(std::move(*shape));
  }
  return shapes;
}

int64_t hostInteger(const sem::ExprPtr &e, const sem::TestCall &call) {
  if (!e)
    return 0;
  sem::Evaluated value = sem::evaluateHost(*e, call.bound.values);
  return value && !value.unknown ? value.value->asInt() : 0;
}

} // namespace tilegym::cli
