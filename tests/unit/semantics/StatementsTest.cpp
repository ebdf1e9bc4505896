// SPDX-License-Identifier: MIT
// Names, scopes, statements and functions of bodies: what they become, and each way of getting them wrong.
#include "BodyTesting.h"

using namespace tilegym::sem::testing;

TEST_CASE("let keeps constants open and computes the rest once") {
  CHECK(kernelText("let a = 2\nlet v = exp(eps) * a\nlet w2 = v") ==
        "let v.0 = mul(exp(eps):f32, 2.0:f32):f32\n");
  CHECK(kernelText("let i = block(0)\nlet v = i + BM") ==
        "let i.0 = block_id(0):index\nlet v.1 = add(i.0, 32:index):index\n");
}

TEST_CASE("var, assignment and tuples") {
  CHECK(kernelText("var a = 1\nvar b2 = 0.5\n(a, _) = (a + 1, 2)") ==
        "var a.0 = 1:index\nvar b2.1 = 0.5:f32\nlet value.2 = add(a.0, 1:index):index\na.0 = value.2\n");
  CHECK(kernelText("var a = f32(1)\nvar c = f32(2)\n(a, c) = (c, a)") ==
        "var a.0 = 1.0:f32\nvar c.1 = 2.0:f32\nlet value.2 = c.1\nlet value.3 = a.0\na.0 = value.2\nc.1 = "
        "value.3\n");
  CHECK(kernelText("var a = zeros(f32, [4, 8])\na += 1") ==
        "var a.0 = broadcast(0.0:f32):f32[4, 8]\na.0 = add(a.0, broadcast(1.0:f32):f32[4, 8]):f32[4, 8]\n");
  CHECK(kernelText("let (a, c) = (1, (2, eps))\nlet v = iota(8) + c[0] + a") ==
        "let v.0 = add(add(iota():index[8], broadcast(2:index):index[8]):index[8], "
        "broadcast(1:index):index[8]):index[8]\n");
}

TEST_CASE("a var that is read later is taken when it is named") {
  CHECK(kernelText("var a = f32(1)\nlet old = a\na = a + 1") ==
        "var a.0 = 1.0:f32\nlet old.1 = a.0\na.0 = add(a.0, 1.0:f32):f32\n");
}

TEST_CASE("loops, conditions and their exits") {
  CHECK(kernelText("for i in 0 .. N step BN {\nif i > 8 { continue } else { break }\n}") ==
        "for i.0 in 0:index .. N step 64:index {\n  if gt(i.0, 8:index):bool {\n    continue\n  } else {\n   "
        " break\n  }\n}\n");
  CHECK(kernelText("var i = 0\nwhile i < N { i += 1 }\nif i == 3 { return }") ==
        "var i.0 = 0:index\nwhile {\n  lt(i.0, N):bool\n} do {\n  i.0 = add(i.0, 1:index):index\n}\nif "
        "eq(i.0, 3:index):bool {\n  return\n}\n");
  CHECK(checkedText(kernelParts("store(y[0, 0], 1)\nconst if !flag { return }\nstore(g[0], 2)"))
            .find("  return\n}\n") != std::string::npos);
  CHECK(kernelText("const for i in 0 .. 5 step 2 { store(g[i], f32(i)) }") ==
        kernelText("store(g[0], 0)\nstore(g[2], 2)\nstore(g[4], 4)"));
  CHECK(kernelText("const if !flag { store(g[0], 1) } else { store(nowhere, 1) }") ==
        kernelText("store(g[0], 1)"));
  CHECK(kernelText("const if mode == none { store(nowhere, 1) }") == "");
  CHECK(kernelText("const if mode == none { store(nowhere, 1) } else if T == f16 { store(nowhere, 1) } else "
                   "{ store(g[0], 1) }") == kernelText("store(g[0], 1)"));
  CHECK(kernelText("const if T == f16 { store(nowhere, 1) }") == "");
}

TEST_CASE("functions are inlined, their arguments evaluated once") {
  CHECK(kernelText("let v = twice(exp(eps))", "fn twice(q) { q + q }\n") ==
        "let q.0 = exp(eps):f32\nlet v.1 = add(q.0, q.0):f32\n");
  CHECK(kernelText("let (a, c) = both(eps, 2)\nlet v = a + c",
                   "fn both(p, q) {\nlet r = exp(p)\n(r, p * q)\n}\n") ==
        "let r.0 = exp(eps):f32\nlet c.1 = mul(eps, 2.0:f32):f32\nlet v.2 = add(r.0, c.1):f32\n");
  CHECK(kernelText("let v = to(eps, f16)", "fn to(q, type) { type(q) }\n") == "let v.0 = convert(eps):f16\n");
  CHECK(kernelText("let v = twice(q=eps)", "fn twice(q) { apply(exp, 1) * q }\nfn apply(f, q) { 2 }\n")
            .find("is a builtin function") != std::string::npos);
}

