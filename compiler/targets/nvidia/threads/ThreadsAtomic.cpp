// SPDX-License-Identifier: MIT
// Atomic updates: the instruction where one does what the language says, else a compare-and-swap loop on the element's bits.
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "compiler/targets/nvidia/threads/Access.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilegym::nvidia {
namespace {

using Kind = tile::AtomicKind;

/// The instruction for a kind and type, if there is one that does exactly this.
std::optional<ptx::AtomicKind> instruction(Kind kind, Type type) {
  unsigned bits = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type))
    // f32 and f64 exchange goes by bits; f16, bf16: not on every GPU; float max and min order NaN and -0 as no instruction does.
    return kind == Kind::Add && bits >= 32 ? std::optional(ptx::AtomicKind::AddF) : std::nullopt;
  if (bits < 32)
    return std::nullopt;
  switch (kind) {
  case Kind::Add:
    return ptx::AtomicKind::Add;
  case Kind::Max:
    return ptx::AtomicKind::MaxS;
  case Kind::Min:
    return ptx::AtomicKind::MinS;
  case Kind::UMax:
    return ptx::AtomicKind::MaxU;
  case Kind::UMin:
    return ptx::AtomicKind::MinU;
  case Kind::And:
    return ptx::AtomicKind::And;
  case Kind::Or:
    return ptx::AtomicKind::Or;
  case Kind::Xor:
    return ptx::AtomicKind::Xor;
  case Kind::Exchange:
    return ptx::AtomicKind::Exchange;
  }
  llvm_unreachable("an atomic of no kind");
}

Value updated(ThreadBuilder &t, Kind kind, Value old, Value x) {
  OpBuilder &b = t.b;
  bool isFloat = isa<FloatType>(x.getType());
  switch (kind) {
  case Kind::Add:
    return isFloat ? Value(arith::AddFOp::create(b, t.loc, old, x))
                   : Value(arith::AddIOp::create(b, t.loc, old, x));
  case Kind::Max:
    return isFloat ? Value(arith::MaximumFOp::create(b, t.loc, old, x))
                   : Value(arith::MaxSIOp::create(b, t.loc, old, x));
  case Kind::Min:
    return isFloat ? Value(arith::MinimumFOp::create(b, t.loc, old, x))
                   : Value(arith::MinSIOp::create(b, t.loc, old, x));
  case Kind::UMax:
    return arith::MaxUIOp::create(b, t.loc, old, x);
  case Kind::UMin:
    return arith::MinUIOp::create(b, t.loc, old, x);
  case Kind::And:
    return arith::AndIOp::create(b, t.loc, old, x);
  case Kind::Or:
    return arith::OrIOp::create(b, t.loc, old, x);
  case Kind::Xor:
    return arith::XOrIOp::create(b, t.loc, old, x);
  case Kind::Exchange:
    return x;
  }
  llvm_unreachable("an atomic of no kind");
}

Value toBits(ThreadBuilder &t, Value value) {
  return isa<FloatType>(value.getType())
             ? Value(arith::BitcastOp::create(
                   t.b, t.loc, t.b.getIntegerType(value.getType().getIntOrFloatBitWidth()), value))
             : value;
}
Value fromBits(ThreadBuilder &t, Type type, Value bits) {
  return isa<FloatType>(type) ? Value(arith::BitcastOp::create(t.b, t.loc, type, bits)) : bits;
}

/// old = *p; until cas(p, old, f(old)) sees old.
Value casLoop(ThreadBuilder &t, Kind kind, Value address, Value x, Value predicate) {
  Type type = x.getType(), word = t.b.getIntegerType(type.getIntOrFloatBitWidth());
  auto branch = scf::IfOp::create(t.b, t.loc, TypeRange(word), predicate, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointToStart(branch.thenBlock());
    Value zero = t.constant(word, 0), always = t.boolean(true);
    Value first = ptx::AtomicCasOp::create(t.b, t.loc, word, address, zero, zero, always);
    auto loop = scf::WhileOp::create(t.b, t.loc, TypeRange(word), ValueRange{first});
    Block *before = t.b.createBlock(&loop.getBefore(), {}, {word}, {t.loc});
    Value old = before->getArgument(0);
    Value desired = toBits(t, updated(t, kind, fromBits(t, type, old), x));
    Value seen = ptx::AtomicCasOp::create(t.b, t.loc, word, address, old, desired, always);
    Value again = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ne, seen, old);
    scf::ConditionOp::create(t.b, t.loc, again, ValueRange{seen});
    Block *after = t.b.createBlock(&loop.getAfter(), {}, {word}, {t.loc});
    scf::YieldOp::create(t.b, t.loc, ValueRange{after->getArgument(0)});
    t.b.setInsertionPointAfter(loop);
    scf::YieldOp::create(t.b, t.loc, ValueRange{loop.getResult(0)});
    t.b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(t.b, t.loc, ValueRange{t.constant(word, 0)});
  }
  return fromBits(t, type, branch.getResult(0));
}

