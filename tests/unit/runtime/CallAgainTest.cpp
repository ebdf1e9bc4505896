// SPDX-License-Identifier: MIT
// A call bound from the thread's last one is the call that binding anew gives, field by field, error by error.
#include "runtime/src/PackageHandle.h"
#include "runtime/src/RecentCalls.h"
#include "tests/unit/runtime/Calls.h"
#include "tests/unit/runtime/driver/NullDriver.h"
#include <cstring>
#include <random>
#include <set>

using namespace tilegym::testing;
using namespace tilegym::runtime;

namespace {

/// Arguments of scale(x: T[*R, N], b: T[N|1]?, s, fast) -> y that can be changed one thing at a time.
struct Scale {
  Given x{memory(), TILEGYM_F32, {3, 4}}, b{memory() + (1 << 18), TILEGYM_F32, {4}},
      y{memory() + (1 << 19), TILEGYM_F32, {3, 4}};
  float s = 2;
  int64_t fast = 1;
  bool withB = true, withS = true, withFast = true;
  std::vector<const void *> args() {
    return {x.c(), withB ? b.c() : nullptr, withS ? &s : nullptr, withFast ? &fast : nullptr, y.c()};
  }
  void rows(int64_t n) { x.shape[0] = y.shape[0] = n; }
};

template <class T> void append(std::string &text, const T *values, size_t n) {
  for (size_t i = 0; i < n; ++i)
    text += std::to_string(values[i]) + " ";
  text += "| ";
}

/// All that a bound call says.
std::string textOf(const Call &call) {
  std::string text;
  append(text, call.dimValues, call.dims.size());
  append(text, call.groupRanks, call.dims.size());
  append(text, call.dtypes, call.typeVars.size());
  append(text, call.facts, 8);
  for (size_t i = 0; i < call.scalars.size(); ++i)
    append(text, &call.scalarValues[i].i, 1);
  int64_t numbers[] = {int64_t(call.present), int64_t(call.withGroup), int64_t(call.plain),
                       call.group.rank,       call.fastBase,           call.settled};
  append(text, numbers, std::size(numbers));
  append(text, call.group.extents, std::size(call.group.extents));
  for (size_t t = 0; t < call.tensors.size(); ++t) {
    const BoundTensor &b = call.bound[t];
    if (call.withGroup >> t & 1)
      append(text, call.group.strides[t], size_t(call.group.rank));
    if (!b.given)
      continue;
    append(text, b.shape, size_t(b.rank));
    append(text, b.strides, size_t(b.rank));
    int64_t more[] = {int64_t(size_t(b.given)),
                      b.leading,
                      b.elementBytes,
                      b.packed,
                      b.elements,
                      b.lastExtent,
                      b.lowest,
                      b.highest};
    append(text, more, std::size(more));
  }
  return text;
}

std::string boundAnew(const Opened &opened, const std::vector<const void *> &args) {
  auto call = opened.call();
  return call->bind(args.data(), false) == TILEGYM_OK ? textOf(*call) : tilegym_last_error();
}

/// Binds to the first arguments, then to the others as the next call; what the two give, and whether the second was like the first.
bool follows(Scale first, Scale next) {
  Opened opened(scaleOp());
  auto call = opened.call();
  REQUIRE(call->bind(first.args().data(), false) == TILEGYM_OK);
  std::vector<const void *> args = next.args();
  if (!call->isAgain(args.data()))
    return false;
  std::string got = call->bindAgain(args.data()) == TILEGYM_OK ? textOf(*call) : tilegym_last_error();
  CHECK(got == boundAnew(opened, args));
  return true;
}

} // namespace

