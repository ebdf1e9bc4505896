// SPDX-License-Identifier: MIT
// Blocks of a cluster: their barrier, each other's memory, and the end of one while others still reach for it; registers of warpgroups.
#include "tests/unit/simulator/TestKernel.h"

using namespace tilegym::sim;

namespace {

struct ClusterOps {
  Op arrive{"cluster_arrive", {.attributes = {0}}}, arriveRelaxed{"cluster_arrive", {.attributes = {1}}},
      wait{"cluster_wait"};
  Op rank{"cluster_rank", {.results = {i32}}}, size{"cluster_size", {.results = {i32}}};
  Op mapa{"map_shared_rank", {.operands = {i64, i32}, .results = {i64}}};
  Op init{"mbarrier_init", {.operands = {i64, i32}}}, fenceInit{"fence_mbarrier_init"};
  Op arriveAt{"mbarrier_arrive", {.attributes = {0, 1}, .operands = {i64}, .segments = {1, 0, 0}}};
  Op arriveCta{"mbarrier_arrive", {.attributes = {0, 0}, .operands = {i64}, .segments = {1, 0, 0}}};
  Op tryWait{"mbarrier_try_wait", {.attributes = {0, 0}, .operands = {i64, i32}, .results = {i1}}};
  Load<uint32_t> load;
  Store<uint32_t> store;

  void meet() const {
    arrive();
    wait();
  }
};

LaunchConfig four(uint64_t seed = 0) {
  return {.grid = {8}, .block = {32}, .cluster = {4}, .sharedBytes = 1024, .seed = seed};
}

} // namespace

TEST_CASE("blocks write and read each other's memory", "[cluster]") {
  ClusterOps c;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Run run;
    requireClean(run(four(seed), [&] {
      auto rank = uint32_t(c.rank());
      if (c.size() != 4 || rank != block() % 4)
        throw std::runtime_error("who a block is");
      for (uint32_t round = 0; round < 3; ++round) {
        uint64_t next = c.mapa({shared(4 * thread()), (rank + 1) % 4});
        c.store(next, 100 * round + rank);
        c.meet();
        if (c.load(shared(4 * thread())) != 100 * round + (rank + 3) % 4)
          throw std::runtime_error("what the block before wrote");
        if (c.load(c.mapa({shared(4 * thread()), (rank + 2) % 4})) != 100 * round + (rank + 1) % 4)
          throw std::runtime_error("what lies in a third block");
        c.meet();
      }
    }));
  }
}

TEST_CASE("a relaxed arrival orders nothing", "[cluster]") {
  ClusterOps c;
  Run run;
  CHECK(only(run(four(),
                 [&] {
                   c.store(c.mapa({shared(4 * thread()), (c.rank() + 1) % 4}), 1);
                   c.arriveRelaxed();
                   c.wait();
                   c.load(shared(4 * thread()));
                   c.meet();
                 }),
             FindingKind::Race)
            .find("race at offset") == 0);
}

TEST_CASE("an exited thread counts as arrived", "[cluster]") {
  ClusterOps c;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Run run;
    requireClean(run(four(seed), [&] {
      if (thread() < 7)
        return;
      c.meet();
      c.meet();
      c.arrive(); // and never waits
    }));
  }
}

TEST_CASE("the cluster's barrier misused", "[cluster]") {
  ClusterOps c;
  Run run;
  CHECK(only(run(four(), [&] { c.arrive(), c.arrive(); }), FindingKind::BarrierMisuse)
            .find("arrives at the cluster's barrier twice; a wait must come between " +
                  at(c.arrive.line())) != std::string::npos);
  CHECK(only(run(four(), [&] { c.wait(); }), FindingKind::BarrierMisuse)
            .find("waits at the cluster's barrier without having arrived there " + at(c.wait.line())) !=
        std::string::npos);
  CHECK(only(run(four(), [&] { c.mapa({shared(), 4}); }), FindingKind::BadOperand)
            .find("maps an address to rank 4 of a cluster of 4 blocks " + at(c.mapa.line())) !=
        std::string::npos);
  Report report = run({.grid = {2}, .block = {32}, .cluster = {2}, .sharedBytes = 64}, [&] {
    c.arrive();
    if (c.rank() == 0)
      c.wait();
    else
      c.tryWait({shared(), 0});
  });
  CHECK(report.findings.at(0).kind == FindingKind::MbarrierMisuse);
}

