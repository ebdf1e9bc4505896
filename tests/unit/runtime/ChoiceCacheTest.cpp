// SPDX-License-Identifier: MIT
// The cache of choices: the same answers as without it, whatever came before; bounded whatever is called; right when many threads fill it at once.
#include "runtime/src/ChoiceCache.h"
#include "tests/unit/runtime/Calls.h"
#include <latch>
#include <random>
#include <set>
#include <thread>

using namespace tilegym::testing;
using namespace tilegym::runtime;

namespace {

/// scale with guards, derived parameters, a const dim and a variant of other facts.
OpText manyWays() {
  OpText op = scaleOp();
  op.kernels = {
      {"resident", {dim(1), number(64), inst(OpCode::LeI)}, {"BN"}, {{dim(1), inst(OpCode::Pow2CeilI)}}},
      {"wide", {inst(OpCode::PushSmCount), number(100), inst(OpCode::GeI)}, {"BN"}, {{}}},
      {"streaming", {dim(1), number(200), inst(OpCode::LeI)}, {"BN"}, {{}}}};
  std::vector<VariantText> variants;
  for (const VariantText &like : op.variants)
    for (int64_t bn : {4, 8, 64, 0, 1}) {
      VariantText v = like;
      v.kernel = bn == 0 ? 1 : bn == 1 ? 2 : 0;
      v.params = {bn};
      v.entry += "_" + std::to_string(bn);
      if (v.kernel == 1)
        v.constDims = {kRunTime, 96};
      if (bn == 8 && v.facts == kFactsFast)
        v.tensorFacts[1] = 0;
      if (bn == 64)
        v.images = {{90, 0, 1, "h"}};
      variants.push_back(v);
    }
  op.variants = variants;
  return op;
}

struct Random {
  std::mt19937_64 engine;
  int64_t below(int64_t n) { return int64_t(engine() % uint64_t(n)); }
};

/// A random call of it, bound. Dims grow without end.
struct RandomCall {
  Given x, b, y;
  int64_t fast;
  std::unique_ptr<Call> call;

  RandomCall(const Opened &opened, Random &random, int64_t turn)
      : x(memory() + random.below(8) * 4, random.below(2) ? TILEGYM_F32 : TILEGYM_F16,
          {1 + turn, 1 + random.below(240)}),
        b(memory() + (int64_t(1) << 40), x.tensor.dtype, {random.below(2) ? 1 : x.shape[1]}),
        y(memory() + (int64_t(1) << 41), x.tensor.dtype, x.shape), fast(random.below(8) > 0) {
    if (random.below(3) == 0)
      x.strides = {x.shape[1] + random.below(3), 1};
    const void *args[] = {x.c(), random.below(2) ? b.c() : nullptr, nullptr, &fast, y.c()};
    call = opened.call();
    INFO(tilegym_last_error());
    REQUIRE(call->bind(args, false) == TILEGYM_OK);
    call->smCount = random.below(2) ? 132 : 20;
  }
};

std::string answer(TilegymStatus status, const Choice &choice) {
  return status != TILEGYM_OK ? tilegym_last_error()
                              : std::to_string(choice.index) + " " + std::to_string(choice.image->offset) +
                                    " " + std::to_string(*choice.params);
}

} // namespace

TEST_CASE("the cache gives what the search gives, for any order of calls") {
  Opened opened(manyWays());
  ChoiceCache cache(opened.table, opened.table.ops()[0]);
  Random random{std::mt19937_64(5)};
  const int arches[] = {80, 89, 90, 120, kAnyArch, 75, 300};
  std::set<std::string> seen;
  for (int64_t turn = 0; turn < 20000; ++turn) {
    RandomCall r(opened, random, turn);
    int arch = arches[size_t(random.below(7))];
    Choice searched, kept;
    std::string want = answer(choose(*r.call, arch, "Fake", &searched), searched);
    std::string have = answer(cache.choose(*r.call, arch, "Fake", &kept), kept);
    REQUIRE(have == want);
    if (want.find(' ') < 3)
      seen.insert(want);
  }
  CHECK(seen.size() > 40);
  CHECK(cache.size() > 50);
}

TEST_CASE("dims and pointers make no entries, only what was compiled does") {
  Opened opened(manyWays());
  ChoiceCache cache(opened.table, opened.table.ops()[0]);
  int64_t fast = 1;
  for (int64_t i = 0; i < 5000; ++i) {
    std::vector<int64_t> shape = {1 + i, 33 + i % 32}; // BN = 64, whole vectors or not
    Given x(memory() + i * 16, TILEGYM_F32, shape), y(memory() + (int64_t(1) << 41), TILEGYM_F32, shape);
    const void *args[] = {x.c(), nullptr, nullptr, &fast, y.c()};
    auto call = opened.call();
    REQUIRE(call->bind(args, false) == TILEGYM_OK);
    Choice choice;
    REQUIRE(cache.choose(*call, 90, "Fake", &choice) == TILEGYM_OK);
  }
  CHECK(cache.size() == 2);
}

TEST_CASE("an op with more than a key has room for is searched each time") {
  OpText op = manyWays();
  for (int64_t i = 0; i < 300; ++i) {
    VariantText v = op.variants[0];
    v.consts = {kRunTime, 1000 + i};
    op.variants.push_back(v);
  }
  Opened opened(op);
  ChoiceCache cache(opened.table, opened.table.ops()[0]);
  Random random{std::mt19937_64(6)};
  for (int64_t turn = 0; turn < 200; ++turn) {
    RandomCall r(opened, random, turn);
    Choice searched, kept;
    std::string want = answer(choose(*r.call, 90, "Fake", &searched), searched);
    REQUIRE(answer(cache.choose(*r.call, 90, "Fake", &kept), kept) == want);
  }
  CHECK(cache.size() == 0);
}

TEST_CASE("sixteen threads fill one cache at once") {
  Opened opened(manyWays());
  for (int round = 0; round < 20; ++round) {
    ChoiceCache cache(opened.table, opened.table.ops()[0]);
    std::latch start(16);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    std::vector<std::unique_ptr<RandomCall>> calls;
    Random random{std::mt19937_64(uint64_t(round))};
    for (int64_t i = 0; i < 16 * 20; ++i)
      calls.push_back(std::make_unique<RandomCall>(opened, random, i % 20));
    for (size_t t = 0; t < 16; ++t)
      threads.emplace_back([&, t] {
        start.arrive_and_wait();
        for (size_t i = 0; i < 16 * 20; ++i) {
          const Call &call = *calls[(i + t) % calls.size()]->call;
          Choice searched, kept;
          TilegymStatus want = choose(call, 90, "Fake", &searched);
          wrong += cache.choose(call, 90, "Fake", &kept) != want ||
                   (want == TILEGYM_OK && kept.variant != searched.variant);
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    CHECK(wrong == 0);
    CHECK(cache.size() > 0);
  }
}
