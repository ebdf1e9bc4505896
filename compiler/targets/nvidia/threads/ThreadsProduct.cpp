// SPDX-License-Identifier: MIT
// Matrix products of single warps: mma.sync on fragments of a warp, or multiply and add on the plain cores. The next step's operands are read before this one's products.
#include "compiler/layout/Shared.h"
#include "compiler/targets/nvidia/threads/Fragments.h"
#include "compiler/targets/nvidia/threads/Product.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <map>
#include <set>

using namespace mlir;

namespace tilegym::nvidia {

ptx::ElementType instructionType(Type element) {
  if (element.isF16())
    return ptx::ElementType::F16;
  if (element.isBF16())
    return ptx::ElementType::BF16;
  if (element.isF32())
    return ptx::ElementType::TF32;
  if (isa<Float8E4M3FNType>(element))
    return ptx::ElementType::E4M3;
  if (isa<Float8E5M2Type>(element))
    return ptx::ElementType::E5M2;
  return ptx::ElementType::S8;
}

Value roundToTf32(ThreadBuilder &t, Value bits) {
  Value odd =
      arith::AndIOp::create(t.b, t.loc, arith::ShRUIOp::create(t.b, t.loc, bits, t.i32(13)), t.i32(1));
  Value rounded = t.add(t.add(bits, t.i32(0xFFF)), odd);
  Value exponent = arith::AndIOp::create(t.b, t.loc, bits, t.i32(0x7F800000));
  Value finite = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ne, exponent, t.i32(0x7F800000));
  Value word = arith::SelectOp::create(t.b, t.loc, finite, rounded, bits);
  return arith::AndIOp::create(t.b, t.loc, word, t.i32(~int64_t(0x1FFF)));
}

/// In three operations, as splitting takes longer than the products otherwise. To the nearest, ties up: cut, every rest would have its number's sign, and what is left out, the rests'
/// products, would add up. Of infinity and NaN the rest is NaN, whatever the high half became.
Halves splitForTf32(ThreadBuilder &t, Value bits) {
  auto real = [&](Value x) { return arith::BitcastOp::create(t.b, t.loc, t.b.getF32Type(), x); };
  Value high = arith::AndIOp::create(t.b, t.loc, t.add(bits, t.i32(0x1000)), t.i32(~int64_t(0x1FFF)));
  Value rest = arith::SubFOp::create(t.b, t.loc, real(bits), real(high));
  return {high, arith::BitcastOp::create(t.b, t.loc, t.b.getI32Type(), rest)};
}

namespace {

class TensorProduct {
public:
  TensorProduct(ThreadBuilder &t, tile::DotOp dot) : t(t), dot(dot), layout(*t.layoutOf(dot.getType())) {
    type = instructionType(dot.getAType().getElementType());
    otherType = instructionType(dot.getBType().getElementType());
    word = 32 / dot.getAType().getElementTypeBitWidth();
  }

  LogicalResult run() {
    int64_t step = 8 * word;
    std::unique_ptr<Fragments> a = Fragments::make(t, dot, 0, layout, step),
                               b = Fragments::make(t, dot, 1, layout, step);
    if (!a || !b)
      return failure();
    Registers sums = t.get(dot.getAccumulator());
    int64_t steps = dot.getAType().getDimSize(1) / step;
    a->load(0);
    b->load(0);
    for (int64_t s = 0; s < steps; ++s) {
      if (s + 1 < steps) {
        a->load(s + 1);
        b->load(s + 1);
      }
      multiply(*a, *b, s * step, sums);
    }
    t.set(dot, std::move(sums));
    return success();
  }

private:
  Halves halves(Fragments &operand, int64_t major, int64_t k) {
    Value bits = operand.word(major, k);
    if (dot.getPrecision() != tile::Precision::TF32 && dot.getPrecision() != tile::Precision::TF32x3)
      return {bits, {}};
    Halves &made = rounded[bits];
    if (!made.high)
      made = dot.getPrecision() == tile::Precision::TF32 ? Halves{roundToTf32(t, bits), {}}
                                                         : splitForTf32(t, bits);
    return made;
  }