TEST_CASE("a call follows the last one where addresses, rows and scalars differ, and nothing else") {
  auto after = [](void (*change)(Scale &)) {
    Scale next;
    change(next);
    return follows(Scale(), next);
  };
  CHECK(after([](Scale &) {}));
  CHECK(after([](Scale &c) { c.rows(1000); }));
  CHECK(after([](Scale &c) { c.x.tensor.data = memory() + 4; }));
  CHECK(after([](Scale &c) { c.s = 7; }));
  CHECK(after([](Scale &c) { c.withS = false; }));
  CHECK(after([](Scale &c) { c.withFast = false; })); // whose default is what was given
  // Refused, but by what is checked on every call.
  CHECK(after([](Scale &c) { c.x.tensor.data = nullptr; }));
  CHECK(after([](Scale &c) { c.y.tensor.data = c.x.tensor.data; }));
  CHECK(after([](Scale &c) { c.b.tensor.data = memory() + (1 << 18) + 2; }));

  CHECK_FALSE(after([](Scale &c) { c.rows(1); }));
  CHECK_FALSE(after([](Scale &c) { c.rows(0); }));
  CHECK_FALSE(after([](Scale &c) { c.rows(-3); }));
  CHECK_FALSE(after([](Scale &c) { c.rows(int64_t(1) << 31); }));
  CHECK_FALSE(after([](Scale &c) { c.x.shape[0] = 4; }));
  CHECK_FALSE(after([](Scale &c) { c.y.shape[0] = 4; }));
  CHECK_FALSE(after([](Scale &c) { c.x.shape[1] = 5; }));
  CHECK_FALSE(after([](Scale &c) { c.b.shape = {1}; }));
  CHECK_FALSE(after([](Scale &c) { c.withB = false; }));
  CHECK_FALSE(after([](Scale &c) { c.fast = 0; }));
  CHECK_FALSE(after([](Scale &c) { c.x.strides = {4, 1}; }));
  CHECK_FALSE(after([](Scale &c) { c.x.shape = c.y.shape = {3, 1, 4}; }));
  CHECK_FALSE(after([](Scale &c) { c.x.tensor.dtype = c.b.tensor.dtype = c.y.tensor.dtype = TILEGYM_F16; }));
  CHECK_FALSE(after([](Scale &c) { c.y.tensor.dtype = TILEGYM_F16; }));
}

TEST_CASE("calls that no other follows") {
  auto before = [](void (*change)(Scale &)) {
    Scale first;
    change(first);
    return follows(first, first);
  };
  CHECK(before([](Scale &c) { c.x.strides = {4, 1}; }));
  CHECK_FALSE(before([](Scale &c) { c.rows(1); }));
  CHECK_FALSE(before([](Scale &c) { c.rows(0); }));
  CHECK_FALSE(before([](Scale &c) { c.x.strides = {5, 1}; }));
  CHECK_FALSE(before([](Scale &c) { c.b.shape = {1}; }));
  CHECK_FALSE(before([](Scale &c) { c.x.shape = c.y.shape = {2, 3, 4}; }));
  Opened opened(scaleOp());
  Scale wrong;
  wrong.y.shape = {3, 5};
  auto call = opened.call();
  CHECK_FALSE(call->isAgain(wrong.args().data())); // never bound
  REQUIRE(call->bind(wrong.args().data(), false) == TILEGYM_INVALID_ARGUMENT);
  CHECK_FALSE(call->isAgain(wrong.args().data()));
}

TEST_CASE("extents and choices that follow from the rows") {
  OpText op = scaleOp();
  op.tensors[1].dims[0] = {kNone, false, false, {dim(0), number(4), inst(OpCode::AddI)}};
  op.dims[1].choices = {};
  Opened extents(op);
  Scale given;
  given.b.shape = {7};
  auto call = extents.call();
  REQUIRE(call->bind(given.args().data(), false) == TILEGYM_OK);
  CHECK_FALSE(call->isAgain(given.args().data()));
  CHECK_FALSE(extents.table.plan(extents.table.ops()[0]).choiceVaries);

  auto varies = [](void (*change)(OpText &)) {
    OpText op = scaleOp();
    op.kernels = {{"only", {dim(1), number(64), inst(OpCode::LeI)}, {"BN"}, {{dim(1)}}}};
    for (VariantText &v : op.variants)
      v.params = {4};
    change(op);
    Opened opened(op);
    return opened.table.plan(opened.table.ops()[0]).choiceVaries;
  };
  CHECK_FALSE(varies([](OpText &) {}));
  CHECK(varies([](OpText &op) { op.kernels[0].guard[0] = dim(0); }));
  CHECK(varies([](OpText &op) { op.kernels[0].derived[0] = {dim(0)}; }));
  CHECK(varies([](OpText &op) { op.kernels[0].derived[0] = {inst(OpCode::PushScalarInt, 0)}; }));
  CHECK_FALSE(varies([](OpText &op) { op.kernels[0].derived[0] = {inst(OpCode::PushScalarInt, 1)}; }));
  CHECK(varies([](OpText &op) { op.kernels[0].derived[0] = {inst(OpCode::PushSmCount)}; }));
  CHECK(varies([](OpText &op) { op.kernels[0].derived[0] = {inst(OpCode::PushRank, 0)}; }));
  CHECK(varies([](OpText &op) { op.variants[0].constDims = {4, kRunTime}; }));
}