TEST_CASE("a block that ends while another still reaches for it", "[cluster]") {
  ClusterOps c;
  // 0: the last barrier is there; 1: it is not, and the access may come before or after the end
  for (int mistake : {0, 1})
    for (uint64_t seed = 0; seed < 20; ++seed) {
      Run run;
      Report report =
          run({.grid = {2}, .block = {32}, .cluster = {2}, .sharedBytes = 1024, .seed = seed}, [&] {
            c.store(shared(4 * thread()), thread());
            c.meet();
            if (c.rank() == 1)
              c.load(c.mapa({shared(4 * thread()), 0}));
            if (!mistake)
              c.meet();
          });
      INFO(report.text());
      if (!mistake) {
        requireClean(report);
      } else {
        REQUIRE_FALSE(report.findings.empty());
        CHECK((report.findings[0].kind == FindingKind::PendingAtExit ||
               report.findings[0].kind == FindingKind::OutOfBounds));
        if (report.findings[0].kind == FindingKind::PendingAtExit)
          CHECK(report.findings[0].text.find("block 0 ends while block 1 thread ") == 0);
      }
    }
}

TEST_CASE("arrivals from another block", "[cluster]") {
  ClusterOps c;
  // 0: right; 1: the release does not reach another block; 2: nobody waits; 3: the initialisation is not ordered before
  auto kinds = [&](int mistake) {
    std::vector<FindingKind> found;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      Run run;
      Report report =
          run({.grid = {2}, .block = {32}, .cluster = {2}, .sharedBytes = 1024, .seed = seed}, [&] {
            auto rank = uint32_t(c.rank());
            if (rank == 0 && thread() == 0) {
              c.init({shared(512), 32});
              c.fenceInit();
            }
            if (mistake != 3) {
              c.arriveRelaxed();
              c.wait();
            }
            if (rank == 1) {
              c.store(c.mapa({shared(4 * thread()), 0}), thread());
              (mistake == 1 ? c.arriveCta : c.arriveAt)({c.mapa({shared(512), 0})});
            } else if (mistake != 2) {
              while (!c.tryWait({shared(512), 0}))
                ;
              c.load(shared(4 * (31 - thread())));
            }
          });
      if (mistake == 0)
        requireClean(report);
      for (const Finding &finding : report.findings)
        found.push_back(finding.kind);
    }
    return found;
  };
  auto has = [](const std::vector<FindingKind> &kinds, FindingKind kind) {
    return std::count(kinds.begin(), kinds.end(), kind) != 0;
  };
  CHECK(kinds(0).empty());
  CHECK(has(kinds(1), FindingKind::Race));
  CHECK(has(kinds(2), FindingKind::PendingAtExit));
  CHECK(has(kinds(3), FindingKind::MbarrierMisuse));
}

TEST_CASE("registers of warpgroups", "[cluster]") {
  Op few("set_max_registers", {.attributes = {1, 40}}), many("set_max_registers", {.attributes = {0, 232}}),
      odd("set_max_registers", {.attributes = {0, 100}});
  Op tooMany("set_max_registers", {.attributes = {0, 256}}), dependency("grid_dependency_wait"),
      dependents("grid_launch_dependents");
  Run run;
  requireClean(run({.block = {384}}, [&] {
    dependency();
    (thread() < 128 ? few : many)();
    dependents();
  }));
  CHECK(only(run({.block = {128}}, [&] { odd(); }), FindingKind::BadOperand) ==
        "block 0 thread 0 sets 100 registers a thread; a multiple of 8 from 24 to 256 is allowed " +
            at(odd.line()));
  CHECK(only(run({.block = {384}}, [&] { tooMany(); }), FindingKind::Deadlock)
            .find("ask for 98304 in all, of 65536 " + at(tooMany.line())) != std::string::npos);
}
