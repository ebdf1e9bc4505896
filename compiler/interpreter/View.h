// SPDX-License-Identifier: MIT
// Views: a window on a tensor's memory, made by indexing, that costs nothing until loaded or stored. A view may reach outside its
// bounds: those elements are padding. An index that had to be inside and was not makes a fault only where an access meets it.
#pragma once
#include "compiler/interpreter/Shape.h"
#include <memory>
#include <optional>
#include <vector>

namespace tilegym::interp {

struct Memory;
class Value;

struct ViewAxis {
  int64_t extent = 0;
  int64_t stride = 0;        ///< in elements of the memory
  int64_t low = 0, high = 0; ///< indices in [low, high) are inside the bounds, the others are padding
  int64_t tableStride = 0;   ///< step in the view's table; 0 where the axis takes no part in a gather
};

/// Offsets of gathered elements.
struct GatherTable {
  enum State : uint8_t { Inside, Padding, Outside };
  std::vector<int64_t> offsets; ///< elements of the memory; the offending index where Outside
  std::vector<State> states;
  SourceRange range;  ///< of the index
  int64_t extent = 0; ///< what the index had to be below
};

struct View {
  Memory *memory = nullptr;
  int64_t base = 0;
  std::vector<ViewAxis> axes;
  std::vector<int64_t> tileSizes; ///< made by `.tile(...)`: an index counts in these
  std::shared_ptr<const GatherTable> table;
  int64_t tableBase = 0;
  bool isPadding = false; ///< an integer index fell on padding: no element is inside
  /// An integer index was outside of its view.
  struct Outside {
    SourceRange range;
    int64_t index = 0, extent = 0;
    int axis = 0;
  };
  std::optional<Outside> outside;

  int rank() const { return int(axes.size()); }
  Shape shape() const;
};

/// One evaluated axis of an index. Gather keeps its tile in `tile`.
struct Indexer {
  enum Kind : uint8_t { Point, Span, Gather, Bounds, Whole, NewAxis } kind = Whole;
  int64_t first = 0, second = 0; ///< Point: index. Span: start, length. Bounds: lo, hi
  bool hasSecond = false;        ///< Bounds: hi was given
  bool isFixed =
      false; ///< Bounds: both are compile-time, so the extent is hi - lo whatever the axis has, as a Span's
  std::shared_ptr<const Value> tile;
  SourceRange range;
};

/// `view[items]`; trailing axes left out are whole.
View indexView(const View &view, const std::vector<Indexer> &items, SourceRange range);
View permuteView(const View &view, const std::vector<int64_t> &permutation);

/// Walks a view in row-major order as runs of elements along its last axis. Calls
/// `inside(tileOffset, memoryOffset, memoryStride, count)`, `padding(tileOffset, count)` and `outside(tileOffset, count, index, extent, range)`.
template <class InsideFn, class PaddingFn, class OutsideFn>
void forEachRun(const View &view, InsideFn inside, PaddingFn padding, OutsideFn outside);

} // namespace tilegym::interp

#include "compiler/interpreter/ViewRuns.h"
