// SPDX-License-Identifier: MIT
// The reference backend: calls run in the interpreter on host memory, from the text in the package, with the checks of every call.
#include "tilegym/reference.h"
#include "tests/unit/runtime/Calls.h"
#include "tests/unit/runtime/SpecPackage.h"
#include <atomic>
#include <cmath>
#include <thread>

using namespace tilegym::testing;

namespace {

struct UseReference {
  UseReference() { CHECK(tilegym_use_reference(1) == 0); }
  ~UseReference() { CHECK(tilegym_use_reference(0) == 1); }
};

/// A complete spec around a header and a reference; `test` is what its test section says, but for the tolerance.
std::string spec(const std::string &header, const std::string &reference, const std::string &test) {
  return header + "\nreference {\n" + reference +
         "\n}\nkernel only(BN) { grid(1) }\ntune only { BN in [1] }\ntest { " + test +
         " }\nbench none \"a test\"\n";
}

std::string failed(const Opened &opened, const std::vector<const void *> &args, TilegymStatus status) {
  TilegymStatus got = tilegym_call(opened.package, 0, args.data(), nullptr);
  INFO(tilegym_last_error());
  CHECK(got == status);
  return tilegym_last_error();
}

} // namespace

TEST_CASE("a call on host memory, with strides, an absent optional and defaults") {
  UseReference on;
  Opened opened(opOfSpec(sourceFile("tests/unit/runtime/data/norm.tile")));
  // x backwards, y with gaps.
  float x[12], y[20], rstd[3];
  for (int i = 0; i < 12; ++i)
    x[i] = float(i) - 3.5f;
  for (float &v : y)
    v = -1;
  Given gx(x + 8, TILEGYM_F32, {3, 4}, {-4, 1}), gy(y, TILEGYM_F32, {3, 4}, {6, 1}),
      gr(rstd, TILEGYM_F32, {3});
  const void *args[] = {gx.c(), nullptr, nullptr, nullptr, gy.c(), gr.c()};
  REQUIRE(tilegym_call(opened.package, 0, args, nullptr) == TILEGYM_OK);
  for (int row = 0; row < 3; ++row) {
    double sum = 0;
    for (int i = 0; i < 4; ++i)
      sum += double(x[8 - 4 * row + i]) * x[8 - 4 * row + i];
    double r = 1 / std::sqrt(sum / 4 + 1e-6);
    CHECK(rstd[row] == Approx(r));
    for (int i = 0; i < 4; ++i)
      CHECK(y[6 * row + i] == Approx(x[8 - 4 * row + i] * r));
    if (row < 2)
      CHECK((y[6 * row + 4] == -1 && y[6 * row + 5] == -1));
  }
  int64_t twice = 1;
  float eps = 1;
  const void *others[] = {gx.c(), nullptr, &eps, &twice, gy.c(), nullptr};
  REQUIRE(tilegym_call(opened.package, 0, others, nullptr) == TILEGYM_OK);
  double sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += double(x[8 + i]) * x[8 + i];
  CHECK(y[0] == Approx(2 * x[8] / std::sqrt(sum / 4 + 1)));
  CHECK(tilegym_prepare(opened.package, 0, args) == TILEGYM_OK);
}

TEST_CASE("bf16, rounded as the interpreter rounds") {
  UseReference on;
  Opened opened(opOfSpec(
      spec("op add(x: T[N], y: T[N|1]) -> z: T[N]\n  where T: f32 | bf16", "z = x + y",
           "case \"c\" { N = 1; x = [1]; y = [1]; expect z = [2] }; tolerance { f32: 0; bf16: 0 }")));
  uint16_t x[] = {0x3f80, 0x4000, 0x4300}, y[] = {0x3b80}, z[3]; // 1, 2, 128 and 2^-8
  Given gx(x, TILEGYM_BF16, {3}), gy(y, TILEGYM_BF16, {1}), gz(z, TILEGYM_BF16, {3});
  const void *args[] = {gx.c(), gy.c(), gz.c()};
  REQUIRE(tilegym_call(opened.package, 0, args, nullptr) == TILEGYM_OK);
  CHECK((z[0] == 0x3f80 && z[1] == 0x4000 && z[2] == 0x4300)); // ties and less go to even
}

