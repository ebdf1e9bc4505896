// SPDX-License-Identifier: MIT
// Gradient checks: a right gradient passes, a wrong one is found; residuals come from the forward op.
#include "compiler/interpreter/Gradient.h"
#include "SpecModel.h"

using namespace tilegym;
using namespace tilegym::interp;

namespace {

const std::string rest = R"(
kernel all(BN) {
  grid(1)
}
tune all { BN in [16] }
bench none "not measured"
)";

const std::string forward = R"(op norm(x: T[R, N], w: T[N], eps: f32 = 0.1) -> (y: T[R, N], scale: f32[R, 1]?)
  where T: f32 | f16
reference {
  let t = f32(x)
  let q = rsqrt(sum(t * t, axis=1) / f32(N) + eps)
  y = t * q * f32(w)
  const if present(scale) {
    scale = q
  }
}
test {
  R in [2]; N in [3]; T in all
  case "by hand" { R = 1; N = 1; x = [[0]]; w = [1]; expect y = [[0]] }
  tolerance { f32: 1e-6; f16: 1e-3 }
}
)" + rest;

/// d/dx of t q w: q w dy - t q^3 / N * sum(w dy t).
std::string backward(const std::string &dx) {
  return R"(op norm_backward(dy: T[R, N], x: T[R, N], w: T[N], scale: f32[R, 1], eps: f32 = 0.1) -> (dx: T[R, N], dw: f32[N])
  where T: f32 | f16
  gradient of norm(y -> dy; x -> dx, w -> dw)
reference {
  let t = f32(x)
  let g = f32(dy) * f32(w)
  dx = )" +
         dx + R"(
  dw = reshape(sum(f32(dy) * t * scale, axis=0), [N])
}
test {
  R in [4]; N in [7]; T in all
  case "by hand" { R = 1; N = 1; dy = [[0]]; x = [[1]]; w = [1]; scale = [[1]]; expect dx = [[0]] }
  tolerance { f32: 1e-6; f16: 1e-3 }
}
)" + rest;
}

} // namespace

TEST_CASE("a right gradient agrees with central differences") {
  SpecModel norm = specModel(forward);
  SpecModel gradient =
      specModel(backward("g * scale - t * scale * scale * scale * (sum(g * t, axis=1) / f32(N))"));
  CHECK(isGradient(*gradient.op));
  CHECK(!isGradient(*norm.op));
  CHECK(forwardName(*gradient.op) == "norm");
  for (const char *name : {"R=4 N=7 T=f32", "R=4 N=7 T=f16"}) {
    GradientResult result = checkGradient(*gradient.op, *norm.op, gradient.named(name));
    INFO((result.failures.empty() ? "" : result.failures[0]) << result.skipped);
    CHECK(result.failures.empty());
    CHECK(result.skipped.empty());
    CHECK(result.compared == 24 + 2 + 7 + 2);
  }
}

TEST_CASE("a wrong gradient is found, with both numbers") {
  SpecModel norm = specModel(forward);
  SpecModel gradient = specModel(backward("g * scale"));
  GradientResult result = checkGradient(*gradient.op, *norm.op, gradient.named("R=4 N=7 T=f32"));
  REQUIRE(result.failures.size() == 1);
  CHECK(result.failures[0].find(
            "norm_backward, case \"R=4 N=7 T=f32\", gradient of norm: `dx` at element ") == 0);
  CHECK(result.failures[0].find("central differences of the forward op") != std::string::npos);
}

TEST_CASE("names that `gradient of` pairs wrongly are said once, at their place") {
  SpecModel norm = specModel(forward);
  std::string text = backward("g * scale");
  size_t clause = text.find("(y -> dy; x -> dx,");
  text.replace(clause, 18, "(scael -> dy; dy -> dx,");
  SpecModel gradient = specModel(text);
  DiagnosticSink sink;
  CHECK(!checkGradientNames(*gradient.op, *norm.op, sink));
  REQUIRE(sink.all().size() == 2);
  CHECK(sink.all()[0].message == "`scael` is not an output of `norm`");
  CHECK(sink.all()[0].help == "did you mean `scale`?");
  CHECK(sink.all()[0].range.begin + 5 == sink.all()[0].range.end);
  CHECK(sink.all()[1].message == "`dy` is not an input of `norm`");
  CHECK(sink.all()[1].help == "it has `x`, `w`");
  DiagnosticSink none;
  CHECK(checkGradientNames(*specModel(backward("g * scale")).op, *norm.op, none));
}

TEST_CASE("large cases are skipped with the reason") {
  SpecModel norm = specModel(forward);
  SpecModel gradient = specModel(backward("g * scale"));
  GradientOptions options;
  options.maxElements = 10;
  GradientResult result = checkGradient(*gradient.op, *norm.op, gradient.named("R=4 N=7 T=f32"), options);
  CHECK(result.compared == 0);
  CHECK(result.skipped == "larger than 10 elements");
}