TEST_CASE("random calls in a row are bound as if each were the first") {
  Opened opened(scaleOp());
  const Table &table = opened.table;
  std::mt19937 random(1);
  auto one = [&](unsigned n) { return random() % n == 0; };
  Scale scale;
  int again = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    scale.rows(int64_t(one(9) ? random() % 3 : random() % 100 + 1));
    scale.x.tensor.data = memory() + random() % 64 * (one(5) ? 4 : 16);
    scale.s = float(random() % 8);
    if (one(10))
      scale.withB = !scale.withB;
    if (one(20))
      scale.x.shape[1] = scale.y.shape[1] = int64_t(random() % 9 + 1);
    if (one(3))
      scale.b.shape = {one(4) ? 1 : scale.x.shape[1]};
    if (one(20))
      scale.x.strides = one(2) ? std::vector<int64_t>{} : std::vector<int64_t>{scale.x.shape[1] + one(2), 1};
    if (one(20))
      scale.y.shape.back() += 1;
    if (one(30))
      scale.y.tensor.data = one(2) ? memory() + (1 << 19) : memory() + 512;
    if (one(30))
      scale.x.tensor.dtype = scale.y.tensor.dtype = scale.b.tensor.dtype = one(2) ? TILEGYM_F16 : TILEGYM_F32;
    std::vector<const void *> args = scale.args();
    RecentCall &recent = RecentCall::of(opened.package->number, table, table.ops()[0]);
    bool isAgain = recent.call().isAgain(args.data());
    bool good = recent.bind(args.data()) == TILEGYM_OK;
    std::string got = good ? textOf(recent.call()) : tilegym_last_error();
    REQUIRE(got == boundAnew(opened, args));
    again += isAgain && good;
    refused += !good;
    scale.y.shape = scale.x.shape;
  }
  CHECK(again > 3000);
  CHECK(refused > 500);
}

namespace {

/// product(a: T[M, K], b: T[K, N], c: T[M]?) -> d: T[M, N]: no group, but M is nothing but first axes.
OpText productOp() {
  OpText o;
  o.name = "product";
  o.typeVars = {{"T", {F32, F16}}};
  o.dims = {{"M"}, {"K"}, {"N"}};
  o.tensors = {{"a", Role::Input, 0, {{0}, {1}}},
               {"b", Role::Input, 0, {{1}, {2}}},
               {"c", Role::Input, 0, {{0}}, /*optional=*/true},
               {"d", Role::Output, 0, {{0}, {2}}}};
  o.kernels = {{"only", {dim(0), number(64), inst(OpCode::LeI)}}, {"others"}};
  VariantText v;
  v.dtypes = {F32};
  v.present = 11;
  o.variants = {v};
  return o;
}

} // namespace

TEST_CASE("random products in a row, whose rows are no group") {
  Opened opened(productOp());
  const Table &table = opened.table;
  CHECK((table.plan(table.ops()[0]).rowsDim == 0 && table.plan(table.ops()[0]).rowsOf == 13));
  CHECK((table.plan(table.ops()[0]).choiceVaries && table.plan(table.ops()[0]).onlyGuardsVary));
  std::mt19937 random(3);
  auto one = [&](unsigned n) { return random() % n == 0; };
  Given a(memory(), TILEGYM_F32, {3, 4}), b(memory() + (1 << 17), TILEGYM_F32, {4, 8}),
      c(memory() + (1 << 18), TILEGYM_F32, {3}), d(memory() + (1 << 19), TILEGYM_F32, {3, 8});
  int again = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    int64_t m = int64_t(one(9) ? random() % 3 : random() % 100 + 1);
    a.shape[0] = c.shape[0] = d.shape[0] = m;
    a.tensor.data = memory() + random() % 64 * (one(5) ? 4 : 16);
    if (one(20))
      a.shape[1] = b.shape[0] = int64_t(random() % 9 + 1);
    if (one(20))
      b.shape[1] = d.shape[1] = int64_t(random() % 9);
    if (one(20))
      a.strides = one(2) ? std::vector<int64_t>{} : std::vector<int64_t>{a.shape[1] + one(2), 1};
    if (one(20))
      d.strides = one(2) ? std::vector<int64_t>{} : std::vector<int64_t>{d.shape[1], 1};
    if (one(30))
      (one(2) ? d : c).shape[0] += 1;
    if (one(30))
      d.tensor.data = one(2) ? memory() + (1 << 19) : memory() + 512;
    std::vector<const void *> args = {a.c(), b.c(), one(4) ? nullptr : c.c(), d.c()};
    RecentCall &recent = RecentCall::of(opened.package->number, table, table.ops()[0]);
    bool isAgain = recent.call().isAgain(args.data());
    bool good = recent.bind(args.data()) == TILEGYM_OK;
    std::string got = good ? textOf(recent.call()) : tilegym_last_error();
    REQUIRE(got == boundAnew(opened, args));
    again += isAgain && good;
    refused += !good;
  }
  CHECK(again > 2000);
  CHECK(refused > 500);
}

