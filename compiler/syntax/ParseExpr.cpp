// SPDX-License-Identifier: MIT
// Expressions, with Python's precedence. A comparison next to `& | ^` must be parenthesised and comparisons do not chain:
// both are where Python, C and NumPy users expect different things.
#include "compiler/syntax/ParserImpl.h"
#include <algorithm>

namespace tilegym::syntax {

using namespace ast;

/// Of a token that is a binary operator; 0 for any other. Unary operators bind tighter than all of these, `**` tighter still.
static int precedence(Tok kind) {
  switch (kind) {
  case Tok::Eq:
  case Tok::Ne:
  case Tok::Lt:
  case Tok::Le:
  case Tok::Gt:
  case Tok::Ge:
    return 1;
  case Tok::Or:
    return 2;
  case Tok::Xor:
    return 3;
  case Tok::And:
    return 4;
  case Tok::Shl:
  case Tok::Shr:
    return 5;
  case Tok::Add:
  case Tok::Sub:
    return 6;
  case Tok::Mul:
  case Tok::Div:
  case Tok::FloorDiv:
  case Tok::Mod:
  case Tok::MatMul:
    return 7;
  default:
    return 0;
  }
}

static BinaryOp binaryOp(Tok kind) {
  static_assert(static_cast<int>(Tok::Ge) - static_cast<int>(Tok::Add) == static_cast<int>(BinaryOp::Ge));
  return static_cast<BinaryOp>(static_cast<int>(kind) - static_cast<int>(Tok::Add));
}

/// Gives `expr` its height, or reports that it is too deep.
ExprPtr Parser::bounded(ExprPtr expr, std::initializer_list<const Expr *> children) {
  for (const Expr *child : children)
    if (child)
      expr->height = std::max(expr->height, child->height + 1);
  if (expr->height <= maxExprHeight)
    return expr;
  error(rangeOf(previous()),
        "this expression is nested more than " + std::to_string(maxExprHeight) + " levels deep",
        "name parts of it with `let`");
  return nullptr;
}

ExprPtr Parser::parseExpr() {
  if (++nesting > maxExprHeight) {
    --nesting;
    error(rangeOf(tok()),
          "this expression is nested more than " + std::to_string(maxExprHeight) + " levels deep",
          "name parts of it with `let`");
    return nullptr;
  }
  ExprPtr expr = parseBinary(1);
  --nesting;
  return expr ? foreignExpr(std::move(expr)) : nullptr;
}

/// Names what other languages write after an operand, where we can only say "expected the end".
ExprPtr Parser::foreignExpr(ExprPtr expr) {
  if (lineEnded())
    return expr;
  const char *help = nullptr;
  if (atWord("and"))
    help = "`and` is written `&`, each comparison in parentheses: `(a < b) & (c < d)`";
  else if (atWord("or"))
    help = "`or` is written `|`, each comparison in parentheses: `(a < b) | (c < d)`";
  else if (atWord("if") || at(Tok::Question))
    help = "choose between values with `select(condition, a, b)`";
  if (!help)
    return expr;
  error(rangeOf(tok()), "unexpected " + quoted(tok().text) + " after an expression", help);
  return nullptr;
}

bool Parser::checkComparison(const Token &op, const Expr &lhs, const Expr &rhs) {
  for (const Expr *side : {&lhs, &rhs}) {
    const auto *inner = dynCast<Binary>(side);
    if (!inner || inner->parens)
      continue;
    if (precedence(op.kind) == 1 &&
        (inner->op == BinaryOp::BitAnd || inner->op == BinaryOp::BitOr || inner->op == BinaryOp::BitXor)) {
      std::string bit = spelling(inner->op);
      error(rangeOf(op), quoted(op.text) + " beside `" + bit + "` needs parentheses",
            "write `x " + bit + " (a " + op.text + " b)`, or `(x " + bit + " a) " + op.text +
                " b` if that is meant");
      return false;
    }
    if (inner->op >= BinaryOp::Eq) {
      error(rangeOf(op), "comparisons do not chain",
            std::string("write `(a ") + spelling(inner->op) + " b) & (b " + op.text + " c)`");
      return false;
    }
  }
  return true;
}

ExprPtr Parser::parseBinary(int minPrecedence) {
  ExprPtr lhs = parseUnary();
  while (lhs && !lineEnded()) {
    int level = precedence(tok().kind);
    if (level == 0 || level < minPrecedence)
      break;
    const Token &op = tok();
    advance();
    ExprPtr rhs = parseBinary(level + 1);
    if (!rhs || (level == 1 && !checkComparison(op, *lhs, *rhs)))
      return nullptr;
    auto binary = std::make_unique<Binary>(SourceRange{file.get(), lhs->range.begin, rhs->range.end});
    binary->op = binaryOp(op.kind);
    binary->opRange = rangeOf(op);
    binary->lhs = std::move(lhs);
    binary->rhs = std::move(rhs);
    const Expr *children[] = {binary->lhs.get(), binary->rhs.get()};
    lhs = bounded(std::move(binary), {children[0], children[1]});
  }
  return lhs;
}

ExprPtr Parser::parseUnary() {
  uint32_t begin = tok().begin;
  UnaryOp op;
  if (at(Tok::Sub))
    op = UnaryOp::Neg;
  else if (at(Tok::Not))
    op = UnaryOp::Not;
  else if (at(Tok::Tilde))
    op = UnaryOp::BitNot;
  else
    return parsePower();
  if (nesting >= maxExprHeight) {
    error(rangeOf(tok()),
          "this expression is nested more than " + std::to_string(maxExprHeight) + " levels deep",
          "name parts of it with `let`");
    return nullptr;
  }
  advance();
  ++nesting;
  ExprPtr operand = parseUnary();
  --nesting;
  if (!operand)
    return nullptr;
  auto unary = std::make_unique<Unary>(rangeFrom(begin));
  unary->op = op;
  unary->operand = std::move(operand);
  const Expr *child = unary->operand.get();
  return bounded(std::move(unary), {child});
}

/// `a ** b`: binds tighter than a minus on its left, looser than one on its right, and to the right.
ExprPtr Parser::parsePower() {
  ExprPtr base = parsePostfix();
  if (!base || !at(Tok::Pow) || lineEnded())
    return base;
  const Token &op = tok();
  advance();
  if (nesting >= maxExprHeight) {
    error(rangeOf(op),
          "this expression is nested more than " + std::to_string(maxExprHeight) + " levels deep",
          "name parts of it with `let`");
    return nullptr;
  }
  ++nesting;
  ExprPtr exponent = parseUnary();
  --nesting;
  if (!exponent)
    return nullptr;
  auto power = std::make_unique<Binary>(SourceRange{file.get(), base->range.begin, exponent->range.end});
  power->op = BinaryOp::Pow;
  power->opRange = rangeOf(op);
  power->lhs = std::move(base);
  power->rhs = std::move(exponent);
  const Expr *children[] = {power->lhs.get(), power->rhs.get()};
  return bounded(std::move(power), {children[0], children[1]});
}

ExprPtr Parser::parsePostfix() {
  ExprPtr expr = parsePrimary();
  while (expr && !lineEnded()) {
    if (at(Tok::LParen)) {
      expr = parseCall(std::move(expr));
    } else if (at(Tok::LBracket)) {
      expr = parseIndex(std::move(expr));
    } else if (at(Tok::Dot)) {
      advance();
      if ((!at(Tok::Ident) && !at(Tok::Keyword)) || lineEnded()) {
        expected("a name after `.`");
        return nullptr;
      }
      auto member = std::make_unique<Member>(SourceRange{file.get(), expr->range.begin, tok().end});
      member->base = std::move(expr);
      member->name = tok().text;
      member->nameRange = rangeOf(tok());
      advance();
      const Expr *child = member->base.get();
      expr = bounded(std::move(member), {child});
    } else {
      break;
    }
  }
  return expr;
}

ExprPtr Parser::parsePrimary() {
  const Token &token = tok();
  SourceRange range = rangeOf(token);
  switch (token.kind) {
  case Tok::Int: {
    auto literal = std::make_unique<IntLiteral>(range);
    literal->value = token.intValue;
    literal->text = token.text;
    advance();
    return literal;
  }
  case Tok::Float: {
    auto literal = std::make_unique<FloatLiteral>(range);
    literal->value = token.floatValue;
    literal->text = token.text;
    advance();
    return literal;
  }
  case Tok::String: {
    auto literal = std::make_unique<StringLiteral>(range);
    literal->value = token.text;
    advance();
    return literal;
  }
  case Tok::Keyword:
    if (token.text == "true" || token.text == "false") {
      auto literal = std::make_unique<BoolLiteral>(range);
      literal->value = token.text == "true";
      advance();
      return literal;
    }
    if (token.text == "fn" && !lineEnded()) {
      error(range, "a function has a name, and is no expression",
            "write it beside the sections, `fn add(a, b) { a + b }`, and give its name: `fn=add`");
      return nullptr;
    }
    break;
  case Tok::Ident: {
    if (token.text == "True" || token.text == "False") {
      error(range, "unknown word " + quoted(token.text),
            token.text == "True" ? "write `true`" : "write `false`");
      return nullptr;
    }
    bool operandFollows = tok(1).kind == Tok::Ident && !tok(1).startsLine;
    if (token.text == "not" && operandFollows) {
      error(range, "unknown operator `not`", "`not` is written `!`");
      return nullptr;
    }
    auto name = std::make_unique<Name>(range);
    name->name = token.text;
    advance();
    return name;
  }
  case Tok::LParen:
    return parseParens();
  case Tok::LBracket:
    return parseList();
  default:
    break;
  }
  expected("an expression", at(Tok::Add) ? "remove the `+`" : "");
  return nullptr;
}

ExprPtr Parser::parseParens() {
  uint32_t begin = tok().begin;
  advance();
  ++roundDepth;
  std::vector<ExprPtr> elements;
  bool comma = false;
  while (!at(Tok::RParen)) {
    ExprPtr element = parseExpr();
    if (!element)
      return nullptr;
    elements.push_back(std::move(element));
    if (!accept(Tok::Comma))
      break;
    comma = true;
  }
  if (!at(Tok::RParen)) {
    expected(comma ? "`,` or `)` in a tuple" : "`)`");
    return nullptr;
  }
  advance();
  --roundDepth;
  SourceRange range = rangeFrom(begin);
  if (elements.size() == 1 && !comma) {
    elements[0]->parens = true;
    elements[0]->range = range;
    return std::move(elements[0]);
  }
  if (elements.size() < 2) {
    error(range, elements.empty() ? "empty parentheses" : "a tuple of one element",
          elements.empty() ? "write the value they should hold" : "remove the comma");
    return nullptr;
  }
  auto tuple = std::make_unique<Tuple>(range);
  for (const ExprPtr &element : elements)
    tuple->height = std::max(tuple->height, element->height + 1);
  tuple->elements = std::move(elements);
  return bounded(std::move(tuple), {});
}

ExprPtr Parser::parseList() {
  uint32_t begin = tok().begin;
  advance();
  ++roundDepth;
  auto list = std::make_unique<List>(SourceRange{});
  while (!at(Tok::RBracket)) {
    ExprPtr element = parseExpr();
    if (!element)
      return nullptr;
    list->height = std::max(list->height, element->height + 1);
    list->elements.push_back(std::move(element));
    if (!accept(Tok::Comma))
      break;
  }
  if (!at(Tok::RBracket)) {
    expected("`,` or `]` in a list", at(Tok::DotDot) ? "a range stands by itself: `N in 1 .. 9`" : "");
    return nullptr;
  }
  advance();
  --roundDepth;
  list->range = rangeFrom(begin);
  return bounded(std::move(list), {});
}

/// `lo .. hi`, `lo .. hi step s`, or a plain expression.
ExprPtr Parser::parseRangeOrExpr() {
  ExprPtr lo = parseExpr();
  if (!lo || !at(Tok::DotDot) || lineEnded())
    return lo;
  advance();
  ExprPtr hi = parseExpr();
  if (!hi)
    return nullptr;
  ExprPtr step;
  if (atWord("step") && !lineEnded()) {
    advance();
    step = parseExpr();
    if (!step)
      return nullptr;
  }
  auto range = std::make_unique<Range>(rangeFrom(lo->range.begin));
  range->lo = std::move(lo);
  range->hi = std::move(hi);
  range->step = std::move(step);
  const Expr *children[] = {range->lo.get(), range->hi.get(), range->step.get()};
  return bounded(std::move(range), {children[0], children[1], children[2]});
}

ExprPtr Parser::parseRange(const char *what) {
  ExprPtr range = parseRangeOrExpr();
  if (!range)
    return nullptr;
  if (range->kind == ExprKind::Range)
    return range;
  const auto *call = dynCast<Call>(range.get());
  const auto *callee = call ? dynCast<Name>(call->callee.get()) : nullptr;
  bool python = callee && callee->name == "range";
  error(range->range, std::string(what) + " runs over a range, found an expression",
        python ? "`range(n)` is written `0 .. n`" : "write `0 .. n`, or `a .. b step s`");
  return nullptr;
}

ExprPtr Parser::parseWholeExpr() {
  ExprPtr expr = parseRangeOrExpr();
  if (expr && !at(Tok::End)) {
    expected("the end of the expression");
    return nullptr;
  }
  return expr;
}

} // namespace tilegym::syntax
