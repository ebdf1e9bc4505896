// SPDX-License-Identifier: MIT
// Slicing, permuting, reshaping and joining layouts.
#include "compiler/layout/Transform.h"

#include <algorithm>

namespace tilegym::layout {

namespace {

/// Every basis of `layout`, with its coordinates changed by `change`, as an index into `unit`.
template <typename Change> Layout::Bases mapBases(const Layout &layout, const Shape &unit, Change change) {
  Layout::Bases bases = layout.allBases();
  for (auto &list : bases)
    for (Vec &basis : list) {
      Coords coords = change(layout.unitCoords(basis));
      basis = 0;
      for (size_t axis = 0; axis < unit.size(); ++axis)
        basis = basis * Vec(unit[axis]) + Vec(coords[axis]);
    }
  return bases;
}

/// Row-major weight of the axis within the unit tile.
Vec axisStep(const Shape &unit, int axis) {
  Vec step = 1;
  for (size_t later = size_t(axis) + 1; later < unit.size(); ++later)
    step *= Vec(unit[later]);
  return step;
}

int64_t repeatOf(const Layout &layout, int axis) { return layout.shape()[axis] / layout.unit()[axis]; }

/// A group of axes whose extents multiply to the same number before and after a reshape.
struct Group {
  std::vector<int> from, to;
};

std::optional<std::vector<Group>> groupAxes(const Shape &from, const Shape &to) {
  std::vector<Group> groups;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    Group group;
    int64_t left = 1, right = 1;
    do {
      // Extents of 1 join the group that is open, so that a trailing one has a home.
      if (i < from.size() && (left <= right || j == to.size())) {
        left *= from[i];
        group.from.push_back(int(i++));
      } else if (j < to.size()) {
        right *= to[j];
        group.to.push_back(int(j++));
      } else {
        return std::nullopt;
      }
    } while (left != right);
    groups.push_back(std::move(group));
  }
  return groups;
}

/// The axis of the group with an odd factor, -1 if none; fails unless it is the slowest of those that are
/// not 1.
std::optional<int> oddAxis(const std::vector<int> &axes, const Shape &shape) {
  int odd = -1;
  bool first = true;
  for (int axis : axes) {
    if (shape[axis] == 1)
      continue;
    if (!isPowerOfTwo(shape[axis])) {
      if (!first)
        return std::nullopt;
      odd = axis;
    }
    first = false;
  }
  return odd;
}

std::vector<int64_t> withoutOnes(const std::vector<int> &axes, const Shape &shape) {
  std::vector<int64_t> extents;
  for (int axis : axes)
    if (shape[axis] != 1)
      extents.push_back(shape[axis]);
  return extents;
}

} // namespace

Layout sliceAxis(const Layout &layout, int axis) {
  Shape unit = layout.unit();
  unit[axis] = 1;
  Layout::Bases bases = mapBases(layout, unit, [&](Coords coords) {
    coords[axis] = 0;
    return coords;
  });
  auto &regs = bases[size_t(Dim::Register)];
  regs = extend({}, regs);
  std::vector<Repeat> repeats;
  for (const Repeat &repeat : layout.repeats())
    if (repeat.axis != axis)
      repeats.push_back(repeat);
  return *Layout::make(std::move(unit), std::move(bases), std::move(repeats));
}

Expected<Layout> permuteAxes(const Layout &layout, const std::vector<int> &perm) {
  std::vector<int> sorted = perm, place(perm.size());
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != int(i) || perm.size() != layout.unit().size())
      return Failure{"not a permutation of " + std::to_string(layout.rank()) + " axes"};
  Shape unit;
  for (size_t i = 0; i < perm.size(); ++i) {
    unit.push_back(layout.unit()[perm[i]]);
    place[perm[i]] = int(i);
  }
  Layout::Bases bases = mapBases(layout, unit, [&](const Coords &coords) {
    Coords result;
    for (int axis : perm)
      result.push_back(coords[axis]);
    return result;
  });
  std::vector<Repeat> repeats = layout.repeats();
  for (Repeat &repeat : repeats)
    repeat.axis = place[repeat.axis];
  return Layout::make(std::move(unit), std::move(bases), std::move(repeats));
}

Expected<Layout> permuteBits(const Layout &layout, int axis, const std::vector<int> &to) {
  if (layout.unit()[size_t(axis)] >> to.size() == 0)
    return Failure{"axis " + std::to_string(axis) + " of " + formatShape(layout.unit()) + " has fewer than " +
                   std::to_string(to.size()) + " bits"};
  Layout::Bases bases = mapBases(layout, layout.unit(), [&](Coords coords) {
    int64_t &at = coords[size_t(axis)];
    int64_t moved = at >> to.size() << to.size();
    for (size_t bit = 0; bit < to.size(); ++bit)
      moved |= (at >> bit & 1) << to[bit];
    at = moved;
    return coords;
  });
  return Layout::make(layout.unit(), std::move(bases), layout.repeats());
}

