// SPDX-License-Identifier: MIT
// Lists of tensors: how they are bound, each refusal's text, what a kernel is given. The op is scale(list a: T[M[], N], f: T[G]) -> list c: T[M[], N].
#include "tests/unit/runtime/Calls.h"
#include "tests/unit/runtime/Fake.h"
#include "tilegym/tilegym.hpp"
#include <functional>
#include <list>

using namespace tilegym::testing;
using Catch::Contains;

namespace {

constexpr uint32_t M = 0, N = 1, G = 2, A = 0, F = 1, C = 2;

/// sum(g in 0 .. len(a): M[g])
Code rowsOfAll() {
  return {number(0),
          inst(OpCode::PushListLength, A),
          inst(OpCode::BeginSum, 3),
          inst(OpCode::PushVariable, 0),
          inst(OpCode::ListDim, M),
          inst(OpCode::EndSum, 3)};
}

OpText listOp() {
  OpText o;
  o.name = "scale";
  o.typeVars = {{"T", {F32, BF16}}};
  o.dims = {{"M", {}, false, /*isOfElement=*/true}, {"N"}, {"G"}};
  TensorText a{"a", Role::Input, 0, {{M}, {N}}}, f{"f", Role::Input, 0, {{G}}},
      c{"c", Role::Output, 0, {{M}, {N}}};
  a.isList = c.isList = true;
  o.tensors = {a, f, c};
  o.checks = {{{dim(G), inst(OpCode::PushListLength, A), inst(OpCode::EqI)}, "one factor a tensor"}};
  Code few = rowsOfAll();
  few.insert(few.end(), {number(100), inst(OpCode::LtI)});
  o.kernels = {{"few", few}, {"many"}};
  for (uint32_t kernel : {0u, 1u})
    for (bool fast : {false, true})
      for (uint8_t dtype : {F32, BF16}) {
        VariantText v;
        v.kernel = kernel;
        v.dtypes = {dtype};
        v.entry = std::string(kernel ? "many" : "few") + (fast ? "_fast" : "_general");
        v.facts = fast ? kFactsFast : kFactsGeneral;
        if (fast)
          v.tensorFacts = {kUnitInner | kAligned, 0, kUnitInner};
        v.images = {{80, 1, 0, std::string("8 [64,64,64,1,1,1,64,1024] ptx\0", 31)}};
        v.maps = {{A, 128, {{N, 0, 64, 0, 0}, {M, 0, 32, 0, 0}}}};
        v.layout = {{ParamKind::TensorPointer, A, 0}, {ParamKind::Stride, A, 0},
                    {ParamKind::Dim, M, 0},           {ParamKind::Dim, N, 0},
                    {ParamKind::ListLength, A, 0},    {ParamKind::TensorPointer, F, 0},
                    {ParamKind::TensorPointer, C, 0}, {ParamKind::TensorMap, 0, 0}};
        v.grid = {rowsOfAll()};
        o.variants.push_back(v);
      }
  return o;
}

/// A good call of tensors of 2 and 5 rows of 8 columns, to be spoilt by tests.
struct Lists {
  std::list<Given> a, c;
  Given f{memory(), TILEGYM_BF16, {2}};
  std::vector<TilegymTensor> views[2];
  TilegymTensorList lists[2];
  bool withA = true;

  Lists() {
    for (int64_t rows : {2, 5})
      add(rows);
  }
  /// 4 KB apart.
  void add(int64_t rows) {
    char *at = memory() + 4096 * (1 + 2 * a.size());
    a.emplace_back(at, TILEGYM_BF16, std::vector<int64_t>{rows, 8});
    c.emplace_back(at + 4096, TILEGYM_BF16, std::vector<int64_t>{rows, 8});
  }
  Given &operator()(std::list<Given> &of, size_t i) { return *std::next(of.begin(), long(i)); }
  std::vector<const void *> args() {
    for (int which : {0, 1}) {
      views[which].clear();
      for (Given &given : which ? c : a)
        views[which].push_back(*given.c());
      lists[which] = {views[which].data(), views[which].size()};
    }
    return {withA ? &lists[0] : nullptr, f.c(), &lists[1]};
  }
};

std::string refused(const std::function<void(Lists &)> &spoil) {
  Lists call;
  spoil(call);
  return Opened(listOp()).refusal(call.args());
}

} // namespace

