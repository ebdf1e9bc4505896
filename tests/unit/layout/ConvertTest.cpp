// SPDX-License-Identifier: MIT
// Conversion plans, run on data for every pair of many layouts, must give what the destination's definition
// says.
#include "RegisterFile.h"

#include "compiler/layout/Transform.h"

#include <random>

using namespace tilegym::layout;
using namespace tilegym::layout::test;

namespace {

struct Outcome {
  int registers = 0, shuffles = 0, shared = 0;
};

void checkPair(const Layout &from, const Layout &to, int elemBytes, Outcome &outcome) {
  INFO("from " << from.str() << "\nto   " << to.str() << "\nbytes " << elemBytes);
  std::vector<int64_t> want = filled(to).values;
  auto plan = planConversion(from, to, elemBytes);
  INFO((plan ? "" : plan.error()));
  REQUIRE(plan);
  CHECK(run(from, to, *plan).values == want);
  outcome.registers += plan->kind == ConvertKind::Registers;
  outcome.shuffles += plan->kind == ConvertKind::Shuffle;
  outcome.shared += plan->kind == ConvertKind::Shared;
  auto shared = planShared(from, to, elemBytes);
  INFO((shared ? "" : shared.error()));
  REQUIRE(shared);
  CHECK(runShared(from, to, *shared).values == want);
  // Equal widths leave no reason for a conflict.
  if (shared->store.width == shared->load.width) {
    CHECK(shared->store.wavefronts == idealWavefronts(shared->store.width * elemBytes));
    CHECK(shared->load.wavefronts == idealWavefronts(shared->load.width * elemBytes));
  }
}

/// Every builder's layouts of a shape, with slices of larger tiles where the shape has extent 1.
std::vector<Layout> layoutsOf(const Shape &shape, int elemBytes, int warps) {
  std::vector<Layout> list;
  auto keep = [&](Expected<Layout> layout) {
    if (layout && std::find(list.begin(), list.end(), *layout) == list.end())
      list.push_back(*layout);
  };
  std::vector<std::vector<int>> orders = {{0, 1}, {1, 0}};
  for (auto &order : orders)
    for (auto &warpOrder : orders)
      for (int vector : {16, 4})
        keep(blocked(shape, {elemBytes, warps, order, vector, warpOrder}));
  for (int rows = 1; rows <= warps; rows *= 2) {
    WarpGrid grid{rows, warps / rows};
    keep(mmaOperandA(shape, std::min(elemBytes, 4), grid));
    keep(mmaOperandB(shape, std::min(elemBytes, 4), grid));
    keep(mmaAccumulator(shape, grid));
  }
  for (int axis = 0; axis < 2; ++axis) {
    if (shape[axis] != 1)
      continue;
    Shape larger = shape;
    larger[axis] = 32;
    for (auto &order : orders)
      if (auto full = blocked(larger, {elemBytes, warps, order, 16, {}}))
        keep(sliceAxis(*full, axis));
  }
  return list;
}

} // namespace

TEST_CASE("every conversion between small layouts moves the right elements", "[convert]") {
  Outcome outcome;
  for (int elemBytes : {1, 2, 4, 8})
    for (int warps : {1, 2, 4})
      for (Shape shape : {Shape{1, 1},
                          {1, 8},
                          {4, 8},
                          {8, 8},
                          {1, 128},
                          {16, 16},
                          {64, 1},
                          {32, 32},
                          {24, 8},
                          {16, 96},
                          {64, 16},
                          {40, 24}}) {
        std::vector<Layout> list = layoutsOf(shape, elemBytes, warps);
        for (const Layout &from : list)
          for (const Layout &to : list)
            checkPair(from, to, elemBytes, outcome);
      }
  // All three ways are exercised.
  CHECK(outcome.registers > 100);
  CHECK(outcome.shuffles > 100);
  CHECK(outcome.shared > 100);
}

TEST_CASE("conversions between arbitrary linear layouts, with copies anywhere", "[convert]") {
  std::mt19937 gen(7);
  Outcome outcome;
  for (int round = 0; round < 600; ++round) {
    const Shape shape{8, 16 * (round % 3 + 1), 2};
    const size_t warpBits = size_t(round) % 3;
    const int unitBits = 8 + (round % 3 == 1);
    auto make = [&] {
      // Random independent directions, a few of them again, some zeros, dealt out in random order.
      std::vector<Vec> some;
      for (int i = 0; i < 2; ++i)
        some.push_back(gen() & ((1u << unitBits) - 1));
      std::vector<Vec> dirs = extend({}, concat(some, unitVectors(unitBits)));
      for (int i = 0; i < round % 4 || dirs.size() < laneBits + warpBits; ++i)
        dirs.push_back(gen() % 2 ? 0 : dirs[gen() % dirs.size()]);
      std::shuffle(dirs.begin(), dirs.end(), gen);
      Layout::Bases bases;
      auto at = dirs.begin();
      bases[size_t(Dim::Lane)].assign(at, at + laneBits);
      bases[size_t(Dim::Warp)].assign(at + laneBits, at + laneBits + long(warpBits));
      bases[size_t(Dim::Register)].assign(at + laneBits + long(warpBits), dirs.end());
      return get(Layout::make(shape, bases));
    };
    Layout from = make(), to = make();
    checkPair(from, to, 1 << round % 4, outcome);
    // The same directions for the lanes in part, so that shuffles have work.
    Layout::Bases bases = from.allBases();
    auto &lanes = bases[size_t(Dim::Lane)], &regs = bases[size_t(Dim::Register)];
    std::swap(lanes[gen() % laneBits], lanes[gen() % laneBits]);
    if (!regs.empty()) {
      std::swap(lanes[gen() % laneBits], regs[gen() % regs.size()]);
      lanes[gen() % laneBits] ^= regs[gen() % regs.size()];
    }
    checkPair(from, get(Layout::make(shape, bases)), 1 << round % 4, outcome);
  }
  CHECK(outcome.shuffles > 50);
}

