// SPDX-License-Identifier: MIT
// The formatter: one canonical text, which parses to the same tree, keeps every comment, and is a fixed point.
#include "compiler/syntax/Printer.h"
#include "compiler/syntax/Dump.h"
#include "compiler/syntax/Token.h"
#include "tests/unit/syntax/Helpers.h"
#include <algorithm>

using namespace tilegym;

/// All comments of a text, spaces and the number of `#` aside, in no order.
static std::vector<std::string> commentsOf(const std::string &text) {
  SourceFile file("c.tile", text);
  DiagnosticSink sink;
  std::vector<std::string> comments;
  for (const syntax::Comment &comment : syntax::tokenize(file, sink).comments) {
    std::string bare = comment.text;
    bare.erase(std::remove(bare.begin(), bare.end(), ' '), bare.end());
    bare.erase(0, bare.find_first_not_of('#'));
    comments.push_back(bare);
  }
  std::sort(comments.begin(), comments.end());
  return comments;
}

/// Formats a text that must be right, and checks all that must hold of any.
static std::string format(const std::string &text) {
  ast::Spec spec = test::parseOk(text);
  std::string printed = printSpec(spec);
  ast::Spec again = test::parseOk(printed);
  CHECK(dumpSpec(again) == dumpSpec(spec));
  CHECK(printSpec(again) == printed);
  CHECK(commentsOf(printed) == commentsOf(text));
  return printed;
}

TEST_CASE("all specs survive the formatter", "[printer]") {
  for (const auto &path : test::allSpecs()) {
    INFO(path);
    format(test::readFile(path));
  }
}

TEST_CASE("the library's specs are formatted: run `tilegymc fmt` on those that are not", "[printer]") {
  for (const auto &path : test::allSpecs())
    if (path.parent_path().filename() != "data") {
      INFO(path);
      std::string text = test::readFile(path);
      CHECK(printSpec(test::parseOk(text)) == text);
    }
}

TEST_CASE("canonical text is left as it is", "[printer]") {
  for (const char *name : {"matmul.tile", "fmha.tile", "softmax.tile"}) {
    INFO(name);
    std::string text =
        test::readFile(std::filesystem::path(TILEGYM_SOURCE_DIR) / "tests/unit/syntax/data" / name);
    CHECK(format(text) == text);
  }
}

TEST_CASE("spaces, blank lines and semicolons", "[printer]") {
  CHECK(format("reference{let a=1;let b = 2\n\n\n\nlet c=a+b*2 ;}") == "reference {\n"
                                                                       "  let a = 1; let b = 2\n"
                                                                       "\n"
                                                                       "  let c = a + b * 2\n"
                                                                       "}\n");
  CHECK(format("reference { }") == "reference {}\n");
  CHECK(format("reference {y=x}") == "reference { y = x }\n");
  CHECK(format("use b\nuse a\nfn f(a){a}\n") == "use b\nuse a\nfn f(a) { a }\n");
  CHECK(format("reference { y = x }\r\n\r\nbench none \"why\"\r\n") ==
        "reference { y = x }\n\nbench none \"why\"\n");
}

TEST_CASE("expressions are spaced and keep their parentheses", "[printer]") {
  auto expr = [](const char *text) {
    DiagnosticSink sink;
    ast::ExprPtr parsed = parseExpr(std::make_shared<SourceFile>("e", text), sink);
    INFO(renderAll(sink));
    REQUIRE(parsed);
    return printExpr(*parsed);
  };
  CHECK(expr("a+b*-c**2") == "a + b * -c ** 2");
  CHECK(expr("(a*b)+((c))") == "(a * b) + (c)");
  CHECK(expr("x [ a:b , c:+d,:,lo:,:hi , None]") == "x[a : b, c :+ d, :, lo:, :hi, None]");
  CHECK(expr("f( x,axis = 1 )") == "f(x, axis=1)");
  CHECK(expr("sum(g in 0..n:f(g))") == "sum(g in 0 .. n: f(g))");
  CHECK(expr("0..n step 2") == "0 .. n step 2");
  CHECK(expr("inline_ptx(\"a\\n\\\"\\\\\\t\", x)reference x+1") ==
        "inline_ptx(\"a\\n\\\"\\\\\\t\", x) reference x + 1");
  CHECK(expr("(inline_ptx(\"a\") reference x) + 1") == "(inline_ptx(\"a\") reference x) + 1");
  CHECK(expr("[1,2 ,[3],]") == "[1, 2, [3]]");
  CHECK(expr("0x1F + 1_000 + 1.50e3") == "0x1F + 1_000 + 1.50e3");
}

