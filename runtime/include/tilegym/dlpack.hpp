// SPDX-License-Identifier: MIT
// Tensors of other libraries by DLPack, in and out. Its header is the caller's (<dlpack/dlpack.h>, of any version): these templates read and fill
// structures of its form, and need none themselves.
#pragma once
#include "tilegym/tilegym.hpp"

namespace tilegym {
namespace detail {

/// DLDataTypeCode and bits of each dtype, in their order.
struct DLCode {
  uint8_t code, bits;
};
constexpr DLCode kDLCodes[] = {{2, 64}, {2, 32}, {2, 16}, {4, 16}, {10, 8}, {12, 8}, {0, 8}, {0, 16},
                               {0, 32}, {0, 64}, {1, 8},  {1, 16}, {1, 32}, {1, 64}, {6, 8}};
constexpr int kDLCpu = 1, kDLCuda = 2, kDLCudaHost = 3, kDLCudaManaged = 13;

/// What a tensor that was handed out leaves with its receiver.
template <class Managed> struct DLOwned {
  Tensor tensor;
  int64_t shape[TILEGYM_MAX_RANK], strides[TILEGYM_MAX_RANK];
  Managed managed;
};

template <class Managed, class = void> struct HasVersion : std::false_type {};
template <class Managed>
struct HasVersion<Managed, std::void_t<decltype(std::declval<Managed &>().version)>> : std::true_type {};

} // namespace detail

/// A DLTensor of memory that a GPU reaches (of the host's where this thread's backend is the reference), as a view; nothing is copied. Throws
/// std::invalid_argument for one that no TensorView can be.
template <class DLTensor> TensorView fromDLPack(const DLTensor &t) {
  auto refuse = [](const std::string &why) -> TensorView {
    throw std::invalid_argument("a DLPack tensor " + why);
  };
  int device = int(t.device.device_type);
  bool isHost = tilegym_current_backend() == TILEGYM_BACKEND_REFERENCE;
  bool fits = device == detail::kDLCudaHost || device == detail::kDLCudaManaged ||
              device == (isHost ? detail::kDLCpu : detail::kDLCuda);
  if (!fits)
    return refuse("lies on a device of type " + std::to_string(device) + ", expected " +
                  (isHost ? "1 (CPU)" : "2 (CUDA)"));
  if (t.ndim > TILEGYM_MAX_RANK)
    return refuse("has rank " + std::to_string(t.ndim) + ", expected 0 .. 8");
  if (t.dtype.lanes != 1)
    return refuse("has elements of " + std::to_string(t.dtype.lanes) + " lanes, expected 1");
  for (int dtype = TILEGYM_F64; dtype <= TILEGYM_BOOL; ++dtype)
    if (detail::kDLCodes[dtype].code == t.dtype.code && detail::kDLCodes[dtype].bits == t.dtype.bits)
      return TensorView(static_cast<char *>(t.data) + t.byte_offset, TilegymDType(dtype), int(t.ndim),
                        t.shape, t.strides);
  return refuse("has dtype code " + std::to_string(t.dtype.code) + " of " + std::to_string(t.dtype.bits) +
                " bits, which is no dtype here");
}

/// Fills a DLTensor with the view, which must outlive it. `device` is the GPU's number; kHost for host memory.
constexpr int kHost = -1;
template <class DLTensor> void toDLPack(const TensorView &view, int device, DLTensor &out) {
  const TilegymTensor *t = view.c();
  if (!t)
    throw std::invalid_argument("no DLPack tensor is a TensorView that stands for one left out");
  out = DLTensor{};
  out.data = t->data;
  out.device.device_type = decltype(out.device.device_type)(device < 0 ? detail::kDLCpu : detail::kDLCuda);
  out.device.device_id = device < 0 ? 0 : device;
  out.ndim = t->rank;
  out.dtype.code = detail::kDLCodes[t->dtype].code;
  out.dtype.bits = detail::kDLCodes[t->dtype].bits;
  out.dtype.lanes = 1;
  out.shape = const_cast<int64_t *>(t->shape);
  out.strides = const_cast<int64_t *>(t->strides);
}

/// Hands a tensor over: `Managed` is DLManagedTensor or DLManagedTensorVersioned, whose deleter gives the memory back in the order of the tensor's stream.
template <class Managed> Managed *toDLPack(Tensor &&tensor, int device) {
  auto *owned = new detail::DLOwned<Managed>{std::move(tensor), {}, {}, {}};
  Managed &managed = owned->managed;
  try {
    toDLPack(owned->tensor.view(), device, managed.dl_tensor);
  } catch (...) {
    delete owned;
    throw;
  }
  for (int i = 0; i < managed.dl_tensor.ndim; ++i) {
    owned->shape[i] = managed.dl_tensor.shape[i];
    owned->strides[i] = managed.dl_tensor.strides[i];
  }
  managed.dl_tensor.shape = owned->shape;
  managed.dl_tensor.strides = owned->strides;
  if constexpr (detail::HasVersion<Managed>::value) {
    managed.version.major = 1;
    managed.version.minor = 0;
  }
  managed.manager_ctx = owned;
  managed.deleter = [](Managed *self) { delete static_cast<detail::DLOwned<Managed> *>(self->manager_ctx); };
  return &managed;
}

} // namespace tilegym
