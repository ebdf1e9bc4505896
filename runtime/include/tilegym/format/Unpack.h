// SPDX-License-Identifier: MIT
// How an image is packed (LZ77). Again and again: a count and so many bytes as they are; then, unless the image is complete, a length less
// kLeastMatch and a distance, for bytes that are copied from so far back in what is unpacked already. Numbers have seven bits a byte, low ones first;
// the eighth says that more follow.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tilegym::format {

constexpr size_t kLeastMatch = 4;

/// Fills `out` with exactly `size` bytes. False where the packed bytes are not of the form, or hold more or less.
inline bool unpack(const void *packed, size_t packedSize, void *out, size_t size) {
  const auto *in = static_cast<const unsigned char *>(packed), *end = in + packedSize;
  auto *to = static_cast<unsigned char *>(out);
  size_t done = 0;
  auto number = [&](size_t *value) {
    *value = 0;
    for (int shift = 0; in != end && shift < 35; shift += 7) {
      unsigned char byte = *in++;
      *value |= size_t(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return true;
    }
    return false;
  };
  while (true) {
    size_t count, distance;
    if (!number(&count) || count > size_t(end - in) || count > size - done)
      return false;
    std::memcpy(to + done, in, count);
    in += count;
    done += count;
    if (done == size)
      return in == end;
    if (!number(&count) || !number(&distance) || distance == 0 || distance > done ||
        (count += kLeastMatch) > size - done)
      return false;
    for (; count; --count, ++done) // may overlap: a run repeats itself
      to[done] = to[done - distance];
  }
}

} // namespace tilegym::format
