// SPDX-License-Identifier: MIT
// Regions: padding, masks, gathers, tiles, bounds, permutations, groups of leading dims, odd strides; all from spec text.
#include "tests/unit/interpreter/Spec.h"
#include <catch2/catch.hpp>

using namespace tilegym;
using namespace tilegym::interp;
using namespace tilegym::interp::test;

namespace {

using D = std::vector<double>;

/// An op f32[M, N] -> f32[K, L], K and L given by scalars, with one kernel of one block.
std::string regionOp(const std::string &body) {
  return "op t(x: f32[M, N], rows: i32[G], K: i32, L: i32) -> y: f32[K, L]\nreference { y = zeros(f32, [K, "
         "L]) }\n"
         "kernel k() {\n grid(1)\n" +
         body +
         "\n}\ntest { case \"one\" { M = 1; N = 1; G = 1; K = 1; L = 1; rows = [0]; x = [[0]]; expect y = "
         "[[0]] }\n"
         "tolerance { f32: 0 } }\nbench none \"a test\"\n";
}

/// x is [3, 4] with x[i, j] = 10 i + j.
D run(const std::string &body, int64_t k, int64_t l, std::vector<int64_t> rows = {2, 0}) {
  Call call(regionOp(body));
  HostTensor x = HostTensor::allocate(DType::F32, {3, 4});
  for (int64_t i = 0; i < 12; ++i)
    x.set(i, double(i / 4 * 10 + i % 4));
  const int64_t g = int64_t(rows.size());
  call.tensor("x", x).tensor("rows", HostTensor::fromInts(DType::I32, {g}, rows));
  call.scalar("K", sem::Constant{k}).scalar("L", sem::Constant{l});
  return call.values(call.kernel("k"), "y");
}

} // namespace

TEST_CASE("a span reaches beyond the bounds: padding is read, nothing is written there") {
  CHECK(run("store(y[0 :+ 2, 0 :+ 4], load(x[2 :+ 2, 2 :+ 4], pad=-1))", 2, 4) ==
        D{22, 23, -1, -1, -1, -1, -1, -1});
  CHECK(run("store(y[0 :+ 1, 0 :+ 4], load(x[0 :+ 1, N - 6 :+ 4], pad=7))", 1, 4) == D{7, 7, 0, 1});
  CHECK(run("store(y[N - 5 :+ 2, 0 :+ 8], load(x[0 :+ 2, 0 :+ 8]))", 1, 2) == D{10, 11});
}

TEST_CASE("an integer drops the axis, trailing axes are whole") {
  CHECK(run("store(y[0, 0 :+ 4], load(x[1, 0 :+ 4]))", 1, 4) == D{10, 11, 12, 13});
  CHECK(run("let r = x[2]\n store(y[0, 0 :+ 2], load(r[1 :+ 2]))", 1, 2) == D{21, 22});
  CHECK(run("store(y[0, 0], load(x[1, 3]))", 1, 1) == D{13});
}

TEST_CASE("tiles are indexed in whole tiles") {
  CHECK(run("store(y.tile(2, 2)[0, 0], load(x.tile(2, 2)[1, 1], pad=5))", 2, 2) == D{22, 23, 5, 5});
  CHECK(run("store(y.tile(2, 2)[0, 0], load(x.tile(2, 2)[7, 0], pad=5))", 2, 2) == D{5, 5, 5, 5});
}

TEST_CASE("gathers: index tiles broadcast together and stand where the first one was") {
  CHECK(run("let r = load(rows[0 :+ 2])\n store(y[0 :+ 2, 0 :+ 4], load(x[r, 0 :+ 4]))", 2, 4) ==
        D{20, 21, 22, 23, 0, 1, 2, 3});
  CHECK(run("let r = load(rows[0 :+ 2])\n store(y[0 :+ 2, 0 :+ 2], load(x[0 :+ 2, r]))", 2, 2) ==
        D{2, 0, 12, 10});
  CHECK(run("let r = load(rows[0 :+ 2])\n store(y[0 :+ 2, 0 :+ 4], load(x[r[:, None], iota(4)[None, :]]))", 2,
            4) == D{20, 21, 22, 23, 0, 1, 2, 3});
  CHECK(run("let r = load(rows[0 :+ 2])\n store(y[0, 0 :+ 2], load(x[r, r]))", 1, 2) == D{22, 0});
}

