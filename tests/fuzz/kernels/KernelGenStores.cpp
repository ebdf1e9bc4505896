// SPDX-License-Identifier: MIT
// Outputs: each block has a region of its own, written whole, in part over a fill, or read again; atomics go anywhere.
#include "compiler/semantics/TileShape.h"
#include "tests/fuzz/kernels/KernelGenerator.h"
#include <algorithm>
#include <cmath>

namespace tilegym::fuzz {

OutputTensor &KernelGenerator::output(DType dtype, const std::string &kind) {
  OutputTensor made;
  made.kind = kind;
  made.dtype = dtype;
  bool isAtomic = kind.rfind("atomic", 0) == 0;
  made.isInout = kind == "store" && !outputs.empty() && chance(20);
  made.name = (made.isInout ? "z" : "y") + std::to_string(outputs.size());
  // Whatever is written under a condition, or by atomics, needs a value before.
  if (isAtomic || inOddFlow || kind == "near" || loopDepth > 0 || chance(50))
    made.fill = isBool(dtype) ? "false" : std::to_string(kind == "atomic_and" ? 127 : between(0, 3));
  std::string spans, tiles, sizes, row;
  bool allSpans = true, rowIsLast = false;
  auto add = [&](const std::string &dim, const std::string &item) {
    made.dims.push_back(dim);
    spans += (spans.empty() ? "" : ", ") + item;
  };
  int64_t room = largest;
  for (const GridAxis &axis : axes) {
    const DimName &dim = dims[axis.dim];
    std::string called = (dim.isGroup ? "*" : "") + dim.name;
    bool isPoint = axis.tile == 1 && chance(60);
    if (isPoint) {
      add(called, axis.index);
      allSpans = false;
    } else if (!dim.isGroup && !hasWholeVectors && axis.tileText[0] != 'B' &&
               (axis.tile > room || chance(20))) {
      add("cdiv(" + dim.name + ", " + axis.tileText + ")", axis.index); // one element a block
      allSpans = false;
    } else {
      add(called, axis.index + " * " + axis.tileText + " :+ " + axis.tileText);
      made.span.push_back(axis.tile);
      sizes += (sizes.empty() ? "" : ", ") + axis.tileText;
      tiles += (tiles.empty() ? "" : ", ") + axis.index;
      room = std::max<int64_t>(1, room / axis.tile);
    }
  }
  if (guard.empty() && dims.size() < 6 && made.dims.size() < 4 && room >= 128 && chance(12)) {
    // A whole axis of run-time extent: the parameter is derived from it.
    DimName dim;
    dim.name = "D" + std::to_string(dims.size());
    dim.most = rounded(pick({8, 100, 128}));
    dims.push_back(dim);
    params.push_back("W = pow2ceil(" + dim.name + ")");
    guard = " when " + dim.name + " <= 128";
    add(dim.name, "0 :+ W");
    made.span.push_back(128);
    sizes += std::string(sizes.empty() ? "" : ", ") + "W";
    tiles += std::string(tiles.empty() ? "" : ", ") + "0";
  } else if (made.dims.size() < 4 && (!hasWholeVectors || room >= 16) &&
             chance(made.span.empty() ? 90 : 45)) {
    int64_t extent =
        hasWholeVectors ? room >= 32 && chance(50) ? 32 : 16 : tileExtent(std::min<int64_t>(room, 64));
    row = made.name + "[" + spans + (spans.empty() ? "" : ", ");
    bool wider = !made.fill.empty() && chance(40); // a part of the axis, or beyond its end
    int64_t written = wider ? rounded(between(1, extent + extent / 2 + 1)) : extent;
    made.ownExtent = written;
    add(std::to_string(written), "0 :+ " + std::to_string(extent));
    made.span.push_back(extent);
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(extent);
    tiles += std::string(tiles.empty() ? "" : ", ") + "0";
    rowIsLast = true;
  }
  made.regions.push_back(made.name + "[" + spans + "]");
  if (allSpans && !made.span.empty())
    made.regions.push_back(made.name + ".tile(" + sizes + ")[" + tiles + "]");
  if (rowIsLast)
    made.ownRow = row;
  outputs.push_back(made);
  return outputs.back();
}

void KernelGenerator::store(int depth) {
  size_t at = outputs.size();
  std::vector<size_t> known;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].kind == "store")
      known.push_back(i);
  if (!known.empty() && (chance(45) || outputs.size() >= 4))
    at = pick(known);
  else if (outputs.size() < 5)
    output(anyDType(), "store");
  else
    return;
  OutputTensor out = outputs[at]; // values below may make further ones
  bool isNew = known.empty() || at == outputs.size() - 1;
  DType dtype = out.dtype;
  if (isFloat(dtype) && chance(25))
    dtype = pick({DType::F32, DType::F16, DType::BF16}); // a store rounds
  Shape span = out.span;
  std::string region = pick(out.regions);
  if (span.size() == 2 && out.dims.size() == 2 && chance(15) && out.dims[0][0] != '*') {
    // Through a view in another order of axes.
    size_t first = region.find('['), last = span.size() - 1;
    if (region.compare(0, first, out.name) == 0) {
      std::vector<std::string> items;
      std::string list = region.substr(first + 1, region.size() - first - 2);
      for (size_t from = 0, comma; from <= list.size(); from = comma + 2) {
        comma = std::min(list.find(", ", from), list.size());
        items.push_back(list.substr(from, comma - from));
        if (comma == list.size())
          break;
      }
      std::swap(items[last], items[last - 1]);
      std::swap(span[last], span[last - 1]);
      region = out.name + ".T[";
      for (size_t i = 0; i < items.size(); ++i)
        region += (i ? ", " : "") + items[i];
      region += "]";
    }
  }
  Term x = loose(dtype, span, depth);
  std::string mask;
  if ((!out.fill.empty() || out.isInout || !isNew) && chance(25))
    mask = ", mask=" + loose(DType::Bool, span, depth - 1).text;
  if (!out.ownRow.empty() && (!out.fill.empty() || out.isInout) && chance(15)) {
    // A scatter along the axis that the block owns: places are distinct, turned round by an amount.
    int64_t extent = span.back();
    if (region[out.name.size()] == '[' && extent <= out.ownExtent) {
      std::string places = "(iota(" + std::to_string(extent) + ") + " + index(50).text + ") % " +
                           std::to_string(out.ownExtent);
      region = out.ownRow + places + "]";
    }
  }
  line("store(" + region + ", " + x.text + mask + ")");
}

