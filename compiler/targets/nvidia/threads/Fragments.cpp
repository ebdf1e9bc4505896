// SPDX-License-Identifier: MIT
// Three sources of a product's operand: registers, matrices of shared memory by ldmatrix, and plain vectors of it where those do not fit.
#include "compiler/targets/nvidia/threads/Fragments.h"
#include "compiler/ir/ProductLayouts.h"
#include "compiler/layout/MatrixAccess.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/SlotAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tilegym::nvidia {

Fragments::Fragments(ThreadBuilder &t, tile::DotOp dot, int operand, layout::Layout layout)
    : t(t), value(dot->getOperand(operand)), layout(std::move(layout)), kAxis(operand == 0 ? 1 : 0) {
  elementType = t.elementType(tile::DotOp::tileOf(value));
  elementBytes = elementType.getIntOrFloatBitWidth() / 8;
}

int64_t Fragments::registerAt(int64_t major, int64_t k) const {
  return *layout.registerInThreadZero(kAxis == 1 ? layout::Coords{major, k} : layout::Coords{k, major});
}

int64_t Fragments::stepOf(int64_t reg) const { return layout.apply({.reg = reg})[kAxis] / step; }

Value Fragments::word(int64_t major, int64_t k) {
  Value &word = words[registerAt(major, k)];
  if (!word) {
    SmallVector<Value> elements;
    for (int64_t e = 0; e < 4 / elementBytes; ++e)
      elements.push_back(element(major, k + e));
    word = pack(elements);
  }
  return word;
}

Value Fragments::pack(ValueRange elements) {
  if (elements.size() == 1)
    return elements[0].getType().isInteger(32)
               ? elements[0]
               : arith::BitcastOp::create(t.b, t.loc, t.b.getI32Type(), elements[0]).getResult();
  auto type = VectorType::get(int64_t(elements.size()), elementType);
  Value vector = LLVM::PoisonOp::create(t.b, t.loc, type);
  for (auto [i, element] : llvm::enumerate(elements))
    vector = LLVM::InsertElementOp::create(t.b, t.loc, vector, element, t.i32(int64_t(i)));
  return LLVM::BitcastOp::create(t.b, t.loc, t.b.getI32Type(), vector);
}

namespace {

struct InRegisters : Fragments {
  InRegisters(ThreadBuilder &t, tile::DotOp dot, int operand, layout::Layout layout)
      : Fragments(t, dot, operand, std::move(layout)) {}
  void load(int64_t) override {}
  Value element(int64_t major, int64_t k) override { return t.get(value)[registerAt(major, k)]; }
};

/// Vectors of plain loads. Volatile for the plain cores: ptxas moves others down to the products that need them, and those wait.
struct InSlot : Fragments {
  InSlot(ThreadBuilder &t, tile::DotOp dot, int operand, layout::Layout layout, int64_t step,
         TileInSlot place)
      : Fragments(t, dot, operand, std::move(layout)), place(std::move(place)),
        isPlain(!dot.usesTensorCores()) {
    this->step = step;
  }
  void load(int64_t number) override {
    for (const std::vector<int64_t> &group : place.groups()) {
      if (stepOf(group[0]) != number)
        continue;
      Registers loaded =
          t.loadShared(place.address(group[0]), t.i32(0), elementType, int64_t(group.size()), isPlain);
      for (auto [reg, element] : llvm::zip(group, loaded))
        elements[reg] = element;
    }
  }
  Value element(int64_t major, int64_t k) override { return elements.at(registerAt(major, k)); }
  TileInSlot place;
  bool isPlain;
  std::map<int64_t, Value> elements;
};

/// Matrices of 8 rows of 16 bytes.
struct InMatrices : Fragments {
  InMatrices(ThreadBuilder &t, tile::DotOp dot, int operand, layout::Layout layout, int64_t step,
             layout::MatrixAccess matrices)
      : Fragments(t, dot, operand, std::move(layout)), matrices(std::move(matrices)),
        access(t, t.scalar(value), this->matrices.laneBits, this->matrices.warpBits, elementBytes) {
    this->step = step;
  }
  void load(int64_t number) override {
    SmallVector<Type> types(matrices.count, t.b.getI32Type());
    for (const layout::MatrixAccess::Instruction &instruction : matrices.instructions) {
      int64_t first = stepOf(instruction.words[0][0]);
      for (const std::vector<int64_t> &word : instruction.words)
        first = std::min(first, stepOf(word[0]));
      if (first != number)
        continue;
      auto loaded = ptx::LoadMatrixOp::create(t.b, t.loc, types, access.address(instruction.offset),
                                              matrices.transposed);
      for (auto [registers, word] : llvm::zip(instruction.words, loaded.getWords()))
        words[registers[0]] = word;
    }
  }
  Value word(int64_t major, int64_t k) override { return words.at(registerAt(major, k)); }
  Value element(int64_t, int64_t) override { llvm_unreachable("matrices are for whole words"); }
  layout::MatrixAccess matrices;
  SlotAccess access;
};

} // namespace

std::unique_ptr<Fragments> Fragments::make(ThreadBuilder &t, tile::DotOp dot, int operand,
                                           const layout::Layout &accumulator, int64_t step) {
  layout::Expected<layout::Layout> layout = tile::fragmentLayout(dot, operand, accumulator);
  if (!layout)
    return dot.emitOpError(layout.error()), nullptr;
  Value value = dot->getOperand(operand);
  auto shared = dyn_cast<tile::SharedType>(value.getType());
  if (!shared)
    return std::unique_ptr<Fragments>(new InRegisters(t, dot, operand, *layout));
  int64_t bytes = shared.getSlotBytes() / shared.getTile().getNumElements();
  if (dot.usesTensorCores())
    if (layout::Expected<layout::MatrixAccess> matrices =
            layout::matrixAccess(*layout, shared.getLayout(), int(bytes)))
      return std::unique_ptr<Fragments>(new InMatrices(t, dot, operand, *layout, step, *matrices));
  FailureOr<TileInSlot> place = TileInSlot::make(t, dot, *layout, value);
  if (failed(place))
    return nullptr;
  return std::unique_ptr<Fragments>(new InSlot(t, dot, operand, *layout, step, std::move(*place)));
}

} // namespace tilegym::nvidia