TEST_CASE("a list's tensors are bound each with dims of its own, and facts hold of all") {
  Opened opened(listOp());
  Lists given;
  auto call = opened.call();
  REQUIRE(call->bind(given.args().data(), false) == TILEGYM_OK);
  REQUIRE(call->views(A).size() == 2);
  CHECK(call->dimOf(M, 0) == 2);
  CHECK(call->dimOf(M, 1) == 5);
  CHECK(call->dimOf(N, 1) == 8);
  CHECK(call->present == 7);
  CHECK(call->fastBase);
  CHECK(call->facts[A] == (kUnitInner | kAligned | kWholeVectors));
  given(given.a, 1).shape = {5, 8};
  given(given.a, 1).strides = {9, 1}; // rows at odd places
  auto other = opened.call();
  REQUIRE(other->bind(given.args().data(), false) == TILEGYM_OK);
  CHECK(other->facts[A] == (kUnitInner | kWholeVectors));
  CHECK(other->facts[C] == (kUnitInner | kAligned | kWholeVectors));
}

TEST_CASE("refusals name the tensor of the list") {
  CHECK(refused([](Lists &) {}) == "");
  CHECK(refused([](Lists &l) { l.withA = false; }) == "scale: a: no list was given");
  CHECK(refused([](Lists &l) { l(l.a, 1).shape = {5}; }) == "scale: a[1]: has rank 1, expected 2");
  CHECK(refused([](Lists &l) { l(l.a, 1).tensor.dtype = TILEGYM_F32; }) ==
        "scale: a[1]: has dtype f32, but T is bf16 by an earlier argument");
  CHECK(refused([](Lists &l) { l(l.c, 1).shape = {4, 8}; }) ==
        "scale: c[1]: axis 0 has extent 4, expected M = 5");
  CHECK(refused([](Lists &l) { l(l.a, 1).shape = {5, 9}; }) ==
        "scale: a[1]: axis 1 has extent 9, expected N = 8");
  CHECK(refused([](Lists &l) { l.c.pop_back(); }) == "scale: c: has 1 tensors, expected 2 as a has");
  CHECK(refused([](Lists &l) { l.f.shape = {3}; }) == "scale: one factor a tensor");
  CHECK(refused([](Lists &l) { l(l.a, 0).tensor.data = nullptr; }) ==
        "scale: a[0]: data is null, but it has 16 elements");
  CHECK(refused([](Lists &l) { l(l.a, 1).tensor.data = memory() + 4097; }) == "scale: a[1]: data at " + [] {
    char text[32];
    std::snprintf(text, sizeof text, "%p", static_cast<void *>(memory() + 4097));
    return std::string(text);
  }() + " is not a multiple of its element's 2 bytes");
  CHECK(refused([](Lists &l) {
          while (l.a.size() < 65)
            l.add(1);
        }) == "scale: a: has 65 tensors, but a list has at most 64");
  CHECK(refused([](Lists &l) {
          l.a.clear();
          l.c.clear();
          l.f.shape = {0};
        }) == "");
}

TEST_CASE("a null address of a list's tensors, and a dtype that nothing says") {
  Opened opened(listOp());
  Lists given;
  std::vector<const void *> args = given.args();
  given.lists[0].tensors = nullptr;
  CHECK(opened.refusal(args) == "scale: a: has 2 tensors, but their address is null");
  OpText op = listOp();
  op.tensors[F].typeVar = 1;
  op.typeVars.push_back({"", {F32}});
  for (VariantText &v : op.variants)
    v.dtypes.push_back(F32);
  Opened other(op);
  Lists none;
  none.a.clear();
  none.c.clear();
  none.f = Given(memory(), TILEGYM_F32, {0});
  CHECK(other.refusal(none.args()) ==
        "scale: a: has no tensors, so that its dtype T follows from nothing that was given");
}

