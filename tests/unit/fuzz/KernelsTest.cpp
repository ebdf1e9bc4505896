// SPDX-License-Identifier: MIT
// The fuzzer of kernels itself: its texts, its layouts, what it calls a difference, and how it makes failures small.
#include "compiler/interpreter/Inputs.h"
#include "tests/fuzz/kernels/KernelCase.h"
#include "tests/fuzz/kernels/KernelCoverage.h"
#include "tests/fuzz/kernels/KernelGen.h"
#include "tests/fuzz/kernels/KernelReduce.h"
#include <algorithm>
#include <catch2/catch.hpp>

using namespace tilegym;
using namespace tilegym::fuzz;

namespace {

const std::string spec = R"(# fuzz specials x
# fuzz near z 0.01 0
op small(x: f32[N], n: i32[M]) -> (y: f32[N] = 0, z: f32[N] = 0)
reference {
  y = f32(0)
  z = f32(0)
}
kernel k() {
  grid(cdiv(N, 16))
  let at = block(0) * 16
  let t = load(x[at :+ 16])
  let u = (sqrt(abs(t)) + (t * f32(2)))
  if at < 100 {
    store(y[at :+ 16], u)
  }
  store(z[at :+ 16], exp(t) + f32(sum(load(n[0 :+ 8]))))
}
tune k { warps = 1 }
test {
  case "a" { N = 20; M = 5; n = randint(0, 3) }
  case "empty" { N = 0; M = 1; n = 0; expect y = [] }
  tolerance { f32: 0 }
}
bench none "a test"
)";

std::unique_ptr<KernelCase> read(const std::string &text) {
  std::string error;
  auto kernel = readKernel(text, "test.tile", error);
  INFO(text << error);
  REQUIRE(kernel);
  return kernel;
}

} // namespace

TEST_CASE("a seed gives one text, which is a sound spec") {
  CHECK(generateKernel(7) == generateKernel(7));
  CHECK(generateKernel(7) != generateKernel(8));
  for (uint64_t seed = 1; seed < 40; ++seed)
    read(generateKernel(seed));
}

TEST_CASE("comments of a text say what is special") {
  auto kernel = read(spec);
  CHECK(kernel->specials.count("x") == 1);
  CHECK(kernel->near.at("z").relative == 0.01);
  CHECK(kernel->near.count("y") == 0);
}

TEST_CASE("a layout moves elements and keeps their values") {
  auto kernel = read(spec);
  std::string error;
  auto dense = makeArguments(*kernel, kernel->calls[0], 0, error);
  REQUIRE(dense);
  bool anyStrided = false;
  for (uint64_t layout = 1; layout < 30; ++layout) {
    auto args = makeArguments(*kernel, kernel->calls[0], layout, error);
    REQUIRE(args);
    const interp::HostTensor &n = args->tensors[1][0];
    CHECK(n.isInsideBuffer());
    anyStrided |= !n.isContiguous();
    bool repeats = n.strides[0] == 0;
    for (int64_t i = 0; i < n.numElements() && !repeats; ++i)
      CHECK(n.asInt(i) == dense->tensors[1][0].asInt(i));
  }
  CHECK(anyStrided);
}

TEST_CASE("one bit is a difference, but of NaN and where a tolerance is given") {
  auto kernel = read(spec);
  std::string error;
  auto args = makeArguments(*kernel, kernel->calls[0], 0, error);
  REQUIRE(args);
  auto want = wantedOf(*kernel, kernel->calls[0], *args, error);
  REQUIRE(want);
  auto copy = [&] {
    auto got = *want;
    for (auto &list : got)
      for (interp::HostTensor &tensor : list)
        tensor = tensor.clone();
    return got;
  };
  CHECK(difference(*kernel, copy(), *want) == "");
  auto got = copy();
  got[2][0].set(3, 1.0);
  (*want)[2][0].set(3, 1.0);
  CHECK(difference(*kernel, got, *want) == "");
  got[2][0].setBits(3, got[2][0].bits(3) ^ 1);
  CHECK(difference(*kernel, got, *want).find("y f32") != std::string::npos);
  got[2][0].setBits(3, 0x7fc00000);
  (*want)[2][0].setBits(3, 0xffffffff);
  CHECK(difference(*kernel, got, *want) == "");
  got[3][0].set(0, 1.001);
  (*want)[3][0].set(0, 1.0);
  CHECK(difference(*kernel, got, *want) == "");
  got[3][0].set(0, 1.02);
  CHECK(difference(*kernel, got, *want) != "");
}

TEST_CASE("a fault of the interpreter is no result") {
  std::string text = spec, error;
  text.replace(text.find("x[at :+ 16]"), 11, "x[at + iota(16) + 99]");
  auto kernel = read(text);
  auto args = makeArguments(*kernel, kernel->calls[0], 0, error);
  REQUIRE(args);
  CHECK_FALSE(wantedOf(*kernel, kernel->calls[0], *args, error));
  CHECK(error.find("outside") != std::string::npos);
}

TEST_CASE("a failure is made small as long as it fails") {
  size_t asked = 0;
  std::string small = reduceKernel(
      spec,
      [&](const std::string &text) {
        ++asked;
        return text.find("sqrt(") != std::string::npos;
      },
      60);
  INFO(small);
  CHECK(asked > 0);
  CHECK(small.find("sqrt(") != std::string::npos);
  CHECK(small.find("exp(") == std::string::npos);
  CHECK(small.find("if ") == std::string::npos);
  CHECK(small.size() < spec.size() * 2 / 3);
  read(small);
  CHECK(reduceKernel(spec, [](const std::string &) { return false; }, 60) == spec);
}

TEST_CASE("what kernels use is counted, and what none uses is named") {
  std::set<std::string> uses = usesOf(*read(spec));
  CHECK(uses.count("builtin sqrt") == 1);
  CHECK(uses.count("op exp f32") == 1);
  CHECK(uses.count("index span") == 1);
  CHECK(uses.count("builtin tanh") == 0);
  std::map<std::string, uint64_t> counts;
  for (const std::string &use : uses)
    counts[use] = 1;
  std::vector<std::string> missing = builtinsNotUsed(counts);
  CHECK(std::find(missing.begin(), missing.end(), "tanh") != missing.end());
  CHECK(std::find(missing.begin(), missing.end(), "sqrt") == missing.end());
}
