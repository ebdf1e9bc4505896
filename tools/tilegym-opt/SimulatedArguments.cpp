// SPDX-License-Identifier: MIT
// Parsing, first values and printing of buffers.
#include "SimulatedArguments.h"
#include "compiler/interpreter/Numerics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace tilegym {
namespace {

std::optional<DType> parseType(StringRef name) {
  return StringSwitch<std::optional<DType>>(name)
      .Case("i8", DType::I8)
      .Case("i16", DType::I16)
      .Case("i32", DType::I32)
      .Case("i64", DType::I64)
      .Case("f16", DType::F16)
      .Case("bf16", DType::BF16)
      .Case("f32", DType::F32)
      .Case("f64", DType::F64)
      .Default(std::nullopt);
}

Expected<uint64_t> parseValue(DType type, StringRef text) {
  if (isFloat(type)) {
    double value = 0;
    if (!to_float(text, value))
      return createStringError("found '%s', expected a number", text.str().c_str());
    return interp::encodeDouble(floatFormat(type), value, interp::Rounding::NearestEven, false);
  }
  int64_t value = 0;
  uint64_t large = 0;
  if (!to_integer(text, value) && !to_integer(text, large))
    return createStringError("found '%s', expected an integer", text.str().c_str());
  return value ? uint64_t(value) : large;
}

template <class T> Expected<SmallVector<T>> parseNumbers(StringRef text, char separator) {
  SmallVector<T> numbers;
  SmallVector<StringRef> parts;
  text.split(parts, separator);
  for (StringRef part : parts)
    if (!to_integer(part, numbers.emplace_back()))
      return createStringError("found '%s', expected a number", part.str().c_str());
  return numbers;
}

std::optional<sim::TensorType> tensorType(DType type) {
  switch (type) {
  case DType::I8:
    return sim::TensorType::U8;
  case DType::I16:
    return sim::TensorType::U16;
  case DType::I32:
    return sim::TensorType::S32;
  case DType::I64:
    return sim::TensorType::S64;
  case DType::F16:
    return sim::TensorType::F16;
  case DType::BF16:
    return sim::TensorType::BF16;
  case DType::F32:
    return sim::TensorType::F32;
  case DType::F64:
    return sim::TensorType::F64;
  default:
    return std::nullopt;
  }
}

} // namespace

Expected<bool> SimulatedArguments::add(StringRef text) {
  auto [head, value] = text.split('=');
  if (head == "map") {
    if (Error error = addMap(value))
      return createStringError("'%s': %s", text.str().c_str(), toString(std::move(error)).c_str());
    return true;
  }
  auto [typeName, extent] = head.split('[');
  std::optional<DType> type = parseType(typeName);
  if (!type)
    return false;
  auto argument = std::make_unique<Argument>();
  argument->type = *type;
  if (extent.empty()) {
    Expected<uint64_t> bits = parseValue(*type, value);
    if (!bits)
      return createStringError("'%s': %s", text.str().c_str(), toString(bits.takeError()).c_str());
    std::memcpy(argument->bytes, &*bits, sizeof *bits);
    values.push_back(std::move(argument));
    return true;
  }
  if (!extent.consume_back("]") || !to_integer(extent, argument->elements))
    return createStringError("'%s': expected TYPE[ELEMENTS]", text.str().c_str());
  argument->isBuffer = true;
  argument->address = memory.allocate(uint64_t(argument->elements) * uint64_t(sizeInBytes(*type)),
                                      "argument " + std::to_string(values.size()));
  std::memcpy(argument->bytes, &argument->address, sizeof argument->address);
  if (Error error = value.empty() ? Error::success() : fill(*argument, value))
    return createStringError("'%s': %s", text.str().c_str(), toString(std::move(error)).c_str());
  values.push_back(std::move(argument));
  return true;
}

Error SimulatedArguments::fill(const Argument &buffer, StringRef pattern) {
  SmallVector<StringRef> literals;
  pattern.split(literals, ',');
  size_t width = sizeInBytes(buffer.type);
  uint32_t state = 12345;
  for (int64_t i = 0; i < buffer.elements; ++i) {
    uint64_t bits = 0;
    state = state * 1664525 + 1013904223; // the same numbers everywhere
    double number = pattern == "iota" ? double(i) : pattern == "small" ? double(state >> 16) : 0;
    if (pattern == "small")
      number = std::fmod(number, 17) - 8;
    if (pattern == "iota" || pattern == "zero" || pattern == "small") {
      bits = isFloat(buffer.type) ? interp::encodeDouble(floatFormat(buffer.type), number,
                                                         interp::Rounding::NearestEven, false)
                                  : uint64_t(int64_t(number));
    } else {
      Expected<uint64_t> value = parseValue(buffer.type, literals[size_t(i) % literals.size()]);
      if (!value)
        return value.takeError();
      bits = *value;
    }
    memory.write(buffer.address + uint64_t(i) * width, &bits, width);
  }
  return Error::success();
}

