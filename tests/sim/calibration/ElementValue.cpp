// SPDX-License-Identifier: MIT
// Generation by counters and mixes, so that both sides make the same inputs; comparison by distance in the type's own steps.
#include "ElementValue.h"
#include "compiler/interpreter/Numerics.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace tilegym::calibration {
namespace {

struct ElementFacts {
  const char *name;
  unsigned bytes;
  bool isFloat, isSigned;
  FloatFormat format;
};

const ElementFacts &factsOf(Element type) {
  static const FloatFormat f16 = floatFormat(DType::F16), bf16 = floatFormat(DType::BF16),
                           f32 = floatFormat(DType::F32), f64 = floatFormat(DType::F64);
  static const ElementFacts facts[] = {{"u8", 1, false, false, f32},
                                       {"u16", 2, false, false, f32},
                                       {"u32", 4, false, false, f32},
                                       {"u64", 8, false, false, f32},
                                       {"s8", 1, false, true, f32},
                                       {"s32", 4, false, true, f32},
                                       {"f16", 2, true, true, f16},
                                       {"bf16", 2, true, true, bf16},
                                       {"f32", 4, true, true, f32},
                                       {"f64", 8, true, true, f64},
                                       {"tf32", 4, true, true, f32},
                                       {"e4m3", 1, true, true, floatFormat(DType::F8E4M3)},
                                       {"e5m2", 1, true, true, floatFormat(DType::F8E5M2)}};
  return facts[size_t(type)];
}

uint64_t maskOf(unsigned bytes) { return bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << bytes * 8) - 1; }

/// splitmix64's finaliser.
uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}
uint64_t randomBits(double seed, size_t i) { return mix(mix(uint64_t(seed)) + i); }
double randomUnit(double seed, size_t i) { return double(randomBits(seed, i) >> 11) * 0x1p-53; }

uint64_t encoded(Element type, double value) {
  const ElementFacts &facts = factsOf(type);
  if (facts.isFloat) {
    uint64_t bits = interp::encodeDouble(facts.format, value, interp::Rounding::NearestEven, false);
    // What a tensor core does with the bits that tf32 lacks is not for random inputs to find out.
    return type == Element::TF32 ? bits & ~uint64_t(0x1FFF) : bits;
  }
  return uint64_t(int64_t(value)) & maskOf(facts.bytes);
}

/// Noughts, ends of the subnormal and normal range, halves and what is near them, infinities, NaNs with payloads and signs.
std::vector<uint64_t> specials(Element type) {
  const ElementFacts &facts = factsOf(type);
  uint64_t all = maskOf(facts.bytes);
  if (!facts.isFloat)
    return {
        0, 1, 2, 3, 0x7F, 0x80, all, all - 1, all >> 1, (all >> 1) + 1, 0x55555555 & all, 0xAAAAAAAA & all};
  int fraction = facts.format.fractionBits;
  uint64_t one = uint64_t(facts.format.bias()) << fraction, least = uint64_t(1) << fraction;
  uint64_t top = all >> 1 & ~(least - 1); // infinity, where there is one
  std::vector<uint64_t> bits = {0,       1,   least - 1, least,           one,     one + 1, one + least,
                                top - 1, top, top + 1,   top + least / 2, all >> 1};
  for (size_t i = 0, n = bits.size(); i < n; ++i)
    bits.push_back(bits[i] ^ (all ^ all >> 1));
  return bits;
}

} // namespace

Element parseElement(const std::string &name) {
  for (int i = 0; i <= int(Element::E5M2); ++i)
    if (name == factsOf(Element(i)).name)
      return Element(i);
  throw std::runtime_error("'" + name + "' is no element type");
}
unsigned bytesOf(Element type) { return factsOf(type).bytes; }
const char *nameOf(Element type) { return factsOf(type).name; }

double valueOf(Element type, uint64_t bits) {
  const ElementFacts &facts = factsOf(type);
  if (facts.isFloat)
    return interp::decode(facts.format, bits);
  if (!facts.isSigned)
    return double(bits);
  unsigned unused = 64 - facts.bytes * 8;
  return double(int64_t(bits << unused) >> unused);
}

