// SPDX-License-Identifier: MIT
// Slices, permutations, reshapes, broadcasts and products against their definitions, place by place.
#include "RegisterFile.h"

#include "compiler/layout/Reduce.h"
#include "compiler/layout/Transform.h"

#include <numeric>

using namespace tilegym::layout;
using namespace tilegym::layout::test;

namespace {

std::vector<Layout> samples() {
  return {get(blocked({24, 96}, {2, 4, {1, 0}, 16, {}})), get(blocked({24, 96}, {2, 4, {0, 1}, 16, {}})),
          get(blocked({8, 64}, {2, 8, {1, 0}, 16, {0, 1}})), get(blocked({4, 8}, {4, 4, {1, 0}, 16, {}})),
          get(blocked({1, 4096}, {2, 8, {1, 0}, 16, {}})), get(mmaAccumulator({32, 48}, {2, 2})),
          get(mmaOperandA({32, 32}, 2, {2, 2})), get(mmaOperandB({32, 24}, 2, {2, 1})),
          get(wgmmaAccumulator({128, 96}, {2, 1})), get(blocked({2, 16, 24}, {4, 2, {}, 16, {}})),
          // Register copies, and a register that repeats a lane.
          get(Layout::make({4, 32}, {{{1, 0, 32, 1, 64}, {2, 4, 8, 16, 32}, {0}, {}}}))};
}

template <typename Visit> void forPlaces(const Layout &layout, Visit visit) {
  for (int64_t warp = 0; warp < layout.numWarps(); ++warp)
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
        visit(Place{reg, lane, warp, 0});
}

} // namespace

TEST_CASE("a slice holds the projections, in the threads that had them", "[transform]") {
  for (const Layout &layout : samples())
    for (int axis = 0; axis < layout.rank(); ++axis) {
      INFO(layout.str() << " axis " << axis);
      Layout slice = sliceAxis(layout, axis);
      CHECK(slice.shape()[axis] == 1);
      checkHolds(slice);
      auto map = projectRegisters(layout, slice);
      REQUIRE(map);
      forPlaces(layout, [&](Place place) {
        Coords want = layout.apply(place);
        want[axis] = 0;
        place.reg = (*map)[size_t(place.reg)];
        CHECK(slice.apply(place) == want);
      });
      // No thread holds an element twice.
      std::set<int64_t> held;
      for (int64_t reg = 0; reg < slice.numRegisters(); ++reg)
        held.insert(slice.index({.reg = reg}));
      CHECK(int64_t(held.size()) == slice.numRegisters());
    }
}

TEST_CASE("projecting to a layout in other threads fails", "[transform]") {
  Layout full = get(blocked({8, 64}, {2, 4, {1, 0}, 16, {}}));
  Layout other = get(blocked({1, 64}, {2, 4, {1, 0}, 16, {}}));
  CHECK(projectRegisters(full, other).error() ==
        "a tile of 1x64 does not lie along one of 8x64: its elements are in other threads");
  CHECK(projectRegisters(full, get(blocked({1, 32}, {2, 4, {}, 16, {}}))).error() ==
        "a tile of 1x32 does not lie along one of 8x64: the extents differ");
}

