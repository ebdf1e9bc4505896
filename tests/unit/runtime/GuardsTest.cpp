// SPDX-License-Identifier: MIT
// Guards in parts against guards as a whole.
#include "runtime/src/Guards.h"
#include "tests/unit/runtime/Calls.h"
#include <random>

using namespace tilegym::testing;
using namespace tilegym::runtime;

namespace {

Code joined(std::initializer_list<Code> parts, OpCode by) {
  Code code;
  size_t n = 0;
  for (const Code &part : parts) {
    code.insert(code.end(), part.begin(), part.end());
    if (n++)
      code.push_back(inst(by));
  }
  return code;
}

Code compared(uint32_t dim_, OpCode by, int64_t value) { return {dim(dim_), number(value), inst(by)}; }

} // namespace

TEST_CASE("a guard in parts holds where the whole does") {
  const Code few = compared(0, OpCode::LeI, 4), many = compared(1, OpCode::GeI, 3);
  const Code odd = {dim(0), number(2), inst(OpCode::ModI), number(1), inst(OpCode::EqI)};
  const Code fails = {number(1), dim(1), inst(OpCode::FloorDivI), number(0),
                      inst(OpCode::GeI)}; // where dim 1 is 0
  const Code guards[] = {{},
                         few,
                         joined({few, many}, OpCode::AndI),
                         joined({few, many, odd}, OpCode::AndI),
                         joined({few, joined({many, odd}, OpCode::OrI)}, OpCode::AndI),
                         joined({few, joined({many, odd}, OpCode::AndI)}, OpCode::AndI),
                         joined({fails, few}, OpCode::AndI),
                         joined({few, fails}, OpCode::AndI),
                         // Bits of numbers: 6 & 1 is 0, though both are not.
                         {dim(0), dim(1), inst(OpCode::AndI)},
                         joined({few, {dim(0)}}, OpCode::AndI),
                         {dim(0), number(1), inst(OpCode::GtI), dim(1), number(7), inst(OpCode::Select)}};
  Guards parts({/*dims=*/1, 0}), all({/*dims=*/3, 0});
  for (const Code &guard : guards) {
    parts.add(guard);
    all.add(guard);
  }
  // few, many, odd; many | odd; what fails; and three that are no conjunctions of truth values.
  CHECK(parts.numConditions() == 8);
  CHECK(all.numConditions() == 8);
  Guards::State of, ofAll;
  for (int64_t b = 0; b < 9; ++b)
    for (int64_t a = 0; a < 9; ++a) {
      const int64_t dims[] = {a, b};
      Values values;
      values.dims = dims;
      parts.begin(of, values, /*alike=*/a > 0);
      all.begin(ofAll, values, /*alike=*/true);
      for (size_t i = 0; i < std::size(guards); ++i) {
        Evaluated whole = evaluate(guards[i], values);
        bool want = guards[i].empty() || (!whole.error && whole.value.i != 0);
        CHECK(parts.hold(i, of) == want);
        CHECK(all.hold(i, ofAll) == want);
      }
    }
}

TEST_CASE("more conditions than a call remembers") {
  Guards parts({/*dims=*/1, 0});
  std::vector<Code> guards;
  for (int64_t i = 0; i < 40; ++i)
    guards.push_back(joined({compared(0, OpCode::GeI, i), compared(0, OpCode::LeI, i)}, OpCode::AndI));
  for (const Code &guard : guards)
    parts.add(guard);
  CHECK(parts.numConditions() == 80);
  REQUIRE(parts.fit());
  Guards::State state;
  for (int64_t m : {30, 39, 0, 70}) {
    const int64_t dims[] = {m};
    Values values;
    values.dims = dims;
    parts.begin(state, values, /*alike=*/m != 30);
    for (int turn = 0; turn < 2; ++turn)
      for (size_t i = 0; i < 40; ++i)
        CHECK(parts.hold(i, state) == (int64_t(i) == m));
  }
}

TEST_CASE("what does not fit says so") {
  Guards many({1, 0});
  std::vector<Code> guards;
  for (int64_t i = 0; i < int64_t(Terms::kMaxValues); ++i)
    guards.push_back(compared(0, OpCode::GeI, i));
  for (const Code &guard : guards)
    many.add(guard);
  CHECK_FALSE(many.fit());
  Guards kernels({});
  for (size_t i = 0; i <= Guards::kMaxKernels; ++i) {
    CHECK(kernels.fit());
    kernels.add({});
  }
  CHECK_FALSE(kernels.fit());
}

namespace {

/// Random code over three dims, two integer scalars, a float one, sizes, presence, ranks, the device and constants of all magnitudes.
struct RandomCode {
  std::mt19937 random{7};
  uint32_t below(uint32_t n) { return uint32_t(random() % n); }

  int64_t anyNumber() {
    static constexpr int64_t extremes[] = {INT64_MAX,        INT64_MIN,       -1, 0, 1,
                                           int64_t(1) << 62, int64_t(1) << 40};
    return below(4) == 0 ? extremes[below(7)] : int64_t(below(200)) - 20;
  }

