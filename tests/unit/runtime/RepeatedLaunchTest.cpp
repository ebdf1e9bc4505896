// SPDX-License-Identifier: MIT
// Launches of calls that follow one another are, byte by byte, what each call alone would launch.
#include "runtime/src/PackageHandle.h"
#include "runtime/src/RecentCalls.h"
#include "tests/unit/runtime/Calls.h"
#include "tests/unit/runtime/driver/NullDriver.h"
#include <cstring>
#include <random>
#include <set>

using namespace tilegym::testing;
using namespace tilegym::runtime;
namespace format = tilegym::format;

namespace {

/// product(a: T[M, K], b: T[K, N], s: f32 = 2) -> d: T[M, N]: kernels by the rows, one parameter of every kind, three tensor maps, a grid of two axes.
OpText productOp() {
  OpText o;
  o.name = "product";
  o.typeVars = {{"T", {F32, F16}}, {"", {F32}}};
  o.dims = {{"M"}, {"K"}, {"N"}};
  o.tensors = {{"a", Role::Input, 0, {{0}, {1}}},
               {"b", Role::Input, 0, {{1}, {2}}},
               {"d", Role::Output, 0, {{0}, {2}}}};
  double two = 2;
  int64_t bits;
  std::memcpy(&bits, &two, sizeof bits);
  o.scalars = {{"s", 1, false, {}, bits}};
  o.kernels = {{"few",
                {dim(0), number(64), inst(OpCode::LeI)},
                {"BM"},
                {{dim(0), number(8), inst(OpCode::LeI), number(8), number(16), inst(OpCode::Select)}}},
               {"narrow",
                {dim(0), number(32), inst(OpCode::CDivI), dim(2), number(32), inst(OpCode::CDivI),
                 inst(OpCode::MulI), inst(OpCode::PushSmCount), inst(OpCode::LeI)},
                {"BM"},
                {{}}},
               {"others", {}, {"BM"}, {{}}}};
  std::vector<Param> layout = {
      {ParamKind::TensorMap, 1, 0},     {ParamKind::Dim, 0, 0},       {ParamKind::Dim, 2, 0},
      {ParamKind::Scalar, 0, 0},        {ParamKind::TensorMap, 0, 0}, {ParamKind::Grid, 0, 0},
      {ParamKind::Grid, 1, 0},          {ParamKind::SmCount, 0, 0},   {ParamKind::Stride, 0, 0},
      {ParamKind::TensorPointer, 1, 0}, {ParamKind::TensorMap, 2, 0}, {ParamKind::TensorPointer, 2, 0}};
  for (uint8_t dtype : {F32, F16})
    for (uint32_t kernel = 0; kernel < 3; ++kernel)
      for (int64_t bm : {8, 16, 64})
        for (uint8_t facts : {kFactsFast, kFactsGeneral}) {
          VariantText v;
          v.kernel = kernel;
          v.dtypes = {dtype, F32};
          v.consts = {kRunTime};
          v.params = {bm};
          v.facts = facts;
          v.tensorFacts = {kUnitInner | kAligned, kUnitInner | kAligned, kUnitInner};
          v.layout = layout;
          v.entry = "k" + std::to_string(kernel) + "_" + std::to_string(dtype) + "_" + std::to_string(bm) +
                    "_" + std::to_string(facts);
          v.images = {{80, 1, 0, std::string("ptx\0", 4)}};
          v.maps = {{0, 128, {{1, 0, 32, 0, 0}, {0, 0, 32, 0, 0}}},
                    {1, 0, {{2, 0, 32, 0, 0}, {1, 0, 32, 0, 0}}},
                    {2, 64, {{2, 0, 8, 0, 0}, {0, 0, 1, 0, 0}}}};
          if (facts == kFactsGeneral)
            for (Param &p : v.layout)
              if (p.kind == ParamKind::TensorMap)
                p = {ParamKind::TensorPointer, p.a, 0};
          if (facts == kFactsGeneral)
            v.maps.clear();
          v.grid = {{dim(0), inst(OpCode::PushParam, 0), inst(OpCode::CDivI)},
                    {dim(2), number(32), inst(OpCode::CDivI)}};
          v.blocksPerSm = kernel == 2 ? 1 : 0;
          o.variants.push_back(v);
        }
  return o;
}

struct Launched {
  std::string entry;
  unsigned blocks = 0;
  std::string parameters;
};
/// The last launch; of which variant's layout it is read is known beforehand.
struct {
  const format::Variant *variant = nullptr;
  const Table *table = nullptr;
  Launched launched;
  int count = 0;
} state;

void read(Launched &into, const char *entry, unsigned blocks, void **parameters) {
  into = {entry, blocks, ""};
  for (const format::Param &p : state.table->get<format::Param>(state.variant->layout))
    into.parameters.append(static_cast<const char *>(*parameters++),
                           p.kind == format::ParamKind::TensorMap ? kTensorMapBytes
                           : p.kind == format::ParamKind::Scalar  ? 4
                                                                  : 8);
}

Driver recordingDriver() {
  Driver d = nullDriver();
  nameKernels(d);
  d.launchKernelEx = [](const CUlaunchConfig *config, CUfunction function, void **parameters, void **) {
    ++state.count;
    read(state.launched, reinterpret_cast<const char *>(function), config->gridX, parameters);
    return CUresult(kSuccess);
  };
  return d;
}

} // namespace

