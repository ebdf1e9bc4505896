// SPDX-License-Identifier: MIT
// Values by dtype and shape: the choice of what to write, leaves, literals, and index values that stay in range.
#include "tests/fuzz/kernels/KernelGenerator.h"
#include <algorithm>

namespace tilegym::fuzz {

std::string nameOf(DType dtype) { return std::string(name(dtype)); }

std::string listText(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

int64_t elementsOf(const Shape &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

DType KernelGenerator::numberDType() {
  return pick({DType::F32, DType::F32, DType::F32, DType::F16, DType::F16, DType::BF16, DType::BF16,
               DType::F64, DType::I32, DType::I32, DType::I32, DType::I64, DType::I16, DType::I8, DType::U8,
               DType::U16, DType::U32, DType::U64});
}

DType KernelGenerator::anyDType() {
  return chance(12) ? pick({DType::F8E4M3, DType::F8E5M2, DType::Bool, DType::Bool}) : numberDType();
}

bool KernelGenerator::broadcasts(const Shape &from, const Shape &to) const {
  if (from.size() > to.size())
    return false;
  for (size_t i = 0; i < from.size(); ++i)
    if (int64_t extent = from[from.size() - 1 - i]; extent != 1 && extent != to[to.size() - 1 - i])
      return false;
  return true;
}

Term KernelGenerator::bind(Term term, const char *keyword) {
  if (isPure)
    return term;
  std::string called = fresh("v");
  line(std::string(keyword) + " " + called + " = " + term.text);
  term.text = called;
  scope.push_back(term);
  return term;
}

Term KernelGenerator::reshaped(Term term, const Shape &shape) {
  if (term.shape == shape)
    return term;
  term.text = "broadcast(" + term.text + ", " + listText(shape) + ")";
  term.shape = shape;
  return term;
}

/// With its dtype written out, so that it means the same beside anything.
Term KernelGenerator::literal(DType dtype) {
  Term term = raw("", dtype, {});
  std::string text;
  if (isBool(dtype)) {
    term.text = chance(50) ? "true" : "false";
    return term;
  }
  if (isFloat(dtype)) {
    static const std::vector<std::pair<const char *, double>> values = {
        {"0", 0}, {"1", 1},     {"-1", 1},     {"2", 2},     {"-3", 3},
        {"7", 7}, {"0.5", 0.5}, {"-1.5", 1.5}, {"0.1", 0.1}, {"1e-3", 1e-3}};
    size_t at = random.below(chance(85) ? values.size() : values.size() + 3);
    if (at >= values.size()) {
      text = pick({"inf", "-inf", "nan"});
      if (dtype == DType::F8E4M3)
        text = "nan"; // the only one that it has
    } else {
      text = values[at].first;
      term.most = values[at].second;
      term.whole = at < 6;
    }
  } else if (isIndex(dtype)) {
    term.low = term.high = between(0, 9);
    term.text = std::to_string(term.low); // index literals need no conversion where they meet another index
    term.text = "index(" + term.text + ")";
    return term;
  } else {
    int64_t low = std::max<int64_t>(minInt(dtype), -9), high = 9;
    text = std::to_string(chance(80)   ? between(low, high)
                          : chance(50) ? minInt(dtype) + 1
                                       : int64_t(std::min<uint64_t>(maxInt(dtype), INT64_MAX)));
  }
  term.text = nameOf(dtype) + "(" + text + ")";
  return term;
}

/// An index scalar in [0, most].
Term KernelGenerator::index(int64_t most) {
  Term term = raw("", DType::Index, {});
  auto limited = [&](const std::string &text, int64_t high) {
    term.high = std::min(high, most);
    term.text = high <= most ? text
                : chance(50) ? "min(" + text + ", " + std::to_string(most) + ")"
                             : "(" + text + " % " + std::to_string(most + 1) + ")";
    return term;
  };
  std::vector<const Term *> known;
  for (const Term &t : scope)
    if (isIndex(t.dtype) && t.shape.empty() && t.low >= 0)
      known.push_back(&t);
  if (!known.empty() && chance(65)) {
    const Term &t = *pick(known);
    return limited(t.text, t.high);
  }
  if (!dims.empty() && chance(25)) {
    const DimName &dim = pick(dims);
    return chance(50) ? limited(dim.name, dim.most) : limited("(" + dim.name + " // 2)", dim.most / 2);
  }
  if (most >= 8 && chance(10)) {
    DType dtype = numberDType();
    term.low = term.high = sizeInBytes(dtype);
    term.text = "sizeof(" + nameOf(dtype) + ")";
    return term;
  }
  term.low = term.high = between(0, std::min<int64_t>(most, chance(80) ? 4 : 40));
  term.text = std::to_string(term.low);
  return term;
}

Term KernelGenerator::condition(const Shape &shape, int depth) { return value(DType::Bool, shape, depth); }

/// An integer tile with values in [0, most].
Term KernelGenerator::indexTile(const Shape &shape, int64_t most, int depth) {
  if (shape.size() == 1 && shape[0] - 1 <= most && chance(15)) {
    Term term = raw("iota(" + std::to_string(shape[0]) + ")", DType::Index, shape);
    term.high = shape[0] - 1;
    return term;
  }
  DType dtype = pick({DType::I32, DType::I32, DType::I64, DType::Index, DType::U32, DType::I16, DType::U8});
  if (!isIndex(dtype) && uint64_t(most) + 1 > maxInt(dtype))
    dtype = DType::I32;
  Term term = value(dtype, shape, depth);
  term.text = "(" + term.text + " % " + std::to_string(most + 1) + ")";
  term.low = 0;
  term.high = most;
  return term;
}

Term KernelGenerator::leaf(DType dtype, const Shape &shape) {
  std::vector<const Term *> fitting;
  for (const Term &term : scope)
    if (term.dtype == dtype && broadcasts(term.shape, shape))
      for (int copies = term.shape == shape ? 3 : 1; copies > 0; --copies)
        fitting.push_back(&term);
  if (!fitting.empty() && chance(70))
    return reshaped(*pick(fitting), shape);
  if (!isIndex(dtype) && chance(70))
    return load(dtype, shape, 0);
  if (isIndex(dtype) && !shape.empty() && chance(80)) {
    int64_t n = shape.back();
    Term term = raw("iota(" + std::to_string(n) + ")", dtype, {n});
    term.high = n - 1;
    return reshaped(term, shape);
  }
  if (isIndex(dtype))
    return reshaped(index(200), shape);
  if (!isFloat(dtype) && !isBool(dtype) && !shape.empty() && chance(50)) {
    int64_t n = shape.back();
    return reshaped(raw(nameOf(dtype) + "(iota(" + std::to_string(n) + "))", dtype, {n}), shape);
  }
  for (const auto &[called, type] : scalars)
    if (type == dtype && chance(50))
      return reshaped(raw(called, dtype, {}), shape);
  Term term = literal(dtype);
  if (shape.empty())
    return term;
  if (chance(50) && !isBool(dtype)) {
    term.text = chance(20) ? "zeros(" + nameOf(dtype) + ", " + listText(shape) + ")"
                           : "full(" + term.text + ", " + nameOf(dtype) + ", " + listText(shape) + ")";
    if (term.text[0] == 'z')
      term.most = 0, term.whole = true;
    term.shape = shape;
    return term;
  }
  return reshaped(term, shape);
}

Term KernelGenerator::loose(DType dtype, const Shape &shape, int depth) {
  if (shape.empty() || chance(60))
    return value(dtype, shape, depth);
  Shape part(shape.begin() + long(random.below(shape.size() + 1)), shape.end());
  for (int64_t &extent : part)
    if (chance(25))
      extent = 1;
  return value(dtype, part, depth);
}

Term KernelGenerator::value(DType dtype, const Shape &shape, int depth) {
  if (depth <= 0 || budget <= 0)
    return leaf(dtype, shape);
  --budget;
  Term term;
  bool isNarrow = dtype == DType::F8E4M3 || dtype == DType::F8E5M2;
  unsigned roll = unsigned(random.below(100));
  if (isIndex(dtype))
    term = roll < 60   ? indexArithmetic(shape, depth - 1)
           : roll < 75 ? reduction(dtype, shape, depth - 1)
                       : leaf(dtype, shape);
  else if (roll < 12)
    term = converted(dtype, shape, depth - 1);
  else if (roll < 22)
    term = shapeOp(dtype, shape, depth - 1);
  else if (roll < 32)
    term = reduction(dtype, shape, depth - 1);
  else if (roll < 37)
    term = scan(dtype, shape, depth - 1);
  else if (roll < 41)
    term = bits(dtype, shape, depth - 1);
  else if (roll < 44)
    term = randomNumbers(dtype, shape, depth - 1);
  else if (roll < 52)
    term = load(dtype, shape, depth - 1);
  else if (roll < 55)
    term = ownLoad(dtype, shape, depth - 1);
  else if (roll < 62) {
    Term test = loose(DType::Bool, shape, depth - 1), a = value(dtype, shape, depth - 1),
         b = loose(dtype, shape, depth - 1);
    if (chance(50))
      std::swap(a, b);
    term = raw("select(" + test.text + ", " + a.text + ", " + b.text + ")", dtype, shape);
    term.most = std::max(a.most, b.most);
    term.whole = a.whole && b.whole;
  } else if (isBool(dtype) && roll < 90)
    term = compare(shape, depth - 1);
  else if (isNarrow)
    term = converted(dtype, shape, depth - 1);
  else
    term = roll < 72 ? unary(dtype, shape, depth - 1) : binary(dtype, shape, depth - 1);
  return chance(25) ? bind(term) : term;
}

} // namespace tilegym::fuzz
