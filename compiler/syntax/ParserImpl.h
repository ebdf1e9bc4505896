// SPDX-License-Identifier: MIT
// The recursive descent parser, one class over several files: ParserCore (tokens, comments, errors, recovery), ParseExpr,
// ParseStmt, ParseOp (the interface), ParseSections (kernels, functions, the file), ParseSettings (tune, test, bench).
//
// A parse function that fails has reported why and returns null or false; its caller passes that on until someone can
// recover: a statement or setting skips to the next one, a section to the next section. `panic` holds back the errors
// that would only follow from the first.
#pragma once
#include "compiler/syntax/AST.h"
#include "compiler/syntax/Token.h"
#include <initializer_list>

namespace tilegym::syntax {

class Parser {
public:
  Parser(std::shared_ptr<const SourceFile> file, DiagnosticSink &sink);
  ast::Spec parseSpec();
  ast::ExprPtr parseWholeExpr();

private:
  // ---- tokens (ParserCore.cpp)
  const Token &tok(size_t ahead = 0) const {
    return stream.tokens[std::min(pos + ahead, stream.tokens.size() - 1)];
  }
  const Token &previous() const { return stream.tokens[pos ? pos - 1 : 0]; }
  bool at(Tok kind) const { return tok().kind == kind; }
  bool atWord(std::string_view word, size_t ahead = 0) const {
    const Token &token = tok(ahead);
    return (token.kind == Tok::Ident || token.kind == Tok::Keyword) && token.text == word;
  }
  /// At `word` followed by something of kind `next` on the same line: how contextual keywords are told from names.
  bool atWordThen(std::string_view word, Tok next) const {
    return atWord(word) && tok(1).kind == next && !tok(1).startsLine;
  }
  /// Outside brackets a token that starts a line cannot continue what is before it.
  bool lineEnded() const { return roundDepth == 0 && tok().startsLine; }
  bool atStatementEnd() const {
    return tok().startsLine || at(Tok::Semicolon) || at(Tok::RBrace) || at(Tok::End);
  }
  void advance() {
    if (tok().match == noMatch && (at(Tok::LParen) || at(Tok::LBracket)))
      inBroken = true;
    if (pos + 1 < stream.tokens.size())
      ++pos;
  }
  bool accept(Tok kind) {
    bool found = at(kind);
    if (found)
      advance();
    return found;
  }
  bool acceptWord(std::string_view word) {
    bool found = atWord(word);
    if (found)
      advance();
    return found;
  }
  bool expect(Tok kind, const char *what, const char *where, const char *help = "");
  SourceRange rangeOf(const Token &token) const { return {file.get(), token.begin, token.end}; }
  SourceRange rangeFrom(uint32_t begin) const { return {file.get(), begin, std::max(begin, previous().end)}; }

  // ---- errors and recovery
  Diagnostic *error(SourceRange range, std::string message, std::string help = {});
  /// Reports "expected WHAT, found TOKEN"; always false.
  bool expected(const std::string &what, std::string help = {});
  std::string found() const;
  SourceRange foundRange() const;
  /// To just before the next statement or setting of the block that is being read.
  void skipStatement(size_t begin);
  bool giveUp();
  void skipToSection(size_t begin);
  bool atSectionStart() const;
  bool endStatement(const char *what);
  bool recoverAtBrace();

  // ---- comments
  void takeLeading(ast::Trivia &trivia, std::vector<std::string> *doc = nullptr);
  void finish(ast::Trivia &trivia);
  bool takeTrailing(std::string &trailing);
  void takeRest(std::vector<std::string> &comments);

  // ---- expressions (ParseExpr.cpp)
  ast::ExprPtr parseExpr();
  ast::ExprPtr parseBinary(int minPrecedence);
  ast::ExprPtr parseUnary();
  ast::ExprPtr parsePower();
  ast::ExprPtr parsePostfix();
  ast::ExprPtr parsePrimary();
  ast::ExprPtr parseParens();
  ast::ExprPtr parseList();
  ast::ExprPtr parseRangeOrExpr();
  ast::ExprPtr parseRange(const char *what);
  ast::ExprPtr parseCall(ast::ExprPtr callee);
  ast::ExprPtr parseIndex(ast::ExprPtr base);
  bool parseArgs(std::vector<ast::Arg> &args);
  bool parseIndexItem(ast::IndexItem &item);
  bool checkComparison(const Token &op, const ast::Expr &lhs, const ast::Expr &rhs);
  ast::ExprPtr bounded(ast::ExprPtr expr, std::initializer_list<const ast::Expr *> children);
  ast::ExprPtr foreignExpr(ast::ExprPtr expr);

