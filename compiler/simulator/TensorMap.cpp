// SPDX-License-Identifier: MIT
// Tensor maps: their rules and their bytes.
#include "compiler/simulator/TensorMap.h"

#include <cstring>

namespace tilegym::sim {

int tensorTypeBytes(TensorType type) {
  static constexpr int bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  return bytes[size_t(type)];
}

bool isFloat(TensorType type) {
  return type == TensorType::F16 || type == TensorType::F32 || type == TensorType::F64 ||
         type == TensorType::BF16;
}

uint32_t TensorMap::boxBytes() const {
  auto bytes = uint32_t(elementBytes());
  for (int i = 0; i < rank; ++i)
    bytes *= boxCount(i);
  return bytes;
}

namespace {

std::string is(const std::string &what, uint64_t found, const std::string &expected) {
  return what + " is " + std::to_string(found) + "; expected " + expected;
}

std::string dimension(const char *what, int i) {
  return std::string(what) + " of dimension " + std::to_string(i);
}

std::optional<std::string> dimensionFault(const TensorMap &map, int i) {
  auto at = size_t(i);
  if (map.extents[at] == 0 || map.extents[at] > uint64_t(1) << 32)
    return is(dimension("the extent", i), map.extents[at], "1 to 2^32");
  if (map.box[at] == 0 || map.box[at] > 256)
    return is(dimension("the box", i), map.box[at], "1 to 256");
  if (map.elementStrides[at] == 0 || map.elementStrides[at] > 8)
    return is(dimension("the element stride", i), map.elementStrides[at], "1 to 8");
  if (i > 0 && (map.strides[at - 1] % 16 || map.strides[at - 1] >= uint64_t(1) << 40))
    return is(dimension("the stride", i), map.strides[at - 1], "a multiple of 16 bytes below 2^40");
  return std::nullopt;
}

} // namespace

std::optional<std::string> tensorMapFault(const TensorMap &map) {
  if (map.rank < 1 || map.rank > TensorMap::maxRank)
    return is("the rank", uint64_t(int64_t(map.rank)), "1 to 5");
  if (map.interleave != 0)
    return is("the interleave", uint64_t(int64_t(map.interleave)), "0 (none), the only one simulated");
  if (map.address % 16)
    return is("the global address modulo 16", map.address % 16, "0");
  for (int i = 0; i < map.rank; ++i)
    if (auto fault = dimensionFault(map, i))
      return fault;
  uint32_t inner = map.box[0] * uint32_t(map.elementBytes());
  if (inner % 16)
    return is("the box's inner row in bytes", inner, "a multiple of 16");
  if (map.swizzle != Swizzle::None && inner > uint32_t(map.swizzle))
    return is("the box's inner row in bytes", inner,
              "at most the swizzle's " + std::to_string(int(map.swizzle)));
  if (map.fillNaN && !isFloat(map.type))
    return is("the fill of an integer tensor", 1, "0 (zero): only floats have NaN");
  return std::nullopt;
}

namespace {

struct Packed {
  uint64_t magic;
  uint64_t address;
  uint64_t strides[4];
  uint32_t lastOf[5]; // extents less one, as 2^32 is allowed
  uint32_t box[5];
  uint8_t elementStrides[5];
  uint8_t rank, type, swizzle, fillNaN;
};
static_assert(sizeof(Packed) <= sizeof(TensorMapBytes));
constexpr uint64_t packedMagic = 0x50414D524F534E54; // "TNSORMAP"

} // namespace

TensorMapBytes encodeTensorMap(const TensorMap &map) {
  Packed packed{};
  packed.magic = packedMagic;
  packed.address = map.address;
  for (size_t i = 0; i < size_t(map.rank); ++i) {
    if (i > 0)
      packed.strides[i - 1] = map.strides[i - 1];
    packed.lastOf[i] = uint32_t(map.extents[i] - 1);
    packed.box[i] = map.box[i];
    packed.elementStrides[i] = uint8_t(map.elementStrides[i]);
  }
  packed.rank = uint8_t(map.rank);
  packed.type = uint8_t(map.type);
  packed.swizzle = uint8_t(map.swizzle);
  packed.fillNaN = map.fillNaN;
  TensorMapBytes bytes{};
  std::memcpy(bytes.data(), &packed, sizeof packed);
  return bytes;
}

std::optional<TensorMap> decodeTensorMap(const std::byte *bytes) {
  Packed packed;
  std::memcpy(&packed, bytes, sizeof packed);
  if (packed.magic != packedMagic || packed.rank < 1 || packed.rank > TensorMap::maxRank)
    return std::nullopt;
  TensorMap map;
  map.address = packed.address;
  for (size_t i = 0; i < packed.rank; ++i) {
    if (i > 0)
      map.strides[i - 1] = packed.strides[i - 1];
    map.extents[i] = uint64_t(packed.lastOf[i]) + 1;
    map.box[i] = packed.box[i];
    map.elementStrides[i] = packed.elementStrides[i];
  }
  map.rank = packed.rank;
  map.type = TensorType(packed.type);
  map.swizzle = Swizzle(packed.swizzle);
  map.fillNaN = packed.fillNaN;
  return map;
}

} // namespace tilegym::sim
