// SPDX-License-Identifier: MIT
// Matrices of small integers, which every element type holds and every sum of which is exact: what products are compared with by plain loops.
#pragma once

#include "compiler/simulator/MatrixElement.h"
#include "compiler/simulator/MatrixFragment.h"

#include <cstdint>
#include <random>
#include <vector>

namespace tilegym::sim {

/// The bits of a small integer.
inline uint32_t elementBits(ElementType type, int value) {
  switch (type) {
  case ElementType::S8:
  case ElementType::U8:
    return uint32_t(value) & 0xFF;
  case ElementType::S32:
    return uint32_t(value);
  case ElementType::TF32:
    return encode(f32Format, value, 0, RoundTo::Nearest);
  default:
    return encode(formatOf(type), value, 0, RoundTo::Nearest);
  }
}

/// Rows x columns of -3 .. 3 (0 .. 6 where unsigned).
struct SmallMatrix {
  SmallMatrix(int rows, int columns, uint32_t seed, bool isUnsigned = false)
      : columns(columns), values(size_t(rows * columns)) {
    std::mt19937 random(seed);
    for (int &value : values)
      value = int(random() % 7) - (isUnsigned ? 0 : 3);
  }
  int at(Place place) const { return values[size_t(place.row * columns + place.column)]; }
  uint32_t bits(ElementType type, Place place) const { return elementBits(type, at(place)); }

  int columns;
  std::vector<int> values;
};

/// Row of A times row of B (columns of both are k).
inline int dot(const SmallMatrix &a, int row, const SmallMatrix &b, int column) {
  int sum = 0;
  for (int k = 0; k < a.columns; ++k)
    sum += a.at({row, k}) * b.at({column, k});
  return sum;
}

/// A register of `count` elements, lowest first.
template <class Element> uint32_t packed(int count, Element element) {
  uint32_t word = 0;
  for (int e = 0; e < count; ++e)
    word |= uint32_t(element(e)) << (32 / count * e % 32);
  return word;
}

} // namespace tilegym::sim
