// SPDX-License-Identifier: MIT
// The rates are those of NVIDIA's data sheets, or follow from its tables of operations a clock and multiprocessor; f32 products are IEEE's, without tensor cores.
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
  if ((bytes && bytesPerSecond <= 0) || (flops && rate <= 0))
    return 0;
  return std::max(bytes ? double(bytes) / bytesPerSecond : 0, flops ? double(flops) / rate : 0);
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

Card cardOf(const Gpu &gpu) {
  enum : int {
    ClockRate = 13,
    MemoryClockRate = 36,
    MemoryBusWidth = 37
  }; // CUdevice_attribute: kHz, kHz, bits
  auto ask = [&](int attribute) {
    int value = 0;
    return gpu.driver->deviceGetAttribute(&value, attribute, gpu.device->ordinal) == runtime::kSuccess
               ? double(value)
               : 0.0;
  };
  const runtime::Device &device = *gpu.device;
  double clocks = ask(ClockRate) * 1e3 * device.multiprocessors;
  Card card{device.name, device.arch, device.multiprocessors, 0, 0, 0};
  card.bytesPerSecond = 2 * ask(MemoryClockRate) * 1e3 * ask(MemoryBusWidth) / 8; // two transfers a clock
  if (device.arch == 80 || device.arch == 90) {
    card.f32PerSecond = clocks * (device.arch == 80 ? 128 : 256);
    card.f16PerSecond = clocks * (device.arch == 80 ? 2048 : 4096);
  }
  return card;
}

std::string knownCards() {
  std::string text;
  for (const Card &card : kCards)
    text += std::string(text.empty() ? "" : ", ") + card.name;
  return text;
}

} // namespace tilegym::cli
