// SPDX-License-Identifier: MIT
// Dims of a call: bound from inputs, then every axis must agree with them.
#include "Call.h"
#include <algorithm>
#include <cinttypes>

namespace tilegym::runtime {

using namespace format;

TilegymStatus Call::bindGroup(uint32_t dim) {
  dimValues[dim] = groupRanks[dim] = 0;
  uint64_t inputs = withGroup & ~plan.outputs;
  if (!inputs)
    return TILEGYM_OK;
  auto tensor = uint32_t(std::countr_zero(inputs));
  const BoundTensor &b = bound[tensor];
  groupRanks[dim] = b.leading;
  int64_t rows = 1;
  bool isEmpty = false, tooMany = false;
  for (int i = 0; i < b.leading; ++i) {
    isEmpty |= b.shape[i] == 0;
    tooMany |= __builtin_mul_overflow(rows, b.shape[i], &rows);
  }
  if (tooMany && !isEmpty) [[unlikely]]
    return wrong(tensor, "its %d leading axes have more than 2^63 rows", b.leading);
  dimValues[dim] = isEmpty ? 0 : rows;
  return TILEGYM_OK;
}

/// The extent of the first axis that must have it in full; else of the first that does not broadcast; 0 and false where no input that was
/// given has the dim.
bool Call::findDim(uint32_t dim) {
  int64_t &value = dimValues[dim];
  bool isKnown = false;
  auto take = [&](bool orOne) {
    for (uint32_t t = 0; t < tensors.size(); ++t) {
      std::span<const DimUse> uses = table.get<DimUse>(tensors[t].dims);
      if (tensors[t].role == Role::Output)
        continue;
      for (const BoundTensor &b : views(t))
        for (uint32_t a = 0; a < uses.size(); ++a) {
          if (uses[a].dim != dim || uses[a].isGroup || bool(uses[a].orOne) != orOne)
            continue;
          int64_t extent = b.shape[b.axis(int(a))];
          if (!isKnown || (orOne && value == 1))
            value = extent;
          isKnown = true;
        }
    }
  };
  value = 0;
  take(/*orOne=*/false);
  if (!isKnown)
    take(/*orOne=*/true);
  return isKnown;
}

TilegymStatus Call::wrongChoice(uint32_t dim) {
  return fail(TILEGYM_INVALID_ARGUMENT,
              "%s: dim %s is %" PRId64
              ", which is not one of the values it was compiled for: %s; add it to the op's list in the spec",
              Text(table.text(op.name)).data, Text(table.text(dims[dim].name)).data, dimValues[dim],
              NumberList(table.get<int64_t>(dims[dim].choices)).data);
}

TilegymStatus Call::bindDims() {
  for (uint32_t d = 0; d < plan.dims.size(); ++d) {
    const OpPlan::Dim &dim = plan.dims[d];
    if (dim.isGroup) {
      TRY(bindGroup(d));
      continue;
    }
    groupRanks[d] = 0;
    if (dim.isOfElement) [[unlikely]] {
      TRY(bindListDim(d));
      continue;
    }
    bool isKnown = true;
    if (dim.isKnown && bound[dim.tensor].given)
      dimValues[d] = bound[dim.tensor].shape[bound[dim.tensor].leading + dim.axis];
    else
      isKnown = findDim(d);
    if (dim.hasChoices && isKnown) {
      std::span<const int64_t> choices = table.get<int64_t>(dims[d].choices);
      if (std::find(choices.begin(), choices.end(), dimValues[d]) == choices.end())
        return wrongChoice(d);
    }
  }
  return TILEGYM_OK;
}

TilegymStatus Call::checkGroup(uint32_t id) {
  auto first = uint32_t(std::countr_zero(withGroup));
  const BoundTensor &b = bound[id], &r = bound[first];
  if (r.leading != b.leading) [[unlikely]]
    return wrong(id, "has %d leading axes, but %s has %d", b.leading,
                 Text(table.text(tensors[first].name)).data, r.leading);
  for (int i = 0; i < b.leading; ++i)
    if (r.shape[i] != b.shape[i]) [[unlikely]]
      return wrong(id, "axis %d has extent %" PRId64 ", expected %" PRId64 " as in %s", i, b.shape[i],
                   r.shape[i], Text(table.text(tensors[first].name)).data);
  return TILEGYM_OK;
}

TilegymStatus Call::checkAxis(uint32_t id, BoundTensor &b, const DimUse &use, int axis) {
  Evaluated want{};
  if (use.dim != kNone)
    want.value.i = dimOf(use.dim, size_t(element));
  else
    want = evaluate(table.get<Inst>(use.expr), values());
  if (want.error)
    return wrong(id, "the extent expected of axis %d cannot be computed: %s", axis, want.error);
  if (use.orOne && b.shape[axis] == 1) {
    if (want.value.i != 1) {
      b.strides[axis] = 0;
      plain &= ~(uint64_t(1) << id);
    }
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

TilegymStatus Call::checkDims(uint64_t which) {
  uint64_t firstOfGroup = withGroup & -withGroup;
  if (lists) [[unlikely]]
    TRY(checkLists(which));
  return forEach(which & present & ~plan.lists, [&](uint32_t id) {
    const OpPlan::Tensor &t = plan.tensors[id];
    BoundTensor &b = bound[id];
    if ((withGroup & ~firstOfGroup) >> id & 1)
      TRY(checkGroup(id));
    const int64_t *extents = b.shape + b.leading;
    for (int a = 0; a < t.trailing; ++a)
      if (t.dims[a] == OpPlan::kNoDim || extents[a] != dimValues[t.dims[a]])
        TRY(checkAxis(id, b, table.get<DimUse>(tensors[id].dims)[size_t(a + t.hasGroup)], b.leading + a));
    return TILEGYM_OK;
  });
}

TilegymStatus Call::extents(uint32_t tensor, int64_t shape[kMaxRank], int *rank, size_t element) {
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
      shape[n] = dimOf(use.dim, element);
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
