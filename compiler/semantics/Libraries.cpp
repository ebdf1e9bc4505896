// SPDX-License-Identifier: MIT
// `use NAME`: finds and parses the library files, then checks all `fn`s together: names once, no recursion.
#include "compiler/semantics/Analyze.h"
#include "compiler/semantics/SpecLookup.h"
#include "compiler/syntax/Parser.h"
#include <algorithm>
#include <filesystem>
#include <map>

namespace tilegym::sem {
namespace {

/// Every name that a block calls, with the place of the call.
class CallCollector {
public:
  std::vector<const ast::Name *> calls;
  void block(const ast::Block &b) {
    for (const ast::StmtPtr &s : b.stmts)
      stmt(*s);
  }

private:
  void expr(const ast::ExprPtr &e);
  void stmt(const ast::Stmt &s);
};

void CallCollector::expr(const ast::ExprPtr &e) {
  if (!e)
    return;
  if (auto *call = ast::dynCast<ast::Call>(e.get())) {
    if (auto *name = ast::dynCast<ast::Name>(call->callee.get()))
      calls.push_back(name);
    expr(call->callee);
    for (const ast::Arg &arg : call->args) {
      // reduce(x, fn=combine) calls what it names.
      if (auto *name = ast::dynCast<ast::Name>(arg.value.get()))
        calls.push_back(name);
      expr(arg.value);
    }
    expr(call->reference);
  } else if (auto *unary = ast::dynCast<ast::Unary>(e.get())) {
    expr(unary->operand);
  } else if (auto *binary = ast::dynCast<ast::Binary>(e.get())) {
    expr(binary->lhs);
    expr(binary->rhs);
  } else if (auto *member = ast::dynCast<ast::Member>(e.get())) {
    expr(member->base);
  } else if (auto *index = ast::dynCast<ast::Index>(e.get())) {
    expr(index->base);
    for (const ast::IndexItem &item : index->items) {
      expr(item.first);
      expr(item.second);
    }
  } else if (auto *tuple = ast::dynCast<ast::Tuple>(e.get())) {
    for (const ast::ExprPtr &element : tuple->elements)
      expr(element);
  } else if (auto *list = ast::dynCast<ast::List>(e.get())) {
    for (const ast::ExprPtr &element : list->elements)
      expr(element);
  } else if (auto *range = ast::dynCast<ast::Range>(e.get())) {
    expr(range->lo);
    expr(range->hi);
    expr(range->step);
  } else if (auto *over = ast::dynCast<ast::Comprehension>(e.get())) {
    expr(over->range_);
    expr(over->body);
  }
}

void CallCollector::stmt(const ast::Stmt &s) {
  if (auto *let = ast::dynCast<ast::Let>(&s)) {
    expr(let->value);
  } else if (auto *var = ast::dynCast<ast::Var>(&s)) {
    expr(var->value);
  } else if (auto *assign = ast::dynCast<ast::Assign>(&s)) {
    expr(assign->target);
    expr(assign->value);
  } else if (auto *value = ast::dynCast<ast::ExprStmt>(&s)) {
    expr(value->value);
  } else if (auto *loop = ast::dynCast<ast::For>(&s)) {
    expr(loop->range_);
    block(loop->body);
  } else if (auto *loop = ast::dynCast<ast::While>(&s)) {
    expr(loop->condition);
    block(loop->body);
  } else if (auto *branch = ast::dynCast<ast::If>(&s)) {
    expr(branch->condition);
    block(branch->thenBlock);
    block(branch->elseBlock);
  }
}

struct Fn {
  const ast::FnDecl *decl;
  std::vector<const ast::Name *> calls;
  enum { New, Open, Done } state = New;
};

class FnChecker {
public:
  explicit FnChecker(DiagnosticSink &sink) : sink(sink) {}
  void add(const ast::Spec &spec);
  void checkRecursion() {
    for (auto &[name, fn] : fns)
      visit(fn);
  }

private:
  void visit(Fn &fn);
  std::map<std::string, Fn> fns;
  DiagnosticSink &sink;
};

void FnChecker::add(const ast::Spec &spec) {
  for (const ast::FnDecl &decl : spec.fns) {
    const std::string &name = decl.name.name;
    if (isReserved(name))
      sink.error(decl.name.range, "`" + name + "` is a word of the language and cannot name a fn",
                 "choose another name");
    for (size_t i = 0; i < decl.params.size(); ++i)
      for (size_t k = 0; k < i; ++k)
        if (decl.params[i].name == decl.params[k].name)
          sink.error(decl.params[i].range, "the parameter `" + decl.params[i].name + "` is declared twice");
    auto found = fns.find(name);
    if (found != fns.end()) {
      Diagnostic note;
      note.severity = Severity::Note;
      note.range = found->second.decl->name.range;
      note.message = "first declared here";
      sink.error(decl.name.range, "there is a fn `" + name + "` already").notes.push_back(note);
      continue;
    }
    CallCollector collector;
    collector.block(decl.body);
    fns[name] = {&decl, std::move(collector.calls)};
  }
}

void FnChecker::visit(Fn &fn) {
  if (fn.state != Fn::New)
    return;
  fn.state = Fn::Open;
  for (const ast::Name *call : fn.calls) {
    auto callee = fns.find(call->name);
    if (callee == fns.end())
      continue;
    if (callee->second.state == Fn::Open)
      sink.error(call->range,
                 "`" + fn.decl->name.name + "` calls `" + call->name +
                     "`, which is being inlined: a fn cannot be recursive",
                 "use a loop");
    else
      visit(callee->second);
  }
  fn.state = Fn::Done;
}

} // namespace

void loadLibraries(OpModel &op, const SearchPath &path, DiagnosticSink &sink) {
  std::vector<std::string> loaded;
  std::vector<std::shared_ptr<const ast::Spec>> pending = {op.spec};
  while (!pending.empty()) {
    std::shared_ptr<const ast::Spec> user = pending.back();
    pending.pop_back();
    std::string beside =
        (std::filesystem::path(user->file->name()).parent_path() / (user == op.spec ? "lib" : "."))
            .lexically_normal()
            .string();
    for (const ast::UseDecl &use : user->uses) {
      const std::string &name = use.name.name;
      if (std::find(loaded.begin(), loaded.end(), name) != loaded.end())
        continue;
      loaded.push_back(name);
      std::vector<std::string> folders = {beside};
      folders.insert(folders.end(), path.libraryFolders.begin(), path.libraryFolders.end());
      std::shared_ptr<const SourceFile> file;
      std::string looked;
      for (const auto &[inMemory, text] : path.libraries)
        if (inMemory == name && !file)
          file = text;
      for (const std::string &folder : folders) {
        std::string candidate = (std::filesystem::path(folder) / (name + ".tile")).string();
        if (!file)
          file = readSource(candidate);
        looked += (looked.empty() ? "" : ", ") + candidate;
      }
      if (!file) {
        sink.error(use.name.range, "library `" + name + "` was not found", "looked for " + looked);
        continue;
      }
      auto library = std::make_shared<const ast::Spec>(parseSpec(file, sink));
      if (library->op || !library->kernels.empty() || library->reference || library->test || library->bench)
        sink.error(use.name.range, "`" + name + "` is a whole spec, expected a library of `fn`s",
                   "only files in lib/ can be used");
      op.libraries.push_back(library);
      pending.push_back(library);
    }
  }
  FnChecker checker(sink);
  checker.add(*op.spec);
  for (const auto &library : op.libraries)
    checker.add(*library);
  checker.checkRecursion();
}

} // namespace tilegym::sem
