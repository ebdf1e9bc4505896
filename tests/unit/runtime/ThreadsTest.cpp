// SPDX-License-Identifier: MIT
// Sixteen threads and one package: the first calls at once, later ones, several devices. ThreadSanitizer has seen these tests clean.
#include "tests/unit/runtime/Calls.h"
#include "tests/unit/runtime/Fake.h"
#include "tests/unit/runtime/driver/NullDriver.h"
#include <atomic>
#include <latch>
#include <set>
#include <thread>

using namespace tilegym::testing;

namespace {

constexpr int kThreads = 16;

TilegymStatus callScale(const Opened &opened, int64_t rows, bool withB = false, char *data = memory()) {
  Given x(data, TILEGYM_F32, {rows, 4}), b(memory() + (1 << 18), TILEGYM_F32, {1}),
      y(memory() + (1 << 19), TILEGYM_F32, {rows, 4});
  const void *args[] = {x.c(), withB ? b.c() : nullptr, nullptr, nullptr, y.c()};
  return tilegym_call(opened.package, 0, args, nullptr);
}

/// Runs body(i) in as many threads at once; the number of those that gave false.
template <class Body> int failures(Body body) {
  std::latch start(kThreads);
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      failed += !body(i);
    });
  for (std::thread &thread : threads)
    thread.join();
  return failed;
}

/// What this thread's next launch must be given, and what was.
thread_local struct {
  const void *x = nullptr;
  int64_t rows = 0, right = 0;
} expected;

tilegym::runtime::CUresult launchAndLook(const tilegym::runtime::CUlaunchConfig *,
                                         tilegym::runtime::CUfunction, void **params, void **) {
  const void *x = nullptr;
  int64_t rows = 0;
  std::memcpy(&x, params[0], sizeof x);
  std::memcpy(&rows, params[3], sizeof rows);
  expected.right += x == expected.x && rows == expected.rows;
  return 0;
}

} // namespace

TEST_CASE(
    "sixteen threads that never wait for each other: each launch has its own call's pointers and dims") {
  constexpr int64_t kCalls = 20000;
  Opened opened(scaleOp());
  tilegym::runtime::Driver driver = nullDriver();
  driver.launchKernelEx = launchAndLook;
  CHECK(failures([&](int i) {
          tilegym::runtime::useDriver(&driver);
          bool good = true;
          for (int64_t k = 0; k < kCalls; ++k) {
            char *data = memory() + (i * 512 + k * 16) % (1 << 17);
            expected.x = data;
            expected.rows = k % 100 + 1;
            good &= callScale(opened, expected.rows, (i + k) % 3 == 0, data) == TILEGYM_OK;
          }
          tilegym::runtime::useDriver(nullptr);
          return good && expected.right == kCalls;
        }) == 0);
}

TEST_CASE("first calls at once load the code once, and each launch has its own call's parameters") {
  for (int round = 0; round < 20; ++round) {
    FakeCuda &fake = fakeCuda();
    Opened opened(scaleOp());
    REQUIRE(failures([&](int i) { return callScale(opened, i + 1) == TILEGYM_OK; }) == 0);
    CHECK(fake.count("cuLibraryLoadData") == 1);
    CHECK(fake.count("cuKernelGetFunction") == 1);
    std::set<uint64_t> rows;
    for (const FakeLaunch &launch : fake.launches)
      rows.insert(launch.params[3]);
    CHECK((rows.size() == kThreads && *rows.begin() == 1 && *rows.rbegin() == kThreads));
  }
}

TEST_CASE("later calls at once, and each thread has its own error") {
  FakeCuda &fake = fakeCuda();
  Opened opened(scaleOp());
  CHECK(failures([&](int i) {
          bool good = true;
          for (int64_t k = 0; k < 200; ++k)
            good &= callScale(opened, 1 + k, i % 2) == TILEGYM_OK;
          good &= callScale(opened, i + 1, false, nullptr) == TILEGYM_INVALID_ARGUMENT;
          return good && tilegym_last_error() == "scale: x: data is null, but it has " +
                                                     std::to_string(4 * (i + 1)) + " elements";
        }) == 0);
  CHECK(fake.launches.size() == 3200);
  CHECK(fake.count("cuLibraryLoadData") == 2); // with b and without
}

TEST_CASE("threads on two devices take each their device's code") {
  FakeCuda &fake = fakeCuda();
  Opened opened(scaleOp());
  fake.blocks[memory()] = {1, 0, 0, 1 << 20}; // pinned: either reaches it
  CHECK(failures([&](int i) {
          {
            std::lock_guard lock(fake.mutex);
            fake.deviceOf[std::this_thread::get_id()] = i % 2;
          }
          bool good = true;
          for (int64_t k = 0; k < 100; ++k)
            good &= callScale(opened, 1 + k) == TILEGYM_OK;
          return good;
        }) == 0);
  CHECK(fake.count("cuLibraryLoadData 15 ptx") == 1);   // the sm_90
  CHECK(fake.count("cuLibraryLoadData 15 cubin") == 1); // the sm_80
  size_t onSecond = 0;
  for (const FakeLaunch &launch : fake.launches)
    onSecond += launch.params.back() == 108;
  CHECK((fake.launches.size() == 1600 && onSecond == 800));
}

TEST_CASE("one thread that changes devices on every call") {
  FakeCuda &fake = fakeCuda();
  Opened opened(scaleOp());
  fake.blocks[memory()] = {1, 0, 0, 1 << 20};
  for (int k = 0; k < 100; ++k) {
    fake.device = k % 2;
    REQUIRE(callScale(opened, 1 + k) == TILEGYM_OK);
    CHECK(fake.launches.back().params.back() == (k % 2 ? 108 : 132));
  }
  CHECK(fake.count("cuLibraryLoadData") == 2);
}
