// SPDX-License-Identifier: MIT
// S-expressions of a tree. One form a construct, `(kind parts...)`; statements and declarations take a line each.
#include "compiler/syntax/Dump.h"

namespace tilegym {
namespace {

using namespace ast;

class Dumper {
public:
  std::string out;

  void spec(const Spec &spec) {
    for (const UseDecl &use : spec.uses)
      line("(use " + use.name.name + ")");
    for (const FnDecl &fn : spec.fns) {
      std::string names;
      for (const BoundName &name : fn.params)
        names += " " + name.name;
      block("(fn " + fn.name.name + " (params" + names + ")" + doc(fn.doc), fn.body);
    }
    if (spec.op)
      op(*spec.op);
    if (spec.reference)
      block("(reference" + doc(spec.reference->doc), spec.reference->body);
    for (const KernelDecl &kernel : spec.kernels)
      this->kernel(kernel);
    for (const TuneDecl &tune : spec.tunes) {
      open("(tune " + tune.kernel.name + doc(tune.doc));
      settings(tune.settings);
      for (const ArchSettings &arch : tune.archs) {
        open("(arch " + arch.arch.name);
        settings(arch.settings);
        close();
      }
      close();
    }
    if (spec.test)
      test(*spec.test);
    if (spec.bench) {
      open("(bench" + doc(spec.bench->doc));
      if (spec.bench->none)
        line("(none " + quote(spec.bench->noneReason) + ")");
      settings(spec.bench->settings);
      externals("peer", spec.bench->peers);
      close();
    }
  }

  static std::string quote(const std::string &text) {
    std::string quoted = "\"";
    for (char c : text)
      quoted += c == '"' || c == '\\' ? std::string{'\\', c} : c == '\n' ? "\\n" : std::string{c};
    return quoted + '"';
  }

  static std::string expr(const Expr *e) { return e ? expr(*e) : "_"; }
  static std::string expr(const Expr &e) {
    switch (e.kind) {
    case ExprKind::IntLiteral:
      return std::to_string(static_cast<const IntLiteral &>(e).value);
    case ExprKind::FloatLiteral:
      return static_cast<const FloatLiteral &>(e).text;
    case ExprKind::BoolLiteral:
      return static_cast<const BoolLiteral &>(e).value ? "true" : "false";
    case ExprKind::StringLiteral:
      return quote(static_cast<const StringLiteral &>(e).value);
    case ExprKind::Name:
      return static_cast<const Name &>(e).name;
    case ExprKind::Unary: {
      const auto &unary = static_cast<const Unary &>(e);
      return std::string("(") + spelling(unary.op) + " " + expr(*unary.operand) + ")";
    }
    case ExprKind::Binary: {
      const auto &binary = static_cast<const Binary &>(e);
      return std::string("(") + spelling(binary.op) + " " + expr(*binary.lhs) + " " + expr(*binary.rhs) + ")";
    }
    case ExprKind::Call: {
      const auto &call = static_cast<const Call &>(e);
      std::string text = "(call " + expr(*call.callee) + args(call.args);
      return text + (call.reference ? " (reference " + expr(*call.reference) + "))" : ")");
    }
    case ExprKind::Member: {
      const auto &member = static_cast<const Member &>(e);
      return "(. " + expr(*member.base) + " " + member.name + ")";
    }
    case ExprKind::Index:
      return index(static_cast<const Index &>(e));
    case ExprKind::Tuple:
      return "(tuple" + exprs(static_cast<const Tuple &>(e).elements) + ")";
    case ExprKind::List:
      return "(list" + exprs(static_cast<const List &>(e).elements) + ")";
    case ExprKind::Range: {
      const auto &range = static_cast<const Range &>(e);
      return "(.. " + expr(*range.lo) + " " + expr(*range.hi) + (range.step ? " " + expr(*range.step) : "") +
             ")";
    }
    case ExprKind::Comprehension: {
      const auto &c = static_cast<const Comprehension &>(e);
      return "(for " + c.var + " " + expr(*c.range_) + " " + expr(*c.body) + ")";
    }
    }
    return {};
  }

private:
  static std::string index(const Index &index) {
    static const char *const kinds[] = {"", "(:+ ", "(: ", ":"};
    std::string text = "([] " + expr(*index.base);
    for (const IndexItem &item : index.items) {
      text += std::string(" ") + kinds[item.kind];
      if (item.kind == IndexItem::Value)
        text += expr(*item.first);
      else if (item.kind != IndexItem::Whole)
        text += expr(item.first.get()) + " " + expr(item.second.get()) + ")";
    }
    return text + ")";
  }
  static std::string exprs(const std::vector<ExprPtr> &list) {
    std::string text;
    for (const ExprPtr &e : list)
      text += " " + expr(*e);
    return text;
  }
  static std::string args(const std::vector<Arg> &list) {
    std::string text;
    for (const Arg &arg : list)
      text += arg.name.empty() ? " " + expr(*arg.value) : " (= " + arg.name + " " + expr(*arg.value) + ")";
    return text;
  }
  static std::string doc(const std::vector<std::string> &lines) {
    std::string text;
    for (const std::string &l : lines)
      text += " (doc " + quote(l) + ")";
    return text;
  }
  static std::string type(const TensorType &type) {
    std::string text = type.dtype.name;
    if (type.hasShape) {
      text = "(tensor " + text;
      for (const DimSpec &dim : type.dims)
        text += std::string(" ") + (dim.leading ? "*" : "") + expr(*dim.expr) + (dim.perElement ? "[]" : "") +
                (dim.orOne ? "|1" : "");
      text += ")";
    }
    return type.optional ? "(optional " + text + ")" : text;
  }
  static std::string names(const std::vector<BoundName> &list) {
    std::string text;
    for (const BoundName &name : list)
      text += (text.empty() ? "" : " ") + name.name;
    return list.size() > 1 ? "(" + text + ")" : text;
  }

