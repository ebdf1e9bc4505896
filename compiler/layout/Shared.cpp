// SPDX-License-Identifier: MIT
// Composition of a register layout with the inverse of a shared-memory layout, and the bank model.
#include "compiler/layout/Shared.h"

#include <algorithm>
#include <set>

namespace tilegym::layout {

int64_t SharedAddresses::offset(int64_t reg, int64_t lane, int64_t warp) const {
  OffsetPart sum = registers[reg];
  auto add = [&](const std::vector<OffsetPart> &parts, int64_t index) {
    for (size_t bit = 0; bit < parts.size(); ++bit)
      if (index >> bit & 1) {
        sum.bits ^= parts[bit].bits;
        sum.step += parts[bit].step;
      }
  };
  add(laneBits, lane);
  add(warpBits, warp);
  return sum.bits + sum.step;
}

Expected<SharedAddresses> sharedAddresses(const Layout &tile, const Layout &shared) {
  std::string what = "no addresses for a tile of " + formatShape(tile.shape()) + " in a shared tile of " +
                     formatShape(shared.shape()) + ": ";
  if (tile.shape() != shared.shape())
    return Failure{what + "the shapes differ"};
  if (shared.bits(Dim::Lane) + shared.bits(Dim::Warp) + shared.bits(Dim::Block) + tile.bits(Dim::Block) != 0)
    return Failure{what + "one is spread over blocks, or the shared one over threads"};
  for (int axis = 0; axis < tile.rank(); ++axis)
    if (tile.unit()[axis] % shared.unit()[axis])
      return Failure{what + "the unit tiles do not nest"};

  // Coordinates beyond the shared unit tile choose a repetition of it, by addition; there no two index bits
  // may meet.
  LinearMap inverse = shared.inverse();
  Coords taken(tile.shape().size(), 0);
  bool clash = false;
  auto part = [&](const Coords &coords, bool unique) {
    OffsetPart result;
    Coords low(coords.size());
    int64_t stride = shared.unitRegisters();
    for (int axis = 0; axis < tile.rank(); ++axis) {
      low[axis] = coords[axis] % shared.unit()[axis];
      int64_t high = coords[axis] - low[axis];
      if (unique) {
        clash |= (taken[axis] & high) != 0;
        taken[axis] |= high;
      }
    }
    for (const Repeat &repeat : shared.repeats()) {
      result.step += coords[repeat.axis] / shared.unit()[repeat.axis] * stride;
      stride *= repeat.count;
    }
    result.bits = int64_t(inverse.apply(shared.unitIndex(low)));
    return result;
  };

  SharedAddresses addresses;
  for (Vec basis : tile.bases(Dim::Lane))
    addresses.laneBits.push_back(part(tile.unitCoords(basis), true));
  for (Vec basis : tile.bases(Dim::Warp))
    addresses.warpBits.push_back(part(tile.unitCoords(basis), true));
  for (int64_t reg = 0; reg < tile.numRegisters(); ++reg) {
    Coords coords = tile.apply({.reg = reg});
    for (int axis = 0; axis < tile.rank(); ++axis)
      clash |=
          (coords[axis] % tile.unit()[axis] / shared.unit()[axis] * shared.unit()[axis] & taken[axis]) != 0;
    addresses.registers.push_back(part(coords, false));
  }
  if (clash)
    return Failure{what + "two index bits choose the same repetition"};
  return addresses;
}

int64_t contiguousRun(const Layout &shared, int axis, int64_t most) {
  int64_t run = 1;
  for (; run * 2 <= std::min(most, shared.numRegisters()); run *= 2)
    for (int64_t i = run; i < run * 2; ++i) {
      Coords expected(size_t(shared.rank()), 0);
      expected[size_t(axis)] = i;
      if (shared.apply({.reg = i}) != expected)
        return run;
    }
  return run;
}

int idealWavefronts(int bytes) { return std::max(1, bytes / 4); }

int wavefronts(const std::vector<int64_t> &addresses, int bytes) {
  constexpr int banks = 32, wordBytes = 4;
  size_t phaseLanes = size_t(banks / idealWavefronts(bytes));
  int total = 0;
  for (size_t first = 0; first < addresses.size(); first += phaseLanes) {
    std::vector<std::set<int64_t>> wanted(banks);
    size_t most = 1;
    for (size_t lane = first; lane < std::min(addresses.size(), first + phaseLanes); ++lane)
      for (int64_t byte = addresses[lane]; byte < addresses[lane] + bytes; byte += wordBytes) {
        auto &words = wanted[size_t(byte / wordBytes % banks)];
        words.insert(byte / wordBytes);
        most = std::max(most, words.size());
      }
    total += int(most);
  }
  return total;
}

} // namespace tilegym::layout
