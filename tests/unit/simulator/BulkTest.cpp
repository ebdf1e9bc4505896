// SPDX-License-Identifier: MIT
// The copy engine: rows and boxes, loads, stores and reductions, multicast, and what it needs from fences and waits.
#include "compiler/simulator/MatrixElement.h"
#include "compiler/simulator/TensorMap.h"
#include "tests/unit/simulator/TestKernel.h"
#include "tests/unit/simulator/TileOffsets.h"

#include <numeric>

using namespace tilegym::sim;

namespace {

struct Bulk {
  Op sync{"barrier"}, fence{"fence_proxy_async", {.attributes = {2}}},
      fenceGlobal{"fence_proxy_async", {.attributes = {1}}}, fenceInit{"fence_mbarrier_init"};
  Op init{"mbarrier_init", {.operands = {i64, i32}}};
  Op expect{"mbarrier_arrive_expect_tx", {.attributes = {0, 0}, .operands = {i64, i32}}};
  Op tryWait{"mbarrier_try_wait",
             {.attributes = {0, 0}, .operands = {i64, i32}, .results = {i1}, .segments = {1, 1, 0}}};
  Op load{"bulk_load", {.operands = {i64, i64, i32, i64}, .segments = {1, 1, 1, 1, 0, 0, 0}}};
  Op multicast{"bulk_load", {.operands = {i64, i64, i32, i64, i16}, .segments = {1, 1, 1, 1, 1, 0, 0}}};
  Op store{"bulk_store", {.operands = {i64, i64, i32}, .segments = {1, 1, 1, 0, 0}}};
  Op commit{"bulk_commit"}, waitAll{"bulk_wait", {.attributes = {0, 0}}},
      waitRead{"bulk_wait", {.attributes = {0, 1}}};
  Op copyCluster{"bulk_copy_cluster", {.operands = {i64, i64, i32, i64}}};
  Op tensorLoad{"tensor_load", {.operands = {i64, i64, i32, i32, i64}, .segments = {1, 1, 2, 1, 0, 0, 0}}};
  Op tensorMulticast{"tensor_load",
                     {.operands = {i64, i64, i32, i32, i64, i16}, .segments = {1, 1, 2, 1, 1, 0, 0}}};
  Op tensorStore{"tensor_store", {.operands = {i64, i32, i32, i64}, .segments = {1, 2, 1, 0, 0}}};
  Op tensorAdd{"tensor_reduce",
               {.attributes = {0}, .operands = {i64, i32, i32, i64}, .segments = {1, 2, 1, 0, 0}}};
  Op arriveCluster{"cluster_arrive", {.attributes = {0}}}, waitCluster{"cluster_wait"};
  Op mapa{"map_shared_rank", {.operands = {i64, i32}, .results = {i64}}};
  Op storeAsync{"store_async", {.operands = {i32, i32, i64, i64}, .segments = {2, 1, 1, 0}}};
  Load<uint32_t> read;
  Store<uint32_t> write;

