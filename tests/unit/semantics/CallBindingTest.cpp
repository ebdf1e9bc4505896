// SPDX-License-Identifier: MIT
// Calls bound to interfaces: dims, groups, broadcasts, lists, optional tensors, output shapes, and the text of every refusal.
#include "compiler/semantics/CallBinding.h"
#include "tests/unit/semantics/SpecText.h"

using namespace tilegym;
using namespace tilegym::sem;

namespace {

using Extents = std::vector<int64_t>;

struct Call {
  std::shared_ptr<const OpModel> op;
  CallShape shape;
  explicit Call(std::shared_ptr<const OpModel> model) : op(std::move(model)), shape(CallShape::of(*op)) {}
  Call &with(const std::string &name, Extents extents, DType dtype = DType::F32) {
    int64_t id = op->findTensor(name);
    REQUIRE(id >= 0);
    shape.tensors[size_t(id)].push_back({dtype, std::move(extents)});
    return *this;
  }
  Call &scalar(const std::string &name, Constant value) {
    int64_t id = op->findScalar(name);
    REQUIRE(id >= 0);
    shape.scalars[size_t(id)] = value;
    return *this;
  }
  BoundCall bound() {
    std::vector<CallError> errors;
    auto result = bindCall(*op, shape, errors);
    for (const CallError &error : errors)
      UNSCOPED_INFO(error.text());
    REQUIRE(result);
    return *result;
  }
  std::string error() {
    std::vector<CallError> errors;
    CHECK_FALSE(bindCall(*op, shape, errors));
    REQUIRE(errors.size() == 1);
    return errors[0].text();
  }
};

std::shared_ptr<const OpModel> norm() {
  static auto op = mustAnalyze(specAround(
      R"(
op norm(x: T[*R, N], w: T[N]?, eps: f32 = 1e-6, const mode: none | mean | sum = mean) -> (y: T[*R, N], rstd: f32[*R]?)
  where T: f32 | f16, N % 2 == 0 "rows are even"
)",
      "kernel a(BN = pow2ceil(N)) when N <= 300 { grid(1) }\nkernel only(BN) { grid(1) }\ntune only { BN in "
      "[1] }",
      "R = 1; N = 2; case \"c\" { x = [[1, 2]]; expect y = [[1, 2]] }; tolerance { f32: 0; f16: 0 }"));
  return op;
}

} // namespace

TEST_CASE("a call binds dims, consts and output shapes") {
  BoundCall call = Call(norm()).with("x", {2, 3, 8}).bound();
  CHECK(call.values.dims == Extents{6, 8});
  CHECK(call.groups[0] == Extents{2, 3});
  CHECK(call.spec.dtypes[0] == DType::F32);
  CHECK(call.spec.present == std::vector<bool>{true, false, true, false});
  CHECK(call.spec.consts[1] == Constant{int64_t(1)});
  CHECK(call.shapes[2] == std::vector<Extents>{{2, 3, 8}});
  CHECK(call.shapes[3].empty());
  CHECK(call.spec.kernel == -1);
}

TEST_CASE("a group may have no dims, and an optional output is asked for") {
  Call call(norm());
  call.with("x", {4});
  call.shape.wanted[3] = true;
  BoundCall bound = call.bound();
  CHECK(bound.values.dims == Extents{1, 4});
  CHECK(bound.shapes[2] == std::vector<Extents>{{4}});
  CHECK(bound.shapes[3] == std::vector<Extents>{{}});
}

TEST_CASE("derived parameters and guards of a call") {
  BoundCall small = Call(norm()).with("x", {1, 8}).bound(), large = Call(norm()).with("x", {1, 258}).bound();
  BoundCall huge = Call(norm()).with("x", {1, 400}).bound();
  CHECK(guardHolds(*norm(), 0, small, 3));
  CHECK(guardHolds(*norm(), 0, large, 3));
  CHECK_FALSE(guardHolds(*norm(), 0, huge, 3));
  CHECK(guardHolds(*norm(), 1, huge, 3));
  CHECK(deriveFor(*norm(), 0, small)->params == std::vector<NamedInt>{{"BN", 128}});
  CHECK(deriveFor(*norm(), 0, large)->params == std::vector<NamedInt>{{"BN", 512}});
  CHECK(deriveFor(*norm(), 0, small)->kernel == 0);
}

TEST_CASE("refused calls say op, argument, found and expected") {
  CHECK(Call(norm()).error() == "norm: argument `x`: found nothing, expected a tensor");
  CHECK(Call(norm()).with("x", {}).error() == "norm: argument `x`: found rank 0, expected at least 1");
  CHECK(Call(norm()).with("x", {2, 8}, DType::I32).error() ==
        "norm: argument `x`: found dtype i32, expected f32 | f16");
  CHECK(Call(norm()).with("x", {2, 8}).with("w", {8}, DType::F16).error() ==
        "norm: argument `w`: found dtype f16, expected f32 as `x` has");
  CHECK(Call(norm()).with("x", {2, 8}).with("w", {4}).error() ==
        "norm: argument `w`: found extent 4 along axis 0, expected 8 (`N`, from `x`)");
  CHECK(Call(norm()).with("x", {2, 7}).error() == "norm: found N = 7, expected `rows are even`");
  CHECK(Call(norm()).with("x", {2, 8}).with("y", {8, 2}).error() ==
        "norm: argument `y`: found shape [8, 2], expected [2, 8]");
  CHECK(Call(norm()).with("x", {2, 8}).scalar("mode", Constant{int64_t(7)}).error() ==
        "norm: argument `mode`: found 7, expected none | mean | sum; a const takes the values that the spec "
        "lists; to add one, list "
        "it there and compile again");
  CHECK(Call(norm()).with("x", {int64_t(1) << 62, 4, 8}).error() ==
        "norm: argument `x`: found leading dims [4611686018427387904, 4], expected fewer than 2^63 rows");
}

