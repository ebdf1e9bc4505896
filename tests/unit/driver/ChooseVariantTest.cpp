// SPDX-License-Identifier: MIT
// Variants by settings, the names of their kernels, and the names of stages.
#include "compiler/driver/ChooseVariant.h"
#include "compiler/driver/Compile.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/syntax/Parser.h"
#include <catch2/catch.hpp>

using namespace tilegym;

namespace {

constexpr const char *text = R"(
op choose(x: T[*R, N], const mode: none | mean = none, const shift: i32 = -1, w: T[N]?) -> y: T[*R, N]
  where T: f32 | f16, shift: -1 | 2
reference { y = x }
kernel rows(BN) {
  grid(R)
  store(y[block(0), 0 :+ BN], load(x[block(0), 0 :+ BN]))
}
tune rows { BN in [128, 256]; warps in [4, 8] }
test { R in [1]; N in [2]; case "one" { R = 1; N = 1; x = [[1]]; expect y = [[1]] }; tolerance { f32: 0; f16: 0 } }
bench none "a test"
)";

struct Fixture {
  DiagnosticSink sink;
  std::shared_ptr<const sem::OpModel> op;
  Fixture() {
    auto file = std::make_shared<SourceFile>("choose.tile", text);
    auto spec = std::make_shared<ast::Spec>(parseSpec(file, sink));
    op = sem::analyze(spec, {}, sink);
    INFO(renderAll(sink));
    REQUIRE(op);
  }
  std::string name(const driver::Settings &settings, tile::FactKind facts = tile::FactKind::Fast) {
    auto variant = driver::chooseVariant(*op, "rows", settings, "", sink);
    return variant ? driver::entryName(*op, *variant, facts) : "";
  }
};

} // namespace

TEST_CASE_METHOD(Fixture,
                 "a variant is chosen by its settings, and its kernel's name tells all that is fixed") {
  CHECK(
      name(
          {{"T", "f32"}, {"mode", "none"}, {"shift", "2"}, {"w", "absent"}, {"BN", "128"}, {"warps", "4"}}) ==
      "choose_rows_f32_mode0_shift2_BN128_warps4_fast");
  CHECK(
      name({{"T", "f16"}, {"mode", "mean"}, {"shift", "-1"}, {"w", "present"}, {"BN", "256"}, {"warps", "8"}},
           tile::FactKind::General) == "choose_rows_f16_mode1_shiftm1_w_BN256_warps8_general");
  CHECK(sink.numErrors() == 0);
}

TEST_CASE_METHOD(Fixture, "what no variant has is an error") {
  auto message = [&](std::string_view kernel, const driver::Settings &settings) {
    DiagnosticSink own;
    CHECK(!driver::chooseVariant(*op, kernel, settings, "", own));
    REQUIRE(own.numErrors() == 1);
    return own.all().back().message;
  };
  CHECK(message("rows", {{"T", "bf16"}}) == "op 'choose' has no variant with these dtypes and consts");
  CHECK(message("rows", {{"BN", "64"}}) == "no point of kernel 'rows' has these parameters and knobs");
  CHECK(message("columns", {}) == "no kernel 'columns' in op 'choose'");
}

TEST_CASE("stages have names") {
  for (driver::Platform platform : {driver::Platform::Gpu, driver::Platform::Simulator})
    for (driver::Stage stage : driver::stagesOf(platform))
      CHECK(driver::parseStage(driver::stageName(stage)) == stage);
  CHECK(driver::stageName(driver::Stage::Threads) == "threads");
  CHECK(!driver::parseStage("assembly"));
}
