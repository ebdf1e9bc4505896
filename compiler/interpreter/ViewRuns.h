// SPDX-License-Identifier: MIT
// The walk over a view's elements; included by View.h.
#pragma once

namespace tilegym::interp {

template <class InsideFn, class PaddingFn, class OutsideFn>
void forEachRun(const View &view, InsideFn inside, PaddingFn padding, OutsideFn outside) {
  const int64_t total = view.shape().count();
  if (total == 0)
    return;
  if (view.outside)
    return outside(int64_t(0), total, view.outside->index, view.outside->extent, view.outside->range);
  if (view.isPadding)
    return padding(int64_t(0), total);

  // Neighbouring axes that are one run in memory are walked as one.
  std::vector<ViewAxis> axes;
  for (const ViewAxis &axis : view.axes) {
    if (axis.extent == 1 && axis.low <= 0 && axis.high >= 1 && axis.tableStride == 0)
      continue;
    bool whole = axis.low <= 0 && axis.high >= axis.extent && axis.tableStride == 0;
    if (!axes.empty() && whole) {
      ViewAxis &last = axes.back();
      bool lastWhole = last.low <= 0 && last.high >= last.extent && last.tableStride == 0;
      if (lastWhole && last.stride == axis.stride * axis.extent) {
        last.extent *= axis.extent;
        last.stride = axis.stride;
        last.low = 0;
        last.high = last.extent;
        continue;
      }
    }
    axes.push_back(axis);
  }
  ViewAxis inner{1, 0, 0, 1, 0};
  if (!axes.empty()) {
    inner = axes.back();
    axes.pop_back();
  }
  const int64_t low = std::min(std::max<int64_t>(inner.low, 0), inner.extent);
  const int64_t high = std::max(low, std::min(inner.high, inner.extent));

  std::vector<int64_t> at(axes.size(), 0);
  for (int64_t offset = 0; offset < total; offset += inner.extent) {
    bool within = true;
    // Places outside of the bounds are computed too, never used, and may wrap.
    uint64_t place = uint64_t(view.base), slot = uint64_t(view.tableBase);
    for (size_t a = 0; a < axes.size(); ++a) {
      within = within && at[a] >= axes[a].low && at[a] < axes[a].high;
      place += uint64_t(at[a]) * uint64_t(axes[a].stride);
      slot += uint64_t(at[a]) * uint64_t(axes[a].tableStride);
    }
    if (!within) {
      padding(offset, inner.extent);
    } else if (!view.table) {
      if (low > 0)
        padding(offset, low);
      if (high > low)
        inside(offset + low, int64_t(place + uint64_t(low) * uint64_t(inner.stride)), inner.stride,
               high - low);
      if (high < inner.extent)
        padding(offset + high, inner.extent - high);
    } else {
      const GatherTable &table = *view.table;
      // A last axis outside of the table is a run at the entry's offset; one inside it is walked element by element.
      int64_t step = inner.tableStride ? 1 : std::max<int64_t>(high - low, 1);
      if (low > 0)
        padding(offset, low);
      for (int64_t i = low; i < high; i += step) {
        size_t e = size_t(slot + uint64_t(i) * uint64_t(inner.tableStride));
        if (table.states[e] == GatherTable::Inside)
          inside(offset + i, int64_t(place + uint64_t(i) * uint64_t(inner.stride)) + table.offsets[e],
                 inner.stride, step);
        else if (table.states[e] == GatherTable::Padding)
          padding(offset + i, step);
        else
          outside(offset + i, step, table.offsets[e], table.extent, table.range);
      }
      if (high < inner.extent)
        padding(offset + high, inner.extent - high);
    }
    for (size_t a = axes.size(); a-- > 0;) {
      if (++at[a] < axes[a].extent)
        break;
      at[a] = 0;
    }
  }
}

} // namespace tilegym::interp
