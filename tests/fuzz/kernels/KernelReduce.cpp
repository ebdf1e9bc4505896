// SPDX-License-Identifier: MIT
// Edits of the text at the ranges of its tree: tried from the largest cut to the smallest, again and again until none is left.
#include "tests/fuzz/kernels/KernelReduce.h"
#include "compiler/syntax/Parser.h"
#include "tests/fuzz/kernels/KernelCase.h"
#include <algorithm>
#include <chrono>
#include <set>

namespace tilegym::fuzz {
namespace {

struct Cut {
  uint32_t begin = 0, end = 0;
  std::string text; ///< instead
};
/// Made together, or not at all.
struct Edit {
  std::vector<Cut> cuts;
  int64_t saved = 0;
};

class Edits {
public:
  explicit Edits(const ast::Spec &spec) : spec(spec), text(spec.file->text()) {
    for (const ast::KernelDecl &kernel : spec.kernels)
      block(kernel.body);
    for (const ast::FnDecl &fn : spec.fns)
      replace(fn.range, "");
    if (spec.op)
      interface(*spec.op);
    if (spec.test)
      cases(*spec.test);
    for (const ast::TuneDecl &tune : spec.tunes)
      for (const ast::Setting &setting : tune.settings)
        expression(setting.value.get());
    std::stable_sort(list.begin(), list.end(),
                     [](const Edit &a, const Edit &b) { return a.saved > b.saved; });
  }
  std::vector<Edit> list;

private:
  std::string textOf(SourceRange range) const {
    return std::string(text.substr(range.begin, range.end - range.begin));
  }

  void add(std::vector<Cut> cuts) {
    Edit edit;
    for (const Cut &cut : cuts)
      edit.saved += int64_t(cut.end - cut.begin) - int64_t(cut.text.size());
    std::sort(cuts.begin(), cuts.end(), [](const Cut &a, const Cut &b) { return a.begin > b.begin; });
    edit.cuts = std::move(cuts);
    list.push_back(std::move(edit));
  }
  void replace(SourceRange range, std::string by) { add({{range.begin, range.end, std::move(by)}}); }

  /// A list's element with one of the commas or semicolons beside it.
  Cut element(SourceRange range, char separator) const {
    uint32_t begin = range.begin, end = range.end;
    if (end < text.size() && text[end] == separator)
      ++end;
    else
      for (uint32_t at = begin; at-- > 0 && (text[at] == ' ' || text[at] == separator);)
        if (text[at] == separator) {
          begin = at;
          break;
        }
    while (end < text.size() && text[end] == ' ')
      ++end;
    return {begin, end, ""};
  }

  void block(const ast::Block &body) {
    for (size_t i = 0; i < body.stmts.size(); ++i)
      statement(*body.stmts[i]);
    // Several at once, so that a long body goes quickly.
    for (size_t n : {body.stmts.size() / 2, body.stmts.size() / 4})
      for (size_t i = 0; n > 1 && i + n <= body.stmts.size(); i += n)
        add({{body.stmts[i]->range.begin, body.stmts[i + n - 1]->range.end, ""}});
  }

  std::string inner(const ast::Block &body) const {
    return body.stmts.empty()
               ? ""
               : textOf({nullptr, body.stmts.front()->range.begin, body.stmts.back()->range.end});
  }

  void statement(const ast::Stmt &stmt) {
    replace(stmt.range, "");
    if (const auto *branch = ast::dynCast<ast::If>(&stmt)) {
      replace(stmt.range, inner(branch->thenBlock));
      if (branch->hasElse)
        replace(stmt.range, inner(branch->elseBlock));
      expression(branch->condition.get());
      block(branch->thenBlock);
      block(branch->elseBlock);
    } else if (const auto *loop = ast::dynCast<ast::For>(&stmt)) {
      replace(stmt.range, "let " + loop->var.name + " = index(0)\n" + inner(loop->body));
      expression(loop->range_.get());
      block(loop->body);
    } else if (const auto *repeat = ast::dynCast<ast::While>(&stmt)) {
      replace(stmt.range, inner(repeat->body));
      expression(repeat->condition.get());
      block(repeat->body);
    } else if (const auto *let = ast::dynCast<ast::Let>(&stmt)) {
      expression(let->value.get());
    } else if (const auto *var = ast::dynCast<ast::Var>(&stmt)) {
      expression(var->value.get());
    } else if (const auto *assign = ast::dynCast<ast::Assign>(&stmt)) {
      expression(assign->value.get());
    } else if (const auto *call = ast::dynCast<ast::ExprStmt>(&stmt)) {
      expression(call->value.get());
    }
  }

