// SPDX-License-Identifier: MIT
// What a warp's lanes do together: results by the definition of each, and lanes that do not come.
#include "tests/unit/simulator/TestKernel.h"

using namespace tilegym::sim;
using Catch::Contains;

namespace {

/// What each lane of one warp gets.
std::vector<uint64_t> perLane(const std::function<uint64_t(uint32_t)> &body, uint32_t lanes = 32) {
  std::vector<uint64_t> got(lanes);
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Run run;
    std::vector<uint64_t> now(lanes);
    requireClean(run({.block = {lanes}, .seed = seed}, [&] { now[thread()] = body(thread()); }));
    REQUIRE((seed == 0 || now == got));
    got = now;
  }
  return got;
}

Form shuffleForm(int64_t kind) { return {.attributes = {kind}, .operands = {i32, i32}, .results = {i32}}; }

} // namespace

TEST_CASE("Shuffles") {
  Op exchange("shuffle", shuffleForm(0)), up("shuffle", shuffleForm(1)), down("shuffle", shuffleForm(2)),
      index("shuffle", shuffleForm(3));
  auto swapped = perLane([&](uint32_t lane) { return exchange({100 + lane, 5}); });
  auto fromBelow = perLane([&](uint32_t lane) { return up({100 + lane, 3}); });
  auto fromAbove = perLane([&](uint32_t lane) { return down({100 + lane, 3}); });
  auto chosen = perLane([&](uint32_t lane) { return index({100 + lane, lane / 4}); });
  for (uint32_t lane = 0; lane < 32; ++lane) {
    REQUIRE(swapped[lane] == 100 + (lane ^ 5));
    REQUIRE(fromBelow[lane] == 100 + (lane < 3 ? lane : lane - 3));
    REQUIRE(fromAbove[lane] == 100 + (lane > 28 ? lane : lane + 3));
    REQUIRE(chosen[lane] == 100 + lane / 4);
  }
}

TEST_CASE("Votes") {
  auto vote = [](int64_t kind, uint8_t type, const std::function<bool(uint32_t)> &predicate,
                 uint32_t lanes = 32) {
    Op op("vote", {.attributes = {kind}, .operands = {i1}, .results = {type}});
    auto got = perLane([&](uint32_t lane) { return op({predicate(lane)}); }, lanes);
    REQUIRE(std::all_of(got.begin(), got.end(), [&](uint64_t one) { return one == got[0]; }));
    return got[0];
  };
  auto odd = [](uint32_t lane) { return lane % 2 == 1; };
  auto always = [](uint32_t) { return true; };
  auto never = [](uint32_t) { return false; };
  REQUIRE(vote(0, i1, odd) == 1);
  REQUIRE(vote(0, i1, never) == 0);
  REQUIRE(vote(1, i1, odd) == 0);
  REQUIRE(vote(1, i1, always) == 1);
  REQUIRE(vote(2, i1, odd) == 0);
  REQUIRE(vote(2, i1, always) == 1);
  REQUIRE(vote(2, i1, never) == 1);
  REQUIRE(vote(3, i32, odd) == 0xAAAAAAAA);
  REQUIRE(vote(3, i32, always, 20) == 0x000FFFFF);
  REQUIRE(vote(1, i1, always, 20) == 1);
}

TEST_CASE("Match") {
  Op any("match", {.attributes = {0}, .operands = {i32}, .results = {i32}}),
      all("match", {.attributes = {1}, .operands = {i32}, .results = {i32}});
  auto thirds = perLane([&](uint32_t lane) { return any({lane % 3}); });
  REQUIRE(thirds[0] == 0x49249249);
  REQUIRE(thirds[1] == 0x92492492);
  REQUIRE(thirds[31] == 0x92492492);
  REQUIRE(perLane([&](uint32_t lane) { return all({lane / 31}); })[5] == 0);
  REQUIRE(perLane([&](uint32_t) { return all({uint64_t(77)}); })[5] == 0xFFFFFFFF);
}