TEST_CASE("scatters") {
  CHECK(run("let r = load(rows[0 :+ 2])\n store(y[r, 0 :+ 2], load(x[0 :+ 2, 0 :+ 2]))\n"
            "store(y[1, 0 :+ 2], zeros(f32, [2]))",
            3, 2) == D{10, 11, 0, 0, 0, 1});
}

TEST_CASE("a gathered view is indexed further") {
  CHECK(run("let v = x[load(rows[0 :+ 2])]\n store(y[0, 0 :+ 4], load(v[1, 0 :+ 4]))", 1, 4) ==
        D{0, 1, 2, 3});
  CHECK(run("let v = x[load(rows[0 :+ 2])]\n store(y[0 :+ 2, 0], load(v[0 :+ 2, 3]))", 2, 1) == D{23, 3});
  CHECK(run("let v = x[load(rows[0 :+ 2])]\n store(y[0 :+ 4, 0], load(v[N - 5 :+ 4, 3], pad=8))", 4, 1) ==
        D{8, 23, 3, 8});
}

TEST_CASE("bounded views pad beyond their bounds, also where memory goes on") {
  CHECK(run("store(y[0 :+ 1, 0 :+ 4], load(x[0, 1 : 3].tile(4)[0], pad=-9)[None, :])", 1, 4) ==
        D{1, 2, -9, -9});
  CHECK(run("let v = x[0 : 2]\n let w = v[1 : M + 6]\n store(y[0 :+ 2, 0 :+ 1], load(w[0 :+ 2, 0 :+ 1], "
            "pad=-9))",
            2, 1) == D{10, -9});
}

TEST_CASE("an integer index in a bounded view counts from its start and must be inside") {
  CHECK(run("let v = x[0, 1 : 3]\n store(y[0, 0], load(v[1]))", 1, 1) == D{2});
  Call call(regionOp("let v = x[0, 1 : 3]\n store(y[0, 0], load(v[2]))"));
  call.tensor("x", noise(DType::F32, {3, 4})).tensor("rows", HostTensor::allocate(DType::I32, {1}));
  call.scalar("K", sem::Constant{int64_t(1)}).scalar("L", sem::Constant{int64_t(1)});
  CHECK(call.kernel("k").faults.at(0).message == "index 2 is outside of an axis of extent 2");
}

TEST_CASE("a bound beyond the axis is the axis' end, and a range that ends before it begins is empty") {
  // The reference reads whole ranges, the kernel pads beyond them.
  const std::string text =
      "op t(x: f32[N], lo: i32, hi: i32) -> y: f32[2]\nreference {\n let l = index(lo)\n let h = index(hi)\n"
      " y[0] = sum(x[l : h] + 1)\n let t = x * 2\n y[1] = sum(t[l : h] + 1)\n}\nkernel k() {\n grid(1)\n"
      " let part = x[index(lo) : index(hi)]\n"
      " store(y[0], sum(load(part[0 :+ 8], pad=-1) + 1))\n store(y[1], 2 * sum(load(part[0 :+ 8])) + "
      "f32(max(0, min(N, "
      "index(hi)) - index(lo))))\n}\n"
      "test { case \"one\" { N = 1; lo = 0; hi = 1; x = [0]; expect y = [1, 1] }\n tolerance { f32: 0 } }\n"
      "bench none \"a test\"\n";
  auto both = [&](int64_t lo, int64_t hi) {
    Call call(text);
    call.tensor("x", HostTensor::fromDoubles(DType::F32, {4}, {1, 2, 3, 4}));
    call.scalar("lo", sem::Constant{lo}).scalar("hi", sem::Constant{hi});
    D values = call.values(call.reference(), "y");
    CHECK(call.values(call.kernel("k"), "y") == values);
    return values;
  };
  CHECK(both(1, 3) == D{7, 12});
  CHECK(both(1, 9) == D{12, 21});
  CHECK(both(3, 1) == D{0, 0});
  CHECK(both(7, 9) == D{0, 0});
  CHECK(both(0, 0) == D{0, 0});
}

