// SPDX-License-Identifier: MIT
// A loop over the dims there are, from the innermost: each turn divides once, and rows beyond the first multiply by the reciprocal.
#include "compiler/targets/nvidia/threads/GroupOffsets.h"
#include "compiler/ir/VectorAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>

using namespace mlir;

namespace tilegym::nvidia {
namespace {

/// `values[dim]`, dim >= 1 known at run time alone, alike in all threads: parameters cannot be indexed.
Value pick(ThreadBuilder &t, Value dim, int64_t count, llvm::function_ref<Value(int64_t)> values) {
  Value result = t.scalar(values(1));
  for (int64_t k = 2; k < count; ++k) {
    Value here = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, dim, t.i32(k));
    result = arith::SelectOp::create(t.b, t.loc, here, t.scalar(values(k)), result);
  }
  return result;
}

struct Split {
  Value quotient, digit;
};

Split divide(ThreadBuilder &t, Value n, Value divisor) {
  Value quotient = arith::DivUIOp::create(t.b, t.loc, n, divisor);
  return {quotient, arith::SubIOp::create(t.b, t.loc, n, t.mul(quotient, divisor))};
}

/// With m = floor((2^64 - 1) / d), the upper half of n * m is floor(n / d) or one less, for every n.
Split divideByReciprocal(ThreadBuilder &t, Value n, Value divisor, Value reciprocal) {
  Value quotient = arith::MulUIExtendedOp::create(t.b, t.loc, n, reciprocal).getHigh();
  Value digit = arith::SubIOp::create(t.b, t.loc, n, t.mul(quotient, divisor));
  Value more = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::uge, digit, divisor);
  Value less = arith::SubIOp::create(t.b, t.loc, digit, divisor);
  return {t.add(quotient, arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), more)),
          arith::SelectOp::create(t.b, t.loc, more, less, digit)};
}

/// Which bits of lane, warp and block move along the axis: layouts of several tiles agree in this where rows are the same.
std::vector<int64_t> threadMasks(const layout::Layout &layout, int64_t axis) {
  std::vector<int64_t> masks;
  for (layout::Dim dim : {layout::Dim::Lane, layout::Dim::Warp, layout::Dim::Block})
    for (layout::Vec base : layout.bases(dim))
      masks.push_back(layout.unitCoords(base)[axis]);
  return masks;
}

/// A row that a thread holds: `coordinate` of thread 0, moved by the thread's bits.
struct Row {
  const layout::Layout *layout = nullptr; ///< null: a point
  int64_t reg = 0;
};

/// The accesses that one splitting can serve, and their rows by the coordinate of thread 0.
struct Family {
  SmallVector<tile::RegionOp> tensors; ///< one for each tensor
  std::map<int64_t, Row> rows;
};

const layout::Layout *layoutOf(ThreadBuilder &t, tile::RegionOp op) {
  Value tile = tile::accessedTile(op);
  return tile && op.getAxis(0).kind == tile::AxisKind::Span ? t.layoutOf(tile.getType()) : nullptr;
}

std::vector<int64_t> masksOf(const layout::Layout *layout) {
  return layout ? threadMasks(*layout, 0) : std::vector<int64_t>();
}

int64_t coordinateOf(const layout::Layout *layout, int64_t reg) {
  return layout ? layout->apply({reg, 0, 0, 0})[0] : 0;
}

Family familyOf(ThreadBuilder &t, tile::RegionOp op, ArrayRef<int64_t> masks) {
  Family family;
  llvm::SmallPtrSet<void *, 4> known;
  // In the order of the program, which the order of uses is not.
  t.kernel.walk([&](tile::RegionOp other) {
    if (!other.hasGroup() || other.getGroupRank() != op.getGroupRank() ||
        other.getAxis(0).index != op.getAxis(0).index)
      return;
    const layout::Layout *layout = layoutOf(t, other);
    if (ArrayRef(masksOf(layout)) != masks)
      return;
    if (known.insert(other.getBase().getAsOpaquePointer()).second)
      family.tensors.push_back(other);
    for (int64_t reg = 0, n = layout ? layout->numRegisters() : 1; reg < n; ++reg)
      family.rows.try_emplace(coordinateOf(layout, reg), Row{layout, reg});
  });
  return family;
}

