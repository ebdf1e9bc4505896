// SPDX-License-Identifier: MIT
// The layouts of DLPack 1.x that the extension reads: tensors, capsules, and the table of functions that a framework offers for calls without any.
#pragma once
#include <cstdint>

namespace tilegym::python {

struct DLDevice {
  int32_t type, id;
};
enum : int32_t { kDLCpu = 1, kDLCuda = 2 };

struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};

struct DLTensor {
  void *data;
  DLDevice device;
  int32_t rank;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byteOffset;
};

struct DLManagedTensor {
  DLTensor tensor;
  void *context;
  void (*deleter)(DLManagedTensor *);
};

struct DLVersion {
  uint32_t major, minor;
};
enum : uint64_t { kDLReadOnly = 1 };
struct DLManagedTensorVersioned {
  DLVersion version;
  void *context;
  void (*deleter)(DLManagedTensorVersioned *);
  uint64_t flags;
  DLTensor tensor;
};

/// What `type(tensor).__dlpack_c_exchange_api__` holds, in a capsule of the name kExchangeName. No function synchronises anything.
struct DLExchange {
  DLVersion version;
  DLExchange *previous;
  int (*allocate)(DLTensor *prototype, DLManagedTensorVersioned **out, void *context,
                  void (*setError)(void *context, const char *kind, const char *message));
  int (*fromObject)(void *object, DLManagedTensorVersioned **out);
  int (*toObject)(DLManagedTensorVersioned *tensor, void **object);
  int (*borrow)(void *object, DLTensor *out); ///< may be null
  int (*currentStream)(int32_t deviceType, int32_t deviceId, void **out);
};
constexpr const char *kExchangeName = "dlpack_exchange_api";

} // namespace tilegym::python
