// SPDX-License-Identifier: MIT
// The memory of a call: what each view reaches, that written views share nothing, how the group merges, and the facts that variants ask for.
#include "Call.h"
#include <algorithm>
#include <cinttypes>

namespace tilegym::runtime {

using namespace format;

/// Addresses of user space end far below this on every machine with a CUDA driver; sums of two such numbers never overflow.
static constexpr int64_t kEndOfAddresses = int64_t(1) << 60;

TilegymStatus Call::checkReach(uint32_t id) {
  BoundTensor &b = bound[id];
  auto address = reinterpret_cast<uint64_t>(b.given->data);
  // The usual case, whose sum is known.
  constexpr int64_t kSurely = kEndOfAddresses / 16;
  if (b.packed && b.elements < kSurely && address < uint64_t(kSurely)) {
    b.highest = b.elements * b.elementBytes;
    return TILEGYM_OK;
  }
  b.highest = b.elementBytes;
  for (int i = 0; i < b.rank; ++i) {
    int64_t reach = 0;
    bool fits = !__builtin_mul_overflow(b.shape[i] - 1, int64_t(b.elementBytes), &reach) &&
                !__builtin_mul_overflow(b.strides[i], reach, &reach) && reach < kEndOfAddresses &&
                reach > -kEndOfAddresses;
    (reach < 0 ? b.lowest : b.highest) += fits ? reach : 0;
    if (!fits || address >= uint64_t(kEndOfAddresses) || int64_t(address) + b.lowest < 0 ||
        b.highest > kEndOfAddresses - int64_t(address))
      return wrong(
          id, "axis %d has extent %" PRId64 " and stride %" PRId64 ", which reaches beyond the address space",
          i, b.shape[i], b.strides[i]);
  }
  return TILEGYM_OK;
}

TilegymStatus Call::checkMemory() {
  for (uint32_t id = 0; id < tensors.size(); ++id) {
    BoundTensor &b = bound[id];
    if (!b.given || b.elements == 0)
      continue;
    if (!b.given->data)
      return wrong(id, "data is null, but it has %" PRId64 " elements", b.elements);
    if (reinterpret_cast<uintptr_t>(b.given->data) % uintptr_t(b.elementBytes))
      return wrong(id, "data at %p is not a multiple of its element's %d bytes", b.given->data,
                   b.elementBytes);
    TRY(checkReach(id));
    if (tensors[id].role != Role::Input && !elementsDiffer(b))
      return wrong(id, "is written, but its strides let several indices share an element");
  }
  return TILEGYM_OK;
}

TilegymStatus Call::checkOverlap() {
  for (uint32_t id = 0; id < tensors.size(); ++id) {
    if (!bound[id].given || tensors[id].role == Role::Input)
      continue;
    for (uint32_t other = 0; other < tensors.size(); ++other) {
      if (other == id || !bound[other].given || (tensors[other].role != Role::Input && other < id) ||
          liesApart(bound[id], bound[other]) || provablyDisjoint(bound[id], bound[other]))
        continue;
      bool declared = tensors[id].aliasOf == other || tensors[other].aliasOf == id;
      if (declared && sameView(bound[id], bound[other]))
        continue;
      return wrong(id, "is written, but shares memory with %s%s", Text(table.text(tensors[other].name)).data,
                   declared ? " other than as the same view, which alone is allowed"
                            : "; give it memory of its own");
    }
  }
  return TILEGYM_OK;
}

TilegymStatus Call::mergeGroup() {
  if (groupDim < 0)
    return TILEGYM_OK;
  uint32_t withGroup[kMaxTensors];
  size_t n = 0;
  for (uint32_t t = 0; t < tensors.size(); ++t)
    if (bound[t].given && bound[t].hasGroup)
      withGroup[n++] = t;
  group.rank = 0;
  for (int i = n ? bound[withGroup[0]].leading - 1 : -1; i >= 0; --i) {
    int64_t extent = bound[withGroup[0]].shape[i];
    if (extent == 1)
      continue;
    // Joins the dim inside it if it does so in every tensor. Views without elements may have any stride.
    bool joins = group.rank > 0;
    for (size_t t = 0; joins && t < n; ++t) {
      int64_t next = 0;
      joins = !__builtin_mul_overflow(group.strides[withGroup[t]][group.rank - 1],
                                      group.extents[group.rank - 1], &next) &&
              bound[withGroup[t]].strides[i] == next;
    }
    if (!joins) {
      int rank = group.rank++;
      group.extents[rank] = 1;
      for (size_t t = 0; t < n; ++t)
        group.strides[withGroup[t]][rank] = bound[withGroup[t]].strides[i];
    }
    int64_t &merged = group.extents[group.rank - 1];
    if (__builtin_mul_overflow(merged, extent, &merged))
      merged = 0; // only where there are no elements, as the dim's own product fits
  }
  if (group.rank > kMaxGroup)
    return wrong(withGroup[0],
                 "has %d leading axes that do not merge into fewer, but kernels take at most %d; make it, or "
                 "the other tensors with these axes, contiguous",
                 group.rank, kMaxGroup);
  // Found from the innermost; kept outermost first.
  if (group.rank > 1) {
    std::reverse(group.extents, group.extents + group.rank);
    for (size_t t = 0; t < n; ++t)
      std::reverse(group.strides[withGroup[t]], group.strides[withGroup[t]] + group.rank);
  }
  std::fill(group.extents + group.rank, group.extents + kMaxGroup + 1, 1);
  return TILEGYM_OK;
}

uint8_t Call::factsOf(uint32_t id) const {
  const BoundTensor &b = bound[id];
  int last = b.rank - 1;
  // A group that comes last has merged strides; else the last axis as the kernel sees it.
  bool lastIsGroup = b.hasGroup && b.leading == b.rank && b.rank > 0;
  int64_t inner = 1, innerExtent = 1;
  if (lastIsGroup && group.rank > 0) {
    inner = group.strides[id][group.rank - 1];
    innerExtent = group.extents[group.rank - 1];
  } else if (!lastIsGroup && b.rank > 0) {
    inner = b.strides[last];
    innerExtent = b.lastExtent;
  }
  auto is16 = [&](int64_t elements) { return uint64_t(elements) * uint64_t(b.elementBytes) % 16 == 0; };
  bool aligned = reinterpret_cast<uintptr_t>(b.given->data) % 16 == 0;
  for (int i = b.leading; i < b.rank; ++i)
    if (i != last && b.shape[i] > 1)
      aligned &= is16(b.strides[i]);
  for (int g = 0; b.hasGroup && g < group.rank - lastIsGroup; ++g)
    aligned &= is16(group.strides[id][g]);
  return uint8_t((inner == 1 || innerExtent <= 1 ? kUnitInner : 0) | (aligned ? kAligned : 0) |
                 (is16(innerExtent) ? kWholeVectors : 0));
}

void Call::findFacts() {
  fastBase = group.rank <= 1;
  for (uint32_t d = 0; d < dims.size(); ++d)
    fastBase &= dimValues[d] <= kMaxFastExtent;
  for (uint32_t id = 0; id < tensors.size(); ++id) {
    BoundTensor &b = bound[id];
    if (!b.given)
      continue;
    fastBase &= b.lowest == 0 && b.highest <= INT32_MAX;
    b.facts = factsOf(id);
  }
}

} // namespace tilegym::runtime
