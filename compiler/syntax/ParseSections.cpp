// SPDX-License-Identifier: MIT
// The file as a list of sections, and those that hold code: `reference`, `kernel`, `plan`, `fn`, and `use`.
#include "compiler/syntax/Keywords.h"
#include "compiler/syntax/ParserImpl.h"
#include <algorithm>
#include <iterator>

namespace tilegym::syntax {

using namespace ast;

bool Parser::parseReference(ReferenceDecl &decl) {
  uint32_t begin = tok().begin;
  advance();
  if (!parseBlock(decl.body, "the reference"))
    return false;
  decl.range = rangeFrom(begin);
  return true;
}

bool Parser::parseKernel(KernelDecl &decl) {
  uint32_t begin = tok().begin;
  decl.isPlan = atWord("plan");
  advance();
  auto header = [&] {
    const char *what = decl.isPlan ? "the name of the plan" : "the name of the kernel";
    if (!parseName(decl.name, what))
      return false;
    if (!at(Tok::LParen) || lineEnded())
      return expected("`(` and the parameters of " + quoted(decl.name.name),
                      "a kernel without parameters is written `name()`");
    if (!parseKernelParams(decl.params))
      return false;
    if (acceptWord("when")) {
      decl.when = parseExpr();
      if (!decl.when)
        return false;
    } else if (atWord("where")) {
      error(rangeOf(tok()), "`where` after a kernel",
            "a kernel is guarded with `when`; `where` belongs to `op` and `tune`");
      return false;
    }
    return at(Tok::LBrace) || expected("`when` or `{` after the parameters of " + quoted(decl.name.name));
  };
  const char *what = decl.isPlan ? "the plan" : "the kernel";
  if (!header())
    return bodyAfterBrokenHeader(what);
  if (!parseBlock(decl.body, what))
    return false;
  decl.range = rangeFrom(begin);
  return true;
}

/// `(BM, BN = pow2ceil(N), p: f32[B, H])`.
bool Parser::parseKernelParams(std::vector<KernelParam> &params) {
  advance();
  ++roundDepth;
  while (!at(Tok::RParen)) {
    KernelParam &param = params.emplace_back();
    uint32_t begin = tok().begin;
    if (!parseName(param.name, "the name of a parameter"))
      return false;
    if (accept(Tok::Assign)) {
      param.derived = parseExpr();
      if (!param.derived)
        return false;
    } else if (accept(Tok::Colon)) {
      if (!parseType(param.type.emplace(), "a type"))
        return false;
    }
    param.range = rangeFrom(begin);
    if (!accept(Tok::Comma))
      break;
  }
  if (!at(Tok::RParen))
    return expected("`,` or `)` in the parameters");
  advance();
  --roundDepth;
  return true;
}

bool Parser::parseFn(FnDecl &decl) {
  uint32_t begin = tok().begin;
  advance();
  auto header = [&] {
    if (!parseName(decl.name, "the name of the function"))
      return false;
    if (!at(Tok::LParen) || lineEnded())
      return expected("`(` and the parameters of " + quoted(decl.name.name));
    advance();
    ++roundDepth;
    while (!at(Tok::RParen)) {
      if (!parseName(decl.params.emplace_back(), "the name of a parameter"))
        return false;
      if (!accept(Tok::Comma))
        break;
    }
    if (!at(Tok::RParen))
      return expected("`,` or `)` in the parameters",
                      at(Tok::Colon) ? "parameters of a `fn` have no type: it is inlined" : "");
    advance();
    --roundDepth;
    return at(Tok::LBrace) ||
           expected("`{` and the body of the function",
                    at(Tok::Arrow) || at(Tok::Assign) ? "the value is the last expression of the body" : "");
  };
  inFn = true;
  bool ok = header() ? parseBlock(decl.body, "the function") : bodyAfterBrokenHeader("the function");
  inFn = false;
  if (!ok)
    return false;
  checkValues(decl.body, true);
  decl.range = rangeFrom(begin);
  return true;
}

/// In a `fn` only the last statement of the body may be a value that is no call.
void Parser::checkValues(const Block &block, bool isBody) {
  for (const StmtPtr &stmt : block.stmts) {
    if (const auto *value = dynCast<ExprStmt>(stmt.get())) {
      bool isLast = isBody && &stmt == &block.stmts.back();
      if (!isLast && value->value->kind != ExprKind::Call) {
        error(value->range, "this value is not used",
              "the value of a `fn` is its last expression, outside any `if` or loop");
        panic = false;
      }
    } else if (const auto *loop = dynCast<For>(stmt.get())) {
      checkValues(loop->body, false);
    } else if (const auto *loop = dynCast<While>(stmt.get())) {
      checkValues(loop->body, false);
    } else if (const auto *branch = dynCast<If>(stmt.get())) {
      checkValues(branch->thenBlock, false);
      checkValues(branch->elseBlock, false);
    }
  }
}

bool Parser::parseUse(UseDecl &decl) {
  uint32_t begin = tok().begin;
  advance();
  if (at(Tok::String))
    return expected("the name of a library file", "write it without quotes and ending: `use attention`"),
           false;
  if (!parseName(decl.name, "the name of a library file"))
    return false;
  decl.range = rangeFrom(begin);
  return endStatement("`use`");
}

template <class T> bool Parser::onlyOne(const std::optional<T> &earlier, const char *word) {
  if (!earlier)
    return true;
  if (Diagnostic *report =
          error(rangeOf(tok()), std::string("a second `") + word + "`",
                std::string("a spec has one `") + word + "`; put both into one, or remove this")) {
    Diagnostic &note = report->notes.emplace_back();
    note.severity = Severity::Note;
    note.range = earlier->range;
    note.message = "the first is here";
  }
  panic = false; // the second one is still read, for its own errors
  return false;
}

bool Parser::parseSection(Spec &spec, Trivia &trivia, std::vector<std::string> &doc) {
  using Section = Spec::Section;
  auto keep = [&](auto &decl, Section section, size_t index) {
    static_cast<Trivia &>(decl) = std::move(trivia);
    if constexpr (requires { decl.doc; })
      decl.doc = std::move(doc);
    else // nothing to document: plain comments
      for (const std::string &text : doc)
        decl.comments.push_back("## " + text);
    finish(decl);
    if (spec.order
            .empty()) // comments inside the first section move above it, and there they belong to the file
      std::move(decl.comments.begin(), decl.comments.end(), std::back_inserter(spec.headComments)),
          decl.comments.clear();
    spec.order.emplace_back(section, index);
  };
  auto single = [&](auto &slot, Section section, const char *word, auto parse) {
    bool isFirst = onlyOne(slot, word);
    typename std::remove_reference_t<decltype(slot)>::value_type decl;
    if (!(this->*parse)(decl))
      return false;
    if (isFirst) {
      keep(decl, section, 0);
      slot = std::move(decl);
    }
    return true;
  };
  auto several = [&](auto &list, Section section, auto parse) {
    typename std::remove_reference_t<decltype(list)>::value_type decl;
    if (!(this->*parse)(decl))
      return false;
    keep(decl, section, list.size());
    list.push_back(std::move(decl));
    return true;
  };
  if (atWord("op"))
    return single(spec.op, Section::Op, "op", &Parser::parseOp);
  if (atWord("reference"))
    return single(spec.reference, Section::Reference, "reference", &Parser::parseReference);
  if (atWord("test"))
    return single(spec.test, Section::Test, "test", &Parser::parseTest);
  if (atWord("bench"))
    return single(spec.bench, Section::Bench, "bench", &Parser::parseBench);
  if (atWord("kernel") || atWord("plan"))
    return several(spec.kernels, Section::Kernel, &Parser::parseKernel);
  if (atWord("tune"))
    return several(spec.tunes, Section::Tune, &Parser::parseTune);
  if (atWord("fn"))
    return several(spec.fns, Section::Fn, &Parser::parseFn);
  if (atWord("use"))
    return several(spec.uses, Section::Use, &Parser::parseUse);

  if (at(Tok::RBrace) || at(Tok::Bad))
    return expected("a section"); // reported before: the brace closes nothing
  std::string help;
  if (at(Tok::Ident) || at(Tok::Keyword))
    help =
        didYouMean(tok().text, {"op", "reference", "kernel", "plan", "tune", "test", "bench", "fn", "use"});
  if (atWord("def") || atWord("func") || atWord("function"))
    help = "functions are `fn name(a, b) { ... }`";
  if (atWord("import") || atWord("include"))
    help = "write `use name`";
  error(rangeOf(tok()), "expected a section, found " + describe(tok()),
        help.empty()
            ? "the sections are `op`, `reference`, `kernel`, `plan`, `tune`, `test`, `bench`, `fn` and `use`"
            : help);
  return false;
}

Spec Parser::parseSpec() {
  Spec spec;
  spec.file = file;
  while (accept(Tok::Semicolon)) {
  }
  while (!at(Tok::End)) {
    size_t begin = pos;
    Trivia trivia;
    std::vector<std::string> doc;
    takeLeading(trivia, &doc);
    if (spec.order.empty() && !trivia.comments.empty()) {
      // What stands above everything belongs to the file, not to its first section.
      if (trivia.comments.back().empty())
        trivia.comments.pop_back();
      for (std::string &comment : trivia.comments)
        spec.headComments.push_back(std::move(comment));
      trivia.comments.clear();
      trivia.blankBefore = true;
    }
    bool ok = parseSection(spec, trivia, doc);
    while (accept(Tok::Semicolon)) {
    }
    if (ok && !at(Tok::End) && !tok().startsLine) {
      expected("the end of the section", "each section starts on a line of its own");
      ok = false;
    }
    if (!ok)
      skipToSection(begin);
  }
  takeRest(spec.endComments);
  return spec;
}

} // namespace tilegym::syntax
