// SPDX-License-Identifier: MIT
// Operations a clock and multiprocessor are NVIDIA's, from its tables of arithmetic throughput and of tensor cores; f32 products are IEEE's, without tensor cores.
#include "Roofline.h"
#include <algorithm>

namespace tilegym::cli {
namespace {

enum : int { // CUdevice_attribute
  kClockRate = 13,
  kMemoryClockRate = 36, ///< both in kHz
  kMemoryBusWidth = 37   ///< bits
};

struct PerClock {
  int arch;
  double f64, f32, f16, f8, i8;
};
constexpr PerClock kPerClock[] = {{80, 128, 128, 2048, 0, 4096}, {90, 256, 256, 4096, 8192, 8192}};

} // namespace

Peaks peaksOf(const Gpu &gpu) {
  auto ask = [&](int attribute) {
    int value = 0;
    return gpu.driver->deviceGetAttribute(&value, attribute, gpu.device->ordinal) == runtime::kSuccess
               ? double(value)
               : 0.0;
  };
  Peaks peaks;
  peaks.bytes = 2 * ask(kMemoryClockRate) * 1e3 * ask(kMemoryBusWidth) / 8; // two transfers a clock
  peaks.clock = ask(kClockRate) * 1e3;
  peaks.arch = gpu.device->arch;
  peaks.multiprocessors = gpu.device->multiprocessors;
  return peaks;
}

double Peaks::flops(DType dtype) const {
  const auto *found = std::find_if(std::begin(kPerClock), std::end(kPerClock),
                                   [&](const PerClock &p) { return p.arch == arch; });
  if (found == std::end(kPerClock))
    return 0;
  double perClock = 0;
  switch (dtype) {
  case DType::F64:
    perClock = found->f64;
    break;
  case DType::F32:
    perClock = found->f32;
    break;
  case DType::F16:
  case DType::BF16:
    perClock = found->f16;
    break;
  case DType::F8E4M3:
  case DType::F8E5M2:
    perClock = found->f8;
    break;
  case DType::I8:
    perClock = found->i8;
    break;
  default:
    break;
  }
  return perClock * clock * multiprocessors;
}

double Peaks::roofline(int64_t bytesMoved, int64_t flopsDone, DType dtype) const {
  double memory = bytes > 0 ? double(bytesMoved) / bytes : 0;
  double arithmetic = flopsDone && flops(dtype) > 0 ? double(flopsDone) / flops(dtype) : 0;
  if ((bytesMoved && memory == 0) || (flopsDone && arithmetic == 0))
    return 0;
  return std::max(memory, arithmetic);
}

} // namespace tilegym::cli
