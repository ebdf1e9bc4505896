// SPDX-License-Identifier: MIT
// Tensor maps from a package's records and a call's arguments to the driver.
#include "tests/unit/runtime/Calls.h"
#include "tests/unit/runtime/Fake.h"

using namespace tilegym::testing;
using Catch::Contains;

namespace {

/// mapped(x: T[*R, N]) -> y: T[*R, N]: a tensor map of x with boxes of 64 x 32, and one of y whose rows have 512 elements, whatever N is.
OpText mappedOp() {
  OpText o;
  o.name = "mapped";
  o.typeVars = {{"T", {BF16, F32}}};
  o.dims = {{"R", {}, true}, {"N"}};
  o.tensors = {{"x", Role::Input, 0, {{0, false, true}, {1}}},
               {"y", Role::Output, 0, {{0, false, true}, {1}}}};
  o.kernels = {{"only"}};
  for (uint8_t dtype : {BF16, F32}) {
    VariantText v;
    v.dtypes = {dtype};
    v.facts = kFactsFast;
    v.tensorFacts = {kUnitInner | kAligned, 0};
    v.images = {{80, 1, 0, std::string("3 ptx\0", 6)}};
    v.maps = {{0, 128, {{1, 0, 64, 0, 0}, {0, 0, 32, 0, 0}}},
              {1, 0, {{kNone, 0, 8, 0, 512}, {0, 0, 1, 0, 0}}}};
    v.layout = {{ParamKind::TensorMap, 1, 0}, {ParamKind::Dim, 1, 0}, {ParamKind::TensorMap, 0, 0}};
    o.variants.push_back(v);
  }
  return o;
}

TilegymStatus callMapped(const Opened &opened, int32_t dtype, std::vector<int64_t> shape,
                         std::vector<int64_t> strides = {}) {
  Given x(memory(), dtype, shape, strides), y(memory() + (1 << 19), dtype, shape);
  const void *args[] = {x.c(), y.c()};
  return tilegym_call(opened.package, 0, args, nullptr);
}

std::string mapCall(FakeCuda &fake, size_t which) {
  std::vector<std::string> found;
  for (const std::string &call :
       fake.calls) // without the questions after the form of maps, which are about no tensor
    if (call.compare(0, 22, "cuTensorMapEncodeTiled") == 0 && call.find(" at 1100585369600 ") == call.npos)
      found.push_back(call.substr(23));
  REQUIRE(which < found.size());
  return found[which];
}

} // namespace

TEST_CASE("tensor maps are made of extents, strides and the address") {
  FakeCuda &fake = fakeCuda();
  Opened opened(mappedOp());
  // This driver's maps have no form, which costs each variant's first call a question.
  REQUIRE(callMapped(opened, TILEGYM_BF16, {4, 3, 200}, {624, 208, 1}) == TILEGYM_OK);
  std::string x = std::to_string(reinterpret_cast<uint64_t>(memory())),
              y = std::to_string(reinterpret_cast<uint64_t>(memory() + (1 << 19)));
  CHECK(mapCall(fake, 0) ==
        "type 9 at " + x + " extents [200,12] strides [416] box [64,32] steps [1,1] modes 0320");
  CHECK(mapCall(fake, 2) ==
        "type 9 at " + y + " extents [512,12] strides [400] box [8,1] steps [1,1] modes 0020");
  // In the order of parameters, which need not be that of the maps.
  CHECK(fake.launches[0].params == std::vector<uint64_t>{0x0606060606060606, 200, 0x0404040404040404});
  REQUIRE(callMapped(opened, TILEGYM_F32, {3, 200}) == TILEGYM_OK);
  CHECK(mapCall(fake, 4) ==
        "type 7 at " + x + " extents [200,3] strides [800] box [64,32] steps [1,1] modes 0320");
}

TEST_CASE("an axis of extent 1 has any stride in a tensor map, and one without elements has no map") {
  FakeCuda &fake = fakeCuda();
  Opened opened(mappedOp());
  REQUIRE(callMapped(opened, TILEGYM_BF16, {1, 64}, {3, 1}) == TILEGYM_OK);
  CHECK_THAT(mapCall(fake, 0), Contains(" extents [64,1] strides [16] "));
  size_t before = fake.count("cuTensorMapEncodeTiled");
  REQUIRE(callMapped(opened, TILEGYM_BF16, {3, 0}, {8, 1}) == TILEGYM_OK);
  CHECK(fake.count("cuTensorMapEncodeTiled") == before + 1); // y's, whose extent is a number
  CHECK(fake.launches.back().params[2] == 0);
}

TEST_CASE("a tensor map that the driver does not take is the call's error") {
  FakeCuda &fake = fakeCuda();
  Opened opened(mappedOp());
  fake.failures["cuTensorMapEncodeTiled"] = 1;
  CHECK(callMapped(opened, TILEGYM_BF16, {3, 64}) == TILEGYM_CUDA_ERROR);
  CHECK_THAT(tilegym_last_error(),
             Contains("mapped: describing x to the copy engine failed: CUDA_ERROR_INVALID_VALUE"));
  CHECK(fake.launches.empty());
}

TEST_CASE("the driver makes a variant's maps once, whatever the pointers, extents and strides of calls") {
  FakeCuda &fake = fakeCuda();
  fake.packsTensorMaps = true;
  Opened opened(mappedOp());
  REQUIRE(callMapped(opened, TILEGYM_BF16, {3, 64}) == TILEGYM_OK);
  size_t before = fake.count("cuTensorMapEncodeTiled");
  CHECK(before > 100); // each bit was asked about
  for (int64_t rows = 1; rows < 50; ++rows) {
    char *at = memory() + 4096 * rows;
    int64_t n = 64 + 8 * rows;
    Given x(at, TILEGYM_BF16, {rows, n}, {n + 8, 1}), y(memory() + (1 << 19), TILEGYM_BF16, {rows, n});
    const void *args[] = {x.c(), y.c()};
    REQUIRE(tilegym_call(opened.package, 0, args, nullptr) == TILEGYM_OK);
    CHECK(fake.launches.back().params[2] == reinterpret_cast<uint64_t>(at));
  }
  CHECK(fake.count("cuTensorMapEncodeTiled") == before);
  // Of another variant: a base, and maps at random that check it.
  REQUIRE(callMapped(opened, TILEGYM_F32, {3, 64}) == TILEGYM_OK);
  CHECK(fake.count("cuTensorMapEncodeTiled") - before < 40);
}

TEST_CASE("a first call whose map the driver refuses teaches nothing") {
  FakeCuda &fake = fakeCuda();
  fake.packsTensorMaps = true;
  Opened opened(mappedOp());
  fake.failures["cuTensorMapEncodeTiled"] = 1;
  CHECK(callMapped(opened, TILEGYM_BF16, {3, 64}) == TILEGYM_CUDA_ERROR);
  fake.failures.clear();
  REQUIRE(callMapped(opened, TILEGYM_BF16, {3, 64}) == TILEGYM_OK);
  size_t before = fake.count("cuTensorMapEncodeTiled");
  REQUIRE(callMapped(opened, TILEGYM_BF16, {4, 64}) == TILEGYM_OK);
  CHECK(fake.count("cuTensorMapEncodeTiled") == before);
}
