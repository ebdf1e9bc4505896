// SPDX-License-Identifier: MIT
// Types as text, for diagnostics.
#include "compiler/semantics/Checked.h"

namespace tilegym::sem {

static std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + (shape[i] == kDynamic ? std::string("?") : std::to_string(shape[i]));
  return text + "]";
}

std::string toString(const Type &type) {
  std::string dtype(name(type.dtype));
  switch (type.kind) {
  case Type::Void:
    return "nothing";
  case Type::String:
    return "a string";
  case Type::List:
    return "list of " + dtype + " tensors";
  case Type::Tile:
    return type.shape.empty() ? dtype : dtype + shapeText(type.shape);
  case Type::View:
    return "view " + dtype + shapeText(type.shape);
  case Type::Tuple:
    break;
  }
  std::string text = "(";
  for (size_t i = 0; i < type.elements.size(); ++i)
    text += (i ? ", " : "") + toString(type.elements[i]);
  return text + ")";
}

} // namespace tilegym::sem
