// SPDX-License-Identifier: MIT
// Follows the operands of `mma` back to the loads they come from, through names, conversions and `.T`.
#include "compiler/semantics/ProductOperands.h"
#include <map>

namespace tilegym::sem {
namespace {

class Finder {
public:
  explicit Finder(const OpModel &op) : op(op) {}

  void visit(const Block &block) {
    for (const StmtPtr &stmt : block) {
      if (stmt->kind == Stmt::Let && stmt->value)
        named[stmt->index] = stmt->value.get();
      for (const ExprPtr &e : {stmt->value, stmt->view, stmt->lo, stmt->hi, stmt->step})
        if (e)
          visit(*e);
      visit(stmt->condBlock);
      visit(stmt->body);
      visit(stmt->elseBody);
    }
  }

  size_t products = 0;
  uint64_t tensors = 0;

private:
  void visit(const Expr &e) {
    if (e.op == Op::Mma) {
      ++products;
      addLoad(*e.operands[0]);
      addLoad(*e.operands[1]);
    }
    for (const ExprPtr &operand : e.operands)
      if (operand)
        visit(*operand);
  }

  const Expr &meant(const Expr &e) const {
    auto found = e.op == Op::Local ? named.find(e.index) : named.end();
    return found == named.end() ? e : meant(*found->second);
  }

  void addLoad(const Expr &operand) {
    const Expr &e = meant(operand);
    if (e.op == Op::Convert || e.op == Op::Permute)
      return addLoad(*e.operands[0]);
    if (e.op != Op::Load)
      return;
    const Expr *view = &meant(*e.operands[0]);
    while (view->op == Op::ViewIndex || view->op == Op::ViewTile || view->op == Op::ViewPermute)
      view = &meant(*view->operands[0]);
    if ((view->op != Op::Tensor && view->op != Op::ListElement) || view->isKernelParam)
      return;
    const TensorParam &tensor = op.tensors[size_t(view->index)];
    size_t rank = tensor.dims.size();
    if (tensor.role == Role::Input && rank >= 2 && !tensor.dims[rank - 1].isGroup &&
        !tensor.dims[rank - 2].isGroup)
      tensors |= uint64_t(1) << view->index;
  }

  const OpModel &op;
  std::map<int64_t, const Expr *> named;
};

} // namespace

uint64_t productOperands(const OpModel &op, const Kernel &kernel) {
  Finder finder(op);
  finder.visit(kernel.block);
  return finder.products == 1 ? finder.tensors : 0;
}

} // namespace tilegym::sem