TEST_CASE("dims that are more than first axes, or come in a list, are no rows") {
  auto rows = [](void (*change)(OpText &)) {
    OpText op = productOp();
    change(op);
    Opened opened(op);
    return opened.table.plan(opened.table.ops()[0]).rowsDim;
  };
  CHECK(rows([](OpText &) {}) == 0);
  CHECK(rows([](OpText &op) { op.tensors[1].dims[1] = {0}; }) == -1);
  CHECK(rows([](OpText &op) { op.tensors[2].dims[0] = {0, /*orOne=*/true}; }) == -1);
  CHECK(rows([](OpText &op) {
          op.dims[0].choices = {2, 3};
          op.variants[0].constDims = {2, kRunTime, kRunTime};
        }) == -1);
}

namespace {

/// Of the launches below, what the driver was told.
struct {
  int device = 0;
  std::string entry;
  int64_t rows = 0;
} state;

/// Two devices, of sm_80 and sm_90; a kernel's handle is its name.
Driver twoDevices() {
  Driver d = nullDriver();
  d.ctxGetDevice = [](CUdevice *ordinal) { return *ordinal = 50 + state.device, CUresult(kSuccess); };
  d.ctxGetId = [](CUcontext, unsigned long long *number) {
    return *number = 900 + unsigned(state.device), CUresult(kSuccess);
  };
  d.deviceGetAttribute = [](int *value, int attribute, CUdevice ordinal) {
    *value = attribute == kAttributeComputeMajor   ? 8 + ordinal - 50
             : attribute == kAttributeComputeMinor ? 0
                                                   : 7;
    return CUresult(kSuccess);
  };
  d.pointerGetAttributes = [](unsigned n, int *names, void **values, CUdeviceptr) {
    for (unsigned i = 0; i < n; ++i) // pinned memory, which each device reaches
      if (names[i] == kPointerRangeStart || names[i] == kPointerRangeSize)
        *static_cast<uint64_t *>(values[i]) = names[i] == kPointerRangeSize ? UINT64_MAX : 0;
      else
        *static_cast<int *>(values[i]) = names[i] == kPointerMemoryType ? kMemoryTypeHost : 0;
    return CUresult(kSuccess);
  };
  nameKernels(d);
  d.launchKernelEx = [](const CUlaunchConfig *, CUfunction function, void **params, void **) {
    state.entry = reinterpret_cast<const char *>(function);
    std::memcpy(&state.rows, params[3], sizeof state.rows);
    return CUresult(kSuccess);
  };
  return d;
}

} // namespace

TEST_CASE("calls in a row launch what each would launch alone, on either device") {
  OpText op = scaleOp();
  for (VariantText &v : op.variants)
    if (v.facts == kFactsFast)
      v.images = {{90, 0, 1, "h"}};
  Driver driver = twoDevices();
  useDriver(&driver);
  std::mt19937 random(2);
  for (int packages = 0; packages < 3; ++packages) { // one at the place where another was
    Opened opened({op, op});
    Scale scale;
    std::set<std::string> seen;
    for (int i = 0; i < 3000; ++i) {
      state.device = random() % 5 ? state.device : 1 - state.device;
      scale.rows(int64_t(random() % 5 + 1));
      scale.x.tensor.data = memory() + random() % 16 * (random() % 3 ? 16 : 4);
      scale.withB = random() % 6 ? scale.withB : !scale.withB;
      size_t number = random() % 8 == 0;
      std::vector<const void *> args = scale.args();
      const char *alone = nullptr;
      REQUIRE(tilegym_explain(opened.package, number, args.data(), &alone) == TILEGYM_OK);
      std::string want(alone, std::strcspn(alone, ":"));
      REQUIRE(tilegym_call(opened.package, number, args.data(), nullptr) == TILEGYM_OK);
      REQUIRE(state.entry == want);
      REQUIRE(state.rows == scale.x.shape[0]);
      seen.insert(want);
    }
    CHECK(seen.size() == 4);
  }
  useDriver(nullptr);
}

