// SPDX-License-Identifier: MIT
// Launches that do not go on: who waits for what.
#include "tests/unit/simulator/TestKernel.h"

using namespace tilegym::sim;
using Catch::Contains;

TEST_CASE("A barrier that not all reach is a deadlock with its numbers") {
  Run run;
  Op sync("named_barrier", {.attributes = {0, 128}, .operands = {i32}});
  std::string text = only(run({.block = {128}},
                              [&] {
                                if (thread() < 96)
                                  sync({3});
                              }),
                          FindingKind::Deadlock);
  REQUIRE(text == "deadlock: nothing can run any more\n"
                  "  block 0 threads 0-95: waits at a.tile:" +
                      std::to_string(sync.line()) +
                      " for barrier 3, where 96 of 128 threads arrived\n"
                      "  block 0 threads 96-127: exited");
  requireClean(run({.block = {128}}, [&] { sync({3}); }));
}

TEST_CASE("Two halves that wait for each other") {
  Run run;
  Op one("named_barrier", {.attributes = {0, 64}, .operands = {i32}}),
      two("named_barrier", {.attributes = {0, 64}, .operands = {i32}});
  std::string text = only(run({.grid = {2}, .block = {64}},
                              [&] {
                                if (block() == 1)
                                  return;
                                (thread() < 32 ? one : two)({1 + thread() / 32});
                              }),
                          FindingKind::Deadlock);
  REQUIRE_THAT(text, Contains("threads 0-31: waits at a.tile:" + std::to_string(one.line()) +
                              " for barrier 1, where 32 of 64 threads arrived"));
  REQUIRE_THAT(text, Contains("threads 32-63: waits at a.tile:" + std::to_string(two.line()) +
                              " for barrier 2, where 32 of 64 threads arrived"));
}

TEST_CASE("A barrier is for whole warps, one number, and one instruction a warp") {
  Run run;
  Op ofThirty("named_barrier", {.attributes = {0, 30}, .operands = {i32}}),
      of64("named_barrier", {.attributes = {0, 64}, .operands = {i32}});
  Op of128("named_barrier", {.attributes = {0, 128}, .operands = {i32}}), barrier("barrier"),
      other("barrier");
  LaunchConfig config{.block = {64}};
  REQUIRE(
      only(run({.block = {32}}, [&] { ofThirty({1}); }), FindingKind::BarrierMisuse)
          .find(
              "arrives at barrier 1 of 30 threads; a number of whole warps of the block's 32 is expected") !=
      std::string::npos);
  REQUIRE_THAT(only(run(config, [&] { of128({1}); }), FindingKind::BarrierMisuse),
               Contains("of 128 threads; a number of whole warps of the block's 64"));
  REQUIRE_THAT(only(run(config, [&] { of64({16}); }), FindingKind::BarrierMisuse),
               Contains("arrives at barrier 16; a block has 16, 0 to 15"));
  Op of32("named_barrier", {.attributes = {0, 32}, .operands = {i32}});
  REQUIRE_THAT(only(run(config,
                        [&] {
                          if (thread() % 32 == 0)
                            (thread() < 32 ? of64 : of32)({2});
                        }),
                    FindingKind::BarrierMisuse),
               Contains("threads, at which others arrived with"));
  REQUIRE_THAT(only(run(config, [&] { (thread() % 2 ? barrier : other)(); }), FindingKind::Divergence),
               Contains("arrives at barrier 0, at which lanes of its warp arrived elsewhere (a.tile:"));
  requireClean(run(config, [&] { (thread() < 32 ? barrier : other)(); })); // two warps may
}

TEST_CASE("A loop that polls memory ends when somebody writes, and is a livelock when nobody does") {
  Run run;
  Op poll("atomic_load", {.attributes = {1, 2}, .operands = {i64}, .results = {i32}}),
      set("atomic_store", {.attributes = {2, 2}, .operands = {i64, i32}});
  uint64_t flag = run.put<uint32_t>({0});
  auto kernel = [&](bool writes) {
    return [&, writes] {
      if (block() == 0 && writes)
        set({flag, 1});
      else
        while (poll({flag}) == 0) {
        }
    };
  };
  LaunchConfig config{.grid = {2}, .block = {32}, .idleLimit = 10000};
  requireClean(run(config, kernel(true)));
  run.memory.fill(flag, 0, 4);
  std::string text = only(run(config, kernel(false)), FindingKind::Livelock);
  REQUIRE_THAT(text, Contains("livelock: nothing changed in 10000 turns") &&
                         Contains("block 1 threads 0-31: can run"));
}

TEST_CASE("Plain loads that poll let others run too, and there is a limit to all") {
  Run run;
  Load<uint32_t> load;
  Store<uint32_t> store;
  LaunchConfig config{.block = {2}, .sharedBytes = 8, .stepLimit = 100000};
  Report report = run(config, [&] {
    if (thread() == 0)
      store(shared(), 7);
    else
      while (load(shared()) != 7) {
      }
  });
  REQUIRE(report.completed);
  REQUIRE_THAT(only(run(config,
                        [&] {
                          for (;;)
                            store(shared(4 * thread()), 1);
                        }),
                    FindingKind::Livelock),
               Contains("livelock: the step limit of 100000 is reached"));
}

TEST_CASE("A lock by compare and swap lets its holder run") {
  Run run;
  Op swap("atomic_cas", {.attributes = {1, 2}, .operands = {i64, i32, i32, i1}, .results = {i32}});
  Op unlock("atomic", {.attributes = {9, 2, 2}, .operands = {i64, i32, i1}, .results = {i32}});
  Load<uint32_t> load;
  Store<uint32_t> store;
  uint64_t lock = run.put<uint32_t>({0}), value = run.put<uint32_t>({0});
  for (uint64_t seed = 0; seed < 5; ++seed)
    requireClean(run({.grid = {3}, .block = {33}, .seed = seed, .preemptEvery = 3}, [&] {
      while (swap({lock, 0, 1, 1}) != 0) {
      }
      store(value, load(value) + 1);
      unlock({lock, 0, 1});
    }));
  REQUIRE(run.at<uint32_t>(value) == 5 * 99);
}
