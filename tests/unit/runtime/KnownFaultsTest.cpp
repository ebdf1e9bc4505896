// SPDX-License-Identifier: MIT
// Faults that users of comparable systems met between their call and the kernel, each as a call that must be right or refused here. The op is
// scale(x: T[*R, N], b: T[N|1]?, s, fast) -> y; what reaches the (fake) driver is looked at.
#include "tests/unit/runtime/Calls.h"
#include "tests/unit/runtime/Fake.h"

using namespace tilegym::testing;

namespace {

char *at(int64_t gigabytes) { return memory() + (gigabytes << 30); }

struct Views {
  Given x, y;
  std::optional<Given> b = {};
};

/// Parameters of the launch by their place in scaleOp.
enum : size_t { kR = 3, kN, kStrideX, kStrideB, kRankR = 8, kExtents = 9, kGroupX = 11 };

struct Answer {
  std::string text; ///< the refusal, or the variant launched, or "nothing launched"
  std::vector<uint64_t> params;
};

Answer call(Views views, std::vector<std::string> *driverCalls = nullptr) {
  FakeCuda &fake = fakeCuda();
  Opened opened(scaleOp());
  const void *args[] = {views.x.c(), views.b ? views.b->c() : nullptr, nullptr, nullptr, views.y.c()};
  if (tilegym_call(opened.package, 0, args, nullptr) != TILEGYM_OK)
    return {tilegym_last_error(), {}};
  if (driverCalls) {
    fake.calls.clear();
    REQUIRE(tilegym_call(opened.package, 0, args, nullptr) == TILEGYM_OK);
    *driverCalls = fake.calls;
  }
  if (fake.launches.empty())
    return {"nothing launched", {}};
  return {fake.launches[0].entry, fake.launches[0].params};
}

Views views(std::vector<int64_t> shape, std::vector<int64_t> strides, int32_t dtype = TILEGYM_F32) {
  return {Given(at(0), dtype, shape, strides), Given(at(1000), dtype, shape)};
}

} // namespace

TEST_CASE("two leading axes swapped, though the inner stride is 1: every stride reaches the kernel") {
  Answer a = call(views({2, 4, 8}, {8, 16, 1}));
  CHECK(a.text == "general_f32");
  CHECK((a.params[kRankR] == 2 && a.params[kExtents] == 2 && a.params[kExtents + 1] == 4));
  CHECK((a.params[kGroupX] == 8 && a.params[kGroupX + 1] == 16));
}

TEST_CASE("an input expanded from one element is read by its strides, and an output so is refused") {
  Answer a = call(views({64, 2}, {0, 0}));
  CHECK(a.text == "general_f32");
  CHECK((a.params[kStrideX] == 0 && a.params[kGroupX] == 0));
  Views expanded = views({64, 8}, {});
  expanded.y.strides = {0, 1};
  CHECK(call(expanded).text == "scale: y: is written, but its strides let several indices share an element");
}

TEST_CASE("side operands are looked at as the main one is") {
  Views v = views({3, 8}, {});
  v.b = Given(at(2000), TILEGYM_F32, {8}, {2});
  Answer a = call(v);
  CHECK(a.text == "general_f32_b");
  CHECK(a.params[kStrideB] == 2);
  v.b = Given(at(2000), TILEGYM_F16, {8});
  CHECK(call(v).text == "scale: b: has dtype f16, but T is f32 by an earlier argument");
  v.b = Given(at(2000), TILEGYM_F32, {7});
  CHECK(call(v).text == "scale: b: axis 0 has extent 7, expected N = 8 or 1");
}

TEST_CASE("a transposed view is no dense one") {
  Answer a = call(views({32, 32}, {1, 32}));
  CHECK(a.text == "general_f32");
  CHECK((a.params[kStrideX] == 32 && a.params[kGroupX] == 1));
}

TEST_CASE("strides of axes of extent 1 mean nothing") {
  CHECK(call(views({1, 128}, {999, 1})).text == "fast_f32");
  CHECK(call(views({5, 1, 128}, {128, 77, 1})).text == "fast_f32");
  CHECK(call(views({1, 77}, {1, 1})).text == "general_f32"); // for its 77 elements alone
}

TEST_CASE("a promise of whole vectors is kept only for calls that have them") {
  CHECK(call(views({3, 8}, {})).text == "fast_f32");
  CHECK(call(views({3, 7}, {})).text == "general_f32");
  CHECK(call(views({3, 8}, {9, 1})).text == "general_f32");
  Views misaligned = views({3, 8}, {});
  misaligned.y.tensor.data = at(1000) + 4;
  CHECK(call(misaligned).text == "general_f32");
}

