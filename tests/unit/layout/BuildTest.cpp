// SPDX-License-Identifier: MIT
// Matrix fragments and shared tiles against the formulas of the instruction set.
#include "RegisterFile.h"

using namespace tilegym::layout;
using namespace tilegym::layout::test;

TEST_CASE("wgmma accumulator registers", "[build]") {
  for (int64_t n : {8, 16, 24, 96, 176, 256}) {
    Layout layout = get(wgmmaAccumulator({64, n}, {1, 1}));
    REQUIRE(layout.numRegisters() == n / 2);
    checkHolds(layout);
    for (int64_t warp = 0; warp < 4; ++warp)
      for (int64_t lane = 0; lane < 32; ++lane)
        for (int64_t r = 0; r < n / 2; ++r)
          CHECK(layout.apply({r, lane, warp}) ==
                Coords{16 * warp + lane / 4 + 8 * (r >> 1 & 1), 8 * (r >> 2) + 2 * (lane % 4) + (r & 1)});
  }
}

TEST_CASE("warpgroups split rows or columns", "[build]") {
  Layout rows = get(wgmmaAccumulator({128, 64}, {2, 1}));
  CHECK(rows.apply({.warp = 4}) == Coords{64, 0});
  CHECK(rows.numRegisters() == 32);
  Layout columns = get(wgmmaAccumulator({64, 128}, {1, 2}));
  CHECK(columns.apply({.warp = 4}) == Coords{0, 64});
  CHECK(columns.apply({.reg = 31}) == Coords{8, 57});
  Layout tall = get(wgmmaAccumulator({192, 96}, {1, 1}));
  CHECK(tall.numRegisters() == 144);
  CHECK(tall.apply({.reg = 48}) == Coords{64, 0});
}

TEST_CASE("mma operand A registers", "[build]") {
  for (int elemBytes : {1, 2, 4}) {
    int64_t word = 4 / elemBytes, k = 32 / elemBytes;
    Layout layout = get(mmaOperandA({16, k}, elemBytes, {1, 1}));
    REQUIRE(layout.numRegisters() == 4 * word);
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t r = 0; r < 4; ++r)
        for (int64_t e = 0; e < word; ++e)
          CHECK(layout.apply({.reg = r * word + e, .lane = lane}) ==
                Coords{lane / 4 + 8 * (r & 1), word * (lane % 4) + e + k / 2 * (r >> 1)});
  }
}

TEST_CASE("mma operand B registers", "[build]") {
  for (int elemBytes : {1, 2, 4}) {
    int64_t word = 4 / elemBytes, k = 32 / elemBytes;
    Layout layout = get(mmaOperandB({k, 8}, elemBytes, {1, 1}));
    REQUIRE(layout.numRegisters() == 2 * word);
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t r = 0; r < 2; ++r)
        for (int64_t e = 0; e < word; ++e)
          CHECK(layout.apply({.reg = r * word + e, .lane = lane}) ==
                Coords{word * (lane % 4) + e + k / 2 * r, lane / 4});
  }
}

TEST_CASE("operands follow the accumulator's warps", "[build]") {
  // Each warp must hold the rows of A and the columns of B that its accumulator needs.
  for (int rows : {1, 2, 4})
    for (int columns : {1, 2, 4}) {
      WarpGrid grid{rows, columns};
      Layout acc = get(mmaAccumulator({96, 48}, grid));
      Layout a = get(mmaOperandA({96, 64}, 2, grid)), b = get(mmaOperandB({64, 48}, 2, grid));
      checkHolds(acc);
      checkHolds(a);
      checkHolds(b);
      for (int64_t warp = 0; warp < rows * columns; ++warp) {
        std::set<int64_t> accRows, accColumns, aRows, bColumns;
        for (int64_t lane = 0; lane < 32; ++lane) {
          for (int64_t reg = 0; reg < acc.numRegisters(); ++reg) {
            Coords at = acc.apply({reg, lane, warp});
            accRows.insert(at[0]);
            accColumns.insert(at[1]);
          }
          for (int64_t reg = 0; reg < a.numRegisters(); ++reg)
            aRows.insert(a.apply({reg, lane, warp})[0]);
          for (int64_t reg = 0; reg < b.numRegisters(); ++reg)
            bColumns.insert(b.apply({reg, lane, warp})[1]);
        }
        CHECK(accRows == aRows);
        CHECK(accColumns == bColumns);
      }
    }
}

TEST_CASE("warps that are left hold copies of a product", "[build]") {
  Layout acc = get(mmaAccumulator({16, 8}, {1, 1, 4}));
  checkHolds(acc);
  CHECK(acc.freeBits(Dim::Warp) == 3);
  CHECK(get(mmaOperandA({16, 16}, 2, {1, 1, 4})).freeBits(Dim::Warp) == 3);
  CHECK(get(mmaOperandB({16, 8}, 2, {1, 1, 4})).freeBits(Dim::Warp) == 3);
}