TEST_CASE("names") {
  expectKernelErrors(
      {
          {"let v = @{nothing}@ + 1", "unknown name `nothing`"},
          {"let total = 1\nlet v = @{totla}@ + 1", "unknown name `totla`", "did you mean `total`?"},
          {"let a = 1\nlet @{a}@ = 2", "`a` is already declared",
           "shadowing is not allowed; choose another name", "it is a let declared here"},
          {"for i in 0 .. 2 { let @{i}@ = 1 }", "`i` is already declared",
           "shadowing is not allowed; choose another name", "it is a loop variable declared here"},
          {"let @{BM}@ = 2", "`BM` is already declared", "shadowing is not allowed; choose another name",
           "it is a tile parameter declared here"},
          {"let @{x}@ = 2", "`x` is a tensor of the op", "shadowing is not allowed; choose another name"},
          {"let @{eps}@ = 2", "`eps` is a scalar of the op", "shadowing is not allowed; choose another name"},
          {"let @{N}@ = 2", "`N` is a dim of the op", "shadowing is not allowed; choose another name"},
          {"let @{T}@ = 2", "`T` is a dtype of the op", "shadowing is not allowed; choose another name"},
          {"let @{exp}@ = 2", "`exp` is a builtin function", "shadowing is not allowed; choose another name"},
          {"let @{f32}@ = 2", "`f32` is a dtype", "shadowing is not allowed; choose another name"},
          {"let @{PI}@ = 2", "`PI` is a constant", "shadowing is not allowed; choose another name"},
          {"let @{twice}@ = 2", "`twice` is a fn", "shadowing is not allowed; choose another name"},
          {"let v = @{None}@", "`None` stands only in an index, where it adds an axis"},
          {"let a = 1\nlet v = @{a}@(2)", "`a` is a let, not a function"},
          {"let v = @{x}@(2)", "`x` is not a function", "index with brackets: x[...]"},
          {"let v = eps + @{twice}@", "`+` needs a value, found the fn `twice`", "call it: twice(...)"},
          {"let v = eps + @{f32}@", "`+` needs a value, found the dtype f32",
           "convert a value by it: f32(x)"},
          {"let v = eps + @{\"text\"}@", "`+` needs a value, found a string"},
          {"let v = eps + @{(1, 2)}@", "`+` needs a value, found a tuple", "take it apart: let (a, b) = ..."},
          {"let v = eps + @{x}@", "`+` needs a value, found view f32[?, ?]", "read it first: load(...)"},
          {"let v = eps + @{la}@", "`+` needs a value, found the list `la`", "take an element: la[g]"},
          {"let v = n + @{P}@", "`+` needs a value, found the dim `P` of each list element",
           "take one element's: P[g]"},
      },
      "fn twice(q) { q + q }\n");
}

TEST_CASE("optional tensors are used only where they are present") {
  const char *help = "guard it: const if present(w) { ... }";
  expectKernelErrors({
      {"let v = load(@{w}@[0])", "the optional tensor `w` is used where it may be absent", help},
      {"let v = present(@{x}@)", "`present` asks of an optional tensor", "declare it with `?`: w: T[N]?"},
  });
  expectError(kernelParts("let v = w2(w)\nstore(y[0, 0], 0)", "fn w2(q) { load(@{q}@[0]) }\n"),
              "the optional tensor `w` is used where it may be absent", help, "in this call of `w2`");
  CHECK(kernelText("const if present(w) { let v = load(w[0]) }") ==
        "let v.0 = load(view_index(w, [0:index])[], 0.0:f32):f32\n");
  // A branch that a constant rules out may name what is not there.
  Parts parts = kernelParts("let v = select(present(w), load(w[0]), 1)\nstore(y[0, 0], v)");
  CHECK(checkedText(parts, false, 0).find("load(view_index(w") != std::string::npos);
  CHECK(checkedText(parts, false, 2).find("store(view_index(y, [0:index, 0:index])[], 1.0:f32)") !=
        std::string::npos);
  CHECK(kernelText("let v = select(flag, writes(), 1)", "fn writes() {\nstore(g[0], 1)\n2\n}\n") == "");
  // An optional output is written only if asked for.
  CHECK(checkedText(kernelParts("store(s[0], 1)\nstore(y[0, 0], 1)"), false, 0).find("view_index(s") !=
        std::string::npos);
  CHECK(checkedText(kernelParts("store(s[0], 1)\nstore(y[0, 0], 1)"), false, 1).find("view_index(s") ==
        std::string::npos);
}