Error SimulatedArguments::addMap(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ':');
  size_t buffer = 0;
  std::optional<DType> type = parts.size() >= 4 ? parseType(parts[0]) : std::nullopt;
  if (!type || !to_integer(parts[1], buffer) || buffer >= values.size() || !values[buffer]->isBuffer)
    return createStringError("expected map=TYPE:ARGUMENT:EXTENTS:BOX, with an earlier buffer");
  auto extents = parseNumbers<uint64_t>(parts[2], 'x');
  if (!extents)
    return extents.takeError();
  auto box = parseNumbers<uint32_t>(parts[3], 'x');
  if (!box)
    return box.takeError();
  if (extents->size() > sim::TensorMap::maxRank || box->size() != extents->size())
    return createStringError("expected as many extents as the box has, at most 5");
  sim::TensorMap map;
  map.address = values[buffer]->address;
  map.rank = int(extents->size());
  map.type = *tensorType(*type);
  llvm::copy(*extents, map.extents.begin());
  llvm::copy(*box, map.box.begin());
  uint64_t stride = uint64_t(sizeInBytes(*type));
  for (int i = 0; i + 1 < map.rank; ++i)
    map.strides[size_t(i)] = stride *= map.extents[size_t(i)];
  for (StringRef part : ArrayRef(parts).drop_front(4)) {
    auto [name, value] = part.split('=');
    if (name == "nan") {
      map.fillNaN = true;
    } else if (name == "swizzle") {
      auto bytes = parseNumbers<int>(value, ',');
      if (!bytes)
        return bytes.takeError();
      map.swizzle = sim::Swizzle((*bytes)[0]);
    } else if (name == "strides") {
      auto strides = parseNumbers<uint64_t>(value, ',');
      if (!strides)
        return strides.takeError();
      std::copy_n(strides->begin(), std::min(strides->size(), map.strides.size()), map.strides.begin());
    } else if (name == "steps") {
      auto steps = parseNumbers<uint32_t>(value, 'x');
      if (!steps)
        return steps.takeError();
      std::copy_n(steps->begin(), std::min(steps->size(), map.elementStrides.size()),
                  map.elementStrides.begin());
    } else {
      return createStringError("'%s' is no part of a map: expected strides=, swizzle=, steps= or nan",
                               part.str().c_str());
    }
  }
  if (std::optional<std::string> fault = sim::tensorMapFault(map))
    return createStringError("%s", fault->c_str());
  auto argument = std::make_unique<Argument>();
  sim::TensorMapBytes bytes = sim::encodeTensorMap(map);
  std::copy(bytes.begin(), bytes.end(), argument->bytes);
  values.push_back(std::move(argument));
  return Error::success();
}

void **SimulatedArguments::parameters() {
  pointers.clear();
  for (const auto &argument : values)
    pointers.push_back(argument->bytes);
  return pointers.data();
}

std::string SimulatedArguments::text(bool hex) const {
  std::string all;
  raw_string_ostream os(all);
  for (size_t i = 0; i < values.size(); ++i) {
    const Argument &argument = *values[i];
    if (!argument.isBuffer)
      continue;
    os << "arg" << i << " " << tilegym::name(argument.type) << " [";
    size_t width = sizeInBytes(argument.type);
    for (int64_t e = 0; e < argument.elements; ++e) {
      uint64_t bits = 0;
      memory.read(argument.address + uint64_t(e) * width, &bits, width);
      os << (e ? ", " : "");
      if (hex)
        os << format_hex(bits, unsigned(2 + 2 * width));
      else if (isFloat(argument.type))
        os << format("%.9g", interp::decode(floatFormat(argument.type), bits));
      else
        os << (int64_t(bits << (64 - 8 * width)) >> (64 - 8 * width));
    }
    os << "]\n";
  }
  return all;
}

} // namespace tilegym
