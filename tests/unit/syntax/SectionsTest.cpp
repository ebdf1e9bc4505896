// SPDX-License-Identifier: MIT
// Sections, interfaces and settings: each form.
#include "compiler/syntax/Dump.h"
#include "tests/unit/syntax/Helpers.h"

using namespace tilegym;

static std::string dump(const std::string &text) { return dumpSpec(test::parseOk(text)); }

TEST_CASE("parameters and results", "[sections]") {
  CHECK(dump("op f(x: T[M, N]) -> y: T[M, N]") ==
        "(op f\n  (param x (tensor T M N))\n  (result y (tensor T M N)))\n");
  CHECK(dump("op f(x: T[])") == "(op f\n  (param x (tensor T)))\n");
  CHECK(dump("op f(x: T[*R, N], w: T[N]?)") ==
        "(op f\n  (param x (tensor T *R N))\n  (param w (optional (tensor T N))))\n");
  CHECK(dump("op f(x: T[B|1, 2*H, cdiv(K, 128)])") ==
        "(op f\n  (param x (tensor T B|1 (* 2 H) (call cdiv K 128))))\n");
  CHECK(dump("op f(inout x: T[N], list a: T[M[], K[]], list: T[N])") ==
        "(op f\n  (param inout x (tensor T N))\n  (param list a (tensor T M[] K[]))\n  (param list (tensor T "
        "N)))\n");
  CHECK(dump("op f(eps: f32 = 1e-6, seed: u64)") ==
        "(op f\n  (param eps f32 (= 1e-6))\n  (param seed u64))\n");
  CHECK(dump("op f(const c: bool = true, const r: none | mean | sum = mean)") ==
        "(op f\n  (param const c bool (= true))\n  (param const r (enum (none mean sum)) (= mean)))\n");
  CHECK(dump("op f() -> (y: T[M, N], rstd: f32[M]?)") ==
        "(op f\n  (result y (tensor T M N))\n  (result rstd (optional (tensor f32 M))))\n");
  CHECK(dump("op f() -> h: i32[256] = 0") == "(op f\n  (result h (tensor i32 256) (= 0)))\n");
  CHECK(dump("op f() ->\n  list y: T[M[]]") == "(op f\n  (result list y (tensor T M[])))\n");
}

TEST_CASE("clauses of an op", "[sections]") {
  CHECK(dump("op f()\n  where T: f32 | f16, D: 64 | -1, H % HK == 0 \"text\", N > 0\n  where M > 0") ==
        "(op f\n  (where T: f32 f16)\n  (where D: 64 (- 1))\n  (where (== (% H HK) 0) \"text\")\n  (where (> "
        "N 0) \"\")\n"
        "  (where (> M 0) \"\"))\n");
  CHECK(dump("op f()\n  serves \"a.b\"(x, eps=1e-6, in: ignored), \"c\"()\n  serves \"d\"(y=-1)") ==
        "(op f\n  (serves \"a.b\" (x) (eps 1e-6) (in ignored))\n  (serves \"c\")\n  (serves \"d\" (y (- "
        "1))))\n");
  CHECK(dump("op f() gradient of g(y -> dy, z -> dz; x -> dx, w -> dw)") ==
        "(op f\n  (gradient-of g (output y dy) (output z dz) (input x dx) (input w dw)))\n");
  CHECK(dump("op f()\n  y alias x, z alias w\n  nondeterministic\n  a alias b") ==
        "(op f\n  (alias y x)\n  (alias z w)\n  (alias a b)\n  (nondeterministic))\n");
  CHECK(dump("op f()\n  serves \"a\"(input: x, b: none, trans=false: transposes x, inplace: in_place, i: "
             "in_place "
             "unless t) -> (y, none), \"b\"(x) -> y") ==
        "(op f\n  (serves \"a\" (input is x) (b none) (trans false transposes x) (inplace in-place) (i "
        "in-place "
        "unless t) -> y -> none)\n  (serves \"b\" (x) -> y))\n");
  CHECK(dump("op f() nondeterministic where N > 0 serves \"a\"(x)") ==
        "(op f\n  (where (> N 0) \"\")\n  (serves \"a\" (x))\n  (nondeterministic))\n");
}

