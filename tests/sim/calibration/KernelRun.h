// SPDX-License-Identifier: MIT
// One launch of a calibration kernel, through a table of driver functions: a GPU's or the simulator's.
#pragma once
#include "KernelPlan.h"
#include "runtime/src/Driver.h"
#include <array>
#include <functional>

namespace tilegym::calibration {

using TensorMapBytes = std::array<uint64_t, 16>;

struct Platform {
  const runtime::Driver *driver = nullptr;
  const runtime::Device *device = nullptr;
  /// Throws std::runtime_error where the map is refused.
  std::function<TensorMapBytes(const MapPlan &, uint64_t address)> encodeMap;
};

/// The bytes of each buffer that is an output. Throws std::runtime_error with what the driver says.
std::vector<std::vector<uint8_t>> runKernel(const KernelPlan &plan, const std::string &image,
                                            const Platform &platform);

std::string readFile(const std::string &path);

} // namespace tilegym::calibration
