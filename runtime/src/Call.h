// SPDX-License-Identifier: MIT
// One call of an op: its arguments, checked and bound. Lives on the stack; nothing here allocates, and of its arrays, made for the largest op, only
// what this op uses is ever written: clearing them all would cost more than a call.
#pragma once
#include "PackageTable.h"
#include "Postfix.h"
#include <bit>
#include <cstddef>
#include <memory>
#include <string>

namespace tilegym::runtime {

constexpr int kMaxRank = format::kMaxRank, kMaxGroup = format::kMaxGroupDims;

/// A tensor argument. `strides` are always filled in; axes of extent 1 that broadcast have stride 0.
struct BoundTensor {
  const TilegymTensor *given = nullptr; ///< null: an optional one left out
  int rank = 0, leading = 0;            ///< `leading`: how many axes the group takes; 0 without one
  int elementBytes = 0;
  bool hasGroup = false;
  bool packed = false;     ///< row-major contiguous, axes of extent 1 aside
  bool hasStrides = false; ///< they were given
  int64_t elements = 1;
  int64_t lastExtent = 1;          ///< of the last axis as the kernel sees it: the dim's where it broadcasts
  int64_t lowest = 0, highest = 0; ///< byte offsets of the first and past the last byte touched, from `data`
  int64_t shape[kMaxRank], strides[kMaxRank];
  int64_t begin() const { return reinterpret_cast<int64_t>(given->data) + lowest; }
  int64_t end() const { return reinterpret_cast<int64_t>(given->data) + highest; }
  /// The given axis of an axis as written: after a group they shift. Not for the group itself.
  int axis(int written) const { return hasGroup ? written + leading - 1 : written; }
};

/// The leading dims of a group after merging, outermost first.
struct BoundGroup {
  int rank = 0;
  int64_t extents[kMaxGroup + 1] = {1, 1, 1, 1, 1, 1, 1, 1};
  int64_t strides[format::kMaxTensors]
                 [kMaxGroup + 1]; ///< by tensor that was given and has the group; `rank` of each
};

/// The tensors of a call's lists. A thread keeps the room of its last calls, so that these allocate nothing.
struct ListRoom {
  explicit ListRoom(const OpPlan &plan);
  BoundTensor *of(const OpPlan::Tensor &list) {
    return reinterpret_cast<BoundTensor *>(memory.get()) + size_t(list.list) * format::kMaxListLength;
  }
  size_t numLists;
  std::unique_ptr<std::byte[]>
      memory; ///< BoundTensors, of each list kMaxListLength; only those given are made
  uint32_t lengths[format::kMaxTensors];
  uint32_t counts[format::kMaxDims]; ///< by dim of elements: how many there are
  const int64_t *values[format::kMaxDims];
  int64_t valuesRoom[format::kMaxDims][format::kMaxListLength];
};

struct Call {
  const Table &table;
  const format::Op &op;
  const OpPlan &plan;
  std::span<const format::Tensor> tensors;
  std::span<const format::Dim> dims;
  std::span<const format::Scalar> scalars;
  std::span<const format::TypeVar> typeVars;

  union { // so that only those that the op has are made
    BoundTensor bound[format::kMaxTensors];
  };
  int64_t dimValues[format::kMaxDims];
  int64_t groupRanks[format::kMaxDims];
  Cell scalarValues[format::kMaxScalars];
  uint8_t dtypes[format::kMaxTensors]; ///< by type var; kUnbound
  /// format::TensorFacts bits that hold, by tensor; all of one that was left out, so that it is in nothing's way.
  alignas(8) uint8_t facts[format::kMaxTensors];
  uint64_t present = 0;
  uint64_t withGroup = 0; ///< bit a tensor that was given and has the group
  uint64_t plain = 0;     ///< bit a tensor that is packed, has elements and does not broadcast
  BoundGroup group;       ///< an op has one group at most
  int64_t smCount = 0;    ///< multiprocessors of the device, for guards and grids; 0 before it is known
  bool settled = false;   ///< what `isAgain` may count on was found to hold
  bool fastBase = false;  ///< groups merge, strides are not negative, offsets fit 31 bits
  std::unique_ptr<ListRoom> lists; ///< of an op that has lists

  static constexpr uint8_t kUnbound = OpPlan::kUnbound;

