// SPDX-License-Identifier: MIT
// Plans on the fake driver: launches in order, scratch memory from the pool or the caller, parts of tensors, refusals before anything is launched.
#include "tests/unit/runtime/Calls.h"
#include "tests/unit/runtime/Fake.h"
#include "tilegym/tilegym.hpp"
#include <functional>

using namespace tilegym::testing;
using Catch::Matchers::Contains;

namespace {

struct PlanTexts {
  OpText op;
  std::vector<OpText> launched;
};

/// total(x: f32[N, 4]) -> y: f32[N], by a plan: scratch p: f32[S, N] with S = cdiv(N, 8), and q: f64[3]; `partial` gets p, and n = 2 * N;
/// `combine` gets p, and all rows but the first of column 2 of x.
PlanTexts planTexts() {
  PlanTexts texts;
  OpText &o = texts.op;
  o.name = "total";
  o.typeVars = {{"", {F32}}};
  o.dims = {{"N"}};
  o.tensors = {{"x", Role::Input, 0, {{0}, {kNone, false, false, {number(4)}}}},
               {"y", Role::Output, 0, {{0}}}};
  o.kernels = {{"split"}};
  VariantText v;
  v.dtypes = {F32};
  v.entry = "total_split";
  v.images = {};
  v.grid = {};
  v.threads = 0;
  Code s = {dim(0), number(8), inst(OpCode::CDivI)};
  v.scratch = {{"q", F64, {{number(3)}}}, {"p", F32, {s, {dim(0)}}}};
  auto child = [&](const char *name, bool isFast) {
    OpText c = o;
    c.typeVars.push_back({"", {F32}});
    c.dims.push_back({"S"});
    c.tensors.push_back({"p", Role::Inout, 1, {{1}, {0}}});
    c.kernels = {{name}};
    VariantText kernel;
    kernel.dtypes = {F32, F32};
    kernel.grid = {{dim(1)}};
    for (bool fast : {false, true}) {
      if (fast && !isFast)
        continue;
      kernel.facts = fast ? kFactsFast : kFactsGeneral;
      kernel.entry = std::string(name) + (fast ? "_fast" : "");
      kernel.tensorFacts =
          fast ? std::vector<uint8_t>{0, 0, kUnitInner | kAligned | kWholeVectors} : std::vector<uint8_t>{};
      kernel.images = {{90, 0, 0, "4 cubin"}};
      kernel.layout = {{ParamKind::TensorPointer, 0, 0},
                       {ParamKind::TensorPointer, 2, 0},
                       {ParamKind::Dim, 1, 0},
                       {ParamKind::Stride, 2, 0}};
      c.variants.push_back(kernel);
    }
    return c;
  };
  OpText partial = child("partial", true), combine = child("combine", false);
  partial.typeVars.push_back({"", {I32}});
  partial.scalars = {{"n", 2}};
  for (VariantText &kernel : partial.variants) {
    kernel.dtypes = {F32, F32, I32};
    kernel.layout[3] = {ParamKind::Scalar, 0, 0};
  }
  combine.dims.push_back({"L"});
  combine.tensors.push_back({"part", Role::Inout, 0, {{2}}});
  combine.variants[0].layout[2] = {ParamKind::TensorPointer, 3, 0};
  combine.variants[0].layout[3] = {ParamKind::Stride, 3, 0};
  Code rest = {dim(0), number(1), inst(OpCode::SubI)};
  v.launches = {
      {0, {{1}}, {{dim(0), number(2), inst(OpCode::MulI)}}, {s}},
      {1, {{1}, {kNone, 0, {{0, false, {number(1)}, rest}, {1, true, {number(2)}, {}}}}}, {}, {s, rest}}};
  o.variants = {v};
  texts.launched = {partial, combine};
  return texts;
}

struct PlanCall {
  Given x, y;
  const void *args[2];
  explicit PlanCall(int64_t n = 20)
      : x(memory(), TILEGYM_F32, {n, 4}), y(memory() + (1 << 19), TILEGYM_F32, {n}), args{x.c(), y.c()} {}
};

uint64_t address(const void *p) { return reinterpret_cast<uint64_t>(p); }

} // namespace