/// What the block wrote, or found, in its own region of an output.
Term KernelGenerator::ownLoad(DType dtype, const Shape &shape, int depth) {
  std::vector<const OutputTensor *> known;
  for (const OutputTensor &out : outputs)
    if (out.kind == "store" && out.dtype == dtype && (!out.fill.empty() || out.isInout))
      known.push_back(&out);
  if (known.empty() || isPure)
    return leaf(dtype, shape);
  OutputTensor out = *pick(known);
  std::string text = pick(out.regions);
  Shape span = out.span;
  if (!out.ownRow.empty() && depth > 0 && chance(50)) {
    int64_t extent =
        tileExtent(std::min<int64_t>(largest / std::max<int64_t>(1, elementsOf(span) / span.back()), 32));
    span.back() = extent;
    text = out.ownRow +
           (chance(50) ? indexTile({extent}, out.ownExtent - 1, 1).text
                       : index(out.ownExtent - 1).text + " :+ " + std::to_string(extent)) +
           "]";
  }
  Term x = bind(raw("load(" + text + ")", dtype, span));
  return broadcasts(span, shape) ? reshaped(x, shape) : leaf(dtype, shape);
}

void KernelGenerator::atomic(int depth) {
  std::string kind = pick({"atomic_add", "atomic_add", "atomic_min", "atomic_max", "atomic_and", "atomic_or",
                           "atomic_xor", "atomic_exchange", "atomic_cas"});
  size_t at = outputs.size();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].kind == kind)
      at = i;
  if (at == outputs.size()) {
    if (outputs.size() >= 5)
      return;
    DType dtype = pick({DType::I32, DType::I32, DType::I64, DType::U32, DType::U64});
    if (kind == "atomic_add" && chance(25)) {
      dtype = pick({DType::F32, DType::F64, DType::F16, DType::BF16});
      nondeterministic = true;
    }
    bool owned = kind == "atomic_exchange" || kind == "atomic_cas";
    if (owned || chance(30)) {
      output(dtype, kind);
    } else {
      OutputTensor made; // shared by all blocks
      made.kind = kind;
      made.dtype = dtype;
      made.name = "y" + std::to_string(outputs.size());
      made.fill = kind == "atomic_and" ? "127" : "0";
      made.ownExtent = rounded(between(1, 24));
      made.dims.push_back(std::to_string(made.ownExtent));
      outputs.push_back(made);
    }
  }
  OutputTensor out = outputs[at];
  std::string region;
  Shape span = out.span;
  bool shared = out.regions.empty();
  if (shared) {
    span = chance(70) ? Shape{tileExtent(64)} : Shape{};
    region = out.name + "[" +
             (span.empty() ? index(out.ownExtent - 1).text : indexTile(span, out.ownExtent - 1, depth).text) +
             "]";
  } else {
    region = pick(out.regions);
  }
  Term x;
  if (isFloat(out.dtype)) { // sums that are exact in every order
    Term whole = indexTile(span, 1, 1);
    x = raw(nameOf(out.dtype) + "(" + whole.text + ")", out.dtype, span);
  } else {
    x = loose(out.dtype, span, depth);
  }
  std::string values = x.text, mask;
  if (kind == "atomic_cas")
    values = (chance(50) ? nameOf(out.dtype) + "(" + out.fill + ")" : loose(out.dtype, span, 1).text) + ", " +
             x.text;
  if (chance(30))
    mask = ", mask=" + loose(DType::Bool, span, depth - 1).text;
  std::string text = kind + "(" + region + ", " + values + mask + ")";
  if (!shared && kind != "atomic_add" && chance(60) && mask.empty())
    bind(raw(text, out.dtype, span)); // old values: each element is this block's, touched once in a statement
  else
    line(text);
}

