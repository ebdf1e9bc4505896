// SPDX-License-Identifier: MIT
// What may follow the parameters and results of an op, in any order, each on the same line or starting the next:
// `where`, `serves`, `gradient of`, `y alias x`, `nondeterministic`.
#include "compiler/syntax/Keywords.h"
#include "compiler/syntax/ParserImpl.h"

namespace tilegym::syntax {

using namespace ast;

bool Parser::atClause() const {
  return at(Tok::Ident) &&
         (tok().text == "where" || tok().text == "serves" || tok().text == "nondeterministic" ||
          (tok().text == "gradient" && atWord("of", 1)) || atWord("alias", 1));
}

bool Parser::parseClauses(OpDecl &op) {
  for (;;) {
    if (atClause()) {
      bool ok = true;
      if (atWord("alias", 1)) {
        ok = parseAliases(op.aliases);
      } else if (acceptWord("where")) {
        ok = parseWhere(op.where);
      } else if (acceptWord("serves")) {
        ok = parseServes(op.serves);
      } else if (atWord("gradient")) {
        ok = parseGradientOf(op);
      } else {
        advance();
        op.nondeterministic = true;
      }
      if (!ok)
        return false;
      continue;
    }
    if (!atStatementEnd() || (at(Tok::Ident) && !atSectionStart()))
      return unknownClause();
    return true;
  }
}

bool Parser::unknownClause() {
  if (at(Tok::Ident)) {
    std::string help =
        didYouMean(tok().text, {"where", "serves", "nondeterministic", "gradient", "alias", "op", "reference",
                                "kernel", "plan", "tune", "test", "bench", "fn", "use"});
    if (atWord("when"))
      help = "`when` guards a kernel; an op says which inputs it takes in `where`";
    if (atWord("alias"))
      help = "both names are needed: `y alias x`";
    error(rangeOf(tok()), "expected a clause of the op or a section, found " + quoted(tok().text),
          help.empty()
              ? "the clauses are `where`, `serves`, `gradient of`, `y alias x` and `nondeterministic`"
              : help);
    return false;
  }
  if (at(Tok::LBrace))
    return expected("a clause of the op or a section",
                    "an op has no body: its meaning stands in `reference { ... }`");
  return expected("a clause of the op or a section",
                  at(Tok::Comma) ? "several results stand in parentheses: `-> (y: T[N], z: T[N])`" : "");
}

/// `T: f32 | f16, D: 64 | 96, H % HK == 0 "text"`. A name and `:` starts a choice, anything else is a condition.
bool Parser::parseWhere(std::vector<WhereItem> &items) {
  do {
    WhereItem &item = items.emplace_back();
    uint32_t begin = tok().begin;
    if (at(Tok::Ident) && tok(1).kind == Tok::Colon) {
      parseName(item.name, "a name", true);
      advance();
      do {
        // A choice is one name or number: `|` separates them.
        ExprPtr choice = parseUnary();
        if (!choice)
          return false;
        const auto *negative = dynCast<Unary>(choice.get());
        ExprKind kind = negative && negative->op == UnaryOp::Neg ? negative->operand->kind : choice->kind;
        if (kind != ExprKind::Name && kind != ExprKind::IntLiteral && kind != ExprKind::BoolLiteral)
          return error(choice->range, "a choice of " + quoted(item.name.name) + " is a name or an integer",
                       "as in `T: f32 | f16` or `D: 64 | 128`; a condition is written without `:`"),
                 false;
        item.choices.push_back(std::move(choice));
      } while (!lineEnded() && accept(Tok::Or));
    } else {
      item.condition = parseExpr();
      if (!item.condition)
        return false;
      if (at(Tok::String) && !lineEnded()) {
        item.message = tok().text;
        advance();
      }
    }
    item.range = rangeFrom(begin);
  } while (!lineEnded() && accept(Tok::Comma));
  return true;
}

bool Parser::parseServes(std::vector<Serves> &serves) {
  do {
    Serves &entry = serves.emplace_back();
    uint32_t begin = tok().begin;
    if (!at(Tok::String))
      return expected("a dispatch name in quotes after `serves`", "as in `serves \"liger.softmax\"(x)`");
    entry.name = tok().text;
    advance();
    if (!at(Tok::LParen) || lineEnded())
      return expected("`(` and the arguments of " + quoted(entry.name));
    advance();
    ++roundDepth;
    while (!at(Tok::RParen)) {
      ServesArg &arg = entry.args.emplace_back();
      // Another library chose these names, so keywords are fine.
      if (!at(Tok::Ident) && !at(Tok::Keyword))
        return expected("the name of an argument");
      arg.name = {tok().text, rangeOf(tok())};
      advance();
      if (accept(Tok::Assign)) {
        arg.defaultValue = parseExpr();
        if (!arg.defaultValue)
          return false;
      }
      arg.target = arg.name;
      if (accept(Tok::Colon) && !parseServesUse(arg))
        return false;
      if (!accept(Tok::Comma))
        break;
    }
    if (!at(Tok::RParen))
      return expected("`,` or `)` in the arguments of " + quoted(entry.name));
    advance();
    --roundDepth;
    if (at(Tok::Arrow) && !lineEnded() && !parseServesResults(entry))
      return false;
    entry.range = rangeFrom(begin);
  } while (!lineEnded() && accept(Tok::Comma));
  return true;
}

/// What stands after `:`: `ignored`, `none`, `transposes a`, `in_place [unless training]`, or an argument's name.
bool Parser::parseServesUse(ServesArg &arg) {
  using Use = ServesArg::Use;
  if (acceptWord("ignored")) {
    arg.use = Use::Ignored;
  } else if (acceptWord("none")) {
    arg.use = Use::Refused;
  } else if (acceptWord("transposes")) {
    arg.use = Use::Transposes;
    return parseName(arg.target, "the name of the argument whose axes change places");
  } else if (acceptWord("in_place")) {
    arg.use = Use::InPlace;
    arg.target = {};
    return !acceptWord("unless") || parseName(arg.target, "the name of a const after `unless`");
  } else {
    if (!at(Tok::Ident))
      return expected("what the argument is, after `:`",
                      "one of ours (`input: x`), or `ignored`, `none`, `transposes a`, `in_place`");
    return parseName(arg.target, "a name");
  }
  return true;
}

/// `-> y` or `-> (y, mean, none)`.
bool Parser::parseServesResults(Serves &entry) {
  advance();
  entry.resultsParenthesised = at(Tok::LParen);
  if (entry.resultsParenthesised) {
    advance();
    ++roundDepth;
  }
  do {
    BoundName &name = entry.results.emplace_back();
    if (acceptWord("none"))
      continue;
    if (!parseName(name, "the name of an output, or `none`"))
      return false;
  } while (entry.resultsParenthesised && accept(Tok::Comma));
  if (!entry.resultsParenthesised)
    return true;
  if (!at(Tok::RParen))
    return expected("`,` or `)` in the results of " + quoted(entry.name));
  advance();
  --roundDepth;
  return true;
}

/// `gradient of rms_norm(y -> dy; x -> dx, w -> dw)`.
bool Parser::parseGradientOf(OpDecl &op) {
  uint32_t begin = tok().begin;
  if (op.gradientOf)
    return error(rangeOf(tok()), "a second `gradient of`", "an op is the gradient of one other"), false;
  advance();
  advance();
  GradientOf &gradient = op.gradientOf.emplace();
  if (!parseName(gradient.op, "the name of the op whose gradient this is"))
    return false;
  if (!at(Tok::LParen) || lineEnded())
    return expected("`(` and the pairs of names", "as in `gradient of f(y -> dy; x -> dx)`");
  advance();
  ++roundDepth;
  if (!parsePairs(gradient.outputs))
    return false;
  if (!at(Tok::Semicolon))
    return expected("`;` between outputs and inputs", "as in `gradient of f(y -> dy; x -> dx)`");
  advance();
  if (!parsePairs(gradient.inputs))
    return false;
  if (!at(Tok::RParen))
    return expected("`,` or `)` after the inputs");
  advance();
  --roundDepth;
  gradient.range = rangeFrom(begin);
  return true;
}

bool Parser::parsePairs(std::vector<NamePair> &pairs) {
  do {
    NamePair &pair = pairs.emplace_back();
    if (!parseName(pair.from, "a name"))
      return false;
    if (!at(Tok::Arrow))
      return expected("`->` and the name of the gradient of " + quoted(pair.from.name));
    advance();
    if (!parseName(pair.to, "a name"))
      return false;
  } while (accept(Tok::Comma));
  return true;
}

/// `y alias x, z alias w`.
bool Parser::parseAliases(std::vector<NamePair> &aliases) {
  do {
    NamePair &pair = aliases.emplace_back();
    if (!parseName(pair.from, "the name of a result", true))
      return false;
    if (!acceptWord("alias"))
      return expected("`alias`", "as in `y alias x`");
    if (!parseName(pair.to, "the name of a parameter"))
      return false;
  } while (!lineEnded() && accept(Tok::Comma));
  return true;
}

} // namespace tilegym::syntax
