// SPDX-License-Identifier: MIT
// A tensor in host memory as callers hold it: real storage bits, shape, strides in elements. Several tensors may share a buffer.
#pragma once
#include "compiler/semantics/DType.h"
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tilegym::interp {

using Dims = std::vector<int64_t>;

/// Larger requests are refused as out of memory before the system is asked, which might grant them and then kill the process.
inline constexpr size_t largestAllocation = size_t(1) << 36;

/// Bytes, owned or borrowed. Shared by every tensor that looks into them.
class HostBuffer {
public:
  static std::shared_ptr<HostBuffer> allocate(size_t bytes, std::byte fill = std::byte{0});
  /// Memory of someone else, who keeps it alive.
  static std::shared_ptr<HostBuffer> borrow(void *data, size_t bytes);
  std::byte *data() { return start; }
  const std::byte *data() const { return start; }
  size_t size() const { return bytes; }

private:
  std::unique_ptr<std::byte[]> owned;
  std::byte *start = nullptr;
  size_t bytes = 0;
};

struct HostTensor {
  DType dtype = DType::F32;
  Dims shape, strides; ///< strides in elements; 0 repeats, negative ones walk backwards
  std::shared_ptr<HostBuffer> buffer;
  int64_t offset = 0; ///< of element (0, 0, ...), in elements

  /// Contiguous, row-major, zero.
  static HostTensor allocate(DType dtype, Dims shape);
  /// Contiguous, each value rounded to the dtype (floats to nearest even; integers take the exact value).
  static HostTensor fromDoubles(DType dtype, Dims shape, const std::vector<double> &values);
  static HostTensor fromInts(DType dtype, Dims shape, const std::vector<int64_t> &values);

  int64_t rank() const { return int64_t(shape.size()); }
  int64_t numElements() const;
  bool isContiguous() const;
  /// Place in the buffer, in elements, of the element at a row-major position.
  int64_t position(int64_t linear) const;
  /// A contiguous copy with a buffer of its own.
  HostTensor clone() const;
  /// A copy of the whole buffer with the same strides and offset.
  HostTensor cloneWithStrides() const;
  /// True when the buffer holds every element.
  bool isInsideBuffer() const;

  // One element by its row-major position. Doubles hold every float dtype exactly; integers above 2^53 need the int form.
  uint64_t bits(int64_t linear) const;
  void setBits(int64_t linear, uint64_t bits);
  double asDouble(int64_t linear) const;
  int64_t asInt(int64_t linear) const; ///< u64: the same bits
  void set(int64_t linear, double value);
  void setInt(int64_t linear, int64_t value);
  std::vector<double> toDoubles() const;
};

/// The first byte of the buffer that `after` has otherwise, elements left out unless asked for; -1: none.
int64_t firstChange(const HostTensor &before, const std::byte *after, bool elementsToo);

/// Calls fn(linear, position) for every element in row-major order.
template <class Fn> void forEachPosition(const HostTensor &tensor, Fn fn) {
  const size_t rank = tensor.shape.size();
  const int64_t count = tensor.numElements(), inner = rank ? tensor.shape[rank - 1] : 1,
                step = rank ? tensor.strides[rank - 1] : 1;
  Dims at(rank, 0);
  int64_t base = tensor.offset;
  for (int64_t done = 0; done < count; done += inner) {
    for (int64_t i = 0; i < inner; ++i)
      fn(done + i, base + i * step);
    for (size_t a = rank ? rank - 1 : 0; a-- > 0;) {
      base += tensor.strides[a];
      if (++at[a] < tensor.shape[a])
        break;
      base -= at[a] * tensor.strides[a];
      at[a] = 0;
    }
  }
}

/// Row-major strides of a shape.
Dims contiguousStrides(const Dims &shape);
/// Product of extents.
int64_t numElements(const Dims &shape);

} // namespace tilegym::interp
