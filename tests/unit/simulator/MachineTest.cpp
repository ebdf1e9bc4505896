// SPDX-License-Identifier: MIT
// Launches: every thread runs once, blocks take turns on three multiprocessors, and a seed decides the order.
#include "tests/unit/simulator/TestKernel.h"
#include <set>

using namespace tilegym::sim;

TEST_CASE("Every thread of a grid runs once and knows who it is") {
  Run run;
  Op threadId("thread_id", {.results = {i32}}), blockId("block_id", {.results = {i32}}),
      gridSize("grid_size", {.results = {i32}});
  Op laneId("lane_id", {.results = {i32}}), smId("sm_id", {.results = {i32}});
  Store<uint32_t> store;
  uint64_t out = run.memory.allocate(10 * 70 * 4), lanes = run.memory.allocate(10 * 70 * 4);
  std::set<uint64_t> multiprocessorsSeen;
  Report report = run({.grid = {10}, .block = {70}}, [&] {
    uint64_t index = blockId() * 70 + threadId();
    store(out + index * 4, uint32_t(blockId() * 1000 + threadId()));
    store(lanes + index * 4, uint32_t(laneId() + 100 * gridSize()));
    multiprocessorsSeen.insert(smId());
  });
  requireClean(report);
  REQUIRE(report.blocks == 10);
  for (uint32_t b = 0; b < 10; ++b)
    for (uint32_t t = 0; t < 70; ++t) {
      REQUIRE(run.at<uint32_t>(out, b * 70 + t) == b * 1000 + t);
      REQUIRE(run.at<uint32_t>(lanes, b * 70 + t) == t % 32 + 1000);
    }
  REQUIRE(multiprocessorsSeen == std::set<uint64_t>{0, 1, 2});
}

namespace {

/// The order in which threads of a launch get to run.
std::vector<uint32_t> order(uint64_t seed) {
  Run run;
  std::vector<uint32_t> seen;
  Store<uint32_t> store;
  uint64_t out = run.memory.allocate(4 * 256);
  requireClean(run({.grid = {4}, .block = {64}, .seed = seed, .preemptEvery = 2}, [&] {
    for (int i = 0; i < 3; ++i) {
      seen.push_back(block() * 64 + thread());
      store(out + (block() * 64 + thread()) * 4, 1);
    }
  }));
  return seen;
}

} // namespace

TEST_CASE("A seed decides the order, and nothing else does") {
  std::vector<uint32_t> one = order(1);
  REQUIRE(one.size() == 3 * 256);
  REQUIRE(order(1) == one);
  std::set<std::vector<uint32_t>> orders;
  for (uint64_t seed = 0; seed < 20; ++seed)
    orders.insert(order(seed));
  REQUIRE(orders.size() == 20);
}

TEST_CASE("At most three clusters are resident, and a place is taken again") {
  Run run;
  size_t now = 0, most = 0;
  std::set<uint64_t> windows;
  requireClean(run({.grid = {24}, .block = {32}, .cluster = {2}, .sharedBytes = 64}, [&] {
    if (thread() == 0) {
      ++now;
      windows.insert(shared());
      REQUIRE(current().block->rank == block() % 2);
      REQUIRE(shared() % (1 << 24) == 1024);
      REQUIRE(shared() < (uint64_t(1) << 32));
    }
    yield();
    if (thread() == 0)
      most = std::max(most, now--);
  }));
  REQUIRE(most <= 6);
  REQUIRE(most > 2);
  REQUIRE(windows.size() == 6);
}

TEST_CASE("A bad configuration is refused with its reason") {
  Run run;
  auto refused = [&](LaunchConfig config) { return only(run(config, [] {}), FindingKind::BadOperand); };
  REQUIRE(refused({.block = {1025}}) ==
          "cannot launch kernel: a block of 1025 threads; 1 to 1024 are possible");
  REQUIRE(refused({.grid = {0}, .name = "gemm"}) ==
          "cannot launch gemm: a grid of 0 blocks; 1 to 8388607 can be run");
  REQUIRE(refused({.grid = {6}, .cluster = {17}}) ==
          "cannot launch kernel: a cluster of 17 blocks; 1 to 16 are possible");
  REQUIRE(refused({.grid = {6}, .cluster = {4}}) ==
          "cannot launch kernel: the grid is no whole number of clusters");
  REQUIRE(refused({.sharedBytes = 300000}) ==
          "cannot launch kernel: 300000 bytes of shared memory; a block has at most 232448");
  REQUIRE(refused({.residentClusters = 0}) == "cannot launch kernel: no cluster may be resident");
  REQUIRE(only(run.machine.launch({}, run.memory), FindingKind::BadOperand) ==
          "cannot launch kernel: no kernel");
}

