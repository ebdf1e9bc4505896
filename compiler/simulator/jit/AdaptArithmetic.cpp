// SPDX-License-Identifier: MIT
// Where a host's arithmetic differs from a GPU's, or LLVM's from both.
#include "compiler/simulator/jit/Semantics.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace tilegym::sim {
namespace {

class Adapter {
public:
  explicit Adapter(Function &function) : b(function.getContext()), module(*function.getParent()) {
    flushes = function.hasFnAttribute("tilegym-ftz");
    for (Instruction &i : instructions(function))
      all.push_back(&i);
  }

  void run() {
    for (Instruction *i : all) {
      // Leave to reorder or contract would give results of its own here.
      if (isa<FPMathOperator>(i))
        i->setFastMathFlags(FastMathFlags());
      b.SetInsertPoint(i);
      if (auto *intrinsic = dyn_cast<IntrinsicInst>(i)) {
        if (Instruction *changed = adaptIntrinsic(intrinsic))
          flush(changed);
        continue;
      }
      switch (i->getOpcode()) {
      case Instruction::SDiv:
      case Instruction::SRem:
      case Instruction::UDiv:
      case Instruction::URem:
        guardDivision(i);
        break;
      case Instruction::FPToSI:
        convertToInteger(i, true);
        break;
      case Instruction::FPToUI:
        convertToInteger(i, false);
        break;
      case Instruction::FAdd:
      case Instruction::FSub:
      case Instruction::FMul:
      case Instruction::FDiv:
      case Instruction::FCmp:
        flush(i);
        break;
      default:
        break;
      }
    }
  }

private:
  void replace(Instruction *old, Value *value) {
    old->replaceAllUsesWith(value);
    old->eraseFromParent();
  }

  /// The instruction that stands there now, if it is one that flushes.
  Instruction *adaptIntrinsic(IntrinsicInst *i) {
    switch (i->getIntrinsicID()) {
    case Intrinsic::maxnum:
    case Intrinsic::minnum: {
      // PTX orders the zeros; LLVM's word for it is another.
      Intrinsic::ID id =
          i->getIntrinsicID() == Intrinsic::maxnum ? Intrinsic::maximumnum : Intrinsic::minimumnum;
      auto *ordered =
          cast<Instruction>(b.CreateBinaryIntrinsic(id, i->getArgOperand(0), i->getArgOperand(1)));
      replace(i, ordered);
      return ordered;
    }
    case Intrinsic::fma: {
      Type *type = i->getType();
      if (!type->isHalfTy() && !type->isBFloatTy())
        return i;
      // Through f32, as LLVM would do it, it would be rounded twice.
      Type *bits = b.getInt16Ty();
      SmallVector<Value *> operands;
      for (Value *operand : i->args())
        operands.push_back(b.CreateBitCast(operand, bits));
      FunctionCallee callee = module.getOrInsertFunction(
          type->isHalfTy() ? "tgsim_fma_f16" : "tgsim_fma_bf16", bits, bits, bits, bits);
      replace(i, b.CreateBitCast(b.CreateCall(callee, operands), type));
      return nullptr;
    }
    case Intrinsic::maximum:
    case Intrinsic::minimum:
    case Intrinsic::sqrt:
      return i;
    default:
      return nullptr;
    }
  }

  /// On a GPU it gives some number, which guarded code throws away; here it would end the process.
  void guardDivision(Instruction *i) {
    Value *divisor = i->getOperand(1);
    bool isSigned = i->getOpcode() == Instruction::SDiv || i->getOpcode() == Instruction::SRem;
    if (auto *constant = dyn_cast<ConstantInt>(divisor);
        constant && !constant->isZero() && !constant->isMinusOne())
      return;
    Type *type = divisor->getType();
    Value *bad = b.CreateICmpEQ(divisor, ConstantInt::get(type, 0));
    if (isSigned) {
      Value *overflows = b.CreateAnd(
          b.CreateICmpEQ(divisor, ConstantInt::getAllOnesValue(type)),
          b.CreateICmpEQ(i->getOperand(0),
                         ConstantInt::get(type, APInt::getSignedMinValue(type->getIntegerBitWidth()))));
      bad = b.CreateOr(bad, overflows);
    }
    i->setOperand(1, b.CreateSelect(bad, ConstantInt::get(type, 1), divisor));
  }

  void convertToInteger(Instruction *i, bool isSigned) {
    if (i->getType()->getScalarSizeInBits() >= 32)
      replace(i, floatToInteger(b, i->getOperand(0), i->getType(), isSigned));
  }

  Value *flushed(Value *x) {
    Type *type = x->getType();
    Type *bitsType = type->getWithNewType(b.getInt32Ty());
    Value *bits = b.CreateBitCast(x, bitsType);
    Value *isSmall = b.CreateICmpEQ(b.CreateAnd(bits, ConstantInt::get(bitsType, 0x7f800000)),
                                    ConstantInt::get(bitsType, 0));
    Value *sign = b.CreateAnd(bits, ConstantInt::get(bitsType, 0x80000000));
    return b.CreateBitCast(b.CreateSelect(isSmall, sign, bits), type);
  }

  /// Subnormal f32 operands and results become zeros of their sign.
  void flush(Instruction *i) {
    if (!flushes || !i->getOperand(0)->getType()->getScalarType()->isFloatTy())
      return;
    b.SetInsertPoint(i);
    unsigned operands = isa<CallInst>(i) ? cast<CallInst>(i)->arg_size() : i->getNumOperands();
    for (unsigned n = 0; n < operands; ++n)
      i->setOperand(n, flushed(i->getOperand(n)));
    if (!i->getType()->getScalarType()->isFloatTy())
      return;
    b.SetInsertPoint(i->getNextNode());
    SmallPtrSet<User *, 8> others(i->user_begin(), i->user_end()); // not what makes the result
    Value *result = flushed(i);
    i->replaceUsesWithIf(result, [&](Use &use) { return others.contains(use.getUser()); });
  }

  IRBuilder<> b;
  Module &module;
  bool flushes = false;
  SmallVector<Instruction *> all;
};

} // namespace

Value *floatToInteger(IRBuilderBase &b, Value *x, Type *to, bool isSigned) {
  Value *saturated =
      b.CreateIntrinsic(isSigned ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat, {to, x->getType()}, {x});
  unsigned bits = to->getScalarSizeInBits();
  if (bits == 32 && x->getType()->getScalarSizeInBits() < 64)
    return saturated; // LLVM gives 0 for NaN, too
  Constant *topBit = ConstantInt::get(to, APInt::getSignedMinValue(bits));
  return b.CreateSelect(b.CreateFCmpUNO(x, x), topBit, saturated);
}

void adaptArithmetic(Module &module) {
  for (Function &function : module)
    if (!function.isDeclaration())
      Adapter(function).run();
}

} // namespace tilegym::sim