  void wait(uint64_t barrier, uint32_t parity = 0) const {
    while (!tryWait({barrier, parity}))
      ;
  }
  void clusterBarrier() const {
    arriveCluster();
    waitCluster();
  }
};

std::vector<uint32_t> numbers(size_t count, uint32_t first = 1000) {
  std::vector<uint32_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

bool has(const Report &report, FindingKind kind) {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [&](const Finding &finding) { return finding.kind == kind; });
}

/// A tensor of rows x columns words, and a box of it.
uint64_t wordMap(Run &run, uint64_t address, uint32_t columns, uint32_t rows, uint32_t boxColumns,
                 uint32_t boxRows, Swizzle swizzle, TensorType type, uint32_t pitch = 0) {
  TensorMap map;
  map.address = address;
  map.rank = 2;
  map.type = type;
  map.swizzle = swizzle;
  map.extents = {columns, rows};
  map.strides = {pitch ? pitch : columns * 4};
  map.box = {boxColumns, boxRows};
  REQUIRE_FALSE(tensorMapFault(map));
  TensorMapBytes bytes = encodeTensorMap(map);
  return run.put(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

} // namespace

TEST_CASE("rows there and back", "[bulk]") {
  Bulk b;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Run run;
    uint64_t from = run.put(numbers(64)), to = run.memory.allocate(256);
    requireClean(run({.block = {64}, .sharedBytes = 1024, .seed = seed}, [&] {
      if (thread() == 0) {
        b.init({shared(512), 1});
        b.fenceInit();
        b.expect({shared(512), 256});
        b.load({shared(), from, 256, shared(512)});
      }
      b.sync();
      b.wait(shared(512));
      b.write(shared(4 * thread()), b.read(shared(4 * thread())) + 1);
      b.fence();
      b.sync();
      if (thread() == 0) {
        b.store({to, shared(), 256});
        b.commit();
        b.waitRead();
      }
    }));
    for (uint32_t i = 0; i < 64; ++i)
      CHECK(run.at<uint32_t>(to, i) == 1001 + i);
  }
}

TEST_CASE("fences and waits that the copy engine needs", "[bulk]") {
  Bulk b;
  // 0: right; 1: no proxy fence; 2: the source overwritten without a wait; 3: no wait at the end; 4: no fence after init
  auto findings = [&](int mistake, FindingKind kind) {
    unsigned found = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      Run run;
      uint64_t from = run.put(numbers(64)), to = run.memory.allocate(256);
      Report report = run({.block = {64}, .sharedBytes = 1024, .seed = seed}, [&] {
        if (thread() == 0) {
          b.init({shared(512), 1});
          if (mistake != 4)
            b.fenceInit();
          b.expect({shared(512), 256});
          b.load({shared(), from, 256, shared(512)});
        }
        b.sync();
        b.wait(shared(512));
        b.write(shared(4 * thread()), 7);
        if (mistake != 1)
          b.fence();
        b.sync();
        if (thread() == 0) {
          b.store({to, shared(), 256});
          b.commit();
          if (mistake != 3 && mistake != 2)
            b.waitRead();
        }
        b.sync();
        if (mistake != 3)
          b.write(shared(4 * thread()), 8);
        if (thread() == 0 && mistake == 2)
          b.waitAll();
      });
      if (mistake == 0)
        requireClean(report);
      if (mistake == 3)
        CHECK(report.findings.at(0).text ==
              "block 0 thread 0 ends without having waited for its bulk stores: their source may be gone "
              "before it is read; bulk_wait must come first " +
                  at(b.store.line()));
      found += has(report, kind);
    }
    return found;
  };
  CHECK(findings(0, FindingKind::Race) == 0);
  CHECK(findings(1, FindingKind::ProxyFence) == 20);
  CHECK(findings(2, FindingKind::Race) == 20);
  CHECK(findings(3, FindingKind::PendingAtExit) == 20);
  CHECK(findings(4, FindingKind::MbarrierMisuse) == 20);
}

TEST_CASE("a proxy fence is for its space", "[bulk]") {
  Bulk b;
  // Threads write global memory, which a copy loads, and shared memory, which a store reads.
  auto kernel = [&](const Op &forLoad, const Op &forStore) {
    Run run;
    uint64_t from = run.memory.allocate(256), to = run.memory.allocate(256);
    return run({.block = {1}, .sharedBytes = 1024}, [&] {
      b.init({shared(512), 1});
      b.fenceInit();
      for (uint32_t i = 0; i < 4; ++i) {
        b.write(from + 4 * i, i);
        b.write(shared(256 + 4 * i), i);
      }
      forLoad();
      forStore();
      b.expect({shared(512), 16});
      b.load({shared(), from, 16, shared(512)});
      b.wait(shared(512));
      b.store({to, shared(256), 16});
      b.commit();
      b.waitRead();
    });
  };
  requireClean(kernel(b.fenceGlobal, b.fence));
  CHECK(only(kernel(b.fence, b.fence), FindingKind::ProxyFence)
            .find("missing fence.proxy.async: bulk copy issued by block 0 thread 0") == 0);
  CHECK(only(kernel(b.fenceGlobal, b.fenceGlobal), FindingKind::ProxyFence)
            .find("missing fence.proxy.async: bulk store issued by block 0 thread 0") == 0);
  Op fenceAll("fence_proxy_async", {.attributes = {0}});
  requireClean(kernel(fenceAll, fenceAll));
}