/// Functions that backends compute to a bound, on exact arguments, straight into an output that is compared by it.
void KernelGenerator::approximate(int depth) {
  if (outputs.size() >= 5)
    return;
  DType dtype = pick({DType::F32, DType::F32, DType::F32, DType::F16, DType::BF16, DType::F64});
  double ulp = std::ldexp(1.0, 1 - floatFormat(dtype).precision());
  // Below the least normal number a formula may underflow, as sigmoid's does; f16 is computed in f32, where that is far away.
  double least = std::ldexp(1.0, floatFormat(dtype).minExponent() +
                                     (dtype == DType::F16 ? 3 - floatFormat(dtype).precision() : 0));
  size_t at = outputs.size();
  output(dtype, "near");
  Shape span = outputs[at].span;
  double relative = dtype == DType::F32 || dtype == DType::F64 ? 16 * ulp : 2 * ulp, absolute = least;
  std::string text;
  auto function = [&](int inner) {
    std::string fn =
        pick({"exp", "exp2", "log", "log2", "rsqrt", "sin", "cos", "tanh", "erf", "sigmoid", "pow"});
    Term x = value(dtype, span, inner);
    return fn == "pow" ? "pow(" + x.text + ", " + loose(dtype, span, 1).text + ")" : fn + "(" + x.text + ")";
  };
  switch (random.below(4)) {
  case 0:
    text = "(" + function(depth) + " * " + nameOf(dtype) + "(-2))";
    break;
  case 1:
    text = "select(" + loose(DType::Bool, span, depth - 1).text + ", " + function(depth) + ", " +
           function(depth) + ")";
    break;
  case 2: {
    // A float sum: the order shows in the last bits, within a bound of the summands.
    Shape from = span;
    size_t axis = span.empty() ? 0 : random.below(span.size());
    if (span.empty())
      from = {tileExtent(128)};
    InputTensor made;
    double most = 0;
    Term x = bounded(dtype, from, depth);
    most = x.most;
    int64_t count = from[axis];
    absolute = 8 * ulp * double(count) * most * (dtype == DType::F32 || dtype == DType::F64 ? 4 : 2);
    text = chance(30) ? "cumsum(" + x.text + ", axis=" + std::to_string(axis) + ")"
                      : "sum(" + x.text + (span.empty() ? "" : ", axis=" + std::to_string(axis)) + ")";
    if (span.empty() && text[0] == 'c')
      text = "max(" + text + ")";
    break;
  }
  default:
    text = function(depth);
  }
  char tolerance[80];
  std::snprintf(tolerance, sizeof tolerance, "%.3g %.3g", relative, absolute);
  outputs[at].tolerance = tolerance;
  line("store(" + outputs[at].regions[random.below(outputs[at].regions.size())] + ", " + text + ")");
}

/// A float that is known to be finite, and how large it may be.
Term KernelGenerator::bounded(DType dtype, const Shape &shape, int depth) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    Term x = value(dtype, shape, depth);
    if (std::isfinite(x.most) && x.most < 1000)
      return x;
  }
  Term x = value(DType::I8, shape, depth);
  x.text = "(" + nameOf(dtype) + "(" + x.text + ") * 0.125)";
  x.dtype = dtype;
  x.most = 16;
  return x;
}

} // namespace tilegym::fuzz
