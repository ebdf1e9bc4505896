// SPDX-License-Identifier: MIT
// Address arithmetic of regions. Parts that do not depend on the register are computed once; constant parts end up in the instruction.
#include "compiler/targets/nvidia/threads/Access.h"
#include "compiler/ir/VectorAccess.h"
#include "compiler/targets/nvidia/threads/GroupOffsets.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilegym::nvidia {

static std::optional<int64_t> constantValue(Value value) {
  IntegerAttr attribute;
  if (value && matchPattern(value, m_Constant(&attribute)))
    return attribute.getInt();
  return std::nullopt;
}

Access::Access(ThreadBuilder &t, tile::RegionOp op, const layout::Layout *layout)
    : t(t), op(op), layout(layout) {
  offsetType = t.kernel.getFacts() == tile::Facts::Fast ? t.b.getI32Type() : t.b.getI64Type();
  Type element = op.getBase().getType().getElementType();
  bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  regionAxes = op.getRegionAxes();
}

Value Access::narrow(Value value) {
  unsigned have = value.getType().getIntOrFloatBitWidth(), want = offsetType.getIntOrFloatBitWidth();
  if (have == want)
    return value;
  return have > want ? t.b.createOrFold<arith::TruncIOp>(t.loc, offsetType, value)
                     : t.b.createOrFold<arith::ExtSIOp>(t.loc, offsetType, value);
}

int64_t Access::regionCoordinate(int64_t axis, int64_t reg) {
  return layout && regionAxes[axis] >= 0 ? layout->apply({reg, 0, 0, 0})[regionAxes[axis]] : 0;
}

int64_t Access::indexRegister(int64_t axis, int64_t reg) {
  // The index tile lies along the region (assign-layouts), so what holds in thread 0 holds in all.
  Value tile = op.getAxis(axis).index;
  layout::Coords coords = layout->apply({reg, 0, 0, 0});
  auto first = coords.begin() + regionAxes[axis];
  int64_t rank = cast<RankedTensorType>(tile.getType()).getRank();
  return *t.layoutOf(tile.getType())->registerInThreadZero(layout::Coords(first, first + rank));
}

Access::Index Access::index(int64_t axis, int64_t reg) {
  tile::RegionAxis a = op.getAxis(axis);
  if (a.kind == tile::AxisKind::Gather)
    return {narrow(t.get(a.index)[indexRegister(axis, reg)]), 0};
  Value start = narrow(t.scalar(a.index));
  if (a.kind == tile::AxisKind::Point)
    return {start, 0};
  ThreadBuilder::SplitCoordinate split = t.splitCoordinate(*layout, regionAxes[axis], reg);
  Value dynamic = split.thread ? t.add(start, narrow(split.thread)) : start;
  return {dynamic, split.fixed};
}

Value Access::whole(Index index) {
  return index.fixed ? t.add(index.dynamic, constant(index.fixed)) : index.dynamic;
}

int64_t Access::axisKey(int64_t axis, int64_t reg) {
  return op.getAxis(axis).kind == tile::AxisKind::Gather ? reg : regionCoordinate(axis, reg);
}

Value Access::groupOffset(int64_t reg) {
  if (Value shared = sharedGroupOffset(t, op, layout, reg))
    return shared;
  // This row and the next that have none yet.
  SmallVector<Value *> parts;
  Registers rows;
  for (int64_t r = reg, n = layout ? layout->numRegisters() : 1; r < n && int64_t(rows.size()) < maxGroupRows;
       ++r) {
    auto [part, isNew] = offsets.try_emplace({0, axisKey(0, r)});
    if (!isNew && (part->second || llvm::is_contained(parts, &part->second)))
      continue;
    parts.push_back(&part->second);
    rows.push_back(whole(index(0, r)));
  }
  for (auto [part, row] : llvm::zip(parts, splitGroup(t, {op}, rows)))
    *part = row.front();
  return *parts.front();
}

