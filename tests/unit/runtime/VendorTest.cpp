// SPDX-License-Identifier: MIT
// The backend `vendor` on a cuBLASLt that multiplies on the host: products of all layouts against plain loops, what it declines, plans, workspaces.
#include "tilegym/vendor.h"
#include "tests/unit/runtime/Calls.h"
#include "tests/unit/runtime/Fake.h"
#include "tilegym/tilegym.hpp"
#include <random>

using namespace tilegym::testing;
using Catch::Contains;

namespace {

struct FakeProducts {
  int products, plans;
  void *workspace;
  uint32_t alignment;
};

FakeProducts &fakeProducts() {
  static auto *fake = [] {
    setenv("TILEGYM_CUBLASLT", FAKE_CUBLASLT, 1);
    setenv("TILEGYM_DISABLE_FALLBACK", "1", 1);
    void *library = dlopen(FAKE_CUBLASLT, RTLD_NOW);
    REQUIRE(library);
    return static_cast<FakeProducts *>(dlsym(library, "fakeProducts"));
  }();
  fakeCuda();
  return *fake;
}

/// layer(x: T[*R, K], w: T[N, K], bias: T[N]?, const activation: 0 | 1) -> y: T[*R, N], and batched(a: f32[Q, M, K], b: f32[Q, K, N]) -> c: f32[Q, M, N].
std::vector<OpText> productOps() {
  OpText layer;
  layer.name = "layer";
  layer.typeVars = {{"T", {F32, F16, I32}}, {"", {I32}}};
  layer.dims = {{"R", {}, true}, {"K"}, {"N"}};
  layer.tensors = {{"x", Role::Input, 0, {{0, false, true}, {1}}},
                   {"w", Role::Input, 0, {{2}, {1}}},
                   {"bias", Role::Input, 0, {{2}}, /*optional=*/true},
                   {"y", Role::Output, 0, {{0, false, true}, {2}}}};
  layer.scalars = {{"activation", 1, true, {0, 1}, 0}};
  layer.kernels = {{"only"}};
  VariantText v;
  v.dtypes = {F32, I32};
  v.consts = {0};
  layer.variants = {v};
  OpText batched;
  batched.name = "batched";
  batched.typeVars = {{"", {F32}}};
  batched.dims = {{"Q"}, {"M"}, {"K"}, {"N"}};
  batched.tensors = {{"a", Role::Input, 0, {{0}, {1}, {2}}},
                     {"b", Role::Input, 0, {{0}, {2}, {3}}},
                     {"c", Role::Output, 0, {{0}, {1}, {3}}}};
  batched.kernels = {{"only"}};
  VariantText w;
  w.dtypes = {F32};
  batched.variants = {w};
  return {layer, batched};
}

constexpr TilegymProduct kProducts[] = {{"layer", 0, 1, 2, 4, 0, 1, 3, 0},
                                        {"batched", 0, 1, -1, 2, 0, 0, -1, 0}};

float *room(int n) { return reinterpret_cast<float *>(memory()) + n * 60000; }

struct Layer {
  Given x, w, bias, y;
  int64_t activation = 0;
  bool withBias = true;
  Layer(std::vector<int64_t> rows, int64_t k, int64_t n)
      : x(room(0), TILEGYM_F32, with(rows, k)), w(room(1), TILEGYM_F32, {n, k}),
        bias(room(2), TILEGYM_F32, {n}), y(room(3), TILEGYM_F32, with(rows, n)) {
    std::mt19937 random(1);
    for (int i = 0; i < 3; ++i)
      for (int e = 0; e < 60000; ++e)
        room(i)[e] = float(int(random() % 7) - 3);
  }
  static std::vector<int64_t> with(std::vector<int64_t> shape, int64_t last) {
    shape.push_back(last);
    return shape;
  }
  TilegymStatus call(const Opened &o) {
    const void *args[] = {x.c(), w.c(), withBias ? bias.c() : nullptr, &activation, y.c()};
    return tilegym_call_on(o.package, 0, args, nullptr, TILEGYM_BACKEND_VENDOR);
  }
  std::string declined(const Opened &o) {
    CHECK(call(o) == TILEGYM_UNAVAILABLE);
    return tilegym_last_error();
  }
  /// Of two axes.
  bool isRight() {
    auto at = [](const Given &g, int64_t i, int64_t j) {
      bool packed = g.strides.empty();
      return static_cast<const float *>(
          g.tensor.data)[i * (packed ? g.shape[1] : g.strides[0]) + j * (packed ? 1 : g.strides[1])];
    };
    for (int64_t i = 0; i < y.shape[0]; ++i)
      for (int64_t j = 0; j < y.shape[1]; ++j) {
        float sum = withBias ? room(2)[j] : 0;
        for (int64_t k = 0; k < x.shape[1]; ++k)
          sum += at(x, i, k) * at(w, j, k);
        if (at(y, i, j) != sum)
          return false;
      }
    return true;
  }
};

} // namespace

