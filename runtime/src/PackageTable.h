// SPDX-License-Identifier: MIT
// A package's block, checked once when it is opened, then read without further checks.
#pragma once
#include "Error.h"
#include "OpPlan.h"
#include "tilegym/format/Table.h"
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace tilegym::runtime {

class Table {
public:
  /// Checks the whole block but the images' contents (see readImage). `source` names it in errors.
  TilegymStatus open(const void *data, size_t size, std::string_view source) {
    return open(data, size, size, -1, source);
  }
  /// The same with only the first `atHand` bytes in memory, the table among them: images are read from `file` when they are loaded.
  TilegymStatus open(const void *data, size_t atHand, size_t size, int file, std::string_view source);

  template <class T> std::span<const T> get(format::Slice slice) const {
    return {reinterpret_cast<const T *>(base + slice.offset), slice.count};
  }
  std::string_view text(format::Slice slice) const {
    return {reinterpret_cast<const char *>(base + slice.offset), slice.count};
  }
  std::span<const format::Op> ops() const { return get<format::Op>(header().ops); }
  /// What plans launch.
  std::span<const format::Op> launched() const { return get<format::Op>(header().launched); }
  /// A number of its own for each of `ops()`, and behind these of `launched()`.
  size_t numberOf(const format::Op &op) const {
    std::span<const format::Op> own = ops();
    bool isOwn = &op >= own.data() && &op < own.data() + own.size();
    return isOwn ? size_t(&op - own.data()) : own.size() + size_t(&op - launched().data());
  }
  const format::Op &numbered(size_t number) const {
    return number < ops().size() ? ops()[number] : launched()[number - ops().size()];
  }
  size_t count() const { return ops().size() + launched().size(); }
  const OpPlan &plan(const format::Op &op) const { return plans[numberOf(op)]; }
  /// Whether a parameter of a variant has a value for each tensor of a list, and what it takes of a launch's parameters.
  bool isOfList(const format::Param &p, const format::Op &op, const format::Variant &v) const;
  size_t bytesOf(const format::Param &p, const format::Op &op, const format::Variant &v) const;
  const format::Header &header() const { return *reinterpret_cast<const format::Header *>(base); }
  /// The code of an image, once it has been checked: where it lies in the block, or in `room`, read or unpacked.
  TilegymStatus readImage(const format::Image &image, std::vector<char> &room, const void **code) const;

private:
  const unsigned char *base = nullptr;
  std::string sourceName;
  int imagesFile = -1; ///< not owned
  std::vector<OpPlan> plans;
};

} // namespace tilegym::runtime
