// SPDX-License-Identifier: MIT
// C++ over the C interface: views, owning tensors, statuses, backends. Header only; nothing of the standard library crosses into the runtime.
#pragma once
#include "tilegym/tilegym.h"
#include <initializer_list>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#if __has_include(<span>)
#include <span>
#endif

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
                   strides.size() == shape.size() ? strides.begin() : nullptr) {
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

/// A list argument: any number of tensors, whose views it copies. Made from views in braces, or from a vector, an array or a span of views or tensors.
class TensorList {
public:
  TensorList() = default;
  TensorList(std::initializer_list<TensorView> list) : views(list) {}
  template <class Range, class = decltype(TensorView(*std::begin(std::declval<const Range &>())))>
  TensorList(const Range &range) : views(std::begin(range), std::end(range)) {}
  /// For C functions; valid as long as this object is, and until the next call.
  const TilegymTensorList *c() const {
    tensors.clear();
    for (const TensorView &view : views)
      tensors.push_back(view.c() ? *view.c() : TilegymTensor{});
    list = {tensors.data(), tensors.size()};
    return &list;
  }
  size_t size() const { return views.size(); }
  const TensorView &operator[](size_t i) const { return views[i]; }

private:
  std::vector<TensorView> views;
  mutable std::vector<TilegymTensor> tensors;
  mutable TilegymTensorList list{};
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

/// The dtype of a C++ type. Half-width floats have none in C++: give their dtype beside a pointer.
template <class T> constexpr TilegymDType dtypeOf() {
  using U = std::remove_cv_t<T>;
  static_assert(std::is_arithmetic<U>::value && sizeof(U) <= 8 && !std::is_same<U, long double>::value,
                "no dtype is this type; give a TilegymDType beside a pointer");
  if (std::is_same<U, bool>::value)
    return TILEGYM_BOOL;
  if (std::is_floating_point<U>::value)
    return sizeof(U) == 8 ? TILEGYM_F64 : TILEGYM_F32;
  constexpr int log = sizeof(U) == 1 ? 0 : sizeof(U) == 2 ? 1 : sizeof(U) == 4 ? 2 : 3;
  return TilegymDType((std::is_signed<U>::value ? TILEGYM_I8 : TILEGYM_U8) + log);
}

/// Contiguous memory of the GPU as a tensor, its dtype the pointer's: `view(x, {rows, columns})`.
template <class T> TensorView view(T *data, std::initializer_list<int64_t> shape) {
  return TensorView(data, dtypeOf<T>(), shape);
}

#ifdef __cpp_lib_span
/// The same of a span, which must hold as many elements; of one axis where no shape is given.
template <class T, size_t N> TensorView view(std::span<T, N> memory, std::initializer_list<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  if (elements != int64_t(memory.size()))
    throw std::invalid_argument("a TensorView of " + std::to_string(elements) + " elements over a span of " +
                                std::to_string(memory.size()));
  return view(memory.data(), shape);
}
template <class T, size_t N> TensorView view(std::span<T, N> memory) {
  return view(memory.data(), {int64_t(memory.size())});
}
/// Extents and strides that are computed.
template <class T>
TensorView view(T *data, std::span<const int64_t> shape, std::span<const int64_t> strides = {}) {
  if (!strides.empty() && strides.size() != shape.size())
    throw std::invalid_argument("a TensorView has " + std::to_string(shape.size()) + " extents but " +
                                std::to_string(strides.size()) + " strides");
  return TensorView(data, dtypeOf<T>(), int(shape.size()), shape.data(),
                    strides.empty() ? nullptr : strides.data());
}
#endif

/// A backend by name or number (TILEGYM_BACKEND_...).
class Backend {
public:
  Backend(int32_t number) : number(number) {}
  Backend(const char *name) : number(tilegym_backend(name)) {
    if (number < 0)
      throw std::invalid_argument(std::string("there is no backend '") + name + "'");
  }
  Backend(const std::string &name) : Backend(name.c_str()) {}
  /// This thread's.
  static Backend current() { return Backend(tilegym_current_backend()); }
  std::string name() const {
    const char *text = tilegym_backend_name(number);
    return text ? text : "";
  }
  operator int32_t() const { return number; }

private:
  int32_t number;
};

/// For all threads that have none of their own.
inline Status setBackend(Backend backend) { return Status(tilegym_set_backend(backend)); }

/// This thread's calls go to the backend until the end of the scope: `tilegym::UseBackend scope("vendor");`
class [[nodiscard]] UseBackend {
public:
  explicit UseBackend(Backend backend) { Status(tilegym_set_thread_backend(backend, &previous)).orThrow(); }
  ~UseBackend() { (void)tilegym_set_thread_backend(previous, nullptr); }
  UseBackend(const UseBackend &) = delete;
  UseBackend &operator=(const UseBackend &) = delete;

private:
  int32_t previous = TILEGYM_BACKEND_DEFAULT;
};

/// This thread's kernels may start while the one before them in the stream ends, until the end of the scope (tilegym_set_early_launch).
class [[nodiscard]] UseEarlyLaunch {
public:
  explicit UseEarlyLaunch(bool on = true) : previous(tilegym_set_early_launch(on)) {}
  ~UseEarlyLaunch() { tilegym_set_early_launch(previous); }
  UseEarlyLaunch(const UseEarlyLaunch &) = delete;
  UseEarlyLaunch &operator=(const UseEarlyLaunch &) = delete;

private:
  int32_t previous;
};

/// One call on a backend: `on("vendor", [&] { return my_kernels::matmul(a, b, c); })`.
template <class Call> auto on(Backend backend, Call &&call) {
  UseBackend scope(backend);
  return std::forward<Call>(call)();
}

/// What an implementation is given: a call of an op, checked.
struct Arguments {
  TilegymPackage *package;
  size_t op;
  const void *const *args; ///< as of tilegym_call
  void *stream;
  /// Argument number `i`, a tensor; null for an optional one left out.
  const TilegymTensor *tensor(size_t i) const { return static_cast<const TilegymTensor *>(args[i]); }
  /// Argument number `i`, a list of tensors.
  const TilegymTensorList *list(size_t i) const { return static_cast<const TilegymTensorList *>(args[i]); }
  /// Argument number `i`, a scalar of this C type (consts are int64_t); `other` for one left to its default.
  template <class T> T scalar(size_t i, T other) const {
    return args[i] ? *static_cast<const T *>(args[i]) : other;
  }
};

/// Makes `call(const Arguments &)`, which returns a TilegymStatus, what `backend` does for ops of this name. It is kept for good: calls may be under way to it.
/// An exception becomes the call's error.
template <class Call> Status registerImpl(const char *op, const char *backend, Call call) {
  auto *kept = new Call(std::move(call));
  auto run = [](void *user, TilegymPackage *package, size_t number, const void *const *args,
                void *stream) -> TilegymStatus {
    try {
      return (*static_cast<Call *>(user))(Arguments{package, number, args, stream});
    } catch (const std::exception &error) {
      tilegym_set_error(error.what());
    } catch (...) {
      tilegym_set_error("an implementation threw something that is no std::exception");
    }
    return TILEGYM_INVALID_ARGUMENT;
  };
  Status status(tilegym_register_impl(op, backend, run, kept));
  if (!status)
    delete kept;
  return status;
}

/// A package of one's own: from a file, or from memory, which is then borrowed.
class Package {
public:
  static Status openFile(const std::string &path, Package &out) {
    return out.take(
        [&](TilegymPackage **package) { return tilegym_package_open_file(path.c_str(), package); });
  }
  static Status open(const void *data, size_t size, Package &out) {
    return out.take([&](TilegymPackage **package) { return tilegym_package_open(data, size, package); });
  }
  Package() = default;
  Package(Package &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Package &operator=(Package &&other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
  ~Package() { tilegym_package_close(handle); }
  TilegymPackage *c() const { return handle; }
  size_t size() const { return tilegym_package_num_ops(handle); }
  std::string opName(size_t op) const {
    const char *text = tilegym_package_op_name(handle, op);
    return text ? text : "";
  }
  /// The number of the op with this name; `size()` where there is none.
  size_t find(const std::string &name) const {
    size_t op = 0;
    while (op < size() && opName(op) != name)
      ++op;
    return op;
  }

private:
  template <class Open> Status take(Open open) {
    TilegymPackage *opened = nullptr;
    Status status(open(&opened));
    if (status) {
      tilegym_package_close(handle);
      handle = opened;
    }
    return status;
  }
  TilegymPackage *handle = nullptr;
};

/// tilegym_describe.
inline std::string describe(TilegymPackage *package = nullptr, bool json = false) {
  const char *text = "";
  Status(tilegym_describe(package, json ? TILEGYM_JSON : TILEGYM_TEXT, &text)).orThrow();
  return text;
}

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