TEST_CASE("products of every layout that cuBLASLt has a word for") {
  FakeProducts &fake = fakeProducts();
  Opened opened(productOps());
  REQUIRE(tilegym_add_vendor(kProducts, 2) == TILEGYM_OK);
  for (bool withBias : {false, true})
    for (bool turnX : {false, true})
      for (bool turnW : {false, true})
        for (auto [m, k, n] : {std::tuple(5, 7, 9), {1, 7, 9}, {5, 1, 9}, {5, 7, 1}, {1, 1, 1}}) {
          Layer l({m}, k, n);
          l.withBias = withBias;
          if (turnX)
            l.x.strides = {1, m + 3};
          else
            l.x.strides = {k + 2, 1};
          if (turnW)
            l.w.strides = {1, n + 1};
          l.y.strides = {n + 4, 1};
          REQUIRE(l.call(opened) == TILEGYM_OK);
          CHECK(l.isRight());
        }
  CHECK(fake.products == 40);
  Layer empty({0}, 4, 4); // nothing to do
  CHECK(empty.call(opened) == TILEGYM_OK);
  CHECK(fake.products == 40);
}

TEST_CASE("a batch, of which the second operand may be one for all") {
  fakeProducts();
  Opened opened(productOps());
  REQUIRE(tilegym_add_vendor(kProducts, 2) == TILEGYM_OK);
  for (bool shared : {false, true}) {
    Layer random({1}, 1, 1);
    Given a(room(0), TILEGYM_F32, {3, 4, 5}), b(room(1), TILEGYM_F32, {3, 5, 6}),
        c(room(3), TILEGYM_F32, {3, 4, 6});
    if (shared)
      b.strides = {0, 6, 1};
    const void *args[] = {a.c(), b.c(), c.c()};
    REQUIRE(tilegym_call_on(opened.package, 1, args, nullptr, TILEGYM_BACKEND_VENDOR) == TILEGYM_OK);
    for (int q = 0; q < 3; ++q)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 6; ++j) {
          float sum = 0;
          for (int k = 0; k < 5; ++k)
            sum += room(0)[q * 20 + i * 5 + k] * room(1)[(shared ? 0 : q * 30) + k * 6 + j];
          CHECK(room(3)[q * 24 + i * 6 + j] == sum);
        }
  }
}

TEST_CASE("what cuBLASLt does not take is declined, with the reason") {
  fakeProducts();
  Opened opened(productOps());
  REQUIRE(tilegym_add_vendor(kProducts, 2) == TILEGYM_OK);
  auto declined = [&](auto change) {
    Layer l({4}, 8, 8);
    change(l);
    return l.declined(opened);
  };
  CHECK(declined([](Layer &l) { l.activation = 1; }) ==
        "layer: vendor does not take this call: more than a product; it is implemented for tile, vendor");
  CHECK_THAT(declined([](Layer &l) { l.x.strides = {32, 2}; }),
             Contains("strides that cuBLASLt has no word for"));
  CHECK_THAT(declined([](Layer &l) { l.y.strides = {1, 4}; }),
             Contains("strides that cuBLASLt has no word for"));
  CHECK_THAT(declined([](Layer &l) {
               l.x.shape = l.y.shape = {2, 2, 8};
               l.x.strides = {64, 8, 1};
             }),
             Contains("leading axes that are not one"));
  CHECK_THAT(declined([](Layer &l) { l.x.shape[1] = l.w.shape[1] = 0; }), Contains("a product of nothing"));
  CHECK_THAT(declined([](Layer &l) { l.x.shape[1] = l.w.shape[1] = 13; }),
             Contains("cuBLASLt has no algorithm for it"));
  CHECK_THAT(declined([](Layer &l) {
               for (Given *g : {&l.x, &l.w, &l.bias, &l.y})
                 g->tensor.dtype = TILEGYM_I32;
             }),
             Contains("no dtype of cuBLASLt's that is used here"));
  Layer wrong({4}, 8, 8);
  wrong.w.shape = {8, 7};
  CHECK(wrong.call(opened) == TILEGYM_INVALID_ARGUMENT);
}

