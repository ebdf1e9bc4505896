// SPDX-License-Identifier: MIT
// The interface between compiled code and the machine: one C function for each target instruction, and the constant that tells it what
// the instruction's attributes are and which line of the spec it stands for.
#pragma once
#include <cstdint>

namespace tilegym::sim {

/// One instruction of a module. Plain C layout: `to-sim` emits it as a constant, tests write it by hand.
struct Site {
  const char *mnemonic = ""; ///< "shuffle", without the dialect's name
  const char *file = "";     ///< the spec, as it was named on the command line
  uint32_t line = 0, column = 0;
  uint32_t numOperands = 0, numResults = 0, numAttributes = 0, numSegments = 0;
  /// ODS order. Enum: its value; unit: 0 or 1; integer: itself; absent optional: 0; string: address of its NUL-terminated characters;
  /// dense array: address of its int64 elements, preceded by their count.
  const int64_t *attributes = nullptr;
  const int32_t *segments =
      nullptr; ///< how many operands each ODS operand has, where some are optional or variadic; else null
  /// The type of each operand, then of each result: the width in bits (pointers 64), floats with `floatBit` set, bf16 as `bf16Type`. So f32
  /// is 0xA0, f16 0x90, f64 0xC0, i1 1.
  const uint8_t *bits = nullptr;

  static constexpr uint8_t floatBit = 0x80, f16Type = 0x90, bf16Type = 0x91, f32Type = 0xA0, f64Type = 0xC0;
  uint8_t operandType(unsigned index) const { return bits[index]; }
  uint8_t resultType(unsigned index) const { return bits[numOperands + index]; }
  static constexpr bool isFloat(uint8_t type) { return type & floatBit; }
  static constexpr unsigned width(uint8_t type) { return isFloat(type) ? type & 0x7E : type; }
  const char *text(unsigned attribute) const {
    return reinterpret_cast<const char *>(static_cast<uintptr_t>(attributes[attribute]));
  }
};

/// One 64-bit slot a value, bits zero-extended: f32, f16, bf16 as their bits; i1 as 0 or 1; pointers as addresses. ODS order. Both arrays
/// lie on the calling thread's stack and stay valid while it is suspended. `results` may be null where there are none.
using Instruction = void (*)(const uint64_t *operands, uint64_t *results, const Site *site);

} // namespace tilegym::sim
