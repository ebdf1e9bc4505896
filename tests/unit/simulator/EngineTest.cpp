// SPDX-License-Identifier: MIT
// Asynchronous operations as the engine carries them out: later, with a clock of their own, and through the proxy that they belong to.
#include "compiler/simulator/Engine.h"
#include "tests/unit/simulator/TestKernel.h"

using namespace tilegym::sim;
using Catch::Contains;

namespace {

/// Copies 16 bytes and hands its clock over; `wait` is woken when it is done.
struct Copy {
  SyncClock clock;
  WaitList waiting;
  bool done = false;

  void start(uint64_t to, uint64_t from, const Site *site, bool asyncProxy) {
    AsyncOp &op = current().machine->engine().issue(current(), site, "test copy", asyncProxy);
    auto buffer = std::make_shared<std::array<uint8_t, 16>>();
    op.steps = {[=](AsyncOp &self) { self.read(from, buffer->data(), 16); },
                [=](AsyncOp &self) { self.write(to, buffer->data(), 16); }};
    op.onDone = [this](AsyncOp &self) {
      clock.release(self);
      done = true;
      waiting.wakeAll();
    };
  }
  void wait(const Site *site) {
    while (!done)
      waiting.wait({.site = site,
                    .describe = [](const void *, uint64_t) { return std::string("the test copy"); },
                    .object = this});
    clock.acquire(current());
  }
};

} // namespace

TEST_CASE("What an operation writes is seen after a wait, and is a race without") {
  Run run;
  Op site("barrier");
  Load<uint32_t> load;
  uint64_t x = run.put<uint32_t>({1, 2, 3, 4}), y = run.memory.allocate(16);
  bool early = false, late = false;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    run.memory.fill(y, 0, 16);
    requireClean(run({.seed = seed}, [&] {
      Copy copy;
      copy.start(y, x, site.where(), false);
      copy.wait(site.where());
      REQUIRE(load(y + 8) == 3);
    }));
    run.memory.fill(y, 0, 16);
    auto copy = std::make_unique<Copy>();
    Report report = run({.seed = seed}, [&] {
      copy->start(y, x, site.where(), false);
      for (uint64_t i = 0; i < seed; ++i)
        yield();
      (load(y + 8) == 3 ? late : early) = true;
      copy->wait(site.where());
    });
    REQUIRE_THAT(only(report, FindingKind::Race),
                 Contains("test copy issued by block 0 thread 0 " + at(site.line())) ||
                     Contains("an asynchronous operation of block 0"));
  }
  REQUIRE(early);
  REQUIRE(late);
}

TEST_CASE("A source overwritten while it is read is a race") {
  Run run;
  Op site("barrier");
  Store<uint32_t> store;
  uint64_t x = run.put<uint32_t>({1, 2, 3, 4}), y = run.memory.allocate(16);
  auto copy = std::make_unique<Copy>();
  Report report = run({}, [&] {
    copy->start(y, x, site.where(), false);
    store(x, 9);
    copy->wait(site.where());
  });
  REQUIRE_THAT(only(report, FindingKind::Race), Contains("block 0 thread 0 writes"));
}

TEST_CASE("The async proxy needs a proxy fence on the path from generic writes") {
  Run run;
  Op site("barrier"), barrier("barrier");
  Store<uint32_t> store;
  uint64_t y = run.memory.allocate(64);
  enum Fence { None, ByWriter, ByIssuer, BeforeTheWrite };
  auto kernel = [&](Fence where, bool asyncProxy, std::unique_ptr<Copy> &copy) {
    copy = std::make_unique<Copy>();
    return [&, where, asyncProxy] {
      if (where == BeforeTheWrite)
        fenceProxyAsync(current());
      if (thread() < 4)
        store(shared(4 * thread()), thread());
      if (where == ByWriter)
        fenceProxyAsync(current());
      barrier();
      if (thread() != 37)
        return;
      if (where == ByIssuer)
        fenceProxyAsync(current());
      copy->start(y, shared(), site.where(), asyncProxy);
      copy->wait(site.where());
    };
  };
  std::unique_ptr<Copy> copy;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    LaunchConfig config{.block = {64}, .sharedBytes = 16, .seed = seed};
    requireClean(run(config, kernel(ByWriter, true, copy)));
    requireClean(run(config, kernel(ByIssuer, true, copy)));
    requireClean(run(config, kernel(None, false, copy))); // of the generic proxy, as cp.async is
    for (Fence fence : {None, BeforeTheWrite}) {
      Report report = run(config, kernel(fence, true, copy));
      REQUIRE(only(report, FindingKind::ProxyFence) ==
              "missing fence.proxy.async: test copy issued by block 0 thread 37 " + at(site.line()) +
                  " reads offset 0 of shared memory (16 bytes) through the async proxy " + at(site.line()) +
                  ", which block 0 thread 0 wrote through the generic proxy " + at(store.line()));
      REQUIRE(report.findings[0].count == 4); // a word each
    }
  }
}

