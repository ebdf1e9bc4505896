// SPDX-License-Identifier: MIT
// The fork's other side: every target instruction becomes one call of the simulator, all of the same form, so that the pass knows none of them. Plain
// loads and stores stay, each after a call that checks it.
#include "compiler/simulator/Site.h"
#include "compiler/targets/nvidia/CommonPatterns.h"
#include "compiler/targets/nvidia/Passes.h"
#include "compiler/targets/nvidia/SimSites.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tilegym::nvidia {
#define GEN_PASS_DEF_TOSIM
#include "compiler/targets/nvidia/Passes.h.inc"

namespace {
using namespace mlir;

unsigned bitsOf(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return 64;
  if (auto vector = dyn_cast<VectorType>(type))
    return unsigned(vector.getNumElements()) * bitsOf(vector.getElementType());
  return type.getIntOrFloatBitWidth();
}

/// A value's type as sites say it: the width, and whether it is a float (Site::bits).
uint8_t typeCode(Type type) {
  using sim::Site;
  if (type.isBF16())
    return Site::bf16Type;
  return uint8_t(bitsOf(type) | (isa<FloatType>(type) ? Site::floatBit : 0));
}

/// Whether memory is the thread's own: nothing to check, and nobody else sees it.
bool isPrivate(Value address) {
  while (auto gep = address.getDefiningOp<LLVM::GEPOp>())
    address = gep.getBase();
  return address.getDefiningOp<LLVM::AllocaOp>() != nullptr;
}

/// Rewrites the instructions of one function.
class Calls {
public:
  Calls(LLVM::LLVMFuncOp function, SimSites &sites)
      : b(function.getContext()), function(function), sites(sites),
        pointer(LLVM::LLVMPointerType::get(b.getContext())), i64(b.getI64Type()) {}

  LogicalResult run() {
    // Collected first: what is made on the way is not to be looked at.
    SmallVector<Operation *> ops;
    size_t most = 2;
    function.walk([&](Operation *op) {
      if (isa<ptx::Instruction, LLVM::LoadOp, LLVM::StoreOp>(op)) {
        ops.push_back(op);
        most = std::max<size_t>({most, op->getNumOperands(), op->getNumResults()});
      }
    });
    // One pair of arrays for all calls: a frame stays small however many there are.
    b.setInsertionPointToStart(&function.getBody().front());
    Value size = LLVM::ConstantOp::create(b, function.getLoc(), i64, int64_t(most));
    operandSlots = LLVM::AllocaOp::create(b, function.getLoc(), pointer, i64, size);
    resultSlots = LLVM::AllocaOp::create(b, function.getLoc(), pointer, i64, size);
    for (Operation *op : ops) {
      b.setInsertionPoint(op);
      if (auto load = dyn_cast<LLVM::LoadOp>(op))
        check(op, "load", load.getAddr(), load.getType(), load.getAlignment());
      else if (auto store = dyn_cast<LLVM::StoreOp>(op))
        check(op, "store", store.getAddr(), store.getValue().getType(), store.getAlignment());
      else if (failed(instruction(op)))
        return failure();
    }
    return success();
  }

private:
  /// The bits of a value, zero-extended.
  Value toSlot(Location loc, Value value) {
    Type type = value.getType();
    if (isa<LLVM::LLVMPointerType>(type))
      return LLVM::PtrToIntOp::create(b, loc, i64, value);
    Type bits = b.getIntegerType(bitsOf(type));
    if (bits != type)
      value = LLVM::BitcastOp::create(b, loc, bits, value);
    return bits == i64 ? value : Value(LLVM::ZExtOp::create(b, loc, i64, value));
  }
  Value fromSlot(Location loc, Value slot, Type type) {
    if (isa<LLVM::LLVMPointerType>(type))
      return LLVM::IntToPtrOp::create(b, loc, type, slot);
    Type bits = b.getIntegerType(bitsOf(type));
    if (bits != i64)
      slot = LLVM::TruncOp::create(b, loc, bits, slot);
    return bits == type ? slot : Value(LLVM::BitcastOp::create(b, loc, type, slot));
  }
  Value slotAddress(Location loc, Value slots, size_t i) {
    return i ? Value(LLVM::GEPOp::create(b, loc, pointer, i64, slots, ArrayRef<LLVM::GEPArg>{int32_t(i)}))
             : slots;
  }

