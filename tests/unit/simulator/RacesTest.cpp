// SPDX-License-Identifier: MIT
// Races by happens-before: each is planted, and the form that orders the two is silent. Every case runs under several seeds: the verdict
// must not depend on the order that a run took.
#include "compiler/simulator/Ordering.h"
#include "tests/unit/simulator/TestKernel.h"

using namespace tilegym::sim;
using Catch::Contains;

namespace {

constexpr uint64_t seeds = 8;

/// The kernel has this one kind of finding under every seed; gives the text of the last.
std::string alwaysFound(Run &run, LaunchConfig config, FindingKind kind,
                        const std::function<void()> &kernel) {
  std::string text;
  for (config.seed = 0; config.seed < seeds; ++config.seed)
    text = only(run(config, kernel), kind);
  return text;
}

void alwaysClean(Run &run, LaunchConfig config, const std::function<void()> &kernel) {
  for (config.seed = 0; config.seed < seeds; ++config.seed)
    requireClean(run(config, kernel));
}

} // namespace

TEST_CASE("Shared memory written and read by two threads needs a barrier between") {
  Run run;
  Store<uint32_t> store;
  Load<uint32_t> load;
  Op barrier("barrier");
  LaunchConfig config{.grid = {2}, .block = {64}, .sharedBytes = 512};
  // The values are there before, so that only the second round can race.
  auto exchange = [&](bool before, bool after) {
    store(shared(4 * thread()), 1);
    if (before)
      barrier();
    load(shared(4 * (63 - thread())));
    if (after)
      barrier();
  };
  alwaysClean(run, config, [&] {
    for (int i = 0; i < 3; ++i)
      exchange(true, true);
  });
  std::string text = alwaysFound(run, config, FindingKind::Race, [&] {
    for (int i = 0; i < 3; ++i)
      exchange(true, false); // the next round's store may overtake a load
  });
  REQUIRE_THAT(text, Contains("of shared memory (512 bytes): block"));
  REQUIRE_THAT(text, Contains(at(store.line())) && Contains(at(load.line())) &&
                         Contains("with nothing that orders them"));
}

TEST_CASE("A race names the place, both threads, what each does and where") {
  Run run;
  Store<uint32_t> first;
  Store<uint32_t> second;
  uint64_t out = run.memory.allocate(64, "y");
  Report report = run({.grid = {2}, .block = {1}}, [&] { (block() == 0 ? first : second)(out + 8, 5); });
  std::string text = only(report, FindingKind::Race);
  bool zeroWasLast = report.findings[0].block == 0;
  std::string zero = "block 0 thread 0 writes " + at(first.line()),
              one = "block 1 thread 0 writes " + at(second.line());
  REQUIRE(text ==
          "race at offset 8 of y (64 bytes): " + (zeroWasLast ? zero + " and " + one : one + " and " + zero) +
              " with nothing that orders them");
  REQUIRE(report.findings[0].site->line == (zeroWasLast ? first.line() : second.line()));
  REQUIRE(report.findings[0].other->line == (zeroWasLast ? second.line() : first.line()));
}

TEST_CASE("Blocks of a grid are unordered even where one runs after the other") {
  Run run;
  Store<uint32_t> store;
  Load<uint32_t> load;
  uint64_t out = run.put<uint32_t>({7, 7});
  LaunchConfig config{.grid = {2}, .block = {32}, .residentClusters = 1};
  std::string text = alwaysFound(run, config, FindingKind::Race, [&] {
    if (block() == 0 && thread() == 3)
      store(out, 9);
    if (block() == 1 && thread() == 4)
      load(out);
  });
  REQUIRE_THAT(text, Contains("block 0 thread 3 writes") && Contains("block 1 thread 4 reads"));
  // Two launches are ordered by their stream.
  requireClean(run(config, [&] { load(out); }));
}

