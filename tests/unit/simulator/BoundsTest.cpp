// SPDX-License-Identifier: MIT
// Accesses that hit nothing, are misaligned, or read what nobody wrote.
#include "tests/unit/simulator/TestKernel.h"

using namespace tilegym::sim;
using Catch::Contains;

TEST_CASE("Device memory ends where its allocation does") {
  Run run;
  Load<uint32_t> load;
  Store<uint32_t> store;
  uint64_t x = run.put<uint32_t>({1, 2, 3}, "x");
  auto fault = [&](uint64_t address) {
    return only(run({.block = {2}}, [&] { thread() == 1 ? (void)load(address) : void(); }),
                FindingKind::OutOfBounds);
  };
  requireClean(run({}, [&] { REQUIRE(load(x + 8) == 3); }));
  REQUIRE(fault(x + 12) ==
          "block 0 thread 1 reads 4 bytes out of bounds: offset 12 of x (12 bytes) " + at(load.line()));
  REQUIRE(fault(x - 4) ==
          "block 0 thread 1 reads 4 bytes out of bounds: 4 bytes before x (12 bytes) " + at(load.line()));
  REQUIRE(fault(x + 40000) ==
          "block 0 thread 1 reads 4 bytes out of bounds: offset 40000 of x (12 bytes) " + at(load.line()));
  REQUIRE_THAT(fault(0), Contains("address 0x0, which is no device memory"));
  REQUIRE_THAT(fault(uint64_t(1) << 47), Contains("which is no device memory"));
  REQUIRE(only(run({}, [&] { store(x + 12, 1); }), FindingKind::OutOfBounds) ==
          "block 0 thread 0 writes 4 bytes out of bounds: offset 12 of x (12 bytes) " + at(store.line()));
}

TEST_CASE("A wide access may not reach over the end, nor over a page that is not there") {
  Run run;
  Op load4("load_global", {.attributes = {0, 32, 0, 0},
                           .operands = {i64},
                           .results = {i32, i32, i32, i32},
                           .segments = {1, 0, 0}});
  uint64_t x = run.memory.allocate(4104, "x", true);
  requireClean(run({}, [&] { load4({x + 4080}); }));
  REQUIRE_THAT(only(run({}, [&] { load4({x + 4096}); }), FindingKind::OutOfBounds),
               Contains("reads 16 bytes out of bounds: offset 4096 of x"));
}

TEST_CASE("Freed memory is told from memory that never was") {
  Run run;
  Load<uint32_t> load;
  uint64_t x = run.put<uint32_t>({1}, "x");
  REQUIRE(run.memory.free(x));
  REQUIRE_FALSE(run.memory.free(x));
  REQUIRE_THAT(only(run({}, [&] { load(x); }), FindingKind::OutOfBounds),
               Contains("offset 0 of x (4 bytes, freed)"));
}

TEST_CASE("Shared memory ends where the launch says, and its first bytes are the system's") {
  Run run;
  Store<uint32_t> store;
  LaunchConfig config{.block = {32}, .sharedBytes = 256};
  requireClean(run(config, [&] { store(shared(4 * thread()), 1); }));
  REQUIRE(only(run(config, [&] { store(shared(256), 1); }), FindingKind::OutOfBounds)
              .find("writes 4 bytes out of bounds: offset 256 of shared memory (256 bytes)") !=
          std::string::npos);
  REQUIRE_THAT(only(run(config, [&] { store(shared() - 4, 1); }), FindingKind::OutOfBounds),
               Contains("offset -4 of shared memory"));
  REQUIRE_THAT(only(run({.block = {32}}, [&] { store(shared(), 1); }), FindingKind::OutOfBounds),
               Contains("of shared memory (0 bytes)"));
}

TEST_CASE("Another cluster's shared memory is out of bounds, a peer's is not") {
  Run run;
  Store<uint32_t> store;
  Op arrive("cluster_arrive", {.attributes = {0}}), wait("cluster_wait");
  std::map<uint32_t, uint64_t> starts;
  LaunchConfig config{.grid = {4}, .block = {1}, .cluster = {2}, .sharedBytes = 64};
  auto kernel = [&](uint32_t distance) {
    return [&, distance] {
      starts[block()] = shared();
      while (starts.size() < 4)
        yield();
      if (block() == 0)
        store(starts[distance], 1);
      arrive();
      wait();
    };
  };
  requireClean(run(config, kernel(1)));
  starts.clear();
  REQUIRE_THAT(only(run(config, kernel(2)), FindingKind::OutOfBounds),
               Contains("out of bounds: offset 0 of shared memory of block 2"));
}

