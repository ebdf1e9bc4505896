// SPDX-License-Identifier: MIT
// Conversion within a warp: which lane has what a lane wants, and in which order lanes trade so that each
// sends one register and receives one.
#include "compiler/layout/ConvertDetail.h"

#include <algorithm>
#include <bit>

namespace tilegym::layout {

int64_t LaneValue::at(int64_t lane) const {
  int64_t value = base;
  for (int bit = 0; bit < laneBits; ++bit)
    if (lane >> bit & 1)
      value ^= masks[bit];
  return value;
}

std::optional<int64_t> ShuffleStep::laneXor() const {
  for (int bit = 0; bit < laneBits; ++bit)
    if (source.masks[bit] != int64_t(1) << bit)
      return std::nullopt;
  return source.base;
}

namespace detail {

namespace {

constexpr Vec laneMask = (Vec(1) << laneBits) - 1;

/// A place within a warp, packed: lane bits low, register bits above.
int64_t laneOf(Vec place) { return int64_t(place & laneMask); }
int64_t registerOf(Vec place) { return int64_t(place >> laneBits); }

/// Where a thread finds `target`: in itself if possible, with `lane` as its own lane bits; else in any lane.
std::optional<Vec> locate(const Layout &from, Vec target, Vec lane) {
  LinearMap lanes{from.bases(Dim::Lane)};
  Span own(from.bases(Dim::Register));
  if (auto reg = own.solve(target ^ lanes.apply(lane)))
    return *reg << laneBits | lane;
  Span warp(concat(from.bases(Dim::Register), from.bases(Dim::Lane)));
  auto parts = warp.solve(target);
  if (!parts)
    return std::nullopt;
  int regBits = from.bits(Dim::Register);
  return (*parts & ((Vec(1) << regBits) - 1)) << laneBits | *parts >> regBits;
}

/// One step for each destination register. Works where the source register is a function of the source lane.
std::optional<std::vector<ShuffleStep>> gather(const Layout &from, const Layout &to) {
  LinearMap place; // of a destination lane's bits, then the register's
  for (int bit = 0; bit < laneBits; ++bit) {
    auto found = locate(from, to.bases(Dim::Lane)[bit], Vec(1) << bit);
    if (!found)
      return std::nullopt;
    place.columns.push_back(*found);
  }
  for (Vec basis : to.bases(Dim::Register)) {
    auto found = locate(from, basis, 0);
    if (!found)
      return std::nullopt;
    place.columns.push_back(*found);
  }
  // send(m) must satisfy send(source(l)) = wanted register, for all lanes l.
  Span sources;
  std::vector<int64_t> sends; // of the independent ones, by position in `sources`
  for (int bit = 0; bit < laneBits; ++bit) {
    Vec lane = Vec(laneOf(place.columns[bit]));
    int64_t reg = registerOf(place.columns[bit]);
    sends.push_back(reg);
    auto parts = sources.solve(lane);
    sources.add(lane);
    if (!parts)
      continue;
    for (int other = 0; other < bit; ++other)
      if (*parts >> other & 1)
        reg ^= sends[other];
    if (reg != 0)
      return std::nullopt;
  }
  // Extend to all lanes: those that nobody reads send register 0 of their own.
  std::vector<Vec> unread = extend(
      [&] {
        std::vector<Vec> read;
        for (int bit = 0; bit < laneBits; ++bit)
          read.push_back(Vec(laneOf(place.columns[bit])));
        return read;
      }(),
      unitVectors(laneBits));
  for (Vec lane : unread) {
    sources.add(lane);
    sends.push_back(0);
  }

  std::vector<ShuffleStep> steps;
  for (int64_t reg = 0; reg < to.unitRegisters(); ++reg) {
    ShuffleStep step;
    Vec base = place.apply(Vec(reg) << laneBits);
    step.receive.base = reg;
    step.source.base = laneOf(base);
    for (int bit = 0; bit < laneBits; ++bit) {
      step.source.masks[bit] = laneOf(place.columns[bit]);
      Vec parts = *sources.solve(Vec(1) << bit);
      for (size_t i = 0; i < sends.size(); ++i)
        if (parts >> i & 1)
          step.send.masks[bit] ^= sends[i];
    }
    // send(source(0)) must be the register wanted by lane 0.
    step.send.base = registerOf(base);
    step.send.base ^= step.send.at(laneOf(base)) ^ step.send.base;
    steps.push_back(step);
  }
  return steps;
}

/// Rounds for layouts that hold each element once. A round moves one coset of a subspace that meets every
/// lane once, before and after; to look like a butterfly its vectors have the same lane in both.
std::optional<std::vector<ShuffleStep>> rounds(const Layout &from, const Layout &to) {
  std::vector<Vec> a = concat(from.bases(Dim::Lane), from.bases(Dim::Register));
  std::vector<Vec> b = concat(to.bases(Dim::Lane), to.bases(Dim::Register));
  Span spanA(a), spanB(b);
  if (a.size() != b.size() || spanA.dim() != a.size() || spanB.dim() != b.size())
    return std::nullopt;
  for (Vec v : b)
    if (!spanA.contains(v))
      return std::nullopt;

  // Pairs (place before, place after), over a basis of the elements.
  std::vector<Vec> lanesBoth;
  for (Vec v : a)
    lanesBoth.push_back(Vec(laneOf(*spanA.solve(v))) | Vec(laneOf(*spanB.solve(v))) << laneBits);
  Span same(lanesBoth);
  LinearMap elements{a};
  std::vector<Vec> moved; // spans the round's subspace
  for (int bit = 0; bit < laneBits; ++bit)
    if (auto parts = same.solve(Vec(1) << bit | Vec(1) << (bit + laneBits)))
      moved.push_back(elements.apply(*parts));
  if (moved.size() != laneBits)
    moved = commonComplement(from.bases(Dim::Register), to.bases(Dim::Register), a);

  // By source lane: what a lane sends. By destination lane: where it reads and what it receives.
  LinearMap fromLanes, toLanes;
  for (Vec v : moved) {
    fromLanes.columns.push_back(Vec(laneOf(*spanA.solve(v))));
    toLanes.columns.push_back(Vec(laneOf(*spanB.solve(v))));
  }
  LinearMap element{moved};
  LinearMap bySource = compose(element, *rightInverse(fromLanes, laneBits));
  LinearMap byTarget = compose(element, *rightInverse(toLanes, laneBits));
  std::vector<ShuffleStep> steps;
  for (int64_t reg = 0; reg < from.unitRegisters(); ++reg) {
    // The coset through register `reg` of source lane 0; its member for target lane 0 lies elsewhere in it.
    Vec start = elements.apply(Vec(reg) << laneBits);
    Vec startTo = *spanB.solve(start);
    Vec zero = start ^ byTarget.apply(Vec(laneOf(startTo)));
    ShuffleStep step;
    step.send.base = reg;
    step.source.base = laneOf(*spanA.solve(zero));
    step.receive.base = registerOf(*spanB.solve(zero));
    for (int bit = 0; bit < laneBits; ++bit) {
      step.send.masks[bit] = registerOf(*spanA.solve(bySource.columns[bit]));
      step.source.masks[bit] = laneOf(*spanA.solve(byTarget.columns[bit]));
      step.receive.masks[bit] = registerOf(*spanB.solve(byTarget.columns[bit]));
    }
    steps.push_back(step);
  }
  return steps;
}

int selects(const LaneValue &value) {
  Span span;
  for (int64_t mask : value.masks)
    span.add(Vec(mask));
  return (1 << span.dim()) - 1;
}

} // namespace

std::optional<std::vector<ShuffleStep>> planShuffles(const Layout &from, const Layout &to) {
  if (from.bases(Dim::Warp) != to.bases(Dim::Warp))
    return std::nullopt;
  auto steps = gather(from, to);
  if (!steps)
    steps = rounds(from, to);
  return steps;
}

int shuffleCost(const std::vector<ShuffleStep> &steps) {
  // A shuffle occupies the shared-memory port for two cycles' worth of issue and has its latency; a select is
  // one instruction.
  int cost = 0;
  for (const ShuffleStep &step : steps)
    cost += (step.laneXor() == 0 ? 0 : 2) + selects(step.send) + selects(step.receive);
  return cost;
}

} // namespace detail

} // namespace tilegym::layout
