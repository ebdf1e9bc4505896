// SPDX-License-Identifier: MIT
// mbarriers: phases, counts and bytes, and each way to misuse them.
#include "tests/unit/simulator/TestKernel.h"

using namespace tilegym::sim;

namespace {

/// The instructions of most kernels here.
struct Barrier {
  Op init{"mbarrier_init", {.operands = {i64, i32}}};
  Op inval{"mbarrier_inval", {.operands = {i64}}};
  Op arrive{"mbarrier_arrive",
            {.attributes = {0, 0}, .operands = {i64}, .results = {i64}, .segments = {1, 0, 0}}};
  Op arriveMany{"mbarrier_arrive", {.attributes = {0, 0}, .operands = {i64, i32}, .segments = {1, 1, 0}}};
  Op arriveRelaxed{"mbarrier_arrive", {.attributes = {1, 0}, .operands = {i64}, .segments = {1, 0, 0}}};
  Op arriveIf{"mbarrier_arrive", {.attributes = {0, 0}, .operands = {i64, i1}, .segments = {1, 0, 1}}};
  Op arriveExpect{"mbarrier_arrive_expect_tx", {.attributes = {0, 0}, .operands = {i64, i32}}};
  Op expect{"mbarrier_expect_tx", {.operands = {i64, i32}}};
  Op complete{"mbarrier_complete_tx", {.operands = {i64, i32}}};
  Op tryWait{"mbarrier_try_wait",
             {.attributes = {0, 0}, .operands = {i64, i32}, .results = {i1}, .segments = {1, 1, 0}}};
  Op tryState{"mbarrier_try_wait",
              {.attributes = {0, 0}, .operands = {i64, i64}, .results = {i1}, .segments = {1, 1, 0}}};
  Op testWait{"mbarrier_test_wait", {.attributes = {0, 0}, .operands = {i64, i32}, .results = {i1}}};
  Op sync{"barrier"};

  void wait(uint64_t barrier, uint32_t parity) const {
    while (!tryWait({barrier, parity}))
      ;
  }
};

} // namespace

TEST_CASE("phases complete when all have arrived", "[mbarrier]") {
  Barrier b;
  Store<uint32_t> store;
  Load<uint32_t> load;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Run run;
    requireClean(run({.block = {64}, .sharedBytes = 1024, .seed = seed}, [&] {
      if (thread() == 0)
        b.init({shared(), 64});
      b.sync({});
      for (uint32_t round = 0; round < 5; ++round) {
        store(shared(64 + 4 * thread()), round * 100 + thread());
        b.arrive({shared()});
        b.wait(shared(), round & 1);
        uint32_t other = (thread() + 17) % 64;
        if (load(shared(64 + 4 * other)) != round * 100 + other)
          throw std::runtime_error("an arrival's writes are not seen");
        b.sync({});
      }
    }));
  }
}

TEST_CASE("waits by state, and without waiting", "[mbarrier]") {
  Barrier b;
  Run run;
  requireClean(run({.block = {32}, .sharedBytes = 64}, [&] {
    if (thread() == 0)
      b.init({shared(), 1});
    b.sync({});
    if (thread() == 0) {
      if (b.testWait({shared(), 0}) ||
          !b.testWait({shared(), 1})) // the phase before the first counts as complete
        throw std::runtime_error("a new barrier's phases");
      uint64_t state = b.arrive({shared()});
      while (!b.tryState({shared(), state}))
        ;
      if (!b.testWait({shared(), 0}))
        throw std::runtime_error("phase 0 is complete");
      b.arriveIf({shared(), 0});
      if (!b.testWait({shared(), 0}))
        throw std::runtime_error("nobody arrived");
      b.inval({shared()});
    }
  }));
}

TEST_CASE("bytes hold a phase up", "[mbarrier]") {
  Barrier b;
  Run run;
  requireClean(run({.block = {64}, .sharedBytes = 64}, [&] {
    if (thread() == 0)
      b.init({shared(), 1});
    b.sync({});
    if (thread() == 32) {
      b.arriveExpect({shared(), 100});
      if (b.testWait({shared(), 0}))
        throw std::runtime_error("bytes are to come");
      b.complete({shared(), 60});
      b.expect({shared(), 10});
      b.complete({shared(), 50});
    }
    b.wait(shared(), 0);
  }));
}

TEST_CASE("an arrival releases, unless it is relaxed", "[mbarrier]") {
  Barrier b;
  Store<uint32_t> store;
  Load<uint32_t> load;
  auto kernel = [&](const Op &arrive) {
    return [&] {
      if (thread() == 0)
        b.init({shared(), 1});
      b.sync({});
      if (thread() == 0) {
        store(shared(8), 7);
        arrive({shared()});
      } else if (thread() == 1) {
        b.wait(shared(), 0);
        load(shared(8));
      }
    };
  };
  Run run;
  requireClean(run({.block = {2}, .sharedBytes = 64}, kernel(b.arrive)));
  std::string text = only(run({.block = {2}, .sharedBytes = 64}, kernel(b.arriveRelaxed)), FindingKind::Race);
  CHECK(text.find("race at offset 8 of shared memory") == 0);
}

