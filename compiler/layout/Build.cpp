// SPDX-License-Identifier: MIT
// Builders: each deals out the bits of the unit tile's coordinates, axis by axis, to registers, lanes and
// warps.
#include "compiler/layout/Build.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tilegym::layout {

namespace {

/// Deals out coordinate bits of a unit tile, lowest first along each axis.
class Dealer {
public:
  explicit Dealer(const Shape &shape) : shape_(shape), next_(shape.size(), 0) {
    for (int64_t extent : shape)
      left_.push_back(log2Exact(powerOfTwoPart(extent)));
  }

  int left(int axis) const { return left_[axis]; }
  int left() const { return std::accumulate(left_.begin(), left_.end(), 0); }

  /// Up to `bits` of the axis to `dim`; returns how many there were.
  int give(Dim dim, int axis, int bits) {
    int given = std::min(bits, left_[axis]);
    for (int i = 0; i < given; ++i)
      bases_[size_t(dim)].push_back(Vec(1) << (shift(axis) + next_[axis]++));
    left_[axis] -= given;
    return given;
  }

  /// Up to `bits` of the axis's highest.
  int giveHighest(Dim dim, int axis, int bits) {
    int given = std::min(bits, left_[axis]);
    left_[axis] -= given;
    for (int i = 0; i < given; ++i)
      bases_[size_t(dim)].push_back(Vec(1) << (shift(axis) + next_[axis] + left_[axis] + i));
    return given;
  }

  /// `bits` of the axes in turn; where none are left, copies.
  void spread(Dim dim, const std::vector<int> &order, int bits) {
    for (int axis : order)
      bits -= give(dim, axis, bits);
    copies(dim, bits);
  }

  void copies(Dim dim, int bits) { bases_[size_t(dim)].insert(bases_[size_t(dim)].end(), size_t(bits), 0); }

  void rest(const std::vector<int> &order) {
    for (int axis : order)
      give(Dim::Register, axis, left_[axis]);
  }

  Expected<Layout> finish() { return Layout::make(shape_, std::move(bases_)); }

private:
  int shift(int axis) const {
    int bits = 0;
    for (size_t later = size_t(axis) + 1; later < shape_.size(); ++later)
      bits += log2Exact(powerOfTwoPart(shape_[later]));
    return bits;
  }

  Shape shape_;
  std::vector<int> left_, next_;
  Layout::Bases bases_;
};

bool isOrder(const std::vector<int> &order, size_t rank) {
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != int(i))
      return false;
  return sorted.size() == rank;
}

std::optional<Failure> checkCounts(const Shape &shape, std::initializer_list<int64_t> powers) {
  for (int64_t extent : shape)
    if (extent < 1)
      return Failure{"tile extent " + std::to_string(extent) + " is not positive"};
  for (int64_t n : powers)
    if (!isPowerOfTwo(n))
      return Failure{"found " + std::to_string(n) + " where a layout needs a power of two"};
  return std::nullopt;
}

std::optional<Failure> checkFragment(const char *name, const Shape &shape, int64_t rows, int64_t columns,
                                     std::initializer_list<int64_t> powers) {
  if (shape.size() != 2)
    return Failure{std::string(name) + " of rank " + std::to_string(shape.size()) + ", expected 2"};
  if (auto bad = checkCounts(shape, powers))
    return bad;
  if (shape[0] % rows || shape[1] % columns)
    return Failure{std::string(name) + " of " + formatShape(shape) + " is not made of " +
                   std::to_string(rows) + "x" + std::to_string(columns) + " pieces"};
  return std::nullopt;
}

/// The part of every fragment that one warp holds in a piece of `major` x K words: a word's elements, four
/// lanes along `k`, eight along `major`.
void dealQuad(Dealer &deal, int k, int major, int wordBits) {
  deal.give(Dim::Register, k, wordBits);
  deal.give(Dim::Lane, k, 2);
  deal.give(Dim::Lane, major, 3);
}

} // namespace