  void call(Location loc, const SiteFacts &facts, ValueRange operands) {
    for (auto [i, value] : llvm::enumerate(operands))
      LLVM::StoreOp::create(b, loc, toSlot(loc, value), slotAddress(loc, operandSlots, i));
    Value site = sites.site(b, loc, facts);
    std::string name = "tgsim_" + facts.mnemonic;
    auto module = function->getParentOfType<ModuleOp>();
    auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
    if (!callee) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(module.getBody());
      callee = LLVM::LLVMFuncOp::create(
          b, module.getLoc(), name,
          LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointer, pointer, pointer}));
      // Others wait in it: it must be reached by the threads that the source says, and stay the place that it is.
      callee.setConvergent(true);
      callee.setPassthroughAttr(b.getArrayAttr(b.getStringAttr("nomerge")));
    }
    LLVM::CallOp::create(b, loc, callee, ValueRange{operandSlots, resultSlots, site}).setConvergent(true);
  }

  LogicalResult instruction(Operation *op) {
    // What only has a meaning of its own on a GPU is replaced by it; libdevice's functions stay calls.
    if (isa<ptx::LibdeviceOp>(op))
      return success();
    Location loc = op->getLoc();
    SiteFacts facts;
    facts.mnemonic = op->getName().stripDialect().str();
    facts.own =
        isa<ptx::WgmmaOp>(op); // a loop must not issue the same one again while its words of A are in flight
    for (ValueRange values : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
      for (Value value : values)
        if (bitsOf(value.getType()) > 64)
          return op->emitOpError("has a value of type ")
                 << value.getType() << ", but the simulator's slots have 64 bits";
    for (Value value : op->getOperands())
      facts.operandTypes.push_back(typeCode(value.getType()));
    for (Value value : op->getResults())
      facts.resultTypes.push_back(typeCode(value.getType()));
    for (StringRef name : cast<ptx::Instruction>(op).attributeOrder()) {
      Attribute attribute = op->getAttr(name);
      if (!attribute)
        facts.attributes.push_back(int64_t(0));
      else if (auto text = dyn_cast<StringAttr>(attribute))
        facts.attributes.push_back(text.str());
      else if (auto dense = dyn_cast<DenseI64ArrayAttr>(attribute))
        facts.attributes.push_back(dense.asArrayRef().vec());
      else if (auto dense = dyn_cast<DenseI32ArrayAttr>(attribute))
        facts.attributes.push_back(
            std::vector<int64_t>(dense.asArrayRef().begin(), dense.asArrayRef().end()));
      else if (std::optional<int64_t> number = ptx::attributeAsInteger(attribute))
        facts.attributes.push_back(*number);
      else
        return op->emitOpError("has an attribute '")
               << name << "' that the simulator cannot be told: " << attribute;
    }
    if (auto segments = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes"))
      facts.segments = segments.asArrayRef().vec();
    call(loc, facts, op->getOperands());
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      Value slot = LLVM::LoadOp::create(b, loc, i64, slotAddress(loc, resultSlots, i));
      result.replaceAllUsesWith(fromSlot(loc, slot, result.getType()));
    }
    op->erase();
    return success();
  }

  void check(Operation *access, StringRef mnemonic, Value address, Type type,
             std::optional<uint64_t> alignment) {
    if (isPrivate(address))
      return;
    int64_t bytes = (bitsOf(type) + 7) / 8;
    Value count = LLVM::ConstantOp::create(b, access->getLoc(), i64, bytes);
    // Without a word of its own an access is aligned to its size, as PTX wants it.
    SiteFacts facts{mnemonic.str(), {int64_t(alignment.value_or(bytes))}, {}, {64, 64}, {}};
    call(access->getLoc(), facts, {address, count});
  }

  OpBuilder b;
  LLVM::LLVMFuncOp function;
  SimSites &sites;
  Type pointer, i64;
  Value operandSlots, resultSlots;
};