TEST_CASE("on the plain cores a thread has the rows and columns of its results", "[build]") {
  for (Shape shape : {Shape{64, 128}, {96, 48}, {8, 16}, {1, 4}})
    for (int vector : {1, 4}) {
      Layout acc = get(plainAccumulator(shape, {4, vector, 4 / vector}));
      checkHolds(acc);
      for (int axis : {0, 1}) {
        int64_t k = 24;
        Layout operand = get(plainOperand(acc, axis, k));
        checkHolds(operand);
        for (int64_t warp = 0; warp < 4; ++warp)
          for (int64_t lane = 0; lane < 32; ++lane)
            for (int64_t reg = 0; reg < acc.numRegisters(); ++reg) {
              // The register that thread 0 needs is the one that every thread does.
              int64_t here = acc.apply({reg, lane, warp})[size_t(axis)],
                      first = acc.apply({.reg = reg})[size_t(axis)];
              Coords inFirst = axis == 0 ? Coords{first, 5} : Coords{5, first};
              Coords wanted = axis == 0 ? Coords{here, 5} : Coords{5, here};
              CHECK(operand.apply({*operand.registerInThreadZero(inFirst), lane, warp}) == wanted);
            }
      }
    }
  CHECK_FALSE(plainAccumulator({4, 4, 4}, {}));
}

TEST_CASE("swizzled shared tiles are the copy engine's XOR on byte addresses", "[build]") {
  for (int swizzle : {32, 64, 128})
    for (int elemBytes : {1, 2, 4})
      for (Shape shape : {Shape{8, 128}, {64, 128}, {192, 256}, {24, 384}}) {
        Layout layout = get(sharedTile(shape, elemBytes, {1, 0}, swizzle));
        INFO(layout.str());
        int64_t perRow = swizzle / elemBytes;
        for (int64_t row = 0; row < shape[0]; row += 3)
          for (int64_t column = 0; column < shape[1]; column += 5) {
            // Plain address: boxes of `swizzle`-byte rows, one after another along the columns.
            int64_t byte = (column / perRow * shape[0] + row) * swizzle + column % perRow * elemBytes;
            int64_t mask = swizzle / 16 - 1;
            int64_t swizzled = byte ^ ((byte >> 7 & mask) << 4);
            Place place = layout.find({row, column});
            CHECK(place == Place{swizzled / elemBytes, 0, 0, 0});
            CHECK(layout.apply(place) == Coords{row, column});
          }
      }
}

TEST_CASE("column-major shared tiles swizzle along the rows", "[build]") {
  // MN-major operand of 16-bit elements: 64 of MN by 8 of k.
  Layout layout = get(sharedTile({128, 64}, 2, {0, 1}, 128));
  for (int64_t mn = 0; mn < 128; ++mn)
    for (int64_t k = 0; k < 64; ++k) {
      int64_t byte = (mn >> 6) * 64 * 128 + (k >> 3) * 1024 + (k & 7) * 128 +
                     (((mn >> 3 & 7) ^ (k & 7)) << 4) + (mn & 7) * 2;
      CHECK(layout.find({mn, k}).reg == byte / 2);
    }
}

TEST_CASE("elements copied across to a swizzled slot are whole sectors and meet in no bank", "[build]") {
  for (int from : {0, 1})
    for (Shape shape : {Shape{128, 16}, {16, 128}, {256, 32}, {32, 24}}) {
      if (shape[size_t(1 - from)] % 32)
        continue; // rows of the swizzle
      Layout by = get(acrossCopy(shape, from, 4)), slot = get(sharedTile(shape, 4, {1 - from, from}, 128));
      checkHolds(by);
      CHECK(by.vectors(from, 4).width == 1);
      for (int64_t reg = 0; reg < by.numRegisters(); ++reg) {
        std::vector<int64_t> addresses;
        std::set<Coords> sectors;
        for (int64_t lane = 0; lane < 32; ++lane) {
          Coords at = by.apply({reg, lane});
          addresses.push_back(slot.find(at).reg * 4);
          at[size_t(from)] /= 8;
          sectors.insert(at);
        }
        CHECK(wavefronts(addresses, 4) == 1);
        CHECK(sectors.size() == 4);
      }
    }
  // Too few elements for all threads: copies.
  CHECK(get(acrossCopy({4, 8}, 1, 4)).freeBits(Dim::Warp) == 0b11);
  CHECK_FALSE(acrossCopy({4, 8, 2}, 1, 4));
}

TEST_CASE("plain shared tiles are rows in order", "[build]") {
  Layout layout = get(sharedTile({24, 40}, 4, {1, 0}, 0));
  for (int64_t row = 0; row < 24; ++row)
    for (int64_t column = 0; column < 40; ++column)
      CHECK(layout.find({row, column}).reg == row * 40 + column);
  Layout columns = get(sharedTile({24, 40}, 4, {0, 1}, 0));
  CHECK(columns.find({5, 7}).reg == 7 * 24 + 5);
}

TEST_CASE("blocks of a cluster take turns along their axis, or have stretches of it", "[build]") {
  BlockedSpec spec{2, 4, {1, 0}, 16, {0, 1}, 2, 1};
  Layout turns = get(blocked({1, 8192}, spec));
  checkHolds(turns);
  CHECK(turns.numRegisters() == 32);
  CHECK(turns.apply({.block = 1}) == Coords{0, 1024});
  CHECK(turns.apply({.reg = 8}) == Coords{0, 2048});
  spec.contiguous = true;
  Layout stretches = get(blocked({1, 8192}, spec));
  checkHolds(stretches);
  CHECK(stretches.apply({.block = 1}) == Coords{0, 4096});
  CHECK(stretches.apply({.reg = 8}) == Coords{0, 1024});
  // Too short for all, or not shared: copies.
  spec.blocks = 8;
  CHECK(get(blocked({8, 4}, spec)).freeBits(Dim::Block) == 0b100);
  spec.blockAxis = -1;
  CHECK(get(blocked({1, 8192}, spec)).freeBits(Dim::Block) == 0b111);
}
