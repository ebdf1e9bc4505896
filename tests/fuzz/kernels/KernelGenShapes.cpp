// SPDX-License-Identifier: MIT
// Reshapes, permutations, joins and cuts: where elements sit in registers changes, and with it everything that a layout can get wrong.
#include "compiler/semantics/TileShape.h"
#include "tests/fuzz/kernels/KernelGenerator.h"
#include <algorithm>
#include <numeric>

namespace tilegym::fuzz {

int64_t KernelGenerator::tileExtent(int64_t most) {
  static const std::vector<int64_t> extents = {1,  2,  4,  8,  16, 32,  64,  128, 24, 40,
                                               48, 56, 72, 80, 96, 104, 120, 176, 256};
  std::vector<int64_t> legal;
  for (int64_t extent : extents)
    if (extent <= most)
      legal.push_back(extent);
  return legal.empty() ? 1 : pick(legal);
}

/// The same knowledge under another text and shape.
static Term moved(const Term &from, std::string text, const Shape &shape) {
  Term term = from;
  term.text = std::move(text);
  term.shape = shape;
  return term;
}

/// Another shape with as many elements.
static Shape regrouped(Random &random, const Shape &shape) {
  Shape other = shape;
  for (int step = 0; step < 2; ++step) {
    size_t at = random.below(other.size() + 1);
    switch (random.below(3)) {
    case 0:
      if (other.size() < 4)
        other.insert(other.begin() + long(at), 1);
      break;
    case 1:
      if (at + 1 < other.size() && sem::isTileExtent(other[at] * other[at + 1])) {
        other[at] *= other[at + 1];
        other.erase(other.begin() + long(at) + 1);
      }
      break;
    default:
      if (at < other.size() && other.size() < 4) {
        int64_t part = int64_t(2) << random.below(4);
        if (other[at] % part == 0 && sem::isTileExtent(other[at] / part)) {
          bool front = random.below(2);
          int64_t rest = other[at] / part;
          other[at] = front ? part : rest;
          other.insert(other.begin() + long(at) + 1, front ? rest : part);
        }
      }
    }
  }
  return other;
}

Term KernelGenerator::shapeOp(DType dtype, const Shape &shape, int depth) {
  size_t rank = shape.size();
  if (rank == 0) {
    if (elementsOf(shape) == 1 && chance(50)) { // one element of a tile
      int64_t extent = tileExtent(64);
      Term x = value(dtype, {extent}, depth);
      return moved(x, "(" + x.text + ")[" + std::to_string(between(0, extent - 1)) + "]", {});
    }
    return leaf(dtype, shape);
  }
  size_t axis = random.below(rank);
  switch (random.below(8)) {
  case 0: {
    Shape from = regrouped(random, shape);
    Term x = value(dtype, from, depth);
    std::string to = listText(shape);
    if (rank == 1 && chance(30))
      to = "[-1]";
    return moved(x, "reshape(" + x.text + ", " + to + ")", shape);
  }
  case 1: {
    if (rank < 2)
      break;
    Shape order(rank), from(rank);
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = rank - 1; i > 0; --i)
      std::swap(order[i], order[random.below(i + 1)]);
    bool turned = rank == 2 && chance(60);
    if (turned) {
      std::iota(order.begin(), order.end(), 0);
      std::swap(order[rank - 1], order[rank - 2]);
    }
    std::string list;
    for (size_t i = 0; i < rank; ++i) {
      from[size_t(order[i])] = shape[i];
      list += ", " + std::to_string(order[i]);
    }
    Term x = value(dtype, from, depth);
    std::string text = turned       ? "(" + x.text + ").T"
                       : chance(50) ? "permute(" + x.text + list + ")"
                                    : "(" + x.text + ").permute(" + list.substr(2) + ")";
    return moved(x, text, shape);
  }
  case 2: {
    // Joined of two parts; `split` takes some apart again elsewhere.
    for (int64_t part = shape[axis] / 2; part > 0; part = part > 8 ? part - 8 : part / 2) {
      if (!sem::isTileExtent(part) || !sem::isTileExtent(shape[axis] - part) || chance(30))
        continue;
      Shape first = shape, second = shape;
      first[axis] = part;
      second[axis] = shape[axis] - part;
      if (chance(50))
        std::swap(first, second);
      Term a = value(dtype, first, depth), b = value(dtype, second, depth);
      Term term = moved(a, "cat(" + a.text + ", " + b.text + ", axis=" + std::to_string(axis) + ")", shape);
      term.most = std::max(a.most, b.most);
      term.whole = a.whole && b.whole;
      term.low = std::min(a.low, b.low);
      term.high = std::max(a.high, b.high);
      return term;
    }
    break;
  }
  case 3: {
    Shape from = shape, offsets(rank, 0);
    int64_t factor = pick({2, 4});
    if (!sem::isTileExtent(from[axis] * factor) || elementsOf(shape) * factor > 2 * largest)
      break;
    from[axis] *= factor;
    offsets[axis] = chance(60) ? shape[axis] * between(0, factor - 1) : between(0, from[axis] - shape[axis]);
    Term x = value(dtype, from, depth);
    return moved(x, "extract(" + x.text + ", " + listText(offsets) + ", " + listText(shape) + ")", shape);
  }
  case 4: {
    Shape from = shape;
    int64_t parts = pick({2, 4});
    if (isPure || !sem::isTileExtent(from[axis] * parts) || elementsOf(shape) * parts > 2 * largest)
      break;
    from[axis] *= parts;
    Term x = value(dtype, from, depth);
    std::string names, last;
    for (int64_t i = 0; i < parts; ++i) {
      last = fresh("p");
      names += (i ? ", " : "") + last;
      scope.push_back(moved(x, last, shape));
    }
    line("let (" + names + ") = split(" + x.text + ", " + std::to_string(parts) +
         (axis + 1 == rank && chance(50) ? ")" : ", axis=" + std::to_string(axis) + ")"));
    return moved(x, last, shape);
  }
  case 5: {
    if (shape[axis] != 1)
      break;
    Shape from = shape;
    from.erase(from.begin() + long(axis));
    if (from.empty())
      break; // a scalar is not indexed
    Term x = value(dtype, from, depth);
    std::string items;
    for (size_t i = 0; i < rank; ++i)
      items += std::string(i ? ", " : "") + (i == axis ? "None" : ":");
    return moved(x, "(" + x.text + ")[" + items + "]", shape);
  }
  case 6: {
    int64_t extent = pick({2, 4, 8});
    if (rank >= 4 || elementsOf(shape) * extent > 2 * largest)
      break;
    Shape from = shape;
    from.insert(from.begin() + long(axis), extent);
    Term x = value(dtype, from, depth);
    std::string items;
    for (size_t i = 0; i <= rank; ++i)
      items += (i ? ", " : "") + (i == axis ? std::to_string(between(0, extent - 1)) : std::string(":"));
    return moved(x, "(" + x.text + ")[" + items + "]", shape);
  }
  default:
    break;
  }
  return reshaped(loose(dtype, shape, depth), shape);
}

} // namespace tilegym::fuzz