TEST_CASE("boxes of a tensor, swizzled, ragged, there and back", "[bulk]") {
  Bulk b;
  for (Swizzle swizzle : {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128})
    for (uint64_t seed = 0; seed < 5; ++seed) {
      Run run;
      constexpr uint32_t columns = 36, rows = 11, boxRows = 8;
      uint32_t boxColumns = swizzle == Swizzle::None ? 16 : uint32_t(swizzle) / 4, pitch = boxColumns * 4;
      uint64_t from = run.put(numbers(columns * rows)), to = run.put(numbers(columns * rows, 0));
      uint64_t source = wordMap(run, from, columns, rows, boxColumns, boxRows, swizzle, TensorType::U32);
      uint64_t target = wordMap(run, to, columns, rows, boxColumns, boxRows, swizzle, TensorType::U32);
      uint64_t check = run.memory.allocate(boxColumns * boxRows * 4);
      int32_t x = 32, y = 6; // some of it outside
      requireClean(run({.block = {64}, .sharedBytes = 8192, .seed = seed}, [&] {
        uint64_t tile = (shared() + 1023) / 1024 * 1024, barrier = tile + 4096;
        if (thread() == 0) {
          b.init({barrier, 1});
          b.fenceInit();
          b.expect({barrier, boxColumns * boxRows * 4});
          b.tensorLoad({tile, source, uint32_t(x), uint32_t(y), barrier});
        }
        b.sync();
        b.wait(barrier);
        for (uint32_t i = thread(); i < boxColumns * boxRows; i += 64) {
          uint32_t r = i / boxColumns, c = i % boxColumns;
          uint32_t offset = swizzle == Swizzle::None ? r * pitch + c * 4
                                                     : kMajorOffset(r, c, boxRows, 4, uint32_t(swizzle));
          b.write(check + 4 * i, b.read(tile + offset));
        }
        b.sync();
        if (thread() == 0) {
          b.tensorStore({target, 0, 4, tile});
          b.commit();
          b.waitAll(); // the sums go to some of the same places
          b.tensorAdd({target, 4, 5, tile});
          b.commit();
          b.waitAll();
        }
      }));
      auto source32 = [&](int64_t r, int64_t c) {
        return r < rows && c < columns ? uint32_t(1000 + r * columns + c) : 0;
      };
      for (uint32_t i = 0; i < boxColumns * boxRows; ++i)
        CHECK(run.at<uint32_t>(check, i) == source32(y + i / boxColumns, x + i % boxColumns));
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c) {
          auto expected = uint32_t(r * columns + c);
          if (r >= 4 && r - 4 < boxRows && c < boxColumns)
            expected = source32(y + r - 4, x + c);
          if (r >= 5 && r - 5 < boxRows && c >= 4 && c - 4 < boxColumns)
            expected += source32(y + r - 5, x + c - 4);
          CHECK(run.at<uint32_t>(to, size_t(r * columns + c)) == expected);
        }
    }
}

