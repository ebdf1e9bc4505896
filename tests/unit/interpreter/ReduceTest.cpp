// SPDX-License-Identifier: MIT
// Reductions, scans, sorting, histogram: literal values, NaN and signed zeros, empty axes, order.
#include "tests/unit/interpreter/Tree.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace tilegym;
using namespace tilegym::interp;
using namespace tilegym::interp::test;
using sem::Op;

namespace {
using D = std::vector<double>;
using N = std::vector<int64_t>;
constexpr DType F32 = DType::F32, I32 = DType::I32;

Value reduce(Op op, const Value &from, N axes, DType acc, DType to) {
  return apply(op, {from}, tileType(to), [&](sem::Expr &e) {
    e.ints = axes;
    e.wholeTile = axes.empty();
    e.accType = acc;
  });
}
Value reduce(Op op, const Value &from, N axes) { return reduce(op, from, axes, from.dtype, from.dtype); }

/// fn(a, b) = body over locals 14, 15.
std::shared_ptr<const sem::Lambda> lambda2(sem::ExprPtr body) {
  auto made = std::make_shared<sem::Lambda>();
  made->params = {14, 15};
  made->results = {body};
  return made;
}
} // namespace

TEST_CASE("sum, prod, max, min along axes and of everything") {
  Value from = tile(F32, Shape{2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(doubles(reduce(Op::Sum, from, {1})) == D{6, 15});
  CHECK(extents(reduce(Op::Sum, from, {1}).shape) == N{2, 1});
  CHECK(doubles(reduce(Op::Sum, from, {0})) == D{5, 7, 9});
  CHECK(doubles(reduce(Op::Sum, from, {0, 1})) == D{21});
  CHECK(extents(reduce(Op::Sum, from, {0, 1}).shape) == N{1, 1});
  CHECK(extents(reduce(Op::Sum, from, {}).shape).empty());
  CHECK(doubles(reduce(Op::Prod, from, {1})) == D{6, 120});
  CHECK(doubles(reduce(Op::ReduceMax, from, {0})) == D{4, 5, 6});
  CHECK(doubles(reduce(Op::ReduceMin, from, {})) == D{1});
}

TEST_CASE("max and min of a tile propagate NaN and order -0 below +0") {
  CHECK(std::isnan(doubles(reduce(Op::ReduceMax, tile(F32, Shape{3}, {1, NaN, 2}), {}))[0]));
  CHECK(std::isnan(doubles(reduce(Op::ReduceMin, tile(F32, Shape{3}, {1, 2, NaN}), {}))[0]));
  CHECK_FALSE(std::signbit(doubles(reduce(Op::ReduceMax, tile(F32, Shape{2}, {-0.0, 0}), {}))[0]));
  CHECK(std::signbit(doubles(reduce(Op::ReduceMin, tile(F32, Shape{2}, {0, -0.0}), {}))[0]));
}

TEST_CASE("an empty reduction gives the identity") {
  Value none(F32, Shape{2, 0});
  CHECK(doubles(reduce(Op::Sum, none, {1})) == D{0, 0});
  CHECK(doubles(reduce(Op::Prod, none, {1})) == D{1, 1});
  CHECK(doubles(reduce(Op::ReduceMax, none, {1})) == D{-Inf, -Inf});
  CHECK(doubles(reduce(Op::ReduceMin, none, {1})) == D{Inf, Inf});
  CHECK(integers(reduce(Op::ReduceMax, Value(I32, Shape{0}), {0})) == N{-2147483648});
  CHECK(integers(reduce(Op::ReduceMin, Value(DType::U8, Shape{0}), {0})) == N{255});
  CHECK(doubles(reduce(Op::ReduceMin, Value(DType::F8E4M3, Shape{0}), {0})) == D{448});
  CHECK(integers(reduce(Op::Any, Value(DType::Bool, Shape{0}), {0})) == N{0});
  CHECK(integers(reduce(Op::All, Value(DType::Bool, Shape{0}), {0})) == N{1});
  CHECK(faultOf([] { reduce(Op::ArgMax, Value(F32, Shape{0}), {0}, F32, DType::Index); }).message ==
        "argmax or argmin of no elements");
}

TEST_CASE("sums accumulate in the dtype named, upper half onto lower half") {
  // In f16 2048 + 1 is 2048. The tree adds elements 0+2 and 1+3 first: (2048+1) + (1+1) = 2050.
  Value from = tile(DType::F16, Shape{4}, {2048, 1, 1, 1});
  CHECK(doubles(reduce(Op::Sum, from, {0}, DType::F16, DType::F16)) == D{2050});
  CHECK(doubles(reduce(Op::Sum, from, {0}, F32, F32)) == D{2051});
  CHECK(doubles(reduce(Op::Sum, from, {0}, F32, DType::F16)) == D{2052}); // 2051 ties to even
  // Five elements: 0+3, 1+4, then 2 waits: ((0+3) + 2) + (1+4).
  Value five = tile(DType::F16, Shape{5}, {2048, 0, 1, 1, 1});
  CHECK(doubles(reduce(Op::Sum, five, {0}, DType::F16, DType::F16)) == D{2048});
  CHECK(integers(reduce(Op::Sum, ints(DType::I8, Shape{3}, {100, 100, 100}), {})) == N{44});
  CHECK(integers(reduce(Op::Sum, ints(DType::I8, Shape{3}, {100, 100, 100}), {}, I32, I32)) == N{300});
}

TEST_CASE("a long f32 sum stays accurate") {
  Value from(F32, Shape{50257});
  for (int64_t i = 0; i < from.count(); ++i)
    from.as<float>()[i] = 0.1f;
  CHECK(doubles(reduce(Op::Sum, from, {}))[0] == Approx(5025.7 * double(0.1f) / 0.1).epsilon(3e-7));
}

TEST_CASE("argmax takes the first of equals, NaN wins") {
  auto arg = [](Op op, const Value &from, N axes) {
    return integers(reduce(op, from, axes, F32, DType::Index));
  };
  CHECK(arg(Op::ArgMax, tile(F32, Shape{2, 3}, {1, 3, 3, 2, NaN, NaN}), {1}) == N{1, 1});
  CHECK(arg(Op::ArgMin, tile(F32, Shape{2, 3}, {1, 0, 0, 2, 1, NaN}), {1}) == N{1, 2});
  CHECK(arg(Op::ArgMax, tile(F32, Shape{2}, {-0.0, 0}), {0}) == N{0});
  CHECK(arg(Op::ArgMax, tile(F32, Shape{2, 2}, {1, 2, 3, 0}), {}) == N{2});
  CHECK(arg(Op::ArgMax, ints(DType::U64, Shape{2}, {1, -1}), {0}) == N{1});
}

TEST_CASE("any and all") {
  Value from = ints(DType::Bool, Shape{2, 2}, {1, 0, 0, 0});
  CHECK(integers(reduce(Op::Any, from, {1})) == N{1, 0});
  CHECK(integers(reduce(Op::All, from, {0})) == N{0, 0});
  CHECK(integers(reduce(Op::All, ints(DType::Bool, Shape{2}, {1, 1}), {})) == N{1});
}

TEST_CASE("reduce with a combiner, init once") {
  auto body = add(local(14), local(15));
  auto run = [&](const Value &from, int64_t axis, double init) {
    return std::get<Value>(applySlot(Op::Reduce, {from, scalar(F32, init)}, tileType(F32), [&](sem::Expr &e) {
      e.index = axis;
      e.lambda = lambda2(body);
    }));
  };
  CHECK(doubles(run(tile(F32, Shape{2, 3}, {1, 2, 3, 4, 5, 6}), 1, 100)) == D{106, 115});
  CHECK(extents(run(tile(F32, Shape{2, 3}, {1, 2, 3, 4, 5, 6}), 0, 0).shape) == N{1, 3});
  CHECK(doubles(run(tile(F32, Shape{2, 3}, {1, 2, 3, 4, 5, 6}), -1, 0)) == D{21});
  CHECK(doubles(run(Value(F32, Shape{2, 0}), 1, 7)) == D{7, 7});
}

TEST_CASE("reduce of a tuple: the greatest with its index") {
  // fn(m, i, x, j) = x > m ? (x, j) : (m, i), once straight-line and once with a branch.
  auto fn = [](bool branch) {
    auto made = std::make_shared<sem::Lambda>();
    made->params = {10, 11, 12, 13};
    auto greater = node(Op::Gt, tileType(DType::Bool), {local(12), local(10)});
    if (!branch) {
      made->results = {node(Op::Select, tileType(F32), {greater, local(12), local(10)}),
                       node(Op::Select, tileType(DType::Index), {greater, local(13), local(11)})};
      return made;
    }
    auto choose = std::make_shared<sem::Stmt>();
    choose->kind = sem::Stmt::If;
    choose->value = greater;
    choose->body = {OpBuilder::stmt(sem::Stmt::Assign, local(12), 10),
                    OpBuilder::stmt(sem::Stmt::Assign, local(13), 11)};
    made->body = {choose};
    made->results = {local(10), local(11)};
    return made;
  };
  for (bool branch : {false, true}) {
    Slot slot = applySlot(Op::Reduce,
                          {tile(F32, Shape{4}, {3, 9, 2, 9}), ints(DType::Index, Shape{4}, {0, 1, 2, 3}),
                           scalar(F32, -Inf), ints(DType::Index, Shape{}, {-1})},
                          tileType(F32), [&](sem::Expr &e) {
                            e.index = 0;
                            e.lambda = fn(branch);
                          });
    const auto &tuple = *std::get<std::shared_ptr<const Tuple>>(slot);
    CHECK(doubles(std::get<Value>(tuple.elements[0])) == D{9});
    CHECK(integers(std::get<Value>(tuple.elements[1])) == N{1});
  }
}

TEST_CASE("cumsum and scan, both ways") {
  Value from = tile(F32, Shape{2, 3}, {1, 2, 3, 4, 5, 6});
  auto cumsum = [&](int64_t axis, bool reverse) {
    return doubles(apply(Op::CumSum, {from}, tileType(F32), [&](sem::Expr &e) {
      e.index = axis;
      e.reverse = reverse;
      e.accType = F32;
    }));
  };
  CHECK(cumsum(1, false) == D{1, 3, 6, 4, 9, 15});
  CHECK(cumsum(1, true) == D{6, 5, 3, 15, 11, 6});
  CHECK(cumsum(0, false) == D{1, 2, 3, 5, 7, 9});
  auto scan = [&](bool reverse) {
    return doubles(
        std::get<Value>(applySlot(Op::Scan, {from, scalar(F32, 10)}, tileType(F32), [&](sem::Expr &e) {
          e.index = 1;
          e.reverse = reverse;
          e.lambda = lambda2(add(local(14), local(15)));
        })));
  };
  CHECK(scan(false) == D{11, 13, 16, 14, 19, 25});
  CHECK(scan(true) == D{16, 15, 13, 25, 21, 16});
}

TEST_CASE("sort is stable with NaN last either way") {
  auto sorted = [](const Value &from, bool reverse) {
    return doubles(apply(Op::Sort, {from}, [&](sem::Expr &e) {
      e.index = from.shape.rank() - 1;
      e.reverse = reverse;
    }));
  };
  D up = sorted(tile(F32, Shape{5}, {3, NaN, -Inf, 0, 1}), false);
  CHECK(D(up.begin(), up.end() - 1) == D{-Inf, 0, 1, 3});
  CHECK(std::isnan(up[4]));
  D down = sorted(tile(F32, Shape{5}, {3, NaN, -Inf, 0, 1}), true);
  CHECK(D(down.begin(), down.end() - 1) == D{3, 1, 0, -Inf});
  CHECK(std::isnan(down[4]));
  D zeros = sorted(tile(F32, Shape{2}, {0, -0.0}), false);
  CHECK_FALSE(std::signbit(zeros[0]));
  CHECK(std::signbit(zeros[1]));
  Value columns = apply(Op::Sort, {tile(F32, Shape{2, 2}, {2, 1, 1, 3})}, [](sem::Expr &e) { e.index = 0; });
  CHECK(doubles(columns) == D{1, 1, 2, 3});
}

TEST_CASE("topk gives the greatest, the first of equals first") {
  Slot slot = applySlot(Op::TopK, {tile(F32, Shape{2, 4}, {1, 5, 5, 2, NaN, 0, 3, 3})}, tileType(F32),
                        [](sem::Expr &e) {
                          e.index = 1;
                          e.ints = {2};
                        });
  const auto &tuple = *std::get<std::shared_ptr<const Tuple>>(slot);
  CHECK(doubles(std::get<Value>(tuple.elements[0])) == D{5, 5, 3, 3});
  CHECK(integers(std::get<Value>(tuple.elements[1])) == N{1, 2, 2, 3});
}

TEST_CASE("histogram drops what is outside") {
  Value counts =
      apply(Op::Histogram, {ints(I32, Shape{6}, {0, 2, 2, 7, -1, 3})}, [](sem::Expr &e) { e.ints = {4}; });
  CHECK(counts.dtype == I32);
  CHECK(integers(counts) == N{1, 0, 2, 1});
}

TEST_CASE("inline_ptx means its reference") {
  auto doubled = std::make_shared<sem::Lambda>();
  doubled->params = {14};
  doubled->results = {add(local(14), local(14))};
  CHECK(doubles(apply(Op::InlinePtx, {tile(F32, Shape{2}, {1, 4})},
                      [&](sem::Expr &e) { e.lambda = doubled; })) == D{2, 8});
}
