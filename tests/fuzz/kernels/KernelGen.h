// SPDX-License-Identifier: MIT
// Random kernels as spec texts: well-typed, in bounds, free of races and of anything the language leaves open, so that the interpreter's run of a kernel
// says what the compiled one must give, bit for bit. A text is whole: its `test` section has the calls, and comments say what is special:
//   # fuzz specials x0 x3        inputs that get NaN, infinities, -0, subnormals and extreme integers among their values
//   # fuzz near y1 1e-06 1e-30   an output of approximate functions: |got - want| <= 1e-06 |want| + 1e-30; all others are bit-equal
#pragma once
#include <cstdint>
#include <string>

namespace tilegym::fuzz {

/// Equal seeds give equal texts, on every machine.
std::string generateKernel(uint64_t seed);

} // namespace tilegym::fuzz
