// SPDX-License-Identifier: MIT
// Dims of a call: bound from inputs, then every axis must agree with them.
#include "Call.h"
#include <algorithm>
#include <cinttypes>

namespace tilegym::runtime {

using namespace format;

TilegymStatus Call::bindGroup(uint32_t dim) {
  auto take = [&](uint32_t tensor) {
    const BoundTensor &b = bound[tensor];
    groupRanks[dim] = b.leading;
    dimValues[dim] = 1;
    bool isEmpty = std::find(b.shape, b.shape + b.leading, 0) != b.shape + b.leading;
    for (int i = 0; i < b.leading; ++i)
      if (!isEmpty && __builtin_mul_overflow(dimValues[dim], b.shape[i], &dimValues[dim]))
        return wrong(tensor, "its %d leading axes have more than 2^63 rows", b.leading);
    if (isEmpty)
      dimValues[dim] = 0;
    return TILEGYM_OK;
  };
  for (uint32_t t = 0; t < tensors.size(); ++t)
    if (bound[t].given && bound[t].hasGroup && tensors[t].role != Role::Output)
      return take(t);
  return TILEGYM_OK;
}

/// The extent of the first axis that must have it in full; else of the first that does not broadcast; 0 where no input that was given
/// has the dim.
TilegymStatus Call::bindDim(uint32_t dim) {
  int64_t &value = dimValues[dim];
  bool isKnown = false;
  // The place that the package names will do nearly always.
  if (dims[dim].bindTensor != kNone && bound[dims[dim].bindTensor].given) {
    uint32_t t = dims[dim].bindTensor, a = dims[dim].bindAxis;
    const DimUse &use = table.get<DimUse>(tensors[t].dims)[a];
    isKnown = use.dim == dim && !use.isGroup && !use.orOne && tensors[t].role != Role::Output;
    if (isKnown)
      value = bound[t].shape[bound[t].axis(int(a))];
  }
  auto take = [&](bool orOne) {
    for (uint32_t t = 0; t < tensors.size(); ++t) {
      std::span<const DimUse> uses = table.get<DimUse>(tensors[t].dims);
      if (!bound[t].given || tensors[t].role == Role::Output)
        continue;
      for (uint32_t a = 0; a < uses.size(); ++a) {
        if (uses[a].dim != dim || uses[a].isGroup || bool(uses[a].orOne) != orOne)
          continue;
        int64_t extent = bound[t].shape[bound[t].axis(int(a))];
        if (!isKnown || (orOne && value == 1))
          value = extent;
        isKnown = true;
      }
    }
  };
  if (!isKnown)
    take(/*orOne=*/false);
  if (!isKnown)
    take(/*orOne=*/true);
  std::span<const int64_t> choices = table.get<int64_t>(dims[dim].choices);
  if (!isKnown || choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end())
    return TILEGYM_OK;
  return fail(TILEGYM_INVALID_ARGUMENT,
              "%s: dim %s is %" PRId64
              ", which is not one of the values it was compiled for: %s; add it to the op's list in the spec",
              Text(table.text(op.name)).data, Text(table.text(dims[dim].name)).data, value,
              NumberList(choices).data);
}

TilegymStatus Call::bindDims() {
  for (uint32_t d = 0; d < dims.size(); ++d)
    TRY(dims[d].isGroup ? bindGroup(d) : bindDim(d));
  return TILEGYM_OK;
}

TilegymStatus Call::checkGroup(uint32_t id) {
  const BoundTensor &b = bound[id], &r = bound[firstOfGroup];
  if (r.leading != b.leading) [[unlikely]]
    return wrong(id, "has %d leading axes, but %s has %d", b.leading,
                 Text(table.text(tensors[firstOfGroup].name)).data, r.leading);
  for (int i = 0; i < b.leading; ++i)
    if (r.shape[i] != b.shape[i]) [[unlikely]]
      return wrong(id, "axis %d has extent %" PRId64 ", expected %" PRId64 " as in %s", i, b.shape[i],
                   r.shape[i], Text(table.text(tensors[firstOfGroup].name)).data);
  return TILEGYM_OK;
}

TilegymStatus Call::checkAxis(uint32_t id, const DimUse &use, int axis) {
  BoundTensor &b = bound[id];
  Evaluated want{};
  if (use.dim != kNone)
    want.value.i = dimValues[use.dim];
  else
    want = evaluate(table.get<Inst>(use.expr), values());
  if (want.error)
    return wrong(id, "the extent expected of axis %d cannot be computed: %s", axis, want.error);
  if (use.orOne && b.shape[axis] == 1) {
    if (want.value.i != 1)
      b.strides[axis] = 0;
    if (axis == b.rank - 1)
      b.lastExtent = want.value.i;
    return TILEGYM_OK;
  }
  if (b.shape[axis] == want.value.i)
    return TILEGYM_OK;
  Text name(use.dim != kNone ? table.text(dims[use.dim].name) : std::string_view("an expression"));
  return wrong(id, "axis %d has extent %" PRId64 ", expected %s = %" PRId64 "%s", axis, b.shape[axis],
               name.data, want.value.i, use.orOne ? " or 1" : "");
}

TilegymStatus Call::checkDims(bool outputs) {
  for (uint32_t id = 0; id < tensors.size(); ++id) {
    if (!bound[id].given || (tensors[id].role == Role::Output) != outputs)
      continue;
    const BoundTensor &b = bound[id];
    int axis = b.hasGroup ? b.leading - 1 : 0; // of the use that is looked at; a group comes first
    for (const DimUse &use : table.get<DimUse>(tensors[id].dims)) {
      bool agrees =
          use.isGroup ? id == firstOfGroup : use.dim != kNone && b.shape[axis] == dimValues[use.dim];
      if (!agrees)
        TRY(use.isGroup ? checkGroup(id) : checkAxis(id, use, axis));
      ++axis;
    }
  }
  return TILEGYM_OK;
}

TilegymStatus Call::extents(uint32_t tensor, int64_t shape[kMaxRank], int *rank) {
  int n = 0;
  for (const DimUse &use : table.get<DimUse>(tensors[tensor].dims)) {
    if (use.isGroup) {
      const BoundTensor *reference = nullptr;
      for (uint32_t t = 0; t < tensors.size() && !reference; ++t)
        if (bound[t].given && bound[t].hasGroup && tensors[t].role != Role::Output)
          reference = &bound[t];
      for (int i = 0; reference && i < reference->leading; ++i)
        shape[n++] = reference->shape[i];
      continue;
    }
    if (n == kMaxRank)
      return wrong(tensor, "would have more than %d axes", kMaxRank);
    if (use.dim != kNone) {
      shape[n] = dimValues[use.dim];
    } else {
      Evaluated e = evaluate(table.get<Inst>(use.expr), values());
      if (e.error)
        return wrong(tensor, "its extent cannot be computed: %s", e.error);
      shape[n] = e.value.i;
    }
    if (shape[n] < 0)
      return wrong(tensor, "would have extent %" PRId64 " on axis %d", shape[n], n);
    ++n;
  }
  *rank = n;
  return TILEGYM_OK;
}

} // namespace tilegym::runtime
