// SPDX-License-Identifier: MIT
// What kernels gave on a GPU, kept as text:
//
//   # NVIDIA H200, driver for CUDA 13.0, 2026-11-30
//   kernel warp shuffle_xor
//   out u32 64
//   AAECAwQF... (the output's bytes in base 64)
//
// The words after `kernel` are its file and name. A kernel that failed has `error TEXT` instead of outputs.
#pragma once
#include "KernelPlan.h"
#include <iosfwd>
#include <map>

namespace tilegym::calibration {

struct KernelRecord {
  std::string error;
  std::vector<std::pair<Element, std::vector<uint8_t>>> outputs;
  std::string origin; ///< the `#` line before it
};

void writeRecord(std::ostream &stream, const KernelPlan &plan,
                 const std::vector<std::vector<uint8_t>> &outputs);
/// Adds those of a file, by "file name". Throws std::runtime_error with the line of what is malformed.
void readRecords(const std::string &path, std::map<std::string, KernelRecord> &records);

} // namespace tilegym::calibration
