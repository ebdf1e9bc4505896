// SPDX-License-Identifier: MIT
// Expressions and types as text. Parentheses that were written are kept; where a tree was built by a program, those that
// its shape needs are added.
#include "compiler/syntax/Printer.h"
#include "compiler/syntax/PrinterImpl.h"
#include <charconv>

namespace tilegym::syntax {

using namespace ast;

/// As in ParseExpr.cpp: comparisons 1, `|` 2 ... products 7, unary 8, `**` 9, everything closed 10.
static int precedence(const Expr &e) {
  if (const auto *call = dynCast<Call>(&e))
    return call->reference ? 0 : 10; // `reference expr` runs as far right as it can
  if (e.kind == ExprKind::Range || e.kind == ExprKind::Comprehension)
    return 0;
  if (e.kind == ExprKind::Unary)
    return 8;
  const auto *binary = dynCast<Binary>(&e);
  if (!binary)
    return 10;
  switch (binary->op) {
  case BinaryOp::Add:
  case BinaryOp::Sub:
    return 6;
  case BinaryOp::Mul:
  case BinaryOp::Div:
  case BinaryOp::FloorDiv:
  case BinaryOp::Mod:
  case BinaryOp::MatMul:
    return 7;
  case BinaryOp::Pow:
    return 9;
  case BinaryOp::BitAnd:
    return 4;
  case BinaryOp::BitOr:
    return 2;
  case BinaryOp::BitXor:
    return 3;
  case BinaryOp::Shl:
  case BinaryOp::Shr:
    return 5;
  default:
    return 1;
  }
}

/// Comparisons take neither comparisons nor `& | ^` bare, though precedence alone would allow the latter.
static bool needsParens(const Binary &parent, const Expr &child, bool isLeft) {
  int own = precedence(parent), other = precedence(child);
  if (own == 1)
    return other < 5;
  if (parent.op == BinaryOp::Pow)
    return isLeft ? other < 10 : other < 8;
  return isLeft ? other < own : other <= own;
}

Flow &Flow::add(const Flow &other) {
  size_t shift = text.size();
  text += other.text;
  for (const Break &b : other.breaks)
    breaks.push_back({b.at + shift, b.cost + depth * 10});
  return *this;
}

Flow &Flow::string(std::string_view value) {
  text += '"';
  for (char c : value) {
    size_t which = std::string_view("\n\t\"\\\0", 5).find(c);
    if (which != std::string_view::npos) {
      text += '\\';
      text += "nt\"\\0"[which];
    } else {
      text += c;
    }
  }
  text += '"';
  return *this;
}

Flow &Flow::operand(const Expr &e, bool parens) {
  if (!parens && !e.parens) {
    bare(e);
    return *this;
  }
  open('(');
  bare(e);
  close(')');
  return *this;
}

Flow &Flow::expr(const Expr &e) { return operand(e, false); }

Flow &Flow::exprs(const std::vector<ExprPtr> &list) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (i)
      add(",").space(costOf(0));
    expr(*list[i]);
  }
  return *this;
}

Flow &Flow::args(const std::vector<Arg> &list) {
  open('(');
  for (size_t i = 0; i < list.size(); ++i) {
    if (i)
      add(",").space(costOf(0));
    if (!list[i].name.empty())
      add(list[i].name).add("=");
    expr(*list[i].value);
  }
  close(')');
  return *this;
}

void Flow::indexItem(const IndexItem &item) {
  if (item.first)
    expr(*item.first);
  switch (item.kind) {
  case IndexItem::Value:
    return;
  case IndexItem::Span:
    add(" :+ ");
    break;
  case IndexItem::Bounds:
    add(item.first && item.second ? " : " : ":");
    break;
  case IndexItem::Whole:
    add(":");
    break;
  }
  if (item.second)
    expr(*item.second);
}

static std::string floatText(double value) {
  char buffer[40];
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

void Flow::bare(const Expr &e) {
  switch (e.kind) {
  case ExprKind::IntLiteral: {
    const auto &literal = static_cast<const IntLiteral &>(e);
    add(literal.text.empty() ? std::to_string(literal.value) : literal.text);
    return;
  }
  case ExprKind::FloatLiteral: {
    const auto &literal = static_cast<const FloatLiteral &>(e);
    add(literal.text.empty() ? floatText(literal.value) : literal.text);
    return;
  }
  case ExprKind::BoolLiteral:
    add(static_cast<const BoolLiteral &>(e).value ? "true" : "false");
    return;
  case ExprKind::StringLiteral:
    string(static_cast<const StringLiteral &>(e).value);
    return;
  case ExprKind::Name:
    add(static_cast<const Name &>(e).name);
    return;
  case ExprKind::Unary: {
    const auto &unary = static_cast<const Unary &>(e);
    add(spelling(unary.op)).operand(*unary.operand, precedence(*unary.operand) < 8);
    return;
  }
  case ExprKind::Binary: {
    const auto &binary = static_cast<const Binary &>(e);
    operand(*binary.lhs, needsParens(binary, *binary.lhs, true));
    add(" ").add(spelling(binary.op)).space(costOf(precedence(e)));
    operand(*binary.rhs, needsParens(binary, *binary.rhs, false));
    return;
  }
  case ExprKind::Call: {
    const auto &call = static_cast<const Call &>(e);
    operand(*call.callee, precedence(*call.callee) < 10).args(call.args);
    if (call.reference)
      add(" reference ").expr(*call.reference);
    return;
  }
  case ExprKind::Member: {
    const auto &member = static_cast<const Member &>(e);
    operand(*member.base, precedence(*member.base) < 10).add(".").add(member.name);
    return;
  }
  case ExprKind::Index: {
    const auto &index = static_cast<const Index &>(e);
    operand(*index.base, precedence(*index.base) < 10);
    open('[');
    for (size_t i = 0; i < index.items.size(); ++i) {
      if (i)
        add(",").space(costOf(0));
      indexItem(index.items[i]);
    }
    close(']');
    return;
  }
  case ExprKind::Tuple:
    open('(');
    exprs(static_cast<const Tuple &>(e).elements);
    close(')');
    return;
  case ExprKind::List:
    open('[');
    exprs(static_cast<const List &>(e).elements);
    close(']');
    return;
  case ExprKind::Range: {
    const auto &range = static_cast<const Range &>(e);
    expr(*range.lo).add(" ..").space(costOf(0)).expr(*range.hi);
    if (range.step)
      add(" step ").expr(*range.step);
    return;
  }
  case ExprKind::Comprehension: {
    const auto &comprehension = static_cast<const Comprehension &>(e);
    add(comprehension.var)
        .add(" in ")
        .expr(*comprehension.range_)
        .add(":")
        .space(costOf(0))
        .expr(*comprehension.body);
    return;
  }
  }
}

Flow typeFlow(const TensorType &type) {
  Flow flow(type.dtype.name);
  if (type.hasShape) {
    flow.open('[');
    for (size_t i = 0; i < type.dims.size(); ++i) {
      const DimSpec &dim = type.dims[i];
      if (i)
        flow.add(",").space(flow.costOf(0));
      if (dim.leading)
        flow.add("*");
      constexpr int bitOr = 2;
      flow.operand(*dim.expr, precedence(*dim.expr) <= bitOr);
      if (dim.perElement)
        flow.add("[]");
      if (dim.orOne)
        flow.add("|1");
    }
    flow.close(']');
  }
  if (type.optional)
    flow.add("?");
  return flow;
}

} // namespace tilegym::syntax

std::string tilegym::printExpr(const ast::Expr &expr) { return syntax::Flow().expr(expr).text; }