TEST_CASE("a plan's launches follow each other on the stream") {
  FakeCuda &fake = fakeCuda();
  PlanTexts texts = planTexts();
  Opened opened({texts.op}, texts.launched);
  CHECK(tilegym_package_num_ops(opened.package) == 1);
  PlanCall call;
  void *stream = reinterpret_cast<void *>(size_t(64));
  REQUIRE(tilegym_call(opened.package, 0, call.args, stream) == TILEGYM_OK);
  REQUIRE(fake.launches.size() == 2);
  CHECK(fake.launches[0].entry == "partial_fast");
  CHECK(fake.launches[1].entry == "combine");
  CHECK(fake.launches[0].grid[0] == 3);
  CHECK(fake.launches[0].stream == stream);
  CHECK(fake.launches[1].stream == stream);
  // q takes 256 bytes, though nothing is given it; p is 3 x 20 floats.
  CHECK(fake.count("cuMemAllocAsync 512") == 1);
  CHECK(fake.count("cuMemAllocAsync") == 1);
  CHECK(fake.count("cuMemFreeAsync on a stream") == 1);
  CHECK(fake.allocated.empty());
  const std::vector<uint64_t> &first = fake.launches[0].params, &second = fake.launches[1].params;
  CHECK(first[0] == address(memory()));
  CHECK(first[1] == second[1]);
  CHECK(first[2] == 3);
  CHECK(uint32_t(first[3]) == 40);
  // x[1:, 2]
  CHECK(second[2] == address(memory() + (4 + 2) * 4));
  CHECK(second[3] == 4);
}

TEST_CASE("a plan's kernels start early behind each other, the first only where calls do") {
  FakeCuda &fake = fakeCuda();
  PlanTexts texts = planTexts();
  Opened opened({texts.op}, texts.launched);
  PlanCall call;
  REQUIRE(tilegym_call(opened.package, 0, call.args, nullptr) == TILEGYM_OK);
  tilegym::UseEarlyLaunch scope;
  REQUIRE(tilegym_call(opened.package, 0, call.args, nullptr) == TILEGYM_OK);
  REQUIRE(fake.launches.size() == 4);
  const bool expected[] = {false, true, true, true};
  for (int i = 0; i < 4; ++i)
    CHECK(fake.launches[size_t(i)].early == expected[i]);
}

TEST_CASE("a plan in the caller's workspace") {
  FakeCuda &fake = fakeCuda();
  PlanTexts texts = planTexts();
  Opened opened({texts.op}, texts.launched);
  PlanCall call;
  size_t bytes = 0;
  REQUIRE(tilegym_workspace_size(opened.package, 0, call.args, &bytes) == TILEGYM_OK);
  CHECK(bytes == 512);
  char *space = memory() + (1 << 18);
  REQUIRE(tilegym_call_with_workspace(opened.package, 0, call.args, nullptr, space, bytes) == TILEGYM_OK);
  CHECK(fake.count("cuMemAllocAsync") == 0);
  CHECK(fake.count("cuMemFreeAsync") == 0);
  REQUIRE(fake.launches.size() == 2);
  CHECK(fake.launches[0].params[1] == address(space + 256));
  CHECK(tilegym_call_with_workspace(opened.package, 0, call.args, nullptr, space, 511) ==
        TILEGYM_INVALID_ARGUMENT);
  CHECK_THAT(tilegym_last_error(), Contains("total: the workspace has 511 bytes at") &&
                                       Contains("expected 512 at a multiple of 256"));
  CHECK(tilegym_call_with_workspace(opened.package, 0, call.args, nullptr, space + 128, 1000) ==
        TILEGYM_INVALID_ARGUMENT);
  CHECK(fake.launches.size() == 2);
  CHECK(tilegym_workspace_size(opened.package, 0, call.args, nullptr) == TILEGYM_INVALID_ARGUMENT);
  CHECK_THAT(tilegym_last_error(), Contains("the address for the size is null"));
}

TEST_CASE("an op without scratch needs no workspace") {
  fakeCuda();
  Opened opened(scaleOp());
  Given x(memory(), TILEGYM_F32, {3, 4}), y(memory() + (1 << 19), TILEGYM_F32, {3, 4});
  float s = 2;
  const void *args[] = {x.c(), nullptr, &s, nullptr, y.c()};
  size_t bytes = 1;
  REQUIRE(tilegym_workspace_size(opened.package, 0, args, &bytes) == TILEGYM_OK);
  CHECK(bytes == 0);
  CHECK(tilegym_call_with_workspace(opened.package, 0, args, nullptr, nullptr, 0) == TILEGYM_OK);
}

