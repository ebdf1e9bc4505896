// SPDX-License-Identifier: MIT
// wgmma descriptors, bit by bit.
#include "compiler/simulator/MatrixDescriptor.h"

#include <cstdio>

namespace tilegym::sim {

namespace {

// Bits 13:0 start, 29:16 LBO, 45:32 SBO (each in 16 bytes), 51:49 base offset, 63:62 mode. Mode 1 is 128 bytes, 2 is 64, 3 is 32.
constexpr uint64_t fieldMask = 0x3FFF;
constexpr uint64_t usedBits =
    fieldMask | fieldMask << 16 | fieldMask << 32 | uint64_t(7) << 49 | uint64_t(3) << 62;
constexpr Swizzle modes[] = {Swizzle::None, Swizzle::B128, Swizzle::B64, Swizzle::B32};

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

} // namespace

std::optional<std::string> descriptorFault(uint64_t bits) {
  if (bits & ~usedBits)
    return "descriptor " + hex(bits) + " has reserved bits " + hex(bits & ~usedBits) +
           " set; only the start, leading, stride, base offset and swizzle fields may be";
  return std::nullopt;
}

MatrixDescriptor decodeDescriptor(uint64_t bits) {
  MatrixDescriptor out;
  out.start = uint32_t(bits & fieldMask) << 4;
  out.leading = uint32_t(bits >> 16 & fieldMask) << 4;
  out.stride = uint32_t(bits >> 32 & fieldMask) << 4;
  out.base = uint32_t(bits >> 49 & 7);
  out.swizzle = modes[bits >> 62];
  return out;
}

uint64_t encodeDescriptor(const MatrixDescriptor &descriptor) {
  uint64_t mode = 0;
  while (modes[mode] != descriptor.swizzle)
    ++mode;
  auto field = [](uint32_t bytes) { return uint64_t(bytes >> 4) & fieldMask; };
  return field(descriptor.start) | field(descriptor.leading) << 16 | field(descriptor.stride) << 32 |
         uint64_t(descriptor.base) << 49 | mode << 62;
}

uint32_t elementAddress(const MatrixDescriptor &descriptor, Major major, int mn, int k, int bytes) {
  bool kMajor = major == Major::K;
  // Along the contiguous dimension in bytes, across it in rows.
  auto along = uint32_t((kMajor ? k : mn) * bytes), across = uint32_t(kMajor ? mn : k);
  uint32_t offset = 0;
  if (descriptor.swizzle == Swizzle::None) {
    uint32_t alongStep = kMajor ? descriptor.leading : descriptor.stride,
             acrossStep = kMajor ? descriptor.stride : descriptor.leading;
    offset = along / 16 * alongStep + along % 16 + across / 8 * acrossStep + across % 8 * 16;
  } else {
    auto span = uint32_t(descriptor.swizzle);
    // An instruction's 32 bytes of k never leave a row; along MN the atoms follow at the leading stride.
    offset =
        along / span * descriptor.leading + along % span + across / 8 * descriptor.stride + across % 8 * span;
  }
  return uint32_t(swizzled(descriptor.start + offset, descriptor.swizzle, descriptor.base));
}

std::optional<std::string> alignmentFault(const MatrixDescriptor &descriptor) {
  if (descriptor.swizzle == Swizzle::None)
    return std::nullopt;
  // Walking k moves the start inside a row, below bit 7 for the wide pattern: only the pattern's row must be its first.
  uint32_t pattern = patternBytes(descriptor.swizzle), span = uint32_t(descriptor.swizzle);
  uint32_t row = (descriptor.start - descriptor.base * 128) % pattern / span;
  if (row == 0)
    return std::nullopt;
  return "start address " + hex(descriptor.start) + " lies in row " + std::to_string(row) + " of the " +
         std::to_string(span) + "-byte swizzle pattern (base offset " + std::to_string(descriptor.base) +
         "); it must lie in row 0: align the tile to " + std::to_string(pattern) + " bytes";
}

} // namespace tilegym::sim
