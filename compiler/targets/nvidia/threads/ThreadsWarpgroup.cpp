// SPDX-License-Identifier: MIT
// Matrix products by wgmma: four warps issue instructions of 64 rows that read their operands themselves. All of a product are one group, which is waited
// for at its end or by a tile.dot_wait; sums of 8-bit floats leave the tensor core every 128 of K unless they may lose bits there, one part beside the next
// one's product where registers allow.
#include "compiler/ir/ProductLayouts.h"
#include "compiler/layout/Transform.h"
#include "compiler/targets/nvidia/threads/Fragments.h"
#include "compiler/targets/nvidia/threads/Product.h"
#include "compiler/targets/nvidia/threads/SlotMatrix.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

constexpr int64_t stepBytes = 32; ///< of K an instruction

Registers waitFor(ThreadBuilder &t, int64_t pending, const Registers &values) {
  SmallVector<Type> types = llvm::map_to_vector(values, [](Value v) { return v.getType(); });
  return Registers(ptx::WgmmaWaitOp::create(t.b, t.loc, types, uint64_t(pending), values).getResults());
}

class WarpgroupProduct {
public:
  WarpgroupProduct(ThreadBuilder &t, tile::DotOp dot)
      : t(t), dot(dot), layout(*t.layoutOf(dot.getType())), sums(t.get(dot.getAccumulator())) {
    if (tile::isMadeTransposed(dot)) {
      std::swap(aOperand, bOperand);
      layout = tile::rowsOfInstructions(layout);
    }
    type = instructionType(tile::DotOp::tileOf(dot->getOperand(aOperand)).getElementType());
    bType = instructionType(tile::DotOp::tileOf(dot->getOperand(bOperand)).getElementType());
    step = 8 * stepBytes / dot.getAType().getElementTypeBitWidth();
    depth = dot.getAType().getDimSize(1);
    columns = tile::warpgroupShape(dot)->columns;
  }

  LogicalResult run() {
    FailureOr<SlotMatrix> slot = SlotMatrix::make(t, dot, bOperand, *t.layoutOf(dot.getType()));
    if (failed(slot))
      return failure();
    b.emplace(std::move(*slot));
    if (Value rest = dot.getRest()) {
      FailureOr<SlotMatrix> other = SlotMatrix::make(t, dot, bOperand, *t.layoutOf(dot.getType()), rest);
      if (failed(other))
        return failure();
      bRest.emplace(std::move(*other));
    }
    if (failed(findA()))
      return failure();
    if (std::optional<tile::PromotedParts> parts = tile::promotedParts(dot); !parts)
      addInPlace();
    else if (parts->inPairs)
      addInPairs(parts->columns);
    else
      addPromoted(parts->columns);
    t.set(dot, std::move(sums));
    return success();
  }

private:
  /// What one instruction adds to: rows and columns of thread 0's first element, as if it were in the first group.
  struct Piece {
    int64_t row, column;
  };

  LogicalResult findA() {
    bool inSlot = isa<tile::SharedType>(dot->getOperand(aOperand).getType());
    if (inSlot && aOperand == 0 && !bRest) {
      FailureOr<SlotMatrix> slot = SlotMatrix::make(t, dot, 0, layout);
      if (failed(slot))
        return failure();
      a.emplace(std::move(*slot));
      return success();
    }
    std::unique_ptr<Fragments> fragments =
        Fragments::make(t, dot, aOperand, *t.layoutOf(dot.getType()), step);
    if (!fragments)
      return failure();
    // Rounding what comes from a slot would take longer than the product, which cuts the other operand anyway.
    bool rounds = dot.getPrecision() == tile::Precision::TF32 && !inSlot;
    for (int64_t k = 0; k < depth; k += step) {
      fragments->load(k / step);
      for (int64_t row : rows())
        for (int i = 0; i < 4; ++i) {
          int64_t major = row + 8 * (i & 1);
          Value word =
              fragments->word(aOperand == 1 ? tile::columnOfRow(major) : major, k + step / 2 * (i >> 1));
          Halves both{word, {}};
          if (bRest)
            both = splitForTf32(t, word);
          aWords.push_back(rounds ? roundToTf32(t, word) : both.high);
          if (bRest)
            aRests.push_back(both.low);
        }
    }
    aWords.append(aRests);
    return success();
  }

