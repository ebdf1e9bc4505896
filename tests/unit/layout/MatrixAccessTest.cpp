// SPDX-License-Identifier: MIT
// ldmatrix and stmatrix plans, run with the meaning that the instructions have, against the layouts' definitions.
#include "RegisterFile.h"

#include "compiler/layout/MatrixAccess.h"

using namespace tilegym::layout;
using namespace tilegym::layout::test;

namespace {

/// Loads the whole tile; the shared tile holds at each offset the row-major index of its element.
RegisterFile load(const Layout &tile, const Layout &shared, const MatrixAccess &access, int elemBytes) {
  RegisterFile out(tile.numRegisters(), tile.numWarps(), 1);
  int64_t word = 4 / elemBytes;
  for (int64_t warp = 0; warp < tile.numWarps(); ++warp)
    for (const auto &instruction : access.instructions)
      for (int64_t matrix = 0; matrix < access.count; ++matrix) {
        std::vector<int64_t> rows;
        for (int64_t row = 0; row < 8; ++row) {
          rows.push_back(access.rowOffset(instruction, matrix * 8 + row, warp));
          if (rows.back() * elemBytes % 16)
            FAIL("misaligned row");
        }
        std::vector<int64_t> bytes;
        for (int64_t row : rows)
          bytes.push_back(row * elemBytes);
        // One warp-wide access of 8 lanes: a single phase.
        if (wavefronts(bytes, 16) != 1)
          FAIL("bank conflict");
        for (int64_t lane = 0; lane < 32; ++lane)
          for (int64_t e = 0; e < word; ++e) {
            int64_t offset = access.transposed ? rows[size_t(2 * (lane % 4) + e)] + lane / 4
                                               : rows[size_t(lane / 4)] + lane % 4 * word + e;
            int64_t reg = instruction.words.at(size_t(matrix)).at(size_t(e));
            out.at(reg, lane, warp) = shared.index({.reg = offset});
          }
      }
  return out;
}

} // namespace

TEST_CASE("operands and accumulators of 128-byte rows go by matrices of four", "[matrix]") {
  for (int elemBytes : {1, 2, 4})
    for (Shape shape : {Shape{64, 128}, {192, 128}, {128, 384}, {48, 256}})
      for (Layout tile :
           {get(mmaOperandA(shape, elemBytes, {4, 1})), get(mmaOperandA(shape, elemBytes, {2, 2}))}) {
        Layout shared = get(sharedTile(shape, elemBytes, {1, 0}, 128));
        auto access = matrixAccess(tile, shared, elemBytes);
        INFO((access ? "" : access.error()));
        REQUIRE(access);
        CHECK(access->count == 4);
        CHECK_FALSE(access->transposed);
        CHECK(int64_t(access->instructions.size()) == tile.numRegisters() * elemBytes / 16);
        CHECK(load(tile, shared, *access, elemBytes).values == filled(tile).values);
      }
  Layout acc = get(wgmmaAccumulator({128, 256}, {2, 1}));
  Layout shared = get(sharedTile({128, 256}, 2, {1, 0}, 128));
  auto access = matrixAccess(acc, shared, 2);
  REQUIRE(access);
  CHECK(access->count == 4);
  CHECK(load(acc, shared, *access, 2).values == filled(acc).values);
}

TEST_CASE("operand B by plain and transposed matrices", "[matrix]") {
  Shape shape{64, 128};
  for (WarpGrid grid : {WarpGrid{1, 1}, {2, 2}, {1, 4}}) {
    Layout tile = get(mmaOperandB(shape, 2, grid));
    // Stored with N contiguous: rows of a matrix are k.
    Layout rows = get(sharedTile(shape, 2, {1, 0}, 128));
    auto transposed = matrixAccess(tile, rows, 2);
    REQUIRE(transposed);
    CHECK(transposed->transposed);
    CHECK(transposed->count == 4);
    CHECK(load(tile, rows, *transposed, 2).values == filled(tile).values);
    // Stored with K contiguous.
    Layout columns = get(sharedTile(shape, 2, {0, 1}, 128));
    auto plain = matrixAccess(tile, columns, 2);
    REQUIRE(plain);
    CHECK_FALSE(plain->transposed);
    CHECK(load(tile, columns, *plain, 2).values == filled(tile).values);
  }
}

TEST_CASE("a small fragment takes fewer matrices an instruction", "[matrix]") {
  Layout tile = get(mmaOperandB({16, 24}, 2, {1, 1}));
  Layout shared = get(Layout::make({16, 8}, {{{8, 16, 32, 64, 1, 2, 4}, {}, {}, {}}}, {{1, 3}}));
  auto access = matrixAccess(tile, shared, 2);
  // 16 elements of k are 32 bytes: the rows of a matrix are two apart and conflict, so only the shape of the plan is looked at.
  REQUIRE(access);
  CHECK(access->count == 2);
  CHECK(access->instructions.size() == 3);
}

TEST_CASE("no matrices where threads hold other things", "[matrix]") {
  Layout shared = get(sharedTile({64, 128}, 2, {1, 0}, 128));
  CHECK_THAT(matrixAccess(get(blocked({64, 128}, {2, 4, {}, 16, {}})), shared, 2).error(),
             Catch::StartsWith("no matrix access: lanes of"));
  CHECK(matrixAccess(get(blocked({64, 128}, {8, 4, {}, 16, {}})), shared, 8).error() ==
        "no matrix access to elements of 8 bytes");
  // fp8 cannot be transposed by the instruction.
  Layout bytes = get(sharedTile({64, 128}, 1, {1, 0}, 128));
  CHECK_FALSE(matrixAccess(get(mmaOperandB({64, 128}, 1, {1, 1})), bytes, 1));
  // A warp that moves within a row, plain and transposed.
  Layout rows = get(sharedTile({16, 64}, 2, {1, 0}, 128));
  Layout::Bases plain = {{{1, 8, 16, 32}, {2, 4, 64, 128, 256}, {512 ^ 1}, {}}};
  CHECK_FALSE(matrixAccess(get(Layout::make({16, 64}, plain)), rows, 2));
  plain[size_t(Dim::Warp)][0] = 512;
  CHECK(matrixAccess(get(Layout::make({16, 64}, plain)), rows, 2));
  Layout::Bases turned = {{{64, 8, 16, 32}, {128, 256, 1, 2, 4}, {512 ^ 1}, {}}};
  CHECK_FALSE(matrixAccess(get(Layout::make({16, 64}, turned)), rows, 2));
  turned[size_t(Dim::Warp)][0] = 512;
  CHECK(matrixAccess(get(Layout::make({16, 64}, turned)), rows, 2));
}
