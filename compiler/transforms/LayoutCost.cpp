// SPDX-License-Identifier: MIT
// The cost model counts what a warp's instruction touches: 32-byte sectors.
#include "compiler/transforms/LayoutCost.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <set>

using namespace mlir;

namespace tilegym::transforms {

AccessShape accessShape(tile::RegionOp op) {
  AccessShape access;
  tile::VectorAxis vector = tile::vectorAxis(op);
  SmallVector<int64_t> regionAxes = op.getRegionAxes();
  // Where no stride is known to be 1, the last axis is the likeliest.
  access.axis =
      vector.axis >= 0 ? int(regionAxes[vector.axis]) : std::max(0, int(op.getRegionShape().size()) - 1);
  access.width = vector.width;
  access.elementBytes =
      std::max<int64_t>(1, op.getBase().getType().getElementType().getIntOrFloatBitWidth() / 8);
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (isa<scf::ForOp, scf::WhileOp>(parent))
      access.weight = std::min<int64_t>(access.weight * 8, 64);
  return access;
}

int64_t accessCost(const layout::Layout &layout, const AccessShape &access) {
  layout::Vectors vectors = layout.vectors(access.axis, access.width);
  layout::Vec copyLanes = layout.freeBits(layout::Dim::Lane), copies = layout.freeBits(layout::Dim::Register);
  int64_t instructions = 0;
  for (const auto &group : vectors.groups)
    instructions += !(layout::Vec(group[0] % layout.unitRegisters()) & copies);
  constexpr int64_t sectorBytes = 32, issue = 4;
  std::set<layout::Coords> sectors;
  for (int64_t lane = 0; lane < 32; ++lane) {
    if (layout::Vec(lane) & copyLanes)
      continue;
    layout::Coords at = layout.apply({.reg = 0, .lane = lane});
    int64_t first = at[access.axis] * access.elementBytes;
    for (int64_t byte = 0; byte < vectors.width * access.elementBytes; byte += sectorBytes / 2) {
      at[access.axis] = (first + byte) / sectorBytes;
      sectors.insert(at);
    }
  }
  return instructions * (int64_t(sectors.size()) + issue);
}

int64_t conversionCost(int64_t registers) { return 64 + 6 * registers; }

bool paysToConvert(const layout::Layout &layout, const layout::Layout &best, const AccessShape &access) {
  return accessCost(layout, access) > accessCost(best, access) + conversionCost(layout.numRegisters());
}

} // namespace tilegym::transforms
