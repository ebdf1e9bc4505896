// SPDX-License-Identifier: MIT
// Ops that make and move tiles. Where the element already lies in the right thread, only registers are renamed; else the cheapest
// conversion moves it, and shared memory in row-major order is the general way.
#include "compiler/layout/Transform.h"
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

LogicalResult lowerIota(ThreadBuilder &t, Operation *op) {
  auto iota = cast<tile::IotaOp>(op);
  const layout::Layout &layout = *t.layoutOf(iota.getType());
  Type element = t.elementType(iota.getType());
  Registers result;
  for (int64_t r = 0; r < layout.numRegisters(); ++r) {
    Value coordinate = t.coordinate(layout, iota.getAxis(), r);
    unsigned bits = element.getIntOrFloatBitWidth();
    result.push_back(bits == 32  ? coordinate
                     : bits > 32 ? Value(arith::ExtUIOp::create(t.b, t.loc, element, coordinate))
                                 : Value(arith::TruncIOp::create(t.b, t.loc, element, coordinate)));
  }
  t.set(iota, std::move(result));
  return success();
}

LogicalResult lowerSplat(ThreadBuilder &t, Operation *op) {
  auto splat = cast<tile::SplatOp>(op);
  t.set(splat, Registers(t.numRegisters(splat.getType()), t.scalar(splat.getValue())));
  return success();
}

LogicalResult lowerBroadcast(ThreadBuilder &t, Operation *op) {
  auto broadcast = cast<tile::BroadcastOp>(op);
  const layout::Layout &from = *t.layoutOf(broadcast.getValue().getType()),
                       &to = *t.layoutOf(broadcast.getType());
  const Registers &source = t.get(broadcast.getValue());
  if (layout::Expected<std::vector<int64_t>> map = layout::projectRegisters(to, from)) {
    Registers result;
    for (int64_t r : *map)
      result.push_back(source[r]);
    t.set(broadcast, std::move(result));
    return success();
  }
  if (failed(t.expectWhole(from, "a broadcast")))
    return failure();
  ArrayRef<int64_t> small = shapeOf(broadcast.getValue()), large = shapeOf(broadcast);
  int64_t elements = cast<RankedTensorType>(broadcast.getValue().getType()).getNumElements();
  // Row-major in the small tile: axes of extent 1 do not count.
  auto load = [&](int64_t r) {
    Value sum = t.i32(0);
    int64_t stride = 1;
    for (int64_t axis = small.size() - 1; axis >= 0; --axis) {
      if (small[axis] != 1 || large[axis] == 1)
        sum = t.add(sum, t.mul(t.coordinate(to, axis, r), t.i32(stride)));
      stride *= small[axis];
    }
    return sum;
  };
  t.set(broadcast, t.throughShared(
                       source, from, to.numRegisters(), elements,
                       [&](int64_t r) { return t.rowMajorIndex(from, r, small, {}); }, load));
  return success();
}

LogicalResult lowerReshape(ThreadBuilder &t, Operation *op) {
  auto reshape = cast<tile::ReshapeOp>(op);
  Value value = reshape.getValue();
  const Registers &source = t.get(value);
  auto fromType = dyn_cast<RankedTensorType>(value.getType()),
       toType = dyn_cast<RankedTensorType>(reshape.getType());
  if (!fromType) { // a scalar: every thread has it
    t.set(reshape, Registers(t.numRegisters(reshape.getType()), source[0]));
    return success();
  }
  const layout::Layout &from = *t.layoutOf(fromType);
  if (!toType) {
    // One element: whoever holds it says so to all.
    if (from.freeBits(layout::Dim::Lane) == 31 &&
        from.freeBits(layout::Dim::Warp) == layout::Vec(from.numWarps() - 1)) {
      t.set(reshape, {source[0]});
      return success();
    }
    t.set(reshape,
          t.throughShared(
              source, from, 1, 1, [&](int64_t) { return t.i32(0); }, [&](int64_t) { return t.i32(0); }));
    return success();
  }
  const layout::Layout &to = *t.layoutOf(toType);
  layout::Shape shape(toType.getShape().begin(), toType.getShape().end());
  if (layout::Expected<layout::Layout> moved = layout::reshape(from, shape)) {
    FailureOr<Registers> result = t.convert(source, *moved, to);
    if (failed(result))
      return failure();
    t.set(reshape, std::move(*result));
    return success();
  }
  if (failed(t.expectWhole(from, "a reshape")))
    return failure();
  t.set(reshape, t.throughShared(
                     source, from, to.numRegisters(), toType.getNumElements(),
                     [&](int64_t r) { return t.rowMajorIndex(from, r, fromType.getShape(), {}); },
                     [&](int64_t r) { return t.rowMajorIndex(to, r, toType.getShape(), {}); }));
  return success();
}

LogicalResult lowerPermute(ThreadBuilder &t, Operation *op) {
  auto permute = cast<tile::PermuteOp>(op);
  std::vector<int> order(permute.getOrder().begin(), permute.getOrder().end());
  layout::Expected<layout::Layout> moved =
      layout::permuteAxes(*t.layoutOf(permute.getValue().getType()), order);
  if (!moved)
    return op->emitOpError(moved.error());
  FailureOr<Registers> result = t.convert(t.get(permute.getValue()), *moved, *t.layoutOf(permute.getType()));
  if (failed(result))
    return failure();
  t.set(permute, std::move(*result));
  return success();
}

