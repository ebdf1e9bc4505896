// SPDX-License-Identifier: MIT
// Launches of calls that are alike.
#include "RepeatedLaunch.h"
#include <algorithm>
#include <cstring>

namespace tilegym::runtime {

using namespace format;

Grids::Grids(const Table &table) {
  for (size_t i = 0; i < table.count(); ++i) {
    firsts.push_back(count);
    count += table.numbered(i).variants.count;
  }
  made = std::make_unique<std::atomic<const OfVariant *>[]>(count);
}

Grids::~Grids() {
  for (size_t i = 0; i < count; ++i)
    delete made[i].load(std::memory_order_relaxed);
}

const Grids::OfVariant &Grids::of(const Call &call, const Choice &choice) {
  std::atomic<const OfVariant *> &place = made[firsts[call.table.numberOf(call.op)] + choice.index];
  if (const OfVariant *known = place.load(std::memory_order_acquire))
    return *known;
  std::lock_guard lock(mutex);
  if (const OfVariant *known = place.load(std::memory_order_relaxed))
    return *known;
  std::span<const Slice> codes = call.table.get<Slice>(choice.variant->grid);
  auto fresh = std::make_unique<OfVariant>(OfVariant{Terms(varyingOf(call.table, call.op)), codes.size()});
  for (Slice code : codes)
    fresh->terms.add(call.table.get<Inst>(code));
  place.store(fresh.get(), std::memory_order_release);
  return *fresh.release();
}

/// Whether it may differ between calls that are alike.
static bool moves(const Call &call, const Param &p) {
  switch (p.kind) {
  case ParamKind::TensorPointer:
  case ParamKind::Grid:
    return true;
  case ParamKind::Dim:
    return int(p.a) == call.plan.rowsDim;
  case ParamKind::Scalar:
    return !call.scalars[p.a].isConst;
  case ParamKind::GroupExtent:
    return p.b == 0;
  default: // strides are those of packed tensors, and rows are no part of one
    return false;
  }
}

bool RepeatedLaunch::makeMaps(const Driver &driver, const Call &call, MapTemplate *templates) {
  std::span<const TensorMap> records = call.table.get<TensorMap>(variant->maps);
  for (size_t i = 0; i < records.size(); ++i) {
    mapTensors[i] = records[i].tensor;
    if (!templates || !holdTensorMap(driver, call, records[i], templates[i], &maps[i]))
      return false;
  }
  numMaps = records.size();
  return true;
}

TilegymStatus RepeatedLaunch::make(const Driver &driver, const Call &call, const Choice &choice, Grids &grids,
                                   MapTemplate *templates) {
  drop();
  Grid now;
  TRY(computeGrid(call, choice, &now));
  TRY(fillParameters(driver, call, choice, now, &kept, templates));
  grid = &grids.of(call, choice);
  if (!grid->terms.fit())
    return TILEGYM_OK;
  Values values = call.values();
  values.params = choice.params;
  grid->terms.begin(gridState, values, /*alike=*/false);
  numMoving = 0;
  std::span<const Param> layout = call.table.get<Param>(choice.variant->layout);
  for (uint32_t place = 0; place < layout.size(); ++place)
    if (moves(call, layout[place])) {
      if (numMoving == kMaxMoving)
        return TILEGYM_OK;
      moving[numMoving++] = {layout[place], place};
    }
  variant = choice.variant;
  encoder = driver.tensorMapEncodeTiled;
  if (!makeMaps(driver, call, templates))
    drop();
  return TILEGYM_OK;
}

bool RepeatedLaunch::update(const Call &call, const Choice &choice, int64_t *blocks) {
  Values values = call.values();
  values.params = choice.params;
  grid->terms.begin(gridState, values, /*alike=*/true);
  Grid now;
  for (size_t axis = 0; axis < grid->axes; ++axis)
    if (!grid->terms.value(axis, gridState, &now.axes[axis]) || now.axes[axis] <= 0 ||
        __builtin_mul_overflow(now.blocks, now.axes[axis], &now.blocks))
      return false;
  if (now.blocks > INT32_MAX)
    return false;
  *blocks = launchBlocks(*variant, call.smCount, now.blocks);
  for (size_t i = 0; i < numMoving; ++i) {
    uint64_t bits = parameterBits(call, moving[i].param, now);
    std::memcpy(kept.storage + size_t(moving[i].place) * 8, &bits, 8);
  }
  uint64_t rows = numMaps && call.plan.rowsDim >= 0 ? uint64_t(call.dimValues[call.plan.rowsDim]) : 0;
  for (size_t i = 0; i < numMaps; ++i)
    if (!maps[i].patch(reinterpret_cast<uint64_t>(call.bound[mapTensors[i]].given->data), rows, kept.maps[i]))
      return false;
  return true;
}

} // namespace tilegym::runtime