TEST_CASE("what is written shares memory with no tensor of a list") {
  CHECK(refused([](Lists &l) { l(l.c, 1).tensor.data = l(l.a, 0).tensor.data; }) ==
        "scale: c[1]: is written, but shares memory with a[0]; give it memory of its own");
  CHECK(refused([](Lists &l) { l(l.c, 1).tensor.data = l(l.c, 0).tensor.data; }) ==
        "scale: c[0]: is written, but shares memory with c[1]; give it memory of its own");
  CHECK(refused([](Lists &l) { l(l.c, 0).tensor.data = l.f.tensor.data; }) ==
        "scale: c[0]: is written, but shares memory with f; give it memory of its own");
  CHECK(refused([](Lists &l) { l(l.c, 1).strides = {0, 1}; }) ==
        "scale: c[1]: is written, but its strides let several indices share an element");
  CHECK(refused([](Lists &l) { l(l.a, 1).tensor.data = l(l.a, 0).tensor.data; }) == ""); // inputs may
  OpText op = listOp();
  op.tensors[C].aliasOf = A;
  Opened opened(op);
  Lists same;
  for (size_t i : {0, 1})
    same(same.c, i).tensor.data = same(same.a, i).tensor.data;
  CHECK(opened.refusal(same.args()) == "");
  same(same.c, 1).tensor.data = same(same.a, 0).tensor.data;
  CHECK_THAT(opened.refusal(same.args()), Contains("shares memory with a[0] other than as the same view"));
}

TEST_CASE("kernels get a value for each tensor, and zeros behind") {
  FakeCuda &fake = fakeCuda();
  Opened opened(listOp());
  Lists given;
  REQUIRE(tilegym_call(opened.package, 0, given.args().data(), nullptr) == TILEGYM_OK);
  REQUIRE(fake.launches.size() == 1);
  const FakeLaunch &l = fake.launches[0];
  CHECK(l.entry == "few_fast");
  CHECK(l.grid[0] == 7);
  auto address = [](const Given &g) { return reinterpret_cast<uint64_t>(g.tensor.data); };
  auto list = [](std::vector<uint64_t> first) {
    first.resize(64);
    return first;
  };
  REQUIRE(l.words.size() == 8);
  CHECK(l.words[0] == list({address(given(given.a, 0)), address(given(given.a, 1))}));
  CHECK(l.words[1] == list({8, 8}));
  CHECK(l.words[2] == list({2, 5}));
  CHECK(l.words[3] == std::vector<uint64_t>{8});
  CHECK(l.words[4] == std::vector<uint64_t>{2});
  CHECK(l.words[5] == std::vector<uint64_t>{address(given.f)});
  CHECK(l.words[6] == list({address(given(given.c, 0)), address(given(given.c, 1))}));
  // The driver is asked for a map of each tensor.
  std::string of[2];
  for (const std::string &call : fake.calls)
    for (size_t i : {0, 1})
      if (call.find(" at " + std::to_string(address(given(given.a, i))) + " ") != call.npos)
        of[i] = call;
  CHECK_THAT(of[0], Contains(" extents [8,2] "));
  CHECK_THAT(of[1], Contains(" extents [8,5] "));
  CHECK(l.words[7][0] != 0);
  CHECK(l.words[7][16] != 0);
  for (size_t i = 32; i < 1024; ++i)
    REQUIRE(l.words[7][i] == 0);
}

