// SPDX-License-Identifier: MIT
// Integers are exact 64-bit ones with the language's semantics: floor division, remainder with the divisor's sign, wrapping never silently (an
// overflow is an error, as in the compiler's own evaluator).
#include "Postfix.h"
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace tilegym::runtime {
namespace {

using format::Inst;
using format::OpCode;
constexpr int kStack = 64, kSums = 4;
/// A sum of more terms is a mistake, not work to do.
constexpr int64_t kMaxTerms = int64_t(1) << 24;

/// What an instruction takes from the stack.
enum class Form : uint8_t {
  Push,
  Unary,
  Integers,
  Reals,
  Ternary,
  Variable,
  ListDim,
  BeginSum,
  EndSum,
  Unknown
};

constexpr Form formOf(OpCode code) {
  if (code <= OpCode::PushListLength)
    return Form::Push;
  switch (code) {
  case OpCode::PushVariable:
    return Form::Variable;
  case OpCode::ListDim:
    return Form::ListDim;
  case OpCode::BeginSum:
    return Form::BeginSum;
  case OpCode::EndSum:
    return Form::EndSum;
  case OpCode::NegI:
  case OpCode::AbsI:
  case OpCode::Pow2CeilI:
  case OpCode::BitNotI:
  case OpCode::NotB:
  case OpCode::NegF:
  case OpCode::AbsF:
  case OpCode::SqrtF:
  case OpCode::FloorF:
  case OpCode::CeilF:
  case OpCode::IntToFloat:
  case OpCode::FloatToInt:
    return Form::Unary;
  case OpCode::Select:
    return Form::Ternary;
  default:
    return code > OpCode::EndSum ? Form::Unknown : code < OpCode::AddF ? Form::Integers : Form::Reals;
  }
}

/// As a table: expressions are evaluated on every call.
constexpr auto kForms = [] {
  std::array<Form, size_t(OpCode::EndSum) + 1> forms{};
  for (size_t code = 0; code < forms.size(); ++code)
    forms[code] = formOf(OpCode(code));
  return forms;
}();

int64_t floorDivide(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/// With the divisor's sign. Not by a product, which may overflow.
int64_t remainder(int64_t a, int64_t b) {
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

struct Machine {
  const char *error = nullptr;

  int64_t overflow() {
    error = "an integer does not fit in 64 bits";
    return 0;
  }
  bool divisible(int64_t a, int64_t b) {
    if (b == 0)
      error = "division by zero";
    else if (a == INT64_MIN && b == -1)
      overflow();
    return !error;
  }
  int64_t power(int64_t base, int64_t exponent) {
    if (exponent < 0) {
      error = "a negative power of an integer";
      return 0;
    }
    if (base == 0 || base == 1 || base == -1) // these never overflow, however large the exponent
      return exponent == 0 || base == 1 ? 1 : base == 0 ? 0 : exponent % 2 ? -1 : 1;
    int64_t result = 1;
    for (; exponent > 0; --exponent)
      if (__builtin_mul_overflow(result, base, &result))
        return overflow();
    return result;
  }
  int64_t pow2ceil(int64_t a) {
    if (a <= 1)
      return 1;
    return a > int64_t(1) << 62 ? overflow() : int64_t(std::bit_ceil(uint64_t(a)));
  }
  int64_t shift(int64_t a, int64_t b, bool left) {
    if (b < 0) {
      error = "a shift by a negative number";
      return 0;
    }
    if (!left)
      return b > 63 ? (a >= 0 ? 0 : -1) : a >> b;
    if (a == 0)
      return 0;
    int64_t r = b > 63 ? 0 : int64_t(uint64_t(a) << b);
    return b > 63 || r >> b != a ? overflow() : r;
  }

  int64_t integer(OpCode code, int64_t a, int64_t b) {
    int64_t r = 0;
    switch (code) {
    case OpCode::AddI:
      return __builtin_add_overflow(a, b, &r) ? overflow() : r;
    case OpCode::SubI:
      return __builtin_sub_overflow(a, b, &r) ? overflow() : r;
    case OpCode::MulI:
      return __builtin_mul_overflow(a, b, &r) ? overflow() : r;
    case OpCode::FloorDivI:
      return divisible(a, b) ? floorDivide(a, b) : 0;
    case OpCode::ModI:
      return b == -1 ? 0 : divisible(a, b) ? remainder(a, b) : 0;
    case OpCode::CDivI:
      return divisible(a, b) ? floorDivide(a, b) + (a % b != 0) : 0;
    case OpCode::MinI:
      return a < b ? a : b;
    case OpCode::MaxI:
      return a > b ? a : b;
    case OpCode::PowI:
      return power(a, b);
    case OpCode::AndI:
      return a & b;
    case OpCode::OrI:
      return a | b;
    case OpCode::XorI:
      return a ^ b;
    case OpCode::ShlI:
      return shift(a, b, true);
    case OpCode::ShrI:
      return shift(a, b, false);
    case OpCode::EqI:
      return a == b;
    case OpCode::NeI:
      return a != b;
    case OpCode::LtI:
      return a < b;
    case OpCode::LeI:
      return a <= b;
    case OpCode::GtI:
      return a > b;
    default:
      return a >= b;
    }
  }

  static Cell real(OpCode code, double a, double b) {
    Cell c{};
    switch (code) {
    case OpCode::AddF:
      c.f = a + b;
      break;
    case OpCode::SubF:
      c.f = a - b;
      break;
    case OpCode::MulF:
      c.f = a * b;
      break;
    case OpCode::DivF:
      c.f = a / b;
      break;
    case OpCode::MinF:
      c.f = std::isnan(a) || std::isnan(b) ? a + b : a == b ? (std::signbit(a) ? a : b) : a < b ? a : b;
      break;
    case OpCode::MaxF:
      c.f = std::isnan(a) || std::isnan(b) ? a + b : a == b ? (std::signbit(a) ? b : a) : a > b ? a : b;
      break;
    case OpCode::EqF:
      c.i = a == b;
      break;
    case OpCode::NeF:
      c.i = a != b;
      break;
    case OpCode::LtF:
      c.i = a < b;
      break;
    case OpCode::LeF:
      c.i = a <= b;
      break;
    case OpCode::GtF:
      c.i = a > b;
      break;
    default:
      c.i = a >= b;
      break;
    }
    return c;
  }

  Cell unary(OpCode code, Cell a) {
    Cell c{};
    switch (code) {
    case OpCode::NegI:
      c.i = a.i == INT64_MIN ? overflow() : -a.i;
      break;
    case OpCode::AbsI:
      c.i = a.i == INT64_MIN ? overflow() : a.i < 0 ? -a.i : a.i;
      break;
    case OpCode::Pow2CeilI:
      c.i = pow2ceil(a.i);
      break;
    case OpCode::BitNotI:
      c.i = ~a.i;
      break;
    case OpCode::NotB:
      c.i = !a.i;
      break;
    case OpCode::NegF:
      c.f = -a.f;
      break;
    case OpCode::AbsF:
      c.f = std::fabs(a.f);
      break;
    case OpCode::SqrtF:
      c.f = std::sqrt(a.f);
      break;
    case OpCode::FloorF:
      c.f = std::floor(a.f);
      break;
    case OpCode::CeilF:
      c.f = std::ceil(a.f);
      break;
    case OpCode::IntToFloat:
      c.f = double(a.i);
      break;
    default: // FloatToInt: truncate, saturate, NaN is 0
      c.i = std::isnan(a.f) ? 0 : a.f >= 0x1p63 ? INT64_MAX : a.f < -0x1p63 ? INT64_MIN : int64_t(a.f);
      break;
    }
    return c;
  }

  int64_t listDim(uint32_t dim, int64_t element, const Values &v) {
    if (element >= 0 && element < int64_t(v.listDimCounts[dim]))
      return v.listDims[dim][element];
    error = "an element that the list has not";
    return 0;
  }

  // ---- sums: the variable and its end of each that has begun
  struct Sum {
    int64_t at, end;
  };
  Sum sums[kSums];
  int numSums = 0;

  /// Where execution goes on.
  const Inst *beginSum(const Inst *inst, int64_t first, int64_t end) {
    if (first >= end)
      return inst + inst->a;
    if (uint64_t(end) - uint64_t(first) > uint64_t(kMaxTerms))
      error = "a sum of more than 16777216 terms";
    sums[numSums++] = {first, end};
    return inst;
  }
  const Inst *endSum(const Inst *inst) {
    if (++sums[numSums - 1].at < sums[numSums - 1].end)
      return inst - inst->a;
    --numSums;
    return inst;
  }

  static Cell push(const Inst &inst, const Values &v) {
    Cell c{};
    switch (inst.code) {
    case OpCode::PushDim:
      c.i = v.dims[inst.a];
      break;
    case OpCode::PushScalarInt:
    case OpCode::PushScalarFloat:
      c = v.scalars[inst.a];
      break;
    case OpCode::PushPresent:
      c.i = v.present >> inst.a & 1;
      break;
    case OpCode::PushParam:
      c.i = v.params[inst.a];
      break;
    case OpCode::PushSmCount:
      c.i = v.smCount;
      break;
    case OpCode::PushRank:
      c.i = v.groupRanks[inst.a];
      break;
    case OpCode::PushSizeOf:
      c.i = format::bytesOf(format::DType(v.dtypes[inst.a]));
      break;
    case OpCode::PushDType:
      c.i = v.dtypes[inst.a];
      break;
    case OpCode::PushListLength:
      c.i = v.listLengths[inst.a];
      break;
    default: // PushInt, PushFloat: the same bits
      c.i = inst.imm;
      break;
    }
    return c;
  }
};

/// Two operands and one operation that cannot fail, or a division: most of what calls evaluate. False where the code is none of that.
bool evaluateShort(std::span<const Inst> code, const Values &values, int64_t *value) {
  if (code.size() != 3 || code[0].code > OpCode::PushListLength || code[1].code > OpCode::PushListLength)
    return false;
  int64_t a = Machine::push(code[0], values).i, b = Machine::push(code[1], values).i;
  switch (code[2].code) {
  case OpCode::CDivI:
    if (a < 0 || b <= 0)
      return false;
    *value = a / b + (a % b != 0);
    return true;
  case OpCode::LtI:
    *value = a < b;
    return true;
  case OpCode::LeI:
    *value = a <= b;
    return true;
  case OpCode::GtI:
    *value = a > b;
    return true;
  case OpCode::GeI:
    *value = a >= b;
    return true;
  default:
    return false;
  }
}

} // namespace

int operandsOf(OpCode code) {
  switch (kForms[size_t(code)]) {
  case Form::Unary:
  case Form::ListDim:
    return 1;
  case Form::Integers:
  case Form::Reals:
  case Form::BeginSum:
  case Form::EndSum:
    return 2;
  case Form::Ternary:
    return 3;
  default:
    return 0;
  }
}

Cell pushed(const Inst &inst, const Values &values) { return Machine::push(inst, values); }

Evaluated apply(OpCode code, const Cell *operands) {
  Machine machine;
  Cell made{};
  switch (kForms[size_t(code)]) {
  case Form::Integers:
    made.i = machine.integer(code, operands[0].i, operands[1].i);
    break;
  case Form::Unary:
    made = machine.unary(code, operands[0]);
    break;
  case Form::Reals:
    made = Machine::real(code, operands[0].f, operands[1].f);
    break;
  case Form::Ternary:
    made = operands[0].i ? operands[1] : operands[2];
    break;
  case Form::Variable: // those of sums stand in no straight line
  case Form::ListDim:
  case Form::BeginSum:
  case Form::EndSum:
  case Form::Push:
  case Form::Unknown:
    break;
  }
  return {made, machine.error};
}

Evaluated evaluate(std::span<const Inst> code, const Values &values) {
  if (int64_t value = 0; evaluateShort(code, values, &value))
    return {Cell{value}, nullptr};
  Cell stack[kStack];
  stack[0] = Cell{};
  Cell *top = stack; // the first free one
  Machine machine;
  for (const Inst *at = code.data(), *end = at + code.size(); at != end; ++at) {
    const Inst &inst = *at;
    if (inst.code <= OpCode::PushListLength) { // every second one, in code as short as it is
      *top++ = Machine::push(inst, values);
      continue;
    }
    switch (kForms[size_t(inst.code)]) {
    case Form::Integers:
      --top;
      top[-1].i = machine.integer(inst.code, top[-1].i, top->i);
      break;
    case Form::Unary:
      top[-1] = machine.unary(inst.code, top[-1]);
      break;
    case Form::Reals:
      --top;
      top[-1] = Machine::real(inst.code, top[-1].f, top->f);
      break;
    case Form::Ternary:
      top -= 2;
      top[-1] = top[-1].i ? top[0] : top[1];
      break;
    case Form::Variable:
      (top++)->i = machine.sums[inst.a].at;
      break;
    case Form::ListDim:
      top[-1].i = machine.listDim(inst.a, top[-1].i, values);
      break;
    case Form::BeginSum:
      --top;
      at = machine.beginSum(at, std::exchange(top[-1].i, 0), top->i);
      break;
    case Form::EndSum:
      --top;
      top[-1].i = machine.integer(OpCode::AddI, top[-1].i, top->i);
      at = machine.endSum(at);
      break;
    case Form::Push:
    case Form::Unknown:
      break;
    }
    if (machine.error) [[unlikely]]
      return {Cell{}, machine.error};
  }
  return {stack[0], nullptr};
}

namespace {

/// Walks code once, as if every sum had one term.
struct CodeChecker {
  std::span<const Inst> code;
  const CodeLimits &limits;
  struct Open {
    size_t begin;
    int top; ///< of the stack within it, with the sum so far
  };
  Open sums[kSums] = {};
  int numSums = 0, top = 0;

  uint32_t limitOf(OpCode opcode) const {
    switch (opcode) {
    case OpCode::PushDim:
    case OpCode::PushRank:
    case OpCode::ListDim:
      return limits.dims;
    case OpCode::PushScalarInt:
    case OpCode::PushScalarFloat:
      return limits.scalars;
    case OpCode::PushPresent:
    case OpCode::PushListLength:
      return limits.tensors;
    case OpCode::PushParam:
      return limits.params;
    case OpCode::PushSizeOf:
    case OpCode::PushDType:
      return limits.typeVars;
    case OpCode::PushVariable:
      return uint32_t(numSums);
    default:
      return UINT32_MAX;
    }
  }

  bool names(const Inst &inst) const {
    if (inst.a >= limitOf(inst.code))
      return false;
    bool isDim = inst.code == OpCode::PushDim || inst.code == OpCode::ListDim;
    if (isDim && (limits.listDims >> inst.a & 1) != (inst.code == OpCode::ListDim))
      return false;
    return inst.code != OpCode::PushListLength || limits.lists >> inst.a & 1;
  }

  const char *beginSum(size_t at) {
    if (numSums == kSums || code[at].a >= code.size() - at)
      return "a sum without an end";
    sums[numSums++] = {at, top};
    return nullptr;
  }
  const char *endSum(size_t at) {
    const Inst &end = code[at];
    if (!numSums || sums[numSums - 1].begin + end.a != at || code[sums[numSums - 1].begin].a != end.a)
      return "a sum without a beginning";
    return top == sums[--numSums].top ? nullptr : "a sum of more than one term";
  }

  const char *run() {
    for (size_t at = 0; at < code.size(); ++at) {
      const Inst &inst = code[at];
      Form form = formOf(inst.code);
      if (form == Form::Unknown)
        return "an expression with an unknown instruction";
      if (form != Form::BeginSum && form != Form::EndSum && !names(inst))
        return "an expression that names nothing";
      int needs = operandsOf(inst.code), within = numSums - (form == Form::EndSum);
      if (top - needs < (within > 0 ? sums[within - 1].top : 0))
        return "an expression that lacks an operand";
      top -= needs - 1;
      if (top > kStack)
        return "an expression that is too deep";
      const char *why = form == Form::BeginSum ? beginSum(at) : form == Form::EndSum ? endSum(at) : nullptr;
      if (why)
        return why;
    }
    if (numSums)
      return "a sum without an end";
    return code.empty() || top == 1 ? nullptr : "an expression with more than one value";
  }
};

} // namespace

const char *checkCode(std::span<const Inst> code, CodeLimits limits) {
  return CodeChecker{.code = code, .limits = limits}.run();
}

} // namespace tilegym::runtime
