// SPDX-License-Identifier: MIT
// The functions that LLVM's code generation expects of a compiler's own library, by the interpreter's numerics, so that the host's version of it does
// not decide a result. Halves are passed in the low 16 bits of a vector register; so is a float, and C++20 has no type for them.
#include "compiler/simulator/jit/HostSymbols.h"
#include "compiler/interpreter/Numerics.h"
#include <bit>
#include <cmath>

namespace tilegym::sim {
namespace {

using interp::Rounding;

float halfInRegister(uint64_t bits) { return std::bit_cast<float>(uint32_t(bits)); }
uint16_t halfOf(float inRegister) { return uint16_t(std::bit_cast<uint32_t>(inRegister)); }

template <DType type, class From> float narrow(From x) {
  return halfInRegister(interp::encodeNearest<type>(double(x), false));
}
template <DType type, class To> To widen(float x) { return To(interp::decode(floatFormat(type), halfOf(x))); }

template <DType type> uint16_t fma16(uint16_t a, uint16_t b, uint16_t c) {
  FloatFormat format = floatFormat(type);
  double odd =
      interp::fmaToOdd(interp::decode(format, a), interp::decode(format, b), interp::decode(format, c));
  return uint16_t(interp::encodeDouble(format, odd, Rounding::NearestEven, false));
}

/// a * b + c in f32 with a direction: the product is exact in f64, and the sum, rounded to odd, keeps the side it is on.
template <Rounding rounding> float fmaDirected(float a, float b, float c) {
  double odd = interp::fmaToOdd(a, b, c);
  return std::bit_cast<float>(uint32_t(interp::encodeDouble(floatFormat(DType::F32), odd, rounding, false)));
}

} // namespace

std::span<const HostSymbol> hostSymbols() {
  static const HostSymbol symbols[] = {
      {"__truncsfhf2", reinterpret_cast<void *>(&narrow<DType::F16, float>)},
      {"__truncdfhf2", reinterpret_cast<void *>(&narrow<DType::F16, double>)},
      {"__extendhfsf2", reinterpret_cast<void *>(&widen<DType::F16, float>)},
      {"__extendhfdf2", reinterpret_cast<void *>(&widen<DType::F16, double>)},
      {"__truncsfbf2", reinterpret_cast<void *>(&narrow<DType::BF16, float>)},
      {"__truncdfbf2", reinterpret_cast<void *>(&narrow<DType::BF16, double>)},
      {"tgsim_fma_f16", reinterpret_cast<void *>(&fma16<DType::F16>)},
      {"tgsim_fma_bf16", reinterpret_cast<void *>(&fma16<DType::BF16>)},
      {"tgsim_nvvm_fma_rm_f", reinterpret_cast<void *>(&fmaDirected<Rounding::Down>)},
      {"tgsim_nvvm_fma_rp_f", reinterpret_cast<void *>(&fmaDirected<Rounding::Up>)},
      {"tgsim_nvvm_fma_rz_f", reinterpret_cast<void *>(&fmaDirected<Rounding::TowardZero>)},
  };
  return symbols;
}

} // namespace tilegym::sim