TEST_CASE("extent 1 broadcasts, compile-time dims, computed dims, dtype arguments") {
  auto op = mustAnalyze(
      specAround(R"(
op mix(a: T[B|1, D], b: T[B|1, 2 * D], n: i32) -> (y: T[B, D], z: U[cdiv(D, 3), n])
  where T: f32, U: f32 | i8, D: 4 | 8, (B % 2 == 1) | (B > 4)
)",
                 "kernel only(BN) { grid(1) }\ntune only { BN in [1] }",
                 "B = 1; D = 4; n = 1; case \"c\" { expect y = [[0, 0, 0, 0]] }; tolerance { f32: 0 }"));
  auto call = [&] {
    Call c(op);
    c.shape.dtypes[size_t(op->findTypeVar("U"))] = DType::I8;
    c.scalar("n", Constant{int64_t(5)});
    return c;
  };
  BoundCall wide = call().with("a", {1, 8}).with("b", {7, 16}).bound();
  CHECK(wide.values.dims == Extents{7, 8});
  CHECK(wide.spec.constDims == Extents{kDynamic, 8});
  CHECK(wide.shapes[2] == std::vector<Extents>{{7, 8}});
  CHECK(wide.shapes[3] == std::vector<Extents>{{3, 5}});
  CHECK(wide.spec.dtypes[size_t(op->findTypeVar("U"))] == DType::I8);
  CHECK(call().with("a", {1, 8}).with("b", {1, 16}).bound().values.dims == Extents{1, 8});
  CHECK(call().with("a", {3, 8}).with("b", {7, 16}).error() ==
        "mix: argument `b`: found extent 7 along axis 0, expected 3 or 1 (`B`, from `a`)");
  CHECK(call().with("a", {1, 5}).with("b", {1, 10}).error() ==
        "mix: argument `a`: found `D` = 5, expected 4 | 8; a compile-time dim takes the values that the spec "
        "lists; to add one, "
        "list it there and compile again");
  CHECK(call().with("a", {1, 8}).with("b", {1, 15}).error() ==
        "mix: argument `b`: found extent 15 along axis 1, expected 16 (`2 * D`)");
  CHECK(call().with("a", {2, 8}).with("b", {2, 16}).error() ==
        "mix: found B = 2, expected `(B % 2 == 1) | (B > 4)`");
  CHECK(call().with("a", {1, 8}).with("b", {1, 16}).scalar("n", Constant{int64_t(-1)}).error() ==
        "mix: argument `z`: found extent -1, expected at least 0");
  CHECK(call().with("a", {1, 8}).with("b", {1, 16}).scalar("n", Constant{int64_t(1) << 40}).error() ==
        "mix: argument `n`: found 1099511627776, expected i32");
  Call open(op);
  open.scalar("n", Constant{int64_t(5)}).with("a", {1, 8}).with("b", {1, 16});
  CHECK(open.error() ==
        "mix: argument `U`: found nothing, expected a dtype; no tensor that was given has it");
  Call missing(op);
  missing.shape.dtypes[size_t(op->findTypeVar("U"))] = DType::I8;
  missing.with("a", {1, 8}).with("b", {1, 16});
  CHECK(missing.error() == "mix: argument `n`: found nothing, expected i32");
}

TEST_CASE("lists have dims for each element") {
  auto op = mustAnalyze(
      specAround("op group(list a: T[M[], K], list b: T[K, N[]]) -> list c: T[M[], N[]] where T: f32",
                 "kernel only(BN) { grid(1) }\ntune only { BN in [1] }",
                 "M = [1]; N = [1]; K = 1; case \"c\" { expect c = [[[0]]] }; tolerance { f32: 0 }"));
  auto two = [&] { return Call(op).with("a", {5, 4}).with("a", {6, 4}); };
  BoundCall call = two().with("b", {4, 2}).with("b", {4, 3}).bound();
  CHECK(call.values.lists[size_t(op->findDim("M"))] == Extents{5, 6});
  CHECK(call.values.lengths == Extents{2, 2, 2});
  CHECK(call.shapes[2] == std::vector<Extents>{{5, 2}, {6, 3}});
  CHECK(Call(op).with("a", {5, 4}).with("b", {3, 2}).error() ==
        "group: argument `b[0]`: found extent 3 along axis 0, expected 4 (`K`, from `a`)");
}