TEST_CASE("The async proxy needs a proxy fence between generic reads and its write") {
  Run run;
  Op site("barrier"), barrier("barrier");
  Load<uint32_t> load;
  Store<uint32_t> store;
  uint64_t x = run.put<uint32_t>({1, 2, 3, 4});
  auto kernel = [&](bool fenced, bool asyncProxy, std::unique_ptr<Copy> &copy) {
    copy = std::make_unique<Copy>();
    return [&, fenced, asyncProxy] {
      if (thread() < 4)
        store(shared(4 * thread()), thread());
      fenceProxyAsync(current());
      barrier();
      if (thread() < 4)
        load(shared(4 * thread()));
      if (fenced)
        fenceProxyAsync(current());
      barrier();
      if (thread() != 37)
        return;
      copy->start(shared(), x, site.where(), asyncProxy);
      copy->wait(site.where());
    };
  };
  std::unique_ptr<Copy> copy;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    LaunchConfig config{.block = {64}, .sharedBytes = 16, .seed = seed};
    requireClean(run(config, kernel(true, true, copy)));
    requireClean(run(config, kernel(false, false, copy))); // of the generic proxy
    Report report = run(config, kernel(false, true, copy));
    REQUIRE_THAT(only(report, FindingKind::ProxyFence),
                 Contains("writes offset 0 of shared memory") && Contains("through the async proxy") &&
                     Contains("which block 0 thread 0 read through the generic proxy " + at(load.line())));
  }
}

TEST_CASE("What the async proxy wrote it may read without a fence") {
  Run run;
  Op site("barrier");
  uint64_t x = run.put<uint32_t>({1, 2, 3, 4}), y = run.memory.allocate(16);
  auto first = std::make_unique<Copy>(), second = std::make_unique<Copy>();
  requireClean(run({.sharedBytes = 16}, [&] {
    first->start(shared(), x, site.where(), true);
    first->wait(site.where());
    second->start(y, shared(), site.where(), true);
    second->wait(site.where());
  }));
  REQUIRE(run.at<uint32_t>(y, 3) == 4);
}

TEST_CASE("An operation out of bounds stops the launch and names itself") {
  Run run;
  Op site("barrier");
  uint64_t x = run.put<uint32_t>({1, 2, 3, 4});
  auto copy = std::make_unique<Copy>();
  Report report = run({.sharedBytes = 8}, [&] {
    copy->start(shared(), x, site.where(), true);
    copy->wait(site.where());
  });
  REQUIRE_FALSE(report.completed);
  REQUIRE(only(report, FindingKind::OutOfBounds) ==
          "test copy issued by block 0 thread 0 " + at(site.line()) +
              " writes 16 bytes out of bounds: offset 0 of shared memory (8 bytes) " + at(site.line()));
}

TEST_CASE("A block that ends with an operation in flight") {
  Run run;
  Op site("barrier");
  uint64_t x = run.put<uint32_t>({1, 2, 3, 4}), y = run.memory.allocate(16);
  std::string text;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    auto copy = std::make_unique<Copy>();
    Report report = run({.block = {2}, .seed = seed}, [&] {
      if (thread() == 1)
        copy->start(y, x, site.where(), true);
    });
    if (report.findings.empty())
      continue; // it happened to be done
    text = only(report, FindingKind::PendingAtExit);
  }
  REQUIRE(text == "block 0 exits while its test copy " + at(site.line()) +
                      " is in flight: wait for it before the last thread ends");
}

TEST_CASE("Operations that complete in order do, and others in any") {
  Run run;
  Op site("barrier");
  bool differs = false;
  for (uint64_t seed = 0; seed < 20; ++seed)
    for (bool inOrder : {true, false}) {
      std::vector<int> order;
      run({.seed = seed}, [&] {
        uint64_t before = 0;
        for (int i = 0; i < 4; ++i) {
          AsyncOp &op = current().machine->engine().issue(current(), site.where(), "step", false);
          op.steps = {[&order, i](AsyncOp &) { order.push_back(i); }};
          op.after = inOrder ? before : 0;
          before = op.serial;
        }
        while (current().machine->engine().pending())
          yield();
      });
      if (inOrder)
        REQUIRE(order == std::vector<int>{0, 1, 2, 3});
      else
        differs |= order != std::vector<int>{0, 1, 2, 3};
    }
  REQUIRE(differs);
}