  /// Of thread 0, where an instruction's 64 begin.
  SmallVector<int64_t> rows() const {
    SmallVector<int64_t> found;
    for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
      if (layout::Coords at = layout.apply({.reg = reg});
          at[0] % 64 == 0 && !llvm::is_contained(found, at[0]))
        found.push_back(at[0]);
    return found;
  }

  SmallVector<Piece> pieces(int64_t width) const {
    SmallVector<Piece> found;
    for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
      if (layout::Coords at = layout.apply({.reg = reg}); at[0] % 64 == 0 && at[1] % width == 0)
        found.push_back({at[0], at[1]});
    return found;
  }

  /// Where a piece's sums are among the result's registers, in the order of the instruction's.
  SmallVector<int64_t> places(Piece piece, int64_t width) const {
    SmallVector<int64_t> found;
    for (int64_t r = 0; r < width / 2; ++r)
      found.push_back(*layout.registerInThreadZero(
          {piece.row + 8 * (r >> 1 & 1), piece.column + 8 * (r >> 2) + (r & 1)}));
    return found;
  }

  /// The words of A are taken from here: whatever made them is complete.
  void fence(Registers &accumulators) {
    SmallVector<Value> values(accumulators);
    values.append(aWords);
    SmallVector<Type> types = llvm::map_to_vector(values, [](Value v) { return v.getType(); });
    ValueRange fenced = ptx::WgmmaFenceOp::create(t.b, t.loc, types, values).getResults();
    accumulators.assign(fenced.begin(), fenced.begin() + accumulators.size());
    aWords.assign(fenced.begin() + accumulators.size(), fenced.end());
  }

  /// Issues one instruction. `fresh`: its sums replace the accumulators.
  Registers multiply(Piece piece, int64_t width, int64_t k, const Registers &accumulators, bool fresh,
                     bool restOfA = false, bool restOfB = false) {
    SmallVector<Value> aOperands;
    if (a) {
      aOperands.push_back(a->at(piece.row, k));
    } else {
      SmallVector<int64_t> all = rows();
      int64_t number = k / step * int64_t(all.size()) + (llvm::find(all, piece.row) - all.begin());
      size_t first = restOfA ? aWords.size() / 2 : 0; // behind all others
      llvm::append_range(aOperands, ArrayRef(aWords).slice(first + size_t(number) * 4, 4));
    }
    bool integers = type == ptx::ElementType::S8;
    auto product = ptx::WgmmaOp::create(
        t.b, t.loc, SmallVector<Type>(accumulators.size(), accumulators[0].getType()), uint64_t(width), type,
        aOperands, bType, (restOfB ? bRest : b)->at(piece.column, k),
        integers ? ptx::ElementType::S32 : ptx::ElementType::F32, accumulators,
        fresh ? t.boolean(false) : Value(), a && a->isTransposed(), b->isTransposed(),
        /*negateA=*/false, /*negateB=*/false, /*saturate=*/false);
    return Registers(product.getResults());
  }

  Registers finish(const Registers &issued) {
    ptx::WgmmaCommitOp::create(t.b, t.loc);
    return waitFor(t, 0, issued);
  }

  /// Whether a loop brings it from the trip before while its product goes on.
  static bool isInFlight(Value sum) {
    auto argument = dyn_cast<BlockArgument>(sum);
    auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
    if (!loop || argument == loop.getInductionVar())
      return false;
    auto made = loop.getTiedLoopYieldedValue(argument)->get().getDefiningOp<tile::DotOp>();
    return made && made.getInFlight();
  }

