// SPDX-License-Identifier: MIT
// Reduction planning: the index directions along which only the reduced axis changes, each element once.
#include "compiler/layout/Reduce.h"
#include "compiler/layout/Transform.h"

#include <algorithm>

namespace tilegym::layout {

Expected<ReductionPlan> planReduction(const Layout &layout, int axis) {
  if (axis < 0 || axis >= layout.rank())
    return Failure{"axis " + std::to_string(axis) + " of a tile of rank " + std::to_string(layout.rank())};
  ReductionPlan plan{sliceAxis(layout, axis), {}, {}, {}, {}, {}, {}, {}};
  Failure mixed{"cannot reduce axis " + std::to_string(axis) + " of " + layout.str() +
                " in place: a step along it also moves along another axis"};

  auto off = [&](Vec basis) { // what moves along other axes
    Coords coords = layout.unitCoords(basis);
    coords[axis] = 0;
    return layout.unitIndex(coords);
  };
  // Every direction found so far, so that copies are not combined twice.
  Span along;
  auto directions = [&](Dim dim) {
    LinearMap aside;
    for (Vec basis : layout.bases(dim))
      aside.columns.push_back(off(basis));
    std::vector<std::pair<int64_t, int64_t>> found; // index mask, distance along the axis
    LinearMap all{layout.bases(dim)};
    for (Vec mask : kernel(aside)) {
      Vec step = all.apply(mask);
      if (along.add(step))
        found.emplace_back(int64_t(mask), layout.unitCoords(step)[axis]);
    }
    return found;
  };
  directions(Dim::Register);
  auto record = [&](Dim dim, std::vector<int64_t> &xors, std::vector<int64_t> &steps) {
    for (auto [mask, step] : directions(dim)) {
      xors.push_back(mask);
      steps.push_back(step);
    }
  };
  record(Dim::Lane, plan.laneXors, plan.laneSteps);
  record(Dim::Warp, plan.warpXors, plan.warpSteps);
  record(Dim::Block, plan.blockXors, plan.blockSteps);
  if (along.dim() != size_t(log2Exact(layout.unit()[axis])))
    return mixed;

  auto home = projectRegisters(layout, plan.result);
  if (!home)
    return mixed;
  std::vector<std::vector<std::pair<int64_t, int64_t>>> groups(size_t(plan.result.numRegisters()));
  for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
    auto &group = groups[size_t((*home)[size_t(reg)])];
    int64_t at = layout.apply({.reg = reg})[axis];
    bool copy = std::any_of(group.begin(), group.end(), [&](const auto &other) { return other.first == at; });
    if (!copy)
      group.emplace_back(at, reg);
  }
  for (auto &group : groups) {
    std::sort(group.begin(), group.end());
    plan.registers.emplace_back();
    for (auto [at, reg] : group)
      plan.registers.back().push_back(reg);
  }
  return plan;
}

} // namespace tilegym::layout
