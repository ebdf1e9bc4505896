// SPDX-License-Identifier: MIT
// Generated inputs: their distribution, determinism and strides.
#include "compiler/interpreter/Inputs.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>

using namespace tilegym;
using namespace tilegym::interp;
using Rule = sem::Generator;

namespace {

sem::Filling rule(Rule::Kind kind, std::vector<double> args = {}) { return {kind, std::move(args), nullptr}; }

HostTensor made(DType type, Dims shape, const sem::Filling &filling, uint64_t seed = 1) {
  std::string error;
  auto tensor = generate(type, shape, filling, seed, error);
  INFO(error);
  REQUIRE(tensor);
  return *tensor;
}

} // namespace

TEST_CASE("normal has its mean and deviation, and equal seeds give equal elements") {
  HostTensor x = made(DType::F32, {200, 100}, rule(Rule::Normal, {3, 2}));
  double sum = 0, squares = 0;
  for (double value : x.toDoubles()) {
    sum += value;
    squares += (value - 3) * (value - 3);
  }
  CHECK(sum / 20000 == Approx(3).margin(0.05));
  CHECK(std::sqrt(squares / 20000) == Approx(2).margin(0.05));
  CHECK(made(DType::F32, {200, 100}, rule(Rule::Normal, {3, 2})).toDoubles() == x.toDoubles());
  CHECK(made(DType::F32, {200, 100}, rule(Rule::Normal, {3, 2}), 2).toDoubles() != x.toDoubles());
}

TEST_CASE("uniform and randint stay inside their ends and reach them") {
  for (double value : made(DType::F64, {1000}, rule(Rule::Uniform, {-2, 5})).toDoubles())
    REQUIRE((value >= -2 && value < 5));
  sem::Filling integers = rule(Rule::RandInt, {-1, 3});
  std::set<int64_t> seen;
  HostTensor i = made(DType::I8, {200}, integers);
  for (int64_t k = 0; k < 200; ++k)
    seen.insert(i.asInt(k));
  CHECK(seen == std::set<int64_t>{-1, 0, 1, 2});
  integers.args = {3, 3};
  std::string error;
  CHECK(!generate(DType::I8, {2}, integers, 1, error));
  CHECK(error == "randint(3, 3) is an empty range: its end is excluded");
  CHECK(generate(DType::I8, {0}, integers, 1, error)); // nothing to draw
}

TEST_CASE("iota, one_hot, fill, permutation, literal") {
  CHECK(made(DType::I32, {2, 3}, rule(Rule::Iota)).toDoubles() == std::vector<double>{0, 1, 2, 3, 4, 5});
  CHECK(made(DType::U8, {300}, rule(Rule::Iota)).asInt(257) == 1);
  sem::Filling hot = rule(Rule::OneHot, {5, -1, -1});
  CHECK(made(DType::F16, {2, 3}, hot).toDoubles() == std::vector<double>{-1, -1, 5, -1, -1, 5});
  hot.args[2] = 3;
  std::string error;
  CHECK(!generate(DType::F16, {2, 3}, hot, 1, error));
  CHECK(error == "one_hot at 3 is outside a row of 3");
  hot.args = {5, -1};
  std::vector<double> rows = made(DType::F16, {40, 16}, hot).toDoubles();
  std::set<std::ptrdiff_t> places;
  for (auto row = rows.begin(); row != rows.end(); row += 16) {
    CHECK(std::count(row, row + 16, 5) == 1);
    places.insert(std::find(row, row + 16, 5) - row);
  }
  CHECK(places.size() > 8);
  CHECK(made(DType::BF16, {2}, rule(Rule::Fill, {7})).toDoubles() == std::vector<double>{7, 7});
  std::vector<double> few = made(DType::F16, {64}, rule(Rule::Choice, {-0.5, 2, 7})).toDoubles();
  CHECK(std::set<double>(few.begin(), few.end()) == std::set<double>{-0.5, 2, 7});
  HostTensor order = made(DType::I64, {2, 50}, rule(Rule::Permutation));
  std::set<int64_t> first, second;
  for (int64_t k = 0; k < 50; ++k) {
    first.insert(order.asInt(k));
    second.insert(order.asInt(50 + k));
  }
  CHECK((first.size() == 50 && *first.begin() == 0 && *first.rbegin() == 49 && first == second));
  sem::LiteralTensor values{{2}, {sem::Constant{1.5}, sem::Constant{int64_t(-2)}}, {}};
  sem::Filling literal{Rule::Literal, {}, &values};
  CHECK(made(DType::F8E4M3, {2}, literal).toDoubles() == std::vector<double>{1.5, -2});
  CHECK(!generate(DType::F32, {3}, literal, 1, error));
  CHECK(error == "the literal has shape [2], but [3] is expected");
}

TEST_CASE("an empty literal leaves the extents inside it open") {
  sem::LiteralTensor empty{{0, sem::kDynamic}, {}, {}};
  auto tensor = literalTensor(DType::F32, {0, 7}, empty);
  REQUIRE(tensor);
  CHECK(tensor->shape == Dims{0, 7});
  CHECK(!literalTensor(DType::F32, {1, 7}, empty));
}

TEST_CASE("seeds are FNV-1a of names") {
  CHECK(hashName("") == 0xcbf29ce484222325);
  CHECK(hashName("a") == 0xaf63dc4c8601ec8c); // as published
}

TEST_CASE("other strides, same values, and the gaps are filled") {
  HostTensor x = made(DType::F32, {3, 4, 5}, rule(Rule::Iota));
  for (Spread spread : {Spread::Dense, Spread::Padded, Spread::Strided, Spread::Transposed}) {
    HostTensor y = respread(x, spread);
    CHECK(y.toDoubles() == x.toDoubles());
    CHECK(y.isInsideBuffer());
    CHECK(y.isContiguous() == (spread == Spread::Dense));
  }
  CHECK(respread(x, Spread::Strided).strides == Dims{40, 10, 2});
  CHECK(respread(x, Spread::Padded).strides == Dims{40, 8, 1});
  CHECK(respread(x, Spread::Padded).offset == 1);
  CHECK(respread(x, Spread::Transposed).strides == Dims{20, 1, 4});
  HostTensor empty = respread(HostTensor::allocate(DType::F16, {0, 4}), Spread::Strided);
  CHECK(empty.numElements() == 0);
  CHECK(std::to_integer<int>(respread(x, Spread::Padded).buffer->data()[0]) == 0xff);
}
