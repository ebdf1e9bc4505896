// SPDX-License-Identifier: MIT
// A model of one number: what a thread holds of the largest tile, or of the largest result of a matrix product. Memory runs at full speed with some 64 bytes a thread in flight (four 16-byte vectors);
// more than 64 values a thread spill or leave too few threads, fewer than one vector waste instructions. Single elements: 16 a thread, eight where each has 64 bits of address.
// A block that holds more than some 16 KB leaves room for too few others, which would load while it stores: then a cluster shares the tile. Rows in shared
// memory cost a thread no register, so up to four times as much does no harm; but where registers do as well, they cost fewer instructions.
#include "compiler/driver/CostModel.h"
#include "compiler/lowering/Lowering.h"
#include "compiler/semantics/ProductOperands.h"
#include <algorithm>
#include <cmath>

namespace tilegym::driver {

using tile::FactKind;

namespace {

constexpr double kBlockBytes = 16 * 1024;
constexpr int64_t kWide = 16384;

/// Addresses and values of three wide tiles leave a multiprocessor too few threads for what a row then waits for, one after the other: layer_norm with weight
/// and bias took 1115 us for 4096 x 65536 in bf16, read twice 637; for 4096 x 16384 177, read twice 119 (docs/performance.md). In shared memory they cost no
/// registers, but of rows that begin anywhere a block holds one.
bool isStarved(const KernelSize &size, const sem::Specialization &point, FactKind facts) {
  return facts == FactKind::Dense && (knob(point, "hold", 0) ? size.rows > 1 : size.wideLoads > 2);
}

int64_t elementsOf(const sem::Expr &e) {
  int64_t n = 1;
  for (int64_t extent : e.type.shape)
    n *= std::max<int64_t>(1, extent);
  return n;
}

void visitExpr(const sem::Expr &e, KernelSize &size) {
  if (e.type.isTile())
    size.largestTile = std::max(size.largestTile, elementsOf(e));
  if (e.op == sem::Op::Mma) {
    const sem::Expr &a = *e.operands[0];
    size.result = std::max(size.result, elementsOf(e));
    size.operand = std::max({size.operand, elementsOf(a), elementsOf(*e.operands[1])});
    size.depthBytes = std::max(size.depthBytes, a.type.shape.back() * int64_t(sizeInBytes(a.type.dtype)));
    size.byWarpgroups &= a.type.dtype != DType::F64 && e.precision != sem::Precision::Ieee &&
                         e.precision != sem::Precision::Tf32x3;
    if (e.precision == sem::Precision::Promoted)
      size.registersPerSum = 2;
  }
  if (e.op == sem::Op::Load && !e.type.isScalar()) {
    size.elementBytes = sizeInBytes(e.type.dtype);
    size.wideLoads += elementsOf(e) >= kWide;
    size.rows = std::max(size.rows, elementsOf(e) / std::max<int64_t>(1, e.type.shape.back()));
  }
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

double threadsOf(const sem::Specialization &point) {
  return double(knob(point, "warps", 4) * 32 * knob(point, "ctas", 1));
}

/// Two teams of one warpgroup, to which the producer gives registers (transforms/Teams.h).
bool hasTeams(const sem::Specialization &point) {
  constexpr int64_t pingpong = 2;
  return knob(point, "schedule", 0) == pingpong && knob(point, "persistent", 0) &&
         knob(point, "warps", 4) == 4;
}

/// Sums of products take a register each whatever their operands are, and nothing else is held: twice as many fit, or three times with a producer's registers.
double heldByThread(const KernelSize &size, const sem::Specialization &point) {
  if (knob(point, "hold", 0)) // a strip
    return double(knob(point, "vectors", 2) * 16) / double(size.elementBytes);
  return double(size.result ? size.result / (hasTeams(point) ? 3 : 2) : size.largestTile) / threadsOf(point);
}

/// Products run at full speed from shared memory where each word of it serves many: results of some 128 x 128, 64 to 128 sums a thread, and
/// 128 bytes of K a step; of 128 x 256 where two warpgroups read it themselves. Without facts operands are loaded element by element, some 16 a thread.
double productCost(const KernelSize &size, const sem::Specialization &point, FactKind facts,
                   bool warpgroups) {
  auto off = [](double have, double wanted) { return std::abs(std::log2(have / wanted)); };
  bool groups = warpgroups && size.byWarpgroups;
  // Warpgroups sum a part of K for at most 128 columns at a time.
  double sums = double(size.result * (groups ? 1 : size.registersPerSum)) / threadsOf(point);
  bool teams = facts == FactKind::Fast && groups && hasTeams(point);
  double cost = 4 * std::max(0.0, std::log2(sums / (teams ? 192 : 128)));
  if (facts != FactKind::Fast)
    return cost + off(double(size.operand) / threadsOf(point), 16) + 0.5 * off(sums, 32);
  if (groups && knob(point, "warps", 4) % 4)
    cost += 4; // single warps multiply at half of the speed
  // A producer's ring takes the place of other blocks, which plain cores need (f32 4096^3: half of the speed); blocks that stay let it run ahead.
  bool isFed = knob(point, "schedule", 0) != 0, stays = knob(point, "persistent", 0) != 0;
  cost += 2 * (isFed != groups) + (stays != isFed);
  if (teams) // one multiplies while the other stores: some percent faster than one larger tile, and the more so the deeper the ring
    return cost + off(std::min(double(size.result), 128.0 * 128), 128 * 128) +
           0.3 * off(double(size.depthBytes), 128) - 0.05 * double(knob(point, "stages", 3));
  return cost + off(double(size.result), groups ? 128 * 256 : 128 * 128) +
         0.5 * off(sums, groups ? 128 : 96) + 0.3 * off(double(size.depthBytes), 128) +
         0.1 * std::abs(double(knob(point, "stages", 3)) - 3) +
         0.1 * std::log2(double(size.operand)); // of equal results the nearest to a square
}

/// Rows in shared memory: fastest where it holds some 128 bytes a thread, so that a multiprocessor's share of them keeps most of its threads, and
/// threads take them in two to four strips (layer_norm, softmax and rms_norm at 8192 to 131072; docs/performance.md).
double sharedCost(const KernelSize &size, const sem::Specialization &point) {
  double ctas = double(knob(point, "ctas", 1)), block = double(size.largestTile * size.elementBytes) / ctas;
  double ofThread = block * ctas / threadsOf(point),
         strips = ofThread / double(16 * knob(point, "vectors", 2));
  double cost = 1 + 0.5 * std::abs(std::log2(ofThread / 128)) +
                std::max(0.0, std::abs(std::log2(strips) - 1.5) - 0.5) +
                std::max(0.0, std::log2(block / (4 * kBlockBytes)));
  if (ctas > 1)
    cost += 0.2 * std::log2(ctas) + 2 * std::max(0.0, std::log2(kBlockBytes / block));
  return cost;
}

/// A row in shared memory that begins anywhere: eight single elements a strip, which are code each, and eight warps. Of bf16 rows of 8192 to 131072 that is 0.65 to
/// 0.78 of the packed call, where registers gave 0.54 to 0.78; of shorter ones they do as well.
double oddRowCost(const KernelSize &size, const sem::Specialization &point) {
  double ctas = double(knob(point, "ctas", 1)), block = double(size.largestTile * size.elementBytes) / ctas;
  auto off = [](double have, double wanted) { return std::abs(std::log2(have / wanted)); };
  double cost = 0.1 + 0.5 * off(block * ctas / threadsOf(point), 128) +
                0.3 * off(heldByThread(size, point), 8) + 0.6 * off(double(knob(point, "warps", 4)), 8) +
                std::max(0.0, std::log2(block / (4 * kBlockBytes)));
  return ctas > 1 ? cost + 0.2 * std::log2(ctas) + 2 * std::max(0.0, std::log2(kBlockBytes / block)) : cost;
}

double cost(const KernelSize &size, const sem::Specialization &point, FactKind facts, bool warpgroups) {
  if (size.result)
    return productCost(size, point, facts, warpgroups);
  int64_t warps = knob(point, "warps", 4), ctas = knob(point, "ctas", 1);
  double held = heldByThread(size, point), bytes = held * double(size.elementBytes);
  if (knob(point, "hold", 0)) {  // without facts it makes no difference
    if (facts == FactKind::Fast) // rows that follow one another in a ring pay where measured, and rarely
      return sharedCost(size, point) + double(knob(point, "persistent", 0));
    if (knob(point, "persistent", 0))
      return HUGE_VAL;
    return facts == FactKind::Dense && size.rows == 1 ? oddRowCost(size, point) : HUGE_VAL;
  }
  double cost = facts == FactKind::Fast ? std::abs(std::log2(std::max(bytes, 1.0) / 64.0))
                                        : std::abs(std::log2(held / (facts == FactKind::Dense ? 16 : 8)));
  if (held > 64)
    cost += 4 * std::log2(held / 64); // registers: this hurts more than the rest
  if (warps >
      8) // few large blocks overlap loading and storing less; single elements, bound by what a multiprocessor issues, need that most
    cost += (facts == FactKind::Dense ? 0.7 : 0.3) * std::log2(double(warps) / 8);
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

/// Of a plan's launches the one with the largest products, or else the largest tiles, takes the time.
static std::optional<KernelSize> sizeOfPoint(const sem::OpModel &op, const sem::Specialization &point,
                                             DiagnosticSink &sink) {
  if (!op.kernels[size_t(point.kernel)].isPlan) {
    std::shared_ptr<const sem::Kernel> kernel = sem::instantiateKernel(op, point, sink);
    if (!kernel)
      return std::nullopt;
    KernelSize size = sizeOf(*kernel);
    size.operandTensors = sem::productOperands(op, *kernel);
    size.asksForVectors = lowering::asksForVectors(op, *kernel);
    return size;
  }
  std::shared_ptr<const sem::Plan> plan = sem::instantiatePlan(op, point, sink);
  if (!plan)
    return std::nullopt;
  std::optional<KernelSize> largest;
  for (const sem::Launch &launch : plan->launches) {
    KernelSize size = sizeOf(*launch.kernel);
    if (!largest ||
        std::pair(size.result, size.largestTile) > std::pair(largest->result, largest->largestTile))
      largest = size;
  }
  return largest;
}

Candidates::Candidates(const sem::OpModel &op, std::vector<sem::Specialization> points,
                       DiagnosticSink &sink) {
  for (sem::Specialization &point : points) {
    DiagnosticSink own;
    if (std::optional<KernelSize> size = sizeOfPoint(op, point, points.size() == 1 ? sink : own))
      sized.emplace_back(point, *size);
  }
  if (sized.empty() && points.size() > 1)
    sizeOfPoint(op, points.front(), sink);
}

std::vector<sem::Specialization> Candidates::byCost(FactKind facts, double maxHeld, bool warpgroups) const {
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < sized.size(); ++i)
    if (heldByThread(sized[i].second, sized[i].first) <= maxHeld &&
        (std::isinf(maxHeld) || !isStarved(sized[i].second, sized[i].first, facts)))
      order.emplace_back(cost(sized[i].second, sized[i].first, facts, warpgroups), i);
  std::sort(order.begin(), order.end());
  std::vector<sem::Specialization> result;
  for (auto [cost, i] : order)
    result.push_back(sized[i].first);
  return result;
}

} // namespace tilegym::driver
