// SPDX-License-Identifier: MIT
// A model of one number: what a thread holds of the largest tile. Memory runs at full speed with some 64 bytes a thread in flight (four 16-byte vectors);
// more than 64 values a thread spill or leave too few threads, fewer than one vector waste instructions. Without facts, eight values a thread.
// A block that holds more than some 32 KB leaves room for too few others, which would load while it stores: then a cluster shares the tile.
#include "compiler/driver/CostModel.h"
#include <algorithm>
#include <cmath>

namespace tilegym::driver {
namespace {

constexpr double kBlockBytes = 32 * 1024;

void visitExpr(const sem::Expr &e, KernelSize &size) {
  if (e.type.isTile()) {
    int64_t n = 1;
    for (int64_t extent : e.type.shape)
      n *= std::max<int64_t>(1, extent);
    size.largestTile = std::max(size.largestTile, n);
  }
  if (e.op == sem::Op::Load && !e.type.isScalar())
    size.elementBytes = sizeInBytes(e.type.dtype);
  for (const sem::ExprPtr &operand : e.operands)
    if (operand)
      visitExpr(*operand, size);
}

void visitBlock(const sem::Block &block, KernelSize &size) {
  for (const sem::StmtPtr &stmt : block) {
    for (const sem::ExprPtr &e : {stmt->value, stmt->view, stmt->lo, stmt->hi, stmt->step})
      if (e)
        visitExpr(*e, size);
    visitBlock(stmt->condBlock, size);
    visitBlock(stmt->body, size);
    visitBlock(stmt->elseBody, size);
  }
}

} // namespace

KernelSize sizeOf(const sem::Kernel &kernel) {
  KernelSize size;
  visitBlock(kernel.block, size);
  return size;
}

double heldByThread(const KernelSize &size, const sem::Specialization &point) {
  return double(size.largestTile) / double(knob(point, "warps", 4) * 32 * knob(point, "ctas", 1));
}

double cost(const KernelSize &size, const sem::Specialization &point, tile::Facts facts) {
  int64_t warps = knob(point, "warps", 4), ctas = knob(point, "ctas", 1);
  double held = heldByThread(size, point), bytes = held * double(size.elementBytes);
  double cost = facts == tile::Facts::Fast ? std::abs(std::log2(std::max(bytes, 1.0) / 64.0))
                                           : std::abs(std::log2(held / 8));
  if (held > 64)
    cost += 4 * std::log2(held / 64); // registers: this hurts more than the rest
  if (warps > 8)
    cost += 0.3 * std::log2(double(warps) / 8); // few large blocks overlap loading and storing less
  double shares = double(size.largestTile * size.elementBytes) / double(ctas) / kBlockBytes;
  cost += std::max(0.0, std::log2(shares));
  if (ctas > 1) // an exchange a reduction must pay
    cost += 0.2 * std::log2(double(ctas)) + 2 * std::max(0.0, -std::log2(shares));
  return cost;
}

int64_t knob(const sem::Specialization &spec, std::string_view name, int64_t fallback) {
  for (const sem::NamedInt &k : spec.knobs)
    if (k.name == name)
      return k.value;
  return fallback;
}

Candidates::Candidates(const sem::OpModel &op, std::vector<sem::Specialization> points,
                       DiagnosticSink &sink) {
  for (sem::Specialization &point : points) {
    DiagnosticSink own;
    if (std::shared_ptr<const sem::Kernel> kernel =
            sem::instantiateKernel(op, point, points.size() == 1 ? sink : own))
      sized.emplace_back(point, sizeOf(*kernel));
  }
  if (sized.empty() && points.size() > 1)
    sem::instantiateKernel(op, points.front(), sink);
}

std::vector<sem::Specialization> Candidates::byCost(tile::Facts facts, double maxHeld) const {
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < sized.size(); ++i)
    if (heldByThread(sized[i].second, sized[i].first) <= maxHeld)
      order.emplace_back(cost(sized[i].second, sized[i].first, facts), i);
  std::sort(order.begin(), order.end());
  std::vector<sem::Specialization> result;
  for (auto [cost, i] : order)
    result.push_back(sized[i].first);
  return result;
}

} // namespace tilegym::driver