  // ---- statements (ParseStmt.cpp)
  bool parseBlock(ast::Block &block, const char *what);
  ast::StmtPtr parseStmt();
  ast::StmtPtr parseKeywordStmt();
  ast::StmtPtr parseExprOrAssign();
  ast::StmtPtr parseFor(bool isConst, uint32_t begin);
  ast::StmtPtr parseWhile();
  ast::StmtPtr parseIf(bool isConst, uint32_t begin);
  ast::StmtPtr parseConst();
  ast::StmtPtr parseMath();
  ast::StmtPtr parseScratch();
  ast::StmtPtr parseLaunch();
  template <class T> ast::StmtPtr parseBinding(const char *word);
  bool checkTarget(const ast::Expr &target);
  bool misspeltStatement();
  bool bodyAfterBrokenHeader(const char *what);
  /// `continued`: after a comma or operator, where the line goes on.
  bool parseName(ast::BoundName &name, const char *what, bool continued = false);

  // ---- interface (ParseOp.cpp)
  bool parseOp(ast::OpDecl &op);
  bool parseParams(std::vector<ast::Param> &params, bool results);
  bool parseParam(ast::Param &param, bool result);
  bool parseEnumerators(ast::Param &param);
  bool parseType(ast::TensorType &type, const char *what);
  bool parseDim(ast::DimSpec &dim);
  bool parseClauses(ast::OpDecl &op);
  bool atClause() const;
  bool parseWhere(std::vector<ast::WhereItem> &items);
  bool parseServes(std::vector<ast::Serves> &serves);
  bool parseServesUse(ast::ServesArg &arg);
  bool parseServesResults(ast::Serves &entry);
  bool parseGradientOf(ast::OpDecl &op);
  bool parsePairs(std::vector<ast::NamePair> &pairs);
  bool parseAliases(std::vector<ast::NamePair> &aliases);
  bool unknownClause();

  // ---- sections (ParseSections.cpp)
  bool parseSection(ast::Spec &spec, ast::Trivia &trivia, std::vector<std::string> &doc);
  bool parseReference(ast::ReferenceDecl &decl);
  bool parseKernel(ast::KernelDecl &decl);
  bool parseKernelParams(std::vector<ast::KernelParam> &params);
  bool parseFn(ast::FnDecl &decl);
  void checkValues(const ast::Block &block, bool isBody);
  bool parseUse(ast::UseDecl &decl);
  template <class T> bool onlyOne(const std::optional<T> &earlier, const char *word);

  // ---- tune, test and bench (ParseSettings.cpp)
  bool parseTune(ast::TuneDecl &decl);
  bool parseTest(ast::TestDecl &decl);
  bool parseBench(ast::BenchDecl &decl);
  template <class F> bool parseItems(ast::Braces &braces, const char *what, F &&parseItem);
  bool parseSetting(ast::Setting &setting, ast::Trivia trivia, std::initializer_list<std::string_view> words);
  bool parseExpect(ast::Setting &setting);
  bool parseCase(ast::Case &c);
  bool parseTolerances(ast::TestDecl &decl);
  bool parseExternal(ast::External &external, const char *word);
  bool parseArch(ast::ArchSettings &arch);
  /// At `word` used as the start of an item, not as the name of a setting.
  bool atItem(std::string_view word) const {
    return atWord(word) && tok(1).kind != Tok::Assign &&
           !(tok(1).kind == Tok::Keyword && tok(1).text == "in");
  }

  std::shared_ptr<const SourceFile> file;
  DiagnosticSink &sink;
  TokenStream stream;
  size_t pos = 0;
  size_t nextComment = 0;
  unsigned roundDepth = 0; ///< `(` and `[` around the current token, within the current statement
  unsigned nesting = 0;    ///< of expressions being read
  unsigned blockDepth = 0;
  bool inFn = false;     ///< where the last statement may be a value
  bool inBroken = false; ///< in a bracket that is not closed, which was reported
  bool panic = false;    ///< an error in the current statement was reported
};

} // namespace tilegym::syntax
