// SPDX-License-Identifier: MIT
// A small GEMM as large ones are built: one warpgroup's thread loads tiles into a ring of stages, the other multiplies them and stores by the copy
// engine. It runs right under every seed; each of the mistakes that a GPU hid, or showed late, is found.
#include "compiler/simulator/MatrixDescriptor.h"
#include "compiler/simulator/NamedBarrier.h"
#include "compiler/simulator/TensorMap.h"
#include "tests/unit/simulator/SmallMatrix.h"
#include "tests/unit/simulator/TestKernel.h"

#include <set>

using namespace tilegym::sim;

namespace {

constexpr int tileM = 64, tileN = 64, tileK = 64, stages = 3, kBlocks = 4;
// Ragged, and 2 tiles for each block, so that the ring wraps.
constexpr int rowsN = 56, sizeK = kBlocks * tileK - 24;
constexpr int rowsOf(uint32_t blocks) { return int(blocks) * 2 * tileM - 28; }
constexpr uint32_t tileBytes = 64 * 128, stageBytes = 2 * tileBytes, staging = stages * stageBytes,
                   full = staging + 2 * tileBytes, empty = full + 8 * stages;

enum class Mistake {
  None,
  NoProxyFence,
  NoWait,
  NoWgmmaFence,
  WideStride,
  Swizzle64,
  FragmentsInFlight,
  Fragments,
  UnrollMismatch,
  NoEmptyWait,
  NoDrain,
  NoTurns,
  // One thing left out, doubled, shifted or put elsewhere.
  NoInitFence,
  NoInitSync,
  ProducerParity,
  ConsumerParity,
  FewBytes,
  ManyBytes,
  TwoExpected,
  EarlyRelease,
  DoubleRelease,
  NoRelease,
  NoReadWait,
  NoStoreCommit,
  NoBarrierBefore,
  NoBarrierAfter,
  NoFinalWait,
  NoCommit,
  Replaces,
  NoParityFlip,
  SwappedMaps,
  NoExchange,
  ShortStep,
  EarlyProxyFence,
  NoFullWait,
  Last
};

std::vector<uint8_t> sumTypes() { return std::vector<uint8_t>(32, f32); }

Form wgmmaForm(int32_t wordsA) {
  constexpr auto type = int64_t(ElementType::BF16);
  Form form{.attributes = {tileN, type, type, int64_t(ElementType::F32), 0, 0, 0, 0, 0},
            .results = sumTypes(),
            .segments = {wordsA, 1, 32, 1}};
  form.operands.assign(size_t(wordsA), wordsA == 1 ? i64 : i32);
  form.operands.push_back(i64);
  for (int i = 0; i < 32; ++i)
    form.operands.push_back(f32);
  form.operands.push_back(i1);
  return form;
}

struct Gemm {
  Op sync{"barrier"}, proxyFence{"fence_proxy_async", {.attributes = {2}}}, fenceInit{"fence_mbarrier_init"};
  Op init{"mbarrier_init", {.operands = {i64, i32}}},
      expect{"mbarrier_arrive_expect_tx", {.attributes = {0, 0}, .operands = {i64, i32}}};
  Op arrive{"mbarrier_arrive", {.attributes = {0, 0}, .operands = {i64}, .segments = {1, 0, 0}}};
  Op tryWait{"mbarrier_try_wait",
             {.attributes = {0, 0}, .operands = {i64, i32}, .results = {i1}, .segments = {1, 1, 0}}};
  Op load{"tensor_load", {.operands = {i64, i64, i32, i32, i64}, .segments = {1, 1, 2, 1, 0, 0, 0}}};
  Op multicast{"tensor_load",
               {.operands = {i64, i64, i32, i32, i64, i16}, .segments = {1, 1, 2, 1, 1, 0, 0}}};
  Op rank{"cluster_rank", {.results = {i32}}}, size{"cluster_size", {.results = {i32}}};
  Op mapa{"map_shared_rank", {.operands = {i64, i32}, .results = {i64}}};
  Op arriveRemote{"mbarrier_arrive", {.attributes = {1, 1}, .operands = {i64}, .segments = {1, 0, 0}}};
  Op arriveCluster{"cluster_arrive", {.attributes = {1}}}, waitCluster{"cluster_wait"};
  Op store{"tensor_store", {.operands = {i64, i32, i32, i64}, .segments = {1, 2, 1, 0, 0}}};
  Op commitStore{"bulk_commit"}, waitStore{"bulk_wait", {.attributes = {0, 0}}},
      waitRead{"bulk_wait", {.attributes = {0, 1}}};
  Op elect{"elect", {.results = {i1}}};
  Op wgmmaFence{"wgmma_fence"}, commit{"wgmma_commit"}, leaveOne{"wgmma_wait", {.attributes = {1}}},
      leaveNone{"wgmma_wait", {.attributes = {0}}};
  Op finish{"wgmma_wait", {.attributes = {0}, .operands = sumTypes(), .results = sumTypes()}};
  Op wgmma{"wgmma", wgmmaForm(1)};
  std::vector<std::unique_ptr<Op>> wgmmaRegisters; ///< the four of a block of k
  Op loadMatrix{"load_matrix", {.attributes = {0}, .operands = {i64}, .results = {i32, i32, i32, i32}}};
  Op storeMatrix{"store_matrix", {.attributes = {0}, .operands = {i32, i32, i32, i32, i64}}};