Expected<Layout> reshape(const Layout &argument, const Shape &shape) {
  Layout layout = argument.normalized();
  std::string what = "cannot reshape " + formatShape(layout.shape()) + " to " + formatShape(shape);
  for (const Repeat &repeat : layout.repeats())
    if (repeat.count % 2 == 0)
      return Failure{what + " in registers: the unit tile " + formatShape(layout.unit()) +
                     " is not the whole power-of-two part"};
  auto groups = groupAxes(layout.shape(), shape);
  if (!groups)
    return Failure{what + ": the numbers of elements differ"};

  std::vector<int> newAxis(layout.shape().size(), -1); // of an axis with an odd factor
  for (const Group &group : *groups) {
    if (withoutOnes(group.from, layout.shape()) == withoutOnes(group.to, shape)) {
      auto to = group.to.begin();
      for (int axis : group.from) {
        if (layout.shape()[axis] == 1)
          continue;
        while (shape[*to] == 1)
          ++to;
        newAxis[axis] = *to++;
      }
      continue;
    }
    // A row-major index is odd * 2^k + bits exactly if the odd factor is the slowest part, before and after.
    auto from = oddAxis(group.from, layout.shape()), to = oddAxis(group.to, shape);
    bool same = from && to && (*from < 0) == (*to < 0);
    if (same && *from >= 0)
      same = layout.shape()[*from] / layout.unit()[*from] == shape[*to] / powerOfTwoPart(shape[*to]);
    if (!same)
      return Failure{what + " in registers: an odd factor would leave the slowest place of its axes"};
    if (*from >= 0)
      newAxis[*from] = *to;
  }

  Shape unit;
  for (int64_t extent : shape)
    unit.push_back(powerOfTwoPart(extent));
  std::vector<Repeat> repeats = layout.repeats();
  for (Repeat &repeat : repeats)
    repeat.axis = newAxis[repeat.axis];
  // The row-major unit index of an element is the same in both shapes, so the bases stay.
  return Layout::make(std::move(unit), layout.allBases(), std::move(repeats));
}

Expected<Layout> expandDims(const Layout &layout, int axis) {
  if (axis < 0 || axis > layout.rank())
    return Failure{"axis " + std::to_string(axis) + " is not within 0 to " + std::to_string(layout.rank())};
  Shape unit = layout.unit();
  unit.insert(unit.begin() + axis, 1);
  std::vector<Repeat> repeats = layout.repeats();
  for (Repeat &repeat : repeats)
    repeat.axis += repeat.axis >= axis;
  return Layout::make(std::move(unit), layout.allBases(), std::move(repeats));
}

Expected<Layout> broadcastAxis(const Layout &layout, int axis, int64_t extent) {
  if (axis < 0 || axis >= layout.rank() || layout.shape()[axis] != 1 || extent < 1)
    return Failure{"cannot broadcast axis " + std::to_string(axis) + " of " + formatShape(layout.shape()) +
                   " to " + std::to_string(extent)};
  Shape unit = layout.unit();
  unit[axis] = powerOfTwoPart(extent);
  Layout::Bases bases = mapBases(layout, unit, [](const Coords &coords) { return coords; });
  Vec step = axisStep(unit, axis);
  for (int64_t i = 1; i < unit[axis]; i *= 2, step *= 2)
    bases[size_t(Dim::Register)].push_back(step);
  std::vector<Repeat> repeats = layout.repeats();
  repeats.push_back({axis, extent / unit[axis]});
  return Layout::make(std::move(unit), std::move(bases), std::move(repeats));
}

Expected<Layout> product(const Layout &inner, const Layout &outer) {
  if (!inner.repeats().empty() || inner.rank() != outer.rank())
    return Failure{"the inner layout of a product must be a unit tile of the outer one's rank"};
  Shape unit;
  for (int axis = 0; axis < inner.rank(); ++axis)
    unit.push_back(inner.unit()[axis] * outer.unit()[axis]);
  Layout::Bases bases = mapBases(inner, unit, [](const Coords &coords) { return coords; });
  Layout::Bases more = mapBases(outer, unit, [&](Coords coords) {
    for (int axis = 0; axis < inner.rank(); ++axis)
      coords[axis] *= inner.unit()[axis];
    return coords;
  });
  for (size_t dim = 0; dim < bases.size(); ++dim)
    bases[dim] = concat(bases[dim], more[dim]);
  return Layout::make(std::move(unit), std::move(bases), outer.repeats());
}

Expected<Layout> joinAxis(const Layout &layout, int axis, int64_t count) {
  int64_t twos = powerOfTwoPart(count), odd = count / twos, before = repeatOf(layout, axis);
  Failure bad{"cannot lay " + std::to_string(count) + " tiles of " + formatShape(layout.shape()) +
              " side by side along axis " + std::to_string(axis) + " in registers"};
  // With an odd factor already there, a power of two would have to come above it.
  if (count < 1 || (before > 1 && twos > 1))
    return bad;
  Shape unit = layout.unit();
  unit[axis] *= twos;
  Layout::Bases bases = mapBases(layout, unit, [](const Coords &coords) { return coords; });
  for (int64_t i = 1; i < twos; i *= 2)
    bases[size_t(Dim::Register)].push_back(axisStep(unit, axis) * Vec(layout.unit()[axis] * i));
  std::vector<Repeat> repeats = layout.repeats();
  auto same = [&](const Repeat &repeat) { return repeat.axis == axis; };
  auto at = std::find_if(repeats.begin(), repeats.end(), same);
  if (at == repeats.end())
    repeats.push_back({axis, odd});
  else
    at->count *= odd;
  return Layout::make(std::move(unit), std::move(bases), std::move(repeats));
}