  /// Of tf32x3 the small products first, each kind of all sums: one that adds to the result of another waits for it.
  void multiply(Fragments &a, Fragments &b, int64_t k, Registers &sums) {
    if (dot.getPrecision() == tile::Precision::TF32x3) {
      multiply(a, b, k, sums, /*lowA=*/true, /*lowB=*/false);
      multiply(a, b, k, sums, /*lowA=*/false, /*lowB=*/true);
    }
    multiply(a, b, k, sums, /*lowA=*/false, /*lowB=*/false);
  }

  void multiply(Fragments &a, Fragments &b, int64_t k, Registers &sums, bool lowA, bool lowB) {
    for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
      layout::Coords at = layout.apply({.reg = reg});
      auto sumAt = [&](int64_t row, int64_t column) {
        return *layout.registerInThreadZero({at[0] + row, at[1] + column});
      };
      if (at[0] % 16 || at[1] % 8)
        continue;
      auto wordOf = [&](Fragments &operand, int64_t major, int64_t at, bool low) {
        Halves both = halves(operand, major, at);
        return low ? both.low : both.high;
      };
      SmallVector<Value> aw, bw, c;
      for (int i = 0; i < 4; ++i)
        aw.push_back(wordOf(a, at[0] + 8 * (i & 1), k + 4 * word * (i >> 1), lowA));
      for (int i = 0; i < 2; ++i)
        bw.push_back(wordOf(b, at[1], k + 4 * word * i, lowB));
      int64_t places[] = {sumAt(0, 0), sumAt(0, 1), sumAt(8, 0), sumAt(8, 1)};
      for (int64_t place : places)
        c.push_back(sums[place]);
      bool integers = type == ptx::ElementType::S8;
      auto product = ptx::MmaOp::create(
          t.b, t.loc, SmallVector<Type>(4, c[0].getType()), uint64_t(8 * word), type, aw, otherType, bw,
          integers ? ptx::ElementType::S32 : ptx::ElementType::F32, c, /*saturate=*/false);
      for (auto [place, sum] : llvm::zip(places, product.getResults()))
        sums[place] = sum;
    }
  }

  ThreadBuilder &t;
  tile::DotOp dot;
  const layout::Layout &layout;
  ptx::ElementType type, otherType;
  int64_t word; ///< elements of a 32-bit word
  DenseMap<Value, Halves> rounded;
};

/// An operand's element in the type that is added up in.
Value widened(ThreadBuilder &t, Value element, Type type) {
  if (element.getType() == type)
    return element;
  if (type.isInteger())
    return arith::ExtSIOp::create(t.b, t.loc, type, element);
  return arith::ExtFOp::create(t.b, t.loc, type, element);
}

/// The registers of a result: column after column, the even rows of one and then the odd ones, in the next back again (or the other way round, where a thread has more rows). Each product
/// but few reads one factor that the one before it read; ptxas then finds registers for the other two in different banks, of which a product waits for neither.
std::vector<int64_t> boustrophedon(const layout::Layout &layout) {
  std::set<int64_t> coordinates[2];
  std::map<std::pair<int64_t, int64_t>, int64_t> registers;
  for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
    layout::Coords at = layout.apply({.reg = reg});
    for (int axis : {0, 1})
      coordinates[axis].insert(at[axis]);
    registers[{at[0], at[1]}] = reg;
  }
  int outer = coordinates[1].size() >= coordinates[0].size();
  std::vector<int64_t> inner(coordinates[1 - outer].begin(), coordinates[1 - outer].end()), order;
  std::stable_partition(inner.begin(), inner.end(), [](int64_t at) { return at % 2 == 0; });
  for (int64_t slow : coordinates[outer]) {
    for (int64_t fast : inner)
      order.push_back(registers.at(outer ? std::pair(fast, slow) : std::pair(slow, fast)));
    std::reverse(inner.begin(), inner.end());
  }
  return order;
}

