// SPDX-License-Identifier: MIT
// libdevice's intrinsics. Those that round correctly are LLVM's own operations; approximate ones are the instruction that they stand for, a row of
// the simulator's table (ptx.approx, ptx.divide_approx), so that both have one meaning. Other `ftz` forms do not occur: `__nvvm_reflect` has chosen the
// paths that keep subnormals.
#include "compiler/simulator/Site.h"
#include "compiler/simulator/jit/Semantics.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace tilegym::sim {
namespace {

/// ApproxKind of the dialect (compiler/targets/nvidia/ptx/Math.td), as the row reads it; a test holds the two together.
enum Approx : int64_t { Ex2, Lg2, Rsqrt, Rcp, Sqrt, Sin, Cos };

class Rewriter {
public:
  Rewriter(Module &module) : module(module), b(module.getContext()) {}

  /// Null where the intrinsic has no meaning here.
  Value *meaning(CallInst *call, StringRef name) {
    b.SetInsertPoint(call);
    SmallVector<Value *, 3> x(call->args());
    auto unary = [&](Intrinsic::ID id) { return b.CreateUnaryIntrinsic(id, x[0]); };
    SmallVector<StringRef, 4> parts;
    name.split(parts, '.');
    StringRef op = parts[0], mode = parts.size() > 1 ? parts[1] : "";

    if (mode == "approx")
      return approximate(op, parts, x);
    if (mode == "rn") {
      if (op == "fma")
        return b.CreateIntrinsic(x[0]->getType(), Intrinsic::fma, x);
      if (op == "mul")
        return b.CreateFMul(x[0], x[1]);
      if (op == "add")
        return b.CreateFAdd(x[0], x[1]);
      if (op == "div")
        return b.CreateFDiv(x[0], x[1]);
      if (op == "rcp")
        return b.CreateFDiv(ConstantFP::get(x[0]->getType(), 1), x[0]);
      if (op == "sqrt")
        return unary(Intrinsic::sqrt);
      if (op == "i2f" || op == "ll2f" || op == "i2d" || op == "ll2d")
        return b.CreateSIToFP(x[0], call->getType());
      if (op == "ui2f" || op == "ull2f" || op == "ui2d" || op == "ull2d")
        return b.CreateUIToFP(x[0], call->getType());
      if (op == "d2f")
        return b.CreateFPTrunc(x[0], call->getType());
    }
    if (op == "fma" && (mode == "rm" || mode == "rp" || mode == "rz") && parts.back() == "f")
      return b.CreateCall(module.getOrInsertFunction(("tgsim_nvvm_fma_" + mode + "_f").str(), call->getType(),
                                                     x[0]->getType(), x[1]->getType(), x[2]->getType()),
                          x);
    if (Intrinsic::ID id = StringSwitch<Intrinsic::ID>(op)
                               .Case("fabs", Intrinsic::fabs)
                               .Case("floor", Intrinsic::floor)
                               .Case("ceil", Intrinsic::ceil)
                               .Case("trunc", Intrinsic::trunc)
                               .Case("round", Intrinsic::roundeven) // cvt.rni
                               .Default(Intrinsic::not_intrinsic);
        id != Intrinsic::not_intrinsic && mode != "ftz")
      return unary(id);
    if ((op == "fmin" || op == "fmax") && mode != "ftz")
      return b.CreateBinaryIntrinsic(op == "fmin" ? Intrinsic::minimumnum : Intrinsic::maximumnum, x[0],
                                     x[1]);
    if (op == "saturate" && mode == "f") { // NaN gives 0
      Constant *zero = ConstantFP::get(x[0]->getType(), 0), *one = ConstantFP::get(x[0]->getType(), 1);
      Value *above = b.CreateSelect(b.CreateFCmpOGT(x[0], zero), x[0], zero);
      return b.CreateSelect(b.CreateFCmpOLT(above, one), above, one);
    }
    if (op == "d2i" || op == "f2i" || op == "d2ll" || op == "f2ll") {
      if (op == "d2i" && (mode == "hi" || mode == "lo")) {
        Value *bits = b.CreateBitCast(x[0], b.getInt64Ty());
        return b.CreateTrunc(mode == "hi" ? b.CreateLShr(bits, 32) : bits, b.getInt32Ty());
      }
      if (mode == "rn" || mode == "rz")
        return floatToInteger(b, mode == "rn" ? unary(Intrinsic::roundeven) : x[0], call->getType(),
                              /*isSigned=*/true);
    }
    if (op == "lohi") { // i2d
      Value *high = b.CreateShl(b.CreateZExt(x[1], b.getInt64Ty()), 32);
      return b.CreateBitCast(b.CreateOr(high, b.CreateZExt(x[0], b.getInt64Ty())), b.getDoubleTy());
    }
    return nullptr;
  }