TEST_CASE("tensors of every rank", "[bulk]") {
  Bulk b;
  for (int rank = 1; rank <= 5; ++rank)
    for (bool fillNaN : {false, true}) {
      std::vector<uint8_t> loadTypes{i64, i64}, storeTypes{i64};
      loadTypes.insert(loadTypes.end(), size_t(rank), i32);
      loadTypes.push_back(i64);
      storeTypes.insert(storeTypes.end(), size_t(rank), i32);
      storeTypes.push_back(i64);
      Op load("tensor_load", {.operands = loadTypes, .segments = {1, 1, rank, 1, 0, 0, 0}});
      Op store("tensor_store", {.operands = storeTypes, .segments = {1, rank, 1, 0, 0}});
      Run run;
      TensorMap map;
      map.rank = rank;
      map.type = TensorType::F32;
      map.fillNaN = fillNaN;
      uint64_t bytes = 4;
      std::vector<uint64_t> loadOperands{0, 0}, storeOperands{0};
      for (int i = 0; i < rank; ++i) {
        map.extents[size_t(i)] = i ? 3 : 8;
        map.box[size_t(i)] = i ? 2 : 4;
        if (i)
          map.strides[size_t(i - 1)] = bytes;
        bytes *= map.extents[size_t(i)];
        loadOperands.push_back(i ? 2 : 4); // the second row of each dimension but the first lies outside
        storeOperands.push_back(0);
      }
      uint64_t from = run.put(numbers(bytes / 4)), to = run.put(std::vector<uint32_t>(bytes / 4, 1));
      uint64_t corner = from + bytes - 16; // the only row that lies inside
      auto put = [&](uint64_t address) {
        map.address = address;
        REQUIRE_FALSE(tensorMapFault(map));
        TensorMapBytes packed = encodeTensorMap(map);
        return run.put(std::vector<std::byte>(packed.begin(), packed.end()));
      };
      loadOperands[1] = put(from);
      storeOperands[0] = put(to);
      requireClean(run({.block = {1}, .sharedBytes = 2048}, [&] {
        b.init({shared(1024), 1});
        b.fenceInit();
        b.expect({shared(1024), map.boxBytes()});
        loadOperands[0] = shared();
        loadOperands.push_back(shared(1024));
        load.all(loadOperands);
        b.wait(shared(1024));
        storeOperands.push_back(shared());
        store.all(storeOperands);
        b.commit();
        b.waitRead();
      }));
      uint64_t written = 0;
      for (uint64_t i = 0; i < bytes / 4; ++i)
        written += run.at<uint32_t>(to, i) != 1;
      CHECK(written == map.boxBytes() / 4);
      for (uint64_t i = 0; i < 4; ++i)
        CHECK(run.at<uint32_t>(to, i) == run.at<uint32_t>(corner, i));
      if (rank > 1)
        CHECK(run.at<uint32_t>(to, 8) == (fillNaN ? 0x7FF77FF7u : 0u));
    }
}

TEST_CASE("multicast reaches each block and signals its barrier", "[bulk]") {
  Bulk b;
  for (bool tensor : {false, true})
    for (uint64_t seed = 0; seed < 20; ++seed) {
      Run run;
      uint64_t from = run.put(numbers(256)), to = run.memory.allocate(4 * 1024);
      uint64_t map = wordMap(run, from, 32, 8, 32, 8, Swizzle::B128, TensorType::U32);
      requireClean(run({.grid = {8}, .block = {64}, .cluster = {4}, .sharedBytes = 8192, .seed = seed}, [&] {
        uint64_t tile = (shared() + 1023) / 1024 * 1024, barrier = tile + 4096;
        uint32_t rank = current().block->rank;
        if (thread() == 0) {
          b.init({barrier, 1});
          b.fenceInit();
          if (rank & 1)
            b.expect({barrier, 1024});
        }
        b.clusterBarrier();
        if (thread() == 0 && rank == 0) {
          if (tensor)
            b.tensorMulticast({tile, map, 0, 0, barrier, 0b1010});
          else
            b.multicast({tile, from, 1024, barrier, 0b1010});
        }
        if (rank & 1) {
          b.wait(barrier);
          for (uint32_t i = thread(); i < 256; i += 64) {
            uint32_t offset = tensor ? kMajorOffset(i / 32, i % 32, 8, 4, 128) : 4 * i;
            if (block() < 4)
              b.write(to + rank * 1024 + 4 * i, b.read(tile + offset));
          }
        }
        b.clusterBarrier();
      }));
      for (uint32_t rank : {1, 3})
        for (uint32_t i = 0; i < 256; ++i)
          CHECK(run.at<uint32_t>(to, rank * 256 + i) == 1000 + i);
    }
}

