// SPDX-License-Identifier: MIT
// A generated header in use: its C functions stand here over a hand-made package, as the generated object's would; on the fake driver and in the
// interpreter. tests/unit/emit holds the header to what the compiler writes.
#include "tests/unit/runtime/Calls.h"
#include "tests/unit/runtime/Fake.h"
#include "tests/unit/runtime/SpecPackage.h"
#include "tests/unit/runtime/data/norms.h.golden"
#include "tilegym/reference.h"
#include <cmath>

using namespace tilegym::testing;

static TilegymPackage *opened = nullptr;

extern "C" {
TilegymStatus norms_package(TilegymPackage **package) {
  *package = opened;
  return TILEGYM_OK;
}
TilegymStatus norms_norm(const TilegymTensor *x, const TilegymTensor *w, float eps, int64_t mode,
                         const TilegymTensor *y, const TilegymTensor *rstd, void *stream) {
  const void *args[] = {x, w, &eps, &mode, y, rstd};
  return tilegym_call(opened, norms_OP_norm, args, stream);
}
}

namespace {

/// x and y; x, w and y; x, y and rstd.
struct Package {
  Opened package{opOfSpec(sourceFile("tests/unit/runtime/data/norm.tile"), {}, {0b0101, 0b0111, 0b1101})};
  Package() { opened = package.package; }
  ~Package() { opened = nullptr; }
};

void *const stream = reinterpret_cast<void *>(size_t(64));

} // namespace

TEST_CASE("outputs are allocated in the stream's order and given back in it") {
  FakeCuda &fake = fakeCuda();
  OpText op = opOfSpec(sourceFile("tests/unit/runtime/data/norm.tile"), {}, {0b0101, 0b1101});
  for (VariantText &v : op.variants)
    v.images = {{80, 1, 0, std::string("0 ptx\0", 6)}};
  Opened package(op);
  opened = package.package;
  {
    auto [status, y, rstd] = norms::norm(tilegym::allocate, {memory(), TILEGYM_F32, {2, 3, 4}}, {}, 1e-5f, 0,
                                         tilegym::Want::No, stream);
    REQUIRE(status.message() == "");
    CHECK(fake.count("cuMemAllocAsync 96") == 1);
    CHECK((y.rank() == 3 && y.extent(0) == 2 && y.extent(1) == 3 && y.extent(2) == 4));
    CHECK(y.dtype() == TILEGYM_F32);
    CHECK(y.data() != nullptr);
    CHECK_FALSE(rstd);
    CHECK(fake.launches.size() == 1);
    CHECK(fake.launches[0].stream == stream);
    CHECK(fake.count("cuMemFreeAsync") == 0);
  }
  CHECK(fake.count("cuMemFreeAsync on a stream") == 1);
  {
    norms::norm_result both = norms::norm(tilegym::allocate, {memory(), TILEGYM_F32, {3, 4}}, {}, 1e-5f, 0,
                                          tilegym::Want::Yes, stream);
    REQUIRE(both.status);
    CHECK((both.rstd.rank() == 1 && both.rstd.extent(0) == 3));
    // Moved, not copied; assigned over; released.
    tilegym::Tensor moved = std::move(both.y);
    CHECK_FALSE(both.y);
    moved = std::move(both.rstd);
    CHECK(fake.count("cuMemFreeAsync") == 2);
    void *released = moved.release();
    CHECK_FALSE(moved);
    CHECK(fake.allocated.size() == 1);
    CHECK(tilegym_free(released, stream) == TILEGYM_OK);
  }
  CHECK(fake.allocated.empty());
  opened = nullptr;
}

TEST_CASE("a call that fails says why, and leaves nothing behind") {
  FakeCuda &fake = fakeCuda();
  Package package;
  auto wrong = norms::norm(tilegym::allocate, {memory(), TILEGYM_F32, {2, 4}}, {memory(), TILEGYM_F32, {5}});
  CHECK_FALSE(wrong.status);
  CHECK(wrong.status.code() == TILEGYM_INVALID_ARGUMENT);
  CHECK(wrong.status.message() == "norm: w: axis 0 has extent 5, expected N = 4");
  CHECK_THROWS_WITH(wrong.status.orThrow(), "norm: w: axis 0 has extent 5, expected N = 4");
  CHECK(fake.count("cuMemAllocAsync") == 0);
  fake.failures = {{"cuMemAllocAsync", 2}};
  auto full = norms::norm(tilegym::allocate, {memory(), TILEGYM_F32, {2, 4}});
  CHECK(full.status.message() ==
        "allocating 32 bytes on the GPU failed: CUDA_ERROR_OUT_OF_MEMORY (2): no description");
  CHECK(fake.launches.empty());
}

TEST_CASE("the interpreter gives the numbers, outputs given or allocated") {
  tilegym_use_reference(1);
  {
    Package package;
    float x[] = {3, 4}, w[] = {1, 2}, y[2];
    tilegym::Status status =
        norms::norm({x, TILEGYM_F32, {1, 2}}, {y, TILEGYM_F32, {1, 2}}, {w, TILEGYM_F32, {2}}, 0.0f);
    REQUIRE(status.message() == "");
    CHECK(y[0] == Approx(0.848528137423857));
    CHECK(y[1] == Approx(2.262741699796952));
    auto made = norms::norm(tilegym::allocate, {x, TILEGYM_F32, {1, 2}}, {w, TILEGYM_F32, {2}}, 0.0f, 1,
                            tilegym::Want::Yes);
    REQUIRE(made.status.message() == "");
    CHECK(static_cast<float *>(made.y.data())[1] == Approx(2 * 2.262741699796952));
    CHECK(static_cast<float *>(made.rstd.data())[0] == Approx(1 / std::sqrt(12.5)));
    // An op's output is the next one's input.
    auto next = norms::norm(tilegym::allocate, made.y);
    REQUIRE(next.status.message() == "");
    CHECK(next.y.extent(1) == 2);
    auto none = norms::norm(tilegym::allocate, {nullptr, TILEGYM_F32, {0, 2}});
    CHECK(none.status);
    CHECK(none.y);
    CHECK(none.y.data() == nullptr);
  }
  tilegym_use_reference(0);
}

TEST_CASE("views are checked when they are made") {
  CHECK_THROWS_WITH(tilegym::TensorView(memory(), TILEGYM_F32, {1, 2}, {1}),
                    "a TensorView has 2 extents but 1 strides");
  CHECK_THROWS_WITH(tilegym::TensorView(memory(), TILEGYM_F32, 9, nullptr),
                    "a TensorView has rank 9, expected 0 .. 8");
  tilegym::TensorView view(memory(), TILEGYM_F32, {2, 0, 4});
  CHECK((view.strideOf(0) == 4 && view.strideOf(1) == 4 && view.strideOf(2) == 1));
  CHECK(tilegym::TensorView().c() == nullptr);
}
