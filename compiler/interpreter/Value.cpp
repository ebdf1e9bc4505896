// SPDX-License-Identifier: MIT
// Values made, read and written element by element, whatever their dtype.
#include "compiler/interpreter/Value.h"
#include "compiler/interpreter/NumericsConvert.h"

namespace tilegym::interp {

std::string toString(const Shape &shape) {
  std::string text = "[";
  for (int i = 0; i < shape.rank(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

Value::Value(DType dtype, const Shape &shape) : dtype(dtype), shape(shape) {
  int64_t size = sizeInBytes(dtype);
  bool overflow = false;
  for (int64_t extent : shape) {
    if (extent == 0) {
      size = 0;
      overflow = false;
      break;
    }
    overflow |= __builtin_mul_overflow(size, extent, &size);
  }
  if (overflow || uint64_t(size) > largestAllocation)
    fail(Fault::OutOfMemory, "a value of shape " + toString(shape) + " is too large");
  if (size > int64_t(inlined.size()))
    heap = std::make_shared_for_overwrite<std::byte[]>(size);
}

Value Value::scalar(DType dtype, uint64_t bits) {
  Value value(dtype, Shape{});
  std::memcpy(value.data(), &bits, sizeof bits);
  return value;
}

Value Value::reshaped(const Shape &to) const {
  Value value = *this;
  value.shape = to;
  return value;
}

uint64_t Value::bitsAt(int64_t i) const {
  uint64_t bits = 0;
  std::memcpy(&bits, data() + i * int64_t(elementSize()), elementSize());
  return bits;
}

int64_t Value::intAt(int64_t i) const {
  if (dtype == DType::Index || dtype == DType::I64 || dtype == DType::U64)
    return int64_t(bitsAt(i));
  return int64_t(convertBits(dtype, bitsAt(i), isUnsigned(dtype) ? DType::U64 : DType::I64));
}

} // namespace tilegym::interp
