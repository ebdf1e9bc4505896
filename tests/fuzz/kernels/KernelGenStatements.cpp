// SPDX-License-Identifier: MIT
// Statements: values bound to names, variables that loops and branches carry, stores, and the control flow around them.
#include "tests/fuzz/kernels/KernelGenerator.h"
#include <algorithm>

namespace tilegym::fuzz {

/// Names made inside of braces end with them.
namespace {
struct Braces {
  explicit Braces(std::vector<Term> &scope, std::vector<size_t> &mutables, int &indent)
      : scope(scope), mutables(mutables), indent(indent), names(scope.size()), vars(mutables.size()) {
    ++indent;
  }
  Braces(const Braces &) = delete;
  ~Braces() {
    scope.resize(names);
    mutables.resize(vars);
    --indent;
  }
  std::vector<Term> &scope;
  std::vector<size_t> &mutables;
  int &indent;
  size_t names, vars;
};
} // namespace

void KernelGenerator::statements(int count, int depth) {
  for (; count > 0 && budget > 0; --count)
    statement(depth);
}

/// True statements, which the compiler may use, and drops.
void KernelGenerator::facts() {
  const GridAxis &axis = pick(axes);
  if (chance(40))
    line("assert(" + axis.index + " * " + axis.tileText + " < " + dims[axis.dim].name +
         ", \"the block has work\")");
  if (chance(40))
    line("assume(" + dims[axis.dim].name + " <= " + std::to_string(dims[axis.dim].most) + ")");
}

/// A scalar that takes part of a tensor which may be left out.
void KernelGenerator::optionalInput() {
  Term x = bind(literal(DType::F32), "var");
  scope.back().most = std::numeric_limits<double>::infinity();
  scope.back().whole = false;
  mutables.push_back(scope.size() - 1);
  line("const if present(optional) { " + x.text + " = " + x.text + " + load(optional[" + index(4).text +
       "]) }");
}

void KernelGenerator::statement(int depth) {
  unsigned roll = unsigned(random.below(100));
  if (indent == 1 &&
      chance(2)) { // the rest of the block is for some; what is written there has a value before
    line("if " + condition({}, 2).text + " { return }");
    inOddFlow = true;
  }
  bool nests = loopDepth < 2 && indent < 4;
  Shape shape =
      outputs.empty() || chance(30) ? Shape{tileExtent(std::min<int64_t>(largest, 128))} : pick(outputs).span;
  if (roll < 18) {
    DType dtype = chance(12) ? DType::Index : anyDType();
    bind(value(dtype, chance(25) ? Shape{} : shape, depth));
  } else if (roll < 30 && mutables.size() < 5) {
    DType dtype = chance(15) ? DType::Bool : numberDType();
    Term x = value(dtype, chance(40) ? Shape{} : shape, depth);
    x.most = std::numeric_limits<double>::infinity(); // nothing that assignments would have to keep
    x.whole = false;
    bind(x, "var");
    mutables.push_back(scope.size() - 1);
  } else if (roll < 45) {
    assign(depth);
  } else if (roll < 65) {
    store(depth);
  } else if (roll < 72) {
    atomic(depth);
  } else if (roll < 77) {
    approximate(2);
  } else if (roll < 85 && nests) {
    branch(depth);
  } else if (roll < 93 && nests) {
    loop(depth);
  } else if (roll < 96 && nests) {
    whileLoop(depth);
  } else if (nests) {
    constLoop(depth);
  }
}

void KernelGenerator::assign(int depth) {
  if (mutables.empty())
    return;
  Term target = scope[pick(mutables)];
  Term x = value(target.dtype, target.shape, depth);
  if (!isBool(target.dtype) && chance(40)) {
    std::string op =
        isFloat(target.dtype) ? pick({"+=", "-=", "*="}) : pick({"+=", "-=", "*=", "&=", "|=", "^="});
    line(target.text + " " + op + " " + x.text);
  } else {
    line(target.text + " = " + x.text);
  }
}

void KernelGenerator::branch(int depth) {
  bool constant = hasFlag && chance(30);
  std::string test = constant ? (hasMode && chance(50) ? pick({"mode == up", "mode == down"}) : "flag")
                              : condition({}, depth - 1).text;
  line((constant ? "const if " : "if ") + test + " {");
  bool odd = inOddFlow;
  inOddFlow = true;
  {
    Braces braces(scope, mutables, indent);
    statements(int(between(1, 3)), depth - 1);
    assign(depth - 1);
    if (loopDepth > 0 && !constant && chance(20))
      line(chance(50) ? "break" : "continue");
  }
  if (chance(40)) {
    line("} else {");
    Braces braces(scope, mutables, indent);
    statements(int(between(1, 2)), depth - 1);
    assign(depth - 1);
  }
  line("}");
  inOddFlow = odd;
}

void KernelGenerator::loop(int depth) {
  std::string called = fresh("k"), from = "0", to, step;
  int64_t high = 0;
  switch (random.below(3)) {
  case 0: {
    int64_t trips = between(1, 5);
    to = std::to_string(trips);
    high = trips - 1;
    break;
  }
  case 1: {
    Term end = index(6);
    to = end.text;
    high = std::max<int64_t>(0, end.high - 1);
    break;
  }
  default: {
    Term start = index(4);
    int64_t stride = between(1, 20), length = between(1, 40);
    from = start.text;
    to = "min(" + start.text + " + " + std::to_string(length) + ", 50)";
    step = " step " + std::to_string(stride);
    if (length / stride > 6)
      step = " step 8";
    high = 49;
  }
  }
  line("for " + called + " in " + from + " .. " + to + step + " {");
  bool odd = inOddFlow;
  inOddFlow = true; // it may run no times
  ++loopDepth;
  {
    Braces braces(scope, mutables, indent);
    Term k = raw(called, DType::Index, {});
    k.high = high;
    scope.push_back(k);
    statements(int(between(1, 4)), depth - 1);
    assign(depth - 1);
  }
  --loopDepth;
  inOddFlow = odd;
  line("}");
}

void KernelGenerator::whileLoop(int depth) {
  std::string called = fresh("n");
  line("var " + called + " = index(0)");
  int64_t trips = between(1, 4);
  std::string test = "(" + called + " < " + std::to_string(trips) + ")";
  if (chance(60))
    test += " & " + condition({}, depth - 1).text;
  line("while " + test + " {");
  bool odd = inOddFlow;
  inOddFlow = true;
  ++loopDepth;
  {
    Braces braces(scope, mutables, indent);
    line(called + " += 1");
    Term n = raw(called, DType::Index, {});
    n.high = trips;
    scope.push_back(n);
    statements(int(between(1, 3)), depth - 1);
    assign(depth - 1);
  }
  --loopDepth;
  inOddFlow = odd;
  line("}");
}

void KernelGenerator::constLoop(int depth) {
  std::string called = fresh("c");
  int64_t trips = between(1, 3);
  line("const for " + called + " in 0 .. " + std::to_string(trips) + " {");
  Braces braces(scope, mutables, indent);
  Term c = raw(called, DType::Index, {});
  c.high = trips - 1;
  scope.push_back(c);
  bool odd = inOddFlow;
  inOddFlow = true;
  int depthOfLoops = loopDepth;
  loopDepth = 0; // `break` is for loops of run time
  statements(int(between(1, 2)), depth - 1);
  loopDepth = depthOfLoops;
  inOddFlow = odd;
  body.push_back(std::string(2 * size_t(indent - 1), ' ') + "}");
}

} // namespace tilegym::fuzz
