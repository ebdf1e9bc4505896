// SPDX-License-Identifier: MIT
// A box of a tensor map as runs of bytes: where in global memory, and where in (swizzled) shared memory.
#pragma once

#include "compiler/simulator/TensorMap.h"

#include <functional>
#include <span>

namespace tilegym::sim {

/// Up to 16 bytes that stay together on both sides. Outside the tensor there is no global address: loads fill, stores and reductions skip.
struct BoxRun {
  uint64_t shared; // address
  uint64_t global; // address, where inside
  uint32_t bytes;
  bool inside;
};

/// Calls `visit` for all bytes of the box whose first element is at `coordinates` (dimension 0 first), in the order of shared memory. `shared` is the
/// tile's first byte; the swizzle works on absolute addresses.
void walkBox(const TensorMap &map, std::span<const int32_t> coordinates, uint64_t shared,
             const std::function<void(const BoxRun &)> &visit);

/// What a load writes outside the tensor, `bytes` of it: zeros, or the type's NaN.
void fillOutside(const TensorMap &map, std::byte *to, uint32_t bytes);

} // namespace tilegym::sim