  Gemm() {
    for (int i = 0; i < 4; ++i)
      wgmmaRegisters.push_back(std::make_unique<Op>("wgmma", wgmmaForm(4)));
  }
  void wait(uint64_t barrier, uint32_t parity) const {
    while (!tryWait({barrier, parity}))
      ;
  }
};

/// Where a ring stands: the stage, and the parity of the phase to wait for.
struct RingState {
  uint32_t stage = 0, parity = 0;
  void advance(bool flips = true) {
    if (++stage == stages)
      stage = 0, parity ^= uint32_t(flips);
  }
};

struct Kernel {
  const Gemm &g;
  Mistake mistake;
  uint64_t mapA, mapB, mapC;
  uint32_t blocks = 1;    ///< of the cluster; each loads its part of B for all
  uint32_t consumers = 1; ///< warpgroups that multiply, each whole tiles in turn

  int tiles() const { return 2 * int(consumers); }
  uint32_t group() const { return thread() / 128 - 1; }
  bool isLead() const { return thread() % 128 == 0; }

  uint64_t tileRow(int tile) const { return (uint64_t(tile) * blocks + g.rank()) * tileM; }
  uint64_t base() const { return (shared() + 1023) / 1024 * 1024; }

  void produce() const {
    if (thread() >= 32 || !g.elect())
      return;
    RingState ring{0, uint32_t(mistake != Mistake::ProducerParity)};
    for (int tile = 0; tile < tiles(); ++tile)
      for (int k = 0; k < kBlocks; ++k) {
        if (mistake != Mistake::NoEmptyWait)
          g.wait(base() + empty + 8 * ring.stage, ring.parity);
        uint64_t barrier = base() + full + 8 * ring.stage, to = base() + ring.stage * stageBytes;
        uint32_t bytes = stageBytes;
        bytes -= mistake == Mistake::FewBytes ? 128 : mistake == Mistake::ManyBytes ? -128u : 0;
        g.expect({barrier, bytes});
        g.load({to, mapA, uint64_t(k * tileK), tileRow(tile), barrier});
        if (blocks == 1) {
          g.load({to + tileBytes, mapB, uint64_t(k * tileK), 0, barrier});
        } else {
          uint64_t part = g.rank();
          g.multicast({to + tileBytes + part * tileBytes / blocks, mapB, uint64_t(k * tileK),
                       part * tileN / blocks, barrier, (uint64_t(1) << blocks) - 1});
        }
        ring.advance();
      }
    // Other blocks arrive here as long as they read what this one loaded for them.
    for (uint32_t s = 0; s < stages && blocks > 1 && mistake != Mistake::NoDrain; ++s) {
      g.wait(base() + empty + 8 * ring.stage, ring.parity);
      ring.advance();
    }
  }

  /// A tile of 128-byte rows, k step `step`.
  uint64_t descriptor(uint64_t address, uint32_t step) const {
    MatrixDescriptor d{uint32_t(address & 0x3FFFF) + (mistake == Mistake::ShortStep ? 16 : 32) * step, 16,
                       1024, 0, Swizzle::B128};
    if (mistake == Mistake::WideStride)
      d.stride = 2048;
    if (mistake == Mistake::Swizzle64)
      d.swizzle = Swizzle::B64;
    return encodeDescriptor(d);
  }

