// SPDX-License-Identifier: MIT
// Composition of views by indexing.
#include "compiler/interpreter/View.h"
#include "compiler/interpreter/Broadcast.h"
#include "compiler/interpreter/Value.h"
#include <algorithm>

namespace tilegym::interp {
namespace {

/// Offsets of far-out elements are never used, but computing them must not overflow.
int64_t wrapAdd(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
int64_t wrapMul(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }

struct GatheredAxis {
  ViewAxis axis;
  const Indexer *item;
};

/// A window of `extent` elements from `start` on an axis.
ViewAxis shifted(const ViewAxis &axis, int64_t start, int64_t extent) {
  ViewAxis result = axis;
  result.extent = extent;
  // start may lie anywhere in 64 bits, so the subtractions are done where they cannot overflow.
  auto clampTo = [&](int64_t bound) {
    __int128 local = __int128(bound) - start;
    return int64_t(std::clamp<__int128>(local, 0, extent));
  };
  result.low = clampTo(axis.low);
  result.high = std::max(result.low, clampTo(axis.high));
  return result;
}

void move(View &view, const ViewAxis &axis, int64_t by) {
  view.base = wrapAdd(view.base, wrapMul(by, axis.stride));
  view.tableBase = wrapAdd(view.tableBase, wrapMul(by, axis.tableStride));
}

void takePoint(View &view, const ViewAxis &axis, int64_t index, int position, SourceRange range) {
  if (index < 0 || index >= axis.extent) {
    if (!view.outside)
      view.outside = View::Outside{range, index, axis.extent, position};
    return;
  }
  if (index < axis.low || index >= axis.high) {
    view.isPadding = true;
    return;
  }
  move(view, axis, index);
}

/// Replaces the gathered axes by those of the index tiles. The new table covers these and every axis that was in the old table.
void applyGather(View &view, const std::vector<GatheredAxis> &gathered, int insertAt, SourceRange range) {
  Shape shape;
  for (const GatheredAxis &g : gathered)
    shape = broadcastShapes(shape, g.item->tile->shape, range);
  std::vector<size_t> kept; // axes of the view that the old table covers
  Shape all = shape;
  for (size_t a = 0; a < view.axes.size(); ++a)
    if (view.axes[a].tableStride) {
      kept.push_back(a);
      all.push(view.axes[a].extent);
    }
  auto table = std::make_shared<GatherTable>();
  table->range = gathered.front().item->range;
  const int64_t perIndex = all.product(shape.rank(), all.rank()), indices = shape.count();
  table->offsets.resize(size_t(perIndex * indices));
  table->states.resize(size_t(perIndex * indices), GatherTable::Inside);

  std::vector<std::vector<int64_t>> values; // of each gathered axis, broadcast
  for (const GatheredAxis &g : gathered) {
    Value tile = broadcastTo(*g.item->tile, shape, range);
    std::vector<int64_t> &list = values.emplace_back(size_t(indices));
    for (int64_t i = 0; i < indices; ++i)
      list[size_t(i)] = tile.intAt(i);
  }
  for (int64_t i = 0; i < indices; ++i) {
    int64_t offset = 0, oldEntry = view.tableBase;
    GatherTable::State state = GatherTable::Inside;
    for (size_t g = 0; g < gathered.size() && state != GatherTable::Outside; ++g) {
      const ViewAxis &axis = gathered[g].axis;
      int64_t index = values[g][size_t(i)];
      if (index < 0 || index >= axis.extent) {
        state = GatherTable::Outside;
        table->extent = axis.extent;
        offset = index;
      } else if (index < axis.low || index >= axis.high) {
        state = GatherTable::Padding;
      } else {
        offset += index * axis.stride;
        oldEntry += index * axis.tableStride;
      }
    }
    for (int64_t k = 0; k < perIndex; ++k) {
      int64_t rest = k, entry = oldEntry;
      bool inside = state == GatherTable::Inside;
      for (size_t j = kept.size(); j-- > 0;) {
        const ViewAxis &axis = view.axes[kept[j]];
        int64_t at = rest % axis.extent;
        rest /= axis.extent;
        inside = inside && at >= axis.low && at < axis.high;
        entry += at * axis.tableStride;
      }
      size_t slot = size_t(i * perIndex + k);
      table->states[slot] = state;
      table->offsets[slot] = offset;
      if (state != GatherTable::Inside)
        continue;
      if (!inside) {
        table->states[slot] = GatherTable::Padding;
      } else if (view.table) {
        table->states[slot] = view.table->states[size_t(entry)];
        table->offsets[slot] =
            view.table->offsets[size_t(entry)] + (table->states[slot] == GatherTable::Inside ? offset : 0);
        if (table->states[slot] == GatherTable::Outside)
          table->extent = view.table->extent;
      }
    }
  }

  int64_t stride = 1;
  for (size_t j = kept.size(); j-- > 0;) {
    view.axes[kept[j]].tableStride = stride;
    stride *= view.axes[kept[j]].extent;
  }
  std::vector<ViewAxis> added(static_cast<size_t>(shape.rank()));
  for (int a = shape.rank(); a-- > 0;) {
    added[size_t(a)] = ViewAxis{shape[a], 0, 0, shape[a], stride};
    stride *= shape[a];
  }
  view.axes.insert(view.axes.begin() + insertAt, added.begin(), added.end());
  view.table = std::move(table);
  view.tableBase = 0;
}

} // namespace

Shape View::shape() const {
  Shape result;
  for (const ViewAxis &axis : axes)
    result.push(axis.extent);
  return result;
}

View indexView(const View &view, const std::vector<Indexer> &items, SourceRange range) {
  View result = view;
  result.axes.clear();
  result.tileSizes.clear();
  std::vector<GatheredAxis> gathered;
  int gatherAt = 0;
  size_t next = 0;
  for (const Indexer &item : items) {
    if (item.kind == Indexer::NewAxis) {
      result.axes.push_back({1, 0, 0, 1, 0});
      continue;
    }
    if (next == view.axes.size())
      fail(Fault::Program, "more indices than the view has axes", range);
    const ViewAxis axis = view.axes[next];
    const int64_t tileSize = view.tileSizes.empty() ? 0 : view.tileSizes[next];
    const int position = int(next++);
    switch (item.kind) {
    case Indexer::Point:
      if (tileSize) {
        int64_t start = wrapMul(item.first, tileSize);
        result.axes.push_back(shifted(axis, start, tileSize));
        move(result, axis, start);
      } else {
        takePoint(result, axis, item.first, position, item.range);
      }
      break;
    case Indexer::Span:
      result.axes.push_back(shifted(axis, item.first, item.second));
      move(result, axis, item.first);
      break;
    case Indexer::Bounds: {
      if (item.first < 0 || (item.hasSecond && item.second < 0))
        fail(Fault::OutOfBounds,
             "the range " + std::to_string(item.first) + " : " +
                 (item.hasSecond ? std::to_string(item.second) : "") + " has a negative bound",
             item.range, "bounds count from the front: the last k elements of N are N - k : N");
      int64_t high = item.hasSecond ? item.second : axis.extent;
      if (!item.isFixed)
        high = std::min(high, axis.extent);
      result.axes.push_back(shifted(axis, item.first, std::max<int64_t>(high - item.first, 0)));
      move(result, axis, item.first);
      break;
    }
    case Indexer::Gather:
      if (gathered.empty())
        gatherAt = int(result.axes.size());
      gathered.push_back({axis, &item});
      break;
    case Indexer::Whole:
    case Indexer::NewAxis:
      result.axes.push_back(axis);
      break;
    }
  }
  for (; next < view.axes.size(); ++next)
    result.axes.push_back(view.axes[next]);
  if (!gathered.empty())
    applyGather(result, gathered, gatherAt, range);
  return result;
}

View permuteView(const View &view, const std::vector<int64_t> &permutation) {
  View result = view;
  for (size_t i = 0; i < permutation.size(); ++i) {
    result.axes[i] = view.axes[size_t(permutation[i])];
    if (!view.tileSizes.empty())
      result.tileSizes[i] = view.tileSizes[size_t(permutation[i])];
  }
  return result;
}

} // namespace tilegym::interp
