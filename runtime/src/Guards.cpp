// SPDX-License-Identifier: MIT
// A guard is split where its last instruction joins two truth values. In postfix code an operand ends right before its operator or the next operand, and
// begins where as many values have been made as it needs.
#include "Guards.h"
#include <algorithm>
#include <bit>

namespace tilegym::runtime {

using namespace format;

namespace {

using Code = Terms::Code;

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

} // namespace

static bool isSame(const Inst &a, const Inst &b) { return a.code == b.code && a.a == b.a && a.imm == b.imm; }

void Guards::add(Code guard, const std::vector<Code> &derived) {
  Kernel &kernel = kernels.emplace_back();
  std::vector<Code> parts;
  if (!guard.empty())
    split(guard, parts);
  for (Code part : parts) {
    auto known = std::ranges::find_if(
        conditions, [&](const Condition &c) { return std::ranges::equal(c.source, part, isSame); });
    auto number = uint32_t(known - conditions.begin());
    uint64_t bit = number < 64 ? uint64_t(1) << number : 0;
    if (known == conditions.end()) {
      conditions.push_back({part, terms.add(part)});
      staying |= terms.varies(conditions.back().term) ? 0 : bit;
    }
    kernel.conditions.push_back(number);
    kernel.mask |= bit;
  }
  for (Code code : derived) {
    kernel.derived.push_back(code.empty() ? kTuned : terms.add(code));
    kernel.derivedVaries |= !code.empty() && terms.varies(kernel.derived.back());
  }
}

void Guards::begin(State &state, const Values &values, bool alike) const {
  bool isAlike = terms.begin(state.terms, values, alike);
  state.known &= isAlike ? staying : 0;
  state.holding &= state.known;
  state.hasOpen &= isAlike;
}

void Guards::findOpen(State &state) const {
  state.stayed = state.known & staying;
  state.hasOpen = true;
  state.open = 0;
  for (size_t k = 0; k < kernels.size(); ++k)
    state.open |= uint64_t(!(kernels[k].mask & state.stayed & ~state.holding)) << k;
}

bool Guards::stay(const State &state, uint64_t deriving, int64_t low, int64_t high) const {
  if (!terms.varyByOneDim() || conditions.size() > 64)
    return false;
  for (uint64_t rest = state.known & ~staying; rest; rest &= rest - 1)
    if (!terms.stays(conditions[size_t(std::countr_zero(rest))].term, state.terms, low, high))
      return false;
  for (; deriving; deriving &= deriving - 1)
    for (size_t term : kernels[size_t(std::countr_zero(deriving))].derived)
      if (term != kTuned && !terms.stays(term, state.terms, low, high))
        return false;
  return true;
}

bool Guards::derive(size_t kernel, State &state, int64_t *derived) const {
  for (size_t term : kernels[kernel].derived) {
    *derived = kRunTime;
    if (term != kTuned && !terms.value(term, state.terms, derived))
      return false;
    ++derived;
  }
  return true;
}

} // namespace tilegym::runtime
