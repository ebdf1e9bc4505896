// SPDX-License-Identifier: MIT
// cp.async: sizes, zeros beyond the source, groups, arrivals at mbarriers, and what happens without the wait.
#include "tests/unit/simulator/TestKernel.h"

#include <numeric>

using namespace tilegym::sim;

namespace {

struct Copy {
  Op commit{"copy_async_commit"}, waitAll{"copy_async_wait", {.attributes = {0}}},
      waitOne{"copy_async_wait", {.attributes = {1}}}, sync{"barrier"};
  Op copy4{"copy_async", {.attributes = {4, 0, 0}, .operands = {i64, i64}, .segments = {1, 1, 0, 0}}};
  Op copy8From{"copy_async",
               {.attributes = {8, 0, 0}, .operands = {i64, i64, i32}, .segments = {1, 1, 1, 0}}};
  Op copy16{"copy_async", {.attributes = {16, 1, 0}, .operands = {i64, i64}, .segments = {1, 1, 0, 0}}};
  Op copy16If{"copy_async", {.attributes = {16, 1, 0}, .operands = {i64, i64, i1}, .segments = {1, 1, 0, 1}}};
  Op arrive{"copy_async_arrive", {.attributes = {0}, .operands = {i64}}},
      arriveNoinc{"copy_async_arrive", {.attributes = {1}, .operands = {i64}}};
  Op init{"mbarrier_init", {.operands = {i64, i32}}};
  Op tryWait{"mbarrier_try_wait",
             {.attributes = {0, 0}, .operands = {i64, i32}, .results = {i1}, .segments = {1, 1, 0}}};
  Op plainArrive{"mbarrier_arrive", {.attributes = {0, 0}, .operands = {i64}, .segments = {1, 0, 0}}};
};

std::vector<uint32_t> numbers(size_t count) {
  std::vector<uint32_t> values(count);
  std::iota(values.begin(), values.end(), 1000);
  return values;
}

} // namespace