TEST_CASE("a tree built by a program gets the parentheses it needs", "[printer]") {
  auto name = [](const char *text) {
    auto e = std::make_unique<ast::Name>(SourceRange{});
    e->name = text;
    return e;
  };
  auto binary = [](ast::BinaryOp op, ast::ExprPtr lhs, ast::ExprPtr rhs) {
    auto e = std::make_unique<ast::Binary>(SourceRange{});
    e->op = op;
    e->lhs = std::move(lhs);
    e->rhs = std::move(rhs);
    return e;
  };
  using ast::BinaryOp;
  CHECK(printExpr(*binary(BinaryOp::Mul, binary(BinaryOp::Add, name("a"), name("b")), name("c"))) ==
        "(a + b) * c");
  CHECK(printExpr(*binary(BinaryOp::Sub, name("a"), binary(BinaryOp::Sub, name("b"), name("c")))) ==
        "a - (b - c)");
  CHECK(printExpr(*binary(BinaryOp::Lt, binary(BinaryOp::BitAnd, name("a"), name("b")), name("c"))) ==
        "(a & b) < c");
  CHECK(printExpr(*binary(BinaryOp::BitAnd, name("a"), binary(BinaryOp::Eq, name("b"), name("c")))) ==
        "a & (b == c)");
  CHECK(printExpr(*binary(BinaryOp::Pow, binary(BinaryOp::Pow, name("a"), name("b")), name("c"))) ==
        "(a ** b) ** c");
  CHECK(printExpr(*binary(BinaryOp::Shl, binary(BinaryOp::BitXor, name("a"), name("b")), name("c"))) ==
        "(a ^ b) << c");
  CHECK(printExpr(*binary(BinaryOp::BitXor, binary(BinaryOp::Shr, name("a"), name("b")), name("c"))) ==
        "a >> b ^ c");
  ast::IntLiteral three{SourceRange{}};
  three.value = 3;
  CHECK(printExpr(three) == "3");
  ast::FloatLiteral half{SourceRange{}}, two{SourceRange{}};
  half.value = 0.5;
  two.value = 2;
  CHECK(printExpr(half) == "0.5");
  CHECK(printExpr(two) == "2.0");
}

TEST_CASE("long lines are broken at the outermost comma or loosest operator", "[printer]") {
  std::string name(40, 'a');
  CHECK(format("reference { y = f(" + name + ", g(" + name + ", " + name + "), 3) }") ==
        "reference {\n  y = f(" + name + ",\n      g(" + name + ", " + name + "), 3)\n}\n");
  CHECK(format("reference { y = " + name + " * " + name + " + " + name + " * 2 }") ==
        "reference {\n  y = " + name + " * " + name + " +\n      " + name + " * 2\n}\n");
  std::string longer(130, 'b');
  CHECK(format("reference { y = " + longer + " }") == "reference {\n  y =\n      " + longer + "\n}\n");
}

