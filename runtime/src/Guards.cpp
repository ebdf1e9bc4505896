// SPDX-License-Identifier: MIT
// A guard is split where its last instruction joins two truth values. In postfix code an operand ends right before its operator or the next operand, and
// begins where as many values have been made as it needs.
#include "Guards.h"
#include <algorithm>

namespace tilegym::runtime {

using namespace format;

namespace {

using Code = std::span<const Inst>;

/// The code of the operand that ends with `code`.
Code lastOperand(Code code) {
  size_t begin = code.size();
  for (int missing = 1; missing > 0;)
    missing += operandsOf(code[--begin].code) - 1;
  return code.subspan(begin);
}

/// Whether the value is 0 or 1, so that `&` of two such is their conjunction.
bool isTruth(Code code) {
  OpCode root = code.back().code;
  if (root != OpCode::AndI && root != OpCode::OrI)
    return (root >= OpCode::EqI && root <= OpCode::NotB) || (root >= OpCode::EqF && root <= OpCode::GeF) ||
           root == OpCode::PushPresent;
  Code right = lastOperand(code.first(code.size() - 1));
  return isTruth(right) && isTruth(code.first(code.size() - 1 - right.size()));
}

void split(Code code, std::vector<Code> &conditions) {
  if (code.back().code != OpCode::AndI || !isTruth(code)) {
    conditions.push_back(code);
    return;
  }
  Code right = lastOperand(code.first(code.size() - 1));
  split(code.first(code.size() - 1 - right.size()), conditions);
  split(right, conditions);
}

bool isSame(const Inst &a, const Inst &b) { return a.code == b.code && a.a == b.a && a.imm == b.imm; }

} // namespace

void Guards::add(Code guard) {
  std::vector<uint32_t> &numbers = ofKernel.emplace_back();
  if (guard.empty())
    return;
  std::vector<Code> parts;
  split(guard, parts);
  for (Code part : parts) {
    auto known =
        std::ranges::find_if(conditions, [&](Code c) { return std::ranges::equal(c, part, isSame); });
    numbers.push_back(uint32_t(known - conditions.begin()));
    if (known == conditions.end())
      conditions.push_back(part);
  }
}

bool Guards::hold(size_t kernel, const Values &values, Found &found) const {
  for (uint32_t number : ofKernel[kernel]) {
    uint64_t bit = number < 64 ? uint64_t(1) << number : 0;
    if (!(found.known & bit)) {
      Evaluated e = evaluate(conditions[number], values);
      bool holds = !e.error && e.value.i;
      found.known |= bit;
      found.holding |= holds ? bit : 0;
      if (!holds)
        return false;
    } else if (!(found.holding & bit)) {
      return false;
    }
  }
  return true;
}

} // namespace tilegym::runtime
