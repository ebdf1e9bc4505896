// SPDX-License-Identifier: MIT
// What expressions evaluate to: tiles (contiguous arrays of storage bits; scalars inline), views and tuples. Values are shared and
// immutable once made, so copying one is cheap.
#pragma once
#include "compiler/interpreter/View.h"
#include <array>
#include <cstring>
#include <memory>
#include <variant>

namespace tilegym::interp {

class Value {
public:
  DType dtype = DType::Index;
  Shape shape;

  Value() = default;
  /// Elements not yet set.
  Value(DType dtype, const Shape &shape);
  /// A scalar from bits in the low bytes.
  static Value scalar(DType dtype, uint64_t bits);
  static Value index(int64_t value) { return scalar(DType::Index, uint64_t(value)); }
  static Value boolean(bool value) { return scalar(DType::Bool, value); }

  int64_t count() const { return shape.count(); }
  size_t elementSize() const { return sizeInBytes(dtype); }
  size_t bytes() const { return size_t(count()) * elementSize(); }
  std::byte *data() { return heap ? heap.get() : inlined.data(); }
  const std::byte *data() const { return heap ? heap.get() : inlined.data(); }
  template <class T> T *as() { return reinterpret_cast<T *>(data()); }
  template <class T> const T *as() const { return reinterpret_cast<const T *>(data()); }
  /// True when no one else holds these elements, so that an operation may overwrite them.
  bool isUnique() const { return !heap || heap.use_count() == 1; }
  /// The same elements under another shape of equal count.
  Value reshaped(const Shape &to) const;

  uint64_t bitsAt(int64_t i) const;
  int64_t intAt(int64_t i) const;
  bool boolAt(int64_t i) const { return data()[i] != std::byte{0}; }
  int64_t asInt() const { return intAt(0); }
  bool asBool() const { return boolAt(0); }

private:
  std::shared_ptr<std::byte[]> heap;
  alignas(16) std::array<std::byte, 16> inlined{};
};

struct Tuple;
using Slot = std::variant<std::monostate, Value, View, std::shared_ptr<const Tuple>>;
struct Tuple {
  std::vector<Slot> elements;
};

} // namespace tilegym::interp