  void addInPlace() {
    // From zero on, the first step replaces. What is in flight cannot pass through the fence; it was not written since the last product.
    Value start = dot.getAccumulator();
    bool fresh = matchPattern(start, m_PosZeroFloat()) || matchPattern(start, m_Zero());
    if (fresh)
      sums.assign(sums.size(), LLVM::PoisonOp::create(t.b, t.loc, sums[0].getType()));
    Registers nothing;
    fence(fresh || isInFlight(start) ? nothing : sums);
    for (int64_t k = 0; k < depth; k += step)
      for (Piece piece : pieces(columns)) {
        SmallVector<int64_t> at = places(piece, columns);
        Registers own = llvm::map_to_vector(at, [&](int64_t place) { return sums[place]; });
        bool first = fresh && k == 0;
        if (bRest) {
          own = multiply(piece, columns, k, own, first, /*restOfA=*/true);
          own = multiply(piece, columns, k, own, /*fresh=*/false, /*restOfA=*/false, /*restOfB=*/true);
        }
        for (auto [place, sum] : llvm::zip(at, multiply(piece, columns, k, own, first && !bRest)))
          sums[place] = sum;
      }
    if (dot.getInFlight())
      ptx::WgmmaCommitOp::create(t.b, t.loc);
    else
      sums = finish(sums);
  }

  /// Issues one part from that step of K on, as a group; what it replaces are the accumulators.
  Registers issuePart(Piece piece, int64_t width, int64_t from, Registers accumulators) {
    Registers nothing;
    fence(nothing);
    for (int64_t k = from; k < std::min(depth, from + tile::PromotedParts::depth); k += step)
      accumulators = multiply(piece, width, k, accumulators, /*fresh=*/k == from);
    ptx::WgmmaCommitOp::create(t.b, t.loc);
    return accumulators;
  }

  void addPart(Piece piece, int64_t width, const Registers &part) {
    for (auto [place, sum] : llvm::zip(places(piece, width), part))
      sums[place] = arith::AddFOp::create(t.b, t.loc, sums[place], sum);
  }

  /// Piece by piece, so that few registers hold what is not added yet.
  void addPromoted(int64_t width) {
    Registers none(size_t(width / 2), LLVM::PoisonOp::create(t.b, t.loc, sums[0].getType()));
    for (int64_t from = 0; from < depth; from += tile::PromotedParts::depth)
      for (Piece piece : pieces(width))
        addPart(piece, width, waitFor(t, 0, issuePart(piece, width, from, none)));
  }

  /// The same with registers for two pieces: one is added while the next is multiplied, in the registers of the one before. They are named, or ptxas takes others for each piece.
  void addInPairs(int64_t width) {
    Registers last, free(size_t(width / 2), LLVM::PoisonOp::create(t.b, t.loc, sums[0].getType()));
    Piece before{};
    for (int64_t from = 0; from < depth; from += tile::PromotedParts::depth)
      for (Piece piece : pieces(width)) {
        Registers part = issuePart(piece, width, from, free);
        if (!last.empty()) {
          free = waitFor(t, 1, last);
          addPart(before, width, free);
        }
        last = part;
        before = piece;
      }
    addPart(before, width, waitFor(t, 0, last));
  }

  ThreadBuilder &t;
  tile::DotOp dot;
  int aOperand = 0, bOperand = 1; ///< of the dot, by their roles in the instruction
  layout::Layout layout;          ///< of what the instructions make
  Registers sums;
  ptx::ElementType type, bType;
  int64_t step, depth, columns;
  std::optional<SlotMatrix> a, b; ///< A: or in registers
  std::optional<SlotMatrix> bRest;
  SmallVector<Value> aWords,
      aRests; ///< four for each 64 rows, step by step; words have the rests behind them
};

} // namespace

LogicalResult lowerWarpgroupDot(ThreadBuilder &t, tile::DotOp dot) { return WarpgroupProduct(t, dot).run(); }

LogicalResult lowerDotWait(ThreadBuilder &t, Operation *op) {
  auto wait = cast<tile::DotWaitOp>(op);
  Registers all;
  for (Value value : wait.getValues())
    llvm::append_range(all, t.get(value));
  ArrayRef<Value> left = all = waitFor(t, wait.getPending(), all);
  for (Value result : wait.getResults()) {
    size_t own = size_t(t.numRegisters(result.getType()));
    t.set(result, Registers(left.take_front(own)));
    left = left.drop_front(own);
  }
  return success();
}

} // namespace tilegym::nvidia
