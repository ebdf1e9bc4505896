// SPDX-License-Identifier: MIT
// Which variant and which image a call takes, and what is said where there is none.
#include "runtime/src/VariantChoice.h"
#include "tests/unit/runtime/Calls.h"
#include <functional>

using namespace tilegym::testing;
using namespace tilegym::runtime;

namespace {

struct Setting {
  OpText op = scaleOp();
  std::vector<int64_t> shape = {3, 4};
  int64_t offset = 0, smCount = 0;
  int32_t dtype = TILEGYM_F32;
  bool withB = false;
  int64_t fast = 1;
  int arch = 90;
};

/// "entry arch kind" of what is chosen, or the refusal.
std::string chosen(const std::function<void(Setting &)> &change) {
  Setting s;
  change(s);
  Opened opened(s.op);
  Given x(memory() + s.offset, s.dtype, s.shape), b(memory() + (1 << 18), s.dtype, {s.shape.back()}),
      y(memory() + (1 << 19), s.dtype, s.shape);
  const void *args[] = {x.c(), s.withB ? b.c() : nullptr, nullptr, &s.fast, y.c()};
  auto call = opened.call();
  REQUIRE(call->bind(args, false) == TILEGYM_OK);
  call->smCount = s.smCount;
  Choice choice;
  if (choose(*call, s.arch, "Fake", &choice) != TILEGYM_OK)
    return tilegym_last_error();
  return std::string(opened.table.text(choice.variant->entry)) + " " + std::to_string(choice.image->arch) +
         (choice.image->exact ? "a" : "") + (choice.image->kind ? " ptx" : " cubin");
}

void images(Setting &s, std::vector<ImageText> list) {
  for (VariantText &v : s.op.variants)
    v.images = list;
}

} // namespace

TEST_CASE("facts decide between fast and general") {
  CHECK(chosen([](Setting &) {}) == "fast_f32 80 ptx");
  CHECK(chosen([](Setting &s) { s.offset = 4; }) == "general_f32 80 ptx");
  CHECK(chosen([](Setting &s) { s.shape = {3, 5}; }) == "general_f32 80 ptx");
  CHECK(chosen([](Setting &s) { s.withB = true; }) == "fast_f32_b 80 ptx");
  CHECK(chosen([](Setting &s) { s.dtype = TILEGYM_F16; }) == "general_f16 80 ptx");
  CHECK(chosen([](Setting &s) {
          s.dtype = TILEGYM_F16;
          s.shape = {3, 8};
        }) == "fast_f16 80 ptx");
}

TEST_CASE("images: machine code first, of the same family, PTX for later GPUs") {
  CHECK(chosen([](Setting &s) { s.arch = 80; }) == "fast_f32 80 cubin");
  CHECK(chosen([](Setting &s) { s.arch = 89; }) == "fast_f32 80 cubin");
  CHECK(chosen([](Setting &s) { s.arch = 120; }) == "fast_f32 80 ptx");
  CHECK(chosen([](Setting &s) { s.arch = kAnyArch; }) == "fast_f32 80 cubin");
  const std::vector<ImageText> all = {{80, 0, 0, "c"}, {80, 1, 0, std::string("p\0", 2)}, {90, 0, 1, "h"}};
  CHECK(chosen([&](Setting &s) { images(s, all); }) == "fast_f32 90a cubin");
  CHECK(chosen([&](Setting &s) {
          images(s, all);
          s.arch = 100;
        }) == "fast_f32 80 ptx");
  CHECK(chosen([](Setting &s) { s.arch = 75; }) ==
        "scale: no code for this GPU (Fake, sm_75); the package has PTX for sm_80, sm_80: compile it with "
        "--arch for this GPU");
  CHECK(chosen([](Setting &s) {
          images(s, {{90, 0, 1, "h"}});
          s.arch = 103;
        }) ==
        "scale: no code for this GPU (Fake, sm_103); the package has sm_90a: compile it with --arch for this "
        "GPU");
  CHECK(chosen([](Setting &s) { images(s, {}); }) ==
        "scale: no code for this GPU (Fake, sm_90); the package has "
        "none: compile it with --arch for this GPU");
  // Code for this very GPU goes before facts.
  CHECK(chosen([](Setting &s) {
          for (VariantText &v : s.op.variants)
            if (v.facts == kFactsGeneral)
              v.images = {{90, 0, 1, "h"}};
        }) == "general_f32 90a cubin");
}

