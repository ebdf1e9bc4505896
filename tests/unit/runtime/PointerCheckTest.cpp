// SPDX-License-Identifier: MIT
// Which addresses the driver is asked about: once an allocation and thread, and what is remembered never refuses a call nor lets a stranger in.
#include "tests/unit/runtime/Calls.h"
#include "tests/unit/runtime/Fake.h"
#include <thread>

using namespace tilegym::testing;

namespace {

constexpr size_t kSize = 4096;

/// scale on 16 floats at two places of the memory.
struct Caller {
  Opened opened{scaleOp()};
  std::string operator()(char *from, char *to, void *stream = nullptr) {
    Given x(from, TILEGYM_F32, {2, 8}), y(to, TILEGYM_F32, {2, 8});
    const void *args[] = {x.c(), nullptr, nullptr, nullptr, y.c()};
    return tilegym_call(opened.package, 0, args, stream) == TILEGYM_OK ? "" : tilegym_last_error();
  }
};

/// Allocation number i of the memory: one of kSize bytes.
char *block(size_t i) { return memory() + i * kSize; }

/// Runs in a thread of its own, which knows nothing yet.
template <class Body> void fresh(Body body) { std::thread(body).join(); }

} // namespace

TEST_CASE("an allocation is asked about once, and fresh pointers into it cost no question") {
  FakeCuda &fake = fakeCuda();
  Caller call;
  fake.blocks = {{block(0), {2, 0, 0, 4 * kSize}}};
  fresh([&] {
    for (size_t i = 0; i < 100; ++i)
      REQUIRE(call(memory() + 64 * i, memory() + 2 * kSize + 64 * (i % 30)).empty());
  });
  CHECK(fake.count("cuPointerGetAttributes") == 2); // where it lies, and how far it reaches
  fresh([&] { CHECK(call(block(0), block(1)).empty()); });
  CHECK(fake.count("cuPointerGetAttributes") == 4); // a thread of its own
  fresh([&] {
    CHECK(call(block(0), block(3) + kSize - 64).empty());
    CHECK(
        call(block(0), block(4)).empty()); // the first byte behind: asked about each time, as it has no range
    CHECK(call(block(0), block(4)).empty());
  });
  CHECK(fake.count("cuPointerGetAttributes") == 4 + 2 + 2 * 2);
}

TEST_CASE("another device's memory is refused, known or not") {
  FakeCuda &fake = fakeCuda();
  Caller call;
  fake.blocks = {{block(0), {2, 0, 0, kSize}}, {block(1), {2, 1, 0, kSize}}, {block(2), {1, 0, 0, kSize}}};
  fresh([&] {
    CHECK(call(block(0), block(1)) == "scale: y: lies on device 1, but the current device is 0");
    CHECK(call(block(0), block(2)).empty()); // pinned
    fake.device = 1;
    CHECK(call(block(0), block(1)) == "scale: x: lies on device 0, but the current device is 1");
    CHECK(call(block(1), block(2)).empty());
    // The address is given to the other device's memory: what was known of it does not refuse it.
    fake.blocks[block(0)].device = 1;
    CHECK(call(block(0), block(1)).empty());
    fake.device = 0;
    CHECK(call(block(2), block(1)) == "scale: y: lies on device 1, but the current device is 0");
  });
}

TEST_CASE("what a capture has allocated is not known to the driver yet, and passes") {
  FakeCuda &fake = fakeCuda();
  Caller call;
  void *stream = reinterpret_cast<void *>(size_t(64));
  fake.blocks = {{block(0), {2, 0, 0, kSize}}};
  fake.pointers[block(1)] = {0, 0, 0};
  fresh([&] {
    CHECK(call(block(0), block(2), stream).empty()); // the code is loaded
    std::string refusal = call(block(0), block(1), stream);
    CHECK(refusal.ends_with("is not an address of the GPU's memory; expected device memory"));
    fake.capturing.insert(stream);
    CHECK(call(block(0), block(1), stream).empty());
    CHECK(call(block(0), block(1)) == refusal); // another stream, which is not captured
    fake.capturing.clear();
    CHECK(call(block(0), block(1), stream) == refusal);
    fake.blocks[block(3)] = {2, 1, 0, kSize};
    fake.capturing.insert(stream);
    CHECK(call(block(0), block(3), stream) == "scale: y: lies on device 1, but the current device is 0");
  });
}

TEST_CASE("host memory is refused each time, and many allocations stay right") {
  FakeCuda &fake = fakeCuda();
  Caller call;
  for (size_t i = 0; i < 200; ++i)
    fake.blocks[block(i)] = {2, 0, 0, kSize};
  fake.blocks[block(77)].type = 0;
  fresh([&] {
    for (size_t round = 0; round < 3; ++round)
      for (size_t i = 0; i + 1 < 200; ++i) {
        std::string text = call(block(i), block(i + 1));
        REQUIRE(text.empty() == (i != 77 && i + 1 != 77));
      }
  });
}