  /// An expression by one of its parts, an argument left out, a number by a smaller one.
  void expression(const ast::Expr *e) {
    if (!e)
      return;
    std::vector<const ast::Expr *> parts;
    if (const auto *number = ast::dynCast<ast::IntLiteral>(e)) {
      for (uint64_t smaller :
           {number->value / 2, number->value > 0 ? number->value - 1 : 0, uint64_t(1), uint64_t(0)})
        if (smaller < number->value)
          replace(e->range, std::to_string(smaller));
    } else if (const auto *unary = ast::dynCast<ast::Unary>(e)) {
      parts = {unary->operand.get()};
    } else if (const auto *binary = ast::dynCast<ast::Binary>(e)) {
      parts = {binary->lhs.get(), binary->rhs.get()};
    } else if (const auto *call = ast::dynCast<ast::Call>(e)) {
      for (const ast::Arg &arg : call->args) {
        parts.push_back(arg.value.get());
        if (!arg.name.empty())
          add({element({nullptr, arg.nameRange.begin, arg.value->range.end}, ',')});
      }
      if (const auto *member = ast::dynCast<ast::Member>(call->callee.get()))
        parts.push_back(member->base.get());
    } else if (const auto *member = ast::dynCast<ast::Member>(e)) {
      parts = {member->base.get()};
    } else if (const auto *index = ast::dynCast<ast::Index>(e)) {
      parts = {index->base.get()};
      for (const ast::IndexItem &item : index->items) {
        if (item.kind == ast::IndexItem::Value && item.first)
          replace(item.range, "0");
        else if (item.first)
          replace(item.first->range, "0");
        parts.push_back(item.first.get());
        parts.push_back(item.second.get());
      }
    } else if (const auto *tuple = ast::dynCast<ast::Tuple>(e)) {
      for (const auto &one : tuple->elements)
        parts.push_back(one.get());
    } else if (const auto *shape = ast::dynCast<ast::List>(e)) {
      for (const auto &one : shape->elements)
        parts.push_back(one.get());
    } else if (const auto *range = ast::dynCast<ast::Range>(e)) {
      parts = {range->lo.get(), range->hi.get(), range->step.get()};
    }
    for (const ast::Expr *part : parts) {
      if (!part)
        continue;
      replace(e->range, textOf(part->range));
      expression(part);
    }
  }

  /// A tensor or scalar goes from the signature, and whatever sets it from every case.
  void interface(const ast::OpDecl &op) {
    for (const auto *params : {&op.params, &op.results})
      for (const ast::Param &param : *params) {
        std::vector<Cut> cuts = {element(param.range, ',')};
        forEachSetting(param.name.name, cuts);
        if (spec.reference)
          for (const auto &stmt : spec.reference->body.stmts)
            if (const auto *assign = ast::dynCast<ast::Assign>(stmt.get()))
              if (textOf(assign->target->range) == param.name.name)
                cuts.push_back({stmt->range.begin, stmt->range.end, ""});
        add(cuts);
        for (const ast::DimSpec &dim : param.type.dims)
          if (const auto *number = ast::dynCast<ast::IntLiteral>(dim.expr.get()))
            expression(number);
      }
  }

  void forEachSetting(const std::string &name, std::vector<Cut> &cuts) const {
    if (!spec.test)
      return;
    for (const ast::Case &one : spec.test->cases)
      for (const ast::Setting &setting : one.settings)
        if (setting.name.name == name)
          cuts.push_back(element(setting.range, ';'));
  }

  void cases(const ast::TestDecl &test) {
    for (const ast::Case &one : test.cases) {
      replace(one.range, "");
      for (const ast::Setting &setting : one.settings)
        expression(setting.value.get());
    }
    for (const ast::Tolerance &tolerance : test.tolerances)
      add({element(tolerance.range, ';')});
  }

  const ast::Spec &spec;
  std::string_view text;
};

std::string applied(std::string text, const Edit &edit) {
  for (const Cut &cut : edit.cuts) // from the back
    text.replace(cut.begin, cut.end - cut.begin, cut.text);
  return text;
}

/// Lines that are left with nothing in them.
std::string withoutEmptyLines(const std::string &text) {
  std::string out;
  for (size_t from = 0; from < text.size();) {
    size_t end = std::min(text.find('\n', from), text.size());
    if (text.find_first_not_of(" \t", from) < end)
      out += text.substr(from, end - from) + "\n";
    from = end + 1;
  }
  return out;
}

} // namespace

std::string reduceKernel(const std::string &start, const std::function<bool(const std::string &)> &stillFails,
                         double seconds) {
  auto begin = std::chrono::steady_clock::now();
  auto over = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds;
  };
  std::string text = start;
  std::set<std::string> tried;
  for (bool progress = true; progress && !over();) {
    progress = false;
    DiagnosticSink sink;
    ast::Spec spec = parseSpec(std::make_shared<SourceFile>("reduced.tile", text), sink);
    for (const Edit &edit : Edits(spec).list) {
      std::string smaller = withoutEmptyLines(applied(text, edit)), error;
      if (over())
        break;
      if (!tried.insert(smaller).second || !readKernel(smaller, "reduced.tile", error) ||
          !stillFails(smaller))
        continue;
      text = smaller;
      progress = true;
      break;
    }
  }
  return text;
}

} // namespace tilegym::fuzz
