// SPDX-License-Identifier: MIT
// Each fault the sanitizer knows, planted in a kernel.
#include "tests/unit/interpreter/Spec.h"
#include <catch2/catch.hpp>

using namespace tilegym;
using namespace tilegym::interp;
using namespace tilegym::interp::test;

namespace {

const std::string testOfN =
    "test { case \"one\" { N = 1; x = [0]; expect y = [0] }\n tolerance { f32: 0 } }\n"
    "bench none \"a test\"\n";

/// An op f32[N] -> f32[N] with one kernel of this body.
std::string copyOp(const std::string &body, const std::string &head = "op t(x: f32[N]) -> y: f32[N]") {
  return head + "\nreference { y = x }\nkernel k() {\n" + body + "\n}\n" + testOfN;
}

Fault faultOf(const std::string &text, int64_t n = 8, const RunOptions &options = {}) {
  Call call(text);
  static std::vector<std::shared_ptr<const sem::OpModel>> alive; // the ranges of faults point into their text
  alive.push_back(call.op);
  call.tensor("x", noise(DType::F32, {n}));
  RunResult result = call.kernel("k", {}, options);
  REQUIRE_FALSE(result.ok());
  return result.faults[0];
}

/// The text of the fault's range.
std::string sourceOf(const Fault &fault) {
  REQUIRE(fault.range.file);
  return std::string(fault.range.file->text().substr(fault.range.begin, fault.range.end - fault.range.begin));
}

using N = std::vector<int64_t>;

} // namespace

TEST_CASE("a faultless copy has no faults") {
  Call call(copyOp("grid(cdiv(N, 8))\n store(y.tile(8)[block(0)], load(x.tile(8)[block(0)]))"));
  call.tensor("x", noise(DType::F32, {21}));
  RunResult result = call.kernel("k", {}, {}, true);
  CHECK(worst(call.output(result, "y"), call.args.tensors[0][0]) == 0);
}

TEST_CASE("an integer index outside of its view") {
  Fault fault = faultOf(copyOp("grid(N)\n let i = block(0)\n store(y[i], load(x[i + 1]))"), 3);
  CHECK(fault.kind == Fault::OutOfBounds);
  CHECK(fault.message == "index 3 is outside of an axis of extent 3");
  CHECK(fault.block == N{2});
  CHECK(fault.kernel == "k");
  CHECK(fault.tensor == "x");
  CHECK(sourceOf(fault) == "i + 1");
  CHECK(toDiagnostic(fault).message ==
        "index 3 is outside of an axis of extent 3 (in kernel 'k', block (2), at x)");
}

TEST_CASE("a range with a negative bound") {
  auto bounds = [](const std::string &range) {
    return faultOf(copyOp("grid(1)\n store(y[0 :+ 8], load(x[" + range + "][0 :+ 8]))"), 3);
  };
  Fault fault = bounds("N - 4 : N");
  CHECK(fault.kind == Fault::OutOfBounds);
  CHECK(fault.message == "the range -1 : 3 has a negative bound");
  CHECK(fault.help == "bounds count from the front: the last k elements of N are N - k : N");
  CHECK(sourceOf(fault) == "N - 4 : N");
  CHECK(bounds("N - 4 :").message == "the range -1 :  has a negative bound");
  CHECK(bounds(": N - 5").message == "the range 0 : -2 has a negative bound");
  Call call("op t(x: f32[N]) -> y: f32[N]\nreference { y[:] = sum(x[N - 4 : N]) }\nkernel k() {\n grid(1)\n"
            " store(y[0 :+ 8], load(x[0 :+ 8]))\n}\n" +
            testOfN);
  call.tensor("x", noise(DType::F32, {3}));
  RunResult result = call.reference();
  REQUIRE_FALSE(result.ok());
  CHECK(result.faults[0].message == "the range -1 : 3 has a negative bound");
}

TEST_CASE("a gather index outside of its view, unless masked off") {
  const std::string gather = "grid(1)\n let i = iota(8) + 1\n store(y[0 :+ 8], load(x[i]";
  Fault fault = faultOf(copyOp(gather + "))"));
  CHECK(fault.kind == Fault::OutOfBounds);
  CHECK(fault.message == "index 8 is outside of an axis of extent 8");
  CHECK(fault.element == N{7});
  Call call(copyOp(gather + ", pad=9, mask=i < N))"));
  call.tensor("x", HostTensor::fromDoubles(DType::F32, {8}, {0, 1, 2, 3, 4, 5, 6, 7}));
  CHECK(call.values(call.kernel("k"), "y") == std::vector<double>{1, 2, 3, 4, 5, 6, 7, 9});
}

TEST_CASE("a scatter index outside of its view") {
  Fault fault = faultOf(copyOp("grid(1)\n store(y[iota(8) - 1], load(x[0 :+ 8]))"));
  CHECK(fault.kind == Fault::OutOfBounds);
  CHECK(fault.message == "index -1 is outside of an axis of extent 8");
  CHECK(fault.tensor == "y");
}