TEST_CASE("Shared memory of a peer that has exited is gone") {
  Run run;
  Store<uint32_t> store;
  uint64_t peer = 0;
  bool gone = false;
  std::string text = only(run({.grid = {2}, .block = {1}, .cluster = {2}, .sharedBytes = 64},
                              [&] {
                                if (block() == 1) {
                                  peer = shared();
                                  return;
                                }
                                while (!peer || !current().block->cluster->blocks[1]->hasExited())
                                  yield();
                                store(peer, 1);
                                gone = true;
                              }),
                          FindingKind::OutOfBounds);
  REQUIRE_THAT(
      text,
      Contains(
          "shared memory of block 1 (64 bytes), but that block has exited: a cluster barrier must keep it"));
  REQUIRE_FALSE(gone);
}

TEST_CASE("An access that claims an alignment must have it") {
  Run run;
  Load<uint32_t> load;
  Op load4("load_global", {.attributes = {4, 32, 0, 0},
                           .operands = {i64},
                           .results = {i32, i32, i32, i32},
                           .segments = {1, 0, 0}});
  uint64_t x = run.memory.allocate(64, "x", true);
  REQUIRE_THAT(only(run({}, [&] { load(x + 2); }), FindingKind::Misaligned),
               Contains("block 0 thread 0 reads 4 bytes at offset 2 of x (64 bytes), address 0x") &&
                   Contains(": not a multiple of 4"));
  REQUIRE_THAT(only(run({}, [&] { load4({x}); }), FindingKind::Misaligned),
               Contains("reads 16 bytes at offset 4") && Contains("not a multiple of 16"));
  requireClean(run({}, [&] { load4({x + 12}); }));
}

TEST_CASE("A read of what nobody wrote is found, to the byte") {
  Run run;
  Load<uint32_t> load;
  Store<uint8_t> byte;
  Store<uint32_t> store;
  uint64_t x = run.memory.allocate(16, "x");
  auto kernel = [&](bool last) {
    return [&, last] {
      for (uint32_t i = 0; i < (last ? 4u : 3u); ++i)
        byte(x + 4 + i, 0);
      load(x + 4);
    };
  };
  REQUIRE(only(run({}, kernel(false)), FindingKind::Uninitialised) ==
          "block 0 thread 0 reads 4 bytes that nobody wrote: offset 4 of x (16 bytes) " + at(load.line()));
  requireClean(run({}, kernel(true)));
  // Shared memory is new in each block, though another block's was there before.
  Op barrier("barrier");
  auto sharedKernel = [&](bool all) {
    return [&, all] {
      if (all || block() == 0)
        store(shared(4 * thread()), 1);
      load(shared(4 * thread()));
    };
  };
  LaunchConfig config{.grid = {2}, .block = {4}, .sharedBytes = 16, .residentClusters = 1};
  requireClean(run(config, sharedKernel(true)));
  REQUIRE_THAT(only(run(config, sharedKernel(false)), FindingKind::Uninitialised),
               Contains("block 1 thread") && Contains("of shared memory"));
}

TEST_CASE("Equal faults of a launch are one finding with their number") {
  Run run;
  Load<uint32_t> load;
  uint64_t x = run.memory.allocate(4096);
  Report report = run({.block = {64}}, [&] { load(x + 4 * thread()); });
  only(report, FindingKind::Uninitialised);
  REQUIRE(report.findings[0].count == 64);
  REQUIRE_THAT(report.text(), Contains("uninitialised read: ") &&
                                  Contains(" [64 times]\ncompleted (seed 0, 1 blocks, 64 accesses)\n"));
}

TEST_CASE("Poison is what unwritten memory holds") {
  Run run;
  Load<uint32_t> load;
  uint64_t x = run.memory.allocate(4);
  run({.sharedBytes = 4}, [&] {
    REQUIRE(load(x) == 0xFBFBFBFB);
    REQUIRE(load(shared()) == 0xFBFBFBFB);
  });
}

TEST_CASE("Memory's own copies stay inside allocations") {
  Memory memory;
  uint64_t x = memory.allocate(10);
  uint8_t bytes[11] = {};
  REQUIRE(memory.write(x, bytes, 10));
  REQUIRE_FALSE(memory.write(x, bytes, 11));
  REQUIRE_FALSE(memory.write(x + 1, bytes, 10));
  REQUIRE_FALSE(memory.read(x - 1, bytes, 1));
  REQUIRE(memory.fill(x + 9, 3, 1));
  REQUIRE_FALSE(memory.fill(x + 10, 3, 1));
  REQUIRE(memory.find(x + 3, 7) == memory.nearest(x + 9));
  REQUIRE_FALSE(memory.find(x + 3, 8));
  REQUIRE(memory.allocate(0) != memory.allocate(0));
  REQUIRE_THROWS_AS(memory.allocate(uint64_t(1) << 50), std::bad_alloc);
}