  void integer(Code &code, int depth) {
    static constexpr OpCode two[] = {OpCode::AddI, OpCode::SubI,  OpCode::MulI,  OpCode::FloorDivI,
                                     OpCode::ModI, OpCode::CDivI, OpCode::MinI,  OpCode::MaxI,
                                     OpCode::PowI, OpCode::AndI,  OpCode::OrI,   OpCode::XorI,
                                     OpCode::ShlI, OpCode::ShrI,  OpCode::CDivI, OpCode::MulI};
    static constexpr OpCode one[] = {OpCode::NegI, OpCode::AbsI, OpCode::Pow2CeilI, OpCode::BitNotI};
    if (depth == 0 || below(5) == 0)
      return leaf(code);
    switch (below(8)) {
    case 0:
      integer(code, depth - 1);
      code.push_back(inst(one[below(4)]));
      break;
    case 1:
      truth(code, depth - 1);
      integer(code, depth - 1);
      integer(code, depth - 1);
      code.push_back(inst(OpCode::Select));
      break;
    case 2:
      real(code, depth - 1);
      code.push_back(inst(OpCode::FloatToInt));
      break;
    default:
      integer(code, depth - 1);
      integer(code, depth - 1);
      code.push_back(inst(two[below(16)]));
    }
  }

  void leaf(Code &code) {
    switch (below(9)) {
    case 0:
      return code.push_back(inst(OpCode::PushScalarInt, below(2)));
    case 1:
      return code.push_back(inst(OpCode::PushSizeOf, 0));
    case 2:
      return code.push_back(inst(OpCode::PushSmCount));
    case 3:
      return code.push_back(inst(OpCode::PushRank, 0));
    case 4:
      return code.push_back(inst(OpCode::PushPresent, below(3)));
    case 5:
    case 6:
      return code.push_back(number(anyNumber()));
    default:
      return code.push_back(dim(below(3)));
    }
  }

  void real(Code &code, int depth) {
    static constexpr OpCode two[] = {OpCode::AddF, OpCode::SubF, OpCode::MulF,
                                     OpCode::DivF, OpCode::MinF, OpCode::MaxF};
    static constexpr OpCode one[] = {OpCode::NegF, OpCode::AbsF, OpCode::SqrtF, OpCode::FloorF,
                                     OpCode::CeilF};
    if (depth == 0 || below(4) == 0) {
      code.push_back(inst(OpCode::PushScalarFloat, 2));
      return;
    }
    switch (below(3)) {
    case 0:
      integer(code, depth - 1);
      code.push_back(inst(OpCode::IntToFloat));
      break;
    case 1:
      real(code, depth - 1);
      code.push_back(inst(one[below(5)]));
      break;
    default:
      real(code, depth - 1);
      real(code, depth - 1);
      code.push_back(inst(two[below(6)]));
    }
  }

  void truth(Code &code, int depth) {
    static constexpr OpCode compare[] = {OpCode::EqI, OpCode::NeI, OpCode::LtI,
                                         OpCode::LeI, OpCode::GtI, OpCode::GeI};
    switch (depth == 0 ? 9 : below(10)) {
    case 0:
    case 1:
    case 2:
      truth(code, depth - 1);
      truth(code, depth - 1);
      code.push_back(inst(below(3) ? OpCode::AndI : OpCode::OrI));
      break;
    case 3:
      truth(code, depth - 1);
      code.push_back(inst(OpCode::NotB));
      break;
    case 4:
      real(code, depth - 1);
      real(code, depth - 1);
      code.push_back(inst(below(2) ? OpCode::LtF : OpCode::GeF));
      break;
    default:
      integer(code, std::max(depth - 1, 0));
      integer(code, std::max(depth - 1, 0));
      code.push_back(inst(compare[below(6)]));
    }
  }
};

} // namespace