TEST_CASE("a layout converts to itself by nothing at all", "[convert]") {
  Layout layout = get(blocked({64, 192}, {2, 8, {1, 0}, 16, {}}));
  auto plan = planConversion(layout, layout, 2);
  REQUIRE(plan);
  CHECK(plan->isIdentity());
}

TEST_CASE("an accumulator is the next product's A operand, registers renamed at most", "[convert]") {
  for (int64_t n : {16, 64, 96, 176, 256}) {
    Layout acc = get(wgmmaAccumulator({128, n}, {2, 1}));
    Layout operand = get(mmaOperandA({128, n}, 2, {8, 1}));
    auto plan = planConversion(acc, operand, 2);
    REQUIRE(plan);
    CHECK(plan->kind == ConvertKind::Registers);
    CHECK(run(acc, operand, *plan).values == filled(operand).values);
  }
}

TEST_CASE("swapping a register bit and a lane bit is half the registers by one butterfly", "[convert]") {
  // 8 elements a lane along the row; lane bit 0 and the third register bit change places.
  auto make = [](Vec reg2, Vec lane0) {
    return get(Layout::make({1, 256}, {{{1, 2, reg2}, {lane0, 16, 32, 64, 128}, {}, {}}}));
  };
  auto plan = planConversion(make(4, 8), make(8, 4), 4);
  REQUIRE(plan);
  REQUIRE(plan->kind == ConvertKind::Shuffle);
  int moving = 0;
  for (const ShuffleStep &step : plan->shuffles) {
    REQUIRE(step.laneXor().has_value());
    CHECK((*step.laneXor() == 0 || *step.laneXor() == 1));
    moving += *step.laneXor() != 0;
  }
  CHECK(moving == 4);
}

TEST_CASE("transposing a permutation of lanes needs no register choice", "[convert]") {
  Layout from = get(Layout::make({32}, {{{}, {1, 2, 4, 8, 16}, {}, {}}}));
  Layout to = get(Layout::make({32}, {{{}, {16, 8, 4, 2, 1}, {}, {}}}));
  auto plan = planConversion(from, to, 4);
  REQUIRE(plan);
  REQUIRE(plan->kind == ConvertKind::Shuffle);
  REQUIRE(plan->shuffles.size() == 1);
  CHECK(!plan->shuffles[0].laneXor().has_value());
  CHECK(plan->shuffles[0].source.at(1) == 16);
}

TEST_CASE("shared conversions use 16-byte accesses without conflicts where both sides hold them",
          "[convert]") {
  // Rows dealt to warps in two ways: the vectors are common.
  for (int elemBytes : {1, 2, 4, 8}) {
    Shape shape{64, 128};
    Layout from = get(blocked(shape, {elemBytes, 4, {1, 0}, 16, {1, 0}}));
    Layout to = get(blocked(shape, {elemBytes, 4, {1, 0}, 16, {0, 1}}));
    auto plan = planShared(from, to, elemBytes);
    REQUIRE(plan);
    CHECK(plan->store.width * elemBytes == 16);
    CHECK(plan->load.width * elemBytes == 16);
    CHECK(plan->store.wavefronts == 4);
    CHECK(plan->load.wavefronts == 4);
    CHECK(plan->sizeBytes == 64 * 128 * elemBytes);
  }
}

TEST_CASE("transposes of 4-byte elements have no conflicts", "[convert]") {
  for (int warps : {1, 2, 4, 8})
    for (Shape shape : {Shape{32, 32}, {64, 64}, {128, 32}, {32, 192}, {16, 256}}) {
      Layout from = get(blocked(shape, {4, warps, {1, 0}, 16, {}}));
      Layout to = get(blocked(shape, {4, warps, {0, 1}, 16, {}}));
      auto plan = planShared(from, to, 4);
      REQUIRE(plan);
      CHECK(plan->store.wavefronts == idealWavefronts(plan->store.width * 4));
      CHECK(plan->load.wavefronts == idealWavefronts(plan->load.width * 4));
    }
}