TEST_CASE("Neighbouring bytes do not race, and overlapping accesses of other sizes do") {
  Run run;
  Store<uint8_t> bytes;
  Store<uint64_t> words;
  Store<uint16_t> halves;
  LaunchConfig config{.block = {64}, .sharedBytes = 1024};
  alwaysClean(run, config, [&] { bytes(shared(thread()), 1); });
  alwaysClean(run, config, [&] { halves(shared(2 * thread()), 1); });
  std::string text = alwaysFound(run, config, FindingKind::Race, [&] {
    if (thread() == 0)
      words(shared(8), 1);
    if (thread() == 40)
      bytes(shared(13), 1);
  });
  REQUIRE_THAT(text, Contains("thread 0 writes") && Contains("thread 40 writes"));
}

TEST_CASE("Lanes of a warp are ordered by its barrier, not by running in step or by a shuffle") {
  Run run;
  Store<uint32_t> store;
  Load<uint32_t> load;
  Op warpBarrier("warp_barrier"),
      shuffle("shuffle", {.attributes = {0}, .operands = {i32, i32}, .results = {i32}});
  LaunchConfig config{.block = {32}, .sharedBytes = 128};
  auto kernel = [&](auto meet) {
    return [&, meet] {
      store(shared(4 * thread()), 1);
      meet();
      load(shared(4 * (31 - thread())));
    };
  };
  alwaysClean(run, config, kernel([&] { warpBarrier(); }));
  alwaysFound(run, config, FindingKind::Race, kernel([&] { shuffle({1, 1}); }));
}

TEST_CASE("A named barrier orders those who took part, and nobody else") {
  Run run;
  Store<uint32_t> store;
  Load<uint32_t> load;
  Op sync("named_barrier", {.attributes = {0, 64}, .operands = {i32}}),
      arrive("named_barrier", {.attributes = {1, 64}, .operands = {i32}});
  LaunchConfig config{.block = {96}, .sharedBytes = 16};
  auto producer = [&](uint32_t reader) {
    return [&, reader] {
      if (thread() == 5)
        store(shared(), 1);
      if (thread() < 32)
        arrive({3});
      else if (thread() < 64)
        sync({3});
      if (thread() == reader)
        load(shared());
    };
  };
  alwaysClean(run, config, producer(40));
  // The third warp took no part: it reads too early in some runs, and is not ordered in any.
  config.seed = 1;
  Report report = run(config, producer(70));
  REQUIRE_FALSE(report.clean());
  for (const Finding &finding : report.findings)
    REQUIRE((finding.kind == FindingKind::Race || finding.kind == FindingKind::Uninitialised));
  REQUIRE(std::any_of(report.findings.begin(), report.findings.end(),
                      [](auto &one) { return one.kind == FindingKind::Race; }));
  // Who only arrives is not ordered after those who sync.
  alwaysFound(run, config, FindingKind::Race, [&] {
    if (thread() == 40)
      store(shared(), 1);
    if (thread() < 32)
      arrive({3});
    else if (thread() < 64)
      sync({3});
    if (thread() == 5)
      store(shared(), 2);
  });
}

TEST_CASE("A barrier that other threads used before orders nothing of theirs") {
  Run run;
  Store<uint32_t> store;
  Load<uint32_t> load;
  Op sync("named_barrier", {.attributes = {0, 64}, .operands = {i32}});
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    uint32_t left = 0;
    Report report = run({.block = {128}, .sharedBytes = 16, .seed = seed}, [&] {
      if (thread() == 5)
        store(shared(), 1);
      while (thread() >= 64 && left < 64) // after the first half in time, and by nothing that orders memory
        yield();
      sync({1});
      if (thread() == 100)
        load(shared());
      ++left;
    });
    REQUIRE_THAT(only(report, FindingKind::Race),
                 Contains("thread 5 writes") && Contains("thread 100 reads"));
  }
}

TEST_CASE("Every reader since the last write is remembered") {
  Run run;
  Store<uint32_t> store;
  Load<uint32_t> load;
  Op barrier("barrier");
  LaunchConfig config{.block = {256}, .sharedBytes = 16};
  for (uint32_t culprit : {0u, 31u, 100u, 255u}) {
    // All read; all meet; the culprit reads once more; one writes.
    std::string text = alwaysFound(run, config, FindingKind::Race, [&] {
      if (thread() == 7)
        store(shared(), 1);
      barrier();
      load(shared());
      barrier();
      if (thread() == culprit)
        load(shared());
      if (thread() == 7)
        store(shared(), 2);
    });
    REQUIRE_THAT(text,
                 Contains("thread " + std::to_string(culprit) + " reads") && Contains("thread 7 writes"));
  }
}

