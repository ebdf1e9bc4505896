// SPDX-License-Identifier: MIT
// Binding of a call's arguments: what is accepted, and the text of each refusal. The op is scale(x: T[*R, N], b: T[N|1]?, s, fast) -> y.
#include "tests/unit/runtime/Calls.h"
#include <functional>

using namespace tilegym::testing;
using namespace tilegym::runtime;

namespace {

/// A good call of scale on [3, 4] f32, to be spoilt by tests.
struct Scale {
  Given x{memory(), TILEGYM_F32, {3, 4}}, b{memory() + (1 << 18), TILEGYM_F32, {4}},
      y{memory() + (1 << 19), TILEGYM_F32, {3, 4}};
  float s = 2;
  int64_t fast = 1;
  bool withX = true, withB = true, withS = true, withFast = true, withY = true;
  std::vector<const void *> args() {
    return {withX ? x.c() : nullptr, withB ? b.c() : nullptr, withS ? &s : nullptr,
            withFast ? &fast : nullptr, withY ? y.c() : nullptr};
  }
};

/// The refusal after a change; "" where the call is accepted.
std::string refused(const std::function<void(Scale &)> &spoil, bool forShape = false) {
  Opened opened(scaleOp());
  Scale call;
  spoil(call);
  return opened.refusal(call.args(), forShape);
}

} // namespace

TEST_CASE("a good call binds dims, group, dtypes, scalars and facts") {
  Opened opened(scaleOp());
  Scale given;
  given.x.shape = {2, 3, 4};
  given.y.shape = {2, 3, 4};
  auto call = opened.call();
  REQUIRE(call->bind(given.args().data(), false) == TILEGYM_OK);
  CHECK(call->dimValues[0] == 6);
  CHECK(call->dimValues[1] == 4);
  CHECK(call->groupRanks[0] == 2);
  CHECK(call->dtypes[0] == F32);
  CHECK(call->scalarValues[0].f == 2);
  CHECK(call->scalarValues[1].i == 1);
  CHECK(call->present == 7);
  CHECK(call->group.rank == 1);
  CHECK(call->group.extents[0] == 6);
  CHECK(call->group.strides[0][0] == 4);
  CHECK(call->fastBase);
  CHECK(call->facts[0] == (kUnitInner | kAligned | kWholeVectors));
}

TEST_CASE("defaults, absent optionals and groups of no dims") {
  Opened opened(scaleOp());
  Scale given;
  given.withB = given.withS = given.withFast = false;
  given.x.shape = given.y.shape = {4};
  auto call = opened.call();
  REQUIRE(call->bind(given.args().data(), false) == TILEGYM_OK);
  CHECK(call->dimValues[0] == 1);
  CHECK(call->group.rank == 0);
  CHECK(call->scalarValues[0].f == 0.5);
  CHECK(call->scalarValues[1].i == 1);
  CHECK(call->present == 5);
}

