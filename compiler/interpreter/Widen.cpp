// SPDX-License-Identifier: MIT
// A reference in f64 throughout, for central differences: the tree rewritten with every float dtype replaced.
#include "compiler/interpreter/Interpreter.h"
#include <map>

namespace tilegym::interp {

namespace {

DType widened(DType dtype) { return isFloat(dtype) ? DType::F64 : dtype; }

sem::Type widened(sem::Type type) {
  type.dtype = widened(type.dtype);
  for (sem::Type &element : type.elements)
    element = widened(std::move(element));
  return type;
}

/// Nodes are shared, and stay so.
class Widener {
public:
  sem::ExprPtr expr(const sem::ExprPtr &e) {
    if (!e)
      return e;
    auto &made = exprs[e.get()];
    if (made)
      return made;
    auto copy = std::make_shared<sem::Expr>(*e);
    copy->type = widened(copy->type);
    copy->accType = widened(copy->accType);
    for (auto &operand : copy->operands)
      operand = expr(operand);
    for (auto &item : copy->items) {
      item.first = expr(item.first);
      item.second = expr(item.second);
    }
    if (e->lambda) {
      auto lambda = std::make_shared<sem::Lambda>(*e->lambda);
      lambda->body = block(lambda->body);
      for (auto &result : lambda->results)
        result = expr(result);
      copy->lambda = std::move(lambda);
    }
    return made = std::move(copy);
  }

  sem::Block block(const sem::Block &from) {
    sem::Block result;
    for (const auto &stmt : from) {
      auto copy = std::make_shared<sem::Stmt>(*stmt);
      for (sem::ExprPtr *e : {&copy->value, &copy->view, &copy->lo, &copy->hi, &copy->step})
        *e = expr(*e);
      for (sem::Block *inner : {&copy->condBlock, &copy->body, &copy->elseBody})
        *inner = block(*inner);
      result.push_back(std::move(copy));
    }
    return result;
  }

private:
  std::map<const sem::Expr *, sem::ExprPtr> exprs;
};

} // namespace

sem::Reference widenFloats(const sem::Reference &reference) {
  sem::Reference result = reference;
  for (DType &dtype : result.spec.dtypes)
    dtype = widened(dtype);
  for (sem::Local &local : result.locals)
    local.type = widened(std::move(local.type));
  result.block = Widener().block(reference.block);
  return result;
}

} // namespace tilegym::interp
