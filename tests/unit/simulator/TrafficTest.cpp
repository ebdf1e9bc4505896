// SPDX-License-Identifier: MIT
// Bank conflicts and sectors, counted a warp at a time.
#include "compiler/simulator/TrafficCounter.h"
#include "tests/unit/simulator/TestKernel.h"

using namespace tilegym::sim;

namespace {

std::array<uint64_t, 32> addresses(const std::function<uint64_t(uint64_t)> &of) {
  std::array<uint64_t, 32> all{};
  for (uint64_t lane = 0; lane < 32; ++lane)
    all[lane] = of(lane);
  return all;
}
unsigned wavefronts(uint32_t bytes, const std::function<uint64_t(uint64_t)> &of) {
  return sharedWavefronts(~0u, addresses(of), bytes);
}
unsigned sectors(uint32_t bytes, const std::function<uint64_t(uint64_t)> &of) {
  return globalSectors(~0u, addresses(of), bytes);
}

} // namespace

TEST_CASE("Shared wavefronts") {
  REQUIRE(wavefronts(4, [](uint64_t lane) { return 4 * lane; }) == 1);
  REQUIRE(wavefronts(4, [](uint64_t lane) { return 8 * lane; }) == 2);
  REQUIRE(wavefronts(4, [](uint64_t lane) { return 128 * lane; }) == 32);
  REQUIRE(wavefronts(4, [](uint64_t lane) { return 132 * lane; }) == 1);
  REQUIRE(wavefronts(4, [](uint64_t) { return 64; }) == 1); // one word for all
  REQUIRE(wavefronts(2, [](uint64_t lane) { return 2 * lane; }) == 1);
  REQUIRE(wavefronts(1, [](uint64_t lane) { return lane; }) == 1);
  REQUIRE(wavefronts(16, [](uint64_t lane) { return 16 * lane; }) == 4);
  REQUIRE(wavefronts(16, [](uint64_t lane) { return 32 * lane; }) == 8);
  REQUIRE(wavefronts(8, [](uint64_t lane) { return 8 * lane; }) == 2);
  REQUIRE(sharedWavefronts(0x3, addresses([](uint64_t lane) { return 128 * lane; }), 4) == 2);
}

TEST_CASE("Global sectors") {
  REQUIRE(sectors(4, [](uint64_t lane) { return 4 * lane; }) == 4);
  REQUIRE(sectors(4, [](uint64_t lane) { return 4 * lane + 4; }) == 5);
  REQUIRE(sectors(4, [](uint64_t lane) { return 128 * lane; }) == 32);
  REQUIRE(sectors(16, [](uint64_t lane) { return 16 * lane; }) == 16);
  REQUIRE(sectors(4, [](uint64_t) { return 0; }) == 1);
}

TEST_CASE("A kernel's traffic is counted a line, whatever order lanes ran in") {
  Run run;
  Load<uint32_t> straight, strided;
  Store<uint32_t> store;
  uint64_t x = run.memory.allocate(32 * 128, {}, true);
  for (uint64_t seed = 0; seed < 5; ++seed) {
    Report report = run({.grid = {2},
                         .block = {64},
                         .sharedBytes = 64 * 64,
                         .seed = seed,
                         .preemptEvery = 3,
                         .countTraffic = true},
                        [&] {
                          for (uint32_t i = 0; i < 10; ++i) {
                            straight(x + 4 * (thread() % 32));
                            if (i < 3)
                              store(shared(64 * thread()), 1);
                          }
                          if (thread() < 32)
                            strided(x + 128 * thread());
                        });
    requireClean(report);
    REQUIRE(report.traffic.size() == 3);
    std::map<uint32_t, Traffic> byLine;
    for (const Traffic &one : report.traffic)
      byLine[one.site->line + (one.isShared ? 1000 : 0) + (one.requests == 2 ? 2000 : 0)] = one;
    const Traffic &first = byLine.at(straight.line()), &second = byLine.at(store.line() + 1000),
                  &third = byLine.at(strided.line() + 2000);
    REQUIRE((first.requests == 40 && first.done == 160 && first.ideal == 160 && !first.isWrite &&
             !first.isShared));
    REQUIRE((second.requests == 12 && second.done == 12 * 16 && second.ideal == 12 && second.isWrite &&
             second.isShared));
    REQUIRE((third.requests == 2 && third.done == 64 && third.ideal == 8));
  }
  REQUIRE(run({.block = {64}}, [&] { straight(x); }).traffic.empty());
}
