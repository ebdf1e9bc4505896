// SPDX-License-Identifier: MIT
// References (run-time extents, tensors read where they stand, assignment to outputs) and plans.
#include "BodyTesting.h"

using namespace tilegym::sem::testing;

TEST_CASE("tensors are read where a value is needed") {
  CHECK(referenceText("let v = f64(half) + d[:, None]") ==
        "let v.0 = add(convert(load(half, 0.0:f16):f16[?, ?]):f64[?, ?], value_index(load(d, "
        "0.0:f64):f64[?], [:, None]):f64[?, 1]):f64[?, ?]\n");
  CHECK(referenceText("let v = x[0, 2 : N - 1]") ==
        "let v.0 = load(view_index(x, [0:index, 2:index : sub(N, 1:index):index])[?], 0.0:f32):f32[?]\n");
  CHECK(referenceText("let v = x.T @ x") == "let v.0 = matmul(load(view_permute(x, [1, 0])[?, ?], "
                                            "0.0:f32):f32[?, ?], load(x, 0.0:f32):f32[?, ?]):f32[?, ?]\n");
  CHECK(referenceText("let e = exp(x)\nlet v = e[0, :] + e[iota(M), 0][0]")
            .find("value_index(e.0, [gather iota(M):index[?], 0:index]):f32[?]") != std::string::npos);
  CHECK(referenceText("let v = x[0, n :+ M]")
            .find("[0:index, convert(n, exact):index : add(convert(n, exact):index, M):index]") !=
        std::string::npos);
}

TEST_CASE("run-time extents travel as operands") {
  CHECK(referenceText("let v = zeros(f32, [M, 4])") ==
        "let v.0 = broadcast(0.0:f32, M, 4:index):f32[?, 4]\n");
  CHECK(referenceText("let v = iota(N)") == "let v.0 = iota(N):index[?]\n");
  CHECK(referenceText("let v = reshape(x, [M, -1, 2])") ==
        "let v.0 = reshape(load(x, 0.0:f32):f32[?, ?], M, -1:index, 2:index):f32[?, ?, 2]\n");
  CHECK(referenceText("let v = reshape(x, [-1])") ==
        "let v.0 = reshape(load(x, 0.0:f32):f32[?, ?], -1:index):f32[?]\n");
  CHECK(referenceText("let v = cat(x, x, axis=0)") ==
        "let v.0 = cat(load(x, 0.0:f32):f32[?, ?], load(x, 0.0:f32):f32[?, ?], axis=0):f32[?, ?]\n");
  CHECK(referenceText("let v = iota(100)") == "let v.0 = iota():index[100]\n");
}

TEST_CASE("outputs are assigned, whole or in part") {
  CHECK(referenceText("y[0, 1 : N] = 2\ng = d[0] * 0 + iota(M)").find("`+` of f64 and index") !=
        std::string::npos);
  CHECK(referenceText("y[0, 1 : N] = 2") == "view_index(y, [0:index, 1:index : N])[?] = 2.0:f32\n");
  CHECK(referenceText("g = 1\nstate = half + 1") ==
        "g = 1.0:f32\nstate = convert(add(load(half, 0.0:f16):f16[?, ?], 1.0:f16):f16[?, ?]):f32[?, ?]\n");
  CHECK(referenceText("g[0] += 1") ==
        "let read.0 = load(view_index(g, [0:index])[], 0.0:f32):f32\nview_index(g, [0:index])[] = "
        "add(read.0, 1.0:f32):f32\n");
  // Written only if asked for: the second variant lacks s.
  CHECK(checkedText(referenceParts("s = 1\ny = x"), true, 0).find("  s = 1.0:f32") != std::string::npos);
  CHECK(checkedText(referenceParts("s = 1\ny = x"), true, 1).find("  s = ") == std::string::npos);
}

