// SPDX-License-Identifier: MIT
// Postfix code becomes steps by running it on places in place of values.
#include "Terms.h"
#include <algorithm>
#include <bit>

namespace tilegym::runtime {

using namespace format;

bool Terms::varies(const Inst &inst) const {
  switch (inst.code) {
  case OpCode::PushDim:
    return varying.dims >> inst.a & 1;
  case OpCode::PushScalarInt:
  case OpCode::PushScalarFloat:
    return varying.scalars >> inst.a & 1;
  default:
    return false;
  }
}

/// Where they do not fit none is ever used.
uint16_t Terms::newPlace() {
  numValues = std::min(numValues + 1, kMaxValues);
  return uint16_t(numValues - 1);
}

uint16_t Terms::push(const Inst &inst) {
  if (inst.code == OpCode::PushInt || inst.code == OpCode::PushFloat) { // whose bits are an integer's, too
    auto same = std::ranges::find_if(constants, [&](const auto &c) { return c.second == inst.imm; });
    return same != constants.end() ? same->first : constants.emplace_back(newPlace(), inst.imm).first;
  }
  std::vector<Input> &inputs = varies(inst) ? varyingInputs : fixedInputs;
  auto same = std::ranges::find_if(
      inputs, [&](const Input &i) { return i.inst.code == inst.code && i.inst.a == inst.a; });
  return same != inputs.end() ? same->place : inputs.emplace_back(Input{inst, newPlace()}).place;
}

/// How far a constant that is a power of two shifts; 0 of any other value.
uint8_t Terms::shiftOf(uint16_t place) const {
  auto constant = std::ranges::find_if(constants, [&](const auto &c) { return c.first == place; });
  bool isPower =
      constant != constants.end() && constant->second > 1 && std::has_single_bit(uint64_t(constant->second));
  return isPower ? uint8_t(std::countr_zero(uint64_t(constant->second))) : 0;
}

size_t Terms::add(Code code) {
  struct Operand {
    uint16_t place;
    bool varies;
  };
  std::vector<Operand> stack;
  Term term;
  for (const Inst &inst : code) {
    auto count = size_t(operandsOf(inst.code));
    if (count == 0) {
      stack.push_back({push(inst), varies(inst)});
      continue;
    }
    // An operand that an operation has not is another one's, which changes nothing about what can be worked out.
    const Operand *operands = &stack[stack.size() - count];
    Operand made{};
    Step step{inst.code, 0, operands[0].place, operands[count - 1].place, operands[0].place, 0};
    if (count == 3) {
      step.b = operands[1].place;
      step.c = operands[2].place;
    }
    if (inst.code == OpCode::CDivI)
      step.shift = shiftOf(step.b);
    for (size_t i = 0; i < count; ++i)
      made.varies |= operands[i].varies;
    std::vector<Step> &steps = made.varies ? term.varying : term.fixed;
    auto same = std::ranges::find_if(steps, [&](const Step &s) {
      return s.code == step.code && s.a == step.a && s.b == step.b && s.c == step.c;
    });
    made.place = step.to = same != steps.end() ? same->to : newPlace();
    if (same == steps.end())
      steps.push_back(step);
    stack.resize(stack.size() - count);
    stack.push_back(made);
  }
  term.place = stack.back().place;
  term.varies = stack.back().varies;
  terms.push_back(std::move(term));
  return terms.size() - 1;
}

void Terms::load(const std::vector<Input> &inputs, const Values &values, State &state) {
  for (const Input &input : inputs)
    state.values[input.place] =
        input.inst.code == OpCode::PushDim ? Cell{values.dims[input.inst.a]} : pushed(input.inst, values);
}

bool Terms::runOther(const Step &step, State &state) {
  const Cell operands[] = {state.values[step.a], state.values[step.b], state.values[step.c]};
  if (auto [a, b] = std::pair(operands[0].i, operands[1].i);
      step.code == OpCode::CDivI && a >= 0 && a <= UINT32_MAX && b > 0 && b <= UINT32_MAX) {
    state.values[step.to].i = (a + b - 1) / b;
    return true;
  }
  Evaluated e = apply(step.code, operands);
  state.values[step.to] = e.value;
  return !e.error;
}

bool Terms::begin(State &state, const Values &values, bool alike) const {
  load(varyingInputs, values, state);
  if (alike && state.of == this)
    return true;
  if (state.of != this)
    for (const auto &[place, bits] : constants)
      state.values[place].i = bits;
  state.of = this;
  load(fixedInputs, values, state);
  std::fill_n(state.done, terms.size(), kNotDone);
  return false;
}

/// Whether the result rises with one operand or falls with it, never both, while the others are constant. Then it has at every place between two ends a value between theirs: what it
/// is at both it is throughout, and what overflows at neither never does.
static bool isMonotone(OpCode code, size_t moving, int64_t other) {
  switch (code) {
  case OpCode::AddI:
  case OpCode::SubI:
  case OpCode::MulI:
  case OpCode::MinI:
  case OpCode::MaxI:
  case OpCode::NegI:
  case OpCode::Pow2CeilI:
  case OpCode::LtI:
  case OpCode::LeI:
  case OpCode::GtI:
  case OpCode::GeI:
    return true;
  case OpCode::CDivI:
  case OpCode::FloorDivI:
    return moving == 0 && other > 0;
  default:
    return false;
  }
}

bool Terms::stays(size_t number, const State &state, int64_t low, int64_t high) const {
  struct Ends {
    Cell low, high;
    bool moves;
  };
  const Term &term = terms[number];
  if (!term.varies)
    return true;
  constexpr size_t kMaxSteps = 24;
  uint16_t places[kMaxSteps + 1] = {varyingInputs[0].place};
  Ends ends[kMaxSteps + 1] = {{Cell{low}, Cell{high}, low != high}};
  size_t count = 1;
  if (state.done[number] != kDone || term.varying.size() > kMaxSteps)
    return false;
  auto endsOf = [&](uint16_t place) {
    for (size_t i = 0; i < count; ++i)
      if (places[i] == place)
        return ends[i];
    return Ends{state.values[place], state.values[place], false};
  };
  for (const Step &step : term.varying) {
    auto operands = size_t(operandsOf(step.code));
    const Ends of[] = {endsOf(step.a), endsOf(step.b), endsOf(step.c)};
    const Cell atLow[] = {of[0].low, of[1].low, of[2].low}, atHigh[] = {of[0].high, of[1].high, of[2].high};
    size_t numMoving = 0, moving = 0;
    for (size_t i = 0; i < operands; ++i)
      if (of[i].moves) {
        ++numMoving;
        moving = i;
      }
    if (numMoving > 1 || (numMoving && !isMonotone(step.code, moving, atLow[1 - moving % 2].i)))
      return false;
    Evaluated first = apply(step.code, atLow), last = apply(step.code, atHigh);
    if (first.error || last.error)
      return false;
    places[count] = step.to;
    ends[count++] = {first.value, last.value, numMoving && first.value.i != last.value.i};
  }
  return !endsOf(term.place).moves;
}

} // namespace tilegym::runtime