Access::Address Access::address(int64_t reg) {
  int64_t fixed = 0;
  SmallVector<Value> parts;
  std::vector<int64_t> key;
  for (int64_t axis = 0; axis < op.getNumAxes(); ++axis) {
    tile::RegionAxis a = op.getAxis(axis);
    bool group = axis == 0 && op.hasGroup();
    std::optional<int64_t> stride = group ? std::nullopt : constantValue(a.stride);
    int64_t cacheKey = axisKey(axis, reg);
    if (stride && a.kind != tile::AxisKind::Gather) {
      // A constant stride: what the register adds is constant, too.
      Index i = index(axis, reg);
      fixed += i.fixed * *stride;
      cacheKey -= i.fixed;
    }
    key.push_back(cacheKey);
    Value part = offsets[{axis, cacheKey}];
    if (!part) {
      if (group)
        part = groupOffset(reg);
      else {
        // What all registers share, then what is alike in all threads.
        Index i = index(axis, reg);
        Value by = stride ? constant(*stride) : narrow(t.scalar(a.stride));
        part = t.mul(i.dynamic, by);
        if (i.fixed && !stride)
          part = t.add(part, t.mul(constant(i.fixed), by));
      }
      offsets[{axis, cacheKey}] = part;
    }
    parts.push_back(part);
  }
  Value &pointer = pointers[key];
  if (!pointer) {
    Value sum;
    for (Value part : parts)
      sum = sum ? t.add(sum, part) : part;
    pointer = t.scalar(op.getBase());
    if (sum) {
      Value wide = t.mul(
          offsetType.isInteger(32) ? t.b.createOrFold<arith::ExtSIOp>(t.loc, t.b.getI64Type(), sum) : sum,
          t.i64(bytes));
      pointer =
          LLVM::GEPOp::create(t.b, t.loc, pointer.getType(), t.b.getI8Type(), pointer, ValueRange{wide});
    }
  }
  return {pointer, fixed * bytes};
}

Value Access::inBoundsOf(int64_t axis, int64_t reg) {
  tile::RegionAxis a = op.getAxis(axis);
  if (a.check == tile::CheckNone)
    return {};
  Value &ok = checks[{axis, axisKey(axis, reg)}];
  if (!ok) {
    Value i = whole(index(axis, reg));
    if (a.check & tile::CheckLower)
      ok = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::sge, i, narrow(t.scalar(a.lower)));
    if (a.check & tile::CheckUpper)
      ok = t.conjunction(
          ok, arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::slt, i, narrow(t.scalar(a.upper))));
  }
  return ok;
}

Value Access::inBounds(int64_t reg, bool ignoreMask) {
  Value all;
  for (int64_t axis = 0; axis < op.getNumAxes(); ++axis)
    all = t.conjunction(all, inBoundsOf(axis, reg));
  if (Value mask = op.getMask(); mask && !ignoreMask) {
    const Registers &registers = t.get(mask);
    all = t.conjunction(all, registers[registers.size() == 1 ? 0 : reg]);
  }
  return all;
}

Value Access::countInBounds(int64_t reg, Value start, int64_t count) {
  int64_t last = op.getNumAxes() - 1;
  Value inside, number = t.i32(count);
  for (int64_t axis = 0; axis < last; ++axis)
    inside = t.conjunction(inside, inBoundsOf(axis, reg));
  if (tile::RegionAxis a = op.getAxis(last); a.check & tile::CheckUpper) {
    Value room = arith::SubIOp::create(t.b, t.loc, narrow(t.scalar(a.upper)), start).getResult();
    room = arith::MaxSIOp::create(t.b, t.loc, room, constant(0));
    room = arith::MinSIOp::create(t.b, t.loc, room, constant(count));
    number = offsetType.isInteger(32)
                 ? room
                 : arith::TruncIOp::create(t.b, t.loc, t.b.getI32Type(), room).getResult();
  }
  return inside ? Value(arith::SelectOp::create(t.b, t.loc, inside, number, t.i32(0))) : number;
}

Value Access::runInBounds(int64_t reg, int64_t count) {
  return countInBounds(reg, whole(index(op.getNumAxes() - 1, reg)), count);
}

Value Access::rowInBounds(int64_t reg, int64_t count) {
  return countInBounds(reg, narrow(t.scalar(op.getAxis(op.getNumAxes() - 1).index)), count);
}

std::vector<std::vector<int64_t>> Access::vectorGroups(bool maskInTheWay) {
  std::vector<std::vector<int64_t>> single;
  for (int64_t r = 0; r < layout->numRegisters(); ++r)
    single.push_back({r});
  if (maskInTheWay)
    return single;
  tile::VectorAxis vector = tile::vectorAxis(op);
  if (vector.width > 1)
    return layout->vectors(int(regionAxes[vector.axis]), vector.width).groups;
  return single;
}

} // namespace tilegym::nvidia