/// A kernel takes CUDA's array of addresses of parameters; a parameter that the GPU passes by value in constant memory is its address. What the launch
/// must know becomes attributes that LLVM IR keeps.
void makeEntry(LLVM::LLVMFuncOp function) {
  OpBuilder b(function.getContext());
  Location loc = function.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Attribute> kept;
  auto keep = [&](StringRef name, StringRef value) {
    kept.push_back(b.getArrayAttr({b.getStringAttr(name), b.getStringAttr(value)}));
  };
  keep("tilegym-kernel", "");
  if (auto threads = function->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid"))
    keep("tilegym-threads", std::to_string(threads[0]));
  if (auto cluster = function->getAttrOfType<DenseI32ArrayAttr>("nvvm.cluster_dim"))
    keep("tilegym-cluster", std::to_string(cluster[0]));
  if (auto bytes = function->getAttrOfType<IntegerAttr>("tilegym.shared_bytes"))
    keep("tilegym-shared-bytes", std::to_string(bytes.getInt()));
  std::string byValue;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto type = function.getArgAttrOfType<TypeAttr>(i, "llvm.byval"))
      byValue += (byValue.empty() ? "" : ",") + std::to_string(i) + ":" +
                 std::to_string(DataLayout::closest(function).getTypeSize(type.getValue()).getFixedValue());
  if (!byValue.empty())
    keep("tilegym-by-value", byValue);
  // Said as an attribute of ours: LLVM would take its own as leave to assume, and the host keeps subnormals.
  if (ArrayAttr passthrough = function.getPassthroughAttr())
    for (Attribute attribute : passthrough)
      if (auto pair = dyn_cast<ArrayAttr>(attribute);
          pair && cast<StringAttr>(pair[0]) == "denormal-fp-math-f32")
        keep("tilegym-ftz", "");
  function.setPassthroughAttr(b.getArrayAttr(kept));
  for (NamedAttribute attribute : llvm::to_vector(function->getDiscardableAttrs()))
    function->removeDiscardableAttr(attribute.getName());

  Block &entry = function.getBody().front();
  b.setInsertionPointToStart(&entry);
  unsigned count = entry.getNumArguments();
  Value parameters = entry.addArgument(pointer, loc);
  for (unsigned i = 0; i < count; ++i) {
    Value slot =
        LLVM::GEPOp::create(b, loc, pointer, pointer, parameters, ArrayRef<LLVM::GEPArg>{int32_t(i)});
    Value value = LLVM::LoadOp::create(b, loc, pointer, slot);
    if (!function.getArgAttr(i, "llvm.byval"))
      value = LLVM::LoadOp::create(b, loc, entry.getArgument(i).getType(), value);
    entry.getArgument(i).replaceAllUsesWith(value);
  }
  entry.eraseArguments(0, count);
  function.removeArgAttrsAttr();
  function.setFunctionType(LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointer}));
}

struct ToSimPass : impl::ToSimBase<ToSimPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    ModuleOp module = getOperation();
    SimSites sites(module);
    // An author's own assembly has no row: the spec says what it means.
    module.walk([](ptx::InlineOp op) {
      op.getResult().replaceAllUsesWith(op.getMeaning());
      op.erase();
    });
    // Which register holds a value is nothing that happens.
    module.walk([](ptx::AnewOp op) {
      op.getResult().replaceAllUsesWith(op.getOperand());
      op.erase();
    });
    for (auto function : llvm::to_vector(module.getOps<LLVM::LLVMFuncOp>()))
      if (!function.isExternal() && failed(Calls(function, sites).run()))
        return signalPassFailure();
    LLVMTypeConverter types(context);
    LLVMConversionTarget target(*context);
    target.addLegalOp<ModuleOp>();
    RewritePatternSet patterns(context);
    populateCommonPatterns(types, patterns);
    ConversionConfig config;
    config.allowPatternRollback = false; // nothing goes on after a failure
    if (failed(applyFullConversion(module, target, std::move(patterns), config)))
      return signalPassFailure();
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr("nvvm.kernel") && !function.isExternal())
        makeEntry(function);
  }
};

} // namespace
} // namespace tilegym::nvidia
