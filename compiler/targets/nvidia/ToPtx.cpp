// SPDX-License-Identifier: MIT
// The fork's GPU side: target instructions become NVVM ops, intrinsics or inline assembly. Structured control flow and arith go along in
// the same conversion, so that types change once.
#include "compiler/targets/nvidia/CommonPatterns.h"
#include "compiler/targets/nvidia/Passes.h"
#include "compiler/targets/nvidia/ptx/AssemblyText.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tilegym::nvidia {
#define GEN_PASS_DEF_TOPTX
#include "compiler/targets/nvidia/Passes.h.inc"

namespace {
using namespace mlir;

Value constantI32(OpBuilder &b, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(b, loc, b.getI32Type(), value);
}

ModuleOp moduleOf(Operation *op) { return op->getParentOfType<ModuleOp>(); }

LLVM::InlineAsmOp makeAssembly(OpBuilder &b, Location loc, Type result, ValueRange operands,
                               const ptx::Assembly &assembly) {
  return LLVM::InlineAsmOp::create(
      b, loc, result ? TypeRange(result) : TypeRange(), operands, assembly.text, assembly.constraints,
      assembly.ordered, /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
}

/// Every instruction with a text of its own.
struct AssemblyPattern : OpInterfaceConversionPattern<ptx::AssemblyOp> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;
  LogicalResult matchAndRewrite(ptx::AssemblyOp op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return rewriter.notifyMatchFailure(op, "has a result type that LLVM does not know");
    Type result = types.empty()       ? Type()
                  : types.size() == 1 ? types[0]
                                      : LLVM::LLVMStructType::getLiteral(op->getContext(), types);
    LLVM::InlineAsmOp call = makeAssembly(rewriter, op->getLoc(), result, operands, op.getAssembly());
    if (types.size() <= 1) {
      rewriter.replaceOp(op, call->getResults());
      return success();
    }
    SmallVector<Value> results;
    for (int64_t i = 0, n = types.size(); i < n; ++i)
      results.push_back(LLVM::ExtractValueOp::create(rewriter, op->getLoc(), call->getResult(0), i));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// What a register holds: one op of ours, one of NVVM.
template <class From, class To> struct RegisterPattern : OpConversionPattern<From> {
  using OpConversionPattern<From>::OpConversionPattern;
  LogicalResult matchAndRewrite(From op, typename From::Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<To>(op, op.getType());
    return success();
  }
};

struct BarrierPattern : OpConversionPattern<ptx::BarrierOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ptx::BarrierOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    NVVM::BarrierOp::create(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

struct ShufflePattern : OpConversionPattern<ptx::ShuffleOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ptx::ShuffleOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    NVVM::ShflKind kind = NVVM::ShflKind::bfly;
    switch (op.getKind()) {
    case ptx::ShuffleKind::Xor:
      kind = NVVM::ShflKind::bfly;
      break;
    case ptx::ShuffleKind::Up:
      kind = NVVM::ShflKind::up;
      break;
    case ptx::ShuffleKind::Down:
      kind = NVVM::ShflKind::down;
      break;
    case ptx::ShuffleKind::Index:
      kind = NVVM::ShflKind::idx;
      break;
    }
    // The clamp bounds the source lane: from above, except for `up`, which it bounds from below.
    Value clamp = constantI32(rewriter, op.getLoc(), op.getKind() == ptx::ShuffleKind::Up ? 0 : 31);
    Value all = constantI32(rewriter, op.getLoc(), -1);
    rewriter.replaceOpWithNewOp<NVVM::ShflOp>(op, adaptor.getValue().getType(), all, adaptor.getValue(),
                                              adaptor.getLane(), clamp,
                                              NVVM::ShflKindAttr::get(op.getContext(), kind), UnitAttr());
    return success();
  }
};

struct VotePattern : OpConversionPattern<ptx::VoteOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ptx::VoteOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    NVVM::VoteSyncKind kind = *NVVM::symbolizeVoteSyncKind(stringifyVoteKind(op.getKind()));
    rewriter.replaceOpWithNewOp<NVVM::VoteSyncOp>(op, op.getType(), constantI32(rewriter, op.getLoc(), -1),
                                                  adaptor.getPredicate(), kind);
    return success();
  }
};

struct ReduxPattern : OpConversionPattern<ptx::ReduxOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ptx::ReduxOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    NVVM::ReduxKind kind = *NVVM::symbolizeReduxKind(stringifyReduxKind(op.getKind()));
    rewriter.replaceOpWithNewOp<NVVM::ReduxOp>(op, op.getType(), adaptor.getValue(), kind,
                                               constantI32(rewriter, op.getLoc(), -1));
    return success();
  }
};

struct ElectPattern : OpConversionPattern<ptx::ElectOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ptx::ElectOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::ElectSyncOp>(op, op.getType(), Value());
    return success();
  }
};