Expected<Layout> splitAxis(const Layout &layout, int axis, int64_t count) {
  Failure bad{"a thread of " + layout.str() + " does not hold the same part of each of " +
              std::to_string(count) + " pieces along axis " + std::to_string(axis)};
  int64_t twos = powerOfTwoPart(count), odd = count / twos, before = repeatOf(layout, axis);
  if (count < 1 || layout.unit()[axis] % twos || before % odd || (twos > 1 && before != odd))
    return bad;
  Shape unit = layout.unit();
  unit[axis] /= twos;
  Layout::Bases bases = layout.allBases();
  for (int64_t i = 1; i < twos; i *= 2) {
    Vec bit = axisStep(layout.unit(), axis) * Vec(unit[axis] * i);
    auto &regs = bases[size_t(Dim::Register)];
    auto at = std::find(regs.begin(), regs.end(), bit);
    if (at == regs.end())
      return bad;
    regs.erase(at);
    for (const auto &list : bases)
      for (Vec basis : list)
        if (basis & bit)
          return bad;
  }
  for (auto &list : bases)
    for (Vec &basis : list) {
      Coords coords = layout.unitCoords(basis);
      basis = 0;
      for (size_t a = 0; a < unit.size(); ++a)
        basis = basis * Vec(unit[a]) + Vec(coords[a]);
    }
  std::vector<Repeat> repeats = layout.repeats();
  for (Repeat &repeat : repeats)
    if (repeat.axis == axis)
      repeat.count /= odd;
  return Layout::make(std::move(unit), std::move(bases), std::move(repeats));
}

Expected<std::vector<int64_t>> projectRegisters(const Layout &full, const Layout &reduced) {
  auto mismatch = [&](const std::string &why) {
    return Failure{"a tile of " + formatShape(reduced.shape()) + " does not lie along one of " +
                   formatShape(full.shape()) + ": " + why};
  };
  if (full.rank() != reduced.rank())
    return mismatch("the ranks differ");
  auto project = [&](Coords coords) {
    for (int axis = 0; axis < full.rank(); ++axis)
      if (reduced.shape()[axis] == 1)
        coords[axis] = 0;
    return coords;
  };
  for (int axis = 0; axis < full.rank(); ++axis)
    if (reduced.shape()[axis] != 1 &&
        (reduced.shape()[axis] != full.shape()[axis] || reduced.unit()[axis] != full.unit()[axis]))
      return mismatch("the extents differ");
  for (Dim dim : {Dim::Lane, Dim::Warp, Dim::Block}) {
    if (full.bits(dim) != reduced.bits(dim))
      return mismatch("the thread counts differ");
    for (int bit = 0; bit < full.bits(dim); ++bit)
      if (reduced.unitIndex(project(full.unitCoords(full.bases(dim)[bit]))) != reduced.bases(dim)[bit])
        return mismatch("its elements are in other threads");
  }
  std::vector<int64_t> registers;
  for (int64_t reg = 0; reg < full.numRegisters(); ++reg) {
    auto held = reduced.registerInThreadZero(project(full.apply({.reg = reg})));
    if (!held)
      return mismatch("its elements are in other threads");
    registers.push_back(*held);
  }
  return registers;
}

Expected<BlockTurns> blockTurns(const Layout &layout, int axis) {
  BlockTurns turns{layout.shape()[axis], 1};
  bool copies = false;
  for (Vec basis : layout.bases(Dim::Block)) {
    copies |= basis == 0;
    if (basis == 0)
      continue;
    int64_t step = layout.unitCoords(basis)[axis];
    if (turns.blocks == 1)
      turns.turn = step;
    // Bits of one axis, one each, rising from that of the turn.
    if (basis != Vec(step) * axisStep(layout.unit(), axis) || step != turns.turn * turns.blocks ||
        !isPowerOfTwo(step) || copies)
      return Failure{"the blocks of a cluster take no equal turns along axis " + std::to_string(axis)};
    turns.blocks *= 2;
  }
  return turns;
}

Layout withinBlock(const Layout &layout, int axis, BlockTurns turns) {
  Shape unit = layout.unit();
  if (turns.blocks > 1)
    unit[axis] /= turns.blocks;
  Layout::Bases bases = mapBases(layout, unit, [&](Coords coords) {
    int64_t in = coords[axis] % turns.turn, before = coords[axis] / (turns.turn * turns.blocks);
    coords[axis] = in + before * turns.turn;
    return coords;
  });
  return *Layout::make(std::move(unit), std::move(bases), layout.repeats());
}

} // namespace tilegym::layout
