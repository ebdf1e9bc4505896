// SPDX-License-Identifier: MIT
// Verifiers and texts of accesses to global and shared memory.
#include "compiler/targets/nvidia/ptx/AssemblyText.h"

using namespace mlir;
using namespace tilegym::ptx;

/// Words of 8 and 16 bits travel in i16, others in their own width; an access is at most 16 bytes.
static LogicalResult verifyWords(Operation *op, TypeRange words, int64_t bits) {
  size_t n = words.size();
  if (n != 1 && n != 2 && n != 4)
    return op->emitOpError("has ") << n << " words, but an access has 1, 2 or 4";
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return op->emitOpError("has words of ") << bits << " bits, but 8, 16, 32 and 64 exist";
  if (bits * int64_t(n) > 128)
    return op->emitOpError("moves ") << bits * int64_t(n) / 8 << " bytes, but an access has at most 16";
  for (Type word : words)
    if (word.getIntOrFloatBitWidth() != std::max<int64_t>(bits, 16))
      return op->emitOpError("has a word of type ") << word << " for " << bits << " bits";
  return success();
}

template <class Load> static LogicalResult verifyLoad(Load op) {
  if (op.getPredicate() ? op.getOther().getTypes() != op.getWords().getTypes() : !op.getOther().empty())
    return op.emitOpError("needs one `else` word for each word under a predicate, and none without");
  return verifyWords(op, op.getWords().getTypes(), op.getBits());
}

LogicalResult LoadGlobalOp::verify() { return verifyLoad(*this); }
LogicalResult LoadSharedOp::verify() { return verifyLoad(*this); }

LogicalResult StoreGlobalOp::verify() { return verifyWords(*this, getWords().getTypes(), getBits()); }

/// `.L1::no_allocate.v4.b32`
static std::string accessSuffix(Cache cache, size_t words, int64_t bits) {
  return (cache == Cache::Streaming ? ".L1::no_allocate" : "") + vectorSuffix(words) + ".b" +
         std::to_string(bits);
}

static std::string place(const AssemblyText &i, Value address, int64_t offset) {
  return "[" + i[address] + " + " + std::to_string(offset) + "]";
}

/// The words first get what they have where the predicate is false.
template <class Load> static Assembly loadText(Load op, const std::string &name) {
  AssemblyText i(op);
  std::string others;
  for (auto [word, other] : llvm::zip(op.getWords(), op.getOther())) {
    unsigned n = cast<OpResult>(word).getResultNumber();
    others += "mov.b" + std::to_string(other.getType().getIntOrFloatBitWidth()) + " $" + std::to_string(n) +
              ", " + i[other] + "; ";
  }
  return i.text(others, i.guard(op.getPredicate()), name, " ", i.results(), ", ",
                place(i, op.getAddress(), op.getOffset()), ";");
}

Assembly LoadGlobalOp::getAssembly() {
  return loadText(*this, std::string("ld.global") + (getReadonly() ? ".nc" : "") +
                             accessSuffix(getCache(), getWords().size(), getBits()));
}

Assembly LoadSharedOp::getAssembly() {
  return loadText(*this, "ld.shared" + accessSuffix(Cache::Default, getWords().size(), getBits()));
}

Assembly StoreGlobalOp::getAssembly() {
  AssemblyText i(*this);
  return i.text(i.guard(getPredicate()), "st.global", accessSuffix(getCache(), getWords().size(), getBits()),
                " ", place(i, getAddress(), getOffset()), ", ", i.vector(getWords()), ";");
}
