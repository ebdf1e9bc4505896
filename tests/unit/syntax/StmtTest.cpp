// SPDX-License-Identifier: MIT
// Statements: each form, and where one ends and the next begins.
#include "compiler/syntax/Dump.h"
#include "tests/unit/syntax/Helpers.h"

using namespace tilegym;

/// The dump of the statements of a kernel's body.
static std::string body(const std::string &text) {
  std::string dump = dumpSpec(test::parseOk("kernel k() {" + text + "}"));
  std::string head = "(kernel k\n";
  REQUIRE(dump.substr(0, head.size()) == head);
  dump = dump.substr(head.size());
  return dump.substr(0, dump.size() - 2); // the kernel's `)` and newline
}

TEST_CASE("bindings and assignments", "[stmt]") {
  CHECK(body("let a = 1") == "  (let a 1)");
  CHECK(body("let (a, b) = blocks()") == "  (let (a b) (call blocks))");
  CHECK(body("var a = 1") == "  (var a 1)");
  CHECK(body("var (a, b) = (0, 1)") == "  (var (a b) (tuple 0 1))");
  CHECK(body("a = 1") == "  (= a 1)");
  CHECK(body("(a, b) = (b, a)") == "  (= (tuple a b) (tuple b a))");
  CHECK(body("y[i, a : b] = e") == "  (= ([] y i (: a b)) e)");
  CHECK(body("y[i][0] += e") == "  (+= ([] ([] y i) 0) e)");
}

TEST_CASE("every compound assignment", "[stmt]") {
  for (const char *op : {"+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>"})
    CHECK(body(std::string("a ") + op + "= b") == std::string("  (") + op + "= a b)");
}

TEST_CASE("control flow", "[stmt]") {
  CHECK(body("for i in 0 .. n step s { f() }") == "  (for i (.. 0 n s)\n    (call f))");
  CHECK(body("const for i in 0 .. 4 { f() }") == "  (const-for i (.. 0 4)\n    (call f))");
  CHECK(body("while a < b { break }") == "  (while (< a b)\n    (break))");
  CHECK(body("if a { continue }") == "  (if a\n    (then\n      (continue)))");
  CHECK(body("if a { return } else { f() }") ==
        "  (if a\n    (then\n      (return))\n    (else\n      (call f)))");
  CHECK(body("const if a { f() }") == "  (const-if a\n    (then\n      (call f)))");
  CHECK(body("if a { f() } else if b { g() } else { h() }") ==
        "  (if a\n    (then\n      (call f))\n    (else\n      (if b\n        (then\n          (call g))\n   "
        "     (else\n          (call h)))))");
  CHECK(body("if a { f() }\n\nelse\n{ g() }") ==
        "  (if a\n    (then\n      (call f))\n    (else\n      (call g)))");
}

TEST_CASE("statements of kernels and plans", "[stmt]") {
  CHECK(body("math approx, ftz,\n contract") == "  (math (approx ftz contract))");
  CHECK(body("scratch p: f32[B, 2*H]") == "  (scratch p (tensor f32 B (* 2 H)))");
  CHECK(body("launch partial(BN, p = p)") == "  (launch partial BN (= p p))");
  CHECK(body("grid(cdiv(M, BM), sm_count())") == "  (call grid (call cdiv M BM) (call sm_count))");
  CHECK(body("x.f(1)") == "  (call (. x f) 1)");
}

TEST_CASE("words that are keywords in one place only are names elsewhere", "[stmt]") {
  CHECK(body("let math = 1; let scratch = math; let launch = scratch; math = launch") ==
        "  (let math 1)\n  (let scratch math)\n  (let launch scratch)\n  (= math launch)");
  CHECK(body("scratch(a); launch(b)") == "  (call scratch a)\n  (call launch b)");
  CHECK(body("let step = 2; for where in 0 .. step step step { case(where) }") ==
        "  (let step 2)\n  (for where (.. 0 step step)\n    (call case where))");
}

TEST_CASE("statements end at a newline or a semicolon", "[stmt]") {
  CHECK(body("a = 1; b = 2;; c = 3;\n\nd = 4;") == "  (= a 1)\n  (= b 2)\n  (= c 3)\n  (= d 4)");
  CHECK(body("a = f\n(a, b) = g") == "  (= a f)\n  (= (tuple a b) g)");
  CHECK(body("a = f # (not an argument)\nb = 1") == "  (= a f)\n  (= b 1)");
  CHECK(body("\r\na = 1\r\nb = 2\r\n") == "  (= a 1)\n  (= b 2)");
}

TEST_CASE("functions end in a value", "[stmt]") {
  CHECK(dumpSpec(test::parseOk("fn f(a, b) { let c = a\n c * b }")) ==
        "(fn f (params a b)\n  (let c a)\n  (* c b))\n");
  CHECK(dumpSpec(test::parseOk("fn f() { (1, 2) }")) == "(fn f (params)\n  (tuple 1 2))\n");
  CHECK(dumpSpec(test::parseOk("fn f(x) { -x }")) == "(fn f (params x)\n  (- x))\n");
}