Value absolute(ThreadBuilder &t, Access::Address address) {
  if (address.fixedBytes == 0)
    return address.pointer;
  return LLVM::GEPOp::create(t.b, t.loc, address.pointer.getType(), t.b.getI8Type(), address.pointer,
                             ValueRange{t.i64(address.fixedBytes)});
}

/// Runs `update(address, register, predicate)` once for each element, and gives every copy the owner's result.
LogicalResult lowerUpdate(ThreadBuilder &t, Operation *op, Value value,
                          llvm::function_ref<Value(Value, int64_t, Value)> update) {
  auto region = cast<tile::RegionOp>(op);
  const layout::Layout *layout = t.layoutOf(value.getType());
  if (t.elementType(value.getType()).getIntOrFloatBitWidth() < 16)
    return op->emitOpError("the target cannot update 8-bit elements atomically; use a 16- or 32-bit dtype");
  t.orderLoad(region);
  t.orderStore(region);
  Access access(t, region, layout);
  Value owner = layout ? t.isOwner(*layout) : t.isFirstThread();
  Registers old(layout ? layout->numRegisters() : 1);
  for (int64_t r = 0, n = old.size(); r < n; ++r) {
    Value predicate = t.conjunction(owner, access.inBounds(r));
    if (layout && t.isCopy(*layout, r))
      predicate = t.boolean(false);
    old[r] = update(absolute(t, access.address(r)), r, predicate ? predicate : t.boolean(true));
  }
  Value result = op->getResult(0);
  if (!result.use_empty() && t.clusterRank() && (!layout || layout->freeBits(layout::Dim::Block)))
    return t.failAcrossBlocks("what an atomic operation gives back");
  if (!result.use_empty() && (!layout || layout->isReplicated())) {
    if (!layout) {
      int64_t bytes = old[0].getType().getIntOrFloatBitWidth() / 8;
      Value base = t.acquireShared(bytes);
      t.ifTrue(owner, [&] { t.storeShared(base, t.i32(0), old[0]); });
      t.publishShared();
      old = t.loadShared(base, t.i32(0), old[0].getType(), 1);
    } else {
      llvm::SmallVector<int64_t> shape(layout->shape().begin(), layout->shape().end());
      auto index = [&](int64_t r) { return t.rowMajorIndex(*layout, r, shape, {}); };
      old = t.throughShared(old, *layout, layout->numRegisters(), layout->numElements(), index, index);
    }
  }
  t.set(result, std::move(old));
  return success();
}

LogicalResult lowerAtomicRMW(ThreadBuilder &t, Operation *op) {
  auto rmw = cast<tile::AtomicRMWOp>(op);
  Type type = t.elementType(rmw.getValue().getType());
  std::optional<ptx::AtomicKind> kind = instruction(rmw.getKind(), type);
  return lowerUpdate(t, op, rmw.getValue(), [&](Value address, int64_t r, Value predicate) -> Value {
    Value x = t.get(rmw.getValue())[r];
    if (!kind)
      return casLoop(t, rmw.getKind(), address, x, predicate);
    return ptx::AtomicOp::create(t.b, t.loc, type, *kind, address, x, predicate);
  });
}

LogicalResult lowerAtomicCas(ThreadBuilder &t, Operation *op) {
  auto cas = cast<tile::AtomicCasOp>(op);
  Type type = t.elementType(cas.getValue().getType());
  return lowerUpdate(t, op, cas.getValue(), [&](Value address, int64_t r, Value predicate) -> Value {
    Value compare = toBits(t, t.get(cas.getCompare())[r]), value = toBits(t, t.get(cas.getValue())[r]);
    return fromBits(
        t, type, ptx::AtomicCasOp::create(t.b, t.loc, value.getType(), address, compare, value, predicate));
  });
}

} // namespace

void addAtomicHandlers(HandlerTable &table) {
  table["tile.atomic_rmw"] = lowerAtomicRMW;
  table["tile.atomic_cas"] = lowerAtomicCas;
}

} // namespace tilegym::nvidia
