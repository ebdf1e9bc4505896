// SPDX-License-Identifier: MIT
// The copy engine's description of a tensor in global memory: 128 bytes of the simulator's own form, made by what stands for the driver's
// cuTensorMapEncodeTiled, and refused by the same rules.
#pragma once

#include "compiler/simulator/Swizzle.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tilegym::sim {

/// Numbered as the driver numbers them. Those that convert while loading (f32 flushed, tf32) are refused.
enum class TensorType : uint8_t {
  U8 = 0,
  U16 = 1,
  U32 = 2,
  S32 = 3,
  U64 = 4,
  S64 = 5,
  F16 = 6,
  F32 = 7,
  F64 = 8,
  BF16 = 9,
};
int tensorTypeBytes(TensorType type);
bool isFloat(TensorType type);

/// Dimension 0 is the contiguous one. `strides[i]` is that of dimension i + 1, in bytes.
struct TensorMap {
  static constexpr int maxRank = 5;

  uint64_t address = 0;
  std::array<uint64_t, maxRank - 1> strides{};
  std::array<uint64_t, maxRank> extents{};
  std::array<uint32_t, maxRank> box{};
  std::array<uint32_t, maxRank> elementStrides{1, 1, 1, 1, 1};
  int rank = 0;
  TensorType type = TensorType::U8;
  Swizzle swizzle = Swizzle::None;
  int interleave = 0; // only 0, none
  bool fillNaN = false;

  int elementBytes() const { return tensorTypeBytes(type); }
  /// Elements that the box has along a dimension: every elementStrides[i]-th one. Dimension 0 knows no such stride.
  uint32_t boxCount(int dim) const {
    return dim == 0 ? box[0]
                    : (box[size_t(dim)] + elementStrides[size_t(dim)] - 1) / elementStrides[size_t(dim)];
  }
  /// Bytes that a load brings, those outside the tensor too: what the mbarrier counts.
  uint32_t boxBytes() const;
  /// Bytes from one row of the box to the next in shared memory: a row narrower than the swizzle's span still takes a whole span.
  uint32_t rowPitch() const {
    return swizzle == Swizzle::None ? box[0] * uint32_t(elementBytes()) : uint32_t(swizzle);
  }
  /// Bytes of shared memory that the box spans.
  uint32_t sharedBytes() const { return boxBytes() / (box[0] * uint32_t(elementBytes())) * rowPitch(); }
};

/// The first rule that a map breaks: what was found and what is allowed.
std::optional<std::string> tensorMapFault(const TensorMap &map);

using TensorMapBytes = std::array<std::byte, 128>;
/// Of a map without a fault.
TensorMapBytes encodeTensorMap(const TensorMap &map);
/// None where the bytes are no tensor map.
std::optional<TensorMap> decodeTensorMap(const std::byte *bytes);

} // namespace tilegym::sim