TEST_CASE("wrong tensors") {
  CHECK(refused([](Scale &) {}) == "");
  CHECK(refused([](Scale &c) { c.withX = false; }) ==
        "scale: x: no tensor was given, and it is not optional");
  CHECK(refused([](Scale &c) { c.withY = false; }) ==
        "scale: y: no tensor was given, and it is not optional");
  CHECK(refused([](Scale &c) { c.x.shape = {}; }) == "scale: x: has rank 0, expected at least 1");
  CHECK(refused([](Scale &c) { c.b.shape = {4, 4}; }) == "scale: b: has rank 2, expected 1");
  CHECK(refused([](Scale &c) { c.x.shape = std::vector<int64_t>(9, 1); }) ==
        "scale: x: rank 9 is not in 0 .. 8");
  CHECK(refused([](Scale &c) { c.x.tensor.dtype = 15; }) == "scale: x: dtype 15 is no TilegymDType");
  CHECK(refused([](Scale &c) { c.x.tensor.dtype = -1; }) == "scale: x: dtype -1 is no TilegymDType");
  CHECK(refused([](Scale &c) { c.x.tensor.dtype = TILEGYM_I32; }) ==
        "scale: x: has dtype i32, expected one of f32, f16");
  CHECK(refused([](Scale &c) { c.b.tensor.dtype = TILEGYM_F16; }) ==
        "scale: b: has dtype f16, but T is f32 by an earlier argument");
  CHECK(refused([](Scale &c) { c.x.shape = {3, -4}; }) ==
        "scale: x: axis 1 has extent -4, expected 0 or more");
  CHECK(refused([](Scale &c) { c.x.shape = {int64_t(1) << 40, int64_t(1) << 40}; }) ==
        "scale: x: has more than 2^63 elements");
  Opened opened(scaleOp());
  CHECK(opened.call()->bind(nullptr, false) == TILEGYM_INVALID_ARGUMENT);
  CHECK(std::string(tilegym_last_error()) == "scale: no arguments were given");
  Scale call;
  std::vector<const void *> args = call.args();
  TilegymTensor noShape{memory(), nullptr, nullptr, 2, TILEGYM_F32};
  args[0] = &noShape;
  CHECK(opened.refusal(args) == "scale: x: rank is 2 but shape is null");
}

TEST_CASE("wrong extents") {
  CHECK(refused([](Scale &c) { c.b.shape = {1}; }) == "");
  CHECK(refused([](Scale &c) { c.b.shape = {3}; }) == "scale: b: axis 0 has extent 3, expected N = 4 or 1");
  CHECK(refused([](Scale &c) { c.y.shape = {3, 5}; }) == "scale: y: axis 1 has extent 5, expected N = 4");
  CHECK(refused([](Scale &c) { c.y.shape = {2, 4}; }) == "scale: y: axis 0 has extent 2, expected 3 as in x");
  CHECK(refused([](Scale &c) { c.y.shape = {1, 3, 4}; }) == "scale: y: has 2 leading axes, but x has 1");
  // The dim comes from the axis that must have it in full, although b is the larger.
  CHECK(refused([](Scale &c) { c.x.shape = c.y.shape = {3, 1}; }) ==
        "scale: b: axis 0 has extent 4, expected N = 1 or 1");
  CHECK(refused([](Scale &c) { c.x.shape = c.y.shape = {int64_t(1) << 40, int64_t(1) << 40, 0}; }) ==
        "scale: x: its 2 leading axes have more than 2^63 rows");
}

TEST_CASE("extents given by expressions and lists of values") {
  OpText op = scaleOp();
  op.tensors[0].dims[1] = {kNone, false, false, {dim(1), number(2), inst(OpCode::MulI)}};
  op.tensors[1].dims[0].orOne = false;
  op.tensors[1].optional = false;
  op.tensors[2].dims[1] = {kNone, false, false, {dim(1), number(2), inst(OpCode::FloorDivI)}};
  Opened opened(op);
  Scale call;
  call.x.shape = {3, 8};
  call.y.shape = {3, 2};
  CHECK(opened.refusal(call.args()) == "");
  call.x.shape = {3, 9};
  CHECK(opened.refusal(call.args()) == "scale: x: axis 1 has extent 9, expected an expression = 8");
  call.x.shape = {3, 8};
  int64_t shape[TILEGYM_MAX_RANK];
  int32_t rank = 0, dtype = 0;
  std::vector<const void *> args = call.args();
  args[4] = nullptr;
  REQUIRE(tilegym_infer_shape(opened.package, 0, args.data(), 4, shape, &rank, &dtype) == TILEGYM_OK);
  CHECK((rank == 2 && shape[0] == 3 && shape[1] == 2 && dtype == TILEGYM_F32));

  op.tensors[0].dims[1].expr = {dim(1), number(0), inst(OpCode::FloorDivI)};
  CHECK(Opened(op).refusal(call.args()) ==
        "scale: x: the extent expected of axis 1 cannot be computed: division by zero");
  op.dims[1].choices = {64, 128};
  CHECK(Opened(op).refusal(call.args()) == "scale: dim N is 4, which is not one of the values it was "
                                           "compiled for: 64, 128; add it to the op's list in "
                                           "the spec");
}

