// SPDX-License-Identifier: MIT
// Inputs and the views that read them: spans, tiles, points, gathers, bounded and permuted views, pads and masks. An input is made when a load needs one.
#include "compiler/semantics/TileShape.h"
#include "tests/fuzz/kernels/KernelGenerator.h"
#include <algorithm>
#include <numeric>

namespace tilegym::fuzz {

/// A dim as written in a signature: a new name, a number, or made of a known name. Its range comes back.
std::string KernelGenerator::newDim(int64_t least, int64_t most, bool mayBeConst, int64_t &low,
                                    int64_t &high) {
  if (chance(25)) { // a number, known to the compiler
    low = high = rounded(between(least, most));
    return std::to_string(low);
  }
  if (!dims.empty() && chance(25)) {
    const DimName &dim = pick(dims);
    if (!dim.isGroup && dim.most + 2 <= most * 2) {
      low = dim.least;
      high = dim.most;
      if (hasWholeVectors || chance(60))
        return dim.name;
      low = dim.least + 2;
      high = dim.most + 2;
      return dim.name + " + 2";
    }
  }
  if (dims.size() >= 6) {
    low = high = rounded(between(least, most));
    return std::to_string(low);
  }
  DimName dim;
  dim.name = "D" + std::to_string(dims.size());
  dim.least = low = rounded(least);
  dim.most = high = rounded(most);
  if (mayBeConst && chance(10)) {
    dim.choices = {rounded(between(least, most))};
    dim.least = dim.most = low = high = dim.choices[0];
  }
  dims.push_back(dim);
  return dim.name;
}

namespace {
enum class Kind : uint8_t { Span, Point, Gather };
struct Item {
  Kind kind = Kind::Point;
  int64_t extent = 1; ///< Span
};
} // namespace

Term KernelGenerator::load(DType dtype, const Shape &shape, int depth) {
  // What the axes of the tensor are for: the shape's axes in order, some of them as one gather, and points in between.
  std::vector<Item> items;
  size_t gatherFrom = 0, gatherTo = 0;
  if (!shape.empty() && depth > 0 && !isPure && chance(25)) {
    gatherFrom = random.below(shape.size());
    gatherTo = std::min(shape.size(), gatherFrom + (chance(70) ? 1 : 2));
  }
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis >= gatherFrom && axis < gatherTo) {
      if (axis == gatherFrom)
        for (int64_t n = chance(80) ? 1 : 2; n > 0; --n)
          items.push_back({Kind::Gather, 1});
      continue;
    }
    items.push_back({Kind::Span, shape[axis]});
  }
  if (items.size() < 4 && chance(shape.empty() ? 85 : 20))
    items.insert(items.begin() + long(random.below(items.size() + 1)), Item());
  InputTensor *tensor = nullptr;
  size_t rank = items.size();
  std::vector<size_t> fitting;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].dtype == dtype && inputs[i].dims.size() == rank)
      fitting.push_back(i);
  if (!fitting.empty() && (chance(60) || inputs.size() >= 5))
    tensor = &inputs[pick(fitting)];
  if (!tensor) {
    if (inputs.size() >= 6)
      return reshaped(literal(dtype), shape);
    InputTensor made;
    made.name = "x" + std::to_string(inputs.size());
    made.dtype = dtype;
    int64_t room = 1 << 13; // elements, where dims are at their largest
    for (size_t i = 0; i < rank; ++i) {
      const GridAxis *own = nullptr;
      for (const GridAxis &axis : axes)
        if (dims[axis.dim].most <= room && items[i].kind == Kind::Span && axis.tile == items[i].extent &&
            (!dims[axis.dim].isGroup || i == 0) && chance(70))
          own = &axis;
      int64_t low = 1, high = 1;
      std::string written;
      if (own) {
        const DimName &dim = dims[own->dim];
        written = (dim.isGroup ? "*" : "") + dim.name;
        low = dim.least;
        high = dim.most;
      } else {
        int64_t near = items[i].kind == Kind::Span ? items[i].extent : 12;
        written = newDim(1, std::min(room, std::max<int64_t>(near + near / 2, 3)), true, low, high);
      }
      room = std::max<int64_t>(1, room / high);
      made.extents.push_back(written[0] == '*'                        ? written.substr(1)
                             : written.find(' ') != std::string::npos ? "(" + written + ")"
                                                                      : written);
      bool isName = written[0] == 'D' && written.find(' ') == std::string::npos;
      made.dims.push_back(isName && chance(12) ? written + "|1" : written);
      made.least.push_back(low);
      made.most.push_back(high);
    }
    if (isFloat(dtype)) {
      made.whole = chance(30);
      made.magnitude = 8;
      made.specials = !made.whole && chance(40);
      made.filling = made.whole ? "randint(-8, 9)" : chance(30) ? "uniform(-4, 4)" : "";
    } else if (isBool(dtype)) {
      made.filling = "randint(0, 2)";
    } else {
      made.filling = isUnsigned(dtype) ? chance(50) ? "randint(0, 9)" : "randint(0, 120)"
                     : chance(50)      ? "randint(-8, 9)"
                                       : "randint(-120, 120)";
      made.specials = chance(40);
    }
    inputs.push_back(made);
    tensor = &inputs.back();
  }

  // The base view, whose axes may come in another order.
  InputTensor base = *tensor; // expressions below may make further inputs
  std::string text = base.name;
  std::vector<std::string> extents = base.extents;
  std::vector<int64_t> least = base.least, most = base.most;
  if (rank >= 2 && chance(20)) {
    Shape order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[rank - 1], order[rank - 2]);
    if (rank > 2 && chance(50))
      std::swap(order[0], order[rank - 1]);
    bool turned = rank == 2;
    std::string list;
    for (size_t i = 0; i < rank; ++i) {
      list += (i ? ", " : "") + std::to_string(order[i]);
      extents[i] = base.extents[size_t(order[i])];
      least[i] = base.least[size_t(order[i])];
      most[i] = base.most[size_t(order[i])];
    }
    text += turned && chance(50) ? ".T" : ".permute(" + list + ")";
  }
  if (rank > 0 && items[0].kind == Kind::Span && chance(10)) {
    std::string lo = "min(" + extents[0] + ", " + std::to_string(between(0, 5)) + ")";
    text += "[" + lo + " : " +
            (chance(50) ? extents[0]
                        : "max(" + lo + ", " + extents[0] + " - " + std::to_string(between(0, 3)) + ")") +
            "]";
    extents[0] = "?"; // no axis of the grid any more
  }
  if (rank > 0 && depth > 0 && !isPure && chance(15)) { // a view may have a name
    std::string called = fresh("w");
    line("let " + called + " = " + text);
    text = called;
  }
  bool allSpans =
      std::all_of(items.begin(), items.end(), [](const Item &item) { return item.kind == Kind::Span; });
  bool tiled = rank > 0 && allSpans && chance(35);
  std::string sizes, places;
  for (size_t i = 0; i < rank; ++i) {
    const char *comma = i ? ", " : "";
    const GridAxis *own = nullptr;
    for (const GridAxis &axis : axes)
      if (dims[axis.dim].name == extents[i] && axis.tile == items[i].extent && items[i].kind == Kind::Span &&
          chance(80))
        own = &axis;
    if (tiled) {
      sizes += comma + (own ? own->tileText : std::to_string(items[i].extent));
      places += comma + (own ? own->index : index(2).text);
      continue;
    }
    switch (items[i].kind) {
    case Kind::Span:
      places += comma + (own ? own->index + " * " + own->tileText + " :+ " + own->tileText
                             : index(most[i]).text + " :+ " + std::to_string(items[i].extent));
      break;
    case Kind::Point: {
      Term at = index(least[i] - 1);
      if (chance(40))
        at.text = "(" + index(200).text + " % " + extents[i] + ")";
      places += comma + at.text;
      break;
    }
    case Kind::Gather: {
      Shape part(shape.begin() + long(gatherFrom), shape.begin() + long(gatherTo));
      places += comma + indexTile(part, least[i] - 1, depth).text;
      break;
    }
    }
  }
  if (tiled)
    text += ".tile(" + sizes + ")";
  text += rank > 0 ? "[" + places + "]" : "[]";
  std::string options;
  Term term = raw("", dtype, shape);
  bool isNarrow = dtype == DType::F8E4M3 || dtype == DType::F8E5M2;
  if (!base.specials && isFloat(dtype)) {
    term.most = base.magnitude;
    term.whole = base.whole;
  }
  if (chance(25)) {
    Term pad = literal(dtype);
    options += ", pad=" + pad.text;
    term.most = std::max(term.most, pad.most);
    term.whole = term.whole && pad.whole;
  }
  if (isNarrow)
    term.most = std::numeric_limits<double>::infinity();
  if (depth > 0 && chance(20))
    options += ", mask=" + loose(DType::Bool, shape, depth - 1).text;
  term.text = "load(" + text + options + ")";
  return chance(40) ? bind(term) : term;
}

} // namespace tilegym::fuzz