TEST_CASE("let, var and assignment") {
  expectKernelErrors({
      {"let (a, c) = @{eps}@", "a tuple of 2 names takes a tuple, found f32"},
      {"let (a, c) = @{(1, 2, 3)}@", "a tuple of 2 names takes as many values, found 3"},
      {"let a = exp(eps)\n@{a}@ = 2", "`a` is a let, which does not change", "declare it with var",
       "declared here"},
      {"for i in 0 .. 4 { @{i}@ = 2 }", "`i` is a loop variable, which does not change",
       "declare it with var", "declared here"},
      {"var a = 1\na = @{eps}@", "the value assigned to `a` has dtype f32, expected index",
       "convert it: index(...)"},
      {"var a = eps\na = @{zeros(f32, [8])}@", "the value assigned to `a` has shape f32[8], expected f32"},
      {"var a = 1\nvar c = 1\n(a, c) = @{(1, 2, 3)}@", "a tuple of 2 targets takes as many values"},
      {"@{y}@ = 1", "a kernel writes a tensor by store(...)", "write store(region, value)"},
      {"@{N}@ = 1", "`N` is given by the call and does not change", "declare a var of another name"},
      {"@{nothing}@ = 1", "unknown name `nothing`"},
      {"let a = zeros(f32, [8])\n@{a[0]}@ = 1", "a value does not change in part",
       "only tensors are assigned to by index"},
      {"@{exp(eps)}@", "the value of this call is not used", "name it with let"},
      {"let a = @{print(\"hi\")}@", "`let` needs a value, found a call that has no value"},
      {"var a = @{x}@", "`var` needs a value, found view f32[?, ?]", "read it first: load(...)"},
  });
}

TEST_CASE("control flow") {
  expectKernelErrors({
      {"if n > 2 { @{break}@ }", "`break` stands outside of a loop", "it leaves a run-time `for` or `while`"},
      {"if n > 2 { @{continue}@ }", "`continue` stands outside of a loop",
       "it leaves a run-time `for` or `while`"},
      {"for i in 0 .. 4 {\nbreak\n@{print(\"never\")}@\n}", "this is never reached",
       "the statement before it leaves"},
      {"if @{zeros(bool, [8])}@ { return }", "the condition of `if` must be a scalar, found bool[8]",
       "choose element by element with select(cond, a, b)"},
      {"if @{n}@ { return }", "the condition of `if` must be bool, found i32", "compare it, e.g. x != 0"},
      {"while @{zeros(bool, [8])}@ { return }", "the condition of `while` must be a scalar, found bool[8]"},
      {"const if @{n == 4}@ { return }",
       "the condition of `const if` must be known at compile time, found a run-time value",
       "consts, tile parameters, dtypes and present(...) are; for a run-time condition write `if`"},
      {"for i in 0 .. 4 step @{0}@ { }", "the step of the range is 0, expected a positive one",
       "walk backwards by counting up: hi - 1 - i"},
      {"for i in @{eps}@ .. 4 { }", "the start of the range must be an integer scalar, found f32"},
      {"for i in 0 .. @{iota(8)}@ { }", "the end of the range must be an integer scalar, found index[8]"},
      {"const for i in 0 .. @{N}@ { }",
       "the end of a const range must be a compile-time integer, found a run-time value"},
      {"const for i in 0 .. 4 step @{0}@ { }", "the step of the range is 0, expected a positive one"},
      {"const for i in @{0 .. 100000}@ { }", "`const for` would be unrolled more than 4096 times",
       "use a run-time for"},
      {"let v = 1\n@{math approx}@", "`math` stands after the kernel's first statement",
       "say it once, at the kernel's head"},
      {"@{scratch p: f32[N]}@", "`scratch` belongs to a plan"},
      {"@{launch k(BM, BN)}@", "`launch` belongs to a plan"},
  });
}