  /// Of this thread in its 64 x 64 tile: the row and 16-byte chunk that ldmatrix.x4 and stmatrix.x4 take for 16 columns.
  uint64_t matrixRow(uint64_t tile, uint32_t columns) const {
    uint32_t lane = thread() % 32, row = thread() % 128 / 32 * 16 + lane % 16;
    return tile + row * 128 +
           (((2 * columns + lane / 16) ^ (mistake == Mistake::NoExchange ? 0 : row & 7)) << 4);
  }

  void multiply(const RingState &ring, std::vector<uint64_t> &sums, bool adds) const {
    uint64_t a = base() + ring.stage * stageBytes, b = a + tileBytes;
    bool inRegisters = mistake == Mistake::FragmentsInFlight || mistake == Mistake::Fragments;
    std::vector<std::vector<uint64_t>> operands;
    for (uint32_t step = 0; step < 4; ++step) {
      operands.push_back({descriptor(a, step)});
      if (inRegisters) {
        auto words = g.loadMatrix.all({matrixRow(a, step)});
        operands.back().assign(words.begin(), words.begin() + 4);
      }
    }
    if (mistake != Mistake::NoWgmmaFence)
      g.wgmmaFence();
    for (uint32_t step = 0; step < 4; ++step) {
      std::vector<uint64_t> &all = operands[step];
      all.push_back(descriptor(b, step));
      all.insert(all.end(), sums.begin(), sums.end());
      all.push_back(adds || step > 0);
      auto got = (inRegisters ? *g.wgmmaRegisters[step] : g.wgmma).all(all);
      sums.assign(got.begin(), got.begin() + 32);
    }
    if (mistake != Mistake::NoCommit)
      g.commit();
  }

  /// One thread signals each block of the cluster that reads of the stage are over.
  void release(uint32_t stage) const {
    uint64_t barrier = base() + empty + 8 * stage;
    if (mistake == Mistake::NoRelease)
      return;
    if (mistake == Mistake::DoubleRelease && isLead())
      g.arrive({barrier});
    if (blocks == 1 && isLead())
      g.arrive({barrier});
    if (blocks > 1 && thread() - 128 < blocks)
      g.arriveRemote({g.mapa({barrier, thread() - 128})});
  }

  /// Past the blocks of the others' tiles.
  static void skip(RingState &ring, uint32_t tiles) {
    for (uint32_t i = 0; i < tiles * kBlocks; ++i)
      ring.advance();
  }
  /// Two consumers issue their main loops in turn: barrier 3 + group is a group's turn.
  void takeTurn() const {
    if (consumers == 2 && mistake != Mistake::NoTurns)
      arriveAtBarrier(3 + group(), 256, true, g.sync.where());
  }
  void giveTurn() const {
    if (consumers == 2 && mistake != Mistake::NoTurns)
      arriveAtBarrier(4 - group(), 256, false, g.sync.where());
  }

  void consume() const {
    RingState ring{0, uint32_t(mistake == Mistake::ConsumerParity)};
    skip(ring, group());
    if (group() == 1)
      giveTurn();
    int blocks = mistake == Mistake::UnrollMismatch ? kBlocks + 1 : kBlocks;
    for (int tile = int(group()); tile < tiles(); tile += int(consumers)) {
      takeTurn();
      std::vector<uint64_t> sums(32, 0);
      uint32_t previous = 0;
      for (int k = 0; k < blocks; ++k) {
        if (mistake != Mistake::NoFullWait)
          g.wait(base() + full + 8 * ring.stage, ring.parity);
        multiply(ring, sums, k > 0 && mistake != Mistake::Replaces);
        if (mistake == Mistake::NoWait) {
          release(ring.stage);
        } else if (mistake == Mistake::Fragments) {
          g.leaveNone();
          g.proxyFence(); // threads read A
          release(ring.stage);
        } else {
          g.leaveOne();
          if (mistake == Mistake::EarlyRelease)
            release(ring.stage);
          else if (k > 0)
            release(previous);
        }
        previous = ring.stage;
        ring.advance(mistake != Mistake::NoParityFlip);
      }
      giveTurn();
      auto got = g.finish.all(sums);
      sums.assign(got.begin(), got.begin() + 32);
      if (mistake != Mistake::NoWait && mistake != Mistake::Fragments && mistake != Mistake::EarlyRelease)
        release(previous);
      storeTile(tile, sums);
      skip(ring, consumers - 1);
    }
    if (isLead() && mistake != Mistake::NoFinalWait)
      g.waitStore();
  }

