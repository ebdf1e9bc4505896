// SPDX-License-Identifier: MIT
// Arguments that are lists of tensors: each tensor is bound and checked as one that stands alone, with dims of its own; and no two share what is written.
#include "CallLists.h"
#include <cinttypes>
#include <new>
#include <utility>

namespace tilegym::runtime {

using namespace format;

ListRoom::ListRoom(const OpPlan &plan)
    : numLists(plan.numLists),
      memory(std::make_unique_for_overwrite<std::byte[]>(numLists * kMaxListLength * sizeof(BoundTensor))) {
  static_assert(alignof(BoundTensor) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}

// The thread's calls may be freed after what frees this.
static constinit thread_local ListRoom *spare = nullptr;
static constinit thread_local bool threadEnds = false;

std::unique_ptr<ListRoom> takeListRoom(const OpPlan &plan) {
  if (spare && spare->numLists >= plan.numLists)
    return std::unique_ptr<ListRoom>(std::exchange(spare, nullptr));
  return std::make_unique<ListRoom>(plan);
}

void keepListRoom(std::unique_ptr<ListRoom> room) {
  if (threadEnds || (spare && spare->numLists >= room->numLists))
    return;
  static thread_local struct Owner {
    ~Owner() {
      delete std::exchange(spare, nullptr);
      threadEnds = true;
    }
  } owner;
  (void)owner;
  delete std::exchange(spare, room.release());
}

std::string Call::nameOf(uint32_t tensor, size_t element) const {
  std::string name = Text(table.text(tensors[tensor].name)).data;
  return isList(tensor) && int64_t(element) >= 0 ? name + "[" + std::to_string(element) + "]" : name;
}

TilegymStatus Call::bindList(uint32_t id, const TilegymTensorList &given) {
  new (&bound[id]) BoundTensor; // of which nothing is ever given
  if (given.count > kMaxListLength)
    return wrong(id, "has %zu tensors, but a list has at most %u", given.count, kMaxListLength);
  if (given.count && !given.tensors)
    return wrong(id, "has %zu tensors, but their address is null", given.count);
  lists->lengths[id] = uint32_t(given.count);
  BoundTensor *views = lists->of(plan.tensors[id]);
  for (element = 0; element < int64_t(given.count); ++element) {
    BoundTensor &b = *new (views + element) BoundTensor;
    TRY(bindTensor(id, given.tensors[element], b));
  }
  element = -1;
  present |= uint64_t(1) << id;
  plain &= ~(uint64_t(1) << id);
  return TILEGYM_OK;
}

/// Nothing else may have the dtype of a list without tensors.
TilegymStatus Call::checkListDTypes() {
  return forEach(plan.lists & present, [&](uint32_t id) {
    uint8_t typeVar = plan.tensors[id].typeVar;
    return dtypes[typeVar] != kUnbound
               ? TILEGYM_OK
               : wrong(id, "has no tensors, so that its dtype %s follows from nothing that was given",
                       Text(table.text(typeVars[typeVar].name)).data);
  });
}

/// From the first input list that has it; all others must be as long.
TilegymStatus Call::bindListDim(uint32_t dim) {
  dimValues[dim] = 0;
  lists->counts[dim] = 0;
  lists->values[dim] = lists->valuesRoom[dim];
  uint32_t from = kNone;
  auto axisOf = [&](uint32_t id) {
    std::span<const DimUse> uses = table.get<DimUse>(tensors[id].dims);
    size_t axis = 0;
    while (axis < uses.size() && uses[axis].dim != dim)
      ++axis;
    return axis < uses.size() ? int(axis) : -1;
  };
  // Inputs come before outputs.
  return forEach(plan.lists & present, [&](uint32_t id) {
    int axis = axisOf(id);
    if (axis < 0)
      return TILEGYM_OK;
    uint32_t length = lists->lengths[id];
    if (from != kNone)
      return length == lists->counts[dim] ? TILEGYM_OK
                                          : wrong(id, "has %u tensors, expected %u as %s has", length,
                                                  lists->counts[dim], nameOf(from, size_t(-1)).c_str());
    from = id;
    lists->counts[dim] = length;
    std::span<const BoundTensor> of = views(id);
    for (uint32_t i = 0; i < length; ++i)
      lists->valuesRoom[dim][i] = of[i].shape[axis];
    return TILEGYM_OK;
  });
}

size_t Call::lengthOf(uint32_t tensor) const {
  for (const DimUse &use : table.get<DimUse>(tensors[tensor].dims))
    if (use.dim != kNone && plan.dims[use.dim].isOfElement)
      return lists->counts[use.dim];
  return 0;
}

TilegymStatus Call::checkLists(uint64_t which) {
  return forEachElement(which, [&](uint32_t id, BoundTensor &b) {
    std::span<const DimUse> uses = table.get<DimUse>(tensors[id].dims);
    for (size_t axis = 0; axis < uses.size(); ++axis)
      TRY(checkAxis(id, b, uses[axis], int(axis)));
    return TILEGYM_OK;
  });
}

/// Each tensor of a list that is written against all others, and each tensor that is written against those of lists.
TilegymStatus Call::checkListOverlap() {
  for (uint32_t id = 0; id < tensors.size(); ++id)
    for (uint32_t other = 0; plan.written >> id & 1 && other < tensors.size(); ++other) {
      bool isAgain = plan.written >> other & 1 && other < id; // from the other side
      if (isAgain || (!isList(id) && !isList(other)))
        continue;
      bool declared = tensors[id].aliasOf == other || tensors[other].aliasOf == id;
      std::span<const BoundTensor> mine = views(id), others = views(other);
      for (size_t i = 0; i < mine.size(); ++i)
        for (size_t k = id == other ? i + 1 : 0; k < others.size(); ++k) {
          if (mine[i].elements == 0 || others[k].elements == 0 || liesApart(mine[i], others[k]) ||
              provablyDisjoint(mine[i], others[k]) ||
              (declared && i == k && isList(id) == isList(other) && sameView(mine[i], others[k])))
            continue;
          return fail(TILEGYM_INVALID_ARGUMENT, "%s: %s: is written, but shares memory with %s%s",
                      Text(table.text(op.name)).data, nameOf(id, i).c_str(), nameOf(other, k).c_str(),
                      declared ? " other than as the same view, which alone is allowed"
                               : "; give it memory of its own");
        }
    }
  return TILEGYM_OK;
}

} // namespace tilegym::runtime
