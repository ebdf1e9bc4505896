// SPDX-License-Identifier: MIT
// Addresses of register tiles in shared tiles, and bank conflicts of the accesses that kernels make to them.
#include "RegisterFile.h"
#include "compiler/layout/Transform.h"

using namespace tilegym::layout;
using namespace tilegym::layout::test;

TEST_CASE("the bank model", "[shared]") {
  auto stride = [](int64_t bytes, int lanes = 32) {
    std::vector<int64_t> addresses;
    for (int64_t lane = 0; lane < lanes; ++lane)
      addresses.push_back(lane * bytes);
    return addresses;
  };
  CHECK(wavefronts(stride(4), 4) == 1);
  CHECK(wavefronts(stride(8), 4) == 2);
  CHECK(wavefronts(stride(128), 4) == 32);
  CHECK(wavefronts(stride(0), 4) == 1);
  CHECK(wavefronts(stride(2), 2) == 1);
  CHECK(wavefronts(stride(8), 8) == 2);
  CHECK(wavefronts(stride(16), 16) == 4);
  CHECK(wavefronts(stride(128), 16) == 32);
  CHECK(wavefronts(stride(132), 4) == 1);
}

TEST_CASE("addresses agree with both layouts", "[shared]") {
  for (Shape shape : {Shape{64, 64}, {192, 64}, {128, 192}, {64, 384}, {96, 128}})
    for (int swizzle : {0, 32, 64, 128})
      for (std::vector<int> order : {std::vector<int>{1, 0}, {0, 1}}) {
        auto shared = sharedTile(shape, 2, order, swizzle);
        if (!shared) // 96 rows are no 128-byte rows
          continue;
        for (Layout tile : {get(blocked(shape, {2, 8, {1, 0}, 16, {}})),
                            get(blocked(shape, {2, 4, {0, 1}, 16, {}})), get(mmaAccumulator(shape, {4, 1})),
                            get(mmaOperandA(shape, 2, {2, 2})), get(mmaOperandB(shape, 2, {1, 4}))}) {
          INFO(tile.str() << "\nin " << shared->str());
          auto addresses = sharedAddresses(tile, *shared);
          INFO((addresses ? "" : addresses.error()));
          REQUIRE(addresses);
          int64_t wrong = 0;
          for (int64_t warp = 0; warp < tile.numWarps(); ++warp)
            for (int64_t lane = 0; lane < 32; ++lane)
              for (int64_t reg = 0; reg < tile.numRegisters(); reg += 3)
                wrong += shared->apply({.reg = addresses->offset(reg, lane, warp)}) !=
                         tile.apply({reg, lane, warp});
          CHECK(wrong == 0);
        }
      }
}

TEST_CASE("16-byte rows of a swizzled tile meet no conflict", "[shared]") {
  // Vector copies in and out, and the row addresses of ldmatrix and stmatrix.
  for (int swizzle : {32, 64, 128}) {
    Shape shape{64, swizzle / 2};
    Layout shared = get(sharedTile(shape, 2, {1, 0}, swizzle));
    Layout copy = get(blocked(shape, {2, 2, {1, 0}, 16, {}}));
    auto addresses = sharedAddresses(copy, shared);
    REQUIRE(addresses);
    REQUIRE(copy.vectors(1, 8).width == 8);
    for (auto &group : copy.vectors(1, 8).groups)
      for (int64_t warp = 0; warp < 2; ++warp) {
        std::vector<int64_t> bytes;
        for (int64_t lane = 0; lane < 32; ++lane)
          bytes.push_back(addresses->offset(group[0], lane, warp) * 2);
        CHECK(wavefronts(bytes, 16) == 4);
      }
    for (int64_t column = 0; column < shape[1]; column += 8)
      for (int64_t first = 0; first < 64; first += 8) {
        std::vector<int64_t> rows;
        for (int64_t row = first; row < first + 8; ++row)
          rows.push_back(shared.find({row, column}).reg * 2);
        CHECK(wavefronts(rows, 16) == 1);
      }
  }
  // Without the swizzle the same rows meet in the same banks.
  Layout plain = get(sharedTile({64, 64}, 2, {1, 0}, 0));
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < 8; ++row)
    rows.push_back(plain.find({row, 0}).reg * 2);
  CHECK(wavefronts(rows, 16) == 8);
}

TEST_CASE("no addresses where shapes or blocks disagree", "[shared]") {
  Layout tile = get(blocked({64, 64}, {2, 4, {}, 16, {}}));
  CHECK(sharedAddresses(tile, get(sharedTile({64, 128}, 2, {1, 0}, 128))).error() ==
        "no addresses for a tile of 64x64 in a shared tile of 64x128: the shapes differ");
  CHECK(sharedAddresses(tile, tile).error() == "no addresses for a tile of 64x64 in a shared tile of 64x64: "
                                               "one is spread over blocks, or the shared one over threads");
  // A lane that touches two repetition bits of one axis together with another cannot be added.
  Layout::Bases bases = {{{1, 2, 4, 8}, {16, 32, 64, 128, 256 ^ 128}, {}, {}}};
  Layout mixed = get(Layout::make({1, 512}, bases));
  Layout::Bases narrow = {{{1, 2}, {}, {}, {}}};
  Layout rows = get(Layout::make({1, 4}, narrow, {{1, 128}}));
  CHECK(sharedAddresses(mixed, rows).error() == "no addresses for a tile of 1x512 in a shared tile of 1x512: "
                                                "two index bits choose the same repetition");
}

TEST_CASE("runs of neighbours in a shared tile", "[shared]") {
  for (int swizzle : {0, 32, 128}) {
    Layout rows = get(sharedTile({64, 128}, 2, {1, 0}, swizzle)),
           columns = get(sharedTile({128, 64}, 2, {0, 1}, swizzle));
    CHECK(contiguousRun(rows, 1, 8) == 8);
    CHECK(contiguousRun(rows, 0, 8) == 1);
    CHECK(contiguousRun(columns, 0, 8) == 8);
    CHECK(contiguousRun(columns, 1, 8) == 1);
  }
  CHECK(contiguousRun(get(sharedTile({8, 4}, 4, {1, 0}, 0)), 1, 8) == 4);
}

TEST_CASE("words of an operand that lies across K meet no conflict where pairs of columns are spread",
          "[shared]") {
  // The columns that ir/ProductLayouts.cpp gives the rows of wgmma's A, and as they come: two wavefronts for one.
  Layout shared = get(sharedTile({64, 32}, 4, {0, 1}, 128)), rows = get(mmaOperandA({64, 32}, 4, {4, 1}));
  auto ofFirst = [&](const Layout &tile, int64_t width) {
    auto addresses = sharedAddresses(tile, shared);
    REQUIRE(addresses);
    Vectors vectors = tile.vectors(0, 4);
    REQUIRE(vectors.width == width);
    std::vector<int64_t> bytes;
    for (int64_t lane = 0; lane < 32; ++lane)
      bytes.push_back(addresses->offset(vectors.groups[0][0], lane, 0) * 4);
    return wavefronts(bytes, int(width * 4));
  };
  CHECK(ofFirst(get(permuteBits(rows, 0, {1, 4, 2, 0, 3, 5})), 2) == idealWavefronts(8));
  CHECK(ofFirst(rows, 1) == 2 * idealWavefronts(4));
}