  void storeTile(int tile, const std::vector<uint64_t> &sums) const {
    if (isLead() && mistake != Mistake::NoReadWait)
      g.waitRead();
    if (mistake == Mistake::EarlyProxyFence)
      g.proxyFence();
    if (mistake != Mistake::NoBarrierBefore)
      arriveAtBarrier(1 + group(), 128, true, g.sync.where());
    for (uint32_t c = 0; c < 4; ++c) {
      std::vector<uint64_t> words;
      for (uint32_t pair = 0; pair < 4; ++pair)
        words.push_back(packed(2, [&](int e) {
          return narrow(bf16Format, std::bit_cast<float>(uint32_t(sums[8 * c + 2 * pair + uint32_t(e)])));
        }));
      words.push_back(matrixRow(base() + staging + group() * tileBytes, c));
      g.storeMatrix.all(words);
    }
    if (mistake != Mistake::NoProxyFence && mistake != Mistake::EarlyProxyFence)
      g.proxyFence();
    if (mistake != Mistake::NoBarrierAfter)
      arriveAtBarrier(1 + group(), 128, true, g.sync.where());
    if (isLead()) {
      g.store({mapC, 0, tileRow(tile), base() + staging + group() * tileBytes});
      if (mistake != Mistake::NoStoreCommit)
        g.commitStore();
    }
  }

  void operator()() const {
    if (thread() == 0) {
      for (uint32_t s = 0; s < stages; ++s) {
        g.init({base() + full + 8 * s, 1});
        g.init({base() + empty + 8 * s, blocks + (mistake == Mistake::TwoExpected)});
      }
      if (mistake != Mistake::NoInitFence)
        g.fenceInit();
    }
    if (mistake == Mistake::NoInitSync) {
    } else if (blocks > 1) {
      g.arriveCluster();
      g.waitCluster();
    } else {
      g.sync();
    }
    if (thread() < 128)
      produce();
    else
      consume();
  }
};

uint64_t makeMap(Run &run, uint64_t address, int rows, int columns, uint32_t boxRows = 64) {
  TensorMap map;
  map.address = address;
  map.rank = 2;
  map.type = TensorType::BF16;
  map.swizzle = Swizzle::B128;
  map.extents = {uint64_t(columns), uint64_t(rows)};
  map.strides = {uint64_t(columns) * 2};
  map.box = {64, boxRows};
  REQUIRE_FALSE(tensorMapFault(map));
  TensorMapBytes bytes = encodeTensorMap(map);
  return run.put(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

uint64_t putMatrix(Run &run, const SmallMatrix &matrix) {
  std::vector<uint16_t> bits;
  for (int value : matrix.values)
    bits.push_back(uint16_t(elementBits(ElementType::BF16, value)));
  return run.put(bits);
}

struct Outcome {
  Report report;
  bool isRight = true;
  bool found(FindingKind kind) const {
    return std::any_of(report.findings.begin(), report.findings.end(),
                       [&](const Finding &finding) { return finding.kind == kind; });
  }
};

Outcome gemm(const Gemm &g, Mistake mistake, uint64_t seed, uint32_t blocks = 1, uint32_t consumers = 1) {
  static const SmallMatrix allA(rowsOf(2), sizeK, 1), b(rowsN, sizeK, 2);
  int rows = rowsOf(blocks * consumers);
  Run run;
  uint64_t c = run.memory.allocate(uint64_t(rows * rowsN) * 2, "C");
  uint64_t a = makeMap(run, putMatrix(run, allA), rows, sizeK),
           bMap = makeMap(run, putMatrix(run, b), rowsN, sizeK, 64 / blocks);
  if (mistake == Mistake::SwappedMaps)
    std::swap(a, bMap);
  Kernel kernel{g, mistake, a, bMap, makeMap(run, c, rows, rowsN), blocks, consumers};
  Outcome outcome;
  outcome.report = run({.grid = {blocks},
                        .block = {128 * (1 + consumers)},
                        .cluster = {blocks},
                        .sharedBytes = empty + 8 * stages + 1024,
                        .seed = seed},
                       kernel);
  std::vector<uint16_t> got(size_t(rows * rowsN));
  REQUIRE(run.memory.read(c, got.data(), got.size() * 2));
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < rowsN; ++column)
      outcome.isRight &=
          got[size_t(row * rowsN + column)] == narrow(bf16Format, float(dot(allA, row, b, column)));
  return outcome;
}

} // namespace

TEST_CASE("the ring runs right under every seed", "[gemmring]") {
  Gemm g;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Outcome outcome = gemm(g, Mistake::None, seed);
    requireClean(outcome.report);
    REQUIRE(outcome.isRight);
  }
}

