// SPDX-License-Identifier: MIT
// Vector clocks by themselves.
#include "compiler/simulator/Clock.h"
#include "compiler/simulator/Shadow.h"
#include "compiler/simulator/Thread.h"
#include <catch2/catch.hpp>

using namespace tilegym::sim;

namespace {

struct Actor final : Agent {
  explicit Actor(uint32_t block, uint32_t index) {
    clock = Clock(block, index, 1);
    visible.fill(Clock(block, index, 0));
  }
  std::string describe() const override { return "actor"; }
};

} // namespace

TEST_CASE("An epoch holds its parts") {
  Epoch epoch(8388607, 4095, 268435455, true);
  REQUIRE(epoch.block() == 8388607);
  REQUIRE(epoch.index() == 4095);
  REQUIRE(epoch.count() == 268435455);
  REQUIRE(epoch.isAtomic());
  REQUIRE_FALSE(Epoch(1, 2, 3).isAtomic());
  REQUIRE(Epoch(1, 2, 3).asAtomic() == Epoch(1, 2, 3, true));
  REQUIRE(Epoch(0, genericSlots, 1).isAsyncProxy());
  REQUIRE_FALSE(Epoch(0, genericSlots - 1, 1).isAsyncProxy());
  REQUIRE_FALSE(Epoch(0, asyncSlots, 1).isAsyncProxy());
  REQUIRE_FALSE(bool(Epoch()));
}

TEST_CASE("Release and acquire order, and only in that direction") {
  Actor a(0, 64), b(0, 65), c(7, 64);
  SyncClock sync;
  Epoch before = a.clock.epoch();
  sync.release(a);
  Epoch after = a.clock.epoch();
  REQUIRE(after.count() == before.count() + 1);
  sync.acquire(b);
  REQUIRE(b.clock.covers(before));
  REQUIRE_FALSE(b.clock.covers(after));
  REQUIRE_FALSE(a.clock.covers(b.clock.epoch()));
  REQUIRE_FALSE(c.clock.covers(before));
  SyncClock next; // through b to another block
  next.release(b);
  next.acquire(c);
  REQUIRE(c.clock.covers(before));
  REQUIRE(c.clock.covers(Epoch(0, 65, 1)));
  REQUIRE_FALSE(c.clock.covers(Epoch(0, 66, 1)));
}

TEST_CASE("Joins keep the later of each, over blocks") {
  Actor a(3, 64), b(1, 70), c(2, 64), d(3, 64);
  SyncClock one, two, all;
  one.release(a);
  two.release(b);
  two.release(c);
  one.acquire(d);
  a.clock.tick();
  all.merge(one);
  all.merge(two);
  all.release(a);
  Actor e(9, 64);
  all.acquire(e);
  REQUIRE(e.clock.covers(Epoch(1, 70, 1)));
  REQUIRE(e.clock.covers(Epoch(2, 64, 1)));
  REQUIRE(e.clock.covers(Epoch(3, 64, 3)));
  REQUIRE_FALSE(e.clock.covers(Epoch(3, 64, 4)));
  REQUIRE(e.clock.known()->parts.size() == 3);
}

TEST_CASE("What is merged later is handed out too") {
  Actor a(0, 64), b(0, 65), first(0, 66), second(0, 67);
  SyncClock sync, more;
  sync.release(a);
  sync.acquire(first);
  more.release(b);
  sync.merge(more);
  sync.acquire(second); // knew as little as the first did
  REQUIRE(second.clock.covers(Epoch(0, 64, 1)));
  REQUIRE(second.clock.covers(Epoch(0, 65, 1)));
  REQUIRE_FALSE(first.clock.covers(Epoch(0, 65, 1)));
}

TEST_CASE("Those who leave a barrier share one snapshot") {
  std::vector<std::unique_ptr<Actor>> actors;
  SyncClock barrier;
  for (uint32_t i = 0; i < 8; ++i)
    actors.push_back(std::make_unique<Actor>(0, 64 + i));
  for (auto &actor : actors)
    barrier.release(*actor);
  for (auto &actor : actors)
    barrier.acquire(*actor);
  for (auto &actor : actors)
    REQUIRE(actor->clock.known() == actors[0]->clock.known());
}

TEST_CASE("The async proxy sees what was fenced") {
  Actor writer(0, 64), issuer(0, 65);
  Epoch write = writer.clock.epoch();
  SyncClock unfenced, fenced;
  unfenced.release(writer);
  unfenced.acquire(issuer);
  REQUIRE(issuer.clock.covers(write));
  REQUIRE_FALSE(issuer.visible[0].covers(write));
  fenceProxyAsync(writer);
  fenced.release(writer);
  fenced.acquire(issuer);
  REQUIRE(issuer.visible[0].covers(write));
  REQUIRE_FALSE(issuer.visible[0].covers(writer.clock.epoch()));
}

TEST_CASE("A page's cells are as fine as the finest access, and keep what they knew") {
  ShadowPage page;
  page.refine(0, 16);
  REQUIRE(page.cells.size() == 256);
  page.cells[1].write = Epoch(0, 64, 1);
  page.refine(18, 2);
  REQUIRE(page.cellShift == 1);
  REQUIRE(page.cells.size() == 2048);
  for (unsigned i = 0; i < 24; ++i)
    REQUIRE(bool(page.cells[i].write) == (i >= 8 && i < 16));
  page.refine(0, 16);
  REQUIRE(page.cellShift == 1);
  page.setInitialised(60, 10);
  REQUIRE(page.isInitialised(60, 10));
  REQUIRE_FALSE(page.isInitialised(60, 11));
  REQUIRE_FALSE(page.isInitialised(59, 2));
  page.setInitialised(64, 1, false);
  REQUIRE_FALSE(page.isInitialised(63, 2));
  REQUIRE(page.isInitialised(65, 5));
}
