// SPDX-License-Identifier: MIT
// load_global and store_global: words of each width, offsets, predicates.
#include "tests/unit/simulator/TestKernel.h"

using namespace tilegym::sim;
using Catch::Contains;

TEST_CASE("Words are read zero-extended, in order") {
  Run run;
  uint64_t x = run.put<uint64_t>({0x8182838485868788, 0x9192939495969798});
  Op bytes("load_global", {.attributes = {8, 8, 1, 0},
                           .operands = {i64},
                           .results = {i16, i16, i16, i16},
                           .segments = {1, 0, 0}});
  Op halves("load_global",
            {.attributes = {0, 16, 0, 1}, .operands = {i64}, .results = {i16, i16}, .segments = {1, 0, 0}});
  Op words("load_global", {.attributes = {0, 32, 0, 0},
                           .operands = {i64},
                           .results = {i32, i32, i32, i32},
                           .segments = {1, 0, 0}});
  Op longs("load_global",
           {.attributes = {0, 64, 0, 0}, .operands = {i64}, .results = {i64, i64}, .segments = {1, 0, 0}});
  requireClean(run({}, [&] {
    auto b = bytes.all({x});
    REQUIRE((b[0] == 0x98 && b[1] == 0x97 && b[2] == 0x96 && b[3] == 0x95));
    auto h = halves.all({x});
    REQUIRE((h[0] == 0x8788 && h[1] == 0x8586));
    auto w = words.all({x});
    REQUIRE((w[0] == 0x85868788 && w[1] == 0x81828384 && w[2] == 0x95969798 && w[3] == 0x91929394));
    auto l = longs.all({x});
    REQUIRE((l[0] == 0x8182838485868788 && l[1] == 0x9192939495969798));
  }));
}

TEST_CASE("Where the predicate is false, nothing is touched and the other words are given") {
  Run run;
  Op load("load_global", {.attributes = {0, 32, 0, 0},
                          .operands = {i64, i1, i32, i32},
                          .results = {i32, i32},
                          .segments = {1, 1, 2}});
  Op store("store_global",
           {.attributes = {4, 16, 0}, .operands = {i16, i16, i64, i1}, .segments = {2, 1, 1}});
  uint64_t x = run.put<uint32_t>({1, 2, 3});
  requireClean(run({}, [&] {
    auto off = load.all({64, 0, 70, 71});
    REQUIRE((off[0] == 70 && off[1] == 71));
    auto on = load.all({x, 1, 70, 71});
    REQUIRE((on[0] == 1 && on[1] == 2));
    store({8, 9, 64, 0});
    store({8, 9, x, 1});
  }));
  REQUIRE(run.at<uint32_t>(x, 0) == 1);
  REQUIRE(run.at<uint32_t>(x, 1) == 0x00090008);
  REQUIRE(run.at<uint32_t>(x, 2) == 3);
}

TEST_CASE("Stores write the low bits of each word") {
  Run run;
  Op store("store_global",
           {.attributes = {0, 8, 0}, .operands = {i16, i16, i16, i16, i64}, .segments = {4, 1, 0}});
  uint64_t x = run.put<uint32_t>({0});
  requireClean(run({}, [&] { store({0x101, 0x202, 0x303, 0x404, x}); }));
  REQUIRE(run.at<uint32_t>(x) == 0x04030201);
}
