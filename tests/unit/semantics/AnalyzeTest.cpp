// SPDX-License-Identifier: MIT
// The interface of the first specs as analysis sees it: every field that later parts read.
#include "compiler/semantics/Derived.h"
#include "compiler/semantics/SpecLookup.h"
#include <catch2/catch.hpp>

using namespace tilegym;
using namespace tilegym::sem;

static std::shared_ptr<const OpModel> load(const std::string &name) {
  DiagnosticSink sink;
  SpecFolders folders{{std::string(TILEGYM_SOURCE_DIR) + "/specs"}};
  auto op = loadSpec(name, folders, sink);
  INFO(renderAll(sink));
  REQUIRE(op);
  return op;
}

TEST_CASE("softmax's interface") {
  auto op = load("softmax");
  CHECK(op->name == "softmax");
  REQUIRE(op->typeVars.size() == 1);
  CHECK(op->typeVars[0].choices == std::vector<DType>{DType::F32, DType::F16, DType::BF16});
  CHECK_FALSE(op->typeVars[0].isArgument);
  REQUIRE(op->dims.size() == 2);
  CHECK(op->dims[0].isGroup);
  CHECK(op->dims[1].bindTensor == 0);
  CHECK(op->dims[1].bindAxis == 1);
  REQUIRE(op->tensors.size() == 2);
  CHECK(op->tensors[1].role == Role::Output);
  CHECK(op->arguments.size() == 2);
  REQUIRE(op->kernels.size() == 2);
  CHECK(op->kernels[0].tileParams == std::vector<std::string>{"BM", "BN"});
  CHECK(op->kernels[0].derived[0] == nullptr);
  CHECK(op->kernels[0].derived[1] != nullptr);
  CHECK(op->kernels[1].guard == nullptr);
}

TEST_CASE("softmax's variants") {
  auto op = load("softmax");
  auto interfaces = enumerateInterfaces(*op);
  REQUIRE(interfaces.size() == 3);
  CHECK(interfaces[2].dtypes == std::vector<DType>{DType::BF16});
  CHECK(interfaces[0].kernel == -1);
  auto derived = enumerateDerived(*op, interfaces[0], 0);
  std::vector<int64_t> values;
  for (const Specialization &spec : derived) {
    REQUIRE(spec.params.size() == 1);
    CHECK(spec.params[0].name == "BN");
    values.push_back(spec.params[0].value);
  }
  CHECK(values ==
        std::vector<int64_t>{128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144});
  DiagnosticSink sink;
  auto points = candidates(*op, derived[2], "sm_80", sink);
  CHECK(points.size() == 12);
  CHECK(points[0].params == std::vector<NamedInt>{{"BM", 1}, {"BN", 512}});
  CHECK(points[0].knobs == std::vector<NamedInt>{{"warps", 4}});
  CHECK(points[11].params == std::vector<NamedInt>{{"BM", 8}, {"BN", 512}});
  CHECK(points[11].knobs == std::vector<NamedInt>{{"warps", 16}});
  auto free = enumerateDerived(*op, interfaces[0], 1);
  REQUIRE(free.size() == 1);
  CHECK(free[0].params.empty());
}

TEST_CASE("the first specs have no errors") {
  for (const char *name : {"softmax", "vector_add", "rms_norm"})
    CHECK(load(name)->name == name);
}
