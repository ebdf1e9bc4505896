// SPDX-License-Identifier: MIT
// The 64-bit descriptor of a wgmma operand in shared memory, and where it says each element is.
#pragma once

#include "compiler/simulator/Swizzle.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tilegym::sim {

struct MatrixDescriptor {
  uint32_t start = 0;   // byte address, 18 bits, a multiple of 16
  uint32_t leading = 0; // LBO, bytes
  uint32_t stride = 0;  // SBO, bytes
  uint32_t base = 0;    // phase of the pattern at `start`
  Swizzle swizzle = Swizzle::None;

  bool operator==(const MatrixDescriptor &) const = default;
};

/// Why the bits are no descriptor: the reserved ones are set.
std::optional<std::string> descriptorFault(uint64_t bits);
MatrixDescriptor decodeDescriptor(uint64_t bits);
uint64_t encodeDescriptor(const MatrixDescriptor &descriptor);

/// K-major: a row holds its elements along k one after the other. MN-major: the other way round.
enum class Major : uint8_t { K, MN };

/// Offset of the first byte of element (mn, k) from the descriptor's start address, in the window of shared memory (before swizzling is the sum of
/// strides, after it the XOR of the absolute address). `bytes` is the element's size.
///
/// K-major, swizzled: rows `span` bytes apart, groups of 8 rows SBO apart; LBO is unused.
/// K-major, plain: 8 x 16-byte matrices; rows 16 bytes apart, groups of 8 rows SBO, the two 16-byte columns LBO apart.
/// MN-major, swizzled: atoms of `span` bytes x 8 k; k rows `span` apart, groups of 8 k SBO, atoms along MN LBO apart.
/// MN-major, plain: 8 x 16-byte matrices (k rows); groups of 8 k LBO, along MN SBO apart.
uint32_t elementAddress(const MatrixDescriptor &descriptor, Major major, int mn, int k, int bytes);

/// Why a descriptor cannot serve: the pattern does not start where its phase says.
std::optional<std::string> alignmentFault(const MatrixDescriptor &descriptor);

} // namespace tilegym::sim