TEST_CASE("two elements of one store on one place, with different values") {
  Fault fault = faultOf(copyOp("grid(1)\n store(y[iota(8) // 2], load(x[0 :+ 8]))"));
  CHECK(fault.kind == Fault::Race);
  CHECK(fault.message == "one store writes this element twice with different values");
  CHECK(fault.element == N{0});
}

TEST_CASE("a read of an output that nothing wrote") {
  Fault fault = faultOf(copyOp("grid(N)\n let i = block(0)\n store(y[i], load(y[i]) + load(x[i]))"), 2);
  CHECK(fault.kind == Fault::Uninitialized);
  CHECK(fault.message == "read of memory never written");
  CHECK(fault.tensor == "y");
  CHECK(fault.element == N{0});
  CHECK(fault.block == N{0});
}

TEST_CASE("output elements that no block wrote") {
  Fault fault = faultOf(copyOp("grid(N)\n let i = block(0)\n if i != 5 { store(y[i], load(x[i])) }"));
  CHECK(fault.kind == Fault::Unwritten);
  CHECK(fault.message == "1 of 8 elements of 'y' were never written");
  CHECK(fault.element == N{5});
}

TEST_CASE("an empty grid leaves an output unwritten") {
  const std::string text = copyOp("grid(N // 2)\n store(y[0 :+ 8], load(x[0 :+ 8]))");
  CHECK(faultOf(text, 1).kind == Fault::Unwritten);
  Call empty(text);
  empty.tensor("x", noise(DType::F32, {0}));
  CHECK(empty.kernel("k").ok());
}

TEST_CASE("two blocks write one element") {
  for (unsigned threads : {1u, 2u}) {
    RunOptions options;
    options.threads = threads;
    Fault fault = faultOf(copyOp("grid(2)\n store(y[0 :+ 8], load(x[0 :+ 8]))"), 8, options);
    CHECK(fault.kind == Fault::Race);
    CHECK(fault.tensor == "y");
    CHECK(fault.message.find("races with block number") != std::string::npos);
  }
}

TEST_CASE("a block reads what another writes") {
  const std::string text =
      "op t(inout x: f32[N]) -> y: f32[N]\nreference { y = x }\nkernel k() {\n grid(N)\n let i = block(0)\n"
      "store(x[i], f32(i))\n store(y[i], load(x[select(i == 0, 0, i - 1)]))\n}\n" +
      testOfN;
  Fault fault = faultOf(text, 8);
  CHECK(fault.kind == Fault::Race);
  CHECK(fault.tensor == "x");
}

TEST_CASE("a block writes what another has read") {
  const std::string text =
      "op t(inout x: f32[N]) -> y: f32[N]\nreference { y = x }\nkernel k() {\n grid(N)\n let i = block(0)\n"
      "store(y[i], load(x[min(i + 1, N - 1)]))\n store(x[i], f32(i))\n}\n" +
      testOfN;
  RunOptions options;
  options.threads = 1;
  Fault fault = faultOf(text, 8, options);
  CHECK(fault.kind == Fault::Race);
  CHECK(fault.message == "a write by block number 1 races with block number 0");
  CHECK(fault.element == N{1});
}

TEST_CASE("a failed assert, a false assume, with the element") {
  Fault assertion = faultOf(
      copyOp("grid(1)\n let t = load(x[0 :+ 8])\n assert(iota(8) < 6, \"too far\")\n store(y[0 :+ 8], t)"));
  CHECK(assertion.kind == Fault::AssertFailed);
  CHECK(assertion.message == "assertion failed: too far");
  CHECK(assertion.element == N{6});
  Fault assumption =
      faultOf(copyOp("grid(N)\n assume(N % 8 == 0)\n let i = block(0)\n store(y[i], load(x[i]))"), 7);
  CHECK(assumption.kind == Fault::AssumeFailed);
}

TEST_CASE("index values that do not fit the dtype they meet") {
  const std::string text =
      "op t(x: i8[N]) -> y: i8[N]\nreference { y = x }\nkernel k() {\n grid(N)\n let i = block(0)\n"
      " store(y[i], load(x[i]) + i)\n}\n"
      "test { case \"one\" { N = 1; x = [0]; expect y = [0] }\n tolerance { i8: 0 } }\nbench none \"a "
      "test\"\n";
  Call call(text);
  call.tensor("x", HostTensor::allocate(DType::I8, {200}));
  RunResult result = call.kernel("k");
  REQUIRE_FALSE(result.ok());
  CHECK(result.faults[0].kind == Fault::IndexRange);
  CHECK(result.faults[0].message == "128 does not fit i8");
  CHECK(result.faults[0].block == N{128});
}

