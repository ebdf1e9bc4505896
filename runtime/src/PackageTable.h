// SPDX-License-Identifier: MIT
// A package's block, checked once when it is opened, then read without further checks.
#pragma once
#include "Error.h"
#include "tilegym/format/Table.h"
#include <cstddef>
#include <span>
#include <string_view>

namespace tilegym::runtime {

class Table {
public:
  /// Checks the whole block but the images' contents (see checkImage). `source` names it in errors.
  TilegymStatus open(const void *data, size_t size, std::string_view source);

  template <class T> std::span<const T> get(format::Slice slice) const {
    return {reinterpret_cast<const T *>(base + slice.offset), slice.count};
  }
  std::string_view text(format::Slice slice) const {
    return {reinterpret_cast<const char *>(base + slice.offset), slice.count};
  }
  std::span<const format::Op> ops() const { return get<format::Op>(header().ops); }
  const format::Header &header() const { return *reinterpret_cast<const format::Header *>(base); }
  const void *image(const format::Image &image) const { return base + image.offset; }
  TilegymStatus checkImage(const format::Image &image) const;

private:
  const unsigned char *base = nullptr;
  std::string sourceName;
};

} // namespace tilegym::runtime