TEST_CASE("libraries come from the package, inouts are updated, outputs may alias") {
  UseReference on;
  Opened opened(
      opOfSpec("use helpers\n" + spec("op step(inout w: f32[N], g: f32[N]) -> d: f32[N]\n  d alias g",
                                      "d = twice(g)\nw = w - d",
                                      "case \"c\" { N = 1; w = [3]; g = [1]; expect d = [2] }; tolerance { "
                                      "f32: 0 }"),
               {{"helpers", "fn twice(x) {\n  2 * x\n}\n"}}));
  float w[] = {10, 20}, g[] = {1, 2};
  Given gw(w, TILEGYM_F32, {2}), gg(g, TILEGYM_F32, {2});
  const void *args[] = {gw.c(), gg.c(), gg.c()};
  INFO(tilegym_last_error());
  REQUIRE(tilegym_call(opened.package, 0, args, nullptr) == TILEGYM_OK);
  CHECK((g[0] == 2 && g[1] == 4 && w[0] == 8 && w[1] == 16));
}

TEST_CASE("the same checks as on a GPU") {
  UseReference on;
  Opened opened(opOfSpec(sourceFile("tests/unit/runtime/data/norm.tile")));
  float x[12] = {};
  Given gx(x, TILEGYM_F32, {3, 4}), gy(x, TILEGYM_F32, {3, 4}), wrong(x, TILEGYM_F32, {3, 5});
  CHECK(failed(opened, {gx.c(), nullptr, nullptr, nullptr, gy.c(), nullptr}, TILEGYM_INVALID_ARGUMENT) ==
        "norm: y: is written, but shares memory with x; give it memory of its own");
  CHECK(failed(opened, {gx.c(), nullptr, nullptr, nullptr, wrong.c(), nullptr}, TILEGYM_INVALID_ARGUMENT) ==
        "norm: y: axis 1 has extent 5, expected N = 4");
}

TEST_CASE("tensors without elements") {
  UseReference on;
  Opened opened(opOfSpec(sourceFile("tests/unit/runtime/data/norm.tile")));
  Given gx(nullptr, TILEGYM_F32, {0, 4}), gy(nullptr, TILEGYM_F32, {0, 4});
  const void *args[] = {gx.c(), nullptr, nullptr, nullptr, gy.c(), nullptr};
  CHECK(tilegym_call(opened.package, 0, args, nullptr) == TILEGYM_OK);
}

TEST_CASE("faults come with the spec's line") {
  UseReference on;
  Opened opened(
      opOfSpec(spec("op pick(x: f32[N], i: i32[M]) -> y: f32[M]", "y = x[i]",
                    "case \"c\" { N = 1; M = 1; x = [1]; i = [0]; expect y = [1] }; tolerance { f32: 0 }")));
  float x[4] = {}, y[2];
  int32_t index[2] = {1, 9};
  Given gx(x, TILEGYM_F32, {4}), gi(index, TILEGYM_I32, {2}), gy(y, TILEGYM_F32, {2});
  std::string text = failed(opened, {gx.c(), gi.c(), gy.c()}, TILEGYM_INVALID_ARGUMENT);
  CHECK_THAT(text, Catch::StartsWith("pick: the reference backend: op.tile:3:"));
  CHECK_THAT(text, Catch::Contains("y = x[i]"));
  Opened unwritten(opOfSpec(spec("op nothing(x: f32[N]) -> y: f32[N]", "let t = x",
                                 "case \"c\" { N = 1; x = [1]; expect y = [1] }; tolerance { f32: 0 }")));
  Given whole(y, TILEGYM_F32, {2}), from(x, TILEGYM_F32, {2});
  CHECK_THAT(
      failed(unwritten, {from.c(), whole.c()}, TILEGYM_UNAVAILABLE),
      Catch::StartsWith("nothing: the reference backend: op.tile:2:1: error: the reference never writes"));
}

