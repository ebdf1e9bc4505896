// SPDX-License-Identifier: MIT
// Sizes that end in each part of a variant's tiles.
#include "compiler/semantics/EdgeCalls.h"
#include "tests/unit/semantics/SpecText.h"
#include <algorithm>
#include <set>

using namespace tilegym;
using namespace tilegym::sem;

namespace {

const char *const kTest =
    "R in [1, 9]; N in [1, 63]; T in all; case \"c\" { R = 1; N = 1; x = [[1]]; expect y = [[1]] }; "
    "tolerance { f32: 0; f16: 0 }";

struct Edges {
  std::shared_ptr<const OpModel> op;
  TestModel model;
  Specialization variant;
  std::shared_ptr<const Kernel> kernel;
  /// Of the first interface specialization and the kernel's `which`-th derived values.
  Edges(const std::string &header, const std::string &kernelText, const std::string &test, size_t which = 0)
      : op(mustAnalyze(specAround(header, kernelText, test))) {
    DiagnosticSink sink;
    model = readTest(*op, *op->spec->test, sink);
    auto all = enumerateDerived(*op, enumerateInterfaces(*op)[0], 0);
    REQUIRE(all.size() > which);
    variant = all[which];
    variant = candidates(*op, variant, "", sink)[0];
    kernel = instantiateKernel(*op, variant, sink);
    INFO(renderAll(sink));
    REQUIRE(kernel);
  }
  std::vector<TestCall> calls(const EdgeOptions &options = {}) const {
    return edgeCalls(*op, model, variant, kernel->grid, options);
  }
};

const char *const kHeader = "op f(x: T[*R, N]) -> y: T[*R, N] where T: f32 | f16";
const char *const kRows = "kernel rows(BM, BN = pow2ceil(N)) when N <= 512 {\n  grid(cdiv(R, BM))\n  let t = "
                          "load(x.tile(BM, BN)[block(0), 0])\n  store(y.tile(BM, BN)[block(0), 0], t)\n}\n"
                          "tune rows { BM in [4]; warps in [4] }";

} // namespace

TEST_CASE("rows end in each eighth of what the derived tile leaves, and calls fit the variant") {
  Edges edges(kHeader, kRows, kTest, 1);
  int64_t tile = edges.variant.params[1].value;
  REQUIRE(tile == 256);
  std::set<int64_t> parts, sizes, rows, ranks;
  int deep = 0;
  for (const TestCall &call : edges.calls()) {
    int64_t n = call.bound.values.dims[1], r = call.bound.values.dims[0];
    REQUIRE((n > 128 && n <= 256));
    CHECK(call.bound.spec.dtypes == edges.variant.dtypes);
    if (call.bound.groups[0] == std::vector<int64_t>(7, 2)) {
      ++deep;
      continue;
    }
    CHECK((r + 3) / 4 <= EdgeOptions().mostBlocks);
    CHECK(elementsOf(call) <= EdgeOptions().mostElements);
    parts.insert((n - 129) / 16);
    sizes.insert(n);
    rows.insert(r % 4);
    ranks.insert(int64_t(call.bound.groups[0].size()));
  }
  CHECK(deep == 1);
  CHECK(parts.size() == 8);
  CHECK(*sizes.begin() == 129);
  CHECK(*sizes.rbegin() == 256);
  CHECK(rows.size() == 4);
  CHECK(ranks.size() >= 4);
  CHECK(sizeRange(*edges.op, edges.variant, 1) == std::pair(int64_t(129), int64_t(256)));
  CHECK(sizeRange(*edges.op, edges.variant, 0)->second == std::numeric_limits<int32_t>::max());
}

TEST_CASE("whole vectors, equal calls for equal arguments, values that meet each other") {
  Edges edges(kHeader, kRows, kTest, 1);
  std::vector<TestCall> calls = edges.calls({.wholeVectors = true});
  std::set<Generator::Kind> kinds;
  for (const TestCall &call : calls) {
    CHECK(call.bound.values.dims[1] % 4 == 0);
    kinds.insert(call.fillings[0][0].kind);
  }
  CHECK(kinds ==
        std::set<Generator::Kind>{Generator::Normal, Generator::OneHot, Generator::Choice, Generator::Fill});
  std::vector<TestCall> again = edges.calls({.wholeVectors = true});
  CHECK(std::equal(calls.begin(), calls.end(), again.begin(), again.end(),
                   [](auto &a, auto &b) { return a.name == b.name && a.seed == b.seed; }));
}

TEST_CASE("constants that a case alone says: its calls, at other sizes") {
  Edges edges("op f(x: T[*R, N], const mode: slow | quick = slow) -> y: T[*R, N] where T: f32 | f16", kRows,
              "R in [1, 9]; N in [1, 63]; T in all; case \"c\" { R = 1; N = 1; x = [[1]]; mode = quick; "
              "expect y = [[1]] }; case \"quick\" { R = 2; N = 7; mode = quick; x = randint(-9, 9) }; "
              "tolerance { f32: 0; f16: 0 }",
              1);
  REQUIRE(edges.variant.consts.size() == 1);
  edges.variant.consts[0] = Constant{int64_t(1)};
  std::vector<TestCall> calls = edges.calls();
  CHECK(calls.size() > 20);
  for (const TestCall &call : calls) {
    CHECK(call.testCase->name == "quick");
    CHECK(call.fillings[0][0].kind == Generator::RandInt);
    CHECK(call.bound.values.dims[1] > 128);
  }
}

TEST_CASE("dims that a `where` puts in order meet, and a section's generators hold") {
  Edges edges("op f(x: f32[S, D], i: i32[P]) -> y: f32[S, D] where P <= D",
              "kernel rows(BS, BP = pow2ceil(P)) when (P % 16 == 0) & (P <= 256) {\n  grid(cdiv(S, BS))\n  "
              "store(y[block(0) * BS :+ BS, 0 :+ BP], zeros(f32, [BS, BP]))\n}\n"
              "tune rows { BS in [2]; warps in [4] }",
              "S in [1, 5]; D in [64, 100]; P in [32, 64]; i = randint(0, 3); "
              "case \"c\" { S = 1; D = 1; P = 0; x = [[1]]; expect y = [[1]] }; tolerance { f32: 0 }",
              0);
  bool meet = false;
  for (const TestCall &call : edges.calls()) {
    const std::vector<int64_t> &dims = call.bound.values.dims;
    CHECK(dims[2] % 16 == 0);
    CHECK(call.fillings[1][0].kind == Generator::RandInt);
    meet = meet || dims[1] == dims[2];
  }
  CHECK(meet);
}
