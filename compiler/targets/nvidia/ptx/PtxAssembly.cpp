// SPDX-License-Identifier: MIT
// The text of each instruction that LLVM has no intrinsic for, or whose intrinsic cannot be predicated.
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tilegym::ptx;

namespace {

std::string dollar(size_t n) { return "$" + std::to_string(n); }

/// `$first` or `{$first, ...}`.
std::string vectorOperand(size_t first, size_t count) {
  if (count == 1)
    return dollar(first);
  std::string text = "{";
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + dollar(first + i);
  return text + "}";
}

std::string vectorSuffix(size_t count) { return count == 1 ? "" : ".v" + std::to_string(count); }

/// The register class LLVM's NVPTX backend knows a type by.
const char *registerClass(Type type) {
  if (type.isF32())
    return "f";
  if (type.isF64())
    return "d";
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return "b";
  case 16:
    return "h";
  case 32:
    return "r";
  default:
    return "l";
  }
}

void addConstraint(std::string &constraints, const std::string &constraint) {
  constraints += (constraints.empty() ? "" : ",") + constraint;
}

const char *movOf(Type word) {
  unsigned bits = word.getIntOrFloatBitWidth();
  return bits == 16 ? "mov.b16 " : bits == 32 ? "mov.b32 " : "mov.b64 ";
}

const char *atomicName(AtomicKind kind, Type type) {
  bool wide = type.getIntOrFloatBitWidth() == 64;
  switch (kind) {
  case AtomicKind::Add:
    return wide ? "add.u64" : "add.u32";
  case AtomicKind::AddF:
    return type.isF64()   ? "add.f64"
           : type.isF32() ? "add.f32"
           : type.isF16() ? "add.noftz.f16"
                          : "add.noftz.bf16";
  case AtomicKind::MinS:
    return wide ? "min.s64" : "min.s32";
  case AtomicKind::MaxS:
    return wide ? "max.s64" : "max.s32";
  case AtomicKind::MinU:
    return wide ? "min.u64" : "min.u32";
  case AtomicKind::MaxU:
    return wide ? "max.u64" : "max.u32";
  case AtomicKind::And:
    return wide ? "and.b64" : "and.b32";
  case AtomicKind::Or:
    return wide ? "or.b64" : "or.b32";
  case AtomicKind::Xor:
    return wide ? "xor.b64" : "xor.b32";
  case AtomicKind::Exchange:
    return wide ? "exch.b64" : "exch.b32";
  }
  llvm_unreachable("an atomic kind without a name");
}

} // namespace

Assembly LoadGlobalOp::getAssembly() {
  size_t n = getWords().size(), address = n;
  Assembly a{"", "", true};
  for (Value word : getWords())
    addConstraint(a.constraints, std::string("=") + registerClass(word.getType()));
  addConstraint(a.constraints, "l");
  std::string guard;
  if (getPredicate()) {
    addConstraint(a.constraints, "b");
    for (auto [i, other] : llvm::enumerate(getOther())) {
      addConstraint(a.constraints, registerClass(other.getType()));
      a.text += movOf(other.getType()) + dollar(i) + ", " + dollar(address + 2 + i) + "; ";
    }
    guard = "@" + dollar(address + 1) + " ";
  }
  a.text += guard + "ld.global" + (getReadonly() ? ".nc" : "") +
            (getCache() == Cache::Streaming ? ".L1::no_allocate" : "") + vectorSuffix(n) + ".b" +
            std::to_string(getBits()) + " " + vectorOperand(0, n) + ", [" + dollar(address) + " + " +
            std::to_string(getOffset()) + "];";
  addConstraint(a.constraints, "~{memory}");
  return a;
}

Assembly StoreGlobalOp::getAssembly() {
  size_t n = getWords().size();
  Assembly a{"", "", true};
  for (Value word : getWords())
    addConstraint(a.constraints, registerClass(word.getType()));
  addConstraint(a.constraints, "l");
  if (getPredicate()) {
    addConstraint(a.constraints, "b");
    a.text += "@" + dollar(n + 1) + " ";
  }
  a.text += std::string("st.global") + (getCache() == Cache::Streaming ? ".L1::no_allocate" : "") +
            vectorSuffix(n) + ".b" + std::to_string(getBits()) + " [" + dollar(n) + " + " +
            std::to_string(getOffset()) + "], " + vectorOperand(0, n) + ";";
  addConstraint(a.constraints, "~{memory}");
  return a;
}

Assembly AtomicOp::getAssembly() {
  std::string c = registerClass(getValue().getType());
  return {std::string("@$3 atom.relaxed.gpu.global.") + atomicName(getKind(), getValue().getType()) +
              " $0, [$1], $2;",
          "=" + c + ",l," + c + ",b,~{memory}", true};
}

Assembly AtomicCasOp::getAssembly() {
  std::string c = registerClass(getValue().getType());
  return {"@$4 atom.relaxed.gpu.global.cas.b" + std::to_string(getValue().getType().getIntOrFloatBitWidth()) +
              " $0, [$1], $2, $3;",
          "=" + c + ",l," + c + "," + c + ",b,~{memory}", true};
}

Assembly TrapOp::getAssembly() { return {"trap;", "", true}; }

Assembly ApproxOp::getAssembly() {
  // tanh.approx has no .ftz form: it flushes nothing.
  bool flush = getFtz() && getKind() != ApproxKind::Tanh;
  return {stringifyApproxKind(getKind()).str() + ".approx" + (flush ? ".ftz" : "") + ".f32 $0, $1;", "=f,f",
          false};
}

Assembly DivideApproxOp::getAssembly() {
  return {std::string("div.full") + (getFtz() ? ".ftz" : "") + ".f32 $0, $1, $2;", "=f,f,f", false};
}

static std::string typeSuffix(Type type, bool isUnsigned) {
  std::string bits = std::to_string(type.getIntOrFloatBitWidth());
  return (isa<FloatType>(type) ? ".f" : isUnsigned ? ".u" : ".s") + bits;
}

Assembly ConvertOp::getAssembly() {
  Type from = getOperand().getType(), to = getResult().getType();
  std::string mode = stringifyRoundingMode(getMode()).str();
  if (isa<FloatType>(from) && !isa<FloatType>(to))
    mode += "i"; // to an integral value
  return {"cvt." + mode + typeSuffix(to, getIsUnsigned()) + typeSuffix(from, getIsUnsigned()) + " $0, $1;",
          std::string("=") + registerClass(to) + "," + registerClass(from), false};
}