TEST_CASE("wrong scalars, consts and checks") {
  CHECK(refused([](Scale &c) { c.fast = 2; }) ==
        "scale: fast: 2 is not one of the values it was compiled for: 0, "
        "1; add it to the op's list in the spec");
  OpText op = scaleOp();
  op.scalars[0].defaultBits.reset();
  Scale call;
  call.withS = false;
  CHECK(Opened(op).refusal(call.args()) == "scale: s: no value was given, and it has no default");
  op = scaleOp();
  op.checks = {{{dim(1), number(8), inst(OpCode::ModI), number(0), inst(OpCode::EqI)}, "N comes in eights"}};
  CHECK(Opened(op).refusal(call.args()) == "scale: N comes in eights");
  op.checks[0].condition = {dim(1), number(0), inst(OpCode::ModI)};
  CHECK(Opened(op).refusal(call.args()) ==
        "scale: the check 'N comes in eights' cannot be evaluated: division by zero");
  // An author's long text is not cut at a name's length.
  op.checks = {{{number(0)}, std::string(500, 'w')}};
  CHECK(Opened(op).refusal(call.args()) == "scale: " + std::string(500, 'w'));
}

TEST_CASE("a default rounds to the scalar's dtype") {
  OpText op = scaleOp();
  double tenth = 0.1;
  int64_t bits;
  std::memcpy(&bits, &tenth, 8);
  op.scalars[0].defaultBits = bits;
  Opened opened(op);
  Scale given;
  given.withS = false;
  auto call = opened.call();
  REQUIRE(call->bind(given.args().data(), false) == TILEGYM_OK);
  CHECK(call->scalarValues[0].f == double(0.1f));
}

TEST_CASE("wrong memory") {
  CHECK(refused([](Scale &c) { c.x.tensor.data = nullptr; }) ==
        "scale: x: data is null, but it has 12 elements");
  CHECK(refused([](Scale &c) {
          c.x.tensor.data = c.y.tensor.data = nullptr;
          c.x.shape = c.y.shape = {0, 4};
        }) == "");
  std::string text = refused([](Scale &c) { c.x.tensor.data = memory() + 2; });
  CHECK_THAT(text, Catch::StartsWith("scale: x: data at 0x") &&
                       Catch::EndsWith(" is not a multiple of its element's 4 bytes"));
  CHECK(
      refused([](Scale &c) { c.x.strides = {int64_t(1) << 61, 1}; }) ==
      "scale: x: axis 0 has extent 3 and stride 2305843009213693952, which reaches beyond the address space");
  CHECK(refused([](Scale &c) { c.x.strides = {-(int64_t(1) << 50), 1}; }) ==
        "scale: x: axis 0 has extent 3 and stride -1125899906842624, which reaches beyond the address space");
  CHECK(
      refused([](Scale &c) {
        c.x.shape = c.y.shape = {1, int64_t(1) << 61};
        c.b.shape = {1};
      }) ==
      "scale: x: axis 1 has extent 2305843009213693952 and stride 1, which reaches beyond the address space");
  // A stride that no index uses may be anything.
  CHECK(refused([](Scale &c) {
          c.x.shape = c.y.shape = {1, 4};
          c.x.strides = {INT64_MAX, 1};
        }) == "");
  CHECK(refused([](Scale &c) {
          c.x.shape = c.y.shape = {int64_t(1) << 31, int64_t(1) << 31, 0};
          c.x.strides = {INT64_MAX, INT64_MAX, INT64_MAX};
        }) == "scale: b: axis 0 has extent 4, expected N = 0 or 1");
}