struct MapSharedRankPattern : OpConversionPattern<ptx::MapSharedRankOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ptx::MapSharedRankOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::MapaOp>(op, op.getType(), adaptor.getAddress(), adaptor.getRank());
    return success();
  }
};

struct SharedBasePattern : OpConversionPattern<ptx::SharedBaseOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ptx::SharedBaseOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    constexpr StringLiteral name = "tilegym_shared";
    ModuleOp module = moduleOf(op);
    if (!module.lookupSymbol(name)) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(module.getBody());
      LLVM::GlobalOp::create(rewriter, op.getLoc(), LLVM::LLVMArrayType::get(rewriter.getI8Type(), 0),
                             /*isConstant=*/false, LLVM::Linkage::External, name, Attribute(),
                             /*alignment=*/1024, /*addrSpace=*/3);
    }
    rewriter.replaceOpWithNewOp<LLVM::AddressOfOp>(op, op.getType(), name);
    return success();
  }
};

LLVM::LLVMFuncOp declareFunction(OpBuilder &b, Operation *at, StringRef name, Type result,
                                 TypeRange operands) {
  ModuleOp module = moduleOf(at);
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  return LLVM::LLVMFuncOp::create(b, at->getLoc(), name,
                                  LLVM::LLVMFunctionType::get(result, SmallVector<Type>(operands)));
}

/// CUDA's device-side vprintf(format, arguments): the arguments lie in local memory as C would promote them.
struct PrintPattern : OpConversionPattern<ptx::PrintOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ptx::PrintOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto pointer = LLVM::LLVMPointerType::get(getContext());
    ModuleOp module = moduleOf(op);
    std::string text = op.getFormat().str();
    text.push_back('\0');
    std::string name;
    for (int i = 0; name.empty() || module.lookupSymbol(name); ++i)
      name = "tilegym_format_" + std::to_string(i);
    auto arrayType = LLVM::LLVMArrayType::get(rewriter.getI8Type(), text.size());
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(module.getBody());
      LLVM::GlobalOp::create(rewriter, loc, arrayType, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                             rewriter.getStringAttr(text));
    }
    Value format = LLVM::AddressOfOp::create(rewriter, loc, pointer, name);
    SmallVector<Type> types(adaptor.getValues().getTypes());
    auto packed = LLVM::LLVMStructType::getLiteral(getContext(), types);
    Value arguments = LLVM::AllocaOp::create(rewriter, loc, pointer, packed, constantI32(rewriter, loc, 1),
                                             /*alignment=*/8);
    for (auto [i, value] : llvm::enumerate(adaptor.getValues())) {
      Value slot = LLVM::GEPOp::create(rewriter, loc, pointer, packed, arguments,
                                       ArrayRef<LLVM::GEPArg>{0, int32_t(i)});
      LLVM::StoreOp::create(rewriter, loc, value, slot);
    }
    auto callee = declareFunction(rewriter, op, "vprintf", rewriter.getI32Type(), {pointer, pointer});
    LLVM::CallOp::create(rewriter, loc, callee, ValueRange{format, arguments});
    rewriter.eraseOp(op);
    return success();
  }
};

struct InlinePattern : OpConversionPattern<ptx::InlineOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ptx::InlineOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ptx::Assembly assembly{op.getText().str(), "=" + ptx::registerClass(op.getType()), true};
    for (Value operand : adaptor.getValues())
      assembly.constraints += "," + ptx::registerClass(operand.getType());
    rewriter.replaceOp(
        op, makeAssembly(rewriter, op.getLoc(), op.getType(), adaptor.getValues(), assembly)->getResults());
    return success();
  }
};

struct ToPtxPass : impl::ToPtxBase<ToPtxPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    LLVMTypeConverter types(context);
    LLVMConversionTarget target(*context);
    target.addLegalOp<ModuleOp>();
    target.addLegalDialect<NVVM::NVVMDialect>();
    RewritePatternSet patterns(context);
    populateCommonPatterns(types, patterns);
    patterns.add<AssemblyPattern>(types, context);
    patterns.add<
        RegisterPattern<ptx::ThreadIdOp, NVVM::ThreadIdXOp>,
        RegisterPattern<ptx::BlockIdOp, NVVM::BlockIdXOp>, RegisterPattern<ptx::GridSizeOp, NVVM::GridDimXOp>,
        RegisterPattern<ptx::LaneIdOp, NVVM::LaneIdOp>, RegisterPattern<ptx::ClusterRankOp, NVVM::ClusterId>,
        RegisterPattern<ptx::ClusterSizeOp, NVVM::ClusterDim>>(types, context);
    patterns.add<BarrierPattern, ShufflePattern, VotePattern, ReduxPattern, ElectPattern,
                 MapSharedRankPattern, SharedBasePattern, PrintPattern, InlinePattern>(types, context);
    ConversionConfig config;
    config.allowPatternRollback = false; // nothing goes on after a failure
    if (failed(applyFullConversion(getOperation(), target, std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilegym::nvidia
