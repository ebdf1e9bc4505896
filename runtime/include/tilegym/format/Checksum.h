// SPDX-License-Identifier: MIT
// The checksum of packages: catches truncation and altered bytes, not an adversary. FNV-1a over 8-byte words, with a final mix
// so that every bit of the input reaches every bit of the result.
#pragma once
#include "tilegym/format/Table.h"
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tilegym::format {

inline uint64_t checksum64(const void *data, size_t size) {
  const auto *bytes = static_cast<const unsigned char *>(data);
  uint64_t hash = 0xcbf29ce484222325u ^ size;
  auto mix = [&hash](uint64_t word) {
    hash ^= word;
    hash *= 0x100000001b3u;
    hash ^= hash >> 29;
  };
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes + i, 8);
    mix(word);
  }
  uint64_t rest = 0;
  std::memcpy(&rest, bytes + i, size - i);
  mix(rest);
  hash ^= hash >> 32;
  hash *= 0xd6e8feb86659fd93u;
  return hash ^ hash >> 32;
}

/// Of a block's header (its own checksum taken as 0) and of all that stands before the images.
inline uint64_t tableChecksum(const void *block, uint64_t imagesOffset) {
  Header header;
  std::memcpy(static_cast<void *>(&header), block, sizeof header);
  header.tableChecksum = 0;
  const char *rest = static_cast<const char *>(block) + sizeof header;
  return checksum64(&header, sizeof header) * 3 + checksum64(rest, imagesOffset - sizeof header);
}

} // namespace tilegym::format