TEST_CASE("overlaps") {
  CHECK(refused([](Scale &c) { c.y.strides = {0, 1}; }) ==
        "scale: y: is written, but its strides let several indices share an element");
  CHECK(refused([](Scale &c) { c.x.strides = {0, 0}; }) == ""); // an input may repeat
  CHECK(refused([](Scale &c) { c.y.tensor.data = c.x.tensor.data; }) ==
        "scale: y: is written, but shares memory with x; give it memory of its own");
  // Columns of one buffer, side by side: allowed; one column further: not.
  auto columns = [](int64_t first) {
    return [first](Scale &c) {
      c.x.strides = c.y.strides = {8, 1};
      c.y.tensor.data = memory() + first * 4;
    };
  };
  CHECK(refused(columns(4)) == "");
  CHECK(refused(columns(3)) == "scale: y: is written, but shares memory with x; give it memory of its own");

  OpText op = scaleOp();
  op.tensors[2].aliasOf = 0;
  Opened aliased(op);
  Scale call;
  call.y.tensor.data = call.x.tensor.data;
  CHECK(aliased.refusal(call.args()) == "");
  call.y.strides = {8, 1};
  CHECK(aliased.refusal(call.args()) ==
        "scale: y: is written, but shares memory with x other than as the same view, which alone is allowed");
}

TEST_CASE("broadcast axes have stride 0, and are not contiguous ones") {
  Opened opened(scaleOp());
  Scale given;
  given.b.shape = {1};
  auto call = opened.call();
  REQUIRE(call->bind(given.args().data(), false) == TILEGYM_OK);
  CHECK(call->bound[1].strides[0] == 0);
  CHECK((call->facts[1] & kUnitInner) == 0);
  given.b.shape = {4};
  auto full = opened.call();
  REQUIRE(full->bind(given.args().data(), false) == TILEGYM_OK);
  CHECK((full->facts[1] & kUnitInner) != 0);
}

TEST_CASE("groups merge where all tensors merge") {
  Opened opened(scaleOp());
  auto merged = [&](std::vector<int64_t> xStrides, std::vector<int64_t> yStrides) {
    Scale given;
    given.x.shape = given.y.shape = {2, 3, 5, 4};
    given.x.strides = xStrides;
    given.y.strides = yStrides;
    auto call = opened.call();
    REQUIRE(call->bind(given.args().data(), false) == TILEGYM_OK);
    std::vector<int64_t> list;
    for (int i = 0; i < call->group.rank; ++i)
      list.push_back(call->group.extents[i]);
    return list;
  };
  CHECK(merged({}, {}) == std::vector<int64_t>{30});
  CHECK(merged({100, 20, 4, 1}, {}) == std::vector<int64_t>{2, 15});
  CHECK(merged({}, {60, 20, 4, 1}) == std::vector<int64_t>{30});
  CHECK(merged({100, 20, 4, 1}, {300, 100, 4, 1}) == std::vector<int64_t>{2, 3, 5});
  Scale one;
  one.x.shape = one.y.shape = {1, 3, 1, 4};
  one.x.strides = {7, 4, 9, 1};
  auto call = opened.call();
  REQUIRE(call->bind(one.args().data(), false) == TILEGYM_OK);
  CHECK(call->group.rank == 1);
  CHECK(call->fastBase);
}

TEST_CASE("a group of more than seven dims that do not merge is refused") {
  OpText op = scaleOp();
  for (int t : {0, 2}) // x: T[*R] -> y: T[*R]
    op.tensors[size_t(t)].dims.pop_back();
  for (VariantText &v : op.variants)
    v.layout.clear();
  Opened opened(op);
  Scale call;
  call.b.shape = {1};
  call.x.shape = call.y.shape = std::vector<int64_t>(8, 2);
  CHECK(opened.refusal(call.args()) == ""); // contiguous: one dim
  call.x.strides = {3 * 128, 3 * 64, 3 * 32, 3 * 16, 3 * 8, 3 * 4, 3 * 2, 3};
  CHECK(opened.refusal(call.args()) == ""); // every third element: still one
  call.x.strides = {2187, 729, 243, 81, 27, 9, 3, 1};
  CHECK(opened.refusal(call.args()) == "scale: x: has 8 leading axes that do not merge into fewer, but "
                                       "kernels take at most 7; make it, or the other "
                                       "tensors with these axes, contiguous");
}

