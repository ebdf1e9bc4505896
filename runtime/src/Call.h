// SPDX-License-Identifier: MIT
// One call of an op: its arguments, checked and bound. Lives on the stack; nothing here allocates.
#pragma once
#include "PackageTable.h"
#include "Postfix.h"

namespace tilegym::runtime {

constexpr int kMaxRank = format::kMaxRank, kMaxGroup = format::kMaxGroupDims;

/// A tensor argument. `strides` are always filled in; axes of extent 1 that broadcast have stride 0.
struct BoundTensor {
  const TilegymTensor *given = nullptr; ///< null: an optional one left out
  int rank = 0, leading = 0;            ///< `leading`: how many axes the group takes; 0 without one
  int64_t shape[kMaxRank] = {}, strides[kMaxRank] = {};
  int64_t elements = 1;
  int elementBytes = 0;
  int64_t lowest = 0, highest = 0; ///< byte offsets of the first and past the last byte touched, from `data`
  uint8_t facts = 0;               ///< format::TensorFacts bits that hold
  /// The given axis of an axis as written: after a group they shift. Not for the group itself.
  int axis(int written) const { return hasGroup ? written + leading - 1 : written; }
  bool hasGroup = false;
};

/// The leading dims of a group after merging, outermost first.
struct BoundGroup {
  int rank = 0;
  int64_t extents[kMaxGroup + 1] = {};
  int64_t strides[format::kMaxTensors][kMaxGroup + 1] = {}; ///< by tensor
  int64_t ranks = 0;                                        ///< leading dims before merging
};

struct Call {
  const Table &table;
  const format::Op &op;
  std::span<const format::Tensor> tensors;
  std::span<const format::Dim> dims;
  std::span<const format::Scalar> scalars;
  std::span<const format::TypeVar> typeVars;

  BoundTensor bound[format::kMaxTensors];
  int64_t dimValues[format::kMaxDims];
  int64_t groupRanks[format::kMaxDims] = {};
  Cell scalarValues[format::kMaxScalars];
  uint8_t dtypes[format::kMaxTensors]; ///< by type var; 255: not bound
  uint64_t present = 0;
  BoundGroup group; ///< an op has one group at most
  int groupDim = -1;
  bool fastBase = false; ///< groups merge, strides are not negative, offsets fit 31 bits

  Call(const Table &table, const format::Op &op);
  /// Reads and checks all arguments. With `forShape`, outputs may be missing and memory is not looked at.
  TilegymStatus bind(const void *const *args, bool forShape);
  /// Extents of a tensor from the bound dims (outputs).
  TilegymStatus extents(uint32_t tensor, int64_t shape[kMaxRank], int *rank);
  Values values() const;

private:
  TilegymStatus bindTensor(uint32_t id, const TilegymTensor *given);
  TilegymStatus bindScalar(uint32_t id, const void *given);
  TilegymStatus bindDims();
  TilegymStatus checkDims(bool outputs);
  TilegymStatus checkMemory();
  TilegymStatus checkOverlap();
  TilegymStatus runChecks();
  void mergeGroup();
  void findFacts();
  TilegymStatus wrong(uint32_t tensor, const char *format, ...) __attribute__((format(printf, 3, 4)));
};

/// For messages.
const char *dtypeName(uint8_t dtype);

/// True where no element of one view is an element of the other (both in bytes from a common origin), as far as their strides show it.
bool provablyDisjoint(const BoundTensor &a, const BoundTensor &b);
/// True where no two index tuples of the view reach the same element.
bool elementsDiffer(const BoundTensor &t);

} // namespace tilegym::runtime
