// SPDX-License-Identifier: MIT
// Packs elements into 32- or 64-bit words, and takes them apart.
#include "compiler/targets/nvidia/threads/Words.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

/// `truncf(select(condition, value, 0))`
struct Kept {
  Value condition, value;
};

std::optional<Kept> keptOf(Value element) {
  auto rounded = element.getDefiningOp<arith::TruncFOp>();
  auto choice = rounded ? rounded.getIn().getDefiningOp<arith::SelectOp>() : nullptr;
  if (!choice || !choice.getType().isF32() || !matchPattern(choice.getFalseValue(), m_PosZeroFloat()))
    return std::nullopt;
  return Kept{choice.getCondition(), choice.getTrueValue()};
}

/// All ones or 0, made where the condition is, so that no predicate is held until then: a thread has seven.
Value maskOf(ThreadBuilder &t, Value condition, int64_t ones) {
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointAfterValue(condition);
  return arith::SelectOp::create(t.b, t.loc, condition, t.i32(ones), t.i32(0));
}

/// A word of two values of 16 bits that are 0 unless their conditions hold: rounded by one instruction, then masked. LLVM would round before it
/// chooses, which takes the pair apart. Null where the pair is none.
Value packKept(ThreadBuilder &t, ArrayRef<Value> pair) {
  std::optional<Kept> low = keptOf(pair[0]), high = keptOf(pair[1]);
  if (!low || !high)
    return {};
  Value vector = LLVM::PoisonOp::create(t.b, t.loc, VectorType::get(2, t.b.getF32Type()));
  vector = LLVM::InsertElementOp::create(t.b, t.loc, vector, low->value, t.i32(0));
  vector = LLVM::InsertElementOp::create(t.b, t.loc, vector, high->value, t.i32(1));
  Value rounded = arith::TruncFOp::create(t.b, t.loc, VectorType::get(2, pair[0].getType()), vector);
  Value mask = arith::OrIOp::create(t.b, t.loc, maskOf(t, low->condition, 0xffff),
                                    maskOf(t, high->condition, int32_t(0xffff0000)));
  return arith::AndIOp::create(t.b, t.loc, LLVM::BitcastOp::create(t.b, t.loc, t.b.getI32Type(), rounded),
                               mask);
}

} // namespace

Words wordsFor(ThreadBuilder &t, int64_t elementBytes, int64_t n) {
  int64_t total = elementBytes * n * 8;
  int64_t wordBits = elementBytes == 8 ? 64 : std::min<int64_t>(32, total);
  return {total / wordBits, wordBits, t.b.getIntegerType(std::max<int64_t>(16, wordBits))};
}

SmallVector<Value> pack(ThreadBuilder &t, ValueRange elements, const Words &words) {
  Type element = elements[0].getType();
  SmallVector<Value> bits;
  for (Value value : elements) {
    if (element.isInteger(1))
      value = arith::ExtUIOp::create(t.b, t.loc, t.b.getI8Type(), value);
    bits.push_back(value);
  }
  Type held = bits[0].getType();
  int64_t each = held.getIntOrFloatBitWidth();
  if (int64_t(bits.size()) == words.words) {
    SmallVector<Value> result;
    for (Value value : bits) {
      if (isa<FloatType>(held))
        value = arith::BitcastOp::create(t.b, t.loc, t.b.getIntegerType(each), value);
      result.push_back(each < 16 ? Value(arith::ExtUIOp::create(t.b, t.loc, t.b.getI16Type(), value))
                                 : value);
    }
    return result;
  }
  SmallVector<Value> result;
  size_t perWord = bits.size() / words.words;
  for (int64_t w = 0; w < words.words; ++w) {
    if (each == 16 && perWord == 2)
      if (Value kept = packKept(t, ArrayRef(bits).slice(w * perWord, perWord))) {
        result.push_back(kept);
        continue;
      }
    Value vector = LLVM::PoisonOp::create(t.b, t.loc, VectorType::get(perWord, held));
    for (size_t i = 0; i < perWord; ++i)
      vector = LLVM::InsertElementOp::create(t.b, t.loc, vector, bits[w * perWord + i], t.i32(i));
    result.push_back(LLVM::BitcastOp::create(t.b, t.loc, t.b.getIntegerType(words.wordBits), vector));
  }
  return result;
}

Registers unpack(ThreadBuilder &t, ValueRange words, Type element, int64_t n, const Words &form) {
  bool isBool = element.isInteger(1);
  Type held = isBool ? Type(t.b.getI8Type()) : element;
  int64_t each = held.getIntOrFloatBitWidth();
  Registers result;
  if (n == form.words) {
    for (Value word : words) {
      if (each < 16)
        word = arith::TruncIOp::create(t.b, t.loc, t.b.getIntegerType(each), word);
      result.push_back(isa<FloatType>(held) ? Value(arith::BitcastOp::create(t.b, t.loc, held, word)) : word);
    }
  } else {
    int64_t perWord = n / form.words;
    for (Value word : words) {
      Value vector = LLVM::BitcastOp::create(t.b, t.loc, VectorType::get(perWord, held), word);
      for (int64_t i = 0; i < perWord; ++i)
        result.push_back(LLVM::ExtractElementOp::create(t.b, t.loc, vector, t.i32(i)));
    }
  }
  if (isBool)
    for (Value &value : result)
      value =
          arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ne, value, t.constant(t.b.getI8Type(), 0));
  return result;
}

} // namespace tilegym::nvidia