TEST_CASE("copies of 4, 8 and 16 bytes, in part and not at all", "[copyasync]") {
  Copy c;
  Load<uint32_t> load;
  Store<uint32_t> store;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Run run;
    uint64_t from = run.put(numbers(64)), to = run.memory.allocate(64 * 4);
    requireClean(run({.block = {1}, .sharedBytes = 256, .seed = seed}, [&] {
      c.copy4({shared(0), from});
      c.copy8From({shared(8), from + 8, 8});
      c.copy8From({shared(16), from + 16, 3});
      c.copy8From({shared(24), from + 24, 0});
      c.copy16({shared(32), from + 32});
      c.copy16If({shared(48), from + 48, 0});
      c.commit();
      c.waitAll();
      for (uint32_t i : {0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
        store(to + 4 * i, load(shared(4 * i)));
    }));
    std::vector<uint32_t> got;
    for (uint32_t i : {0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
      got.push_back(run.at<uint32_t>(to, i));
    CHECK(got == std::vector<uint32_t>{1000, 1002, 1003, 1004, 0, 0, 0, 1008, 1009, 1010, 1011});
  }
}

TEST_CASE("a ring of copy groups", "[copyasync]") {
  Copy c;
  Load<uint32_t> load;
  Store<uint32_t> store;
  constexpr uint32_t stages = 3, rounds = 9;
  auto kernel = [&](uint64_t from, uint64_t to, const Op &wait, bool syncs) {
    return [=, &c, &load, &store, &wait] {
      auto stage = [](uint32_t k) { return shared(k % stages * 512 + 16 * thread()); };
      for (uint32_t k = 0; k < rounds + stages - 1; ++k) {
        if (k < rounds)
          c.copy16({stage(k), from + k * 512 + 16 * thread()});
        c.commit();
        if (k + 1 < stages)
          continue;
        wait();
        if (syncs)
          c.sync();
        uint32_t now = k + 1 - stages, other = (thread() + 1) % 32;
        store(to + now * 512 + 16 * thread(), load(shared(now % stages * 512 + 16 * other)));
        if (syncs)
          c.sync();
      }
    };
  };
  Op waitTwo("copy_async_wait", {.attributes = {2}}), waitThree("copy_async_wait", {.attributes = {3}});
  bool sawRace = false;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Run run;
    uint64_t from = run.put(numbers(rounds * 128)), to = run.memory.allocate(rounds * 512);
    LaunchConfig config{.block = {32}, .sharedBytes = stages * 512, .seed = seed};
    requireClean(run(config, kernel(from, to, waitTwo, true)));
    for (uint32_t k = 0; k < rounds; ++k)
      CHECK(run.at<uint32_t>(to, k * 128) == 1000 + k * 128 + 4);
    // One group too few, and no barrier after the wait: other threads' copies are not ordered.
    for (const Report &report :
         {run(config, kernel(from, to, waitThree, true)), run(config, kernel(from, to, waitTwo, false))}) {
      CHECK_FALSE(report.clean());
      for (const Finding &finding : report.findings)
        sawRace |= finding.kind == FindingKind::Race;
    }
  }
  CHECK(sawRace);
}

TEST_CASE("copies arrive at mbarriers", "[copyasync]") {
  Copy c;
  Load<uint32_t> load;
  Store<uint32_t> store;
  for (bool noinc : {false, true})
    for (uint64_t seed = 0; seed < 20; ++seed) {
      Run run;
      uint64_t from = run.put(numbers(128)), to = run.memory.allocate(512);
      requireClean(run({.block = {64}, .sharedBytes = 1024, .seed = seed}, [&] {
        if (thread() == 0)
          c.init({shared(512), 32});
        c.sync();
        if (thread() < 32) {
          c.copy16({shared(16 * thread()), from + 16 * thread()});
          (noinc ? c.arriveNoinc : c.arrive)({shared(512)});
          if (!noinc)
            c.plainArrive({shared(512)});
        } else {
          while (!c.tryWait({shared(512), 0}))
            ;
          uint32_t mine = thread() - 32;
          store(to + 16 * mine, load(shared(16 * ((mine + 5) % 32))));
        }
      }));
      for (uint32_t i = 0; i < 32; ++i)
        CHECK(run.at<uint32_t>(to, 4 * i) == 1000 + (i + 5) % 32 * 4);
    }
}

TEST_CASE("copies that nobody waits for", "[copyasync]") {
  Copy c;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Run run;
    uint64_t from = run.put(numbers(64));
    Report report = run({.block = {1}, .sharedBytes = 64, .seed = seed}, [&] {
      c.copy16({shared(), from});
      c.commit();
      c.commit();
      c.waitOne();
      c.copy16({shared(16), from});
      c.commit();
    });
    CHECK(report.findings.at(0).text ==
          "block 0 thread 0 ends without having waited for its copies: its block's memory may be another's "
          "when they come; copy_async_wait 0 must come first " +
              at(c.copy16.line()));
    requireClean(run({.block = {1}, .sharedBytes = 64, .seed = seed}, [&] {
      c.copy16({shared(), from});
      c.commit();
      c.commit();
      c.waitOne();
    }));
  }
}

TEST_CASE("bad copies", "[copyasync]") {
  Copy c;
  Run run;
  uint64_t from = run.put(numbers(64));
  CHECK(only(run({.block = {1}, .sharedBytes = 64}, [&] { c.copy8From({shared(), from, 9}); }),
             FindingKind::BadOperand) ==
        "block 0 thread 0 copies from 9 bytes; at most 8, the copy's size, are allowed " +
            at(c.copy8From.line()));
  CHECK(only(run({.block = {1}, .sharedBytes = 64}, [&] { c.copy16({shared(8), from}); }),
             FindingKind::Misaligned) ==
        "block 0 thread 0 copies 16 bytes between addresses that are not both multiples of that " +
            at(c.copy16.line()));
  CHECK(only(run({.block = {1}, .sharedBytes = 64},
                 [&] { c.copy16({shared(64), from}), c.commit(), c.waitAll(); }),
             FindingKind::OutOfBounds)
            .find("cp.async issued by block 0 thread 0") == 0);
  CHECK(only(run({.block = {1}, .sharedBytes = 64},
                 [&] { c.copy16({shared(0), from + 256}), c.commit(), c.waitAll(); }),
             FindingKind::OutOfBounds)
            .find("cp.async issued by block 0 thread 0") == 0);
}
