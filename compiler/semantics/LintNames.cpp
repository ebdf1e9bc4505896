// SPDX-License-Identifier: MIT
// unused-name and unread-knob: what each body declares and what it reads, from the syntax tree. Names are unique in a body, so no scopes are needed.
#include "compiler/semantics/Lint.h"
#include <algorithm>
#include <filesystem>
#include <set>

namespace tilegym::sem {
namespace {

/// The names that a part of the tree reads, and the locals that it declares. A loop's variable may well count only.
class Names {
public:
  std::set<std::string, std::less<>> read;
  std::vector<const ast::BoundName *> locals;

  void expr(const ast::Expr *e);
  void block(const ast::Block &block) {
    for (const ast::StmtPtr &stmt : block.stmts)
      statement(stmt.get());
  }

private:
  void statement(const ast::Stmt *s);
  void list(const std::vector<ast::ExprPtr> &exprs) {
    for (const ast::ExprPtr &e : exprs)
      expr(e.get());
  }
  void arguments(const std::vector<ast::Arg> &args) {
    for (const ast::Arg &arg : args)
      expr(arg.value.get());
  }
  /// What is assigned is not read, but an element's place is.
  void target(const ast::Expr *e);
};

void Names::expr(const ast::Expr *e) {
  if (auto *name = ast::dynCast<ast::Name>(e)) {
    read.insert(name->name);
  } else if (auto *unary = ast::dynCast<ast::Unary>(e)) {
    expr(unary->operand.get());
  } else if (auto *binary = ast::dynCast<ast::Binary>(e)) {
    expr(binary->lhs.get());
    expr(binary->rhs.get());
  } else if (auto *call = ast::dynCast<ast::Call>(e)) {
    expr(call->callee.get());
    arguments(call->args);
    expr(call->reference.get());
  } else if (auto *member = ast::dynCast<ast::Member>(e)) {
    expr(member->base.get());
  } else if (auto *index = ast::dynCast<ast::Index>(e)) {
    expr(index->base.get());
    for (const ast::IndexItem &item : index->items) {
      expr(item.first.get());
      expr(item.second.get());
    }
  } else if (auto *tuple = ast::dynCast<ast::Tuple>(e)) {
    list(tuple->elements);
  } else if (auto *elements = ast::dynCast<ast::List>(e)) {
    list(elements->elements);
  } else if (auto *range = ast::dynCast<ast::Range>(e)) {
    expr(range->lo.get());
    expr(range->hi.get());
    expr(range->step.get());
  } else if (auto *sum = ast::dynCast<ast::Comprehension>(e)) {
    expr(sum->range_.get());
    expr(sum->body.get());
  }
}

void Names::target(const ast::Expr *e) {
  if (auto *tuple = ast::dynCast<ast::Tuple>(e)) {
    for (const ast::ExprPtr &element : tuple->elements)
      target(element.get());
  } else if (auto *index = ast::dynCast<ast::Index>(e)) {
    target(index->base.get());
    for (const ast::IndexItem &item : index->items) {
      expr(item.first.get());
      expr(item.second.get());
    }
  } else if (!ast::dynCast<ast::Name>(e)) {
    expr(e);
  }
}

void Names::statement(const ast::Stmt *s) {
  auto declare = [&](const std::vector<ast::BoundName> &names) {
    for (const ast::BoundName &name : names)
      locals.push_back(&name);
  };
  if (auto *let = ast::dynCast<ast::Let>(s)) {
    declare(let->names);
    expr(let->value.get());
  } else if (auto *var = ast::dynCast<ast::Var>(s)) {
    declare(var->names);
    expr(var->value.get());
  } else if (auto *assign = ast::dynCast<ast::Assign>(s)) {
    target(assign->target.get());
    expr(assign->value.get());
  } else if (auto *value = ast::dynCast<ast::ExprStmt>(s)) {
    expr(value->value.get());
  } else if (auto *loop = ast::dynCast<ast::For>(s)) {
    expr(loop->range_.get());
    block(loop->body);
  } else if (auto *loop = ast::dynCast<ast::While>(s)) {
    expr(loop->condition.get());
    block(loop->body);
  } else if (auto *branch = ast::dynCast<ast::If>(s)) {
    expr(branch->condition.get());
    block(branch->thenBlock);
    block(branch->elseBlock);
  } else if (auto *scratch = ast::dynCast<ast::Scratch>(s)) {
    locals.push_back(&scratch->name);
    for (const ast::DimSpec &dim : scratch->type.dims)
      expr(dim.expr.get());
  } else if (auto *launch = ast::dynCast<ast::Launch>(s)) {
    read.insert(launch->kernel.name);
    arguments(launch->args);
  }
}

class NameLint {
public:
  NameLint(const OpModel &op, std::vector<LintFinding> &findings) : op(op), findings(findings) {}
  void run();

private:
  void unused(const ast::BoundName &name, const std::string &message, const std::string &help) {
    if (!name.name.starts_with('_'))
      findings.push_back({"unused-name", name.range, message, help});
  }
  /// The locals of one body; what it reads is read by the spec.
  void body(const Names &names) {
    for (const ast::BoundName *local : names.locals)
      if (!names.read.contains(local->name))
        unused(*local, "nothing reads `" + local->name + "`",
               "remove it, or call it `_" + local->name + "` if it has to stand there");
    everything.insert(names.read.begin(), names.read.end());
  }
  void kernel(const ast::KernelDecl &decl);
  void interface();
  void functions();
  /// Whether the spec names a function of the library file, or of one that it uses.
  bool reads(const std::string &library, std::set<std::string> &seen) const;