TEST_CASE("leading axes that merge are rows") {
  fakeProducts();
  Opened opened(productOps());
  REQUIRE(tilegym_add_vendor(kProducts, 2) == TILEGYM_OK);
  Layer l({2, 3}, 4, 5);
  REQUIRE(l.call(opened) == TILEGYM_OK);
  l.x.shape = {6, 4};
  l.y.shape = {6, 5};
  CHECK(l.isRight());
}

TEST_CASE("a plan is made once, for addresses as aligned as they are") {
  FakeProducts &fake = fakeProducts();
  Opened opened(productOps());
  REQUIRE(tilegym_add_vendor(kProducts, 2) == TILEGYM_OK);
  Layer l({4}, 8, 8);
  for (int i = 0; i < 5; ++i)
    REQUIRE(l.call(opened) == TILEGYM_OK);
  CHECK(fake.plans == 1);
  l.x.tensor.data = room(0) + 1;
  REQUIRE(l.call(opened) == TILEGYM_OK);
  CHECK((fake.plans == 2 && fake.alignment == 4));
}

TEST_CASE("the workspace is the caller's, or the pool's in the order of the stream") {
  FakeProducts &fake = fakeProducts();
  FakeCuda &cuda = fakeCuda();
  Opened opened(productOps());
  REQUIRE(tilegym_add_vendor(kProducts, 2) == TILEGYM_OK);
  Layer small({4}, 8, 8), large({4}, 8, 65);
  REQUIRE(small.call(opened) == TILEGYM_OK);
  CHECK(cuda.count("cuMemAllocAsync") == 0);
  REQUIRE(large.call(opened) == TILEGYM_OK);
  CHECK((cuda.count("cuMemAllocAsync 4096") == 1 && cuda.count("cuMemFreeAsync") == 1 &&
         cuda.allocated.empty()));
  tilegym_set_workspace(room(4), 4096);
  REQUIRE(large.call(opened) == TILEGYM_OK);
  CHECK((fake.workspace == room(4) && cuda.count("cuMemAllocAsync") == 1));
  tilegym_set_workspace(room(4), 4095);
  REQUIRE(large.call(opened) == TILEGYM_OK);
  CHECK(cuda.count("cuMemAllocAsync") == 2);
  tilegym_set_workspace(nullptr, 0);
}

TEST_CASE("without cuBLASLt the op goes to tile, after one warning") {
  setenv("TILEGYM_CUBLASLT", "no-such-library.so", 1);
  FakeCuda &cuda = fakeCuda();
  cuda.device = 1;
  std::vector<OpText> ops = productOps();
  ops[1].variants[0].images = {{80, 0, 0, "0 cubin"}};
  Opened opened(ops);
  REQUIRE(tilegym_add_vendor(kProducts, 2) == TILEGYM_OK);
  std::vector<std::string> lines;
  tilegym_set_log([](void *user, int32_t,
                     const char *text) { static_cast<std::vector<std::string> *>(user)->push_back(text); },
                  &lines);
  Given a(room(0), TILEGYM_F32, {3, 4, 5}), b(room(1), TILEGYM_F32, {3, 5, 6}),
      c(room(3), TILEGYM_F32, {3, 4, 6});
  const void *args[] = {a.c(), b.c(), c.c()};
  for (int i = 0; i < 2; ++i)
    REQUIRE(tilegym_call_on(opened.package, 1, args, nullptr, TILEGYM_BACKEND_VENDOR) == TILEGYM_OK);
  tilegym_set_log(nullptr, nullptr);
  CHECK(cuda.launches.size() == 2);
  REQUIRE(lines.size() == 1);
  CHECK_THAT(
      lines[0],
      Contains("batched: vendor does not take this call: no cuBLASLt: neither libcublasLt.so.13 nor .12"));
}

TEST_CASE("products that name no arguments of the op") {
  fakeProducts();
  Opened opened(productOps());
  TilegymProduct wrong = kProducts[0];
  wrong.c = 3; // a scalar
  REQUIRE(tilegym_add_vendor(&wrong, 1) == TILEGYM_OK);
  Layer l({4}, 8, 8);
  CHECK(l.call(opened) == TILEGYM_INVALID_ARGUMENT);
  CHECK(std::string(tilegym_last_error()) == "layer: its product names arguments that it does not have");
  wrong.op = nullptr;
  CHECK(tilegym_add_vendor(&wrong, 1) == TILEGYM_INVALID_ARGUMENT);
  CHECK(tilegym_add_vendor(nullptr, 1) == TILEGYM_INVALID_ARGUMENT);
}
