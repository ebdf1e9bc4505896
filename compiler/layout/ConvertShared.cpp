// SPDX-License-Identifier: MIT
// Conversion through shared memory: a buffer layout in which both sides use wide accesses without bank
// conflicts.
//
// The bits of an offset are, from the lowest: the vector, the bank group (up to 128 bytes), the row. Two
// lanes of one phase conflict if their elements differ by a combination of vector and row directions. So the
// row directions H are chosen to meet neither span(V, lanes of a storing phase) nor span(V, lanes of a
// loading phase): a common complement of the two, which exists whenever both are of equal dimension. That is
// the swizzle.
#include "compiler/layout/ConvertDetail.h"
#include "compiler/layout/Shared.h"

#include <algorithm>

namespace tilegym::layout::detail {

namespace {

constexpr int rowBytes = 128, maxVectorBytes = 16;

std::vector<Vec> firstN(std::vector<Vec> list, size_t n) {
  list.resize(std::min(list.size(), n));
  return list;
}

std::vector<Vec> threads(const Layout &layout) {
  return concat(layout.bases(Dim::Lane), layout.bases(Dim::Warp));
}

struct Planner {
  const Layout &from, &to;
  int elemBytes;
  std::vector<Vec> block = extend({}, from.bases(Dim::Block));
  std::vector<Vec> all = concat(concat(threads(from), threads(to)), unitVectors(from.unitBits()));

  /// Offsets by unit index, for vectors `shared` (of both sides) followed by `wide` (of one side only:
  /// `wider`).
  std::optional<LinearMap> offsets(const std::vector<Vec> &shared, const std::vector<Vec> &wide,
                                   const Layout &wider, const Layout &narrower) const;
  SharedSide side(const Layout &layout, const LinearMap &offset, const std::vector<Vec> &vector,
                  bool everyRegister) const;
  std::optional<SharedPlan> plan(const std::vector<Vec> &shared, const std::vector<Vec> &wide,
                                 bool wideStore) const;
};

std::optional<LinearMap> Planner::offsets(const std::vector<Vec> &shared, const std::vector<Vec> &wide,
                                          const Layout &wider, const Layout &narrower) const {
  std::vector<Vec> vector = concat(shared, wide);
  int bankBits = log2Exact(rowBytes / elemBytes) - int(vector.size());
  std::vector<Vec> fixed = concat(vector, block);
  size_t rest = size_t(from.unitBits()) - fixed.size();
  size_t bankDim = std::min(size_t(bankBits), rest);

  // The thread directions come first in every choice, so that offsets of threads stay clear of the vector
  // bits.
  std::vector<Vec> candidates =
      concat(concat(threads(wider), threads(narrower)), unitVectors(from.unitBits()));
  auto phase = [&](const Layout &layout) {
    return firstN(extend(fixed, concat(layout.bases(Dim::Lane), candidates)), bankDim);
  };
  std::vector<Vec> rows =
      commonComplement(concat(fixed, phase(wider)), concat(fixed, phase(narrower)), candidates);
  std::vector<Vec> banks = extend(concat(fixed, rows), concat(wider.bases(Dim::Lane), candidates));
  LinearMap elements{concat(concat(concat(vector, banks), rows), block)};
  auto inverse = rightInverse(elements, from.unitBits());
  if (!inverse)
    return std::nullopt;
  Vec keep = (Vec(1) << (elements.columns.size() - block.size())) - 1;
  for (Vec &column : inverse->columns)
    column &= keep;

  // A vector must start at its own boundary in every thread.
  auto aligned = [&](const Layout &layout, size_t bits) {
    for (Vec basis : threads(layout))
      if (inverse->apply(basis) & ((Vec(1) << bits) - 1))
        return false;
    return true;
  };
  if (!aligned(wider, vector.size()) || !aligned(narrower, shared.size()))
    return std::nullopt;
  return inverse;
}

SharedSide Planner::side(const Layout &layout, const LinearMap &offset, const std::vector<Vec> &vector,
                         bool everyRegister) const {
  SharedSide side;
  side.width = 1 << vector.size();
  for (Vec basis : layout.bases(Dim::Lane))
    side.laneMasks.push_back(int64_t(offset.apply(basis)));
  for (Vec basis : layout.bases(Dim::Warp))
    side.warpMasks.push_back(int64_t(offset.apply(basis)));

  int regBits = layout.bits(Dim::Register);
  LinearMap registers{layout.bases(Dim::Register)};
  Span span(layout.bases(Dim::Register));
  LinearMap within; // vector element to register, as a difference
  for (Vec step : vector)
    within.columns.push_back(*span.solve(step));
  Vec copies = 0;
  Span seen;
  for (int bit = 0; bit < regBits; ++bit)
    if (!seen.add(layout.bases(Dim::Register)[bit]))
      copies |= Vec(1) << bit;
  LinearMap others{extend(within.columns, unitVectors(regBits))};

  std::vector<SharedAccess> unit;
  for (Vec i = 0; i < Vec(1) << others.columns.size(); ++i) {
    Vec reg = others.apply(i);
    // Start at the vector's lowest element.
    reg ^= within.apply(offset.apply(registers.apply(reg)) & Vec(side.width - 1));
    if (!everyRegister && (reg & copies))
      continue;
    SharedAccess access;
    access.offset = int64_t(offset.apply(registers.apply(reg)));
    for (Vec element = 0; element < Vec(side.width); ++element)
      access.registers.push_back(int64_t(reg ^ within.apply(element)));
    unit.push_back(std::move(access));
  }
  std::sort(unit.begin(), unit.end(), [](const auto &a, const auto &b) { return a.offset < b.offset; });
  side.passes.push_back(std::move(unit));

  std::vector<int64_t> addresses;
  for (int64_t lane = 0; lane < int64_t(1) << side.laneMasks.size(); ++lane)
    addresses.push_back(side.offset({{}, 0}, lane, 0) * elemBytes);
  side.wavefronts = wavefronts(addresses, side.width * elemBytes);
  return side;
}

std::optional<SharedPlan> Planner::plan(const std::vector<Vec> &shared, const std::vector<Vec> &wide,
                                        bool wideStore) const {
  const Layout &wider = wideStore ? from : to, &narrower = wideStore ? to : from;
  auto offset = offsets(shared, wide, wider, narrower);
  if (!offset)
    return std::nullopt;
  SharedPlan plan;
  plan.store = side(from, *offset, wideStore ? concat(shared, wide) : shared, false);
  plan.load = side(to, *offset, wideStore ? shared : concat(shared, wide), true);
  plan.numElements = int64_t(1) << (size_t(from.unitBits()) - block.size());
  plan.sizeBytes = plan.numElements * elemBytes;
  plan.copyLaneBits = from.freeBits(Dim::Lane);
  plan.copyWarpBits = from.freeBits(Dim::Warp);
  return plan;
}

} // namespace

int sharedCost(const SharedPlan &plan) {
  auto side = [](const SharedSide &side) { return int(side.passes.front().size()) * (1 + side.wavefronts); };
  constexpr int barrierAndLatency = 24;
  return barrierAndLatency + side(plan.store) + side(plan.load);
}

} // namespace tilegym::layout::detail