/// How much of K an operand's vectors take.
int64_t stepAlong(tile::DotOp dot, int operand) {
  RankedTensorType type = operand == 0 ? dot.getAType() : dot.getBType();
  int64_t most = std::min<int64_t>(layout::powerOfTwoPart(dot.getAType().getDimSize(1)),
                                   16 / (type.getElementTypeBitWidth() / 8));
  auto slot = dyn_cast<tile::SharedType>(dot->getOperand(unsigned(operand)).getType());
  return slot ? layout::contiguousRun(slot.getLayout(), 1 - operand, most) : most;
}

LogicalResult plainProduct(ThreadBuilder &t, tile::DotOp dot) {
  const layout::Layout &layout = *t.layoutOf(dot.getType());
  int64_t depth = dot.getAType().getDimSize(1), step = std::max(stepAlong(dot, 0), stepAlong(dot, 1));
  std::unique_ptr<Fragments> a = Fragments::make(t, dot, 0, layout, step),
                             b = Fragments::make(t, dot, 1, layout, step);
  if (!a || !b)
    return failure();
  Registers sums = t.get(dot.getAccumulator());
  Type type = sums[0].getType();
  std::vector<int64_t> order = boustrophedon(layout);
  a->load(0);
  b->load(0);
  for (int64_t k = 0; k < depth; ++k) {
    if (k % step == 0 && k + step < depth) {
      a->load(k / step + 1);
      b->load(k / step + 1);
    }
    for (int64_t reg : order) {
      layout::Coords at = layout.apply({.reg = reg});
      Value x = widened(t, a->element(at[0], k), type), y = widened(t, b->element(at[1], k), type);
      Value &sum = sums[size_t(reg)];
      sum =
          isa<FloatType>(type) ? Value(math::FmaOp::create(t.b, t.loc, x, y, sum)) : t.add(sum, t.mul(x, y));
    }
  }
  t.set(dot, std::move(sums));
  return success();
}

/// Of neighbouring vectors each thread takes one in turn, wherever in the tile they are. Instructions cut the rest, too, by half a unit of its last bit on the average: it is made as much
/// larger.
LogicalResult lowerPutRest(ThreadBuilder &t, Operation *op) {
  auto put = cast<tile::PutRestOp>(op);
  constexpr int64_t vector = 4, vectorBytes = 16;
  int64_t threads = put->getParentOfType<tile::KernelOp>().getWarps() * 32;
  int64_t all = put.getSlot().getType().getSlotBytes() / vectorBytes;
  Value thread = t.threadId();
  Value onAverage = arith::ConstantOp::create(t.b, t.loc, t.b.getF32FloatAttr(1.0f + 0x1p-12f));
  for (int64_t first = 0; first < all; first += threads) {
    Value offset = t.mul(t.add(thread, t.i32(first)), t.i32(vectorBytes));
    auto move = [&] {
      Registers rests;
      for (Value whole : t.loadShared(t.scalar(put.getFrom()), offset, t.b.getF32Type(), vector)) {
        Value bits = arith::BitcastOp::create(t.b, t.loc, t.b.getI32Type(), whole);
        Value high = arith::AndIOp::create(t.b, t.loc, bits, t.i32(~int64_t(0x1FFF)));
        Value rest = arith::SubFOp::create(t.b, t.loc, whole,
                                           arith::BitcastOp::create(t.b, t.loc, t.b.getF32Type(), high));
        rests.push_back(arith::MulFOp::create(t.b, t.loc, rest, onAverage));
      }
      t.storeShared(t.scalar(put.getSlot()), offset, rests);
    };
    Value inside = first + threads <= all ? Value()
                                          : arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ult,
                                                                  thread, t.i32(all - first));
    t.ifTrue(inside, move);
  }
  return success();
}

LogicalResult lowerDot(ThreadBuilder &t, Operation *op) {
  auto dot = cast<tile::DotOp>(op);
  if (dot.getWarpgroups())
    return lowerWarpgroupDot(t, dot);
  return dot.usesTensorCores() ? TensorProduct(t, dot).run() : plainProduct(t, dot);
}

} // namespace

void addProductHandlers(HandlerTable &table) {
  table["tile.dot"] = lowerDot;
  table["tile.dot_wait"] = lowerDotWait;
  table["tile.put_rest"] = lowerPutRest;
}

} // namespace tilegym::nvidia
