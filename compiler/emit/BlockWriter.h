// SPDX-License-Identifier: MIT
// Builds a package's block front to back: what a record points to is written before it.
#pragma once
#include "tilegym/format/Table.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <type_traits>

namespace tilegym::emit {

class BlockWriter {
public:
  BlockWriter() { bytes.resize(sizeof(format::Header)); }

  template <class T> format::Slice put(llvm::ArrayRef<T> items) {
    static_assert(std::has_unique_object_representations_v<T>,
                  "padding would put whatever lay in memory into the package");
    if (items.empty())
      return {};
    align(8);
    format::Slice slice{uint32_t(bytes.size()), uint32_t(items.size())};
    bytes.append(reinterpret_cast<const char *>(items.data()), items.size() * sizeof(T));
    return slice;
  }
  /// Equal texts share a place.
  format::Slice text(llvm::StringRef text) {
    auto [found, isNew] = texts.try_emplace(text);
    if (isNew)
      found->second = put(llvm::ArrayRef<char>(text.data(), text.size()));
    return found->second;
  }
  void align(size_t n) { bytes.resize((bytes.size() + n - 1) / n * n); }

  std::string bytes;

private:
  llvm::StringMap<format::Slice> texts;
};

} // namespace tilegym::emit