TEST_CASE("between the blocks of a cluster", "[bulk]") {
  Bulk b;
  // 0: right; 1: the owner leaves without waiting for the other's accesses
  for (int mistake : {0, 1})
    for (uint64_t seed = 0; seed < 20; ++seed) {
      Run run;
      uint64_t to = run.memory.allocate(256);
      Report report =
          run({.grid = {2}, .block = {32}, .cluster = {2}, .sharedBytes = 1024, .seed = seed}, [&] {
            uint32_t rank = current().block->rank;
            if (thread() == 0) {
              b.init({shared(512), 1});
              b.fenceInit();
              b.expect({shared(512), 128 + 8});
            }
            b.write(shared(4 * thread()), rank * 100 + thread());
            b.fence();
            b.clusterBarrier();
            uint64_t remote = b.mapa({shared(), 1 - rank}), remoteBarrier = b.mapa({shared(512), 1 - rank});
            if (thread() == 0) {
              b.copyCluster({remote + 128, shared(), 128, remoteBarrier});
              b.storeAsync({5, 6 + rank, remote + 256, remoteBarrier});
            }
            b.wait(shared(512));
            uint32_t sum =
                b.read(shared(128 + 4 * thread())) + b.read(shared(260)) + b.read(remote + 4 * thread());
            b.write(to + 128 * rank + 4 * thread(), sum);
            if (mistake == 0)
              b.clusterBarrier();
          });
      if (mistake == 0) {
        requireClean(report);
        for (uint32_t i = 0; i < 64; ++i)
          CHECK(run.at<uint32_t>(to, i) == 2 * ((1 - i / 32) * 100 + i % 32) + 6 + (1 - i / 32));
      } else {
        INFO(report.text());
        CHECK((has(report, FindingKind::PendingAtExit) || has(report, FindingKind::OutOfBounds)));
      }
    }
}

TEST_CASE("what the copy engine refuses", "[bulk]") {
  Bulk b;
  Run run;
  uint64_t from = run.put(numbers(64)),
           map = wordMap(run, from, 16, 4, 16, 4, Swizzle::None, TensorType::U32),
           ragged = wordMap(run, from, 14, 4, 16, 4, Swizzle::None, TensorType::U32, 64);
  auto text = [&](FindingKind kind, const std::function<void()> &body) {
    Run again;
    return only(run({.block = {1}, .sharedBytes = 2048},
                    [&] {
                      b.init({shared(1024), 1});
                      b.fenceInit();
                      body();
                    }),
                kind);
  };
  CHECK(text(FindingKind::Misaligned, [&] { b.load({shared(), from + 4, 16, shared(1024)}); }) ==
        "block 0 thread 0 the other address is 4 more than a multiple of 16 " + at(b.load.line()));
  CHECK(text(FindingKind::Misaligned, [&] { b.load({shared(), from, 24, shared(1024)}); }) ==
        "block 0 thread 0 the number of bytes is 8 more than a multiple of 16 " + at(b.load.line()));
  CHECK(text(FindingKind::BadOperand, [&] { b.multicast({shared(), from, 16, shared(1024), 2}); }) ==
        "block 0 thread 0 has multicast mask 2 in a cluster of 1 blocks " + at(b.multicast.line()));
  CHECK(text(FindingKind::BadOperand, [&] {
          b.tensorLoad({shared(), from, 0, 0, shared(1024)});
        }).find("uses 128 bytes as a tensor map that are none") != std::string::npos);
  Op rankOne("tensor_load", {.operands = {i64, i64, i32, i64}, .segments = {1, 1, 1, 1, 0, 0, 0}});
  CHECK(text(FindingKind::BadOperand, [&] { rankOne({shared(), map, 0, shared(1024)}); }) ==
        "block 0 thread 0 gives 1 coordinates for a tensor map of rank 2 " + at(rankOne.line()));
  CHECK(
      text(FindingKind::BadOperand, [&] { b.tensorLoad({shared(), map, uint32_t(-6), 0, shared(1024)}); }) ==
      "block 0 thread 0 starts a box -24 bytes along the innermost dimension, which must be a multiple of "
      "16 " +
          at(b.tensorLoad.line()));
  CHECK(text(FindingKind::BadOperand, [&] { b.tensorStore({map, 4, uint32_t(-1), shared()}); }) ==
        "block 0 thread 0 stores a box at coordinate -1 of dimension 1; only loads may start before the "
        "tensor " +
            at(b.tensorStore.line()));
  CHECK(
      text(FindingKind::BadOperand, [&] { b.tensorStore({ragged, 0, 0, shared()}); }) ==
      "block 0 thread 0 writes whole units of 16 bytes, but a row of the tensor ends after 8 bytes of one " +
          at(b.tensorStore.line()));
  CHECK(text(FindingKind::MbarrierMisuse, [&] {
          b.load({shared(), from, 16, shared(1032)});
        }).find("which is not initialised") != std::string::npos);
  Op minimum("bulk_reduce", {.attributes = {1, int64_t(ElementType::F32)},
                             .operands = {i64, i64, i32},
                             .segments = {1, 1, 1, 0, 0, 0}});
  CHECK(text(FindingKind::BadOperand, [&] { minimum({from, shared(), 16}); }) ==
        "block 0 thread 0 reduces by min elements of type f32, which the copy engine cannot " +
            at(minimum.line()));
}