TEST_CASE("kernels and plans", "[sections]") {
  CHECK(dump("kernel k(BM, BN = pow2ceil(N)) when N <= 16384 {}") ==
        "(kernel k (param BM) (param BN (= (call pow2ceil N))) (when (<= N 16384)))\n");
  CHECK(dump("kernel k()\n  when N > 3\n{}") == "(kernel k (when (> N 3)))\n");
  CHECK(dump("kernel k(p: f32[B, D], n: i32) {}") == "(kernel k (param p (tensor f32 B D)) (param n i32))\n");
  CHECK(dump("plan p(BN) when N > 3 { launch k(BN) }") ==
        "(plan p (param BN) (when (> N 3))\n  (launch k BN))\n");
  CHECK(dump("use a\nuse b\n") == "(use a)\n(use b)\n");
}

TEST_CASE("tune", "[sections]") {
  CHECK(dump("tune k { BM in [1, 2]; warps = 4; stages in 2 .. 5; where BM * BN <= 3; arch sm_90a { ctas = "
             "2; where BM > 1 } }") ==
        "(tune k\n  (in BM (list 1 2))\n  (= warps 4)\n  (in stages (.. 2 5))\n  (where (<= (* BM BN) 3))\n"
        "  (arch sm_90a\n    (= ctas 2)\n    (where (> BM 1))))\n");
  CHECK(dump("tune k {}") == "(tune k)\n");
  CHECK(dump("tune k { arch = 1; where in [2] }") == "(tune k\n  (= arch 1)\n  (in where (list 2)))\n");
}

TEST_CASE("test", "[sections]") {
  CHECK(
      dump("test {\n  T in all; x = uniform(-1, 1)\n  case \"a\" { N = 2; expect y = [[1]]; expect z = 0 }\n"
           "  tolerance { f32: 2e-6; f16: (1e-3, 1e-4) }\n  oracle torch \"x\"\n}") ==
      "(test\n  (in T all)\n  (= x (call uniform (- 1) 1))\n  (case \"a\"\n    (= N 2)\n    (expect = y "
      "(list (list 1)))\n"
      "    (expect = z 0))\n  (tolerance f32 2e-6)\n  (tolerance f16 (tuple 1e-3 1e-4))\n  (oracle torch "
      "\"x\"))\n");
}

TEST_CASE("bench", "[sections]") {
  CHECK(dump("bench { N in [1]; bytes = 2 * N; peer torch \"x\"; peer triton \"y\" }") ==
        "(bench\n  (in N (list 1))\n  (= bytes (* 2 N))\n  (peer torch \"x\")\n  (peer triton \"y\"))\n");
  CHECK(dump("bench none \"why\"") == "(bench\n  (none \"why\"))\n");
}

TEST_CASE("documentation belongs to what follows", "[sections]") {
  ast::Spec spec = test::parseOk("## The op.\n##   More.\nop f(\n  ## The input.\n  x: T[N]) -> y: "
                                 "T[N]\n\n## The kernel.\n# not doc\nkernel k() {}");
  CHECK(spec.op->doc == std::vector<std::string>{"The op.", "  More."});
  CHECK(spec.op->params[0].doc == std::vector<std::string>{"The input."});
  CHECK(spec.kernels[0].doc == std::vector<std::string>{"The kernel."});
}

TEST_CASE("sections keep their order", "[sections]") {
  ast::Spec spec = test::parseOk("bench none \"x\"\nkernel a() {}\nplan b() {}\nkernel c() {}\ntune a {}");
  REQUIRE(spec.order.size() == 5);
  CHECK(spec.order[0].first == ast::Spec::Section::Bench);
  CHECK(spec.order[4].first == ast::Spec::Section::Tune);
  REQUIRE(spec.kernels.size() == 3);
  CHECK(spec.kernels[1].isPlan);
  CHECK(spec.kernels[2].name.name == "c");
}