Expected<Layout> blocked(const Shape &shape, const BlockedSpec &spec) {
  if (auto bad = checkCounts(shape, {spec.elemBytes, spec.warps, spec.vectorBytes, spec.blocks}))
    return *bad;
  std::vector<int> order = spec.order;
  if (order.empty())
    for (int axis = int(shape.size()) - 1; axis >= 0; --axis)
      order.push_back(axis);
  std::vector<int> warpOrder = spec.warpOrder.empty() ? order : spec.warpOrder;
  if (!isOrder(order, shape.size()) || !isOrder(warpOrder, shape.size()))
    return Failure{"the order of a layout must name each of " + std::to_string(shape.size()) + " axes once"};

  Dealer deal(shape);
  int warpBits = log2Exact(spec.warps), blockBits = log2Exact(spec.blocks);
  bool sharesAxis = spec.blockAxis >= 0;
  int taken = sharesAxis && spec.contiguous ? deal.giveHighest(Dim::Block, spec.blockAxis, blockBits) : 0;
  int vectorBits = log2Exact(std::max(1, spec.vectorBytes / spec.elemBytes));
  int threadBits = laneBits + warpBits + (sharesAxis ? blockBits - taken : 0);
  vectorBits = std::min(vectorBits, std::max(0, deal.left() - threadBits));
  if (!order.empty())
    deal.give(Dim::Register, order[0], vectorBits);
  deal.spread(Dim::Lane, order, laneBits);
  deal.spread(Dim::Warp, warpOrder, warpBits);
  if (sharesAxis && !spec.contiguous)
    taken = deal.give(Dim::Block, spec.blockAxis, blockBits);
  deal.copies(Dim::Block, blockBits - taken);
  deal.rest(order);
  return deal.finish();
}

Expected<Layout> mmaOperandA(const Shape &shape, int elemBytes, WarpGrid warps) {
  if (elemBytes != 1 && elemBytes != 2 && elemBytes != 4)
    return Failure{"mma operand of " + std::to_string(elemBytes) + "-byte elements, expected 1, 2 or 4"};
  if (auto bad =
          checkFragment("mma operand", shape, 16, 32 / elemBytes, {warps.rows, warps.columns, warps.copies}))
    return *bad;
  Dealer deal(shape);
  dealQuad(deal, 1, 0, log2Exact(4 / elemBytes));
  deal.give(Dim::Register, 0, 1);
  deal.give(Dim::Register, 1, 1);
  deal.spread(Dim::Warp, {0}, log2Exact(warps.rows));
  deal.copies(Dim::Warp, log2Exact(warps.columns) + log2Exact(warps.copies));
  deal.rest({1, 0});
  return deal.finish();
}

Expected<Layout> mmaOperandB(const Shape &shape, int elemBytes, WarpGrid warps) {
  if (elemBytes != 1 && elemBytes != 2 && elemBytes != 4)
    return Failure{"mma operand of " + std::to_string(elemBytes) + "-byte elements, expected 1, 2 or 4"};
  if (auto bad =
          checkFragment("mma operand", shape, 32 / elemBytes, 8, {warps.rows, warps.columns, warps.copies}))
    return *bad;
  Dealer deal(shape);
  dealQuad(deal, 0, 1, log2Exact(4 / elemBytes));
  deal.give(Dim::Register, 0, 1);
  deal.copies(Dim::Warp, log2Exact(warps.rows));
  deal.spread(Dim::Warp, {1}, log2Exact(warps.columns));
  deal.copies(Dim::Warp, log2Exact(warps.copies));
  deal.rest({1, 0});
  return deal.finish();
}

Expected<Layout> mmaAccumulator(const Shape &shape, WarpGrid warps) {
  if (auto bad = checkFragment("mma accumulator", shape, 16, 8, {warps.rows, warps.columns, warps.copies}))
    return *bad;
  Dealer deal(shape);
  dealQuad(deal, 1, 0, 1);
  deal.give(Dim::Register, 0, 1);
  deal.spread(Dim::Warp, {0}, log2Exact(warps.rows));
  deal.spread(Dim::Warp, {1}, log2Exact(warps.columns));
  deal.copies(Dim::Warp, log2Exact(warps.copies));
  deal.rest({1, 0});
  return deal.finish();
}

Expected<Layout> plainAccumulator(const Shape &shape, const PlainSpec &spec) {
  if (auto bad = checkFragment("product", shape, 1, 1, {spec.warps, spec.rowVector, spec.columnVector}))
    return *bad;
  Dealer deal(shape);
  deal.give(Dim::Register, 0, log2Exact(spec.rowVector));
  deal.give(Dim::Register, 1, log2Exact(spec.columnVector));
  int lanes = laneBits - deal.give(Dim::Lane, 0, 3);
  deal.spread(Dim::Lane, {1, 0}, lanes);
  // Warps in turns along the axis of which more is left, so that their parts are near squares.
  int warpBits = log2Exact(spec.warps);
  for (; warpBits > 0 && deal.left() > 0; --warpBits)
    deal.give(Dim::Warp, deal.left(0) >= deal.left(1) ? 0 : 1, 1);
  deal.copies(Dim::Warp, warpBits);
  deal.rest({1, 0});
  return deal.finish();
}