TEST_CASE("comments stay with what they belong to", "[printer]") {
  std::string text = "# head\n"
                     "\n"
                     "# more head\n"
                     "\n"
                     "## Doc of the reference.\n"
                     "reference { # first\n"
                     "  # above\n"
                     "\n"
                     "  # apart\n"
                     "  let a = 1 # beside\n"
                     "  let b = f(a, # inside\n"
                     "            a)\n"
                     "  if a { # in if\n"
                     "    b = 2\n"
                     "  } # after if\n"
                     "  else {\n"
                     "    b = 3; # after semicolon\n"
                     "    # last in else\n"
                     "  } # after else\n"
                     "  # last\n"
                     "} # after all\n"
                     "# end\n";
  CHECK(format(text) == "# head\n"
                        "\n"
                        "# more head\n"
                        "\n"
                        "## Doc of the reference.\n"
                        "reference {\n"
                        "  # first\n"
                        "  # above\n"
                        "\n"
                        "  # apart\n"
                        "  let a = 1  # beside\n"
                        "  # inside\n"
                        "  let b = f(a, a)\n"
                        "  if a {\n"
                        "    # in if\n"
                        "    b = 2\n"
                        "  } else {\n"
                        "    # after if\n"
                        "    b = 3  # after semicolon\n"
                        "    # last in else\n"
                        "  }  # after else\n"
                        "  # last\n"
                        "}  # after all\n"
                        "\n"
                        "# end\n");
}

TEST_CASE("comments in every kind of place are kept", "[printer]") {
  // A comment after every token of a spec that holds every construct: none may get lost and the tree may not change.
  std::string text =
      test::readFile(std::filesystem::path(TILEGYM_SOURCE_DIR) / "tests/unit/syntax/data/everything.tile");
  SourceFile file("e.tile", text);
  DiagnosticSink sink;
  auto stream = syntax::tokenize(file, sink);
  for (size_t i = 0; i + 1 < stream.tokens.size(); ++i) {
    // Only where a newline may stand: before a token that starts a line anyway, or in brackets.
    const syntax::Token &next = stream.tokens[i + 1];
    if (!next.startsLine)
      continue;
    std::string commented = text;
    commented.insert(stream.tokens[i].end, " #c" + std::to_string(i) + "\n");
    format(commented);
  }
}

TEST_CASE("only `##` above a thing documents it", "[printer]") {
  CHECK(format("op f(x: T[N,## d\nM]) ## e\n  where T: f32\n") == "# e\n"
                                                                  "\n"
                                                                  "op f(\n"
                                                                  "    # d\n"
                                                                  "    x: T[N, M]\n"
                                                                  ")\n"
                                                                  "  where T: f32\n");
  CHECK(format("reference {}\n## d\nuse a\n") == "reference {}\n\n## d\nuse a\n");
  CHECK(test::parseOk("## a\n##b\n##\nreference {}").reference->doc ==
        std::vector<std::string>{"a", "b", ""});
}

TEST_CASE("parameters with comments stand one a line", "[printer]") {
  CHECK(format("op f(x: T[N], # in\n## The scale.\ns: f32) -> y: T[N]\n  where T: f32\n") ==
        "op f(\n"
        "    x: T[N],  # in\n"
        "    ## The scale.\n"
        "    s: f32\n"
        ") -> y: T[N]\n"
        "  where T: f32\n");
}

TEST_CASE("else and else if", "[printer]") {
  CHECK(format("reference { if a { b = 1 } else if c { b = 2 } else { b = 3 } }") ==
        "reference { if a { b = 1 } else if c { b = 2 } else { b = 3 } }\n");
  CHECK(format("reference {\nif a {\nb = 1 }\nelse { if c { b = 2 } }\n}") == "reference {\n"
                                                                              "  if a {\n"
                                                                              "    b = 1\n"
                                                                              "  } else { if c { b = 2 } }\n"
                                                                              "}\n");
  CHECK(format("reference {\nconst if a {\nb = 1 }\nelse const if c {\n b = 2 }\n}") ==
        "reference {\n"
        "  const if a {\n"
        "    b = 1\n"
        "  } else const if c {\n"
        "    b = 2\n"
        "  }\n"
        "}\n");
}