TEST_CASE("no variant for the dtypes, consts or optional tensors") {
  CHECK(chosen([](Setting &s) { s.fast = 0; }) == "scale: the package has no variant for T = f32, fast = 0, "
                                                  "R = 3, N = 4, without b; it has 8 variants: compile "
                                                  "the op for this case, too");
  CHECK(chosen([](Setting &s) {
          std::erase_if(s.op.variants, [](const VariantText &v) { return v.present == 7; });
          s.withB = true;
        }) ==
        "scale: the package has no variant for T = f32, fast = 1, R = 3, N = 4, with b; it has 4 variants: "
        "compile the op for this case, too");
}

TEST_CASE("guards, derived parameters and const dims") {
  // Small N by the first kernel, whose BN = pow2ceil(N) is compiled for 4 and 8; the rest by the second.
  auto twoKernels = [](Setting &s) {
    s.op.kernels = {
        {"resident", {dim(1), number(16), inst(OpCode::LeI)}, {"BN"}, {{dim(1), inst(OpCode::Pow2CeilI)}}},
        {"streaming", {}, {"BN"}, {{}}}};
    VariantText v = s.op.variants[0];
    s.op.variants.clear();
    for (int64_t bn : {4, 8}) {
      v.entry = "resident" + std::to_string(bn);
      v.params = {bn};
      s.op.variants.push_back(v);
    }
    v.kernel = 1;
    v.entry = "streaming";
    v.params = {1024};
    s.op.variants.push_back(v);
  };
  auto at = [&](int64_t n) {
    return chosen([&](Setting &s) {
      twoKernels(s);
      s.shape = {3, n};
    });
  };
  CHECK(at(4) == "resident4 80 ptx");
  CHECK(at(5) == "resident8 80 ptx");
  CHECK(at(16) == "streaming 80 ptx"); // the guard holds, but 16 was not compiled
  CHECK(at(1000) == "streaming 80 ptx");
  CHECK(chosen([&](Setting &s) {
          twoKernels(s);
          s.op.kernels[1].guard = {number(0)};
          s.shape = {3, 1000};
        }) ==
        "scale: no kernel takes this call (T = f32, fast = 1, R = 3, N = 1000, without b); every kernel's "
        "`when` is false");
  // A guard that cannot be evaluated counts as no.
  CHECK(chosen([&](Setting &s) {
          twoKernels(s);
          s.op.kernels[0].guard = {number(1), number(0), inst(OpCode::FloorDivI)};
        }) == "streaming 80 ptx");
  // Guards see the device.
  auto manySms = [&](int64_t count) {
    return chosen([&](Setting &s) {
      twoKernels(s);
      s.op.kernels[0].guard = {inst(OpCode::PushSmCount), number(100), inst(OpCode::GeI)};
      s.smCount = count;
    });
  };
  CHECK(manySms(132) == "resident4 80 ptx");
  CHECK(manySms(20) == "streaming 80 ptx");
  auto listed = [&](int64_t n) {
    return chosen([&](Setting &s) {
      s.op.dims[1].choices = {4, 8};
      for (VariantText &v : s.op.variants)
        v.constDims = {kRunTime, v.facts == kFactsFast ? 4 : 8};
      s.shape = {3, n};
    });
  };
  CHECK(listed(4) == "fast_f32 80 ptx");
  CHECK(listed(8) == "general_f32 80 ptx");
}