TEST_CASE("permuted views") {
  CHECK(run("store(y[0 :+ 2, 0 :+ 2], load(x.T[1 :+ 2, 0 :+ 2]))", 2, 2) == D{1, 11, 2, 12});
  CHECK(run("store(y.permute(1, 0)[0 :+ 2, 0 :+ 2], load(x[0 :+ 2, 0 :+ 2]))", 2, 2) == D{0, 10, 1, 11});
}

TEST_CASE("masks choose elements of loads and stores") {
  CHECK(run("let m = iota(4) % 2 == 0\n store(y[0, 0 :+ 4], load(x[0, 0 :+ 4], pad=-1, mask=m))", 1, 4) ==
        D{0, -1, 2, -1});
  CHECK(run("store(y[0, 0 :+ 4], zeros(f32, [4]))\n"
            "store(y[0, 0 :+ 4], load(x[1, 0 :+ 4]), mask=iota(4) < 2)",
            1, 4) == D{10, 11, 0, 0});
}

TEST_CASE("leading groups are one dim, with any strides") {
  const std::string text =
      "op t(x: f32[*R, N]) -> y: f32[*R, N]\nreference { y = x + x }\nkernel k() {\n grid(R)\n let r = "
      "block(0)\n"
      " let t = load(x[r, 0 :+ 8])\n store(y[r, 0 :+ 8], t + t)\n}\nkernel tiled() {\n grid(cdiv(R, 4))\n"
      " let t = load(x.tile(4, 8)[block(0), 0])\n store(y.tile(4, 8)[block(0), 0], t + t)\n}\n"
      "test { case \"one\" { R = 1; N = 1; x = [[0]]; expect y = [[0]] }\n tolerance { f32: 0 } }\nbench "
      "none \"a test\"\n";
  // [2, 3, 5] cut out of [2, 4, 6], so that the leading strides do not merge; and an output with its axes swapped in memory.
  HostTensor x = noise(DType::F32, {2, 4, 6});
  x.shape = {2, 3, 5};
  x.offset = 7;
  HostTensor y = HostTensor::allocate(DType::F32, {3, 2, 5});
  y.shape = {2, 3, 5};
  y.strides = {5, 10, 1};
  for (const char *kernel : {"k", "tiled"}) {
    Call call(text);
    call.tensor("x", x).tensor("y", y);
    RunResult result = call.kernel(kernel), expected = Call(text).tensor("x", x).reference();
    CHECK(worst(call.output(result, "y"), call.output(expected, "y")) == 0);
    for (int64_t i = 0; i < 30; ++i)
      REQUIRE(y.asDouble(i) == 2 * x.asDouble(i));
  }
}

TEST_CASE("dims written |1 broadcast from extent 1") {
  const std::string text =
      "op t(a: f32[M|1, N], b: f32[M, N|1]) -> y: f32[M, N]\nreference { y = a * b }\nkernel k() {\n "
      "grid(M)\n"
      " let i = block(0)\n store(y[i, 0 :+ 4], load(a[i, 0 :+ 4]) * load(b[i, 0 :+ 4]))\n}\n"
      "test { case \"one\" { M = 1; N = 1; a = [[0]]; b = [[0]]; expect y = [[0]] }\n tolerance { f32: 0 } "
      "}\nbench none \"a test\"\n";
  Call call(text);
  call.tensor("a", HostTensor::fromDoubles(DType::F32, {1, 3}, {1, 2, 3}));
  call.tensor("b", HostTensor::fromDoubles(DType::F32, {2, 1}, {10, 100}));
  CHECK(call.values(call.kernel("k"), "y") == D{10, 20, 30, 100, 200, 300});
  CHECK(call.values(call.reference(), "y") == D{10, 20, 30, 100, 200, 300});
}