  Call(const Table &table, const format::Op &op);
  ~Call();
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;
  /// Reads and checks all arguments. With `forShape`, outputs may be missing and memory is not looked at.
  TilegymStatus bind(const void *const *args, bool forShape);
  /// True where this call was bound before and these arguments are the same but for addresses, how many rows there are (OpPlan::rowsDim), and scalars that are no
  /// consts: then `bindAgain` does what is left to do. False: they need `bind`.
  bool isAgain(const void *const *args);
  TilegymStatus bindAgain(const void *const *args);
  /// A launch of a plan: the plan's call, and behind its own tensors, scalars and dims those given. What the plan's call has checked is not checked again.
  TilegymStatus bindLaunch(const Call &plan, const TilegymTensor *tensors, const Cell *scalars,
                           const int64_t *dims);
  /// Extents of a tensor from the bound dims (outputs); of a list of its tensor number `element`.
  TilegymStatus extents(uint32_t tensor, int64_t shape[kMaxRank], int *rank, size_t element = 0);
  /// How many tensors an output list has, by its dims.
  size_t lengthOf(uint32_t tensor) const;
  bool isList(uint32_t tensor) const { return plan.lists >> tensor & 1; }
  /// A list's tensors that were given; else the tensor, or nothing where it was left out.
  std::span<BoundTensor> views(uint32_t tensor) {
    if (isList(tensor)) [[unlikely]]
      return {lists->of(plan.tensors[tensor]), present >> tensor & 1 ? lists->lengths[tensor] : 0};
    return {bound + tensor, bound[tensor].given ? size_t(1) : size_t(0)};
  }
  std::span<const BoundTensor> views(uint32_t tensor) const {
    return const_cast<Call *>(this)->views(tensor);
  }
  /// The extent that a dim has for a tensor of a list.
  int64_t dimOf(uint32_t dim, size_t element) const {
    return plan.dims[dim].isOfElement ? lists->values[dim][element] : dimValues[dim];
  }
  /// "a", or "a[3]" of a list.
  std::string nameOf(uint32_t tensor, size_t element) const;
  Values values() const;
  /// In elements, along an axis as written; of a group the outermost merged dim's; 0 of a tensor left out.
  int64_t strideOf(uint32_t tensor, uint32_t axis) const {
    const BoundTensor &b = bound[tensor];
    if (!b.given)
      return 0;
    if (b.hasGroup && axis == 0)
      return group.rank ? group.strides[tensor][0] : 0;
    return b.strides[b.axis(int(axis))];
  }
  /// How many 64-bit words of `facts` the op's tensors take.
  size_t factWords() const { return (plan.tensors.size() + 7) / 8; }

private:
  TilegymStatus bindTensor(uint32_t id, const TilegymTensor &given, BoundTensor &b);
  TilegymStatus bindList(uint32_t id, const TilegymTensorList &given);
  TilegymStatus bindListDim(uint32_t dim);
  TilegymStatus checkLists(uint64_t which);
  TilegymStatus checkListOverlap();
  TilegymStatus checkListDTypes();
  /// Runs `body(id, view)` for each tensor of the lists among `which`.
  template <class Body> TilegymStatus forEachElement(uint64_t which, Body body);
  TilegymStatus bindScalar(uint32_t id, const void *given);
  TilegymStatus bindScalars(const void *const *args);
  void setRows(int64_t rows);
  int64_t strideOfRows(int id) const;
  void settle();
  TilegymStatus bindGroup(uint32_t dim);
  bool findDim(uint32_t dim);
  TilegymStatus bindDims();
  TilegymStatus checkDims(uint64_t which);
  TilegymStatus checkGroup(uint32_t id);
  TilegymStatus checkAxis(uint32_t id, BoundTensor &b, const format::DimUse &use, int axis);
  TilegymStatus checkMemory();
  TilegymStatus checkReach(uint32_t id, BoundTensor &b);
  TilegymStatus checkOverlap();
  TilegymStatus checkPair(const OpPlan::Pair &pair);
  TilegymStatus runChecks();
  TilegymStatus mergeGroup();
  TilegymStatus mergeAxes();
  void findFacts();
  uint8_t factsOf(uint32_t id, const BoundTensor &b) const;
  int64_t element = -1; ///< of a list: the tensor that is looked at, for messages
  int transposedFactsOf(const BoundTensor &b) const;
  [[gnu::cold]] TilegymStatus wrongShape(uint32_t id, const TilegymTensor &given);
  [[gnu::cold]] TilegymStatus wrongDType(uint32_t id, int32_t given);
  [[gnu::cold]] TilegymStatus wrongChoice(uint32_t dim);
  [[gnu::cold, gnu::format(printf, 3, 4)]] TilegymStatus wrong(uint32_t tensor, const char *format, ...);
  /// An argument's text: a bounded copy that ends in NUL.
  [[gnu::cold, gnu::format(printf, 3, 4)]] TilegymStatus wrongNamed(format::Slice name, const char *format,
                                                                    ...);
};

/// Runs `body(id)` for each bit of `which`, the lowest first.
template <class Body> TilegymStatus forEach(uint64_t which, Body body) {
  for (; which; which &= which - 1)
    TRY(body(uint32_t(std::countr_zero(which))));
  return TILEGYM_OK;
}

template <class Body> TilegymStatus Call::forEachElement(uint64_t which, Body body) {
  return forEach(which & plan.lists & present, [&](uint32_t id) {
    element = 0;
    for (BoundTensor &b : views(id)) {
      TRY(body(id, b));
      ++element;
    }
    element = -1;
    return TILEGYM_OK;
  });
}

/// For messages.
const char *dtypeName(uint8_t dtype);

/// A name of the package for printf's %s.
struct Text {
  char data[160];
  explicit Text(std::string_view view);
  operator const char *() const { return data; }
};
/// The numbers as "1, 2, 3", as many as fit.
struct NumberList {
  char data[256] = "";
  explicit NumberList(std::span<const int64_t> numbers);
};

/// True where one view ends before the other begins.
inline bool liesApart(const BoundTensor &a, const BoundTensor &b) {
  return a.end() <= b.begin() || b.end() <= a.begin();
}
/// True where no element of one view is an element of the other, as far as their strides show it.
bool provablyDisjoint(const BoundTensor &a, const BoundTensor &b);
/// True where no two index tuples of the view reach the same element.
bool elementsDiffer(const BoundTensor &t);
/// True where both views reach the same elements by the same indices.
bool sameView(const BoundTensor &a, const BoundTensor &b);

} // namespace tilegym::runtime