TEST_CASE("two blocks share what they load", "[gemmring]") {
  Gemm g;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Outcome outcome = gemm(g, Mistake::None, seed, 2);
    requireClean(outcome.report);
    REQUIRE(outcome.isRight);
  }
  for (uint64_t seed = 0; seed < 10; ++seed) {
    CHECK(gemm(g, Mistake::NoWait, seed, 2).found(FindingKind::Race));
    CHECK(gemm(g, Mistake::NoDrain, seed, 2).found(FindingKind::PendingAtExit));
  }
}

TEST_CASE("two warpgroups multiply in turn", "[gemmring]") {
  Gemm g;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Outcome outcome = gemm(g, Mistake::None, seed, 1, 2);
    requireClean(outcome.report);
    REQUIRE(outcome.isRight);
    Outcome unordered = gemm(g, Mistake::NoTurns, seed, 1, 2);
    CHECK_FALSE((unordered.report.clean() && unordered.isRight));
  }
}

TEST_CASE("A from registers, each group waited for", "[gemmring]") {
  Gemm g;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Outcome outcome = gemm(g, Mistake::Fragments, seed);
    requireClean(outcome.report);
    REQUIRE(outcome.isRight);
  }
}

TEST_CASE("mistakes that a GPU hides or shows late", "[gemmring]") {
  Gemm g;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    CHECK(gemm(g, Mistake::NoProxyFence, seed).found(FindingKind::ProxyFence));
    CHECK(gemm(g, Mistake::NoWait, seed).found(FindingKind::Race));
    CHECK(gemm(g, Mistake::NoWgmmaFence, seed).found(FindingKind::WgmmaMisuse));
    CHECK(gemm(g, Mistake::FragmentsInFlight, seed).found(FindingKind::WgmmaMisuse));
    CHECK(gemm(g, Mistake::NoEmptyWait, seed).found(FindingKind::MbarrierMisuse));
    CHECK_FALSE(gemm(g, Mistake::WideStride, seed).isRight);
    CHECK_FALSE(gemm(g, Mistake::Swizzle64, seed).isRight);
  }
}

TEST_CASE("whatever is left out, doubled or shifted is found", "[gemmring]") {
  Gemm g;
  for (int mistake = int(Mistake::NoInitFence); mistake < int(Mistake::Last); ++mistake)
    for (uint64_t seed = 0; seed < 2; ++seed) {
      Outcome outcome = gemm(g, Mistake(mistake), seed);
      INFO("mistake " << mistake << " seed " << seed);
      CHECK_FALSE((outcome.report.clean() && outcome.isRight));
    }
}

TEST_CASE("a loop that goes round once too often", "[gemmring]") {
  Gemm g;
  Outcome outcome = gemm(g, Mistake::UnrollMismatch, 1);
  INFO(outcome.report.text());
  REQUIRE(outcome.found(FindingKind::Deadlock));
  const std::string &text = outcome.report.findings.back().text;
  CHECK(text.find("threads 128-255: waits at a.tile:" + std::to_string(g.tryWait.line()) +
                  " for phase 2 of the mbarrier at 0x") != std::string::npos);
  CHECK(text.find("0 of 1 arrivals)") != std::string::npos);
}