TEST_CASE("Shared windows are as many as there are addresses") {
  Run run;
  REQUIRE_THAT(
      only(run({.grid = {200}, .residentClusters = 200}, [] { yield(); }), FindingKind::BadOperand),
      Catch::Contains(
          "cannot launch kernel: no addresses below 4 GiB are left for the shared memory of 1 more blocks"));
  size_t arrived = 0; // a grid that meets as a whole
  requireClean(run({.grid = {60}, .residentClusters = 60}, [&] {
    ++arrived;
    while (arrived < 60)
      yield();
  }));
}

TEST_CASE("A trap ends the launch, and the machine runs the next one") {
  Run run;
  Op trap("trap");
  for (int i = 0; i < 3; ++i) {
    Report report = run({.grid = {5}, .block = {96}}, [&] {
      std::vector<int> kept(10); // on an abandoned stack: reported by leak checks only
      kept.clear();
      kept.shrink_to_fit();
      if (block() == 2 && thread() == 33)
        trap();
      yield();
    });
    REQUIRE_FALSE(report.completed);
    REQUIRE(only(report, FindingKind::Trap) == "block 2 thread 33 traps " + at(trap.line()));
  }
  requireClean(run({.block = {32}}, [] {}));
}

TEST_CASE("What a kernel written in C++ throws reaches the caller") {
  Run run;
  REQUIRE_THROWS_AS(run({.block = {64}}, [] { throw std::runtime_error("thrown"); }), std::runtime_error);
  requireClean(run({.block = {32}}, [] {}));
}

TEST_CASE("Print formats as C does, in the order of the run") {
  Run run;
  Op print("print", {.attributes = {int64_t(reinterpret_cast<uintptr_t>("row %lld is %g%%, %5lld|\n"))},
                     .operands = {i64, f64, i64}});
  Report report = run({.block = {1}}, [&] { print({uint64_t(-7), std::bit_cast<uint64_t>(0.5), 42}); });
  REQUIRE(report.output == "row -7 is 0.5%,    42|\n");
}

TEST_CASE("Kernel parameters arrive as CUDA passes them, and may be read as memory") {
  Run run;
  uint64_t out = run.memory.allocate(8);
  alignas(64) static const uint64_t map[16] = {1, 2, 3, 4};
  const void *parameters[] = {&out, &map};
  Load<uint64_t> load;
  Store<uint64_t> store;
  LaunchConfig config{.parameters = parameters,
                      .parameterSpace = {{reinterpret_cast<uint64_t>(&map), sizeof map}}};
  config.kernel = [&](const void *const *given) {
    store(*static_cast<const uint64_t *>(given[0]), load(reinterpret_cast<uint64_t>(given[1]) + 16));
  };
  requireClean(run.machine.launch(config, run.memory));
  REQUIRE(run.at<uint64_t>(out) == 3);
  config.kernel = [&](const void *const *given) { store(reinterpret_cast<uint64_t>(given[1]), 1); };
  REQUIRE_THAT(only(run.machine.launch(config, run.memory), FindingKind::OutOfBounds),
               Catch::Contains("which is no device memory"));
}

TEST_CASE("The table is sorted and each name is there once") {
  auto rows = instructions();
  REQUIRE(rows.size() >= 25);
  for (size_t i = 1; i < rows.size(); ++i)
    REQUIRE(rows[i - 1].mnemonic < rows[i].mnemonic);
  REQUIRE(findInstruction("shuffle") != nullptr);
  REQUIRE(findInstruction("shuffl") == nullptr);
  REQUIRE(findInstruction("zzz") == nullptr);
}