TEST_CASE("checks that follow from the rows are made on every call") {
  OpText op = scaleOp();
  op.checks = {{{dim(1), number(100), inst(OpCode::LtI)}, "N < 100"}};
  {
    Opened opened(op);
    CHECK_FALSE(opened.table.plan(opened.table.ops()[0]).checksVary);
  }
  op.checks.push_back({{dim(0), number(50), inst(OpCode::LtI)}, "R < 50"});
  Opened opened(op);
  CHECK(opened.table.plan(opened.table.ops()[0]).checksVary);
  Scale first, next;
  auto call = opened.call();
  REQUIRE(call->bind(first.args().data(), false) == TILEGYM_OK);
  next.rows(50);
  std::vector<const void *> args = next.args();
  REQUIRE(call->isAgain(args.data()));
  CHECK(call->bindAgain(args.data()) == TILEGYM_INVALID_ARGUMENT);
  CHECK(std::string(tilegym_last_error()) == "scale: R < 50");
}

TEST_CASE("a kept choice follows the guards") {
  OpText op = productOp();
  op.variants[0].entry = "few";
  op.variants[0].layout = {
      {ParamKind::Dim, 1, 0}, {ParamKind::Dim, 1, 0}, {ParamKind::Dim, 1, 0}, {ParamKind::Dim, 0, 0}};
  op.variants[0].images = {{80, 1, 0, std::string("ptx\0", 4)}};
  VariantText many = op.variants[0];
  many.kernel = 1;
  many.entry = "many";
  op.variants.push_back(many);
  Driver driver = twoDevices();
  useDriver(&driver);
  tilegym_set_log_level(TILEGYM_LOG_OFF);
  Opened opened(op);
  std::mt19937 random(4);
  for (int i = 0; i < 3000; ++i) {
    state.device = random() % 9 ? state.device : 1 - state.device;
    int64_t m = int64_t(random() % 5 ? random() % 8 + 60 : random() % 200 + 1);
    Given a(memory() + random() % 16 * 16, TILEGYM_F32, {m, 4}), b(memory() + (1 << 17), TILEGYM_F32, {4, 8}),
        d(memory() + (1 << 19), TILEGYM_F32, {m, 8});
    const void *args[] = {a.c(), b.c(), nullptr, d.c()};
    REQUIRE(tilegym_call(opened.package, 0, args, nullptr) == TILEGYM_OK);
    REQUIRE(state.entry == (m <= 64 ? "few" : "many"));
    REQUIRE(state.rows == m);
  }
  useDriver(nullptr);
}

TEST_CASE("a choice is of the call that was bound last, also where another backend ran that one") {
  OpText op = productOp();
  op.variants[0].entry = "f32";
  op.variants[0].kernel = 1;
  op.variants[0].layout = {
      {ParamKind::Dim, 1, 0}, {ParamKind::Dim, 1, 0}, {ParamKind::Dim, 1, 0}, {ParamKind::Dim, 0, 0}};
  op.variants[0].images = {{80, 1, 0, std::string("ptx\0", 4)}};
  VariantText half = op.variants[0];
  half.dtypes = {F16};
  half.entry = "f16";
  op.variants.push_back(half);
  op.kernels[0].guard = {number(0)};
  Driver driver = twoDevices();
  useDriver(&driver);
  tilegym_set_log_level(TILEGYM_LOG_OFF);
  Opened opened(op);
  REQUIRE(tilegym_register_impl(
              "product", "elsewhere",
              [](void *, TilegymPackage *, size_t, const void *const *, void *) { return TILEGYM_OK; },
              nullptr) == TILEGYM_OK);
  int32_t elsewhere = tilegym_backend("elsewhere");
  std::mt19937 random(5);
  state.device = 0;
  for (int i = 0; i < 500; ++i) {
    int64_t m = int64_t(random() % 50 + 2);
    int32_t dtype = random() % 4 ? TILEGYM_F16 : TILEGYM_F32;
    Given a(memory(), dtype, {m, 8}), b(memory() + (1 << 17), dtype, {8, 8}),
        d(memory() + (1 << 19), dtype, {m, 8});
    const void *args[] = {a.c(), b.c(), nullptr, d.c()};
    if (random() % 2)
      REQUIRE(tilegym_call_on(opened.package, 0, args, nullptr, elsewhere) == TILEGYM_OK);
    REQUIRE(tilegym_call(opened.package, 0, args, nullptr) == TILEGYM_OK);
    REQUIRE(state.entry == (dtype == TILEGYM_F32 ? "f32" : "f16"));
  }
  REQUIRE(tilegym_register_impl("product", "elsewhere", nullptr, nullptr) == TILEGYM_OK);
  useDriver(nullptr);
}