TEST_CASE("repeated launches are those of the calls alone") {
  Driver driver = recordingDriver();
  useDriver(&driver);
  tilegym_set_log_level(TILEGYM_LOG_OFF);
  Opened opened(productOp());
  const Table &table = opened.package->table;
  state.table = &table;
  std::mt19937 random(6);
  auto one = [&](unsigned n) { return random() % n == 0; };
  int64_t m = 2, k = 64, n = 96;
  int32_t dtype = TILEGYM_F16;
  int repeats = 0, refused = 0;
  std::set<std::string> seen;
  for (int i = 0; i < 20000; ++i) {
    m = one(4) ? int64_t(random() % 300) : m + 1;
    if (one(40))
      k = int64_t(random() % 4) * 32;
    if (one(40))
      n = int64_t(random() % 5) * 32 + one(3);
    if (one(60))
      dtype = dtype == TILEGYM_F16 ? TILEGYM_F32 : TILEGYM_F16;
    float s = float(random() % 100) / 8;
    auto at = [&](int tensor) {
      return memory() + tensor * (1 << 18) + int64_t(random() % 64) * (one(30) ? 4 : 16);
    };
    Given a(at(0), dtype, {m, k}), b(at(1), dtype, {k, n}), d(at(2), dtype, {m, n});
    const void *args[] = {a.c(), b.c(), one(3) ? nullptr : &s, d.c()};
    auto alone = opened.call();
    REQUIRE(alone->bind(args, false) == TILEGYM_OK);
    alone->smCount = 132;
    Choice choice;
    REQUIRE(choose(*alone, 90, "Null", &choice) == TILEGYM_OK);
    // Of the package's own table, as the call has it.
    Call own(table, table.ops()[0]);
    REQUIRE(own.bind(args, false) == TILEGYM_OK);
    own.smCount = 132;
    REQUIRE(choose(own, 90, "Null", &choice) == TILEGYM_OK);
    state.variant = choice.variant;
    Grid grid;
    REQUIRE(computeGrid(own, choice, &grid) == TILEGYM_OK);
    Parameters parameters;
    Launched expected;
    if (grid.blocks > 0) {
      REQUIRE(fillParameters(driver, own, choice, grid, &parameters) == TILEGYM_OK);
      read(expected, std::string(table.text(choice.variant->entry)).c_str(), unsigned(grid.blocks),
           parameters.pointers);
    }
    int before = state.count;
    REQUIRE(tilegym_call(opened.package, 0, args, nullptr) == TILEGYM_OK);
    REQUIRE(state.count - before == (grid.blocks > 0));
    if (grid.blocks > 0) {
      REQUIRE(state.launched.entry == expected.entry);
      REQUIRE(state.launched.blocks == expected.blocks);
      REQUIRE(state.launched.parameters == expected.parameters);
    }
    seen.insert(expected.entry);
    RecentCall &recent = RecentCall::of(opened.package->number, table, table.ops()[0]);
    repeats += recent.repeated() && recent.repeated()->isOf(driver, choice);
    refused += grid.blocks == 0;
  }
  CHECK(repeats > 5000);
  CHECK(refused > 100);
  CHECK(seen.size() > 10);
  useDriver(nullptr);
}

TEST_CASE("launches whose clusters stay have as many as fit at once") {
  OpText o;
  o.name = "rows";
  o.typeVars = {{"", {F32}}};
  o.dims = {{"R"}};
  o.tensors = {{"x", Role::Input, 0, {{0}}}, {"y", Role::Output, 0, {{0}}}};
  o.kernels = {{"only"}};
  VariantText v;
  v.dtypes = {F32};
  v.images = {{80, 1, 0, std::string("ptx\0", 4)}};
  v.grid = {{dim(0)}, {number(4)}};
  v.blocksPerSm = 1;
  v.cluster = 4;
  o.variants = {v};
  Driver driver = nullDriver();
  static unsigned blocks;
  driver.occupancyMaxActiveClusters = [](int *clusters, CUfunction, const CUlaunchConfig *) {
    return *clusters = 5, CUresult(kSuccess);
  };
  driver.launchKernelEx = [](const CUlaunchConfig *config, CUfunction, void **, void **) {
    return blocks = config->gridX, CUresult(kSuccess);
  };
  useDriver(&driver);
  Opened opened(o);
  auto launched = [&](int64_t rows) {
    Given x(memory(), F32, {rows}), y(memory() + 65536, F32, {rows});
    const void *args[] = {x.c(), y.c()};
    REQUIRE(tilegym_call(opened.package, 0, args, nullptr) == TILEGYM_OK);
    return blocks;
  };
  CHECK(launched(3) == 12);
  CHECK(launched(100) == 20);
  CHECK(launched(101) == 20); // the launch before, again
  CHECK(launched(5) == 20);
  CHECK(launched(4) == 16);
  useDriver(nullptr);
}