TEST_CASE("an accumulator reaches row-major vectors without conflicts", "[convert]") {
  for (int elemBytes : {2, 4})
    for (int64_t n : {32, 64, 96, 128, 192, 256}) {
      INFO(n << " columns of " << elemBytes << " bytes");
      Layout from = get(wgmmaAccumulator({64, n}, {1, 1}));
      Layout to = get(blocked({64, n}, {elemBytes, 4, {1, 0}, 16, {}}));
      auto plan = planShared(from, to, elemBytes);
      REQUIRE(plan);
      CHECK(plan->store.wavefronts == idealWavefronts(plan->store.width * elemBytes));
      CHECK(plan->load.wavefronts == idealWavefronts(plan->load.width * elemBytes));
      CHECK(runShared(from, to, *plan).values == filled(to).values);
    }
}

TEST_CASE("copies are stored once and every copy is filled", "[convert]") {
  // 8 elements over 128 threads.
  Layout from = get(blocked({1, 8}, {4, 4, {1, 0}, 16, {}}));
  Layout to = get(Layout::make({1, 8}, {{{1, 2, 4}, {0, 0, 0, 0, 0}, {0, 0}, {}}}));
  auto shared = planShared(from, to, 4);
  REQUIRE(shared);
  CHECK(shared->copyLaneBits == 0b11000);
  CHECK(shared->copyWarpBits == 0b11);
  CHECK(runShared(from, to, *shared).values == filled(to).values);
}

TEST_CASE("blocks of a cluster convert each their own part", "[convert]") {
  Shape shape{64, 64};
  auto split = [&](Layout layout) {
    // The second half of the rows goes to the second block.
    Layout::Bases bases = layout.allBases();
    auto outer = get(Layout::make({2, 1}, {{{}, {}, {}, {1}}}));
    return get(product(layout, outer));
  };
  Layout from = split(get(blocked({32, 64}, {4, 4, {1, 0}, 16, {}})));
  Layout to = split(get(blocked({32, 64}, {4, 4, {0, 1}, 16, {}})));
  auto plan = planConversion(from, to, 4);
  REQUIRE(plan);
  CHECK(run(from, to, *plan).values == filled(to).values);
  CHECK(plan->shared.sizeBytes == 32 * 64 * 4);
}

TEST_CASE("whether a block of a cluster has what it needs", "[convert]") {
  BlockedSpec turns{4, 4, {}, 16, {}, 4, 1}, stretches = turns, copies = turns, rows = turns;
  stretches.contiguous = true;
  copies.blockAxis = -1;
  rows.blockAxis = 0;
  Shape shape{8, 4096};
  Layout split = get(blocked(shape, turns)), other = get(blocked(shape, stretches)),
         whole = get(blocked(shape, copies)), byRow = get(blocked(shape, rows));
  CHECK(staysInBlocks(split, split));
  CHECK(staysInBlocks(whole, split));
  CHECK(staysInBlocks(whole, byRow));
  CHECK(!staysInBlocks(split, whole));
  CHECK(!staysInBlocks(split, other));
  CHECK(!staysInBlocks(other, byRow));
  CHECK(!staysInBlocks(whole, get(blocked({4, 4096}, turns))));
}

TEST_CASE("what cannot be converted says why", "[convert]") {
  Layout a = get(blocked({32, 32}, {4, 4, {}, 16, {}}));
  Layout b = get(blocked({32, 64}, {4, 4, {}, 16, {}}));
  Layout c = get(blocked({32, 32}, {4, 2, {}, 16, {}}));
  CHECK_THAT(planConversion(a, b, 4).error(), Catch::EndsWith("the shapes differ"));
  CHECK_THAT(planConversion(a, c, 4).error(), Catch::EndsWith("the thread counts differ"));
  Layout::Bases left = {{{1}, {2, 4, 8, 16, 32}, {}, {64}}}, right = {{{64}, {2, 4, 8, 16, 32}, {}, {1}}};
  CHECK_THAT(planConversion(get(Layout::make({128}, left)), get(Layout::make({128}, right)), 4).error(),
             Catch::EndsWith("data would move between blocks"));
  Layout::Bases overlap = {{{1, 64}, {2, 4, 8, 16, 32}, {}, {64}}},
                other = {{{64, 1}, {4, 2, 8, 16, 32}, {}, {64}}};
  CHECK_THAT(planShared(get(Layout::make({128}, overlap)), get(Layout::make({128}, other)), 4).error(),
             Catch::EndsWith("blocks hold some elements of each other"));
  CHECK_THAT(planConversion(a, a, 3).error(), Catch::EndsWith("elements of 3 bytes"));
  Layout shared = get(sharedTile({32, 32}, 4, {1, 0}, 128));
  CHECK_THAT(planConversion(shared, shared, 4).error(), Catch::Contains("unit tile"));
}