TEST_CASE("loops end or are a fault") {
  RunOptions options;
  options.maxIterations = 1000;
  Fault endless =
      faultOf(copyOp("grid(1)\n var i = 0\n while i < 8 { i = i * 1 }\n store(y[0 :+ 8], load(x[0 :+ 8]))"),
              8, options);
  CHECK(endless.kind == Fault::Loop);
  CHECK(endless.message == "this loop has not ended after 1000 turns");
  Fault still = faultOf(copyOp("grid(1)\n for i in 0 .. 8 step (N - 8) { store(y[i], load(x[i])) }"));
  CHECK(still.kind == Fault::Loop);
  CHECK(still.message == "the step of this loop is zero");
}

TEST_CASE("a scalar division by zero") {
  Fault fault = faultOf(copyOp("grid(N)\n let i = block(0)\n store(y[i % (N - 8)], load(x[i]))"));
  CHECK(fault.kind == Fault::DivisionByZero);
  CHECK(fault.message == "division by zero");
}

TEST_CASE("atomics need memory that was filled, and race with plain accesses") {
  auto text = [](const std::string &fill, const std::string &body) {
    return "op t(x: f32[N]) -> y: f32[N]" + fill + " nondeterministic\nreference { y = x }\nkernel k() {\n" +
           body + "\n}\n" + testOfN;
  };
  const std::string body = "grid(2)\n atomic_add(y[0 :+ 8], load(x[0 :+ 8]))";
  Call call(text(" = 0", body));
  call.tensor("x", HostTensor::fromDoubles(DType::F32, {2}, {1, 2}));
  CHECK(call.values(call.kernel("k"), "y") == std::vector<double>{2, 4});
  Fault unfilled = faultOf(copyOp("grid(1)\n store(y[0 :+ 8], load(x[0 :+ 8]))"
                                  "\n if N == 8 { store(y[0], atomic_exchange(y[1], load(x[0]))) }"),
                           8);
  CHECK(unfilled.kind == Fault::Program);
  Fault race = faultOf(
      text(" = 0",
           "grid(2)\n if block(0) == 0 { store(y[0], load(x[0])) } else { atomic_add(y[0], load(x[0])) }"),
      1);
  CHECK(race.kind == Fault::Race);
}

TEST_CASE("outputs must not share elements with other tensors, unless said") {
  const std::string body = "grid(N)\n let i = block(0)\n store(y[i], load(x[i]))";
  for (bool alias : {false, true}) {
    HostTensor shared = noise(DType::F32, {8});
    Call call(
        copyOp(body, alias ? "op t(x: f32[N]) -> y: f32[N]\n y alias x" : "op t(x: f32[N]) -> y: f32[N]"));
    call.tensor("x", shared).tensor("y", shared);
    RunResult result = call.kernel("k");
    CHECK(result.ok() == alias);
    if (!alias) {
      CHECK(result.faults.at(0).kind == Fault::Overlap);
      CHECK(result.faults.at(0).message == "'y' shares elements with 'x'");
    }
  }
  // Interleaved elements share a span of memory but no element.
  Call apart(copyOp(body));
  HostTensor evens = noise(DType::F32, {8}), odds = evens;
  evens.shape = odds.shape = {4};
  evens.strides = odds.strides = {2};
  odds.offset = 1;
  apart.tensor("x", evens).tensor("y", odds);
  CHECK(apart.kernel("k").ok());
  Call repeated(copyOp(body));
  HostTensor twice = noise(DType::F32, {8});
  twice.strides = {0};
  repeated.tensor("x", noise(DType::F32, {8})).tensor("y", twice);
  CHECK(repeated.kernel("k").faults.at(0).message == "two elements of 'y' are one in memory");
}

TEST_CASE("a result that depends on the order of blocks") {
  const std::string text =
      "op t(x: i32[N]) -> (y: i32[N], next: i32[1] = 0)\nreference { y = x; next = next + 0 }\nkernel k() "
      "{\n grid(N)\n"
      " let i = block(0)\n let place = atomic_add(next[0], i32(1))\n store(y[place], load(x[i]))\n}\n"
      "test { case \"one\" { N = 1; x = [0]; expect y = [0] }\n tolerance { i32: 0 } }\nbench none \"a "
      "test\"\n";
  Call call(text);
  call.tensor("x", HostTensor::fromInts(DType::I32, {4}, {1, 2, 3, 4}));
  RunOptions options;
  options.threads = 1;
  RunResult result = call.kernel("k", {}, options, true);
  REQUIRE_FALSE(result.ok());
  CHECK(result.faults[0].kind == Fault::OrderDependence);
  CHECK(result.faults[0].message == "the result depends on the order of blocks");
  CHECK(result.faults[0].tensor == "y");
}

TEST_CASE("without the sanitizer a run only computes") {
  RunOptions options;
  options.sanitize = false;
  Call call(copyOp("grid(2)\n store(y[0 :+ 8], load(x[0 :+ 8]))"));
  call.tensor("x", noise(DType::F32, {8}));
  CHECK(call.kernel("k", {}, options).ok());
}
