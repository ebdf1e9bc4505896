// SPDX-License-Identifier: MIT
// Extents of a value, kept inline: shapes are made for every operation.
#pragma once
#include "compiler/interpreter/RunFault.h"
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace tilegym::interp {

class Shape {
public:
  static constexpr int maxRank = 12;
  Shape() = default;
  Shape(std::initializer_list<int64_t> extents) {
    for (int64_t extent : extents)
      push(extent);
  }
  explicit Shape(const std::vector<int64_t> &extents) {
    for (int64_t extent : extents)
      push(extent);
  }
  int rank() const { return used; }
  int64_t operator[](int axis) const { return dims[axis]; }
  int64_t &operator[](int axis) { return dims[axis]; }
  void push(int64_t extent) {
    if (used == maxRank)
      fail(Fault::Program, "a value has more than 12 axes");
    dims[used++] = extent;
  }
  const int64_t *begin() const { return dims; }
  const int64_t *end() const { return dims + used; }
  int64_t count() const { return product(0, used); }
  /// Product of the extents of axes [from, to).
  int64_t product(int from, int to) const {
    int64_t result = 1;
    for (int i = from; i < to; ++i)
      result *= dims[i];
    return result;
  }
  bool operator==(const Shape &other) const {
    if (used != other.used)
      return false;
    for (int i = 0; i < used; ++i)
      if (dims[i] != other.dims[i])
        return false;
    return true;
  }

private:
  int used = 0;
  int64_t dims[maxRank];
};

/// `[2, 3]`
std::string toString(const Shape &shape);

} // namespace tilegym::interp