TEST_CASE("sums over a list decide which kernel runs, and a list may be empty") {
  FakeCuda &fake = fakeCuda();
  Opened opened(listOp());
  Lists given;
  given.add(100);
  given.f.shape = {3};
  given(given.a, 1).strides = {9, 1};
  REQUIRE(tilegym_call(opened.package, 0, given.args().data(), nullptr) == TILEGYM_OK);
  CHECK(fake.launches.back().entry == "many_general");
  CHECK(fake.launches.back().grid[0] == 107);
  CHECK(fake.launches.back().words[1][1] == 9);
  Lists none;
  none.a.clear();
  none.c.clear();
  none.f.shape = {0};
  REQUIRE(tilegym_call(opened.package, 0, none.args().data(), nullptr) == TILEGYM_OK);
  CHECK(fake.launches.size() == 1);
  // A tensor without elements has a zero map, others theirs.
  Lists some;
  some(some.a, 0).shape = some(some.c, 0).shape = {0, 8};
  REQUIRE(tilegym_call(opened.package, 0, some.args().data(), nullptr) == TILEGYM_OK);
  CHECK(fake.launches.back().grid[0] == 5);
  CHECK(fake.launches.back().words[7][0] == 0);
  CHECK(fake.launches.back().words[7][16] != 0);
}

TEST_CASE("a list's memory must be the device's") {
  FakeCuda &fake = fakeCuda();
  Opened opened(listOp());
  Lists given;
  fake.pointers[given(given.a, 1).tensor.data].device = 1;
  CHECK(tilegym_call(opened.package, 0, given.args().data(), nullptr) == TILEGYM_INVALID_ARGUMENT);
  CHECK_THAT(tilegym_last_error(), Contains("scale: a[1]: lies on device 1, but the current device is 0"));
}

TEST_CASE("shapes of an output list") {
  Opened opened(listOp());
  Lists given;
  std::vector<const void *> args = given.args();
  args[2] = nullptr;
  int64_t shape[TILEGYM_MAX_RANK];
  int32_t rank = 0, dtype = 0;
  size_t count = 0;
  REQUIRE(tilegym_infer_list(opened.package, 0, args.data(), 2, 1, &count, shape, &rank, &dtype) ==
          TILEGYM_OK);
  CHECK(count == 2);
  CHECK((rank == 2 && shape[0] == 5 && shape[1] == 8 && dtype == TILEGYM_BF16));
  REQUIRE(tilegym_infer_list(opened.package, 0, args.data(), 2, 2, &count, shape, &rank, &dtype) ==
          TILEGYM_OK);
  CHECK(count == 2);
  CHECK(tilegym_infer_shape(opened.package, 0, args.data(), 2, shape, &rank, &dtype) ==
        TILEGYM_INVALID_ARGUMENT);
  CHECK(tilegym_last_error() ==
        std::string("scale: argument number 2 is a list: tilegym_infer_list says its shape"));
  CHECK(tilegym_infer_list(opened.package, 0, args.data(), 1, 0, &count, shape, &rank, &dtype) ==
        TILEGYM_INVALID_ARGUMENT);
  CHECK(tilegym_last_error() ==
        std::string("scale: argument number 1 is no list: tilegym_infer_shape says its shape"));
  CHECK(tilegym_infer_list(opened.package, 0, args.data(), 2, 0, nullptr, shape, &rank, &dtype) ==
        TILEGYM_INVALID_ARGUMENT);
}

TEST_CASE("lists in C++") {
  fakeCuda();
  Opened opened(listOp());
  Lists given;
  std::vector<const void *> args = given.args();
  tilegym::TensorView first(memory() + 4096, TILEGYM_BF16, {2, 8}),
      second(memory() + 3 * 4096, TILEGYM_BF16, {5, 8});
  tilegym::TensorList braces = {first, second};
  CHECK(braces.size() == 2);
  args[0] = braces.c();
  CHECK(tilegym_call(opened.package, 0, args.data(), nullptr) == TILEGYM_OK);
  std::vector<tilegym::TensorView> views = {first, second};
  tilegym::TensorList vector = views;
  args[0] = vector.c();
  CHECK(tilegym_call(opened.package, 0, args.data(), nullptr) == TILEGYM_OK);
  CHECK(vector.c()->tensors[1].shape[0] == 5);
}
