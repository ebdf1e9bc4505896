// SPDX-License-Identifier: MIT
// C++ over the C interface: views, owning tensors, statuses. Header only; nothing of the standard library crosses into the runtime.
#pragma once
#include "tilegym/tilegym.h"
#include <initializer_list>
#include <limits>
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

/// Device memory of its own, made for an output in a stream's order and given back in it: the stream must outlive the tensor (the null
/// stream always does). Moves, does not copy; passes as a TensorView.
class Tensor {
public:
  Tensor() = default;
  Tensor(Tensor &&other) noexcept
      : shown(std::exchange(other.shown, TensorView())), stream(std::exchange(other.stream, nullptr)) {}
  Tensor &operator=(Tensor &&other) noexcept {
    if (this != &other) {
      reset();
      shown = std::exchange(other.shown, TensorView());
      stream = std::exchange(other.stream, nullptr);
    }
    return *this;
  }
  ~Tensor() { reset(); }

  /// Contiguous, row-major, its values undefined.
  static Status make(Tensor &out, TilegymDType dtype, int rank, const int64_t *shape,
                     void *stream = nullptr) {
    uint64_t bytes = bytesOf(dtype);
    for (int i = 0; i < rank; ++i)
      bytes *= uint64_t(shape[i]);
    void *data = nullptr;
    if (TilegymStatus status = tilegym_allocate(size_t(bytes), stream, &data); status != TILEGYM_OK)
      return Status(status);
    out = Tensor(TensorView(data, dtype, rank, shape), stream);
    return Status();
  }

  const TensorView &view() const { return shown; }
  operator const TensorView &() const { return shown; }
  const TilegymTensor *c() const { return shown.c(); }
  void *data() const { return shown.data(); }
  TilegymDType dtype() const { return shown.dtype(); }
  int rank() const { return shown.rank(); }
  int64_t extent(int axis) const { return shown.extent(axis); }
  explicit operator bool() const { return shown.c() != nullptr; }

  /// Gives the memory back now.
  void reset() {
    if (shown.data())
      tilegym_free(shown.data(), stream);
    shown = TensorView();
  }
  /// Hands the memory over: tilegym_free gives it back.
  void *release() { return std::exchange(shown, TensorView()).data(); }

private:
  Tensor(const TensorView &view, void *stream) : shown(view), stream(stream) {}
  static uint64_t bytesOf(TilegymDType dtype) {
    constexpr uint8_t bytes[] = {8, 4, 2, 2, 1, 1, 1, 2, 4, 8, 1, 2, 4, 8, 1};
    return bytes[dtype];
  }
  TensorView shown;
  void *stream = nullptr;
};

/// The first argument of a call that allocates its outputs: `auto [status, y] = softmax(tilegym::allocate, x)`.
struct Allocate {};
inline constexpr Allocate allocate{};

/// Whether a call that allocates its outputs makes an optional one, too.
enum class Want { No, Yes };

namespace detail {
/// Allocates output argument number `arg` of a call whose other arguments are `args` (for the generated code).
inline Status allocateOutput(TilegymPackage *package, size_t op, const void *const *args, size_t arg,
                             void *stream, Tensor &out) {
  int64_t shape[TILEGYM_MAX_RANK] = {};
  int32_t rank = 0, dtype = 0;
  Status status(tilegym_infer_shape(package, op, args, arg, shape, &rank, &dtype));
  return status ? Tensor::make(out, TilegymDType(dtype), rank, shape, stream) : status;
}
} // namespace detail

} // namespace tilegym
