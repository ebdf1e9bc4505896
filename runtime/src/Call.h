// SPDX-License-Identifier: MIT
// One call of an op: its arguments, checked and bound. Lives on the stack; nothing here allocates, and of its arrays, made for the largest op, only
// what this op uses is ever written: clearing them all would cost more than a call.
#pragma once
#include "PackageTable.h"
#include "Postfix.h"
#include <bit>

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

  static constexpr uint8_t kUnbound = OpPlan::kUnbound;

  Call(const Table &table, const format::Op &op);
  /// Reads and checks all arguments. With `forShape`, outputs may be missing and memory is not looked at.
  TilegymStatus bind(const void *const *args, bool forShape);
  /// True where this call was bound before and these arguments are the same but for addresses, how many rows there are (OpPlan::rowsDim), and scalars that are no
  /// consts: then `bindAgain` does what is left to do. False: they need `bind`.
  bool isAgain(const void *const *args);
  TilegymStatus bindAgain(const void *const *args);
  /// A launch of a plan: the plan's call, and behind its own tensors, scalars and dims those given. What the plan's call has checked is not checked again.
  TilegymStatus bindLaunch(const Call &plan, const TilegymTensor *tensors, const Cell *scalars,
                           const int64_t *dims);
  /// Extents of a tensor from the bound dims (outputs).
  TilegymStatus extents(uint32_t tensor, int64_t shape[kMaxRank], int *rank);
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
  TilegymStatus bindTensor(uint32_t id, const TilegymTensor &given);
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
  TilegymStatus checkAxis(uint32_t id, const format::DimUse &use, int axis);
  TilegymStatus checkMemory();
  TilegymStatus checkReach(uint32_t id);
  TilegymStatus checkOverlap();
  TilegymStatus checkPair(const OpPlan::Pair &pair);
  TilegymStatus runChecks();
  TilegymStatus mergeGroup();
  TilegymStatus mergeAxes();
  void findFacts();
  uint8_t factsOf(uint32_t id) const;
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