TEST_CASE("Atomics do not race with each other, and do with plain accesses") {
  Run run;
  Op add("atomic", {.attributes = {0, 0, 2}, .operands = {i64, i32, i1}, .results = {i32}});
  Load<uint32_t> load;
  Store<uint32_t> store;
  uint64_t sum = run.put<uint32_t>({0}, "sum");
  LaunchConfig config{.grid = {4}, .block = {64}};
  alwaysClean(run, config, [&] { add({sum, 1, 1}); });
  REQUIRE(run.at<uint32_t>(sum) == seeds * 256);
  std::string text = alwaysFound(run, config, FindingKind::Race, [&] {
    if (block() == 3 && thread() == 0)
      load(sum);
    if (block() == 1 && thread() == 0)
      add({sum, 1, 1});
  });
  REQUIRE_THAT(text,
               Contains("block 1 thread 0 updates (atomic)") || Contains("block 1 thread 0 writes (atomic)"));
}

TEST_CASE("Release and acquire order plain data, through orderings or fences, relaxed atomics do not") {
  Run run;
  Store<uint32_t> store;
  Load<uint32_t> load;
  uint64_t data = run.put<uint32_t>({0}), flag = run.put<uint32_t>({0});
  auto form = [](int64_t order) { return Form{.attributes = {order, 2}, .operands = {i64, i32}}; };
  auto loadForm = [](int64_t order) {
    return Form{.attributes = {order, 2}, .operands = {i64}, .results = {i32}};
  };
  Op relaxedStore("atomic_store", form(0)), releaseStore("atomic_store", form(2));
  Op relaxedLoad("atomic_load", loadForm(0)), acquireLoad("atomic_load", loadForm(1));
  auto message = [&](const Op &send, const Op &receive, bool fenceBefore, bool fenceAfter) {
    return [&, fenceBefore, fenceAfter] {
      if (block() == 0) {
        store(data, 42);
        if (fenceBefore)
          fence(current());
        send({flag, 1});
      } else {
        while (receive({flag}) == 0) {
        }
        if (fenceAfter)
          fence(current());
        REQUIRE(load(data) == 42);
        send({flag, 0}); // for the next run
      }
    };
  };
  LaunchConfig config{.grid = {2}, .block = {1}};
  alwaysClean(run, config, message(releaseStore, acquireLoad, false, false));
  alwaysClean(run, config, message(relaxedStore, relaxedLoad, true, true));
  alwaysClean(run, config, message(relaxedStore, acquireLoad, true, false));
  alwaysFound(run, config, FindingKind::Race, message(relaxedStore, relaxedLoad, false, false));
  alwaysFound(run, config, FindingKind::Race, message(relaxedStore, relaxedLoad, true, false));
  alwaysFound(run, config, FindingKind::Race, message(relaxedStore, relaxedLoad, false, true));
  alwaysFound(run, config, FindingKind::Race, message(releaseStore, relaxedLoad, false, false));
}

