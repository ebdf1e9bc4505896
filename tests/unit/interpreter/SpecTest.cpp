// SPDX-License-Identifier: MIT
// Whole ops from the specs folder: kernels against their references, in every dtype.
#include "tests/unit/interpreter/Spec.h"
#include <catch2/catch.hpp>

using namespace tilegym;
using namespace tilegym::interp;
using namespace tilegym::interp::test;

namespace {
std::shared_ptr<const sem::OpModel> spec(const std::string &name) {
  return analyzeText(readFile(std::string(TILEGYM_SOURCE_DIR) + "/specs/" + name + ".tile"));
}
double tolerance(DType dtype) { return dtype == DType::F32 ? 4e-6 : dtype == DType::F16 ? 1e-3 : 8e-3; }
} // namespace

TEST_CASE("softmax: both kernels agree with the reference") {
  auto op = spec("softmax");
  for (DType dtype : {DType::F32, DType::F16, DType::BF16})
    for (Dims shape : {Dims{7, 63}, Dims{2, 3, 100}, Dims{1}, Dims{5, 0}}) {
      Call call(op);
      call.tensor("x", noise(dtype, shape));
      RunResult expected = call.reference(), resident = call.kernel("resident", {{"BM", 2}}, {}, true),
                streaming = call.kernel("streaming", {{"BN", 32}}, {}, true);
      CHECK(worst(call.output(resident, "y"), call.output(expected, "y")) <= tolerance(dtype));
      CHECK(worst(call.output(streaming, "y"), call.output(expected, "y")) <= tolerance(dtype));
    }
}

TEST_CASE("softmax of a hand-computed row") {
  Call call(spec("softmax"));
  call.tensor("x", HostTensor::fromDoubles(DType::F32, {2, 2}, {0, 0, 0, -INFINITY}));
  CHECK(call.values(call.reference(), "y") == std::vector<double>{0.5, 0.5, 1, 0});
  CHECK(call.values(call.kernel("streaming", {{"BN", 16}}), "y") == std::vector<double>{0.5, 0.5, 1, 0});
}