TEST_CASE("Redux") {
  auto redux = [](int64_t kind, const std::function<uint32_t(uint32_t)> &value) {
    Op op("redux", {.attributes = {kind}, .operands = {i32}, .results = {i32}});
    return perLane([&](uint32_t lane) { return op({value(lane)}); })[17];
  };
  auto signedLane = [](uint32_t lane) { return lane - 5; };
  REQUIRE(redux(0, signedLane) == 336);
  REQUIRE(redux(1, signedLane) == uint32_t(-5));
  REQUIRE(redux(2, signedLane) == 26);
  REQUIRE(redux(3, signedLane) == 0);
  REQUIRE(redux(4, signedLane) == 0xFFFFFFFF);
  REQUIRE(redux(5, [](uint32_t lane) { return ~(1u << lane % 8); }) == 0xFFFFFF00);
  REQUIRE(redux(6, [](uint32_t lane) { return 1u << lane % 8; }) == 0xFF);
  REQUIRE(redux(7, [](uint32_t lane) { return 1u << lane % 3; }) == 3); // 11, 11 and 10 times
}

TEST_CASE("Elect takes one lane, which the seed chooses, each time") {
  Op elect("elect", {.results = {i1}});
  uint32_t lanes = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    uint32_t first = 0, second = 0;
    Run run;
    requireClean(run({.block = {32}, .seed = seed}, [&] {
      first |= uint32_t(elect()) << thread();
      second |= uint32_t(elect()) << thread();
    }));
    REQUIRE(std::has_single_bit(first));
    REQUIRE(first == second);
    lanes |= first;
  }
  REQUIRE_FALSE(std::has_single_bit(lanes));
}

TEST_CASE("Lanes at different instructions are told apart") {
  Run run;
  Op one("shuffle", shuffleForm(0)), other("shuffle", shuffleForm(0)),
      vote("vote", {.attributes = {0}, .operands = {i1}, .results = {i1}});
  std::string text =
      only(run({.block = {32}}, [&] { thread() < 16 ? one({1, 1}) : vote({1}); }), FindingKind::Divergence);
  REQUIRE_THAT(text, Contains("comes to vote while ") || Contains("comes to shuffle while "));
  REQUIRE_THAT(text, Contains("of warp 0 wait for it at "));
  only(run({.block = {32}}, [&] { (thread() < 16 ? one : other)({1, 1}); }), FindingKind::Divergence);
  requireClean(run({.block = {64}}, [&] { (thread() < 32 ? one : other)({1, 1}); }));
}

TEST_CASE("A lane that has exited is missed, whether it left before or while the others waited") {
  Run run;
  Op shuffle("shuffle", shuffleForm(0));
  for (uint64_t seed = 0; seed < 6; ++seed) {
    std::string text = only(run({.block = {64}, .seed = seed},
                                [&] {
                                  if (thread() != 40)
                                    shuffle({1, 1});
                                }),
                            FindingKind::Divergence);
    REQUIRE((text.find("block 0 thread 40 exits while ") == 0 ||
             text.find("must take part that have exited") != std::string::npos));
  }
}

TEST_CASE("A lane that waits elsewhere makes the others wait for ever") {
  Run run;
  Op shuffle("shuffle", shuffleForm(0)), barrier("barrier");
  std::string text =
      only(run({.block = {32}}, [&] { thread() == 9 ? barrier() : shuffle({1, 1}); }), FindingKind::Deadlock);
  REQUIRE_THAT(text, Contains("threads 0-8, 10-31: waits at a.tile:" + std::to_string(shuffle.line()) +
                              " for its warp at shuffle, where only 31 lanes of warp 0 came"));
  REQUIRE_THAT(text, Contains("thread 9: waits at a.tile:" + std::to_string(barrier.line()) +
                              " for barrier 0, where 1 of 32 threads arrived"));
}

TEST_CASE("A shuffle from a lane that a short warp does not have") {
  Run run;
  Op shuffle("shuffle", shuffleForm(0));
  REQUIRE_THAT(only(run({.block = {20}}, [&] { shuffle({1, 16}); }), FindingKind::Divergence),
               Contains("which its warp does not have; the result is undefined"));
}