Value rowIndex(ThreadBuilder &t, Value start, const Row &row) {
  if (!row.layout)
    return start;
  return t.add(start,
               arith::ExtSIOp::create(t.b, t.loc, t.b.getI64Type(), t.coordinate(*row.layout, 0, row.reg)));
}

} // namespace

SmallVector<Registers> splitGroup(ThreadBuilder &t, ArrayRef<tile::RegionOp> tensors, ValueRange rows) {
  tile::RegionOp first = tensors.front();
  int64_t dims = first.getMaxGroupRank();
  size_t stride =
      1 + tensors.size(); // loop-carried: for each row what is left of it, then its offset in each tensor
  SmallVector<Value> carried;
  for (Value row : rows) {
    carried.push_back(row);
    carried.append(tensors.size(), t.i64(0));
  }
  if (dims > 1) {
    Value rank = arith::TruncIOp::create(t.b, t.loc, t.b.getI32Type(), t.scalar(first.getGroupRank()));
    auto loop = scf::ForOp::create(t.b, t.loc, t.i32(1), rank, t.i32(1), carried);
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointToStart(loop.getBody());
    Value dim = arith::SubIOp::create(t.b, t.loc, rank, loop.getInductionVar());
    Value extent = pick(t, dim, dims, [&](int64_t k) { return first.getGroupExtent(k); });
    Registers strides;
    for (tile::RegionOp tensor : tensors)
      strides.push_back(pick(t, dim, dims, [&](int64_t k) { return tensor.getGroupStride(k); }));
    Value reciprocal;
    if (rows.size() > 1)
      reciprocal = arith::DivUIOp::create(t.b, t.loc, t.i64(-1), extent);
    SmallVector<Value> next(loop.getRegionIterArgs());
    for (size_t at = 0; at < next.size(); at += stride) {
      Split split =
          reciprocal ? divideByReciprocal(t, next[at], extent, reciprocal) : divide(t, next[at], extent);
      next[at] = split.quotient;
      for (auto [i, s] : llvm::enumerate(strides))
        next[at + 1 + i] = t.add(next[at + 1 + i], t.mul(split.digit, s));
    }
    scf::YieldOp::create(t.b, t.loc, next);
    carried.assign(loop.result_begin(), loop.result_end());
  }
  SmallVector<Registers> offsets;
  for (size_t at = 0; at < carried.size(); at += stride) {
    Registers &row = offsets.emplace_back();
    for (size_t i = 0; i < tensors.size(); ++i) {
      tile::RegionOp tensor = tensors[i];
      row.push_back(t.add(carried[at + 1 + i], t.mul(carried[at], t.scalar(tensor.getGroupStride(0)))));
    }
  }
  return offsets;
}

Value sharedGroupOffset(ThreadBuilder &t, tile::RegionOp op, const layout::Layout *layout, int64_t reg) {
  tile::RegionAxis axis = op.getAxis(0);
  if (axis.kind == tile::AxisKind::Gather)
    return {};
  layout = layoutOf(t, op);
  std::vector<int64_t> masks = masksOf(layout);
  auto keyOf = [&](tile::RegionOp tensor, int64_t coordinate) {
    return ThreadBuilder::GroupKey(tensor.getBase().getAsOpaquePointer(), axis.index.getAsOpaquePointer(),
                                   masks, coordinate);
  };
  auto key = keyOf(op, coordinateOf(layout, reg));
  if (auto found = t.groupOffsets.find(key); found != t.groupOffsets.end())
    return found->second;
  Value start = t.scalar(axis.index);
  Operation *made = start.getDefiningOp();
  Family family = familyOf(t, op, masks);
  if (!made || int64_t(family.rows.size()) > maxGroupRows)
    return {};
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointAfter(made);
  if (!start.getType().isInteger(64))
    start = arith::ExtSIOp::create(t.b, t.loc, t.b.getI64Type(), start);
  SmallVector<Value> rows;
  for (auto &[coordinate, row] : family.rows)
    rows.push_back(rowIndex(t, start, row));
  SmallVector<Registers> offsets = splitGroup(t, family.tensors, rows);
  for (auto [row, offset] : llvm::zip(family.rows, offsets))
    for (auto [tensor, value] : llvm::zip(family.tensors, offset))
      t.groupOffsets[keyOf(tensor, row.first)] = value;
  return t.groupOffsets.at(key);
}

} // namespace tilegym::nvidia
