// SPDX-License-Identifier: MIT
// Verifiers and texts of atomic accesses.
#include "compiler/targets/nvidia/ptx/AssemblyText.h"
#include "compiler/targets/nvidia/ptx/MemoryReductions.h"

using namespace mlir;
using namespace tilegym::ptx;

namespace {

/// `.acq_rel.gpu.global`
std::string accessSuffix(Ordering ordering, Scope scope, Type pointer) {
  return "." + stringifyOrdering(ordering).str() + "." + stringifyScope(scope).str() + spaceSuffix(pointer);
}

LogicalResult verifyOrdering(Operation *op, Ordering ordering, ArrayRef<Ordering> allowed) {
  if (llvm::is_contained(allowed, ordering))
    return success();
  auto error = op->emitOpError("has the order ") << stringifyOrdering(ordering) << ", but can have";
  for (Ordering one : allowed)
    error << " " << stringifyOrdering(one);
  return error;
}

constexpr Ordering updateOrderings[] = {Ordering::Relaxed, Ordering::Acquire, Ordering::Release,
                                        Ordering::AcqRel};

std::string atomicName(AtomicKind kind, Type type) {
  std::string bits = std::to_string(type.getIntOrFloatBitWidth());
  switch (kind) {
  case AtomicKind::Add:
    return "add.u" + bits;
  case AtomicKind::AddF:
    return type.isBF16() ? "add.noftz.bf16" : type.isF16() ? "add.noftz.f16" : "add.f" + bits;
  case AtomicKind::MinS:
    return "min.s" + bits;
  case AtomicKind::MaxS:
    return "max.s" + bits;
  case AtomicKind::MinU:
    return "min.u" + bits;
  case AtomicKind::MaxU:
    return "max.u" + bits;
  case AtomicKind::And:
  case AtomicKind::Or:
  case AtomicKind::Xor:
  case AtomicKind::Exchange:
    return stringifyAtomicKind(kind).str() + ".b" + bits;
  }
  llvm_unreachable("an atomic kind without a name");
}

} // namespace

LogicalResult AtomicOp::verify() {
  if (isa<FloatType>(getValue().getType()) != (getKind() == AtomicKind::AddF))
    return emitOpError("does ") << stringifyAtomicKind(getKind()) << " with " << getValue().getType()
                                << ", but fadd is for floats and the others are for integers";
  return verifyOrdering(*this, getOrdering(), updateOrderings);
}

Assembly AtomicOp::getAssembly() {
  AssemblyText i(*this);
  return i.text(
      i.guard(getPredicate()), "atom", accessSuffix(getOrdering(), getScope(), getAddress().getType()), ".",
      atomicName(getKind(), getValue().getType()), " $0, ", i.at(getAddress()), ", ", i[getValue()], ";");
}

LogicalResult AtomicCasOp::verify() { return verifyOrdering(*this, getOrdering(), updateOrderings); }

Assembly AtomicCasOp::getAssembly() {
  AssemblyText i(*this);
  return i.text(i.guard(getPredicate()), "atom",
                accessSuffix(getOrdering(), getScope(), getAddress().getType()), ".cas.b",
                std::to_string(getValue().getType().getIntOrFloatBitWidth()), " $0, ", i.at(getAddress()),
                ", ", i[getCompare()], ", ", i[getValue()], ";");
}

LogicalResult AtomicReduceOp::verify() {
  size_t n = getWords().size();
  if (n != 1 && n != 2 && n != 4)
    return emitOpError("has ") << n << " words, but updates 1, 2 or 4";
  if (failed(verifyReduction(*this, getKind(), getElementType())) ||
      failed(verifyOrdering(*this, getOrdering(), {Ordering::Relaxed, Ordering::Release})))
    return failure();
  ElementType type = getElementType();
  for (Type word : getWords().getTypes())
    if (word != wordOf(getContext(), type))
      return emitOpError("has a word of type ") << word << ", but " << stringifyElementType(type)
                                                << " is in words of type " << wordOf(getContext(), type);
  bool isHalf = type == ElementType::F16 || type == ElementType::BF16;
  if (n == 1)
    return isHalf && getKind() != ReduceKind::Add ? emitOpError("does ")
                                                        << stringifyReduceKind(getKind())
                                                        << " on one word of " << stringifyElementType(type)
                                                        << ", but one word can only add; several can"
                                                  : success();
  if (spaceSuffix(getAddress().getType()) != ".global")
    return emitOpError("has ") << n << " words of shared memory, but only global memory takes several";
  if (!isHalf && !(type == ElementType::F32 && getKind() == ReduceKind::Add))
    return emitOpError("does ") << stringifyReduceKind(getKind()) << " on " << n << " words of "
                                << stringifyElementType(type)
                                << ", but several words are of f16, bf16, or added f32";
  return verifyOrdering(*this, getOrdering(), {Ordering::Relaxed});
}

Assembly AtomicReduceOp::getAssembly() {
  AssemblyText i(*this);
  ElementType type = getElementType();
  bool isHalf = type == ElementType::F16 || type == ElementType::BF16;
  // Vectors of f32 stand between operation and type, as all do: add.v4.f32, add.noftz.v4.bf16x2.
  std::string what = isHalf
                         ? stringifyReduceKind(getKind()).str() + ".noftz" + vectorSuffix(getWords().size()) +
                               "." + stringifyElementType(type).str() + "x2"
                         : stringifyReduceKind(getKind()).str() + vectorSuffix(getWords().size()) + "." +
                               reductionType(getKind(), type);
  return i.text(i.guard(getPredicate()), "red",
                accessSuffix(getOrdering(), getScope(), getAddress().getType()), ".", what, " ",
                i.at(getAddress()), ", ", i.vector(getWords()), ";");
}

LogicalResult AtomicLoadOp::verify() {
  return verifyOrdering(*this, getOrdering(), {Ordering::Relaxed, Ordering::Acquire});
}

static std::string bitsSuffix(Type type) { return ".b" + std::to_string(type.getIntOrFloatBitWidth()); }

Assembly AtomicLoadOp::getAssembly() {
  AssemblyText i(*this);
  return i.text("ld", accessSuffix(getOrdering(), getScope(), getAddress().getType()), bitsSuffix(getType()),
                " $0, ", i.at(getAddress()), ";");
}

LogicalResult AtomicStoreOp::verify() {
  return verifyOrdering(*this, getOrdering(), {Ordering::Relaxed, Ordering::Release});
}

Assembly AtomicStoreOp::getAssembly() {
  AssemblyText i(*this);
  return i.text(i.guard(getPredicate()), "st",
                accessSuffix(getOrdering(), getScope(), getAddress().getType()),
                bitsSuffix(getValue().getType()), " ", i.at(getAddress()), ", ", i[getValue()], ";");
}
