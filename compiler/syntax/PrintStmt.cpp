// SPDX-License-Identifier: MIT
// Statements as text.
#include "compiler/syntax/PrinterImpl.h"

namespace tilegym::syntax {

using namespace ast;

static Flow binding(std::string_view word, const std::vector<BoundName> &names, bool isTuple,
                    const Expr &value) {
  Flow flow(word);
  flow.add(isTuple ? " (" : " ");
  for (size_t i = 0; i < names.size(); ++i)
    flow.add(i ? ", " : "").add(names[i].name);
  flow.add(isTuple ? ") =" : " =").space(Flow::afterAssign);
  return flow.expr(value);
}

std::vector<Printer::Entry> Printer::stmtEntries(const Block &block) {
  std::vector<Entry> list;
  for (const StmtPtr &stmt : block.stmts)
    list.push_back(stmtEntry(*stmt));
  return list;
}

bool Printer::flatBlock(Flow &flow, const Block &block) {
  if (!block.oneLine && !block.stmts.empty())
    return false; // settled already: do not lay out what is inside
  return flatEntries(flow, stmtEntries(block), block.endComments, block.oneLine);
}

/// `head { ... }`.
Printer::Entry Printer::headed(const Stmt &stmt, Flow head, const Block &body) {
  Entry entry;
  entry.trivia = &stmt;
  entry.flow = head;
  entry.flow.add(" ");
  entry.isFlat = flatBlock(entry.flow, body);
  entry.print = [this, head = std::move(head), &body] {
    wrap(head);
    block(body);
  };
  return entry;
}

/// `else if` was written without braces of its own: the block is where the `if` is.
static const If *elseIf(const If &stmt) {
  const Block &block = stmt.elseBlock;
  if (block.stmts.size() != 1 || !block.endComments.empty())
    return nullptr;
  const If *nested = dynCast<If>(block.stmts[0].get());
  bool bare = nested && nested->range.begin == block.range.begin && nested->range.end == block.range.end;
  return bare ? nested : nullptr;
}

static Flow ifHead(const If &stmt) { return Flow(stmt.isConst ? "const if " : "if ").expr(*stmt.condition); }

void Printer::ifStmt(const If &stmt) {
  wrap(ifHead(stmt));
  block(stmt.thenBlock);
  if (!stmt.hasElse)
    return;
  out += " else";
  if (const If *nested = elseIf(stmt)) {
    out += ' ';
    ifStmt(*nested);
  } else {
    block(stmt.elseBlock);
  }
}

Printer::Entry Printer::stmtEntry(const Stmt &stmt) {
  Entry entry;
  entry.trivia = &stmt;
  Flow &flow = entry.flow;
  switch (stmt.kind) {
  case StmtKind::Let: {
    const auto &let = static_cast<const Let &>(stmt);
    flow = binding("let", let.names, let.isTuple, *let.value);
    break;
  }
  case StmtKind::Var: {
    const auto &var = static_cast<const Var &>(stmt);
    flow = binding("var", var.names, var.isTuple, *var.value);
    break;
  }
  case StmtKind::Assign: {
    const auto &assign = static_cast<const Assign &>(stmt);
    flow.expr(*assign.target).add(" ");
    if (assign.op)
      flow.add(spelling(*assign.op));
    flow.add("=").space(Flow::afterAssign).expr(*assign.value);
    break;
  }
  case StmtKind::ExprStmt:
    flow.expr(*static_cast<const ExprStmt &>(stmt).value);
    break;
  case StmtKind::For: {
    const auto &loop = static_cast<const For &>(stmt);
    Flow head(loop.isConst ? "const for " : "for ");
    head.add(loop.var.name).add(" in ").expr(*loop.range_);
    return headed(stmt, std::move(head), loop.body);
  }
  case StmtKind::While: {
    const auto &loop = static_cast<const While &>(stmt);
    return headed(stmt, Flow("while ").expr(*loop.condition), loop.body);
  }
  case StmtKind::If: {
    const auto *branch = static_cast<const If *>(&stmt);
    entry.print = [this, branch] { ifStmt(*branch); };
    for (; branch; branch = elseIf(*branch)) {
      flow.add(ifHead(*branch)).add(" ");
      entry.isFlat &= flatBlock(flow, branch->thenBlock);
      if (!branch->hasElse)
        break;
      flow.add(" else ");
      if (!elseIf(*branch))
        entry.isFlat &= flatBlock(flow, branch->elseBlock);
    }
    break;
  }
  case StmtKind::Break:
    flow.add("break");
    break;
  case StmtKind::Continue:
    flow.add("continue");
    break;
  case StmtKind::Return:
    flow.add("return");
    break;
  case StmtKind::Math: {
    const auto &math = static_cast<const Math &>(stmt);
    flow.add("math ");
    for (size_t i = 0; i < math.flags.size(); ++i) {
      if (i)
        flow.add(",").space(0);
      flow.add(math.flags[i].name);
    }
    break;
  }
  case StmtKind::Scratch: {
    const auto &scratch = static_cast<const Scratch &>(stmt);
    flow.add("scratch ").add(scratch.name.name).add(": ").add(typeFlow(scratch.type));
    break;
  }
  case StmtKind::Launch: {
    const auto &launch = static_cast<const Launch &>(stmt);
    flow.add("launch ").add(launch.kernel.name).args(launch.args);
    break;
  }
  }
  return entry;
}

} // namespace tilegym::syntax