TEST_CASE("misused mbarriers", "[mbarrier]") {
  Barrier b;
  Store<uint64_t> store;
  auto text = [&](const std::function<void()> &body) {
    Run run;
    return only(run({.block = {1}, .sharedBytes = 64}, body), FindingKind::MbarrierMisuse);
  };
  auto has = [](const std::string &text, const std::string &part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  has(text([&] { b.arrive({shared()}); }), ", which is not initialised " + at(b.arrive.line()));
  has(text([&] { b.init({shared(), 0}); }),
      "initialises an mbarrier for 0 arrivals; 1 to 1048575 are allowed");
  has(text([&] { b.init({shared(), 1}), b.init({shared(), 2}); }),
      "(phase 0, parity 0: 0 of 1 arrivals) again; mbarrier_inval must end the first one");
  has(text([&] { b.init({shared(), 2}), b.arriveMany({shared(), 3}); }), "counts 3 arrivals at the mbarrier");
  has(text([&] { b.init({shared(), 1}), b.arriveMany({shared(), 0}); }),
      "counts 0 arrivals; 1 at least are allowed");
  // An arrival while bytes are to come, and none is expected any more.
  has(text([&] { b.init({shared(), 1}), b.arriveExpect({shared(), 16}), b.arrive({shared()}); }),
      "16 bytes to come), which expects only 0 more in this phase");
  has(text([&] { b.init({shared(), 1}), b.expect({shared(), 1 << 20}); }),
      "to 1048576; it holds at most 1048575");
  has(text([&] { b.init({shared(), 1}), store(shared(), 1), b.arrive({shared()}); }),
      "whose memory something else has overwritten; mbarrier_inval must end it first");
  has(text([&] { b.init({shared(), 1}), b.inval({shared()}), b.arrive({shared()}); }),
      "which is not initialised");
  has(text([&] { b.init({shared(), 1}), b.expect({shared(), 16}), b.inval({shared()}); }),
      "before the bytes have come");
  has(text([&] { b.init({shared(), 1}), b.arriveExpect({shared(), 32}), b.complete({shared(), 16}); }),
      "16 bytes to come): the bytes announced and the bytes copied differ");
}

TEST_CASE("a parity is 0 or 1, and a loop that asks again and again ends", "[mbarrier]") {
  Barrier b;
  auto init = [&] {
    if (thread() == 0)
      b.init({shared(), 1});
    b.sync({});
  };
  Run run;
  std::string text = only(run({.block = {32}, .sharedBytes = 64},
                              [&] {
                                init();
                                b.wait(shared(), 3);
                              }),
                          FindingKind::BadOperand);
  CHECK(text.find("waits for a phase of parity 3; parities are 0 and 1") != std::string::npos);
  LaunchConfig config{.block = {32}, .sharedBytes = 64};
  config.idleLimit = 1000;
  only(run(config,
           [&] {
             init();
             while (b.tryWait({shared(), 1}))
               ;
           }),
       FindingKind::Livelock);
}

TEST_CASE("an mbarrier's initialisation must be ordered before its use", "[mbarrier]") {
  Barrier b;
  // Whichever thread comes first: either nothing is there yet, or nothing orders it.
  bool raced = false;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Run run;
    Report report = run({.block = {64}, .sharedBytes = 64, .seed = seed}, [&] {
      if (thread() == 0)
        b.init({shared(), 1});
      else if (thread() == 32)
        b.arrive({shared()});
    });
    CHECK_FALSE(report.clean());
    raced |= !report.findings.empty() && report.findings[0].kind == FindingKind::Race;
  }
  CHECK(raced);
}

TEST_CASE("a barrier that runs ahead of a wait", "[mbarrier]") {
  // Thread 0 completes phase after phase, though thread 32 has not seen the first: its parity says nothing any more.
  Barrier b;
  unsigned slips = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Run run;
    Report report = run({.block = {64}, .sharedBytes = 64, .seed = seed}, [&] {
      if (thread() == 0)
        b.init({shared(), 1});
      b.sync({});
      if (thread() == 0)
        for (int i = 0; i < 6; ++i)
          b.arrive({shared()});
      if (thread() == 32)
        b.wait(shared(), 0);
    });
    slips += !report.findings.empty() && report.findings[0].kind == FindingKind::MbarrierMisuse;
  }
  CHECK(slips > 0);
}

TEST_CASE("who waits for what", "[mbarrier]") {
  Barrier b;
  Run run;
  std::string text = only(run({.block = {64}, .sharedBytes = 64},
                              [&] {
                                if (thread() == 0) {
                                  b.init({shared(), 2});
                                  b.arriveExpect({shared(), 4096});
                                }
                                b.sync({});
                                b.wait(shared(), 0);
                              }),
                          FindingKind::Deadlock);
  INFO(text);
  CHECK(text.find("block 0 threads 0-63: waits at a.tile:" + std::to_string(b.tryWait.line()) +
                  " for phase 0 of the mbarrier at 0x") != std::string::npos);
  CHECK(text.find("(phase 0, parity 0: 1 of 2 arrivals, 4096 bytes to come)") != std::string::npos);
}