std::vector<uint8_t> generate(Element type, size_t count, const Generator &generator) {
  const std::vector<double> &w = generator.words;
  auto word = [&](size_t i) {
    if (i >= w.size())
      throw std::runtime_error("the generator '" + generator.name + "' lacks number " +
                               std::to_string(i + 1));
    return w[i];
  };
  auto special = specials(type);
  auto bitsAt = [&](size_t i) -> uint64_t {
    const std::string &name = generator.name;
    if (name == "zero")
      return 0;
    if (name == "byte")
      return uint64_t(word(0)) * 0x0101010101010101;
    if (name == "index")
      return encoded(type, word(0) + word(1) * double(i));
    if (name == "bits")
      return uint64_t(word(0)) + uint64_t(word(1)) * i;
    if (name == "hash")
      return randomBits(word(0), i);
    if (name == "uniform")
      return encoded(type, word(1) + (word(2) - word(1)) * randomUnit(word(0), i));
    if (name == "small")
      return encoded(type, word(1) + double(randomBits(word(0), i) % uint64_t(word(2) - word(1) + 1)));
    if (name == "special")
      return special[i % special.size()];
    if (name == "pairs")
      return special[(word(0) == 0 ? i / special.size() : i) % special.size()];
    if (name == "list" && !w.empty())
      return encoded(type, w[i % w.size()]);
    throw std::runtime_error("'" + name + "' is no generator");
  };
  unsigned bytes = bytesOf(type);
  std::vector<uint8_t> data(count * bytes);
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = bitsAt(i);
    std::memcpy(&data[i * bytes], &bits, bytes);
  }
  return data;
}

namespace {

/// The bits as a number that rises by one from each value to the next.
double step(const ElementFacts &facts, uint64_t bits) {
  if (!facts.isFloat && !facts.isSigned)
    return double(bits);
  uint64_t sign = maskOf(facts.bytes) ^ maskOf(facts.bytes) >> 1;
  if (!facts.isFloat)
    return double(int64_t(bits ^ sign) - int64_t(sign));
  return bits & sign ? -double(bits ^ sign) : double(bits);
}

double distance(Element type, Judge::Kind kind, uint64_t expected, uint64_t found) {
  const ElementFacts &facts = factsOf(type);
  if (expected == found)
    return 0;
  double a = valueOf(type, expected), b = valueOf(type, found);
  if (std::isnan(a) && std::isnan(b))
    return kind == Judge::Bits ? std::numeric_limits<double>::infinity() : 0;
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::infinity();
  if (kind == Judge::Near)
    return std::abs(a - b);
  double steps = std::abs(step(facts, expected) - step(facts, found));
  return kind == Judge::Ulp ? steps
                            : std::max(steps, 1.0); // noughts of two signs are one number, but other bits
}

} // namespace

Judgement judge(Element type, const Judge &how, const std::vector<uint8_t> &expected,
                const std::vector<uint8_t> &found) {
  Judgement judgement;
  unsigned bytes = bytesOf(type);
  for (size_t i = 0; i * bytes < expected.size(); ++i) {
    uint64_t a = 0, b = 0;
    std::memcpy(&a, &expected[i * bytes], bytes);
    std::memcpy(&b, &found[i * bytes], bytes);
    double error = distance(type, how.kind, a, b);
    judgement.worst = std::max(judgement.worst, error);
    double bound =
        how.kind == Judge::Near ? how.absolute + how.relative * std::abs(valueOf(type, a)) : how.ulp;
    bool isWrong = error > bound || (std::isinf(error) && how.kind == Judge::Near);
    if ((isWrong && !judgement.wrong) || (a != b && !judgement.different))
      judgement.first = i;
    judgement.wrong += isWrong;
    judgement.different += a != b;
  }
  return judgement;
}

} // namespace tilegym::calibration