TEST_CASE("random guards and derived parameters are what evaluating each gives, for calls in any order") {
  RandomCode random;
  size_t held = 0, failed = 0;
  for (int op = 0; op < 300; ++op) {
    std::vector<Code> guards(3), derived(6);
    for (Code &guard : guards)
      random.truth(guard, 3);
    for (Code &code : derived)
      if (random.below(4))
        random.integer(code, 3);
    Terms::Varying varying{random.below(8), random.below(8)};
    Guards parts(varying);
    for (size_t k = 0; k < guards.size(); ++k)
      parts.add(guards[k], {derived[2 * k], derived[2 * k + 1]});
    if (!parts.fit())
      continue;
    Guards::State state;
    int64_t dims[3] = {}, ranks[3] = {};
    Cell scalars[3] = {};
    uint8_t dtypes[1] = {F32};
    Values values;
    values.dims = dims;
    values.scalars = scalars;
    values.groupRanks = ranks;
    values.dtypes = dtypes;
    for (int turn = 0; turn < 40; ++turn) {
      bool alike = turn > 0 && random.below(5) != 0;
      for (uint32_t i = 0; i < 3; ++i) {
        if (!alike || varying.dims >> i & 1)
          dims[i] = random.anyNumber();
        if (!alike || varying.scalars >> i & 1) {
          if (i == 2)
            scalars[i].f = double(random.anyNumber()) / 3;
          else
            scalars[i].i = random.anyNumber();
        }
      }
      if (!alike) {
        dtypes[0] = random.below(2) ? F32 : F16;
        ranks[0] = random.below(4);
        values.present = random.below(8);
        values.smCount = random.below(200);
      }
      parts.begin(state, values, alike);
      for (size_t k = 0; k < guards.size(); ++k) {
        Evaluated whole = evaluate(guards[k], values);
        REQUIRE(parts.hold(k, state) == (!whole.error && whole.value.i != 0));
        held += !whole.error && whole.value.i != 0;
        int64_t want[2], have[2];
        bool works = true;
        for (size_t p = 0; p < 2; ++p) {
          Evaluated e = derived[2 * k + p].empty() ? Evaluated{} : evaluate(derived[2 * k + p], values);
          works &= !e.error;
          want[p] = derived[2 * k + p].empty() ? kRunTime : e.value.i;
        }
        REQUIRE(parts.derive(k, state, have) == works);
        if (works)
          REQUIRE((have[0] == want[0] && have[1] == want[1]));
        failed += !works;
      }
    }
  }
  CHECK(held > 5000);
  CHECK(failed > 2000);
}

TEST_CASE("what surely stays over a range does so at each place of it") {
  RandomCode random;
  size_t stayed = 0, moved = 0, asked = 0;
  for (int op = 0; op < 4000; ++op) {
    // Mostly what guards are made of, as random code of all kinds seldom has one that stays.
    std::vector<Code> guards(2), derived(2);
    for (Code &guard : guards) {
      Code side[2];
      for (Code &code : side) {
        code = {dim(random.below(3) ? 0 : 1)};
        for (uint32_t steps = random.below(4); steps > 0; --steps) {
          static constexpr OpCode operations[] = {
              OpCode::CDivI, OpCode::MulI, OpCode::AddI,      OpCode::SubI,  OpCode::MinI,
              OpCode::MaxI,  OpCode::ModI, OpCode::FloorDivI, OpCode::CDivI, OpCode::NegI};
          OpCode by = operations[random.below(10)];
          if (by != OpCode::NegI)
            code.push_back(random.below(3) ? number(int64_t(random.below(70)) - 6) : dim(random.below(2)));
          code.push_back(inst(by));
        }
      }
      static constexpr OpCode compare[] = {OpCode::EqI, OpCode::NeI, OpCode::LtI,
                                           OpCode::LeI, OpCode::GtI, OpCode::GeI};
      guard = side[0];
      guard.insert(guard.end(), side[1].begin(), side[1].end());
      guard.push_back(inst(compare[random.below(6)]));
      if (random.below(4) == 0)
        random.truth(guard = {}, 2);
    }
    derived[0] = {dim(0), number(8), inst(OpCode::LeI), number(8), number(16), inst(OpCode::Select)};
    if (random.below(2))
      derived[1] = {dim(0), number(int64_t(random.below(100)) + 1), inst(OpCode::CDivI)};
    Guards parts({/*dims=*/1, 0});
    parts.add(guards[0], {derived[0]});
    parts.add(guards[1], {derived[1]});
    int64_t dims[3] = {int64_t(random.below(2) ? random.below(64) : random.below(100000)), random.anyNumber(),
                       random.anyNumber()};
    int64_t ranks[3] = {};
    Cell scalars[3] = {};
    scalars[2].f = 1.5;
    uint8_t dtypes[1] = {F32};
    Values values;
    values.dims = dims;
    values.scalars = scalars;
    values.groupRanks = ranks;
    values.dtypes = dtypes;
    values.smCount = 132;
    Guards::State state;
    parts.begin(state, values, /*alike=*/false);
    bool holds[2];
    uint64_t deriving = 0;
    int64_t have[2][1] = {};
    for (size_t k = 0; k < 2; ++k)
      if ((holds[k] = parts.hold(k, state)) && parts.derive(k, state, have[k]))
        deriving |= uint64_t(1) << k;
    int64_t low = dims[0] - int64_t(random.below(40)), high = dims[0] + int64_t(random.below(40));
    ++asked;
    if (!parts.stay(state, deriving, low, high))
      continue;
    ++stayed;
    Guards::State other;
    for (dims[0] = low; dims[0] <= high; ++dims[0]) {
      parts.begin(other, values, /*alike=*/dims[0] > low);
      for (size_t k = 0; k < 2; ++k) {
        int64_t now[1];
        REQUIRE(parts.hold(k, other) == holds[k]);
        if (deriving >> k & 1) {
          REQUIRE(parts.derive(k, other, now));
          REQUIRE(now[0] == have[k][0]);
        }
        ++moved;
      }
    }
  }
  CHECK(asked == 4000);
  CHECK(stayed > 500);
  CHECK(moved > 20000);
}
