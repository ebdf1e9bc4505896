// SPDX-License-Identifier: MIT
// Host tensors: allocation, element access by dtype, copies.
#include "compiler/interpreter/HostTensor.h"
#include "compiler/interpreter/NumericsConvert.h"
#include <algorithm>
#include <cstring>
#include <new>

namespace tilegym::interp {

std::shared_ptr<HostBuffer> HostBuffer::allocate(size_t bytes, std::byte fill) {
  if (bytes > largestAllocation)
    throw std::bad_alloc();
  auto buffer = std::make_shared<HostBuffer>();
  buffer->owned = std::make_unique_for_overwrite<std::byte[]>(std::max<size_t>(bytes, 1));
  buffer->start = buffer->owned.get();
  buffer->bytes = bytes;
  std::memset(buffer->start, int(fill), bytes);
  return buffer;
}

std::shared_ptr<HostBuffer> HostBuffer::borrow(void *data, size_t bytes) {
  auto buffer = std::make_shared<HostBuffer>();
  buffer->start = static_cast<std::byte *>(data);
  buffer->bytes = bytes;
  return buffer;
}

Dims contiguousStrides(const Dims &shape) {
  Dims strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = int64_t(uint64_t(strides[i]) * uint64_t(std::max<int64_t>(shape[i], 1)));
  return strides;
}

int64_t numElements(const Dims &shape) {
  int64_t count = 1;
  bool overflow = false;
  for (int64_t extent : shape) {
    if (extent == 0)
      return 0;
    overflow |= __builtin_mul_overflow(count, extent, &count);
  }
  // Too many for any memory, yet their bytes still fit 64 bits.
  return overflow || count > (int64_t(1) << 60) ? int64_t(1) << 60 : count;
}

HostTensor HostTensor::allocate(DType dtype, Dims shape) {
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.strides = contiguousStrides(shape);
  tensor.shape = std::move(shape);
  tensor.buffer = HostBuffer::allocate(size_t(tensor.numElements()) * sizeInBytes(dtype));
  return tensor;
}

HostTensor HostTensor::fromDoubles(DType dtype, Dims shape, const std::vector<double> &values) {
  HostTensor tensor = allocate(dtype, std::move(shape));
  size_t count = std::min(values.size(), size_t(tensor.numElements()));
  convert(DType::F64, {values.data(), 1}, dtype, tensor.buffer->data(), count);
  return tensor;
}

HostTensor HostTensor::fromInts(DType dtype, Dims shape, const std::vector<int64_t> &values) {
  HostTensor tensor = allocate(dtype, std::move(shape));
  size_t count = std::min(values.size(), size_t(tensor.numElements()));
  convert(DType::I64, {values.data(), 1}, dtype, tensor.buffer->data(), count);
  return tensor;
}

int64_t HostTensor::numElements() const { return interp::numElements(shape); }

bool HostTensor::isContiguous() const {
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected)
      return false;
    expected *= shape[i];
  }
  return true;
}

int64_t HostTensor::position(int64_t linear) const {
  int64_t at = offset;
  for (size_t i = shape.size(); i-- > 0;) {
    at += linear % shape[i] * strides[i];
    linear /= shape[i];
  }
  return at;
}

HostTensor HostTensor::clone() const {
  HostTensor copy = allocate(dtype, shape);
  size_t size = sizeInBytes(dtype);
  int64_t count = numElements();
  const std::byte *from = buffer ? buffer->data() : nullptr;
  std::byte *to = copy.buffer->data();
  if (count == 0)
    return copy;
  if (isContiguous()) {
    std::memcpy(to, from + offset * int64_t(size), size_t(count) * size);
    return copy;
  }
  forEachPosition(*this, [&](int64_t i, int64_t at) {
    std::memcpy(to + i * int64_t(size), from + at * int64_t(size), size);
  });
  return copy;
}

HostTensor HostTensor::cloneWithStrides() const {
  HostTensor copy = *this;
  copy.buffer = HostBuffer::allocate(buffer->size());
  std::memcpy(copy.buffer->data(), buffer->data(), buffer->size());
  return copy;
}

bool HostTensor::isInsideBuffer() const {
  if (numElements() == 0)
    return true;
  if (!buffer)
    return false;
  int64_t low = offset, high = offset;
  for (size_t i = 0; i < shape.size(); ++i)
    (strides[i] < 0 ? low : high) += (shape[i] - 1) * strides[i];
  return low >= 0 && high < int64_t(buffer->size() / sizeInBytes(dtype));
}

uint64_t HostTensor::bits(int64_t linear) const {
  uint64_t result = 0;
  size_t size = sizeInBytes(dtype);
  std::memcpy(&result, buffer->data() + position(linear) * int64_t(size), size);
  return result;
}

void HostTensor::setBits(int64_t linear, uint64_t bits) {
  size_t size = sizeInBytes(dtype);
  std::memcpy(buffer->data() + position(linear) * int64_t(size), &bits, size);
}

double HostTensor::asDouble(int64_t linear) const {
  return toDouble(dtype, buffer->data() + position(linear) * int64_t(sizeInBytes(dtype)));
}

int64_t HostTensor::asInt(int64_t linear) const {
  return int64_t(convertBits(dtype, bits(linear), isUnsigned(dtype) ? DType::U64 : DType::I64));
}

void HostTensor::set(int64_t linear, double value) {
  uint64_t from;
  std::memcpy(&from, &value, sizeof from);
  setBits(linear, convertBits(DType::F64, from, dtype));
}

void HostTensor::setInt(int64_t linear, int64_t value) {
  setBits(linear, convertBits(DType::I64, uint64_t(value), dtype));
}

std::vector<double> HostTensor::toDoubles() const {
  std::vector<double> values(static_cast<size_t>(numElements()));
  forEachPosition(*this, [&](int64_t i, int64_t at) {
    values[size_t(i)] = toDouble(dtype, buffer->data() + at * int64_t(sizeInBytes(dtype)));
  });
  return values;
}

int64_t firstChange(const HostTensor &before, const std::byte *after, bool elementsToo) {
  size_t size = before.buffer->size(), width = sizeInBytes(before.dtype);
  const std::byte *bytes = before.buffer->data();
  if (!std::memcmp(bytes, after, size))
    return -1;
  std::vector<bool> mine(size, false);
  if (!elementsToo)
    forEachPosition(before, [&](int64_t, int64_t position) {
      std::fill_n(mine.begin() + position * int64_t(width), width, true);
    });
  for (size_t i = 0; i < size; ++i)
    if (bytes[i] != after[i] && !mine[i])
      return int64_t(i);
  return -1;
}

} // namespace tilegym::interp