TEST_CASE("permuting axes keeps places", "[transform]") {
  for (const Layout &layout : samples()) {
    std::vector<int> perm(size_t(layout.rank()));
    std::iota(perm.begin(), perm.end(), 0);
    do {
      Layout permuted = get(permuteAxes(layout, perm));
      checkHolds(permuted);
      forPlaces(layout, [&](const Place &place) {
        Coords before = layout.apply(place), after = permuted.apply(place);
        for (size_t i = 0; i < perm.size(); ++i)
          CHECK(after[i] == before[size_t(perm[i])]);
      });
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
  CHECK(permuteAxes(samples()[0], {0, 0}).error() == "not a permutation of 2 axes");
}

TEST_CASE("permuting bits of an axis keeps places", "[transform]") {
  Layout layout = get(wgmmaAccumulator({192, 24}, {1, 1, 1}));
  Layout moved = get(permuteBits(layout, 0, {1, 2, 0}));
  checkHolds(moved);
  forPlaces(layout, [&](const Place &place) {
    Coords before = layout.apply(place), after = moved.apply(place);
    CHECK(after[0] == before[0] / 8 * 8 + before[0] % 4 * 2 + before[0] / 4 % 2);
    CHECK(after[1] == before[1]);
  });
  CHECK(get(permuteBits(moved, 0, {2, 0, 1})) == layout);
  CHECK(permuteBits(layout, 1, {1, 0, 2, 3}).error() == "axis 1 of 64x8 has fewer than 4 bits");
}

TEST_CASE("reshape keeps row-major indices", "[transform]") {
  struct Case {
    Shape from, to;
  };
  for (const Case &c : {Case{{24, 8}, {192}},
                        {{192}, {24, 8}},
                        {{24, 8}, {24, 2, 4}},
                        {{4, 8, 24}, {32, 24}},
                        {{4, 8, 24}, {1, 32, 1, 24, 1}},
                        {{1, 96}, {96}},
                        {{96}, {1, 96}},
                        {{64, 64}, {4096}},
                        {{16, 16, 4}, {4, 256}},
                        {{24, 96}, {24, 96, 1}},
                        {{8, 40}, {2, 4, 40}},
                        {{1}, {1, 1, 1}},
                        {{24, 40, 2}, {24, 80}},
                        {{1, 1}, {1}}}) {
    for (std::vector<int> order : {std::vector<int>{}, {0}}) {
      if (order.size() == 1 && c.from.size() != 1)
        continue;
      Layout layout = get(blocked(c.from, {2, 2, order, 16, {}}));
      Layout shaped = get(reshape(layout, c.to));
      INFO(layout.str() << " to " << shaped.str());
      CHECK(shaped.shape() == c.to);
      forPlaces(layout, [&](const Place &place) { CHECK(layout.index(place) == shaped.index(place)); });
    }
  }
}

TEST_CASE("reshape refuses what no register naming can do", "[transform]") {
  Layout layout = get(blocked({4, 192}, {2, 4, {}, 16, {}}));
  CHECK(
      reshape(layout, {4, 2, 96}).error() ==
      "cannot reshape 4x192 to 4x2x96 in registers: an odd factor would leave the slowest place of its axes");
  CHECK(reshape(layout, {768}).error() ==
        "cannot reshape 4x192 to 768 in registers: an odd factor would leave the slowest place of its axes");
  CHECK(reshape(layout, {4, 96}).error() == "cannot reshape 4x192 to 4x96: the numbers of elements differ");
  CHECK(
      reshape(get(blocked({24, 5 * 8}, {2, 4, {}, 16, {}})), {40, 24}).error() ==
      "cannot reshape 24x40 to 40x24 in registers: an odd factor would leave the slowest place of its axes");
}

TEST_CASE("new axes and broadcasts", "[transform]") {
  for (const Layout &layout : samples())
    for (int axis = 0; axis <= layout.rank(); ++axis)
      for (int64_t extent : {1, 4, 24}) {
        Layout expanded = get(expandDims(layout, axis));
        Layout wide = get(broadcastAxis(expanded, axis, extent));
        INFO(layout.str() << " axis " << axis << " x " << extent);
        CHECK(wide.shape()[size_t(axis)] == extent);
        checkHolds(wide);
        auto map = projectRegisters(wide, expanded);
        REQUIRE(map);
        forPlaces(wide, [&](Place place) {
          Coords want = wide.apply(place);
          want.erase(want.begin() + axis);
          place.reg = (*map)[size_t(place.reg)];
          CHECK(layout.apply(place) == want);
        });
      }
  CHECK(broadcastAxis(samples()[0], 0, 4).error() == "cannot broadcast axis 0 of 24x96 to 4");
  CHECK(expandDims(samples()[0], 3).error() == "axis 3 is not within 0 to 2");
}

TEST_CASE("pieces side by side, joined and taken apart", "[transform]") {
  int joined = 0;
  for (const Layout &layout : samples())
    for (int axis = 0; axis < layout.rank(); ++axis)
      for (int64_t count : {1, 2, 3, 6}) {
        auto whole = joinAxis(layout, axis, count);
        INFO(layout.str() << " axis " << axis << " x " << count);
        bool odd = layout.shape()[size_t(axis)] != layout.unit()[size_t(axis)];
        REQUIRE(bool(whole) == (!odd || count % 2 == 1));
        if (!whole)
          continue;
        ++joined;
        checkHolds(*whole);
        int64_t extent = layout.shape()[size_t(axis)];
        CHECK(whole->shape()[size_t(axis)] == extent * count);
        // In every thread, each piece is the small layout, in some registers.
        for (int64_t piece = 0; piece < count; ++piece)
          for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
            Coords at = layout.apply({.reg = reg});
            at[size_t(axis)] += piece * extent;
            auto source = whole->registerInThreadZero(at);
            REQUIRE(source);
            for (int64_t lane : {5, 31})
              for (int64_t warp = 0; warp < layout.numWarps(); ++warp) {
                Coords have = whole->apply({*source, lane, warp}), want = layout.apply({reg, lane, warp});
                want[size_t(axis)] += piece * extent;
                CHECK(have == want);
              }
          }
        auto back = splitAxis(*whole, axis, count);
        REQUIRE(back);
        CHECK(*back == layout);
      }
  CHECK(joined > 40);
  CHECK(joinAxis(samples()[0], 1, 2).error() ==
        "cannot lay 2 tiles of 24x96 side by side along axis 1 in registers");
  CHECK_THAT(splitAxis(get(blocked({1, 256}, {4, 2, {}, 16, {}})), 1, 2).error(),
             Catch::EndsWith("does not hold the same part of each of 2 pieces along axis 1"));
}

TEST_CASE("products nest", "[transform]") {
  Layout inner = get(mmaAccumulator({16, 8}, {1, 1}));
  Layout outer = get(Layout::make({4, 6}, {{{1}, {}, {2, 4}, {}}}));
  Layout both = get(product(inner, outer));
  CHECK(both == get(Layout::make({64, 48}, both.allBases())));
  CHECK(both.shape() == Shape{64, 48});
  checkHolds(both);
  CHECK(product(samples()[0], inner).error() ==
        "the inner layout of a product must be a unit tile of the outer one's rank");
  forPlaces(both, [&](const Place &place) {
    Coords in = inner.apply({place.reg % 4, place.lane, 0, 0}),
           out = outer.apply({place.reg / 4, 0, place.warp, 0});
    CHECK(both.apply(place) == Coords{in[0] + 16 * out[0], in[1] + 8 * out[1]});
  });
}

TEST_CASE("a reduction meets every element exactly once", "[reduce]") {
  for (const Layout &layout : samples())
    for (int axis = 0; axis < layout.rank(); ++axis) {
      INFO(layout.str() << " axis " << axis);
      auto plan = planReduction(layout, axis);
      INFO((plan ? "" : plan.error()));
      REQUIRE(plan);
      const Layout &result = plan->result;
      // Counts how often each element took part, in every place of the result.
      using Bag = std::map<int64_t, int>;
      auto slot = [&](int64_t reg, int64_t lane, int64_t warp) {
        return size_t((warp * 32 + lane) * result.numRegisters() + reg);
      };
      std::vector<Bag> bags(size_t(result.numRegisters() * 32 * result.numWarps()));
      forPlaces(result, [&](const Place &place) {
        for (int64_t reg : plan->registers[size_t(place.reg)])
          ++bags[slot(place.reg, place.lane, place.warp)][layout.index({reg, place.lane, place.warp})];
      });
      auto butterfly = [&](int64_t laneXor, int64_t warpXor) {
        std::vector<Bag> before = bags;
        forPlaces(result, [&](const Place &place) {
          for (auto [element, count] : before[slot(place.reg, place.lane ^ laneXor, place.warp ^ warpXor)])
            bags[slot(place.reg, place.lane, place.warp)][element] += count;
        });
      };
      for (int64_t mask : plan->laneXors)
        butterfly(mask, 0);
      for (int64_t mask : plan->warpXors)
        butterfly(0, mask);
      forPlaces(result, [&](const Place &place) {
        Bag want;
        Coords at = result.apply(place);
        for (at[size_t(axis)] = 0; at[size_t(axis)] < layout.shape()[size_t(axis)]; ++at[size_t(axis)])
          ++want[layout.index(layout.find(at))];
        CHECK(bags[slot(place.reg, place.lane, place.warp)] == want);
      });
    }
}

TEST_CASE("where a row's reduction goes", "[reduce]") {
  auto plan = planReduction(get(wgmmaAccumulator({64, 128}, {1, 1})), 1);
  REQUIRE(plan);
  CHECK(plan->laneXors == std::vector<int64_t>{1, 2});
  CHECK(plan->staysInWarp());
  CHECK(plan->registers.size() == 2);

  auto across = planReduction(get(blocked({1, 4096}, {2, 8, {1, 0}, 16, {}})), 1);
  REQUIRE(across);
  CHECK(across->warpXors == std::vector<int64_t>{1, 2, 4});
  CHECK(across->warpSteps == std::vector<int64_t>{256, 512, 1024});

  auto within = planReduction(get(blocked({8, 1024}, {2, 8, {1, 0}, 16, {0, 1}})), 1);
  REQUIRE(within);
  CHECK(within->staysInWarp());

  // Copies take part once.
  auto small = planReduction(get(blocked({1, 8}, {4, 1, {1, 0}, 16, {}})), 1);
  REQUIRE(small);
  CHECK(small->laneXors == std::vector<int64_t>{1, 2, 4});
}

TEST_CASE("a swizzled tile is not reduced in place", "[reduce]") {
  Layout mixed = get(Layout::make({2, 64}, {{{64}, {64 ^ 1, 2, 4, 8, 16}, {32}, {}}}));
  auto plan = planReduction(mixed, 1);
  REQUIRE_FALSE(plan);
  CHECK_THAT(plan.error(), Catch::EndsWith("a step along it also moves along another axis"));
}

TEST_CASE("what a block of a cluster has, its turns one after another", "[transform]") {
  BlockedSpec spec{2, 4, {}, 16, {}, 4, 1};
  Layout row = get(blocked({1, 16384}, spec));
  BlockTurns turns = *blockTurns(row, 1);
  CHECK(turns == BlockTurns{1024, 4});
  Layout within = withinBlock(row, 1, turns);
  CHECK(within.shape() == Shape{1, 4096});
  for (int64_t block : {0, 3})
    for (int64_t reg = 0; reg < row.numRegisters(); ++reg) {
      int64_t column = row.apply({reg, 9, 2, block})[1];
      CHECK(column / 1024 % 4 == block);
      CHECK(within.apply({reg, 9, 2, block}) == Coords{0, column / 4096 * 1024 + column % 1024});
    }
  // A stretch each; one block, or blocks that all have the whole.
  spec.contiguous = true;
  CHECK(*blockTurns(get(blocked({1, 16384}, spec)), 1) == BlockTurns{4096, 4});
  spec.blockAxis = -1;
  Layout whole = get(blocked({3, 96}, spec));
  CHECK(*blockTurns(whole, 1) == BlockTurns{96, 1});
  CHECK(withinBlock(whole, 1, {96, 1}) == whole);
}

TEST_CASE("blocks without equal turns along an axis are refused", "[transform]") {
  std::vector<Vec> lanes = {1, 2, 4, 8, 16};
  const char *why = "the blocks of a cluster take no equal turns along axis 1";
  for (std::vector<Vec> blocks : {std::vector<Vec>{256, 32}, {64, 32}, {0, 32}, {32, 128}, {96}}) {
    Layout::Bases bases = {std::vector<Vec>{}, lanes, {}, blocks};
    for (Vec bit : {32, 64, 128, 256})
      if (std::find(blocks.begin(), blocks.end(), bit) == blocks.end())
        bases[0].push_back(bit);
    auto turns = blockTurns(get(Layout::make({2, 256}, bases)), 1);
    REQUIRE_FALSE(turns);
    CHECK(turns.error() == why);
  }
}
