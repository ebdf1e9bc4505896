// SPDX-License-Identifier: MIT
// The one-line spelling of a layout, for IR and messages, written and read.
#include "compiler/layout/Layout.h"

#include <charconv>
#include <sstream>

namespace tilegym::layout {

namespace {

constexpr const char *names[] = {"reg", "lane", "warp", "block"};

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // Larger extents than this fit no tile, and products of them no integer.
  constexpr int64_t limit = int64_t(1) << 31;
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > limit)
    return std::nullopt;
  return value;
}

std::optional<std::vector<int64_t>> numbers(std::string_view text, char separator) {
  std::vector<int64_t> list;
  while (true) {
    size_t end = text.find(separator);
    auto value = number(text.substr(0, end));
    if (!value)
      return std::nullopt;
    list.push_back(*value);
    if (end == std::string_view::npos)
      return list;
    text.remove_prefix(end + 1);
  }
}

std::optional<Shape> parseShape(const std::string &text) {
  if (text == "scalar")
    return Shape{};
  return numbers(text, 'x');
}

} // namespace

std::string formatShape(const Shape &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "scalar" : text;
}

std::string Layout::str() const {
  Layout n = normalized();
  std::string text = formatShape(n.shape_) + " unit " + formatShape(n.unit_);
  for (Dim dim : allDims) {
    if (n.bases(dim).empty())
      continue;
    text += std::string(" ") + names[size_t(dim)];
    for (Vec basis : n.bases(dim)) {
      text += " [";
      Coords coords = n.unitCoords(basis);
      for (size_t i = 0; i < coords.size(); ++i)
        text += (i ? "," : "") + std::to_string(coords[i]);
      text += "]";
    }
  }
  for (const Repeat &repeat : n.repeats_)
    text += " repeat " + std::to_string(repeat.axis) + "x" + std::to_string(repeat.count);
  return text;
}

Expected<Layout> Layout::parse(const std::string &text) {
  Failure bad{"expected a layout like '8x96 unit 8x32 reg [0,1] lane [1,0] repeat 1x3', found '" + text +
              "'"};
  std::istringstream in(text);
  std::string shapeText, word, unitText;
  in >> shapeText >> word >> unitText;
  auto shape = parseShape(shapeText), unit = parseShape(unitText);
  if (!shape || !unit || word != "unit")
    return bad;
  Layout frame;
  frame.shape_ = frame.unit_ = *unit;
  for (int64_t extent : *unit)
    if (!isPowerOfTwo(extent))
      return bad;
  if (frame.unitBits() > 40)
    return bad;

  Bases bases;
  std::vector<Repeat> repeats;
  std::vector<Vec> *list = nullptr;
  bool more = bool(in >> word);
  while (more) {
    list = nullptr;
    for (Dim dim : allDims)
      if (word == names[size_t(dim)])
        list = &bases[size_t(dim)];
    if (word == "repeat") {
      in >> word;
      auto pair = numbers(word, 'x');
      if (!in || !pair || pair->size() != 2)
        return bad;
      repeats.push_back({int((*pair)[0]), (*pair)[1]});
      more = bool(in >> word);
      continue;
    }
    if (!list)
      return bad;
    while ((more = bool(in >> word)) && word.front() == '[') {
      Coords coords;
      if (word != "[]") {
        auto read = word.back() == ']' ? numbers(std::string_view(word).substr(1, word.size() - 2), ',')
                                       : std::nullopt;
        if (!read)
          return bad;
        coords = *read;
      }
      if (coords.size() != unit->size())
        return bad;
      for (size_t axis = 0; axis < coords.size(); ++axis)
        if (coords[axis] >= (*unit)[axis])
          return bad;
      list->push_back(frame.unitIndex(coords));
      if (list->size() > 24)
        return bad;
    }
  }
  auto layout = make(*unit, std::move(bases), std::move(repeats));
  if (layout && layout->shape() != *shape)
    return bad;
  return layout;
}

} // namespace tilegym::layout