  void line(const std::string &text) { out += std::string(depth * 2, ' ') + text + "\n"; }
  void open(const std::string &text) {
    line(text);
    ++depth;
  }
  void close() {
    --depth;
    out.insert(out.size() - 1, ")");
  }

  void block(const std::string &head, const Block &block) {
    open(head);
    for (const StmtPtr &s : block.stmts)
      stmt(*s);
    close();
  }

  void stmt(const Stmt &s) {
    switch (s.kind) {
    case StmtKind::Let: {
      const auto &let = static_cast<const Let &>(s);
      return line("(let " + names(let.names) + " " + expr(*let.value) + ")");
    }
    case StmtKind::Var: {
      const auto &var = static_cast<const Var &>(s);
      return line("(var " + names(var.names) + " " + expr(*var.value) + ")");
    }
    case StmtKind::Assign: {
      const auto &assign = static_cast<const Assign &>(s);
      return line(std::string("(") + (assign.op ? spelling(*assign.op) : "") + "= " + expr(*assign.target) +
                  " " + expr(*assign.value) + ")");
    }
    case StmtKind::ExprStmt:
      return line(expr(*static_cast<const ExprStmt &>(s).value));
    case StmtKind::For: {
      const auto &loop = static_cast<const For &>(s);
      return block(std::string(loop.isConst ? "(const-for " : "(for ") + loop.var.name + " " +
                       expr(*loop.range_),
                   loop.body);
    }
    case StmtKind::While: {
      const auto &loop = static_cast<const While &>(s);
      return block("(while " + expr(*loop.condition), loop.body);
    }
    case StmtKind::If: {
      const auto &branch = static_cast<const If &>(s);
      open(std::string(branch.isConst ? "(const-if " : "(if ") + expr(*branch.condition));
      block("(then", branch.thenBlock);
      if (branch.hasElse)
        block("(else", branch.elseBlock);
      return close();
    }
    case StmtKind::Break:
      return line("(break)");
    case StmtKind::Continue:
      return line("(continue)");
    case StmtKind::Return:
      return line("(return)");
    case StmtKind::Math:
      return line("(math " + names(static_cast<const Math &>(s).flags) + ")");
    case StmtKind::Scratch: {
      const auto &scratch = static_cast<const Scratch &>(s);
      return line("(scratch " + scratch.name.name + " " + type(scratch.type) + ")");
    }
    case StmtKind::Launch: {
      const auto &launch = static_cast<const Launch &>(s);
      return line("(launch " + launch.kernel.name + args(launch.args) + ")");
    }
    }
  }

