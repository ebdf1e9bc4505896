// SPDX-License-Identifier: MIT
// Calls with their arguments, comprehensions, and indices.
#include "compiler/syntax/ParserImpl.h"
#include <algorithm>

namespace tilegym::syntax {

using namespace ast;

ExprPtr Parser::parseCall(ExprPtr callee) {
  const auto *name = dynCast<Name>(callee.get());
  bool isPtx = name && name->name == "inline_ptx";
  if (callee->kind != ExprKind::Name && callee->kind != ExprKind::Member) {
    error(rangeOf(tok()), "this is not callable", "only names and methods such as `x.tile` are called");
    return nullptr;
  }
  auto call = std::make_unique<Call>(SourceRange{});
  uint32_t begin = callee->range.begin;
  call->height = callee->height + 1;
  call->callee = std::move(callee);
  if (!parseArgs(call->args))
    return nullptr;
  for (const Arg &arg : call->args)
    call->height = std::max(call->height, arg.value->height + 1);
  if (isPtx) {
    if (!atWord("reference") || atSectionStart()) { // may stand on the next line: no statement starts with it
      expected("`reference` and the meaning of `inline_ptx`",
               "write `inline_ptx(\"...\", x) reference expr`; the interpreter runs `expr`");
      return nullptr;
    }
    advance();
    call->reference = parseExpr();
    if (!call->reference)
      return nullptr;
    call->height = std::max(call->height, call->reference->height + 1);
  }
  call->range = rangeFrom(begin);
  return bounded(std::move(call), {});
}

/// From `(` to `)`. The only argument without a name may be a comprehension, `g in a .. b: body`.
bool Parser::parseArgs(std::vector<Arg> &args) {
  advance();
  ++roundDepth;
  bool sawComprehension = false;
  while (!at(Tok::RParen)) {
    Arg arg;
    bool isWord = at(Tok::Ident) || at(Tok::Keyword);
    if (isWord && tok(1).kind == Tok::Assign) {
      arg.name = tok().text;
      arg.nameRange = rangeOf(tok());
      for (const Arg &earlier : args)
        if (earlier.name == arg.name)
          return error(arg.nameRange, "the argument " + quoted(arg.name) + " is given twice", "remove one"),
                 false;
      advance();
      advance();
      arg.value = parseExpr();
    } else if (at(Tok::Ident) && tok(1).kind == Tok::Keyword && tok(1).text == "in") {
      auto comprehension = std::make_unique<Comprehension>(SourceRange{});
      uint32_t begin = tok().begin;
      comprehension->var = tok().text;
      comprehension->varRange = rangeOf(tok());
      advance();
      advance();
      comprehension->range_ = parseRange("a comprehension");
      if (!comprehension->range_)
        return false;
      if (!at(Tok::Colon))
        return expected("`:` and the value after the range", "as in `sum(g in 0 .. n: f(g))`");
      advance();
      comprehension->body = parseExpr();
      if (!comprehension->body)
        return false;
      comprehension->range = rangeFrom(begin);
      const Expr *children[] = {comprehension->range_.get(), comprehension->body.get()};
      arg.value = bounded(std::move(comprehension), {children[0], children[1]});
      sawComprehension = true;
    } else {
      arg.value = parseExpr();
      if (arg.value && !args.empty() && !args.back().name.empty()) {
        error(arg.value->range, "an argument without a name after " + quoted(args.back().name + "="),
              "put it before, or name it");
        return false;
      }
    }
    if (!arg.value)
      return false;
    args.push_back(std::move(arg));
    if (sawComprehension && args.size() > 1 &&
        (args.back().name.empty() || args.front().value->kind != ExprKind::Comprehension)) {
      error(args.back().value->range, "a comprehension stands alone among the arguments",
            "name it first with `let`");
      return false;
    }
    if (!accept(Tok::Comma))
      break;
  }
  if (!at(Tok::RParen))
    return expected("`,` or `)` in the arguments");
  advance();
  --roundDepth;
  return true;
}

ExprPtr Parser::parseIndex(ExprPtr base) {
  auto index = std::make_unique<Index>(SourceRange{});
  uint32_t begin = base->range.begin;
  advance();
  ++roundDepth;
  index->height = base->height + 1;
  index->base = std::move(base);
  while (!at(Tok::RBracket)) {
    IndexItem item;
    if (!parseIndexItem(item))
      return nullptr;
    for (const ExprPtr *part : {&item.first, &item.second})
      if (*part)
        index->height = std::max(index->height, (*part)->height + 1);
    index->items.push_back(std::move(item));
    if (!accept(Tok::Comma))
      break;
  }
  if (!at(Tok::RBracket)) {
    expected("`,` or `]` in an index", at(Tok::DotDot)
                                           ? "a bounded view is `lo : hi`, a tile `start :+ length`"
                                       : at(Tok::Colon) ? "an index has no step"
                                                        : "");
    return nullptr;
  }
  advance();
  --roundDepth;
  index->range = rangeFrom(begin);
  return bounded(std::move(index), {});
}

bool Parser::parseIndexItem(IndexItem &item) {
  uint32_t begin = tok().begin;
  auto atItemEnd = [&] { return at(Tok::Comma) || at(Tok::RBracket); };
  if (!at(Tok::Colon)) {
    item.first = parseExpr();
    if (!item.first)
      return false;
  }
  if (accept(Tok::ColonPlus)) {
    item.kind = IndexItem::Span;
    item.second = parseExpr();
    if (!item.second)
      return false;
  } else if (accept(Tok::Colon)) {
    if (!atItemEnd()) {
      item.second = parseExpr();
      if (!item.second)
        return false;
    }
    item.kind = item.first || item.second ? IndexItem::Bounds : IndexItem::Whole;
  }
  item.range = rangeFrom(begin);
  return true;
}

} // namespace tilegym::syntax
