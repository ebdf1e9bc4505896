// SPDX-License-Identifier: MIT
// Composes the assembly of one op: its results are `$0` ..., its operands follow, in the op's order.
#pragma once
#include "compiler/targets/nvidia/ptx/PtxDialect.h"

namespace tilegym::ptx {

class AssemblyText {
public:
  /// What LLVM may do with the text: compute it anywhere; keep it and its order; and keep memory accesses on their side of it.
  enum Effect { Pure, Ordered, Memory };
  explicit AssemblyText(mlir::Operation *op, Effect effect = Memory) : op(op), effect(effect) {}

  /// The registers of these operands are those of the results, from the first on.
  AssemblyText &tie(mlir::OperandRange operands);

  std::string operator[](mlir::Value operand) const;
  std::string at(mlir::Value address) const { return "[" + (*this)[address] + "]"; }
  /// `$3`, or `{$3, $4}`.
  std::string vector(mlir::OperandRange operands) const;
  std::string results() const;
  /// `@$4 `, or nothing without a predicate.
  std::string guard(mlir::Value predicate) const { return predicate ? "@" + (*this)[predicate] + " " : ""; }
  /// `, $5`, or nothing without the operand.
  std::string optional(mlir::Value operand) const { return operand ? ", " + (*this)[operand] : ""; }

  template <class... Parts> Assembly text(const Parts &...parts) const {
    return assembly((std::string() + ... + parts));
  }

private:
  Assembly assembly(std::string text) const;

  mlir::Operation *op;
  Effect effect;
  unsigned tiedBegin = 0, tiedCount = 0;
};

/// `{$3, $4}`; one alone without braces.
std::string registerVector(size_t first, size_t count);
/// The suffix of an access of several words: "", `.v2`, `.v4`.
std::string vectorSuffix(size_t count);
/// The state space that a pointer's type names: `.global`, `.shared::cta`, `.shared::cluster`.
std::string spaceSuffix(mlir::Type pointer);
/// The register class LLVM's NVPTX backend knows a type by.
std::string registerClass(mlir::Type type);

} // namespace tilegym::ptx
