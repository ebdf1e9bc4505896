// SPDX-License-Identifier: MIT
// Expressions: precedence, every operator, indices, calls, ranges, where lines end.
#include "compiler/syntax/Dump.h"
#include "tests/unit/syntax/Helpers.h"

using namespace tilegym;

static std::string expr(const std::string &text) {
  DiagnosticSink sink;
  ast::ExprPtr parsed = parseExpr(std::make_shared<SourceFile>("e", text), sink);
  INFO(text << "\n" << renderAll(sink));
  CHECK(parsed);
  return parsed ? dumpExpr(*parsed) : "";
}

TEST_CASE("literals and names", "[expr]") {
  CHECK(expr("42") == "42");
  CHECK(expr("0xFf") == "255");
  CHECK(expr("0b1_01") == "5");
  CHECK(expr("1_000") == "1000");
  CHECK(expr("18446744073709551615") == "18446744073709551615");
  CHECK(expr("1.50") == "1.50");
  CHECK(expr("2e-6") == "2e-6");
  CHECK(expr("true") == "true");
  CHECK(expr("\"a\\n\\\"\\\\b\\t\"") == "\"a\\n\\\"\\\\b\t\"");
  for (const char *name :
       {"x", "inf", "nan", "PI", "LOG2E", "None", "none", "_x1", "step", "where", "case", "list", "math"})
    CHECK(expr(name) == name);
}

TEST_CASE("precedence is Python's", "[expr]") {
  CHECK(expr("a + b * c") == "(+ a (* b c))");
  CHECK(expr("a - b - c") == "(- (- a b) c)");
  CHECK(expr("a / b // c % d @ e") == "(@ (% (// (/ a b) c) d) e)");
  CHECK(expr("-a ** 2") == "(- (** a 2))");
  CHECK(expr("a ** -b ** c") == "(** a (- (** b c)))");
  CHECK(expr("-a * b") == "(* (- a) b)");
  CHECK(expr("~a & !b") == "(& (~ a) (! b))");
  CHECK(expr("a | b ^ c & d << e + f") == "(| a (^ b (& c (<< d (+ e f)))))");
  CHECK(expr("a >> b << c") == "(<< (>> a b) c)");
  CHECK(expr("a + 1 < b << 2") == "(< (+ a 1) (<< b 2))");
  CHECK(expr("!a == b") == "(== (! a) b)");
  for (const char *op : {"==", "!=", "<", "<=", ">", ">="})
    CHECK(expr(std::string("a ") + op + " b") == std::string("(") + op + " a b)");
}

TEST_CASE("a comparison in parentheses stands beside & | ^", "[expr]") {
  CHECK(expr("(a < b) & (c < d)") == "(& (< a b) (< c d))");
  CHECK(expr("a < (b & c)") == "(< a (& b c))");
  CHECK(expr("(a < b) == (c < d)") == "(== (< a b) (< c d))");
  CHECK(expr("!causal | (col <= row)") == "(| (! causal) (<= col row))");
}

TEST_CASE("indices", "[expr]") {
  CHECK(expr("x[i]") == "([] x i)");
  CHECK(expr("x[]") == "([] x)");
  CHECK(expr("x[row, c :+ BN]") == "([] x row (:+ c BN))");
  CHECK(expr("x[c:+BN]") == "([] x (:+ c BN))");
  CHECK(expr("x[lo : hi, :, lo:, :hi]") == "([] x (: lo hi) : (: lo _) (: _ hi))");
  CHECK(expr("t[:, None]") == "([] t : None)");
  CHECK(expr("x.tile(BM, BN)[i, k]") == "([] (call (. x tile) BM BN) i k)");
  CHECK(expr("x.permute(0, 2, 1).T") == "(. (call (. x permute) 0 2 1) T)");
  CHECK(expr("k[b, h // 2][n :+ BN,]") == "([] ([] k b (// h 2)) (:+ n BN))");
}

TEST_CASE("calls, lists, tuples", "[expr]") {
  CHECK(expr("f()") == "(call f)");
  CHECK(expr("sum(x, axis=1, acc=f32)") == "(call sum x (= axis 1) (= acc f32))");
  CHECK(expr("reduce(x, axis=0, init=0, fn=add)") == "(call reduce x (= axis 0) (= init 0) (= fn add))");
  CHECK(expr("f(a, b,)") == "(call f a b)");
  CHECK(expr("[1, [2, -inf], []]") == "(list 1 (list 2 (- inf)) (list))");
  CHECK(expr("(a, b)") == "(tuple a b)");
  CHECK(expr("(a, b,)") == "(tuple a b)");
  CHECK(expr("((a))") == "a");
  CHECK(expr("inline_ptx(\"x\", a) reference a + 1") == "(call inline_ptx \"x\" a (reference (+ a 1)))");
  CHECK(expr("sum(g in 0 .. len(a) step 2: cdiv(M[g], B))") ==
        "(call sum (for g (.. 0 (call len a) 2) (call cdiv ([] M g) B)))");
}

TEST_CASE("ranges", "[expr]") {
  CHECK(expr("0..N") == "(.. 0 N)");
  CHECK(expr("0 .. N + 1 step BN * 2") == "(.. 0 (+ N 1) (* BN 2))");
  CHECK(expr("1.5..2") == "(.. 1.5 2)");
}

TEST_CASE("a line goes on in brackets and after an operator", "[expr]") {
  auto reference = [](const char *body) {
    return dumpSpec(test::parseOk(std::string("reference {\n") + body + "\n}"));
  };
  CHECK(reference("y = a +\n  b") == "(reference\n  (= y (+ a b)))\n");
  CHECK(reference("y =\n  a") == "(reference\n  (= y a))\n");
  CHECK(reference("y = -\n  a") == "(reference\n  (= y (- a)))\n");
  CHECK(reference("y = (a\n  + b\n  - c)") == "(reference\n  (= y (- (+ a b) c)))\n");
  CHECK(reference("y = a[\n0\n,\n1]") == "(reference\n  (= y ([] a 0 1)))\n");
  CHECK(reference("y = f(a,\n  b)") == "(reference\n  (= y (call f a b)))\n");
  CHECK(reference("for i in 0 ..\n n { f() }") == "(reference\n  (for i (.. 0 n)\n    (call f)))\n");
  // Elsewhere it ends: `f` and `(a)` are two statements, and the second is wrong.
  CHECK(test::errorsOf(test::parse("reference {\n y = f\n (a)\n}").sink) ==
        std::vector<std::string>{
            "3:2 this value is not used | only calls stand alone as statements; bind a value with `let`"});
}

TEST_CASE("places of expressions", "[expr]") {
  DiagnosticSink sink;
  auto file = std::make_shared<SourceFile>("e", "aa + (bb * c)[0]");
  ast::ExprPtr e = parseExpr(file, sink);
  const auto *sum = ast::dynCast<ast::Binary>(e.get());
  REQUIRE(sum);
  CHECK((sum->range.begin == 0 && sum->range.end == 16));
  CHECK((sum->opRange.begin == 3 && sum->opRange.end == 4));
  const auto *index = ast::dynCast<ast::Index>(sum->rhs.get());
  REQUIRE(index);
  CHECK((index->range.begin == 5 && index->range.end == 16));
  CHECK((index->base->parens && index->base->range.begin == 5 && index->base->range.end == 13));
  CHECK(sum->height == 4);
}