  static std::string use(const ServesArg &arg) {
    switch (arg.use) {
    case ServesArg::Use::Argument:
      return arg.target.name == arg.name.name ? "" : " is " + arg.target.name;
    case ServesArg::Use::Ignored:
      return " ignored";
    case ServesArg::Use::Refused:
      return " none";
    case ServesArg::Use::Transposes:
      return " transposes " + arg.target.name;
    case ServesArg::Use::InPlace:
      return " in-place" + (arg.target.name.empty() ? "" : " unless " + arg.target.name);
    }
    return "";
  }

  void params(const char *kind, const std::vector<Param> &list) {
    for (const Param &p : list) {
      std::string text = std::string("(") + kind + (p.isConst ? " const" : "") + (p.isInout ? " inout" : "") +
                         (p.isList ? " list" : "");
      text += " " + p.name.name + " " +
              (p.enumerators.empty() ? type(p.type) : "(enum " + names(p.enumerators) + ")");
      line(text + (p.defaultValue ? " (= " + expr(*p.defaultValue) + ")" : "") + doc(p.doc) + ")");
    }
  }

  void op(const OpDecl &op) {
    open("(op " + op.name.name + doc(op.doc));
    params("param", op.params);
    params("result", op.results);
    for (const WhereItem &item : op.where)
      line(item.condition ? "(where " + expr(*item.condition) + " " + quote(item.message) + ")"
                          : "(where " + item.name.name + ":" + exprs(item.choices) + ")");
    for (const Serves &serves : op.serves) {
      std::string text = "(serves " + quote(serves.name);
      for (const ServesArg &arg : serves.args)
        text +=
            " (" + arg.name.name + (arg.defaultValue ? " " + expr(*arg.defaultValue) : "") + use(arg) + ")";
      for (const BoundName &result : serves.results)
        text += " -> " + (result.name.empty() ? "none" : result.name);
      line(text + ")");
    }
    if (op.gradientOf) {
      std::string text = "(gradient-of " + op.gradientOf->op.name;
      for (const NamePair &pair : op.gradientOf->outputs)
        text += " (output " + pair.from.name + " " + pair.to.name + ")";
      for (const NamePair &pair : op.gradientOf->inputs)
        text += " (input " + pair.from.name + " " + pair.to.name + ")";
      line(text + ")");
    }
    for (const NamePair &pair : op.aliases)
      line("(alias " + pair.from.name + " " + pair.to.name + ")");
    if (op.nondeterministic)
      line("(nondeterministic)");
    close();
  }

  void kernel(const KernelDecl &kernel) {
    std::string text = std::string(kernel.isPlan ? "(plan " : "(kernel ") + kernel.name.name;
    for (const KernelParam &p : kernel.params)
      text += " (param " + p.name.name + (p.derived ? " (= " + expr(*p.derived) + ")" : "") +
              (p.type ? " " + type(*p.type) : "") + ")";
    if (kernel.when)
      text += " (when " + expr(*kernel.when) + ")";
    block(text + doc(kernel.doc), kernel.body);
  }

  void settings(const std::vector<Setting> &list, const char *prefix = "") {
    static const char *const kinds[] = {"in", "=", "where"};
    for (const Setting &s : list)
      line(std::string("(") + prefix + kinds[s.kind] + " " + (s.name.name.empty() ? "" : s.name.name + " ") +
           expr(*s.value) + ")");
  }
  void externals(const char *word, const std::vector<External> &list) {
    for (const External &e : list)
      line(std::string("(") + word + " " + e.backend.name + " " + quote(e.text) + ")");
  }

  void test(const TestDecl &test) {
    open("(test" + doc(test.doc));
    settings(test.settings);
    for (const Case &c : test.cases) {
      open("(case " + quote(c.name));
      settings(c.settings);
      settings(c.expects, "expect ");
      close();
    }
    for (const Tolerance &tolerance : test.tolerances)
      line("(tolerance " + tolerance.dtype.name + " " + expr(*tolerance.value) + ")");
    externals("oracle", test.oracles);
    close();
  }

  unsigned depth = 0;
};

} // namespace

std::string dumpSpec(const ast::Spec &spec) {
  Dumper dumper;
  dumper.spec(spec);
  return std::move(dumper.out);
}

std::string dumpExpr(const ast::Expr &expr) { return Dumper::expr(expr); }

} // namespace tilegym