Expected<Layout> plainOperand(const Layout &accumulator, int axis, int64_t k) {
  Shape shape = {accumulator.shape()[0], accumulator.shape()[1]};
  shape[1 - axis] = k;
  int64_t step = axis == 0 ? powerOfTwoPart(k) : 1; // of the axis that both have, in the unit tile's index
  Layout::Bases bases;
  for (Dim dim : allDims)
    for (Vec basis : accumulator.bases(dim)) {
      Vec at = Vec(accumulator.unitCoords(basis)[size_t(axis)] * step);
      if (at || dim != Dim::Register)
        bases[size_t(dim)].push_back(at);
    }
  int64_t kStep = axis == 0 ? 1 : accumulator.unit()[1];
  for (int64_t i = 1; i < powerOfTwoPart(k); i *= 2)
    bases[size_t(Dim::Register)].push_back(Vec(i * kStep));
  return Layout::make(std::move(shape), std::move(bases));
}

Expected<Layout> acrossCopy(const Shape &shape, int from, int warps) {
  if (auto bad = checkFragment("copy", shape, 1, 1, {warps}))
    return *bad;
  Dealer deal(shape);
  int lanes = laneBits - deal.give(Dim::Lane, from, 3);
  deal.spread(Dim::Lane, {1 - from, from}, lanes);
  deal.spread(Dim::Warp, {1 - from, from}, log2Exact(warps));
  deal.rest({from, 1 - from});
  return deal.finish();
}

Expected<Layout> wgmmaAccumulator(const Shape &shape, WarpGrid groups) {
  if (auto bad = checkFragment("wgmma accumulator", shape, 64, 8, {groups.rows, groups.columns}))
    return *bad;
  Dealer deal(shape);
  dealQuad(deal, 1, 0, 1);
  deal.give(Dim::Register, 0, 1);
  deal.spread(Dim::Warp, {0}, 2 + log2Exact(groups.rows));
  // An instruction's columns are neighbours, so that groups part the highest bits.
  int columnBits = log2Exact(groups.columns);
  deal.copies(Dim::Warp, columnBits - deal.giveHighest(Dim::Warp, 1, columnBits));
  deal.rest({1, 0});
  return deal.finish();
}

Expected<Layout> sharedTile(const Shape &shape, int elemBytes, std::vector<int> order, int swizzleBytes) {
  if (auto bad = checkCounts(shape, {elemBytes}))
    return *bad;
  if (!isOrder(order, shape.size()))
    return Failure{"the order of a layout must name each of " + std::to_string(shape.size()) + " axes once"};
  if (swizzleBytes == 0) {
    Shape unit(shape.size(), 1);
    std::vector<Repeat> repeats;
    for (int axis : order)
      repeats.push_back({axis, shape[axis]});
    auto plain = Layout::make(std::move(unit), {}, std::move(repeats));
    return plain ? Expected<Layout>(plain->normalized()) : plain;
  }

  if (swizzleBytes != 128 && swizzleBytes != 64 && swizzleBytes != 32)
    return Failure{"swizzle of " + std::to_string(swizzleBytes) + " bytes, expected 0, 32, 64 or 128"};
  int64_t perRow = swizzleBytes / elemBytes;
  if (shape.size() < 2 || elemBytes > 16 || shape[order[0]] % perRow || shape[order[1]] % 8)
    return Failure{"shared tile of " + formatShape(shape) + " is not made of " +
                   std::to_string(swizzleBytes) + "-byte rows in groups of 8"};
  // The atom: 8 rows. Row r is XORed on its chunk number by the bits of the byte offset from 128 up: for rows
  // of 64 (32) bytes those are r / 2 (r / 4).
  Shape unit(shape.size(), 1);
  unit[order[0]] = perRow;
  unit[order[1]] = 8;
  Vec columnStep = order[0] > order[1] ? 1 : 8, rowStep = order[0] > order[1] ? Vec(perRow) : 1;
  Layout::Bases bases;
  auto &offset = bases[size_t(Dim::Register)];
  for (int64_t i = 1; i < perRow; i *= 2)
    offset.push_back(Vec(i) * columnStep);
  int64_t perChunk = 16 / elemBytes;
  for (int64_t row = 1; row < 8; row *= 2)
    offset.push_back(Vec(row) * rowStep ^ Vec(row * swizzleBytes / 128 * perChunk) * columnStep);
  std::vector<Repeat> repeats = {{order[1], shape[order[1]] / 8}, {order[0], shape[order[0]] / perRow}};
  for (size_t i = 2; i < order.size(); ++i)
    repeats.push_back({order[i], shape[order[i]]});
  return Layout::make(std::move(unit), std::move(bases), std::move(repeats));
}

} // namespace tilegym::layout
