// SPDX-License-Identifier: MIT
// The printer's insides: a Flow is the text of one construct on one line with the places where it may be broken; Printer
// lays flows, comments and braces out. All choices depend on the tree only, so printing twice changes nothing.
#pragma once
#include "compiler/syntax/AST.h"
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tilegym::syntax {

inline constexpr size_t printWidth = 120;

/// Text with break points. A break stands after a space that goes away if the line is broken there.
class Flow {
public:
  Flow() = default;
  Flow(std::string_view text) { add(text); }
  Flow &add(std::string_view more) {
    text += more;
    return *this;
  }
  /// A space at which the line may be broken; of several, the one with the lowest `cost` is taken.
  Flow &space(int cost) {
    text += ' ';
    breaks.push_back({text.size(), cost});
    return *this;
  }
  Flow &add(const Flow &other);
  Flow &expr(const ast::Expr &e);
  Flow &operand(const ast::Expr &e, bool parens);
  Flow &exprs(const std::vector<ast::ExprPtr> &list);
  Flow &args(const std::vector<ast::Arg> &list);
  Flow &string(std::string_view value);
  void open(char bracket) {
    text += bracket;
    ++depth;
  }
  void close(char bracket) {
    text += bracket;
    --depth;
  }
  /// Costs: an outer bracket is broken before an inner one, a loose operator before a tight one, `=` last.
  int costOf(int precedence) const { return depth * 10 + precedence; }
  static constexpr int afterAssign = 100000;

  struct Break {
    size_t at;
    int cost;
  };
  std::string text;
  std::vector<Break> breaks;
  int depth = 0;

private:
  void bare(const ast::Expr &e);
  void indexItem(const ast::IndexItem &item);
};

class Printer {
public:
  std::string spec(const ast::Spec &spec);

private:
  /// One statement, setting or other thing between braces.
  struct Entry {
    const ast::Trivia *trivia = nullptr;
    bool isFlat = true; ///< may stand on one line, as `flow`
    Flow flow;
    std::function<void()> print; ///< the form over several lines; without it, `flow` is wrapped
  };
  void entries(const std::vector<Entry> &list, const std::vector<std::string> &endComments);
  /// `{ a; b }` on one line; false where the tree or a comment wants several lines.
  static bool flatEntries(Flow &flow, const std::vector<Entry> &list,
                          const std::vector<std::string> &endComments, bool oneLine);
  /// After a header on the current line: ` { ... }`, on one line if it fits.
  void braces(const std::vector<Entry> &list, const std::vector<std::string> &endComments, bool oneLine);
  void block(const ast::Block &block);
  void wrap(const Flow &flow);
  void comment(std::string_view text);
  void comments(const std::vector<std::string> &list);
  void startLine();
  void endLine() { out += '\n'; }
  size_t column() const;

  // Statements (PrintStmt.cpp)
  std::vector<Entry> stmtEntries(const ast::Block &block);
  Entry stmtEntry(const ast::Stmt &stmt);
  bool flatBlock(Flow &flow, const ast::Block &block);
  void ifStmt(const ast::If &stmt);
  Entry headed(const ast::Stmt &stmt, Flow head, const ast::Block &body);

  // Sections (PrintSections.cpp)
  void section(const ast::Spec &spec, ast::Spec::Section kind, size_t index);
  void op(const ast::OpDecl &op);
  void params(const std::vector<ast::Param> &params, Flow &flow);
  Flow param(const ast::Param &param);
  void kernel(const ast::KernelDecl &kernel);
  void tune(const ast::TuneDecl &tune);
  void test(const ast::TestDecl &test);
  void bench(const ast::BenchDecl &bench);
  Entry setting(const ast::Setting &setting, std::string_view word = {});
  Entry external(const ast::External &external, std::string_view word);
  Entry braced(const ast::Trivia &trivia, Flow head, const ast::Braces &braces, std::vector<Entry> list);

  std::string out;
  unsigned indent = 0;
};

Flow typeFlow(const ast::TensorType &type);

} // namespace tilegym::syntax
