// SPDX-License-Identifier: MIT
// `for`, `while`, `if` and their `const` forms. After a broken header the body is still read, for its own errors.
#include "compiler/syntax/ParserImpl.h"

namespace tilegym::syntax {

using namespace ast;

StmtPtr Parser::parseConst() {
  uint32_t begin = tok().begin;
  advance();
  if (atWord("for") && !lineEnded())
    return parseFor(true, begin);
  if (atWord("if") && !lineEnded())
    return parseIf(true, begin);
  expected("`if` or `for` after `const`",
           "a value is bound with `let`, also one that is known at compile time");
  return nullptr;
}

StmtPtr Parser::parseFor(bool isConst, uint32_t begin) {
  advance();
  auto stmt = std::make_unique<For>(SourceRange{});
  stmt->isConst = isConst;
  auto header = [&] {
    if (at(Tok::LParen))
      return expected("the name of the loop variable", "write `for i in 0 .. n { ... }`");
    if (!parseName(stmt->var, "the name of the loop variable"))
      return false;
    if (!atWord("in") || lineEnded())
      return expected("`in` after the loop variable", "write `for i in 0 .. n { ... }`");
    advance();
    stmt->range_ = parseRange("a loop");
    return stmt->range_ != nullptr;
  };
  if (!header()) {
    bodyAfterBrokenHeader("the loop");
    return nullptr;
  }
  if (!parseBlock(stmt->body, "the loop"))
    return nullptr;
  stmt->range = rangeFrom(begin);
  return stmt;
}

StmtPtr Parser::parseWhile() {
  uint32_t begin = tok().begin;
  advance();
  auto stmt = std::make_unique<While>(SourceRange{});
  stmt->condition = parseExpr();
  if (!stmt->condition) {
    bodyAfterBrokenHeader("the loop");
    return nullptr;
  }
  if (!parseBlock(stmt->body, "the loop"))
    return nullptr;
  stmt->range = rangeFrom(begin);
  return stmt;
}

StmtPtr Parser::parseIf(bool isConst, uint32_t begin) {
  advance();
  auto stmt = std::make_unique<If>(SourceRange{});
  stmt->isConst = isConst;
  stmt->condition = parseExpr();
  if (stmt->condition && at(Tok::Assign)) {
    error(rangeOf(tok()), "`=` in a condition", "`=` assigns; compare with `==`");
    stmt->condition = nullptr;
  }
  if (!stmt->condition) {
    bodyAfterBrokenHeader("the `if`");
    return nullptr;
  }
  if (!parseBlock(stmt->thenBlock, "the `if`"))
    return nullptr;
  if (atWord("else")) {
    advance();
    stmt->hasElse = true;
    bool constElse = atWord("const") && tok(1).text == "if";
    if (!atWord("if") && !constElse) {
      if (!parseBlock(stmt->elseBlock, "the `else`"))
        return nullptr;
    } else {
      // `else if` is a block of one `if`; it counts as a level, so that a long chain cannot overflow the stack.
      ++blockDepth;
      uint32_t inner = tok().begin;
      if (constElse)
        advance();
      StmtPtr nested = parseIf(constElse, inner);
      --blockDepth;
      if (!nested)
        return nullptr;
      stmt->elseBlock.range = nested->range;
      stmt->elseBlock.stmts.push_back(std::move(nested));
    }
  }
  stmt->range = rangeFrom(begin);
  return stmt;
}

} // namespace tilegym::syntax