  /// The same of inline assembly, which libdevice has some of: carries across words, and what has no intrinsic.
  Value *meaning(CallInst *call, const InlineAsm &assembly) {
    b.SetInsertPoint(call);
    SmallVector<Value *, 4> x(call->args());
    StringRef text(assembly.getAsmString());
    if (text.starts_with("rcp.approx.ftz.f32"))
      return row("approx", {Rcp, 1}, x);
    if (text.starts_with("sub.rn.f"))
      return b.CreateFSub(x[0], x[1]);
    // Two words of a product or a sum of twice their width.
    auto *pair = dyn_cast<StructType>(call->getType());
    if (!pair || pair->getNumElements() != 2 || !pair->getElementType(0)->isIntegerTy())
      return nullptr;
    unsigned bits = pair->getElementType(0)->getIntegerBitWidth();
    Type *wide = b.getIntNTy(2 * bits);
    for (Value *&value : x)
      value = b.CreateZExt(value, wide);
    auto join = [&](Value *low, Value *high) { return b.CreateOr(low, b.CreateShl(high, bits)); };
    bool isProduct = text.contains("mul.lo.u32") || text.contains("mad.lo.cc.u32");
    Value *result = nullptr;
    if (isProduct && x.size() <= 3) {
      result = b.CreateMul(x[0], x[1]);
      if (x.size() == 3)
        result = b.CreateAdd(result, x[2]);
    } else if (text.contains("add.cc.u32 ") && x.size() == 4) {
      result = b.CreateAdd(join(x[0], x[1]), join(x[2], x[3]));
    } else if (text.contains("sub.cc.u32 ") && x.size() == 4) {
      result = b.CreateSub(join(x[0], x[1]), join(x[2], x[3]));
    } else {
      return nullptr;
    }
    Value *both = PoisonValue::get(pair);
    both = b.CreateInsertValue(both, b.CreateTrunc(result, pair->getElementType(0)), 0);
    return b.CreateInsertValue(both, b.CreateTrunc(b.CreateLShr(result, bits), pair->getElementType(1)), 1);
  }

private:
  Value *approximate(StringRef op, ArrayRef<StringRef> parts, ArrayRef<Value *> x) {
    if (op == "rcp" && parts.back() == "d") {
      // The instruction gives the upper word of a quotient, and takes subnormals for zeros.
      Value *bits = b.CreateBitCast(x[0], b.getInt64Ty());
      Value *exponent = b.CreateAnd(bits, 0x7ffULL << 52), *sign = b.CreateAnd(bits, 1ULL << 63);
      Value *operand = b.CreateBitCast(b.CreateSelect(b.CreateIsNull(exponent), sign, bits), b.getDoubleTy());
      Value *quotient =
          b.CreateBitCast(b.CreateFDiv(ConstantFP::get(b.getDoubleTy(), 1), operand), b.getInt64Ty());
      return b.CreateBitCast(b.CreateAnd(quotient, ~0ULL << 32), b.getDoubleTy());
    }
    if (op == "rsqrt" && parts.back() == "d")
      return b.CreateFDiv(ConstantFP::get(b.getDoubleTy(), 1), b.CreateUnaryIntrinsic(Intrinsic::sqrt, x[0]));
    if (!x[0]->getType()->isFloatTy())
      return nullptr;
    int64_t ftz = is_contained(parts, "ftz");
    if (op == "div")
      return row("divide_approx", {ftz}, x);
    int64_t kind = StringSwitch<int64_t>(op)
                       .Case("ex2", Ex2)
                       .Case("lg2", Lg2)
                       .Case("rsqrt", Rsqrt)
                       .Case("sqrt", Sqrt)
                       .Case("sin", Sin)
                       .Case("cos", Cos)
                       .Default(-1);
    return kind < 0 ? nullptr : row("approx", {kind, ftz}, x);
  }

