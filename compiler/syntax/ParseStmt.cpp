// SPDX-License-Identifier: MIT
// Blocks and the statements that are not control flow.
#include "compiler/syntax/Keywords.h"
#include "compiler/syntax/ParserImpl.h"
#include <algorithm>

namespace tilegym::syntax {

using namespace ast;

bool Parser::parseName(BoundName &name, const char *what, bool continued) {
  if (lineEnded() && !continued)
    return expected(what);
  if (at(Tok::Ident)) {
    name = {tok().text, rangeOf(tok())};
    advance();
    return true;
  }
  if (at(Tok::Keyword))
    return error(rangeOf(tok()), quoted(tok().text) + " is a keyword and cannot be " + what,
                 "choose another name"),
           false;
  return expected(what);
}

/// Reads to the closing brace, recovering statement by statement. False only where there is no block at all.
bool Parser::parseBlock(Block &block, const char *what) {
  if (!at(Tok::LBrace))
    return expected(std::string("`{` and the body of ") + what);
  if (blockDepth >= maxBlockDepth)
    return error(rangeOf(tok()),
                 "blocks and `else if` are nested more than " + std::to_string(maxBlockDepth) +
                     " levels deep",
                 "move the inner ones to a `fn`"),
           false;
  ++blockDepth;
  const Token &open = tok();
  uint32_t closeAt = open.match == noMatch ? open.begin : stream.tokens[open.match].begin;
  block.oneLine =
      open.match != noMatch && file->lineColumn(open.begin).line == file->lineColumn(closeAt).line;
  advance();
  for (;;) {
    while (accept(Tok::Semicolon)) {
    }
    if (at(Tok::RBrace) || at(Tok::End) || atSectionStart())
      break;
    size_t begin = pos;
    inBroken = false;
    Trivia trivia;
    takeLeading(trivia);
    trivia.joined = !block.stmts.empty() && !tok().startsLine && trivia.comments.empty();
    StmtPtr stmt = parseStmt();
    if (!stmt || !endStatement("the statement")) {
      skipStatement(begin);
      continue;
    }
    static_cast<Trivia &>(*stmt) = std::move(trivia);
    finish(*stmt);
    block.stmts.push_back(std::move(stmt));
  }
  takeRest(block.endComments);
  accept(Tok::RBrace); // a missing one was reported when brackets were paired
  block.range = rangeFrom(open.begin);
  --blockDepth;
  return true;
}

/// Reads the body of a statement whose header is broken, for its own errors; always false.
bool Parser::bodyAfterBrokenHeader(const char *what) {
  if (!recoverAtBrace())
    return false;
  panic = false;
  Block ignored;
  parseBlock(ignored, what);
  return false;
}

StmtPtr Parser::parseStmt() {
  if (at(Tok::Keyword))
    return parseKeywordStmt();
  if (atWordThen("math", Tok::Ident))
    return parseMath();
  if (atWordThen("scratch", Tok::Ident))
    return parseScratch();
  if (atWordThen("launch", Tok::Ident))
    return parseLaunch();
  if (misspeltStatement())
    return nullptr;
  return parseExprOrAssign();
}

StmtPtr Parser::parseKeywordStmt() {
  const Token &token = tok();
  SourceRange range = rangeOf(token);
  const std::string &word = token.text;
  if (word == "let")
    return parseBinding<Let>("let");
  if (word == "var")
    return parseBinding<Var>("var");
  if (word == "const")
    return parseConst();
  if (word == "for")
    return parseFor(false, token.begin);
  if (word == "while")
    return parseWhile();
  if (word == "if")
    return parseIf(false, token.begin);
  if (word == "true" || word == "false")
    return parseExprOrAssign();
  advance();
  if (word == "break")
    return std::make_unique<Break>(range);
  if (word == "continue")
    return std::make_unique<Continue>(range);
  if (word == "return") {
    if (atStatementEnd())
      return std::make_unique<Return>(range);
    error(rangeOf(tok()), "`return` ends the block of the grid and takes no value",
          "the value of a `fn` is its last expression, without `return`");
    return nullptr;
  }
  if (word == "else")
    error(range, "`else` without an `if` before it", "it follows the `}` of an `if`");
  else if (isSectionWord(word) && blockDepth > 0)
    error(range, quoted(word) + " starts a section, which cannot stand inside a block",
          "close the block with `}` first");
  else
    error(range, "a statement cannot start with the keyword " + quoted(word));
  return nullptr;
}

/// `lett x = 1`, `fro i in ...`: two words side by side are no statement, so say which was meant.
bool Parser::misspeltStatement() {
  if (!at(Tok::Ident) || tok(1).startsLine)
    return false;
  bool wordFollows = tok(1).kind == Tok::Ident || (tok(1).kind == Tok::Keyword && tok(1).text != "in");
  bool blockFollows = tok(1).kind == Tok::LBrace;
  if (!wordFollows && !blockFollows)
    return false;
  const std::string &word = tok().text;
  // `x and y`: the expression parser says it better.
  if (tok(1).text == "and" || tok(1).text == "or" || tok(1).text == "if" || word == "not")
    return false;
  static constexpr struct {
    std::string_view word, help;
  } foreign[] = {{"elif", "write `else if`"},
                 {"elseif", "write `else if`"},
                 {"def", "functions are `fn name(a, b) { ... }`, beside the sections"},
                 {"func", "functions are `fn name(a, b) { ... }`, beside the sections"},
                 {"auto", "write `let name = value`"},
                 {"mut", "write `var name = value`"},
                 {"import", "write `use name` at the top of the file"}};
  std::string help;
  for (auto &entry : foreign)
    if (word == entry.word)
      help = entry.help;
  if (help.empty())
    help = didYouMean(word, {"let", "var", "for", "while", "if", "else", "break", "continue", "return",
                             "const", "math", "scratch", "launch"});
  if (help.empty() && wordFollows && tok(2).kind == Tok::Assign)
    help = "write `let " + tok(1).text.substr(0, 40) + " = ...`";
  error(rangeOf(tok()), "unknown statement " + quoted(word), help);
  return true;
}

template <class T> StmtPtr Parser::parseBinding(const char *word) {
  uint32_t begin = tok().begin;
  advance();
  auto stmt = std::make_unique<T>(SourceRange{});
  if (at(Tok::LParen) && !lineEnded()) {
    stmt->isTuple = true;
    advance();
    ++roundDepth;
    do {
      BoundName name;
      if (at(Tok::RParen))
        break;
      if (!parseName(name, "a name"))
        return nullptr;
      stmt->names.push_back(std::move(name));
    } while (accept(Tok::Comma));
    if (!expect(Tok::RParen, "`,` or `)`", "in the names"))
      return nullptr;
    --roundDepth;
    if (stmt->names.size() < 2) {
      error(rangeFrom(begin), "a tuple of fewer than two names",
            std::string("write `") + word + " name = value`");
      return nullptr;
    }
  } else {
    BoundName name;
    if (!parseName(name, "a name"))
      return nullptr;
    stmt->names.push_back(std::move(name));
  }
  if (!at(Tok::Assign) || lineEnded()) {
    const std::string &first = stmt->names.front().name;
    std::string help;
    if (at(Tok::Colon))
      help = "names have no type annotation: convert the value, as in `let x = f32(0)`";
    else if (at(Tok::Comma) && tok(1).kind == Tok::Ident)
      help = std::string("write `") + word + " (" + first.substr(0, 40) + ", " + tok(1).text.substr(0, 40) +
             ") = ...`";
    else if (at(Tok::Eq))
      help = "`==` compares";
    expected("`=` and a value after " + quoted(first), help);
    return nullptr;
  }
  advance();
  stmt->value = parseExpr();
  if (!stmt->value)
    return nullptr;
  stmt->range = rangeFrom(begin);
  return stmt;
}
template StmtPtr Parser::parseBinding<Let>(const char *);
template StmtPtr Parser::parseBinding<Var>(const char *);

bool Parser::checkTarget(const Expr &target) {
  if (target.kind == ExprKind::Name || target.kind == ExprKind::Index)
    return true;
  if (const auto *tuple = dynCast<Tuple>(&target)) {
    for (const ExprPtr &element : tuple->elements)
      if (element->kind == ExprKind::Tuple || !checkTarget(*element))
        return error(element->range, "cannot assign to this",
                     "assign to names or to elements such as `y[i]`"),
               false;
    return true;
  }
  return error(target.range, "cannot assign to this", "assign to a name, to `y[i]`, or to `(a, b)`"), false;
}

StmtPtr Parser::parseExprOrAssign() {
  const Token &first = tok();
  bool operatorFirst = first.startsLine && (first.kind >= Tok::Add && first.kind <= Tok::Ge);
  if ((operatorFirst && first.kind != Tok::Sub) || at(Tok::Dot) || at(Tok::Arrow) || at(Tok::Comma)) {
    error(rangeOf(first), "a statement cannot start with " + quoted(first.text),
          "to go on from the line above, end that line with the operator, or use parentheses");
    return nullptr;
  }
  ExprPtr expr = parseExpr();
  if (!expr)
    return nullptr;
  bool assigns = at(Tok::Assign) || (tok().kind >= Tok::AddAssign && tok().kind <= Tok::ShrAssign);
  if (assigns && !lineEnded()) {
    auto assign = std::make_unique<Assign>(SourceRange{});
    if (!checkTarget(*expr))
      return nullptr;
    if (!at(Tok::Assign)) {
      assign->op = static_cast<BinaryOp>(static_cast<int>(tok().kind) - static_cast<int>(Tok::AddAssign));
      if (expr->kind == ExprKind::Tuple) {
        error(rangeOf(tok()), quoted(tok().text) + " needs one target, found a tuple",
              "update the names one by one");
        return nullptr;
      }
    }
    advance();
    assign->value = parseExpr();
    if (!assign->value)
      return nullptr;
    assign->range = rangeFrom(expr->range.begin);
    assign->target = std::move(expr);
    return assign;
  }
  if (!atStatementEnd()) {
    const auto *call = dynCast<Call>(expr.get());
    const auto *callee = call ? dynCast<Name>(call->callee.get()) : nullptr;
    std::string help;
    if (at(Tok::LBrace) && callee)
      help = didYouMean(callee->name, {"while", "if", "for"});
    else if (at(Tok::Colon))
      help = "names have no type annotation: write `let x = f32(0)`";
    else
      return endStatement("the statement"), nullptr;
    expected("the end of the statement", help);
    return nullptr;
  }
  bool isValue = expr->kind != ExprKind::Call;
  if (isValue && !inFn) {
    const auto *binary = dynCast<Binary>(expr.get());
    std::string help = "only calls stand alone as statements; bind a value with `let`";
    if (binary && binary->op == BinaryOp::Eq)
      help = "`==` compares; assign with `=`";
    else if (expr->kind == ExprKind::Unary && operatorFirst)
      help = "to go on from the line above, end that line with the operator, or use parentheses";
    error(expr->range, "this value is not used", help);
    return nullptr;
  }
  auto stmt = std::make_unique<ExprStmt>(expr->range);
  stmt->value = std::move(expr);
  return stmt;
}

StmtPtr Parser::parseMath() {
  uint32_t begin = tok().begin;
  advance();
  auto stmt = std::make_unique<Math>(SourceRange{});
  do {
    BoundName flag;
    if (!parseName(flag, "a math flag", !stmt->flags.empty()))
      return nullptr;
    stmt->flags.push_back(std::move(flag));
  } while (accept(Tok::Comma));
  stmt->range = rangeFrom(begin);
  return stmt;
}

StmtPtr Parser::parseScratch() {
  uint32_t begin = tok().begin;
  advance();
  auto stmt = std::make_unique<Scratch>(SourceRange{});
  if (!parseName(stmt->name, "a name") ||
      !expect(Tok::Colon, "`:`", "and a type", "as in `scratch p: f32[B, D]`"))
    return nullptr;
  if (!parseType(stmt->type, "a dtype"))
    return nullptr;
  if (at(Tok::Assign)) {
    error(rangeOf(tok()), "scratch has no initial value", "write it in an earlier launch of the plan");
    return nullptr;
  }
  stmt->range = rangeFrom(begin);
  return stmt;
}

StmtPtr Parser::parseLaunch() {
  uint32_t begin = tok().begin;
  advance();
  auto stmt = std::make_unique<Launch>(SourceRange{});
  if (!parseName(stmt->kernel, "the name of a kernel"))
    return nullptr;
  if (!at(Tok::LParen) || lineEnded()) {
    expected("`(` and the kernel's arguments");
    return nullptr;
  }
  if (!parseArgs(stmt->args))
    return nullptr;
  stmt->range = rangeFrom(begin);
  return stmt;
}

} // namespace tilegym::syntax