TEST_CASE("packages whose text is missing or does not fit") {
  UseReference on;
  float x[4] = {}, y[4];
  Given gx(x, TILEGYM_F32, {4}), gy(y, TILEGYM_F32, {4});
  OpText op = opOfSpec(spec("op copy(x: f32[N]) -> y: f32[N]", "y = x",
                            "case \"c\" { N = 1; x = [1]; expect y = [1] }; tolerance { f32: 0 }"));
  OpText none = op;
  none.sources.clear();
  CHECK(failed(Opened(none), {gx.c(), gy.c()}, TILEGYM_UNAVAILABLE) ==
        "copy: the package holds no spec text, which the reference backend runs; make it again with tilegymc "
        "compile");
  OpText broken = op;
  broken.sources[0].second = "op copy(";
  CHECK_THAT(failed(Opened(broken), {gx.c(), gy.c()}, TILEGYM_BAD_PACKAGE),
             Catch::StartsWith("copy: its spec in the package does not fit this runtime: op.tile:1:"));
  OpText other = op;
  other.sources[0].second =
      spec("op copy(x: f32[N], z: f32[N]) -> y: f32[N]", "y = x",
           "case \"c\" { N = 1; x = [1]; z = [1]; expect y = [1] }; tolerance { f32: 0 }");
  CHECK(failed(Opened(other), {gx.c(), gy.c()}, TILEGYM_BAD_PACKAGE) ==
        "copy: its spec in the package does not fit this runtime: another interface");
}

TEST_CASE("memory for outputs is the host's, and goes back where it came from") {
  void *block = nullptr;
  {
    UseReference on;
    REQUIRE(tilegym_allocate(1000, nullptr, &block) == TILEGYM_OK);
    std::memset(block, 1, 1000);
    void *huge = nullptr;
    CHECK(tilegym_allocate(SIZE_MAX - 8, nullptr, &huge) == TILEGYM_OUT_OF_MEMORY);
    CHECK(std::string(tilegym_last_error()) == "the host has no " + std::to_string(SIZE_MAX - 8) + " bytes");
  }
  CHECK(tilegym_free(block, nullptr) == TILEGYM_OK); // although the backend is off again
}

TEST_CASE("sixteen threads run one op in the interpreter") {
  UseReference on;
  Opened opened(opOfSpec(sourceFile("tests/unit/runtime/data/norm.tile")));
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&, i] {
      float x[4] = {float(i + 1), 0, 0, 0}, y[4];
      Given gx(x, TILEGYM_F32, {1, 4}), gy(y, TILEGYM_F32, {1, 4});
      const void *args[] = {gx.c(), nullptr, nullptr, nullptr, gy.c(), nullptr};
      failures += tilegym_call(opened.package, 0, args, nullptr) != TILEGYM_OK;
      failures += std::fabs(y[0] - 2) > 1e-4f;
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(failures == 0);
}

TEST_CASE("a call on lists") {
  UseReference on;
  Opened opened(opOfSpec(spec("op scale(list a: f32[M[], N], f: f32[G]) -> list c: f32[M[], N]",
                              "  for g in 0 .. len(a) {\n    c[g] = a[g] * f[g]\n  }",
                              "G = 1; M = [1]; N = 1; case \"c\" { a = [[[2]]]; f = [3]; expect c = [[[6]]] "
                              "}; tolerance { f32: 0 }")));
  float x[4] = {1, 2, 3, 4}, z[2] = {5, 6}, factors[2] = {10, 100}, y[4] = {}, w[2] = {};
  Given a0(x, TILEGYM_F32, {2, 2}, {1, 2}), a1(z, TILEGYM_F32, {1, 2}), f(factors, TILEGYM_F32, {2}),
      c0(y, TILEGYM_F32, {2, 2}), c1(w, TILEGYM_F32, {1, 2});
  TilegymTensor a[] = {*a0.c(), *a1.c()}, c[] = {*c0.c(), *c1.c()};
  TilegymTensorList as{a, 2}, cs{c, 2};
  REQUIRE(tilegym_call(opened.package, 0, std::vector<const void *>{&as, f.c(), &cs}.data(), nullptr) ==
          TILEGYM_OK);
  CHECK((y[0] == 10 && y[1] == 30 && y[2] == 20 && y[3] == 40));
  CHECK((w[0] == 500 && w[1] == 600));
}
