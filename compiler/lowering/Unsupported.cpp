// SPDX-License-Identifier: MIT
// One walk over a kernel's tree.
#include "compiler/lowering/Unsupported.h"
#include <algorithm>
#include <set>

using namespace tilegym;
using sem::Op;

namespace {

const char *unsupportedName(Op op) {
  switch (op) {
  case Op::MmaScaled:
    return "`mma_scaled`";
  case Op::MatMul:
    return "`@`";
  case Op::Sort:
    return "`sort`";
  case Op::TopK:
    return "`topk`";
  case Op::Histogram:
    return "`histogram`";
  default:
    return nullptr;
  }
}

struct Walk {
  DiagnosticSink &sink;
  std::set<const sem::Expr *> seen; ///< trees share nodes

  void report(SourceRange range, const std::string &what) {
    sink.error(range, "the target cannot lower " + what + " yet", "it can be checked and interpreted");
  }

  void expr(const sem::ExprPtr &e) {
    if (!e || !seen.insert(e.get()).second)
      return;
    if (const char *name = unsupportedName(e->op))
      report(e->range, name);
    for (const auto &operand : e->operands)
      expr(operand);
    for (const auto &item : e->items) {
      expr(item.first);
      expr(item.second);
    }
    if (e->lambda) {
      block(e->lambda->body);
      for (const auto &result : e->lambda->results)
        expr(result);
    }
  }

  void block(const sem::Block &statements) {
    for (const auto &stmt : statements) {
      for (const auto &e : {stmt->value, stmt->view, stmt->lo, stmt->hi, stmt->step})
        expr(e);
      block(stmt->condBlock);
      block(stmt->body);
      block(stmt->elseBody);
    }
  }
};

} // namespace

void tilegym::lowering::reportUnsupported(const sem::OpModel &op, const sem::Kernel &kernel,
                                          DiagnosticSink &sink) {
  Walk walk{sink, {}};
  if (!kernel.params.empty())
    walk.report(kernel.block.empty() ? SourceRange() : kernel.block.front()->range,
                "a kernel that a plan launches");
  for (const sem::TensorParam &tensor : op.tensors)
    if (tensor.isList && tensor.optional)
      walk.report(tensor.range, "a list that may be left out");
    else if (tensor.isList && std::any_of(tensor.dims.begin(), tensor.dims.end(),
                                          [](const sem::DimUse &use) { return use.isGroup; }))
      walk.report(tensor.range, "a list of tensors with leading dims");
  walk.block(kernel.block);
  for (const auto &extent : kernel.grid)
    walk.expr(extent);
}
