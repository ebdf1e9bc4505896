// SPDX-License-Identifier: MIT
// Elementwise operations, conversions, bits and random numbers: only those that every backend computes to the last bit.
#include "tests/fuzz/kernels/KernelGenerator.h"
#include <algorithm>
#include <cmath>

namespace tilegym::fuzz {

constexpr double kAnything = std::numeric_limits<double>::infinity();

/// Beyond what the dtype holds nothing is known; what does not fit the significand is whole no more.
static Term limited(Term term) {
  if (!isFloat(term.dtype))
    return term;
  FloatFormat format = floatFormat(term.dtype);
  if (term.most >= std::ldexp(1.0, format.maxExponent()))
    term.most = kAnything;
  if (term.most > std::ldexp(1.0, format.precision()))
    term.whole = false;
  return term;
}

Term KernelGenerator::unary(DType dtype, const Shape &shape, int depth) {
  Term x = value(dtype, shape, depth);
  if (isBool(dtype))
    return raw("!" + x.text, dtype, shape);
  if (isFloat(dtype)) {
    std::string fn = pick({"-", "-", "abs", "floor", "ceil", "round", "trunc", "sqrt"});
    Term term = raw(fn == "-" ? "(-" + x.text + ")" : fn + "(" + x.text + ")", dtype, shape);
    if (fn != "sqrt") {
      term.most = fn[0] == '-' || fn[0] == 'a' ? x.most : x.most + 1;
      term.whole = x.whole || (fn[0] != '-' && fn[0] != 'a' && x.most < 100);
    }
    return limited(term);
  }
  std::string fn = pick({"-", "~", "abs", "pow2ceil"});
  return raw(fn.size() == 1 ? "(" + fn + x.text + ")" : fn + "(" + x.text + ")", dtype, shape);
}

Term KernelGenerator::binary(DType dtype, const Shape &shape, int depth) {
  Term a = value(dtype, shape, depth), b = loose(dtype, shape, depth);
  bool swap = chance(50);
  const Term &l = swap ? b : a, &r = swap ? a : b;
  auto infix = [&](const std::string &op) {
    return raw("(" + l.text + " " + op + " " + r.text + ")", dtype, shape);
  };
  auto call = [&](const std::string &fn) {
    return raw(fn + "(" + l.text + ", " + r.text + ")", dtype, shape);
  };
  if (isBool(dtype))
    return infix(pick({"&", "|", "^", "==", "!="}));
  if ((dtype == DType::F32 || dtype == DType::I32) && !isPure && chance(5)) {
    Term x = bind(a), y = bind(reshaped(b, shape));
    auto [ptx, op] = dtype == DType::F32 ? pick({std::pair("add.rn.f32", "+"), std::pair("mul.rn.f32", "*")})
                                         : pick({std::pair("sub.s32", "-"), std::pair("xor.b32", "^")});
    return raw(std::string("(inline_ptx(\"") + ptx + " $0, $1, $2;\", " + x.text + ", " + y.text +
                   ") reference " + x.text + " " + op + " " + y.text + ")",
               dtype, shape);
  }
  if (isFloat(dtype)) {
    std::string op = pick({"+", "+", "-", "*", "*", "/", "min", "max", "fmin", "fmax", "fma"});
    if (chance(6)) { // inlined
      std::string fn = fresh("g");
      functions.push_back("fn " + fn + "(a, b) {\n  let c = a * b\n  max(a, c) - b\n}");
      return call(fn);
    }
    if (op == "fma") {
      Term c = loose(dtype, shape, depth);
      return raw("fma(" + l.text + ", " + r.text + ", " + c.text + ")", dtype, shape);
    }
    Term term = op.size() == 1 ? infix(op) : call(op);
    if (op == "+" || op == "-")
      term.most = a.most + b.most;
    else if (op == "*")
      term.most = a.most == 0 || b.most == 0 ? kAnything : a.most * b.most;
    else if (op != "/")
      term.most = std::max(a.most, b.most);
    term.whole = op != "/" && a.whole && b.whole;
    return limited(term);
  }
  std::string op = pick({"+", "-", "*", "&", "|", "^", "<<", ">>", "//", "%", "cdiv", "min", "max", "**"});
  if (op == "//" || op == "%" || op == "cdiv") {
    // A scalar division by zero is an error of the program; tiles give 0.
    std::string divided = l.text, divisor = shape.empty() || chance(30)
                                                ? "(" + r.text + " | " + nameOf(dtype) + "(1))"
                                                : r.text;
    if (chance(40)) {
      divided = a.text;
      divisor = nameOf(dtype) + "(" + std::to_string(between(1, 12)) + ")";
    }
    return raw(op == "cdiv" ? "cdiv(" + divided + ", " + divisor + ")"
                            : "(" + divided + " " + op + " " + divisor + ")",
               dtype, shape);
  }
  if (op == "<<" || op == ">>" || op == "**")
    if (chance(60)) // counts that leave something
      return raw("(" + a.text + " " + op + " " + nameOf(dtype) + "(" + std::to_string(between(0, 7)) + "))",
                 dtype, shape);
  return op == "min" || op == "max" ? call(op) : infix(op);
}

Term KernelGenerator::compare(const Shape &shape, int depth) {
  if (chance(10)) {
    Term x = value(pick({DType::F32, DType::F16, DType::BF16, DType::F64}), shape, depth);
    return raw("isnan(" + x.text + ")", DType::Bool, shape);
  }
  if (chance(15))
    return binary(DType::Bool, shape, depth);
  if (chance(10))
    return unary(DType::Bool, shape, depth);
  DType dtype = chance(20) ? DType::Index : numberDType();
  Term a = value(dtype, shape, depth), b = loose(dtype, shape, depth);
  if (chance(50))
    std::swap(a, b);
  return raw("(" + a.text + " " + pick({"==", "!=", "<", "<=", ">", ">="}) + " " + b.text + ")", DType::Bool,
             shape);
}

Term KernelGenerator::converted(DType dtype, const Shape &shape, int depth) {
  DType from = dtype;
  while (from == dtype)
    from = chance(15)   ? DType::Index
           : chance(20) ? pick({DType::F8E4M3, DType::F8E5M2, DType::Bool})
                        : numberDType();
  Term x = value(from, shape, depth);
  std::string options;
  if (isFloat(dtype) && isFloat(from) && chance(30))
    options = std::string(", round=") + pick({"nearest", "zero", "down", "up"});
  if ((dtype == DType::F8E4M3 || dtype == DType::F8E5M2) && chance(30))
    options += ", sat=false";
  Term term = raw(nameOf(dtype) + "(" + x.text + options + ")", dtype, shape);
  if (!isFloat(dtype))
    return term;
  if (isFloat(from)) {
    term.most = x.most * 1.25; // rounding away
    term.whole = x.whole && x.most < std::ldexp(1.0, floatFormat(dtype).precision());
  } else if (isIndex(from)) {
    term.most = double(std::max(std::abs(x.low), std::abs(x.high)));
    term.whole = true;
  } else {
    term.most = isBool(from) ? 1 : std::max(double(maxInt(from)), -double(minInt(from)));
    term.whole = true;
  }
  return limited(term);
}

Term KernelGenerator::bits(DType dtype, const Shape &shape, int depth) {
  if (isBool(dtype) || isIndex(dtype))
    return leaf(dtype, shape);
  DType from = numberDType();
  Shape other = shape;
  unsigned to = sizeInBytes(dtype), size = sizeInBytes(from);
  if (size != to) {
    if (shape.empty() || shape.back() * to % size != 0)
      return leaf(dtype, shape);
    other.back() = shape.back() * to / size;
    // A part of the extents is legal only where the factor left is.
    if (other.back() > 512 || elementsOf(other) > 2 * largest ||
        (other.back() % 8 && (other.back() & (other.back() - 1))))
      return leaf(dtype, shape);
  }
  Term x = value(from, other, depth);
  if (isFloat(from) && std::isinf(x.most)) {
    if (isPure)
      return leaf(dtype, shape);
    x = bind(x); // the bits of a NaN are nobody's promise
    x.text = "select(isnan(" + x.text + "), " + nameOf(from) + "(1), " + x.text + ")";
  }
  return raw("bitcast(" + x.text + ", " + nameOf(dtype) + ")", dtype, shape);
}

Term KernelGenerator::randomNumbers(DType dtype, const Shape &shape, int depth) {
  if (dtype != DType::U32 && dtype != DType::U16 && dtype != DType::U8 && dtype != DType::F32)
    return leaf(dtype, shape);
  bool uniform = dtype == DType::F32;
  std::string seedText = std::to_string(between(0, 1000));
  for (const auto &[called, type] : scalars)
    if (isInt(type) && chance(60))
      seedText = called;
  Term c = value(pick({DType::Index, DType::Index, DType::I32, DType::U32, DType::I64}), shape, depth);
  int64_t width = uniform ? pick({32, 16, 8}) : int64_t(sizeInBits(dtype));
  std::string options = width == 32 && chance(50) ? "" : ", bits=" + std::to_string(width);
  Term term =
      raw(std::string(uniform ? "uniform" : "philox") + "(" + seedText + ", " + c.text + options + ")", dtype,
          shape);
  if (uniform)
    term.most = 1;
  return term;
}

/// Exact 64-bit integers: every result is kept far from overflow.
Term KernelGenerator::indexArithmetic(const Shape &shape, int depth) {
  Term a = value(DType::Index, shape, depth), b = loose(DType::Index, shape, depth);
  Term term = raw("", DType::Index, shape);
  constexpr int64_t far = int64_t(1) << 40;
  auto infix = [&](const char *op) { return "(" + a.text + " " + op + " " + b.text + ")"; };
  switch (random.below(8)) {
  case 0:
    term.text = infix("+");
    term.low = a.low + b.low;
    term.high = a.high + b.high;
    break;
  case 1:
    term.text = infix("-");
    term.low = a.low - b.high;
    term.high = a.high - b.low;
    break;
  case 2: {
    int64_t k = between(1, 9);
    term.text = "(" + a.text + " * " + std::to_string(k) + ")";
    term.low = a.low * k;
    term.high = a.high * k;
    break;
  }
  case 3: {
    int64_t k = between(1, 40);
    bool remainder = chance(60);
    term.text = "(" + a.text + (remainder ? " % " : " // ") + std::to_string(k) + ")";
    term.low = remainder ? 0 : a.low < 0 ? a.low : 0;
    term.high = remainder ? k - 1 : a.high < 0 ? 0 : a.high;
    break;
  }
  case 4:
    term.text = "min(" + a.text + ", " + b.text + ")";
    term.low = std::min(a.low, b.low);
    term.high = std::min(a.high, b.high);
    break;
  case 5:
    term.text = "max(" + a.text + ", " + b.text + ")";
    term.low = std::max(a.low, b.low);
    term.high = std::max(a.high, b.high);
    break;
  case 6: {
    Term test = loose(DType::Bool, shape, depth);
    term.text = "select(" + test.text + ", " + a.text + ", " + b.text + ")";
    term.low = std::min(a.low, b.low);
    term.high = std::max(a.high, b.high);
    break;
  }
  default: {
    int64_t k = between(1, 16);
    term.text = "cdiv(" + a.text + ", " + std::to_string(k) + ")";
    term.low = a.low < 0 ? a.low : 0;
    term.high = a.high < 0 ? 0 : a.high;
    break;
  }
  }
  if (term.low < -far || term.high > far)
    return a;
  return term;
}

} // namespace tilegym::fuzz
