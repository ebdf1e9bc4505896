// SPDX-License-Identifier: MIT
// The layout type and the blocked builder: every small shape, thread count and order.
#include "RegisterFile.h"

using namespace tilegym::layout;
using namespace tilegym::layout::test;

TEST_CASE("blocked layouts hold every element, copies exactly where threads outnumber them", "[layout]") {
  for (int warps : {1, 2, 4, 8})
    for (int elemBytes : {1, 2, 4, 8})
      for (int64_t rows : {1, 2, 8, 24, 32})
        for (int64_t columns : {1, 4, 8, 40, 64, 96})
          for (std::vector<int> order : {std::vector<int>{0, 1}, {1, 0}})
            for (std::vector<int> warpOrder : {std::vector<int>{0, 1}, {1, 0}}) {
              Layout layout = get(blocked({rows, columns}, {elemBytes, warps, order, 16, warpOrder}));
              INFO(layout.str());
              checkHolds(layout);
              int64_t unit = powerOfTwoPart(rows) * powerOfTwoPart(columns), threads = 32 * warps;
              CHECK(layout.isReplicated() == (unit < threads));
              CHECK(layout.numRegisters() == std::max<int64_t>(1, unit / threads) * rows * columns / unit);
              Vectors vectors = layout.vectors(order[0], 16 / elemBytes);
              int64_t fits = std::min<int64_t>(powerOfTwoPart(order[0] ? columns : rows),
                                               std::max<int64_t>(1, unit / threads));
              CHECK(vectors.width == std::min<int64_t>(16 / elemBytes, fits));
            }
}

TEST_CASE("rank 1 and rank 3 and scalars", "[layout]") {
  for (Shape shape : {Shape{}, {1}, {1024}, {5120}, {4, 8, 64}, {3 * 8, 2, 40}, {1, 1, 1}}) {
    Layout layout = get(blocked(shape, {2, 4, {}, 16, {}}));
    INFO(layout.str());
    checkHolds(layout);
  }
}

TEST_CASE("find inverts apply", "[layout]") {
  for (Layout layout : {get(blocked({24, 96}, {2, 4, {1, 0}, 16, {}})), get(mmaAccumulator({32, 48}, {2, 2})),
                        get(blocked({1, 16}, {4, 2, {}, 16, {}})), get(sharedTile({48, 192}, 2, {1, 0}, 128)),
                        get(mmaOperandB({96, 24}, 1, {2, 1}))}) {
    INFO(layout.str());
    Coords coords(2);
    for (coords[0] = 0; coords[0] < layout.shape()[0]; ++coords[0])
      for (coords[1] = 0; coords[1] < layout.shape()[1]; ++coords[1]) {
        Place place = layout.find(coords);
        CHECK(layout.apply(place) == coords);
        CHECK((Vec(place.lane) & layout.freeBits(Dim::Lane)) == 0);
        CHECK((Vec(place.warp) & layout.freeBits(Dim::Warp)) == 0);
      }
  }
}

TEST_CASE("adjacent lanes read adjacent 16-byte vectors", "[layout]") {
  Layout layout = get(blocked({4, 1024}, {2, 4, {1, 0}, 16, {}}));
  for (int64_t lane = 0; lane < 32; ++lane)
    for (int64_t reg = 0; reg < 8; ++reg)
      CHECK(layout.apply({.reg = reg, .lane = lane}) == Coords{0, lane * 8 + reg});
  CHECK(layout.apply({.warp = 1}) == Coords{0, 256});
  CHECK(layout.apply({.reg = 8}) == Coords{1, 0});

  Layout rows = get(blocked({4, 1024}, {2, 4, {1, 0}, 16, {0, 1}}));
  CHECK(rows.apply({.warp = 1}) == Coords{1, 0});
  CHECK(rows.apply({.reg = 8}) == Coords{0, 256});

  Layout narrow = get(blocked({64, 16}, {2, 4, {1, 0}, 16, {}}));
  CHECK(narrow.apply({.reg = 7, .lane = 1}) == Coords{0, 15});
  CHECK(narrow.apply({.lane = 2}) == Coords{1, 0});
}

TEST_CASE("odd multiples repeat in registers", "[layout]") {
  Layout layout = get(blocked({1, 192}, {4, 1, {1, 0}, 16, {}}));
  CHECK(layout.unit() == Shape{1, 64});
  CHECK(layout.numRegisters() == 6);
  CHECK(layout.apply({.reg = 2, .lane = 3}) == Coords{0, 64 + 6});
  CHECK(layout.apply({.reg = 5, .lane = 31}) == Coords{0, 191});
}