TEST_CASE("reference errors") {
  expectReferenceErrors({
      {"@{x}@ = y", "an assignment writes the input `x`",
       "declare it `inout x` if the op updates it in place"},
      {"y = @{n}@", "the value assigned has dtype i32, expected f32", "convert it: f32(...)"},
      {"y = @{zeros(f32, [2, 2, 2])}@", "the value assigned has shape f32[2, 2, 2], expected f32[?, ?]"},
      {"@{y[0, 0, 0]}@ = 1", "an index of 3 axes on view f32[?, ?], which has 2"},
      {"let v = @{mma(x, x, x)}@", "`mma` belongs to kernels", "in a reference write a @ b"},
      {"@{store(y[0, 0], 1)}@", "a reference does not store",
       "assign to the output: y = e, or y[i, a : b] = e"},
      {"let v = @{sm_count()}@", "a reference does not depend on the device"},
      {"@{grid(M)}@", "`grid` belongs at the head of a kernel"},
      {"let v = @{block(0)}@", "`block` belongs to the body of a kernel, after `grid`"},
      {"@{math approx}@", "`math` belongs at the head of a kernel"},
      {"let v = @{inline_ptx(\"x\", n) reference n}@", "`inline_ptx` belongs to kernels"},
      {"let v = @{split(x, 2)}@", "`split` of an axis whose extent is not known at compile time",
       "cut it by indexing: x[:, 0 : n], x[:, n : 2*n]"},
      {"var v = zeros(f32, [M])\nv = @{x}@", "the value assigned to `v` has type f32[?, ?], expected f32[?]",
       "a var keeps its dtype and rank"},
      {"let v = @{s}@ + 1", "the optional output `s` is read where it may be absent",
       "keep what is read in a let"},
  });
  Parts parts = referenceParts("let v = x");
  std::string text = specText(parts);
  auto loaded = loadText(text);
  REQUIRE(loaded->op);
  CHECK_FALSE(checkSpec(*loaded->op, loaded->sink));
  CHECK(loaded->sink.all().at(0).message == "the reference never writes the output `y`");
}

TEST_CASE("plans") {
  CHECK(checkedText(planParts("let S = cdiv(N, BM)\nscratch p: f32[M, S * 2]\nlaunch part(16, p = p, v = "
                              "i32(S))\nlaunch part(BN, p = state, v = 1)")) ==
        R"(plan k(BM = 32, BN = 64) T=f32 flag=false mode=mean D=64 w s {
  let S.0 = cdiv(N, 32:index):index
  scratch p: f32[M, mul(S.0, 2:index):index]
  launch part(BN = 16, p = p, v = convert(S.0):i32, K = mul(S.0, 2:index):index)
  launch part(BN = 64, p = state, v = 1:i32, K = N)
}
kernel part(BN = 16) T=f32 flag=false mode=mean D=64 w s {
  param p: f32[M, K]
  param v: i32
  param K: index
  grid M
  store(view_index(p, [0:index, 0:index])[], 1.0:f32)
  store(view_index(y, [0:index, 0:index])[], convert(v):f32)
  store(view_index(p, [0:index, convert(v, exact):index])[], convert(K):f32)
}
kernel part(BN = 64) T=f32 flag=false mode=mean D=64 w s {
  param p: f32[M, K]
  param v: i32
  param K: index
  grid M
  store(view_index(p, [0:index, 0:index])[], 1.0:f32)
  store(view_index(y, [0:index, 0:index])[], convert(v):f32)
  store(view_index(p, [0:index, convert(v, exact):index])[], convert(K):f32)
}
)");
}

TEST_CASE("plan errors") {
  expectPlanErrors({
      {"launch @{parts}@(16)", "unknown kernel `parts`", "did you mean `part`?"},
      {"launch @{k}@(16)", "`k` is a plan, which is not launched"},
      {"@{launch part(16, v = 1)}@", "the launch of `part` lacks `p`", "give it by name: p = ..."},
      {"@{launch part(p = state, v = 1)}@", "the launch of `part` lacks the tile parameter `BN`"},
      {"launch part(16, @{17}@, p = state, v = 1)", "`part` takes 1 tile parameters by position",
       "typed parameters are given by name, p = p; derived ones are not given"},
      {"launch part(16, BN = @{17}@, p = state, v = 1)", "`BN` is given twice"},
      {"launch part(@{N}@, p = state, v = 1)",
       "the tile parameter `BN` must be a compile-time integer, found a run-time value"},
      {"launch part(16, p = state, v = @{eps}@)", "the parameter `v` has dtype f32, expected i32",
       "convert it: i32(...)"},
      {"launch part(16, p = @{eps}@, v = 1)", "the parameter `p` takes a tensor",
       "give a scratch buffer, or a tensor of the op"},
      {"launch part(16, p = @{d}@, v = 1)", "the parameter `p` takes f32 of rank 2, found f64 of rank 1"},
      {"launch part(16, p = @{brain}@, v = 1)",
       "the parameter `p` takes f32 of rank 2, found bf16 of rank 2"},
      {"launch part(16, p = state, v = 1, @{q}@ = 1)", "`part` has no parameter `q`"},
      {"scratch @{N}@: f32[M]\nlaunch part(16, p = state, v = 1)", "`N` is a dim of the op",
       "shadowing is not allowed; choose another name"},
      {"scratch q: @{index}@[M]\nlaunch part(16, p = state, v = 1)", "`index` is no dtype of a tensor"},
      {"scratch q: @{f32}@\nlaunch part(16, p = state, v = 1)", "a scratch buffer is a tensor",
       "write scratch p: f32[B, D]"},
      {"var @{q}@ = 1\nlaunch part(16, p = state, v = 1)", "a plan has no `var`",
       "use let: a plan's values are fixed before its launches"},
      {"@{for i in 0 .. 4 { }}@\nlaunch part(16, p = state, v = 1)", "a plan has no run-time loop",
       "use const for"},
      {"@{if N > 4 { }}@\nlaunch part(16, p = state, v = 1)", "a plan chooses at compile time only",
       "use const if, or another plan with a guard"},
      {"let q = @{load(x[0, 0])}@\nlaunch part(16, p = state, v = 1)", "memory is not accessed here",
       "a plan only launches kernels"},
      {"@{assert(N > 4)}@\nlaunch part(16, p = state, v = 1)", "`assert` does not stand in a plan",
       "conditions on a call are written in `where` or `when`"},
      {"launch part(16, p = state, v = 1)\n@{return}@", "a plan has no `return`"},
  });
  Parts input = planParts("launch part(16, p = @{f}@, v = 1)");
  input.signature.replace(input.signature.find("x: T[M, N],"), 11, "x: T[M, N], f: f32[M, N],");
  expectError(input, "the kernel writes the input `f`", "declare it `inout f` if the op updates it in place");
  Parts empty = planParts("");
  empty.kernels.replace(empty.kernels.find("plan k"), 6, "plan @{k}@");
  expectError(empty, "the plan `k` launches nothing", "write launch k(...)");
}

