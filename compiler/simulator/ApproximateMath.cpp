// SPDX-License-Identifier: MIT
// The special-function unit. Each function is computed in f64 and rounded once to f32, so it is within 0.501 ulp of the exact value; the
// hardware's own bounds (PTX ISA) are wider, and results agree within the sum of both, not bit by bit.
#include "compiler/simulator/Instructions.h"
#include "compiler/simulator/MemoryReduction.h"
#include <bit>
#include <cmath>

namespace tilegym::sim {
namespace {

enum class Approx { Ex2, Lg2, Rsqrt, Rcp, Sqrt, Sin, Cos, Tanh };

double exact(Approx function, double x) {
  switch (function) {
  case Approx::Ex2:
    return std::exp2(x);
  case Approx::Lg2:
    return std::log2(x);
  case Approx::Rsqrt:
    return 1 / std::sqrt(x); // -0 gives -infinity, as the hardware's does
  case Approx::Rcp:
    return 1 / x;
  case Approx::Sqrt:
    return std::sqrt(x);
  case Approx::Sin:
    return std::sin(x);
  case Approx::Cos:
    return std::cos(x);
  case Approx::Tanh:
    return std::tanh(x);
  }
  return x;
}

float operandOf(uint64_t bits, bool ftz) {
  auto value = std::bit_cast<float>(uint32_t(bits));
  return ftz ? flushed(value) : value;
}

uint64_t resultOf(float value, bool ftz) {
  if (std::isnan(value))
    return canonicalNaN32;
  return std::bit_cast<uint32_t>(ftz ? flushed(value) : value);
}

void approx(const uint64_t *operands, uint64_t *results, const Site *site) {
  auto function = Approx(site->attributes[0]);
  bool ftz = site->attributes[1] && function != Approx::Tanh; // which has no such form
  results[0] = resultOf(float(exact(function, operandOf(operands[0], ftz))), ftz);
}

void divideApprox(const uint64_t *operands, uint64_t *results, const Site *site) {
  bool ftz = site->attributes[0];
  results[0] = resultOf(operandOf(operands[0], ftz) / operandOf(operands[1], ftz), ftz);
}

constexpr Row rows[] = {{"approx", approx}, {"divide_approx", divideApprox}};

} // namespace

std::span<const Row> mathInstructions() { return rows; }

} // namespace tilegym::sim