namespace tilegym::layout {

using namespace detail;

int64_t SharedSide::offset(const SharedAccess &access, int64_t lane, int64_t warp) const {
  int64_t offset = access.offset;
  for (size_t bit = 0; bit < laneMasks.size(); ++bit)
    offset ^= (lane >> bit & 1) ? laneMasks[bit] : 0;
  for (size_t bit = 0; bit < warpMasks.size(); ++bit)
    offset ^= (warp >> bit & 1) ? warpMasks[bit] : 0;
  return offset;
}

namespace {

/// The register of repetition `coords` (those of a unit tile's first element) in a layout.
int64_t repetitionBase(const Layout &layout, const Coords &coords) {
  return *layout.registerInThreadZero(coords);
}

/// First coordinates of every unit tile, in the order of `layout`'s registers.
std::vector<Coords> repetitions(const Layout &layout) {
  std::vector<Coords> starts;
  for (int64_t k = 0; k < layout.repeatCount(); ++k)
    starts.push_back(layout.apply({.reg = k * layout.unitRegisters()}));
  return starts;
}

std::optional<Failure> check(const Layout &from, const Layout &to, int elemBytes) {
  std::string what = "no conversion from " + from.str() + " to " + to.str() + ": ";
  if (from.shape() != to.shape())
    return Failure{what + "the shapes differ"};
  for (int axis = 0; axis < from.rank(); ++axis)
    if (from.unit()[axis] != powerOfTwoPart(from.shape()[axis]) || to.unit()[axis] != from.unit()[axis])
      return Failure{what + "a unit tile is not the whole power-of-two part of the tile"};
  for (Dim dim : {Dim::Lane, Dim::Warp, Dim::Block})
    if (from.bits(dim) != to.bits(dim))
      return Failure{what + "the thread counts differ"};
  if (from.bits(Dim::Lane) != laneBits)
    return Failure{what + "a warp has 32 lanes"};
  if (from.bases(Dim::Block) != to.bases(Dim::Block))
    return Failure{what + "data would move between blocks"};
  if (!isPowerOfTwo(elemBytes) || elemBytes > 16)
    return Failure{what + "elements of " + std::to_string(elemBytes) + " bytes"};
  return std::nullopt;
}

} // namespace

Expected<SharedPlan> planShared(const Layout &from, const Layout &to, int elemBytes) {
  if (auto bad = check(from, to, elemBytes))
    return *bad;
  Planner planner{from, to, elemBytes};
  for (const Layout *layout : {&from, &to})
    if (extend(concat(layout->bases(Dim::Register), threads(*layout)), planner.block).size() !=
        planner.block.size())
      return Failure{"no conversion in shared memory of " + layout->str() +
                     ": blocks hold some elements of each other"};

  // What both sides hold in one thread, clear of every thread's own directions, may be one access on both
  // sides.
  size_t maxBits = size_t(log2Exact(maxVectorBytes / elemBytes));
  std::vector<Vec> moving = concat(concat(threads(from), threads(to)), planner.block);
  std::vector<Vec> common = extend(moving, intersect(from.bases(Dim::Register), to.bases(Dim::Register)));
  auto wider = [&](const Layout &layout, const std::vector<Vec> &base) {
    std::vector<Vec> clear = concat(concat(threads(layout), planner.block), base);
    return firstN(extend(clear, layout.bases(Dim::Register)), maxBits - base.size());
  };

  std::optional<SharedPlan> best;
  auto consider = [&](std::optional<SharedPlan> plan) {
    if (plan && (!best || sharedCost(*plan) < sharedCost(*best)))
      best = std::move(plan);
  };
  for (size_t bits = 0; bits <= std::min(maxBits, common.size()); ++bits) {
    std::vector<Vec> base = firstN(common, bits);
    consider(planner.plan(base, {}, true));
    for (bool wideStore : {true, false}) {
      std::vector<Vec> wide = wider(wideStore ? from : to, base);
      for (size_t more = 1; more <= wide.size(); ++more)
        consider(planner.plan(base, firstN(wide, more), wideStore));
    }
  }
  if (!best)
    return Failure{"no buffer layout for a conversion from " + from.str() + " to " + to.str()};

  // The unit plan, once for each repetition, in the registers of either side.
  std::vector<Coords> starts = repetitions(to);
  auto repeat = [&](SharedSide &side, const Layout &layout) {
    std::vector<SharedAccess> unit = side.passes.front();
    side.passes.clear();
    for (const Coords &start : starts) {
      side.passes.push_back(unit);
      for (SharedAccess &access : side.passes.back())
        for (int64_t &reg : access.registers)
          reg += repetitionBase(layout, start);
    }
  };
  repeat(best->store, from);
  repeat(best->load, to);
  return *best;
}

bool ConvertPlan::isIdentity() const {
  if (kind != ConvertKind::Registers)
    return false;
  for (size_t i = 0; i < registers.size(); ++i)
    if (registers[i] != int64_t(i))
      return false;
  return true;
}

Expected<ConvertPlan> planConversion(const Layout &from, const Layout &to, int elemBytes) {
  if (auto bad = check(from, to, elemBytes))
    return *bad;
  ConvertPlan plan;
  auto steps = planShuffles(from, to);
  bool still = steps && std::all_of(steps->begin(), steps->end(), [](const ShuffleStep &step) {
                 return step.laneXor() == 0 && step.send.isUniform() && step.receive.isUniform();
               });
  if (still) {
    plan.registers.resize(size_t(to.numRegisters()));
    for (const Coords &start : repetitions(to))
      for (const ShuffleStep &step : *steps)
        plan.registers[size_t(repetitionBase(to, start) + step.receive.base)] =
            repetitionBase(from, start) + step.send.base;
    return plan;
  }

  auto shared = planShared(from, to, elemBytes);
  if (steps && (!shared || shuffleCost(*steps) <= sharedCost(*shared))) {
    plan.kind = ConvertKind::Shuffle;
    for (const Coords &start : repetitions(to))
      for (ShuffleStep step : *steps) {
        // Adding a repetition's base is XORing it only above the unit registers, which it is a multiple of.
        step.send.base += repetitionBase(from, start);
        step.receive.base += repetitionBase(to, start);
        plan.shuffles.push_back(step);
      }
    return plan;
  }
  if (!shared)
    return Failure{shared.error()};
  plan.kind = ConvertKind::Shared;
  plan.shared = *shared;
  return plan;
}

} // namespace tilegym::layout