TEST_CASE("vectors are groups of registers with neighbours, aligned in every thread", "[layout]") {
  for (Layout layout :
       {get(blocked({24, 96}, {2, 1, {1, 0}, 16, {}})), get(wgmmaAccumulator({64, 96}, {1, 1})),
        get(mmaOperandA({32, 64}, 1, {2, 1})), get(blocked({64, 64}, {4, 2, {0, 1}, 16, {}}))})
    for (int axis : {0, 1}) {
      INFO(layout.str() << " axis " << axis);
      Vectors vectors = layout.vectors(axis, 16);
      std::set<int64_t> seen;
      for (auto &group : vectors.groups) {
        REQUIRE(int64_t(group.size()) == vectors.width);
        for (int64_t warp = 0; warp < layout.numWarps(); ++warp)
          for (int64_t lane = 0; lane < 32; ++lane) {
            Coords start = layout.apply({group[0], lane, warp});
            CHECK(start[axis] % vectors.width == 0);
            for (int64_t i = 0; i < vectors.width; ++i) {
              Coords want = start;
              want[axis] += i;
              CHECK(layout.apply({group[size_t(i)], lane, warp}) == want);
            }
          }
        seen.insert(group.begin(), group.end());
      }
      CHECK(int64_t(seen.size()) == layout.numRegisters());
    }
  CHECK(get(wgmmaAccumulator({64, 96}, {1, 1})).vectors(1, 4).width == 2);
  // A lane that moves within the vector by XOR breaks it.
  Layout mixed = get(Layout::make({1, 64}, {{{1}, {3, 4, 8, 16, 32}, {}, {}}}));
  CHECK(mixed.vectors(1, 4).width == 1);
}

TEST_CASE("equal functions compare equal however they are spelled", "[layout]") {
  Layout whole = get(Layout::make({1, 16}, {{{1, 2, 4, 8}, {}, {}, {}}}));
  Layout repeated = get(Layout::make({1, 4}, {{{1, 2}, {}, {}, {}}}, {{1, 4}}));
  Layout thrice = get(Layout::make({1, 4}, {{{1, 2}, {}, {}, {}}}, {{1, 12}}));
  Layout split = get(Layout::make({1, 48}, {{{1, 2, 4, 8}, {}, {}, {}}}));
  CHECK(whole == repeated);
  CHECK(whole.str() == repeated.str());
  CHECK(thrice == split);
  CHECK_FALSE(whole == thrice);
  CHECK(split.str() == "1x48 unit 1x16 reg [0,1] [0,2] [0,4] [0,8] repeat 1x3");
}

TEST_CASE("text reads back", "[layout]") {
  for (Layout layout : {get(blocked({24, 96}, {2, 4, {1, 0}, 16, {}})), get(blocked({}, {2, 4, {}, 16, {}})),
                        get(wgmmaAccumulator({192, 96}, {2, 1})), get(sharedTile({192, 256}, 2, {1, 0}, 128)),
                        get(Layout::make({4, 1}, {{{1}, {0, 2}, {}, {0}}}))}) {
    Layout read = get(Layout::parse(layout.str()));
    CHECK(read == layout);
    CHECK(read.str() == layout.str());
  }
  for (std::string text :
       {"", "8", "8 unit 3", "8 unit 8 reg 1", "8 unit 8 reg [1", "8 unit 8 reg [1,2]", "8 unit 8 reg [9]",
        "8 unit 4 reg [1] [2] repeat 0x3", "8 unit 8 repeat", "8 unit 8 repeat 0", "8 unit 8 register [1]",
        "8 unit 8 reg [-1]", "99999999999999999999 unit 1"}) {
    INFO(text);
    CHECK(Layout::parse(text).error() ==
          "expected a layout like '8x96 unit 8x32 reg [0,1] lane [1,0] repeat 1x3', found '" + text + "'");
  }
  CHECK(Layout::parse("8 unit 8 reg [1] [2]").error() ==
        "layout holds only 2^2 of the 2^3 elements of the unit tile 8");
}

TEST_CASE("bad layouts say what is wrong", "[layout]") {
  CHECK(Layout::make({4}, {{{1}, {}, {}, {}}}).error() ==
        "layout holds only 2^1 of the 2^2 elements of the unit tile 4");
  CHECK(Layout::make({4}, {{{1, 2, 4}, {}, {}, {}}}).error() ==
        "layout basis 4 lies outside the unit tile 4");
  CHECK(Layout::make({0}, {}).error() == "tile extent 0 is not positive");
  CHECK(Layout::make({3}, {}, {}).error() == "unit tile extent 3 is not a power of two");
  CHECK(Layout::make({1}, {}, {{1, 2}}).error() == "bad repeat of axis 1");
  CHECK(blocked({8, 8}, {4, 3, {}, 16, {}}).error() == "found 3 where a layout needs a power of two");
  CHECK(blocked({8, 8}, {4, 4, {0, 0}, 16, {}}).error() ==
        "the order of a layout must name each of 2 axes once");
  CHECK(blocked({8, 0}, {4, 4, {}, 16, {}}).error() == "tile extent 0 is not positive");
  CHECK(mmaAccumulator({24, 8}, {1, 1}).error() == "mma accumulator of 24x8 is not made of 16x8 pieces");
  CHECK(mmaOperandA({16, 16}, 8, {1, 1}).error() == "mma operand of 8-byte elements, expected 1, 2 or 4");
  CHECK(mmaOperandB({16}, 2, {1, 1}).error() == "mma operand of rank 1, expected 2");
  CHECK(wgmmaAccumulator({32, 8}, {1, 1}).error() == "wgmma accumulator of 32x8 is not made of 64x8 pieces");
  CHECK(sharedTile({8, 64}, 2, {1, 0}, 48).error() == "swizzle of 48 bytes, expected 0, 32, 64 or 128");
  CHECK(sharedTile({8, 32}, 2, {1, 0}, 128).error() ==
        "shared tile of 8x32 is not made of 128-byte rows in groups of 8");
}
