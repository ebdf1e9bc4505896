// SPDX-License-Identifier: MIT
// Reductions and scans. Their order is the backend's, so what they add must be exact in any: integers, or floats that are small integers.
#include "compiler/semantics/TileShape.h"
#include "tests/fuzz/kernels/KernelGenerator.h"
#include <algorithm>
#include <cmath>

namespace tilegym::fuzz {

/// Values of which any `count` add up exactly. An empty text where the dtype has too few digits.
Term KernelGenerator::summable(DType dtype, const Shape &shape, int64_t count) {
  if (!isFloat(dtype))
    return value(dtype, shape, 2);
  double room = std::ldexp(1.0, floatFormat(dtype).precision());
  if (room < double(count))
    return Term();
  Term x = value(dtype, shape, 2);
  if (x.whole && x.most * double(count) <= room) {
    x.text = "(" + x.text + " + 0)"; // no -0: whether a sum of those is -0 depends on where it starts
    return x;
  }
  int64_t k = int64_t(std::min(room / double(count), 100.0));
  Term whole = indexTile(shape, std::min<int64_t>(k, 15), 1);
  whole.text = nameOf(dtype) + "(" + whole.text + ")";
  whole.dtype = dtype;
  whole.most = double(std::min<int64_t>(k, 15));
  whole.whole = true;
  return whole;
}

/// A fn of two values that is associative and commutative, by name; `init` is its identity.
std::string KernelGenerator::combiner(DType dtype, bool isScan, std::string &init) {
  bool isMost = false;
  std::string op =
      isFloat(dtype) ? pick({"max", "min"}) : pick({"add", "mul", "max", "min", "and", "or", "xor"});
  if (isScan && !isFloat(dtype) && chance(20))
    op = "last";
  std::string bodyText;
  if (op == "max" || op == "min") {
    bodyText = chance(50) ? op + "(a, b)" : op == "max" ? "max(b, a)" : "min(b, a)";
    isMost = op == "min";
    init = isFloat(dtype) ? (isMost ? "inf" : "-inf")
           : isMost       ? std::to_string(maxInt(dtype))
                          : std::to_string(minInt(dtype));
  } else if (op == "last") { // associative, not commutative: the last that is not zero
    bodyText = "select(b == 0, a, b)";
    init = "0";
  } else {
    bodyText = op == "add"   ? "a + b"
               : op == "mul" ? "a * b"
               : op == "and" ? "a & b"
               : op == "or"  ? "a | b"
                             : "a ^ b";
    init = op == "mul" ? "1" : op == "and" ? isSigned(dtype) ? "-1" : std::to_string(maxInt(dtype)) : "0";
  }
  std::string called = fresh("g");
  functions.push_back("fn " + called + "(a, b) { " + bodyText + " }");
  return called;
}

Term KernelGenerator::reduction(DType dtype, const Shape &shape, int depth) {
  if (dtype == DType::F8E4M3 || dtype == DType::F8E5M2)
    return converted(dtype, shape, depth);
  // The reduced tile: the whole of it for a scalar, else one or two axes, kept as 1 and broadcast back where they should be longer.
  Shape from = shape, kept = shape;
  std::string axisText;
  int64_t count = 1;
  size_t reduced = 0;
  bool oneAxis = true;
  if (shape.empty()) {
    for (int64_t rank = between(1, 3), room = largest; rank > 0; --rank) {
      from.push_back(tileExtent(std::min<int64_t>(room, 128)));
      room /= from.back();
    }
    count = elementsOf(from);
    oneAxis = from.size() == 1;
  } else {
    size_t axis = random.below(shape.size());
    if (from[axis] == 1)
      from[axis] = tileExtent(std::min<int64_t>(128, 2 * largest / elementsOf(shape)));
    kept[axis] = 1;
    reduced = axis;
    count = from[axis];
    axisText = ", axis=" + std::to_string(chance(80) ? int64_t(axis) : int64_t(axis) - int64_t(shape.size()));
    if (shape.size() > 1 && chance(20)) {
      size_t second = (axis + 1) % shape.size();
      kept[second] = 1;
      count *= from[second];
      oneAxis = false;
      axisText = ", axis=[" + std::to_string(axis) + ", " + std::to_string(second) + "]";
    }
  }
  auto finish = [&](const std::string &text) { return reshaped(raw(text, dtype, kept), shape); };
  if (isIndex(dtype)) {
    if (!oneAxis && !shape.empty())
      return leaf(dtype, shape);
    Term x = value(numberDType(), from, depth);
    Term term = finish(std::string(pick({"argmax", "argmin"})) + "(" + x.text + axisText + ")");
    term.low = 0;
    term.high = elementsOf(from) - 1;
    return term;
  }
  if (isBool(dtype)) {
    Term x = value(DType::Bool, from, depth);
    return finish(std::string(pick({"any", "all"})) + "(" + x.text + axisText + ")");
  }
  if (oneAxis && !isPure && chance(20)) {
    std::string init;
    if (chance(30)) { // greatest and where it is, by a fn of a tuple
      DType key = pick({DType::I32, DType::I16, DType::U32});
      Term x = value(key, from, depth);
      Shape places(from.size(), 1);
      places[reduced] = from[reduced];
      std::string best = fresh("v"), at = fresh("v"), fn = fresh("g");
      functions.push_back(
          "fn " + fn +
          "(best, at, value, here) {\n  let better = (value > best) | ((value == best) & (here < at))\n" +
          "  (select(better, value, best), select(better, here, at))\n}");
      line("let (" + best + ", " + at + ") = reduce((" + x.text + ", broadcast(reshape(i32(iota(" +
           std::to_string(from[reduced]) + ")), " + listText(places) + "), " + listText(from) + ")), (" +
           std::to_string(minInt(key)) + ", 2147483647), " + fn + axisText + ")");
      scope.push_back(raw(best, key, kept));
      scope.push_back(raw(at, DType::I32, kept));
      if (dtype == DType::I32)
        return finish(at);
    }
    std::string fn = combiner(dtype, false, init);
    Term x = value(dtype, from, depth);
    return finish("reduce(" + x.text + ", " + init + ", " + fn + axisText + ")");
  }
  std::string fn = pick({"sum", "sum", "max", "min", "prod"});
  if (fn == "max" || fn == "min" || (fn == "prod" && isFloat(dtype))) {
    Term x = value(dtype, from, depth);
    Term term = finish((fn == "prod" ? "max" : fn) + "(" + x.text + axisText + ")");
    term.most = x.most;
    term.whole = x.whole;
    return term;
  }
  std::string acc;
  DType narrow = dtype;
  if (chance(30)) {
    narrow = dtype == DType::I64 || dtype == DType::I32   ? pick({DType::I8, DType::I16})
             : dtype == DType::U32 || dtype == DType::U64 ? DType::U8
                                                          : dtype;
    acc = narrow == dtype ? "" : ", acc=" + nameOf(dtype);
  }
  Term x = summable(narrow, from, count);
  if (x.text.empty())
    return leaf(dtype, shape);
  Term term = finish(fn + "(" + x.text + axisText + acc + ")");
  if (isFloat(dtype)) {
    term.most = x.most * double(count);
    term.whole = true;
  }
  return term;
}

Term KernelGenerator::scan(DType dtype, const Shape &shape, int depth) {
  if (shape.empty() || isBool(dtype) || isIndex(dtype) || dtype == DType::F8E4M3 || dtype == DType::F8E5M2)
    return leaf(dtype, shape);
  size_t axis = random.below(shape.size());
  std::string options = shape.size() == 1 && chance(50) ? "" : ", axis=" + std::to_string(axis);
  if (chance(30))
    options += ", reverse=true";
  if (chance(60)) {
    Term x = summable(dtype, shape, shape[axis]);
    if (!x.text.empty()) {
      Term term = raw("cumsum(" + x.text + options + ")", dtype, shape);
      if (isFloat(dtype)) {
        term.most = x.most * double(shape[axis]);
        term.whole = true;
      }
      return term;
    }
  }
  if (isInt(dtype) && !isPure && chance(30)) { // x -> a x + b, composed: two tiles, and the order matters
    Term a = value(dtype, shape, depth), b = value(dtype, shape, depth);
    std::string fn = fresh("g"), factor = fresh("v"), sum = fresh("v");
    functions.push_back("fn " + fn + "(a, b, c, d) { (a * c, b * c + d) }");
    line("let (" + factor + ", " + sum + ") = scan((" + a.text + ", " + b.text + "), (1, 0), " + fn +
         options + ")");
    scope.push_back(raw(factor, dtype, shape));
    scope.push_back(raw(sum, dtype, shape));
    return scope.back();
  }
  std::string init, fn = combiner(dtype, true, init);
  Term x = value(dtype, shape, depth);
  return raw("scan(" + x.text + ", " + init + ", " + fn + options + ")", dtype, shape);
}

} // namespace tilegym::fuzz
