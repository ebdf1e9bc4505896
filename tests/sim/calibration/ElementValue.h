// SPDX-License-Identifier: MIT
// Elements of calibration's buffers: types, how inputs are generated, how outputs are compared.
#pragma once
#include "compiler/semantics/DType.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tilegym::calibration {

enum class Element { U8, U16, U32, U64, S8, S32, F16, BF16, F32, F64, TF32, E4M3, E5M2 };
/// Throws std::runtime_error where no type has the name.
Element parseElement(const std::string &name);
unsigned bytesOf(Element type);
const char *nameOf(Element type);
/// The value of an element's bits; exact for floats.
double valueOf(Element type, uint64_t bits);

/// How a buffer is filled. `words` are what follows its name:
///   zero | byte B | index FIRST STEP (as numbers, converted to the type) | bits FIRST STEP (as bit patterns) | hash SEED (random bits)
///   | uniform SEED LOW HIGH | small SEED LOW HIGH (integers) | special (the type's edge cases, again and again)
///   | pairs N (of the specials: number i / count and i % count) | list V V V (again and again)
struct Generator {
  std::string name = "byte";
  std::vector<double> words = {0xA5}; ///< what no kernel wrote stays recognisable
};
std::vector<uint8_t> generate(Element type, size_t count, const Generator &generator);

struct Judge {
  enum Kind { Bits, Numbers, Ulp, Near } kind = Bits; ///< Numbers: bits, but each NaN is like every other
  double ulp = 0, absolute = 0, relative = 0;
};
struct Judgement {
  size_t wrong = 0, different = 0, first = 0; ///< `first` that is wrong, else that differs
  double worst =
      0; ///< in ulp of the element's type, or absolute for Near; infinite where one is NaN or the sign of infinity differs
};
Judgement judge(Element type, const Judge &how, const std::vector<uint8_t> &expected,
                const std::vector<uint8_t> &found);

} // namespace tilegym::calibration