TEST_CASE("each launch takes the variant that its own tensors allow") {
  FakeCuda &fake = fakeCuda();
  PlanTexts texts = planTexts();
  Opened opened({texts.op}, texts.launched);
  PlanCall call(21); // rows of p are no whole vectors
  REQUIRE(tilegym_call(opened.package, 0, call.args, nullptr) == TILEGYM_OK);
  REQUIRE(fake.launches.size() == 2);
  CHECK(fake.launches[0].entry == "partial");
}

TEST_CASE("launches without blocks are none") {
  FakeCuda &fake = fakeCuda();
  PlanTexts texts = planTexts();
  texts.launched[0].variants.clear();
  VariantText v = planTexts().launched[0].variants[0];
  v.grid = {{number(0)}};
  texts.launched[0].variants = {v};
  Opened opened({texts.op}, texts.launched);
  PlanCall call;
  REQUIRE(tilegym_call(opened.package, 0, call.args, nullptr) == TILEGYM_OK);
  REQUIRE(fake.launches.size() == 1);
  CHECK(fake.launches[0].entry == "combine");
}

TEST_CASE("a capture takes a plan that was prepared") {
  FakeCuda &fake = fakeCuda();
  PlanTexts texts = planTexts();
  Opened opened({texts.op}, texts.launched);
  PlanCall call;
  void *stream = reinterpret_cast<void *>(size_t(64));
  fake.capturing = {stream};
  CHECK(tilegym_call(opened.package, 0, call.args, stream) == TILEGYM_INVALID_ARGUMENT);
  CHECK_THAT(tilegym_last_error(), Contains("call tilegym_prepare before the capture"));
  CHECK(fake.launches.empty());
  CHECK(fake.count("cuMemAllocAsync") == 0);
  REQUIRE(tilegym_prepare(opened.package, 0, call.args) == TILEGYM_OK);
  CHECK(fake.launches.empty());
  CHECK(fake.count("cuMemAllocAsync") == 0);
  REQUIRE(tilegym_call(opened.package, 0, call.args, stream) == TILEGYM_OK);
  CHECK(fake.launches.size() == 2);
}

TEST_CASE("what a plan is refused for") {
  struct Row {
    const char *text;
    TilegymStatus status;
    std::function<void(PlanTexts &)> change;
    int64_t rows = 20;
  };
  const Row rows[] = {
      {"total: p: axis 0 has extent 3, expected S = 4", TILEGYM_INVALID_ARGUMENT,
       [](PlanTexts &t) { t.op.variants[0].launches[0].dims = {{number(4)}}; }},
      {"total: n: 4294967296 does not fit i32", TILEGYM_INVALID_ARGUMENT,
       [](PlanTexts &t) { t.op.variants[0].launches[0].scalars = {{number(int64_t(1) << 32)}}; }},
      {"total: p: an extent of this scratch buffer is negative", TILEGYM_INVALID_ARGUMENT,
       [](PlanTexts &t) { t.op.variants[0].scratch[1].extents[0] = {number(-1)}; }},
      {"total: p: this scratch buffer is larger than any memory", TILEGYM_INVALID_ARGUMENT,
       [](PlanTexts &t) { t.op.variants[0].scratch[1].extents[0] = {number(int64_t(1) << 60)}; }},
      {"total: p: division by zero", TILEGYM_INVALID_ARGUMENT,
       [](PlanTexts &t) {
         t.op.variants[0].scratch[1].extents[0] = {number(1), number(0), inst(OpCode::FloorDivI)};
       }},
      {"total: x: the plan takes a part that lies outside of it", TILEGYM_INVALID_ARGUMENT,
       [](PlanTexts &t) { t.op.variants[0].launches[1].tensors[1].axes[1].start = {number(4)}; }},
      {"total: x: the plan takes a part that lies outside of it", TILEGYM_INVALID_ARGUMENT,
       [](PlanTexts &t) { t.op.variants[0].launches[1].tensors[1].axes[0].start = {number(-1)}; }},
      {"total: the package has no variant of combine for these arguments: compile the op anew",
       TILEGYM_NO_VARIANT,
       [](PlanTexts &t) { t.launched[1].variants[0].constDims = {99, kRunTime, kRunTime}; }},
      {"total: no code for this GPU (Fake H, sm_90); the package has sm_80, sm_90: compile it with --arch "
       "for this GPU",
       TILEGYM_NO_IMAGE, [](PlanTexts &t) { t.launched[1].variants[0].images[0].arch = 80; }},
  };
  for (const Row &row : rows) {
    FakeCuda &fake = fakeCuda();
    PlanTexts texts = planTexts();
    row.change(texts);
    Opened opened({texts.op}, texts.launched);
    PlanCall call(row.rows);
    CHECK(tilegym_call(opened.package, 0, call.args, nullptr) == row.status);
    CHECK(std::string(tilegym_last_error()) == row.text);
    CHECK(fake.launches.empty());
    CHECK(fake.allocated.empty());
  }
}

