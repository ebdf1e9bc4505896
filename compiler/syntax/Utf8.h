// SPDX-License-Identifier: MIT
// Just enough UTF-8 for the lexer, the caret line and JSON: step over one character, and tell whether it is well formed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tilegym {

struct Utf8Char {
  uint32_t codepoint = 0xFFFD;
  unsigned length = 1; ///< bytes; 1 for an ill-formed byte, so that a scan always moves on
  bool valid = false;
};

/// The character at `offset`, which must be inside `text`. Overlong forms, surrogates and truncation are not valid.
inline Utf8Char decodeUtf8(std::string_view text, size_t offset) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(offset);
  if (lead < 0x80)
    return {lead, 1, true};
  unsigned length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || offset + length > text.size())
    return {};
  uint32_t codepoint = lead & (0xFFu >> (length + 1));
  for (unsigned i = 1; i < length; ++i) {
    if ((byte(offset + i) & 0xC0) != 0x80)
      return {};
    codepoint = codepoint << 6 | (byte(offset + i) & 0x3F);
  }
  static constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (codepoint < least[length] || codepoint > 0x10FFFF || (codepoint >= 0xD800 && codepoint < 0xE000))
    return {};
  return {codepoint, length, true};
}

} // namespace tilegym
