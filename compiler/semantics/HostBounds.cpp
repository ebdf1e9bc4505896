// SPDX-License-Identifier: MIT
// Bounds from conditions: `N <= 16384`, `2 * H < 64`, `A * B <= 4096`, joined by `&` and `|`. Sound, and exact for the forms that
// guards take; anything else bounds nothing.
#include "compiler/semantics/Derived.h"
#include <algorithm>
#include <limits>

namespace tilegym::sem {
namespace {

constexpr int64_t least = std::numeric_limits<int64_t>::min();

HostBounds unbounded(const OpModel &op) {
  HostBounds b;
  b.dimLow.assign(op.dims.size(), 1);
  b.dimHigh.assign(op.dims.size(), HostBounds::none);
  b.scalarLow.assign(op.scalars.size(), least);
  b.scalarHigh.assign(op.scalars.size(), HostBounds::none);
  return b;
}

int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

std::optional<int64_t> constant(const ExprPtr &e) {
  if (e->op == Op::Const && isInt(e->type.dtype))
    return e->constant.asInt();
  return std::nullopt;
}

/// True where the expression cannot be negative: made of dims and sizes.
bool nonNegative(const Expr &e) {
  switch (e.op) {
  case Op::Dim:
  case Op::ListLen:
  case Op::ListDim:
  case Op::Pow2Ceil:
    return true;
  case Op::Const:
    return isInt(e.type.dtype) && e.constant.asInt() >= 0;
  case Op::Add:
  case Op::Mul:
  case Op::CDiv:
  case Op::FloorDiv:
  case Op::Max:
  case Op::Min:
    return nonNegative(*e.operands[0]) && nonNegative(*e.operands[1]);
  default:
    return false;
  }
}

class BoundsFinder {
public:
  explicit BoundsFinder(const OpModel &op) : op(op) {}
  HostBounds condition(const ExprPtr &e);

private:
  void atMost(const ExprPtr &e, int64_t limit, HostBounds &b);
  void atLeast(const ExprPtr &e, int64_t limit, HostBounds &b);
  void compare(Op code, const ExprPtr &a, const ExprPtr &c, HostBounds &b);
  const OpModel &op;
};

void BoundsFinder::atMost(const ExprPtr &e, int64_t limit, HostBounds &b) {
  if (limit > int64_t(1) << 60 || limit < -(int64_t(1) << 60))
    return; // nothing useful, and the arithmetic below stays in range
  if (e->op == Op::Dim)
    b.dimHigh[e->index] = std::min(b.dimHigh[e->index], limit);
  if (e->op == Op::Scalar)
    b.scalarHigh[e->index] = std::min(b.scalarHigh[e->index], limit);
  if (e->operands.size() != 2) {
    if (e->op == Op::Pow2Ceil && limit >= 1)
      atMost(e->operands[0], limit, b);
    return;
  }
  const ExprPtr &x = e->operands[0], &y = e->operands[1];
  auto cx = constant(x), cy = constant(y);
  bool plain = nonNegative(*x) && nonNegative(*y);
  switch (e->op) {
  case Op::Add:
    if (cy)
      atMost(x, limit - *cy, b);
    else if (cx)
      atMost(y, limit - *cx, b);
    else if (plain) {
      atMost(x, limit, b);
      atMost(y, limit, b);
    }
    break;
  case Op::Sub:
    if (cy)
      atMost(x, limit + *cy, b);
    break;
  case Op::Mul:
    if (cy && *cy > 0)
      atMost(x, floorDiv(limit, *cy), b);
    else if (cx && *cx > 0)
      atMost(y, floorDiv(limit, *cx), b);
    else if (plain) { // both are at least 1 wherever something runs
      atMost(x, limit, b);
      atMost(y, limit, b);
    }
    break;
  case Op::CDiv:
    if (cy && *cy > 0 && *cy < 1 << 20 && limit < int64_t(1) << 40)
      atMost(x, limit * *cy, b);
    break;
  case Op::FloorDiv:
    if (cy && *cy > 0 && *cy < 1 << 20 && limit < int64_t(1) << 40)
      atMost(x, limit * *cy + *cy - 1, b);
    break;
  case Op::Max:
    atMost(x, limit, b);
    atMost(y, limit, b);
    break;
  default:
    break;
  }
}

void BoundsFinder::atLeast(const ExprPtr &e, int64_t limit, HostBounds &b) {
  if (limit > int64_t(1) << 60 || limit < -(int64_t(1) << 60))
    return;
  if (e->op == Op::Dim)
    b.dimLow[e->index] = std::max(b.dimLow[e->index], limit);
  if (e->op == Op::Scalar)
    b.scalarLow[e->index] = std::max(b.scalarLow[e->index], limit);
  if (e->operands.size() != 2)
    return;
  auto cx = constant(e->operands[0]), cy = constant(e->operands[1]);
  if (e->op == Op::Add && cy)
    atLeast(e->operands[0], limit - *cy, b);
  else if (e->op == Op::Add && cx)
    atLeast(e->operands[1], limit - *cx, b);
  else if (e->op == Op::Sub && cy)
    atLeast(e->operands[0], limit + *cy, b);
  else if (e->op == Op::Mul && cy && *cy > 0)
    atLeast(e->operands[0], -floorDiv(-limit, *cy), b);
  else if (e->op == Op::Mul && cx && *cx > 0)
    atLeast(e->operands[1], -floorDiv(-limit, *cx), b);
}

void BoundsFinder::compare(Op code, const ExprPtr &a, const ExprPtr &c, HostBounds &b) {
  auto limit = constant(c);
  if (!limit || std::abs(*limit) > int64_t(1) << 60)
    return;
  if (code == Op::Le || code == Op::Eq)
    atMost(a, *limit, b);
  if (code == Op::Lt)
    atMost(a, *limit - 1, b);
  if (code == Op::Ge || code == Op::Eq)
    atLeast(a, *limit, b);
  if (code == Op::Gt)
    atLeast(a, *limit + 1, b);
}

HostBounds BoundsFinder::condition(const ExprPtr &e) {
  HostBounds b = unbounded(op);
  if ((e->op == Op::And || e->op == Op::Or) && isBool(e->type.dtype)) {
    HostBounds x = condition(e->operands[0]), y = condition(e->operands[1]);
    bool both = e->op == Op::And;
    auto join = [&](std::vector<int64_t> &out, const std::vector<int64_t> &p, const std::vector<int64_t> &q,
                    bool greater) {
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = greater ? std::max(p[i], q[i]) : std::min(p[i], q[i]);
    };
    join(b.dimLow, x.dimLow, y.dimLow, both);
    join(b.dimHigh, x.dimHigh, y.dimHigh, !both);
    join(b.scalarLow, x.scalarLow, y.scalarLow, both);
    join(b.scalarHigh, x.scalarHigh, y.scalarHigh, !both);
    return b;
  }
  if (e->operands.size() == 2) {
    static const std::pair<Op, Op> mirrored[] = {
        {Op::Le, Op::Ge}, {Op::Lt, Op::Gt}, {Op::Ge, Op::Le}, {Op::Gt, Op::Lt}, {Op::Eq, Op::Eq}};
    for (auto [code, mirror] : mirrored)
      if (e->op == code) {
        compare(code, e->operands[0], e->operands[1], b);
        compare(mirror, e->operands[1], e->operands[0], b);
      }
  }
  return b;
}

} // namespace

HostBounds boundsOf(const OpModel &op, const std::vector<ExprPtr> &conditions) {
  HostBounds all = unbounded(op);
  BoundsFinder finder(op);
  for (const ExprPtr &condition : conditions) {
    if (!condition)
      continue;
    HostBounds one = finder.condition(condition);
    for (size_t i = 0; i < op.dims.size(); ++i) {
      all.dimLow[i] = std::max(all.dimLow[i], one.dimLow[i]);
      all.dimHigh[i] = std::min(all.dimHigh[i], one.dimHigh[i]);
    }
    for (size_t i = 0; i < op.scalars.size(); ++i) {
      all.scalarLow[i] = std::max(all.scalarLow[i], one.scalarLow[i]);
      all.scalarHigh[i] = std::min(all.scalarHigh[i], one.scalarHigh[i]);
    }
  }
  return all;
}

} // namespace tilegym::sem