TEST_CASE("reductions of every type", "[bulk]") {
  Bulk b;
  struct Case {
    int64_t kind;
    ElementType type;
    uint64_t old, value, expected;
  };
  auto f = [](float x) { return uint64_t(std::bit_cast<uint32_t>(x)); };
  auto h = [](float x) { return uint64_t(narrow(f16Format, x)); };
  auto bf = [](float x) { return uint64_t(narrow(bf16Format, x)); };
  const Case cases[] = {{0, ElementType::U32, 0xFFFFFFFF, 2, 1},
                        {1, ElementType::S32, 5, 0xFFFFFFFE, 0xFFFFFFFE},
                        {2, ElementType::U32, 5, 0xFFFFFFFE, 0xFFFFFFFE},
                        {3, ElementType::U32, 7, 7, 0},
                        {4, ElementType::U32, 0, 9, 9},
                        {5, ElementType::U64, 0xFF00FF00FF, 0xF0F0F0F0F0, 0xF000F000F0},
                        {6, ElementType::U32, 1, 6, 7},
                        {7, ElementType::U32, 3, 6, 5},
                        {0, ElementType::F32, f(1.5f), f(2.25f), f(3.75f)},
                        {0, ElementType::F16, h(2048), h(1), h(2048)},
                        {2, ElementType::BF16, bf(-3), bf(2), bf(2)},
                        {0, ElementType::BF16, bf(256), bf(3), bf(260)}};
  for (const Case &one : cases) {
    Op reduce("bulk_reduce", {.attributes = {one.kind, int64_t(one.type)},
                              .operands = {i64, i64, i32},
                              .segments = {1, 1, 1, 0, 0, 0}});
    Run run;
    size_t bytes = size_t(elementBytes(one.type));
    std::vector<std::byte> old(16), value(16);
    for (size_t at = 0; at < 16; at += bytes) {
      std::memcpy(&old[at], &one.old, bytes);
      std::memcpy(&value[at], &one.value, bytes);
    }
    uint64_t to = run.put(old), from = run.put(value);
    requireClean(run({.block = {1}, .sharedBytes = 16}, [&] {
      for (uint32_t i = 0; i < 4; ++i)
        b.write(shared(4 * i), b.read(from + 4 * i));
      b.fence();
      reduce({to, shared(), 16});
      b.commit();
      b.waitAll();
    }));
    uint64_t got = 0;
    REQUIRE(run.memory.read(to + 16 - bytes, &got, bytes));
    INFO(one.kind << " " << name(one.type));
    CHECK(got == one.expected);
  }
}
