// SPDX-License-Identifier: MIT
// What the simulator costs; run by hand with `unit_simulator "[speed]"`, as the figures are the machine's.
#include "tests/unit/simulator/TestKernel.h"
#include <ctime>
#include <iostream>

using namespace tilegym::sim;

namespace {

/// Prints how long each of `count` things took.
void measure(const char *what, double count, const std::function<void()> &action) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    std::clock_t start = std::clock(); // of this process, whatever else runs
    action();
    best = std::min(best, double(std::clock() - start) / CLOCKS_PER_SEC);
  }
  std::cout << what << ": " << best / count * 1e9 << " ns each, " << count / best / 1e6
            << " million a second\n";
}

constexpr uint32_t blocks = 8, threads = 256, rounds = 512;
constexpr auto total = double(blocks) * threads * rounds;
const LaunchConfig config{.grid = {blocks}, .block = {threads}, .sharedBytes = threads * 4};

} // namespace

TEST_CASE("Speed of accesses", "[.][speed]") {
  Run run;
  uint64_t memory = run.memory.allocate(blocks * threads * 64, {}, true);
  Load<uint32_t> load;
  Store<uint32_t> store;
  Op load4("load_global", {.attributes = {0, 32, 0, 0},
                           .operands = {i64},
                           .results = {i32, i32, i32, i32},
                           .segments = {1, 0, 0}});
  measure("global loads of 4 bytes", total, [&] {
    requireClean(run(config, [&] {
      uint64_t at = memory + (block() * threads + thread()) * 4;
      for (uint32_t i = 0; i < rounds; ++i)
        load(at + i % 16 * blocks * threads * 4);
    }));
  });
  measure("global loads of 16 bytes", total, [&] {
    requireClean(run(config, [&] {
      uint64_t at = memory + (block() * threads + thread()) * 16;
      for (uint32_t i = 0; i < rounds; ++i)
        load4({at + i % 4 * blocks * threads * 16});
    }));
  });
  measure("shared stores and loads of 4 bytes", 2 * total, [&] {
    requireClean(run(config, [&] {
      for (uint32_t i = 0; i < rounds; ++i) {
        store(shared(thread() * 4), i);
        load(shared(thread() * 4));
      }
    }));
  });
  measure("loads of one word by all", total, [&] {
    requireClean(run(config, [&] {
      for (uint32_t i = 0; i < rounds; ++i)
        load(memory + i % 64 * 4);
    }));
  });
}

TEST_CASE("Speed of shuffles", "[.][speed]") {
  Run run;
  Op shuffle("shuffle", {.attributes = {0}, .operands = {i32, i32}, .results = {i32}});
  measure("shuffles of a warp", total / 32, [&] {
    requireClean(run(config, [&] {
      for (uint32_t i = 0; i < rounds; ++i)
        shuffle({thread(), 1});
    }));
  });
}

TEST_CASE("Speed of barriers", "[.][speed]") {
  Run run;
  Load<uint32_t> load;
  Store<uint32_t> store;
  Op barrier("barrier");
  measure("barriers of 256 threads", double(blocks) * rounds, [&] {
    requireClean(run(config, [&] {
      for (uint32_t i = 0; i < rounds; ++i)
        barrier();
    }));
  });
  measure("exchanges through shared memory (store, barrier, load, barrier; a thread)", total, [&] {
    requireClean(run(config, [&] {
      for (uint32_t i = 0; i < rounds; ++i) {
        store(shared(thread() * 4), i);
        barrier();
        load(shared((thread() ^ 37) * 4));
        barrier();
      }
    }));
  });
}

TEST_CASE("Speed of launches", "[.][speed]") {
  Run run;
  measure("launches of one warp", 200, [&] {
    for (int i = 0; i < 200; ++i)
      requireClean(run({.block = {32}}, [] {}));
  });
}