/// For each register of `to`, the register of `from` that holds, in the same thread whichever it is, the element `offsets` further on; none if some
/// thread lacks one.
std::optional<std::vector<int64_t>> matchRegisters(const layout::Layout &from, const layout::Layout &to,
                                                   ArrayRef<int64_t> offsets) {
  std::vector<int64_t> map;
  for (int64_t r = 0; r < to.numRegisters(); ++r) {
    layout::Coords coords = to.apply({r, 0, 0, 0});
    for (size_t axis = 0; axis < coords.size(); ++axis)
      coords[axis] += offsets[axis];
    std::optional<int64_t> source = from.registerInThreadZero(coords);
    if (!source)
      return std::nullopt;
    for (int64_t block = 0; block < to.numBlocks(); ++block)
      for (int64_t warp = 0; warp < to.numWarps(); ++warp)
        for (int64_t lane = 0; lane < 32; ++lane) {
          layout::Coords have = from.apply({*source, lane, warp, block}),
                         want = to.apply({r, lane, warp, block});
          for (size_t axis = 0; axis < have.size(); ++axis)
            if (have[axis] != want[axis] + offsets[axis])
              return std::nullopt;
        }
    map.push_back(*source);
  }
  return map;
}

LogicalResult lowerExtract(ThreadBuilder &t, Operation *op) {
  auto extract = cast<tile::ExtractOp>(op);
  const layout::Layout &from = *t.layoutOf(extract.getValue().getType()),
                       &to = *t.layoutOf(extract.getType());
  const Registers &source = t.get(extract.getValue());
  if (std::optional<std::vector<int64_t>> map = matchRegisters(from, to, extract.getOffsets())) {
    Registers result;
    for (int64_t r : *map)
      result.push_back(source[r]);
    t.set(extract, std::move(result));
    return success();
  }
  if (failed(t.expectWhole(from, "a part of a tile")))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(extract.getValue());
  int64_t elements = cast<RankedTensorType>(extract.getValue().getType()).getNumElements();
  t.set(extract, t.throughShared(
                     source, from, to.numRegisters(), elements,
                     [&](int64_t r) { return t.rowMajorIndex(from, r, shape, {}); },
                     [&](int64_t r) { return t.rowMajorIndex(to, r, shape, extract.getOffsets()); }));
  return success();
}

LogicalResult lowerCat(ThreadBuilder &t, Operation *op) {
  auto cat = cast<tile::CatOp>(op);
  auto type = cast<RankedTensorType>(cat.getType());
  const layout::Layout &to = *t.layoutOf(type);
  Type element = t.elementType(type);
  int64_t bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  Value base = t.acquireShared(type.getNumElements() * bytes);
  SmallVector<int64_t> offsets(type.getRank(), 0);
  for (Value value : cat.getValues()) {
    const layout::Layout &from = *t.layoutOf(value.getType());
    if (failed(t.expectWhole(from, "a concatenation")))
      return failure();
    t.ifTrue(t.isOwner(from, /*inBlock=*/true), [&] {
      for (auto [r, v] : llvm::enumerate(t.get(value)))
        if (!t.isCopy(from, r))
          t.storeShared(base, t.mul(t.rowMajorIndex(from, r, type.getShape(), offsets), t.i32(bytes)), v);
    });
    offsets[cat.getAxis()] += shapeOf(value)[cat.getAxis()];
  }
  t.publishShared();
  Registers result;
  for (int64_t r = 0; r < to.numRegisters(); ++r)
    result.push_back(
        t.loadShared(base, t.mul(t.rowMajorIndex(to, r, type.getShape(), {}), t.i32(bytes)), element, 1)
            .front());
  t.set(cat, std::move(result));
  return success();
}

/// The same bytes of shared memory, read as elements of another size.
LogicalResult lowerBitcast(ThreadBuilder &t, Operation *op) {
  auto bitcast = cast<tile::BitcastOp>(op);
  auto fromType = cast<RankedTensorType>(bitcast.getValue().getType()),
       toType = cast<RankedTensorType>(bitcast.getType());
  const layout::Layout &from = *t.layoutOf(fromType), &to = *t.layoutOf(toType);
  Type fromElement = t.elementType(fromType), toElement = t.elementType(toType);
  int64_t fromBytes = fromElement.getIntOrFloatBitWidth() / 8,
          toBytes = toElement.getIntOrFloatBitWidth() / 8;
  if (failed(t.expectWhole(from, "a bitcast to another size")))
    return failure();
  Value base = t.acquireShared(fromType.getNumElements() * fromBytes);
  t.ifTrue(t.isOwner(from, /*inBlock=*/true), [&] {
    for (auto [r, v] : llvm::enumerate(t.get(bitcast.getValue())))
      if (!t.isCopy(from, r))
        t.storeShared(base, t.mul(t.rowMajorIndex(from, r, fromType.getShape(), {}), t.i32(fromBytes)), v);
  });
  t.publishShared();
  Registers result;
  for (int64_t r = 0; r < to.numRegisters(); ++r)
    result.push_back(
        t.loadShared(base, t.mul(t.rowMajorIndex(to, r, toType.getShape(), {}), t.i32(toBytes)), toElement, 1)
            .front());
  t.set(bitcast, std::move(result));
  return success();
}

} // namespace

void addShapeHandlers(HandlerTable &table) {
  table["tile.iota"] = lowerIota;
  table["tile.splat"] = lowerSplat;
  table["tile.broadcast"] = lowerBroadcast;
  table["tile.reshape"] = lowerReshape;
  table["tile.permute"] = lowerPermute;
  table["tile.extract"] = lowerExtract;
  table["tile.cat"] = lowerCat;
  table["tile.bitcast"] = lowerBitcast;
}

} // namespace tilegym::nvidia