TEST_CASE("functions") {
  const char *fns = "fn one(p) { p }\nfn two(p, q) { p + q }\nfn quits(p) {\nreturn\n}\n";
  expectKernelErrors(
      {
          {"let v = @{two(eps)}@", "`two` lacks its argument `q`", "it is declared as `two(p, q)`"},
          {"let v = one(eps, @{eps}@)", "`one` has too many arguments", "it is declared as `one(p)`"},
          {"let v = one(@{z}@=eps)", "`one` has no argument `z`", "it is declared as `one(p)`"},
          {"let v = one(eps, p=@{eps}@)", "`one` is given `p` twice", "it is declared as `one(p)`"},
          {"let v = one(@{print(\"x\")}@)", "the argument `p` needs a value, found a call that has no value"},
      },
      fns);
  expectError(kernelParts("quits(eps)", "fn quits(p) {\n@{return}@\n}\n"),
              "`return` ends the block, so it cannot stand in a fn",
              "the last expression of a fn is its value", "in this call of `quits`");
  expectError(kernelParts("for i in 0 .. 4 { leave() }", "fn leave() {\n@{break}@\n}\n"),
              "`break` stands outside of a loop", "it cannot leave a loop of the fn's caller",
              "in this call of `leave`");
  expectError(kernelParts("let a = eps\nlet v = sees(1)", "fn sees(p) { @{a}@ + p }\n"), "unknown name `a`",
              "a fn sees its parameters and the op's names, not the caller's; pass it in",
              "in this call of `sees`");
  expectError(kernelParts("let v = sum2(iota(8))", "fn sum2(p) { exp(@{p}@) }\n"),
              "`exp` needs floats, found index[8]", "convert it: f32(x)", "in this call of `sum2`");
}

TEST_CASE("inlining and unrolling are bounded") {
  std::string fns = "fn step0(p) { p + 1 }\n";
  for (int i = 1; i < 80; ++i)
    fns += "fn step" + std::to_string(i) + "(p) { step" + std::to_string(i - 1) + "(p) }\n";
  CHECK(kernelText("let v = step79(eps)", fns).find("calls are nested more than 64 deep") !=
        std::string::npos);
  fns = "fn g0(p) { p + 1 }\n";
  for (int i = 1; i < 40; ++i)
    fns += "fn g" + std::to_string(i) + "(p) { g" + std::to_string(i - 1) + "(p) + g" +
           std::to_string(i - 1) + "(p) }\n";
  CHECK(kernelText("let v = g39(eps)", fns)
            .find("this body is too large once functions are inlined and `const for` unrolled") !=
        std::string::npos);
  CHECK(kernelText("const for i in 0 .. 4000 { const for j in 0 .. 4000 { store(g[0], f32(i)) } }")
            .find("this body is too large once functions are inlined and `const for` unrolled") !=
        std::string::npos);
}

TEST_CASE("the head of a kernel") {
  auto whole = [](const std::string &body) {
    Parts parts;
    parts.kernels = "kernel k(BM, BN) {\n" + body + "\n}\ntune k { BM in [32]; BN in [64]; warps in [4] }\n";
    return parts;
  };
  expectError(whole("@{let v = 1}@\ngrid(M)"), "a kernel begins with `grid(...)`",
              "say how many blocks run before anything else");
  expectError(whole("grid(M)\n@{grid(M)}@"), "`grid` is said twice");
  expectError(whole("grid(@{block(0)}@)\nstore(y[0, 0], 1)"),
              "`block` belongs to the body of a kernel, after `grid`");
  expectError(whole("grid(@{load(ids[0, 0])}@)"), "memory is not accessed here",
              "host expressions use dims and scalars");
  expectError(whole("grid(M)\nlet v = block(@{1}@)"), "the grid has no axis 1: it has 1");
  expectError(whole("math @{fast}@\ngrid(M)\nstore(y[0, 0], 1)"), "unknown math flag `fast`",
              "the flags are approx, ftz and contract");
  Parts none = whole("");
  none.kernels.replace(none.kernels.find("kernel k"), 8, "kernel @{k}@");
  expectError(none, "the kernel `k` has no `grid(...)`", "say how many blocks run, first in its body");
  Parts unwritten = whole("grid(M)\nstore(g[0], 1)");
  unwritten.kernels.replace(unwritten.kernels.find("kernel k"), 8, "kernel @{k}@");
  expectError(unwritten, "the kernel `k` never writes the output `y`");
  CHECK(checkedText(whole("math approx, contract\ngrid(cdiv(M, BM), N, 3)\nstore(y[0, 0], 1)"))
            .find("  math approx contract\n  grid cdiv(M, 32:index):index, N, 3:index\n") !=
        std::string::npos);
}