  const OpModel &op;
  std::vector<LintFinding> &findings;
  std::set<std::string, std::less<>> everything; ///< read anywhere in the spec's own bodies
};

void NameLint::kernel(const ast::KernelDecl &decl) {
  Names names;
  names.block(decl.body);
  names.expr(decl.when.get());
  for (const ast::KernelParam &param : decl.params)
    names.expr(param.derived.get());
  body(names);
  for (const ast::KernelParam &param : decl.params)
    if (!names.read.contains(param.name.name))
      unused(param.name,
             std::string(decl.isPlan ? "plan `" : "kernel `") + decl.name.name +
                 "` never reads its parameter `" + param.name.name + "`",
             "remove it; a parameter that changes nothing makes variants that do not differ");
}

void NameLint::interface() {
  for (const ast::WhereItem &item : op.spec->op->where) {
    Names names;
    names.expr(item.condition.get());
    everything.insert(names.read.begin(), names.read.end());
  }
  for (const auto *params : {&op.spec->op->params, &op.spec->op->results})
    for (const ast::Param &param : *params)
      for (const ast::DimSpec &dim : param.type.dims) {
        Names names;
        names.expr(dim.expr.get());
        everything.insert(names.read.begin(), names.read.end());
      }
  for (const ast::Param &param : op.spec->op->params)
    if (!everything.contains(param.name.name))
      unused(param.name, "neither the reference nor a kernel reads `" + param.name.name + "`",
             "remove the parameter, or use it; `serves` can ignore what another library's name takes");
}

void NameLint::functions() {
  for (const ast::FnDecl &fn : op.spec->fns)
    if (!everything.contains(fn.name.name))
      unused(fn.name, "nothing calls `" + fn.name.name + "`", "remove it");
  for (const ast::UseDecl &use : op.spec->uses)
    if (std::set<std::string> seen; !reads(use.name.name, seen))
      unused(use.name, "nothing calls a function of `" + use.name.name + "`", "remove the `use`");
}

bool NameLint::reads(const std::string &library, std::set<std::string> &seen) const {
  if (!seen.insert(library).second)
    return false;
  for (const auto &file : op.libraries) {
    if (std::filesystem::path(file->file->name()).stem() != library)
      continue;
    for (const ast::FnDecl &fn : file->fns)
      if (everything.contains(fn.name.name))
        return true;
    for (const ast::UseDecl &use : file->uses)
      if (reads(use.name.name, seen))
        return true;
  }
  return false;
}

void NameLint::run() {
  if (op.spec->reference) {
    Names names;
    names.block(op.spec->reference->body);
    body(names);
  }
  for (const ast::KernelDecl &decl : op.spec->kernels)
    kernel(decl);
  for (const ast::FnDecl &fn : op.spec->fns) {
    Names names;
    names.block(fn.body);
    body(names);
    for (const ast::BoundName &param : fn.params)
      if (!names.read.contains(param.name))
        unused(param, "`" + fn.name.name + "` never reads its parameter `" + param.name + "`",
               "remove it, or call it `_" + param.name + "` if it has to stand there");
  }
  interface();
  functions();
}

/// Knobs that no pass reads for the kernel: those of products where it has none, and those that another knob switches on.
class KnobLint {
public:
  KnobLint(const OpModel &op, std::vector<LintFinding> &findings) : op(op), findings(findings) {}

