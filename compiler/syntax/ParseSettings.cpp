// SPDX-License-Identifier: MIT
// The sections that hold settings instead of code: `tune`, `test` (with `case`, `tolerance`, `oracle`) and `bench`.
#include "compiler/syntax/Keywords.h"
#include "compiler/syntax/ParserImpl.h"

namespace tilegym::syntax {

using namespace ast;

/// `{ item; item ... }`. `parseItem` reads one item and stores it; where it fails, the next item is looked for.
template <class F> bool Parser::parseItems(Braces &braces, const char *what, F &&parseItem) {
  if (!at(Tok::LBrace))
    return expected(std::string("`{` and the contents of ") + what);
  const Token &open = tok();
  uint32_t closeAt = open.match == noMatch ? open.begin : stream.tokens[open.match].begin;
  braces.oneLine =
      open.match != noMatch && file->lineColumn(open.begin).line == file->lineColumn(closeAt).line;
  advance();
  for (bool first = true;; first = false) {
    while (accept(Tok::Semicolon)) {
    }
    if (at(Tok::RBrace) || at(Tok::End) || atSectionStart())
      break;
    size_t begin = pos;
    inBroken = false;
    Trivia trivia;
    takeLeading(trivia);
    trivia.joined = !first && !tok().startsLine && trivia.comments.empty();
    if (!parseItem(trivia))
      skipStatement(begin);
  }
  takeRest(braces.endComments);
  accept(Tok::RBrace); // a missing one was reported when brackets were paired
  return true;
}

/// `NAME in [..]`, `NAME in all`, `NAME = e`, `where e`. `words` are the other things that may stand here.
bool Parser::parseSetting(Setting &setting, Trivia trivia, std::initializer_list<std::string_view> words) {
  uint32_t begin = tok().begin;
  if (atItem("where")) {
    setting.kind = Setting::Where;
    advance();
    setting.value = parseExpr();
  } else {
    bool misspelt = at(Tok::Ident) && !tok(1).startsLine &&
                    (tok(1).kind == Tok::Ident || tok(1).kind == Tok::String || tok(1).kind == Tok::LBrace);
    if (misspelt) {
      std::string help = didYouMean(tok().text, words);
      std::string list;
      for (std::string_view word : words)
        list += (list.empty() ? "`" : ", `") + std::string(word) + "`";
      error(rangeOf(tok()), "unknown item " + quoted(tok().text),
            !help.empty() ? help
                          : "here stand `NAME = value`, `NAME in [...]`" + (list.empty() ? "" : ", " + list));
      return false;
    }
    if (!parseName(setting.name, "the name of a setting", true))
      return false;
    if (!lineEnded() && at(Tok::Assign)) {
      setting.kind = Setting::Equals;
      advance();
      setting.value = parseExpr();
    } else if (!lineEnded() && atWord("in")) {
      setting.kind = Setting::In;
      advance();
      setting.value = parseRangeOrExpr();
    } else {
      return expected("`=` or `in` after " + quoted(setting.name.name),
                      at(Tok::Eq) ? "`==` compares; a value is set with `=`" : "");
    }
  }
  if (!setting.value || !endStatement("the setting"))
    return false;
  setting.range = rangeFrom(begin);
  static_cast<Trivia &>(setting) = std::move(trivia);
  finish(setting);
  return true;
}

bool Parser::parseTune(TuneDecl &decl) {
  uint32_t begin = tok().begin;
  advance();
  bool named = parseName(decl.kernel, "the name of the kernel to tune");
  if (!named) {
    if (!recoverAtBrace())
      return false;
    panic = false; // the settings are still read, for their own errors
  }
  bool ok = parseItems(decl.braces, "`tune`", [&](Trivia &trivia) {
    if (atItem("arch")) {
      ArchSettings arch;
      if (!parseArch(arch) || !endStatement("`arch`"))
        return false;
      static_cast<Trivia &>(arch) = std::move(trivia);
      finish(arch);
      decl.archs.push_back(std::move(arch));
      return true;
    }
    Setting setting;
    if (!parseSetting(setting, std::move(trivia), {"where", "arch"}))
      return false;
    decl.settings.push_back(std::move(setting));
    return true;
  });
  decl.range = rangeFrom(begin);
  return ok && named;
}

bool Parser::parseArch(ArchSettings &arch) {
  uint32_t begin = tok().begin;
  advance();
  if (!parseName(arch.arch, "the name of an arch"))
    return false;
  bool ok = parseItems(arch.braces, "`arch`", [&](Trivia &trivia) {
    Setting setting;
    if (!parseSetting(setting, std::move(trivia), {"where"}))
      return false;
    arch.settings.push_back(std::move(setting));
    return true;
  });
  arch.range = rangeFrom(begin);
  return ok;
}

bool Parser::parseTest(TestDecl &decl) {
  uint32_t begin = tok().begin;
  advance();
  bool ok = parseItems(decl.braces, "`test`", [&](Trivia &trivia) {
    if (atItem("case")) {
      Case c;
      if (!parseCase(c) || !endStatement("`case`"))
        return false;
      static_cast<Trivia &>(c) = std::move(trivia);
      finish(c);
      decl.cases.push_back(std::move(c));
      return true;
    }
    if (atItem("tolerance")) {
      if (decl.toleranceRange.file)
        return error(rangeOf(tok()), "a second `tolerance`", "put all dtypes into one"), false;
      if (!parseTolerances(decl) || !endStatement("`tolerance`"))
        return false;
      decl.toleranceTrivia = std::move(trivia);
      finish(decl.toleranceTrivia);
      return true;
    }
    if (atItem("oracle")) {
      External oracle;
      if (!parseExternal(oracle, "oracle") || !endStatement("`oracle`"))
        return false;
      static_cast<Trivia &>(oracle) = std::move(trivia);
      finish(oracle);
      decl.oracles.push_back(std::move(oracle));
      return true;
    }
    if (atItem("expect"))
      return error(rangeOf(tok()), "`expect` outside a `case`",
                   "write `case \"name\" { ...; expect y = ... }`"),
             false;
    Setting setting;
    if (!parseSetting(setting, std::move(trivia), {"case", "tolerance", "oracle", "where"}))
      return false;
    decl.settings.push_back(std::move(setting));
    return true;
  });
  decl.range = rangeFrom(begin);
  return ok;
}

bool Parser::parseCase(Case &c) {
  uint32_t begin = tok().begin;
  advance();
  if (!at(Tok::String) || lineEnded())
    return expected("the name of the case in quotes", "as in `case \"one row\" { ... }`");
  c.name = tok().text;
  advance();
  bool ok = parseItems(c.braces, "`case`", [&](Trivia &trivia) {
    bool isExpect = atItem("expect");
    if (isExpect)
      advance();
    Setting setting;
    if (!parseSetting(setting, std::move(trivia), {"expect"}))
      return false;
    if (isExpect && setting.kind != Setting::Equals)
      return error(setting.range, "`expect` without `=`", "write `expect y = [[...]]`"), false;
    (isExpect ? c.expects : c.settings).push_back(std::move(setting));
    return true;
  });
  c.range = rangeFrom(begin);
  return ok;
}

/// `tolerance { f32: 2e-6; f16: (1e-3, 1e-4) }`.
bool Parser::parseTolerances(TestDecl &decl) {
  uint32_t begin = tok().begin;
  advance();
  bool ok = parseItems(decl.toleranceBraces, "`tolerance`", [&](Trivia &trivia) {
    Tolerance tolerance;
    uint32_t itemBegin = tok().begin;
    if (!parseName(tolerance.dtype, "a dtype", true))
      return false;
    if (!at(Tok::Colon) || lineEnded())
      return expected("`:` and the tolerance after " + quoted(tolerance.dtype.name),
                      "as in `f32: 1e-6` or `f32: (1e-6, 1e-8)`");
    advance();
    tolerance.value = parseExpr();
    if (!tolerance.value || !endStatement("the tolerance"))
      return false;
    tolerance.range = rangeFrom(itemBegin);
    static_cast<Trivia &>(tolerance) = std::move(trivia);
    finish(tolerance);
    decl.tolerances.push_back(std::move(tolerance));
    return true;
  });
  decl.toleranceRange = rangeFrom(begin);
  return ok;
}

bool Parser::parseExternal(External &external, const char *word) {
  uint32_t begin = tok().begin;
  advance();
  if (!parseName(external.backend, "the name of the other library"))
    return false;
  if (!at(Tok::String) || lineEnded())
    return expected("the expression in quotes", std::string("as in `") + word + " torch \"torch.relu(x)\"`");
  external.text = tok().text;
  advance();
  external.range = rangeFrom(begin);
  return true;
}

bool Parser::parseBench(BenchDecl &decl) {
  uint32_t begin = tok().begin;
  advance();
  if (atWord("none") && !lineEnded()) {
    advance();
    if (!at(Tok::String) || lineEnded())
      return expected("the reason in quotes after `bench none`",
                      "as in `bench none \"a helper of other ops\"`");
    decl.none = true;
    decl.noneReason = tok().text;
    advance();
    decl.range = rangeFrom(begin);
    return true;
  }
  bool ok = parseItems(decl.braces, "`bench`", [&](Trivia &trivia) {
    if (atItem("peer")) {
      External peer;
      if (!parseExternal(peer, "peer") || !endStatement("`peer`"))
        return false;
      static_cast<Trivia &>(peer) = std::move(trivia);
      finish(peer);
      decl.peers.push_back(std::move(peer));
      return true;
    }
    Setting setting;
    if (!parseSetting(setting, std::move(trivia), {"peer", "where"}))
      return false;
    decl.settings.push_back(std::move(setting));
    return true;
  });
  decl.range = rangeFrom(begin);
  return ok;
}

} // namespace tilegym::syntax
