// SPDX-License-Identifier: MIT
// What a calibration kernel is launched with and how its outputs are judged: read from the `//!` lines of its .mlir file, the same on a GPU
// and in the simulator.
//
//   //! kernel NAME block 32 grid 1 shared 0
//   //! in u32 64 hash 7               a parameter: a buffer of 64 u32, filled by a generator
//   //! out f32 64 ulp 2 from zero     a parameter: a buffer that is kept and compared: `bits`, `numbers` (any NaN is as good),
//                                     `ulp N` or `near ABSOLUTE RELATIVE`
//   //! map bf16 of 0 dims 64,40 strides 128 box 32,8 swizzle 64     a parameter: a tensor map over buffer 0 (counting in and out)
//
// Parameters are in the order of the lines.
#pragma once
#include "ElementValue.h"
#include <vector>

namespace tilegym::calibration {

struct Buffer {
  Element type = Element::U32;
  size_t count = 0;
  Generator generator;
  bool isOutput = false;
  Judge judge;
};

/// As cuTensorMapEncodeTiled takes it.
struct MapPlan {
  Element type = Element::U8;
  unsigned buffer = 0;
  std::vector<uint64_t> dims, strides;
  std::vector<uint32_t> box, elementStrides;
  int swizzle = 0;      ///< span in bytes, 0 none
  bool fillNaN = false; ///< what lies outside reads as NaN
};

struct Parameter {
  bool isMap = false;
  unsigned index = 0; ///< of `buffers` or `maps`
};

struct KernelPlan {
  std::string file, name; ///< the file without its folder and suffix
  unsigned grid = 1, block = 32, shared = 0;
  std::vector<Buffer> buffers;
  std::vector<MapPlan> maps;
  std::vector<Parameter> parameters;
};

/// Every kernel of every .mlir file of the folder, by file and order in it. Throws std::runtime_error with file and line of a bad one.
std::vector<KernelPlan> readPlans(const std::string &folder);

} // namespace tilegym::calibration
