// SPDX-License-Identifier: MIT
// The rates are those of NVIDIA's data sheets.
#include "Cards.h"
#include "Specs.h"
#include <algorithm>

namespace tilegym::cli {

static constexpr Card kCards[] = {{"H200", 90, 132, 4.8e12, 67e12, 989e12},
                                  {"H100 SXM", 90, 132, 3.35e12, 67e12, 989e12},
                                  {"A100 80 GB", 80, 108, 2.039e12, 19.5e12, 312e12},
                                  {"A100 40 GB", 80, 108, 1.555e12, 19.5e12, 312e12}};

double Card::roofline(int64_t bytes, int64_t flops, DType dtype) const {
  double rate = dtype == DType::F16 || dtype == DType::BF16 ? f16PerSecond : f32PerSecond;
  return std::max(double(bytes) / bytesPerSecond, double(flops) / rate);
}

const Card *findCard(const std::string &name) {
  for (const Card &card : kCards)
    if (matchesAll(card.name, {name}))
      return &card;
  return nullptr;
}

const Card *cardOfArch(int arch) {
  for (const Card &card : kCards)
    if (card.arch == arch)
      return &card;
  return nullptr;
}

std::string knownCards() {
  std::string text;
  for (const Card &card : kCards)
    text += std::string(text.empty() ? "" : ", ") + card.name;
  return text;
}

} // namespace tilegym::cli
