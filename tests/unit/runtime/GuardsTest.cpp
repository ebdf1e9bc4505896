// SPDX-License-Identifier: MIT
// Guards in parts against guards as a whole.
#include "runtime/src/Guards.h"
#include "tests/unit/runtime/Calls.h"

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
  Guards parts;
  for (const Code &guard : guards)
    parts.add(guard);
  // few, many, odd; many | odd; what fails; and three that are no conjunctions of truth values.
  CHECK(parts.size() == 8);
  for (int64_t a = 0; a < 9; ++a)
    for (int64_t b = 0; b < 9; ++b) {
      const int64_t dims[] = {a, b};
      Values values;
      values.dims = dims;
      Guards::Found found;
      for (size_t i = 0; i < std::size(guards); ++i) {
        Evaluated whole = evaluate(guards[i], values);
        CHECK(parts.hold(i, values, found) == (guards[i].empty() || (!whole.error && whole.value.i != 0)));
      }
    }
}

TEST_CASE("more conditions than a call remembers") {
  Guards parts;
  std::vector<Code> guards;
  for (int64_t i = 0; i < 80; ++i)
    guards.push_back(joined({compared(0, OpCode::GeI, i), compared(0, OpCode::LeI, i)}, OpCode::AndI));
  for (const Code &guard : guards)
    parts.add(guard);
  CHECK(parts.size() == 160);
  const int64_t dims[] = {70};
  Values values;
  values.dims = dims;
  for (int turn = 0; turn < 2; ++turn) {
    Guards::Found found;
    for (size_t i = 0; i < 80; ++i)
      CHECK(parts.hold(i, values, found) == (i == 70));
  }
}
