// SPDX-License-Identifier: MIT
// Shape operations and indexing of values.
#include "tests/unit/interpreter/Tree.h"
#include <catch2/catch.hpp>

using namespace tilegym;
using namespace tilegym::interp;
using namespace tilegym::interp::test;
using sem::Op;

namespace {
using D = std::vector<double>;
using N = std::vector<int64_t>;
constexpr DType F32 = DType::F32, X = DType::Index;

Value counted(const Shape &shape) {
  std::vector<int64_t> elements;
  for (int64_t i = 0; i < shape.count(); ++i)
    elements.push_back(i);
  return ints(DType::I32, shape, elements);
}
Value indexed(const Value &from, std::vector<sem::IndexItem> items) {
  return apply(Op::ValueIndex, {from}, [&](sem::Expr &e) { e.items = items; });
}
sem::ExprPtr indices(N values) {
  // A gather tile without locals: iota plus constants by cat of scalars.
  std::vector<sem::ExprPtr> parts;
  for (int64_t value : values)
    parts.push_back(node(Op::Reshape, tileType(X, {1}), {index(value)}));
  return node(Op::Cat, tileType(X), parts);
}
} // namespace

TEST_CASE("iota") {
  CHECK(integers(apply(Op::Iota, {}, tileType(X, {4}))) == N{0, 1, 2, 3});
  Value dynamic = std::get<Value>(evaluate(node(Op::Iota, tileType(X, {sem::kDynamic}), {index(3)}), {}));
  CHECK(integers(dynamic) == N{0, 1, 2});
  CHECK(std::get<Value>(evaluate(node(Op::Iota, tileType(X, {sem::kDynamic}), {index(0)}), {})).count() == 0);
}

TEST_CASE("broadcast repeats extents of 1 and scalars") {
  Value wide = apply(Op::Broadcast, {ints(X, Shape{2, 1}, {5, 6})}, tileType(X, {2, 3}));
  CHECK(integers(wide) == N{5, 5, 5, 6, 6, 6});
  CHECK(integers(apply(Op::Broadcast, {ints(X, Shape{}, {7})}, tileType(X, {2}))) == N{7, 7});
  Value dynamic = std::get<Value>(evaluate(
      node(Op::Broadcast, tileType(F32, {sem::kDynamic, 2}), {constant(F32, 3), index(2), index(2)}), {}));
  CHECK(doubles(dynamic) == D{3, 3, 3, 3});
  CHECK(faultOf([] { apply(Op::Broadcast, {ints(X, Shape{2}, {5, 6})}, tileType(X, {3})); }).kind ==
        Fault::Arguments);
}

TEST_CASE("reshape keeps row-major order, one extent may be what is left") {
  Value from = counted(Shape{2, 3});
  CHECK(extents(apply(Op::Reshape, {from}, tileType(DType::I32, {3, 2})).shape) == N{3, 2});
  std::vector<Slot> locals{from};
  Value left =
      std::get<Value>(evaluate(node(Op::Reshape, tileType(DType::I32, {sem::kDynamic, sem::kDynamic}),
                                    {local(0), index(3), index(-1)}),
                               locals));
  CHECK(extents(left.shape) == N{3, 2});
  Fault fault = faultOf([&] { apply(Op::Reshape, {from}, tileType(DType::I32, {4})); });
  CHECK(fault.message == "reshape of [2, 3] to [4]");
}

TEST_CASE("permute") {
  Value turned = apply(Op::Permute, {counted(Shape{2, 3})}, [](sem::Expr &e) { e.ints = {1, 0}; });
  CHECK(extents(turned.shape) == N{3, 2});
  CHECK(integers(turned) == N{0, 3, 1, 4, 2, 5});
  Value cube = apply(Op::Permute, {counted(Shape{2, 2, 2})}, [](sem::Expr &e) { e.ints = {2, 0, 1}; });
  CHECK(integers(cube) == N{0, 2, 4, 6, 1, 3, 5, 7});
}

TEST_CASE("cat and extract") {
  Value joined =
      apply(Op::Cat, {counted(Shape{2, 1}), counted(Shape{2, 2})}, [](sem::Expr &e) { e.index = 1; });
  CHECK(extents(joined.shape) == N{2, 3});
  CHECK(integers(joined) == N{0, 0, 1, 1, 2, 3});
  Value part = apply(Op::Extract, {counted(Shape{3, 4})}, tileType(DType::I32, {2, 2}),
                     [](sem::Expr &e) { e.ints = {1, 2}; });
  CHECK(integers(part) == N{6, 7, 10, 11});
  CHECK(faultOf([] {
          apply(Op::Cat, {counted(Shape{2, 1}), counted(Shape{3, 1})}, [](sem::Expr &e) { e.index = 1; });
        }).message == "cat of [2, 1] and [3, 1]");
}

TEST_CASE("values are indexed as in NumPy") {
  Value from = counted(Shape{3, 4});
  CHECK(integers(indexed(from, {point(index(1))})) == N{4, 5, 6, 7});
  CHECK(integers(indexed(from, {point(index(2)), point(index(3))})) == N{11});
  CHECK(integers(indexed(from, {bounds(index(1), nullptr), bounds(nullptr, index(2))})) == N{4, 5, 8, 9});
  Value columns = indexed(from, {item(sem::IndexItem::Whole), gather(indices({3, 0}))});
  CHECK(extents(columns.shape) == N{3, 2});
  CHECK(integers(columns) == N{3, 0, 7, 4, 11, 8});
  CHECK(integers(indexed(from, {gather(indices({0, 2})), gather(indices({1, 3}))})) == N{1, 11});
  CHECK(extents(indexed(from, {item(sem::IndexItem::Whole), item(sem::IndexItem::NewAxis)}).shape) ==
        N{3, 1, 4});
}

TEST_CASE("an index outside of a value is a fault") {
  Value from = counted(Shape{3, 4});
  for (int64_t at : {-1, 3}) {
    Fault fault = faultOf([&] { indexed(from, {point(index(at))}); });
    CHECK(fault.kind == Fault::OutOfBounds);
    CHECK(fault.message == "index " + std::to_string(at) + " is outside of an axis of extent 3");
  }
  CHECK(faultOf([&] { indexed(from, {gather(indices({0, 5}))}); }).message ==
        "index 5 is outside of an axis of extent 3");
  CHECK(faultOf([&] { indexed(from, {bounds(index(1), index(9))}); }).message ==
        "range 1 : 9 is outside of an axis of extent 3");
}
