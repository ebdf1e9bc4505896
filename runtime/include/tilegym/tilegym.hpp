// SPDX-License-Identifier: MIT
// C++ over the C interface: views, owning tensors, statuses. Header only; nothing of the standard library crosses into the runtime.
#pragma once
#include "tilegym/tilegym.h"
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>

namespace tilegym {

/// The outcome of a call. Ask it with `if (!status)`, or `status.orThrow()`.
class [[nodiscard]] Status {
public:
  Status() = default;
  explicit Status(TilegymStatus code) : value(code), text(code == TILEGYM_OK ? "" : tilegym_last_error()) {}
  explicit operator bool() const { return value == TILEGYM_OK; }
  TilegymStatus code() const { return value; }
  const std::string &message() const { return text; }
  void orThrow() const {
    if (value != TILEGYM_OK)
      throw std::runtime_error(text);
  }

private:
  TilegymStatus value = TILEGYM_OK;
  std::string text;
};

/// A view of device memory: address, dtype, extents, and strides in elements (row-major contiguous if not given). An empty one stands for an optional tensor left out.
class TensorView {
public:
  TensorView() = default;
  TensorView(const void *data, TilegymDType dtype, std::initializer_list<int64_t> shape,
             std::initializer_list<int64_t> strides = {})
      : TensorView(data, dtype, int(shape.size()), shape.begin(),
                   strides.size() ? strides.begin() : nullptr) {
    if (strides.size() && strides.size() != shape.size())
      throw std::invalid_argument("a TensorView has " + std::to_string(shape.size()) + " extents but " +
                                  std::to_string(strides.size()) + " strides");
  }
  TensorView(const void *data, TilegymDType dtype, int rank, const int64_t *shape,
             const int64_t *strides = nullptr)
      : present(true) {
    if (rank < 0 || rank > TILEGYM_MAX_RANK)
      throw std::invalid_argument("a TensorView has rank " + std::to_string(rank) + ", expected 0 .. 8");
    tensor.data = const_cast<void *>(data);
    tensor.dtype = dtype;
    tensor.rank = rank;
    int64_t packed = 1;
    for (int i = rank - 1; i >= 0; --i) {
      shapes[i] = shape[i];
      stride[i] = strides ? strides[i] : packed;
      packed *= shape[i] > 0 ? shape[i] : 1;
    }
  }
  /// For C functions; null for an empty view. Valid as long as this object is.
  const TilegymTensor *c() const {
    tensor.shape = shapes;
    tensor.strides = stride;
    return present ? &tensor : nullptr;
  }
  void *data() const { return tensor.data; }
  TilegymDType dtype() const { return TilegymDType(tensor.dtype); }
  int rank() const { return tensor.rank; }
  int64_t extent(int axis) const { return shapes[axis]; }
  int64_t strideOf(int axis) const { return stride[axis]; }

private:
  mutable TilegymTensor tensor{};
  int64_t shapes[TILEGYM_MAX_RANK] = {}, stride[TILEGYM_MAX_RANK] = {};
  bool present = false;
};

} // namespace tilegym