TEST_CASE("facts") {
  Opened opened(scaleOp());
  struct Found {
    bool base;
    int x;
  };
  auto facts = [&](const std::function<void(Scale &)> &change) {
    Scale given;
    change(given);
    auto call = opened.call();
    REQUIRE(call->bind(given.args().data(), false) == TILEGYM_OK);
    return Found{call->fastBase, call->facts[0]};
  };
  CHECK(facts([](Scale &c) { c.x.tensor.data = memory() + 4; }).x == (kUnitInner | kWholeVectors));
  CHECK(facts([](Scale &c) { c.x.strides = {5, 1}; }).x == (kUnitInner | kWholeVectors));
  CHECK(facts([](Scale &c) { c.x.strides = {8, 2}; }).x == (kAligned | kWholeVectors));
  CHECK(facts([](Scale &c) {
          c.x.shape = c.y.shape = {3, 5};
          c.b.shape = {5};
        }).x == kUnitInner);
  Found backwards = facts([](Scale &c) {
    c.x.tensor.data = memory() + 1024;
    c.x.strides = {-4, 1};
  });
  CHECK_FALSE(backwards.base);
  CHECK_FALSE(facts([](Scale &c) { c.x.strides = {int64_t(1) << 28, 1}; }).base);
}

TEST_CASE("shapes of outputs") {
  Opened opened(scaleOp());
  Scale call;
  call.x.shape = {7, 2, 4};
  std::vector<const void *> args = call.args();
  args[4] = nullptr;
  int64_t shape[TILEGYM_MAX_RANK];
  int32_t rank = 0, dtype = 0;
  REQUIRE(tilegym_infer_shape(opened.package, 0, args.data(), 4, shape, &rank, &dtype) == TILEGYM_OK);
  CHECK(rank == 3);
  CHECK((shape[0] == 7 && shape[1] == 2 && shape[2] == 4));
  CHECK(dtype == TILEGYM_F32);
  CHECK(tilegym_infer_shape(opened.package, 0, args.data(), 2, shape, &rank, &dtype) ==
        TILEGYM_INVALID_ARGUMENT);
  CHECK(std::string(tilegym_last_error()) ==
        "scale: argument number 2 is not a tensor, or a result's address is null");
  CHECK(tilegym_infer_shape(opened.package, 3, args.data(), 4, shape, &rank, &dtype) ==
        TILEGYM_INVALID_ARGUMENT);
  CHECK(std::string(tilegym_last_error()) == "op number 3 is not in the package, which has 1");
  CHECK(tilegym_call(nullptr, 0, args.data(), nullptr) == TILEGYM_INVALID_ARGUMENT);
  CHECK(std::string(tilegym_last_error()) == "the package is null");

  auto inferred = [&](OpText op) {
    return tilegym_infer_shape(Opened(op).package, 0, args.data(), 4, shape, &rank, &dtype) == TILEGYM_OK
               ? ""
               : std::string(tilegym_last_error());
  };
  OpText op = scaleOp();
  op.tensors[2].dims[1] = {kNone, false, false, {number(0), dim(1), inst(OpCode::SubI)}};
  CHECK(inferred(op) == "scale: y: would have extent -4 on axis 2");
  op.tensors[2].dims[1].expr = {number(1), number(0), inst(OpCode::ModI)};
  CHECK(inferred(op) == "scale: y: its extent cannot be computed: division by zero");
  op = scaleOp();
  op.tensors[2].dims.resize(8, {1});
  for (VariantText &v : op.variants)
    v.layout.clear();
  CHECK(inferred(op) == "scale: y: would have more than 8 axes");
  op = scaleOp();
  op.typeVars.push_back({"S", {F32, F16}});
  op.tensors[2].typeVar = 3;
  for (VariantText &v : op.variants)
    v.dtypes.push_back(F32);
  CHECK(inferred(op) == "scale: the dtype of argument number 4 follows from no input; give the output");
  op.scalars[0].typeVar = 3;
  CHECK(inferred(op) == "scale: s: its dtype S follows from no tensor that was given");
}
