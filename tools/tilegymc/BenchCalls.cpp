// SPDX-License-Identifier: MIT
// Benchmark calls of other sizes than the spec lists.
#include "BenchCalls.h"
#include "compiler/interpreter/HostTensor.h"

namespace tilegym::cli {

static int64_t largestTensor(const sem::BoundCall &bound) {
  int64_t most = 0;
  for (const auto &list : bound.shapes)
    for (const auto &shape : list)
      most = std::max(most, interp::numElements(shape));
  return most;
}

std::optional<sem::TestCall> withDim(const sem::OpModel &op, const sem::TestCall &call, size_t dim,
                                     int64_t value) {
  sem::TestCall out = call;
  sem::HostValues values = call.bound.values;
  values.dims[dim] = value;
  for (size_t id = 0; id < op.tensors.size(); ++id)
    for (sem::ArrayShape &array : out.shape.tensors[id]) {
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

/// Of the first tensor's axes but the last, which decides what variants there are; -1: all are 1.
static int64_t longestDim(const sem::OpModel &op, const sem::TestCall &call) {
  int64_t longest = -1;
  if (op.tensors.empty())
    return longest;
  const std::vector<sem::DimUse> &uses = op.tensors[0].dims;
  for (size_t axis = 0; axis + (uses.size() > 1) < uses.size(); ++axis) {
    int64_t dim = uses[axis].dim;
    if (dim >= 0 && op.dims[size_t(dim)].choices.empty() && call.bound.values.dims[size_t(dim)] > 1 &&
        (longest < 0 || call.bound.values.dims[size_t(dim)] > call.bound.values.dims[size_t(longest)]))
      longest = dim;
  }
  return longest;
}

sem::TestCall smallEnough(const sem::OpModel &op, const sem::TestCall &call, int64_t elements) {
  sem::TestCall small = call;
  while (largestTensor(small.bound) > elements) {
    int64_t dim = longestDim(op, small);
    std::optional<sem::TestCall> less;
    if (dim >= 0)
      less = withDim(op, small, size_t(dim), small.bound.values.dims[size_t(dim)] / 2);
    if (!less)
      break;
    small = std::move(*less);
    small.name = call.name + ", " + op.dims[size_t(dim)].name + "=" +
                 std::to_string(small.bound.values.dims[size_t(dim)]);
  }
  return small;
}

int64_t hostInteger(const sem::ExprPtr &e, const sem::TestCall &call) {
  if (!e)
    return 0;
  sem::Evaluated value = sem::evaluateHost(*e, call.bound.values);
  return value && !value.unknown ? value.value->asInt() : 0;
}

} // namespace tilegym::cli
