// SPDX-License-Identifier: MIT
// The memory of a call: what each view reaches, that written views share nothing, how the group merges, and the facts that variants ask for.
#include "Call.h"
#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace tilegym::runtime {

using namespace format;

/// Addresses of user space end far below this on every machine with a CUDA driver; sums of two such numbers never overflow.
static constexpr int64_t kEndOfAddresses = int64_t(1) << 60;

TilegymStatus Call::checkReach(uint32_t id, BoundTensor &b) {
  auto address = reinterpret_cast<uint64_t>(b.given->data);
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

/// Of a packed tensor, whose strides are products of the extents behind them; the last one counts among those. It may be the group's, where the tensor
/// has nothing else: as one axis, or this does not hold.
static uint8_t factsOfPlain(const BoundTensor &b) {
  int64_t inner = b.leading == b.rank ? b.elements : b.lastExtent;
  bool isWhole = ((inner * b.elementBytes) & 15) == 0;
  bool isAligned = (reinterpret_cast<uintptr_t>(b.given->data) & 15) == 0 && (isWhole || inner == b.elements);
  return uint8_t(kUnitInner | (isAligned ? kAligned : 0) | (isWhole ? kWholeVectors : 0));
}

TilegymStatus Call::checkMemory() {
  constexpr auto kSurely = uint64_t(kEndOfAddresses / 16); // so far, sums are known to fit
  for (size_t i = 0; i < factWords(); ++i)
    std::memset(facts + i * sizeof(uint64_t), ~0, sizeof(uint64_t)); // of constant size: one store
  int64_t farthest = 0;
  auto checkView = [&](uint32_t id, BoundTensor &b) {
    if (b.elements == 0)
      return TILEGYM_OK;
    auto address = reinterpret_cast<uint64_t>(b.given->data);
    if (!address) [[unlikely]]
      return wrong(id, "data is null, but it has %" PRId64 " elements", b.elements);
    if (address & uint64_t(b.elementBytes - 1)) [[unlikely]]
      return wrong(id, "data at %p is not a multiple of its element's %d bytes", b.given->data,
                   b.elementBytes);
    if (plain >> id & 1 && uint64_t(b.elements) < kSurely && address < kSurely) {
      b.highest = b.elements * b.elementBytes;
      farthest = std::max(farthest, b.highest);
      facts[id] = factsOfPlain(b);
      return TILEGYM_OK;
    }
    TRY(checkReach(id, b));
    farthest = std::max(farthest, b.lowest < 0 ? INT64_MAX : b.highest);
    if (plan.written >> id & 1 && !elementsDiffer(b))
      return wrong(id, "is written, but its strides let several indices share an element");
    return TILEGYM_OK;
  };
  TRY(forEach(present & ~plan.lists, [&](uint32_t id) { return checkView(id, bound[id]); }));
  if (lists) [[unlikely]]
    TRY(forEachElement(plan.lists, checkView));
  fastBase = farthest <= INT32_MAX;
  return TILEGYM_OK;
}

TilegymStatus Call::checkOverlap() {
  for (const OpPlan::Pair &pair : plan.pairs)
    if (present >> pair.written & present >> pair.other & 1 &&
        !liesApart(bound[pair.written], bound[pair.other]))
      TRY(checkPair(pair));
  return lists ? checkListOverlap() : TILEGYM_OK;
}

TilegymStatus Call::checkPair(const OpPlan::Pair &pair) {
  const BoundTensor &written = bound[pair.written], &other = bound[pair.other];
  if (provablyDisjoint(written, other) || (pair.declared && sameView(written, other)))
    return TILEGYM_OK;
  return wrong(pair.written, "is written, but shares memory with %s%s",
               Text(table.text(tensors[pair.other].name)).data,
               pair.declared ? " other than as the same view, which alone is allowed"
                             : "; give it memory of its own");
}

TilegymStatus Call::mergeGroup() {
  if (!withGroup)
    return TILEGYM_OK;
  int64_t rows = dimValues[plan.groupDim];
  if ((withGroup & ~plain) || rows == 0)
    return mergeAxes();
  // Rows follow each other in every tensor.
  group.rank = rows != 1;
  group.extents[0] = rows;
  for (uint64_t rest = withGroup; rest; rest &= rest - 1) {
    int t = std::countr_zero(rest);
    int64_t stride = 1;
    for (int i = bound[t].leading; i < bound[t].rank; ++i)
      stride *= bound[t].shape[i];
    group.strides[t][0] = stride;
  }
  return TILEGYM_OK;
}

TilegymStatus Call::mergeAxes() {
  uint32_t withGroup[kMaxTensors];
  size_t n = 0;
  for (uint64_t rest = this->withGroup; rest; rest &= rest - 1)
    withGroup[n++] = uint32_t(std::countr_zero(rest));
  group.rank = 0;
  for (int i = bound[withGroup[0]].leading - 1; i >= 0; --i) {
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

/// What holds of a matrix whose columns lie together, and of a stack of them: none of a group's axes is one of the two.
int Call::transposedFactsOf(const BoundTensor &b) const {
  int inner = b.rank - 2;
  if (inner < b.leading || b.strides[inner] != 1 || b.shape[inner] < 2)
    return 0;
  auto is16 = [&](int64_t elements) { return uint64_t(elements) * uint64_t(b.elementBytes) % 16 == 0; };
  bool aligned = reinterpret_cast<uintptr_t>(b.given->data) % 16 == 0;
  for (int i = b.leading; i < b.rank; ++i)
    aligned &= i == inner || b.shape[i] <= 1 || is16(b.strides[i]);
  for (int g = 0; b.hasGroup && g < group.rank; ++g)
    aligned &= is16(group.strides[&b - bound][g]);
  return kUnitInner | (aligned ? kAligned : 0) | (is16(b.shape[inner]) ? kWholeVectors : 0);
}

uint8_t Call::factsOf(uint32_t id, const BoundTensor &b) const {
  auto is16 = [&](int64_t elements) { return uint64_t(elements) * uint64_t(b.elementBytes) % 16 == 0; };
  bool aligned = reinterpret_cast<uintptr_t>(b.given->data) % 16 == 0;
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
  for (int i = b.leading; i < b.rank; ++i)
    if (i != last && b.shape[i] > 1)
      aligned &= is16(b.strides[i]);
  for (int g = 0; b.hasGroup && g < group.rank - lastIsGroup; ++g)
    aligned &= is16(group.strides[id][g]);
  int bits = (inner == 1 || innerExtent <= 1 ? kUnitInner : 0) | (aligned ? kAligned : 0) |
             (is16(innerExtent) ? kWholeVectors : 0);
  return uint8_t(bits | kTransposed * transposedFactsOf(b));
}

void Call::findFacts() {
  fastBase &= group.rank <= 1;
  for (size_t d = 0; d < plan.dims.size(); ++d)
    fastBase &= dimValues[d] <= kMaxFastExtent;
  for (uint64_t rest = (group.rank <= 1 ? present & ~plain : present) & ~plan.lists; rest; rest &= rest - 1) {
    auto id = uint32_t(std::countr_zero(rest));
    facts[id] = factsOf(id, bound[id]);
  }
  if (!lists)
    return;
  // What holds of all tensors of a list.
  for (size_t d = 0; d < plan.dims.size(); ++d)
    for (uint32_t i = 0; plan.dims[d].isOfElement && i < lists->counts[d]; ++i)
      fastBase &= lists->values[d][i] <= kMaxFastExtent;
  for (uint64_t rest = plan.lists & present; rest; rest &= rest - 1) {
    auto id = uint32_t(std::countr_zero(rest));
    for (const BoundTensor &b : views(id))
      facts[id] &= factsOf(id, b);
  }
}

} // namespace tilegym::runtime
