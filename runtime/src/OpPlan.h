// SPDX-License-Identifier: MIT
// An op as its calls need it: what binding asks of the package's records on every call, gathered into a few cache lines when the package is opened.
#pragma once
#include "tilegym/format/Table.h"
#include <cstddef>
#include <vector>

namespace tilegym::runtime {

class Table;

struct OpPlan {
  static constexpr uint8_t kNoDim = 255; ///< an axis whose extent is an expression

  struct Tensor {
    uint32_t dtypes = 0; ///< bit a DType that it may have
    uint8_t typeVar = 0;
    uint8_t hasGroup = 0, optional = 0;
    uint8_t trailing = 0;                ///< axes as written, without the group
    uint8_t dims[format::kMaxRank] = {}; ///< of those axes; kNoDim
    uint8_t list = 0;                    ///< of a list its number among the op's
  };
  /// Where a dim takes its value in nearly every call: an axis of an input that has it in full.
  struct Dim {
    uint8_t isGroup = 0;
    uint8_t tensor = 0, axis = 0; ///< the axis is counted behind the group
    uint8_t isKnown = 0;          ///< there is such a place
    uint8_t hasChoices = 0;
    uint8_t isOfElement = 0;
  };
  /// A tensor that is written and one with which it must share nothing.
  struct Pair {
    uint8_t written, other;
    uint8_t declared; ///< one may be the same view as the other
  };

  OpPlan(const Table &table, const format::Op &op);

  std::vector<Tensor> tensors;
  std::vector<Dim> dims;
  std::vector<Pair> pairs;
  std::vector<uint8_t> dtypes;       ///< by type var: the only one; kUnbound where there are several
  uint64_t outputs = 0, written = 0; ///< bit a tensor; written ones are outputs and what is updated in place
  uint64_t lists = 0;                ///< bit a tensor that is a list
  size_t numLists = 0;
  bool hasFills = false; ///< some output gets a first value
  int groupDim = -1;
  /// The dim that changes from call to call while all else stays: the group; of an op without one the first input's first axis, where that dim is nothing
  /// but first axes (a product's M). -1: none.
  int rowsDim = -1;
  uint64_t rowsOf = 0; ///< bit a tensor whose first axis it is
  /// Whether extents, or which variant a call takes, follow from how many rows there are, from scalars that are no consts or from the device.
  bool extentsVary = false, choiceVaries = false;
  /// Whether nothing of the choice does but which guards hold.
  bool onlyGuardsVary = false;
  bool checksVary = false; ///< the op's own checks may fail for other rows or scalars

  bool hasScalars = false; ///< some scalar is no const

  static constexpr uint8_t kUnbound = 255;

private:
  void findRows(const Table &table, const format::Op &op);
  bool varies(const Table &table, const format::Op &op, format::Slice code) const;
};

} // namespace tilegym::runtime