TEST_CASE("typed parameters of kernels") {
  auto with = [](const std::string &params, const std::string &args) {
    Parts parts;
    parts.kernels = "kernel part(" + params + ") { grid(M); store(y[0, 0], 0) }\nplan k(BM) {\nlaunch part(" +
                    args + ")\n}\ntune k { BM in [32]; warps in [4] }\n";
    return parts;
  };
  const char *note = "in this launch of `part`";
  expectError(with("v: @{f31}@", "v = 1"), "unknown dtype `f31`", "", note);
  expectError(with("p: @{index}@[M, N]", "p = state"), "a tensor cannot hold index",
              "name an integer of a size: i64", note);
  expectError(with("p: @{f32[M, N]?}@", "p = state"), "a kernel's parameter is not optional", "", note);
  expectError(with("p: f32[@{B|1}@, N]", "p = state"), "a kernel's parameter has plain dims", "", note);
  expectError(with("@{x}@: f32[M, N]", "x = state"), "`x` is a tensor of the op",
              "shadowing is not allowed; choose another name", note);
  // Extents that the types fix, the one given and one that another parameter binds.
  Parts extents = with("p: f32[K, 4], q: f32[K]", "p = @{s4}@, q = s8");
  const std::string launched = "plan k(BM) {\n";
  auto scratches = [&](const std::string &args) {
    Parts parts = with("p: f32[K, 4], q: f32[K]", args);
    parts.kernels.replace(
        parts.kernels.find(launched), launched.size(),
        launched + "let H = 2\nscratch s4: f32[H * 2, H + 2]\nscratch s8: f32[8]\nscratch t: f32[8, 8]\n"
                   "scratch four: f32[4]\n");
    return parts;
  };
  expectError(scratches("p = @{t}@, q = s8"), "the parameter `p` takes an extent of 4 along axis 1, found 8");
  expectError(scratches("p = s4, q = @{s8}@"),
              "the parameter `q` takes an extent of 4 along axis 0, found 8");
  auto fits = loadText(specText(scratches("p = s4, q = four")));
  REQUIRE(fits->op);
  CHECK(checkSpec(*fits->op, fits->sink));
  // A derived parameter follows from the header.
  expectError(with("BD = 2 * D, p: f32[M, N]", "@{BD}@ = 8, p = state"),
              "`BD` is derived in the header of `part`, so a launch does not give it",
              "leave it out here, or the `=` there");
  expectError(with("BD = 2 * D, p: f32[M, N]", "@{8}@, p = state"),
              "`part` takes 0 tile parameters by position",
              "typed parameters are given by name, p = p; derived ones are not given");
  auto derived = loadText(specText(with("BD = 2 * D, p: f32[M, N]", "p = state")));
  REQUIRE(derived->op);
  CHECK(checkSpec(*derived->op, derived->sink));
  expectError(with("p: f32[M, @{eps}@]", "p = state"), "a dim must be an integer scalar, found f32", "",
              note);
}