TEST_CASE("no rows or no columns: success, and nothing is launched") {
  CHECK(call(views({0, 8}, {})).text == "nothing launched");
  CHECK(call(views({3, 0}, {})).text == "nothing launched");
  Views none = views({0, 8}, {});
  none.x.tensor.data = none.y.tensor.data = nullptr;
  CHECK(call(none).text == "nothing launched");
}

TEST_CASE("sizes and strides beyond 32 bits arrive whole, and no 32-bit variant takes them") {
  Answer a = call({Given(at(0), TILEGYM_F16, {2, 49152, 65536}, {3221225472, 65536, 1}),
                   Given(at(1000), TILEGYM_F16, {2, 49152, 65536})});
  CHECK(a.text == "general_f16");
  CHECK((a.params[kR] == 98304 && a.params[kRankR] == 1 && a.params[kGroupX] == 65536));
  a = call({Given(at(0), TILEGYM_F16, {2, 49152, 65536}, {3221225480, 65536, 1}),
            Given(at(1000), TILEGYM_F16, {2, 49152, 65536})});
  CHECK((a.params[kRankR] == 2 && a.params[kGroupX] == 3221225480));
  // Few elements, far apart: the last begins 2^31 bytes from the first, or just before.
  CHECK(call(views({2, 128}, {(int64_t(1) << 29) - 128, 1})).text == "general_f32");
  CHECK(call(views({2, 128}, {(int64_t(1) << 29) - 132, 1})).text == "fast_f32");
}

TEST_CASE("more rows than a y or z axis of a grid has: the launch has one axis") {
  FakeCuda &fake = fakeCuda();
  Opened opened(scaleOp());
  for (int64_t rows : {65535, 65536, 70000}) {
    Given x(at(0), TILEGYM_F32, {rows, 4}), y(at(1000), TILEGYM_F32, {rows, 4});
    const void *args[] = {x.c(), nullptr, nullptr, nullptr, y.c()};
    REQUIRE(tilegym_call(opened.package, 0, args, nullptr) == TILEGYM_OK);
    const FakeLaunch &l = fake.launches.back();
    CHECK((l.grid[0] == rows && l.grid[1] == 1 && l.grid[2] == 1));
  }
}

TEST_CASE("a row op takes any rank, and a dense view of any rank is the flat one") {
  Answer flat = call(views({60, 8}, {}));
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{2, 30, 8}, {2, 6, 5, 8}, {2, 3, 2, 5, 8}, {2, 3, 2, 5, 1, 1, 1, 8}}) {
    Answer a = call(views(shape, {}));
    CHECK(a.text == "fast_f32");
    CHECK(a.params == flat.params);
  }
}

TEST_CASE("writing over an input: refused, wholly or in part, unless it is declared") {
  for (int64_t offset : {0, 16, 32}) {
    Views v = views({3, 8}, {});
    v.y.tensor.data = at(0) + offset;
    CHECK(call(v).text == "scale: y: is written, but shares memory with x; give it memory of its own");
  }
  Views behind = views({3, 8}, {});
  behind.y.tensor.data = at(0) + 96;
  CHECK(call(behind).text == "fast_f32");
}

TEST_CASE("a call other than what was compiled: an error of its own for each, before any launch") {
  Views good = views({8, 36}, {});
  auto refusal = [&](auto change) {
    Views v = good;
    change(v);
    Answer a = call(v);
    CHECK(a.params.empty());
    return a.text;
  };
  CHECK(refusal([](Views &v) { v.x.shape = {8, 9}; }) == "scale: y: axis 1 has extent 36, expected N = 9");
  CHECK(refusal([](Views &v) { v.x.shape = {36, 8}; }) ==
        "scale: y: axis 0 has extent 8, expected 36 as in x");
  CHECK(refusal([](Views &v) { v.x.tensor.dtype = TILEGYM_F64; }) ==
        "scale: x: has dtype f64, expected one of f32, f16");
  CHECK(refusal([](Views &v) { v.x.shape = {}; }) == "scale: x: has rank 0, expected at least 1");
  CHECK(refusal([](Views &v) { v.x.tensor.data = nullptr; }) ==
        "scale: x: data is null, but it has 288 elements");
  CHECK(refusal([](Views &v) {
          v.x.tensor.data = at(0) + 2;
        }).ends_with("is not a multiple of its element's 4 bytes"));
}

TEST_CASE("a warm call asks which context is current and launches: no wait, no memory, no other context") {
  std::vector<std::string> calls;
  CHECK(call(views({3, 8}, {}), &calls).text == "fast_f32");
  std::erase(calls, "cuPointerGetAttributes"); // where an allocation is not known yet
  CHECK(calls == std::vector<std::string>{"cuCtxGetId", "cuLaunchKernelEx"});
}
