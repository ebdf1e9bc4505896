// SPDX-License-Identifier: MIT
// The interface of an op: parameters, results, tensor types. Its clauses are in ParseClauses.
#include "compiler/syntax/Keywords.h"
#include "compiler/syntax/ParserImpl.h"

namespace tilegym::syntax {

using namespace ast;

bool Parser::parseOp(OpDecl &op) {
  uint32_t begin = tok().begin;
  advance();
  if (!parseName(op.name, "the name of the op"))
    return false;
  if (!at(Tok::LParen) || lineEnded())
    return expected("`(` and the parameters of the op");
  if (!parseParams(op.params, false))
    return false;
  if (at(Tok::Arrow)) { // may start the next line: nothing else can start with it
    advance();
    op.resultsParenthesised = at(Tok::LParen);
    if (op.resultsParenthesised) {
      if (!parseParams(op.results, true))
        return false;
    } else if (!parseParam(op.results.emplace_back(), true)) {
      return false;
    }
  } else if (at(Tok::Colon) || (at(Tok::Ident) && tok(1).kind == Tok::Colon)) {
    return expected("`->` and the results, or a clause such as `where`", "results are written `-> y: T[N]`");
  }
  if (!parseClauses(op))
    return false;
  op.range = rangeFrom(begin);
  return true;
}

/// From `(` to `)`.
bool Parser::parseParams(std::vector<Param> &params, bool results) {
  advance();
  ++roundDepth;
  while (!at(Tok::RParen)) {
    Param &param = params.emplace_back();
    takeLeading(param, &param.doc);
    if (!parseParam(param, results))
      return false;
    bool more = accept(Tok::Comma);
    finish(param);
    if (!more)
      break;
  }
  if (!at(Tok::RParen))
    return expected(results ? "`,` or `)` in the results" : "`,` or `)` in the parameters");
  advance();
  --roundDepth;
  if (results && params.empty())
    return error(rangeOf(previous()), "empty results", "leave `->` out where everything is `inout`"), false;
  return true;
}

bool Parser::parseParam(Param &param, bool result) {
  uint32_t begin = tok().begin;
  // `list: T[N]` is a parameter called `list`, so a word is a modifier only before another name.
  for (;;) {
    bool nameFollows = tok(1).kind == Tok::Ident || tok(1).kind == Tok::Keyword;
    bool *flag = !nameFollows      ? nullptr
                 : atWord("const") ? &param.isConst
                 : atWord("inout") ? &param.isInout
                 : atWord("list")  ? &param.isList
                                   : nullptr;
    if (!flag)
      break;
    if (*flag || (result && flag != &param.isList))
      return error(rangeOf(tok()), quoted(tok().text) + (*flag ? " is given twice" : " on a result"),
                   *flag ? "remove one" : "it belongs to parameters"),
             false;
    *flag = true;
    advance();
  }
  if (at(Tok::Ident) && tok(1).kind == Tok::Ident)
    return error(rangeOf(tok()), "unknown modifier " + quoted(tok().text),
                 didYouMean(tok().text, {"const", "inout", "list"})),
           false;
  if (!parseName(param.name, result ? "the name of a result" : "the name of a parameter", true))
    return false;
  if (!at(Tok::Colon))
    return expected("`:` and a type after " + quoted(param.name.name),
                    "as in `x: T[M, N]` or `eps: f32 = 1e-6`");
  advance();
  if (!parseEnumerators(param))
    return false;
  if (param.enumerators.empty() && !parseType(param.type, "a type"))
    return false;
  if (at(Tok::Or))
    return error(rangeOf(tok()), "a choice of types for " + quoted(param.name.name),
                 "name the dtype, `" + param.name.name.substr(0, 40) +
                     ": T`, and list the choices in `where T: f32 | f16`"),
           false;
  if (!lineEnded() && at(Tok::Assign)) {
    advance();
    param.defaultValue = parseExpr();
    if (!param.defaultValue)
      return false;
  }
  param.range = rangeFrom(begin);
  return true;
}

/// `none | mean | sum` of a const; leaves everything as it is where a type stands.
bool Parser::parseEnumerators(Param &param) {
  if (!param.isConst || tok(1).kind != Tok::Or)
    return true;
  do {
    if (at(Tok::Int))
      return error(rangeOf(tok()), "a number among the values of " + quoted(param.name.name),
                   "write `const " + param.name.name.substr(0, 40) +
                       ": i32` and list the numbers in `where`"),
             false;
    BoundName value;
    if (!parseName(value, "a value"))
      return false;
    param.enumerators.push_back(std::move(value));
  } while (accept(Tok::Or));
  return true;
}

/// `T`, `T[M, N]`, `T[]`, `T[N]?`.
bool Parser::parseType(TensorType &type, const char *what) {
  uint32_t begin = tok().begin;
  if (!parseName(type.dtype, what, true))
    return false;
  if (at(Tok::LBracket) && !lineEnded()) {
    type.hasShape = true;
    advance();
    ++roundDepth;
    while (!at(Tok::RBracket)) {
      if (!parseDim(type.dims.emplace_back()))
        return false;
      if (!accept(Tok::Comma))
        break;
    }
    if (!at(Tok::RBracket))
      return expected("`,` or `]` in the dims");
    advance();
    --roundDepth;
  }
  if (at(Tok::Question) && !lineEnded()) {
    advance();
    type.optional = true;
  }
  type.range = rangeFrom(begin);
  return true;
}

/// `N`, `2*H`, `cdiv(K, 128)`, `B|1`, `*R`, and `M[]` of a list.
bool Parser::parseDim(DimSpec &dim) {
  uint32_t begin = tok().begin;
  dim.leading = accept(Tok::Mul);
  constexpr int aboveOr = 3; // `|` belongs to `B|1`
  dim.expr = parseBinary(aboveOr);
  if (!dim.expr)
    return false;
  if (dim.leading && dim.expr->kind != ExprKind::Name)
    return error(dim.expr->range, "leading dims need a name", "as in `T[*R, N]`"), false;
  if (auto *index = dynCast<ast::Index>(dim.expr.get()); index && index->items.empty()) {
    if (index->base->kind != ExprKind::Name || dim.leading)
      return error(dim.expr->range, "a dim per element needs a name", "as in `list a: T[M[], K]`"), false;
    dim.perElement = true;
    ExprPtr name = std::move(index->base);
    dim.expr = std::move(name);
  }
  if (accept(Tok::Or)) {
    if (!at(Tok::Int) || tok().intValue != 1)
      return expected("`1` after `|` in a dim", "`B|1` takes extent B or 1, and 1 is broadcast"), false;
    if (dim.leading)
      return error(rangeOf(tok()), "leading dims cannot broadcast", "give these dims names of their own"),
             false;
    advance();
    dim.orOne = true;
  }
  dim.range = rangeFrom(begin);
  return true;
}

} // namespace tilegym::syntax
