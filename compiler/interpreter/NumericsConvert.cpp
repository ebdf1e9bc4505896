// SPDX-License-Identifier: MIT
// Conversions go through a value that holds the source exactly (f64 for floats, 64-bit integers for
// integers), in chunks, so that 16 loaders and 3 x 16 storers serve all 256 pairs.
#include "compiler/interpreter/NumericsConvert.h"

#include "compiler/interpreter/NumericsElement.h"

#include <algorithm>
#include <cstring>

namespace tilegym::interp {
namespace {

constexpr size_t chunkSize = 512;

template <class Wide> void loadChunk(DType from, Source source, size_t first, Wide *wide, size_t count) {
  forDType(from, [&]<DType type>() {
    const auto *data = static_cast<const typename Element<type>::Storage *>(source.data);
    for (size_t i = 0; i < count; ++i)
      wide[i] = static_cast<Wide>(Element<type>::load(data[static_cast<ptrdiff_t>(first + i) * source.step]));
  });
}

/// The value of an f32 or f64 given by its bits.
template <DType type> typename Element<type>::Storage storageOf(uint64_t bits) {
  using Storage = typename Element<type>::Storage;
  if constexpr (type == DType::F64)
    return std::bit_cast<double>(bits);
  else if constexpr (type == DType::F32)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  else
    return static_cast<Storage>(bits);
}

template <DType type>
typename Element<type>::Storage fromDouble(double value, Rounding rounding, bool saturate) {
  using Storage = typename Element<type>::Storage;
  if constexpr (isSigned(type))
    return static_cast<Storage>(toInt(value, type, rounding));
  else if constexpr (!isFloat(type))
    return static_cast<Storage>(toUnsigned(value, type, rounding));
  else if constexpr (Element<type>::narrow)
    return rounding == Rounding::NearestEven
               ? static_cast<Storage>(encodeNearest<type>(value, saturate))
               : static_cast<Storage>(encodeDouble(floatFormat(type), value, rounding, saturate));
  else if (rounding == Rounding::NearestEven && !saturate)
    return static_cast<Storage>(value);
  else
    return storageOf<type>(encodeDouble(floatFormat(type), value, rounding, saturate));
}

template <DType type, class Wide>
typename Element<type>::Storage fromInteger(Wide value, Rounding rounding, bool saturate) {
  using Storage = typename Element<type>::Storage;
  if constexpr (isBool(type)) {
    return value != 0;
  } else if constexpr (isFloat(type)) {
    if constexpr (!Element<type>::narrow)
      if (rounding == Rounding::NearestEven)
        return static_cast<Storage>(value); // the hardware rounds 64-bit integers once
    if constexpr (std::is_signed_v<Wide>)
      return storageOf<type>(encodeInt(floatFormat(type), value, rounding, saturate));
    else
      return storageOf<type>(encodeUnsigned(floatFormat(type), value, rounding, saturate));
  } else {
    if (saturate) {
      bool negative = std::is_signed_v<Wide> && static_cast<int64_t>(value) < 0;
      if (negative && static_cast<int64_t>(value) < minInt(type))
        return static_cast<Storage>(minInt(type));
      if (!negative && static_cast<uint64_t>(value) > maxInt(type))
        return static_cast<Storage>(maxInt(type));
    }
    return static_cast<Storage>(value);
  }
}

template <class Wide>
void convertVia(DType from, Source source, DType to, void *out, size_t count, Rounding rounding,
                bool saturate) {
  Wide wide[chunkSize];
  for (size_t first = 0; first < count; first += chunkSize) {
    size_t here = std::min(chunkSize, count - first);
    loadChunk(from, source, first, wide, here);
    forDType(to, [&]<DType type>() {
      auto *results = static_cast<typename Element<type>::Storage *>(out) + first;
      for (size_t i = 0; i < here; ++i) {
        if constexpr (std::is_same_v<Wide, double>)
          results[i] = fromDouble<type>(wide[i], rounding, saturate);
        else
          results[i] = fromInteger<type>(wide[i], rounding, saturate);
      }
    });
  }
}

} // namespace

void convert(DType from, Source source, DType to, void *out, size_t count, Conversion options) {
  bool truncates = isFloat(from) && !isFloat(to);
  Rounding rounding = options.round.value_or(truncates ? Rounding::TowardZero : Rounding::NearestEven);
  bool saturate = options.saturate.value_or(saturatesByDefault(to));
  if (from == to && source.step == 1 && !options.saturate.value_or(false) && !isBool(from)) {
    std::memmove(out, source.data, count * sizeInBytes(from));
    return;
  }
  if (isFloat(from))
    convertVia<double>(from, source, to, out, count, rounding, saturate);
  else if (isSigned(from))
    convertVia<int64_t>(from, source, to, out, count, rounding, saturate);
  else
    convertVia<uint64_t>(from, source, to, out, count, rounding, saturate);
}

uint64_t convertBits(DType from, uint64_t bits, DType to, Conversion options) {
  uint64_t result = 0;
  static_assert(std::endian::native == std::endian::little, "bits are held in the low bytes");
  convert(from, Source{&bits, 1}, to, &result, 1, options);
  return result;
}

double toDouble(DType type, const void *element) {
  double value;
  loadChunk(type, Source{element, 0}, 0, &value, 1);
  return value;
}

} // namespace tilegym::interp