  /// A call as `to-sim` makes them, on f32 operands with an f32 result.
  Value *row(StringRef mnemonic, ArrayRef<int64_t> attributes, ArrayRef<Value *> x) {
    Function *function = b.GetInsertBlock()->getParent();
    Type *pointer = b.getPtrTy();
    Type *slots = ArrayType::get(b.getInt64Ty(), x.size() + 1);
    Value *operands = nullptr;
    {
      IRBuilderBase::InsertPointGuard guard(b);
      b.SetInsertPointPastAllocas(function);
      operands = b.CreateAlloca(slots);
    }
    Value *result = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), operands, x.size());
    for (auto [i, value] : enumerate(x))
      b.CreateStore(b.CreateZExt(b.CreateBitCast(value, b.getInt32Ty()), b.getInt64Ty()),
                    b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), operands, i));
    FunctionCallee callee =
        module.getOrInsertFunction(("tgsim_" + mnemonic).str(), b.getVoidTy(), pointer, pointer, pointer);
    b.CreateCall(callee, {operands, result, site(mnemonic, attributes, x.size())});
    return b.CreateBitCast(b.CreateTrunc(b.CreateLoad(b.getInt64Ty(), result), b.getInt32Ty()),
                           b.getFloatTy());
  }

  Constant *global(Constant *value) {
    return new GlobalVariable(module, value->getType(), /*isConstant=*/true, GlobalValue::PrivateLinkage,
                              value);
  }
  /// Within libdevice there is no line of a spec.
  Constant *site(StringRef mnemonic, ArrayRef<int64_t> attributes, size_t operands) {
    LLVMContext &context = module.getContext();
    auto word = [&](uint64_t value) { return b.getInt32(uint32_t(value)); };
    Constant *none = ConstantPointerNull::get(b.getPtrTy());
    SmallVector<uint8_t> types(operands + 1, Site::f32Type);
    SmallVector<uint64_t> numbers(attributes.begin(), attributes.end());
    return global(ConstantStruct::getAnon({global(ConstantDataArray::getString(context, mnemonic)),
                                           global(ConstantDataArray::getString(context, "")), word(0),
                                           word(0), word(operands), word(1), word(attributes.size()), word(0),
                                           global(ConstantDataArray::get(context, numbers)), none,
                                           global(ConstantDataArray::get(context, types))}));
  }

  Module &module;
  IRBuilder<> b;
};

} // namespace

void resolveReflect(Module &module, unsigned number) {
  Function *reflect = module.getFunction("__nvvm_reflect");
  if (!reflect)
    return;
  for (User *user : make_early_inc_range(reflect->users())) {
    auto *call = cast<CallInst>(user);
    StringRef question;
    getConstantStringInfo(call->getArgOperand(0), question);
    uint64_t answer = StringSwitch<uint64_t>(question)
                          .Case("__CUDA_ARCH", number * 10)
                          .Case("__CUDA_PREC_SQRT", 1)
                          .Default(0); // __CUDA_FTZ: subnormals are kept
    call->replaceAllUsesWith(ConstantInt::get(call->getType(), answer));
    call->eraseFromParent();
  }
}

Error replaceNvvmIntrinsics(Module &module) {
  Rewriter rewriter(module);
  for (Function &f : make_early_inc_range(module)) {
    StringRef name = f.getName();
    if (!f.isDeclaration() || !name.consume_front("llvm.nvvm."))
      continue;
    for (User *user : make_early_inc_range(f.users())) {
      auto *call = cast<CallInst>(user);
      Value *value = rewriter.meaning(call, name);
      if (!value)
        return createStringError("internal error: libdevice uses '%s', which has no meaning in the simulator",
                                 f.getName().str().c_str());
      call->replaceAllUsesWith(value);
      call->eraseFromParent();
    }
    f.eraseFromParent();
  }
  for (Function &f : module)
    for (llvm::Instruction &i : make_early_inc_range(instructions(f))) {
      auto *call = dyn_cast<CallInst>(&i);
      auto *assembly = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
      if (!assembly)
        continue;
      Value *value = rewriter.meaning(call, *assembly);
      if (!value)
        return createStringError(
            "internal error: libdevice has the assembly '%s', which has no meaning in the simulator",
            assembly->getAsmString().str().c_str());
      call->replaceAllUsesWith(value);
      call->eraseFromParent();
    }
  return Error::success();
}

} // namespace tilegym::sim