TEST_CASE("scratch memory goes back where a launch fails") {
  FakeCuda &fake = fakeCuda();
  PlanTexts texts = planTexts();
  Opened opened({texts.op}, texts.launched);
  PlanCall call;
  fake.failures["cuMemAllocAsync"] = 2;
  CHECK(tilegym_call(opened.package, 0, call.args, nullptr) == TILEGYM_CUDA_ERROR);
  CHECK_THAT(tilegym_last_error(), Contains("total: allocating 512 bytes of scratch memory"));
  fake.failures = {{"cuLaunchKernelEx", 1}};
  CHECK(tilegym_call(opened.package, 0, call.args, nullptr) == TILEGYM_CUDA_ERROR);
  CHECK_THAT(tilegym_last_error(), Contains("total: launching partial_fast with 3 blocks"));
  CHECK(fake.allocated.empty());
}

TEST_CASE("what is said of a plan") {
  fakeCuda();
  PlanTexts texts = planTexts();
  Opened opened({texts.op}, texts.launched);
  PlanCall call;
  const char *text = nullptr;
  REQUIRE(tilegym_explain(opened.package, 0, call.args, &text) == TILEGYM_OK);
  CHECK(std::string(text) == "total_split: warps=4, a plan of 2 launches, 512 bytes of scratch memory");
}

TEST_CASE("plans that do not hold together are refused") {
  const std::pair<const char *, std::function<void(PlanTexts &)>> rows[] = {
      {"a launch that does not match its op", [](PlanTexts &t) { t.op.variants[0].launches[0].op = 2; }},
      {"a launch that does not match its op",
       [](PlanTexts &t) { t.op.variants[0].launches[0].tensors.clear(); }},
      {"a launch that does not match its op",
       [](PlanTexts &t) { t.op.variants[0].launches[0].dims.clear(); }},
      {"a launch that does not match its op",
       [](PlanTexts &t) { t.op.variants[0].launches[0].scalars.clear(); }},
      {"a launch that does not match its op",
       [](PlanTexts &t) { t.op.variants[0].launches[0].tensors[0].scratch = 2; }},
      {"a launch that does not match its op",
       [](PlanTexts &t) { t.op.variants[0].launches[1].tensors[1].tensor = 2; }},
      {"a launch that does not match its op",
       [](PlanTexts &t) { t.op.variants[0].launches[1].tensors[1].axes[0].axis = 2; }},
      {"a launch that does not match its op", [](PlanTexts &t) { t.launched[0].tensors[0].dims.pop_back(); }},
      {"an unknown dtype", [](PlanTexts &t) { t.op.variants[0].scratch[0].dtype = 15; }},
      {"a scratch buffer that is out of range",
       [](PlanTexts &t) { t.op.variants[0].scratch[0].extents.resize(9, {number(1)}); }},
      {"a plan with too many launches or scratch buffers",
       [](PlanTexts &t) { t.op.variants[0].scratch.resize(17, t.op.variants[0].scratch[0]); }},
      {"a plan with too many launches or scratch buffers",
       [](PlanTexts &t) { t.launched[0].variants[0].launches = {{1}}; }},
  };
  for (const auto &[text, change] : rows) {
    PlanTexts texts = planTexts();
    change(texts);
    std::string block = PackageBuilder().build({texts.op}, texts.launched);
    std::vector<uint64_t> words((block.size() + 7) / 8);
    std::memcpy(words.data(), block.data(), block.size());
    TilegymPackage *package = nullptr;
    CHECK(tilegym_package_open(words.data(), block.size(), &package) == TILEGYM_BAD_PACKAGE);
    CHECK_THAT(tilegym_last_error(), Contains(text));
  }
}