  void run() {
    for (const ast::TuneDecl &tune : op.spec->tunes) {
      std::set<std::string, std::less<>> seen;
      hasProduct = false;
      visit(tune.kernel.name, seen);
      settings(tune, tune.settings, {});
      for (const ast::ArchSettings &own : tune.archs)
        settings(tune, own.settings, tune.settings);
    }
  }

private:
  /// What the kernel, plan or function of the name reads, and all that it calls or launches.
  void visit(std::string_view name, std::set<std::string, std::less<>> &seen) {
    if (!seen.emplace(name).second)
      return;
    hasProduct |= name == "mma" || name == "mma_scaled";
    Names names;
    for (const ast::KernelDecl &decl : op.spec->kernels)
      if (decl.name.name == name)
        names.block(decl.body);
    auto functions = [&](const std::vector<ast::FnDecl> &fns) {
      for (const ast::FnDecl &fn : fns)
        if (fn.name.name == name)
          names.block(fn.body);
    };
    functions(op.spec->fns);
    for (const auto &library : op.libraries)
      functions(library->fns);
    for (const std::string &read : names.read)
      visit(read, seen);
  }

  void settings(const ast::TuneDecl &tune, const std::vector<ast::Setting> &own,
                const std::vector<ast::Setting> &common) {
    auto isSet = [&](std::string_view name) {
      auto is = [&](const ast::Setting &s) { return s.kind != ast::Setting::Where && s.name.name == name; };
      return std::any_of(own.begin(), own.end(), is) || std::any_of(common.begin(), common.end(), is);
    };
    const std::string kernel = "`" + tune.kernel.name + "`";
    for (const ast::Setting &setting : own) {
      const std::string &name = setting.name.name;
      if (setting.kind == ast::Setting::Where)
        continue;
      bool ring = name == "stages" && isSet("persistent") && isSet("hold");
      if (!hasProduct && !ring && (name == "stages" || name == "schedule" || name == "split_k"))
        unread(setting, kernel + " has no product, for which alone it counts");
      else if (name == "occupancy" && !isSet("persistent"))
        unread(setting, "it counts under `persistent` alone");
      else if (name == "vectors" && !isSet("hold"))
        unread(setting, "it counts under `hold = shared` alone");
    }
  }

  void unread(const ast::Setting &setting, const std::string &why) {
    findings.push_back({"unread-knob", setting.name.range,
                        "nothing reads `" + setting.name.name + "`: " + why,
                        "remove it; points that differ in it alone are the same code"});
  }

  const OpModel &op;
  std::vector<LintFinding> &findings;
  bool hasProduct = false;
};

} // namespace

void lintKnobs(const OpModel &op, std::vector<LintFinding> &findings) { KnobLint(op, findings).run(); }

void lintNames(const OpModel &op, std::vector<LintFinding> &findings) { NameLint(op, findings).run(); }

} // namespace tilegym::sem