TEST_CASE("An ordering of block scope reaches the block only") {
  Run run;
  Store<uint32_t> store;
  Load<uint32_t> load;
  uint64_t data = run.put<uint32_t>({0}), flag = run.put<uint32_t>({0});
  auto storeForm = [](int64_t order, int64_t scope) {
    return Form{.attributes = {order, scope}, .operands = {i64, i32}};
  };
  auto loadForm = [](int64_t order, int64_t scope) {
    return Form{.attributes = {order, scope}, .operands = {i64}, .results = {i32}};
  };
  Op releaseCta("atomic_store", storeForm(2, 0)), releaseGpu("atomic_store", storeForm(2, 2)),
      relaxedStore("atomic_store", storeForm(0, 2));
  Op acquireCta("atomic_load", loadForm(1, 0)), acquireGpu("atomic_load", loadForm(1, 2)),
      relaxedLoad("atomic_load", loadForm(0, 2));
  Op fenceCta("fence", {.attributes = {3, 0}}), fenceGpu("fence", {.attributes = {3, 2}});
  // Between two threads of one block, or of two.
  auto message = [&](const Op &send, const Op &receive, const Op *fence) {
    return [&, fence] {
      if (block() == 0 && thread() == 0) {
        store(data, 42);
        if (fence)
          (*fence)();
        send({flag, 1});
      } else {
        while (receive({flag}) == 0) {
        }
        if (fence)
          (*fence)();
        load(data);
        send({flag, 0});
      }
    };
  };
  LaunchConfig inBlock{.block = {2}}, inGrid{.grid = {2}, .block = {1}};
  alwaysClean(run, inBlock, message(releaseCta, acquireCta, nullptr));
  alwaysClean(run, inBlock, message(releaseGpu, acquireCta, nullptr));
  alwaysClean(run, inBlock, message(releaseCta, acquireGpu, nullptr));
  alwaysClean(run, inBlock, message(relaxedStore, relaxedLoad, &fenceCta));
  alwaysClean(run, inGrid, message(releaseGpu, acquireGpu, nullptr));
  alwaysClean(run, inGrid, message(relaxedStore, relaxedLoad, &fenceGpu));
  alwaysFound(run, inGrid, FindingKind::Race, message(releaseCta, acquireGpu, nullptr));
  alwaysFound(run, inGrid, FindingKind::Race, message(releaseGpu, acquireCta, nullptr));
  alwaysFound(run, inGrid, FindingKind::Race, message(relaxedStore, relaxedLoad, &fenceCta));
}

TEST_CASE("An update carries a release on, a plain atomic store does not") {
  Run run;
  Store<uint32_t> store;
  Load<uint32_t> load;
  uint64_t data = run.put<uint32_t>({0}), flag = run.put<uint32_t>({0});
  Op release("atomic_store", {.attributes = {2, 2}, .operands = {i64, i32}}),
      relaxed("atomic_store", {.attributes = {0, 2}, .operands = {i64, i32}});
  Op add("atomic", {.attributes = {0, 0, 2}, .operands = {i64, i32}, .results = {i32}});
  Op acquire("atomic_load", {.attributes = {1, 2}, .operands = {i64}, .results = {i32}}),
      peek("atomic_load", {.attributes = {0, 2}, .operands = {i64}, .results = {i32}});
  auto kernel = [&](bool update) {
    return [&, update] {
      if (block() == 0) {
        store(data, 1);
        release({flag, 1});
      } else if (block() == 1) {
        while (peek({flag}) != 1) {
        }
        update ? (void)add({flag, 1}) : (void)relaxed({flag, 2});
      } else {
        while (peek({flag}) != 2) {
        }
        acquire({flag});
        load(data);
        relaxed({flag, 0});
      }
    };
  };
  LaunchConfig config{.grid = {3}};
  alwaysClean(run, config, kernel(true));
  alwaysFound(run, config, FindingKind::Race, kernel(false));
}

TEST_CASE("The last block to finish sees what the others wrote before their counting") {
  Run run;
  Op count("atomic", {.attributes = {0, 3, 2}, .operands = {i64, i32, i1}, .results = {i32}}); // acq_rel
  Op relaxed("atomic", {.attributes = {0, 0, 2}, .operands = {i64, i32, i1}, .results = {i32}});
  Store<uint32_t> store;
  Load<uint32_t> load;
  uint64_t parts = run.memory.allocate(8 * 4, "parts"), counter = run.memory.allocate(4);
  auto kernel = [&](const Op &arrive) {
    return [&] {
      store(parts + 4 * block(), block());
      if (arrive({counter, 1, 1}) == 7) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < 8; ++i)
          sum += load(parts + 4 * i);
        REQUIRE(sum == 28);
      }
    };
  };
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    run.memory.fill(counter, 0, 4);
    requireClean(run({.grid = {8}, .block = {1}, .seed = seed}, kernel(count)));
    run.memory.fill(counter, 0, 4);
    only(run({.grid = {8}, .block = {1}, .seed = seed}, kernel(relaxed)), FindingKind::Race);
  }
}
