// SPDX-License-Identifier: MIT
// Does each tensor lie where the current device can reach it? Asking the driver costs as much as a tenth of a launch for each tensor, so a thread
// remembers allocations that it was told of, and an address inside one of them costs a comparison.
//
// Only "yes" is remembered. It can grow stale when the memory is freed behind our back; addresses are unique in a process, so what then lies there
// is the memory meant, or memory that the device can reach as well, or none: and then the launch fails with the driver's own error. No answer
// here makes a result silently wrong, and no call is refused for what was true before.
#include "KernelLaunch.h"

namespace tilegym::runtime {
namespace {

constexpr int kEveryDevice = -1;

struct Allocation {
  uint64_t start = 0, size = 0;
  int device = kEveryDevice; ///< pinned and managed memory is every device's
  bool serves(uint64_t address, int ordinal) const {
    return address - start < size && (device == kEveryDevice || device == ordinal);
  }
};

/// What a thread was told. Fixed in size: the oldest gives way.
struct KnownMemory {
  static constexpr uint32_t kCount = 32;
  const Driver *driver = nullptr;
  Allocation allocations[kCount];
  uint32_t next = 0;
  uint8_t lastOf[format::kMaxTensors] = {}; ///< by tensor: where its address was found last

  bool serves(size_t tensor, uint64_t address, int ordinal) {
    if (allocations[lastOf[tensor]].serves(address, ordinal))
      return true;
    for (uint32_t i = 0; i < kCount; ++i)
      if (allocations[i].serves(address, ordinal)) {
        lastOf[tensor] = uint8_t(i);
        return true;
      }
    return false;
  }
  void add(const Allocation &allocation) {
    allocations[next] = allocation;
    next = (next + 1) % kCount;
  }
};
thread_local KnownMemory known;

bool isCaptured(const Driver &driver, CUstream stream) {
  int capturing = 0;
  return stream && driver.streamIsCapturing(stream, &capturing) == kSuccess && capturing;
}

TilegymStatus askDriver(const Driver &driver, const Device &device, const Call &call, uint32_t id,
                        size_t element, CUstream stream) {
  const void *data = call.views(id)[element].given->data;
  auto address = reinterpret_cast<CUdeviceptr>(data);
  int names[] = {kPointerMemoryType, kPointerDeviceOrdinal, kPointerIsManaged}, type = 0, ordinal = -1;
  unsigned managed = 0;
  void *values[] = {&type, &ordinal, &managed};
  CUresult result = driver.pointerGetAttributes(3, names, values, address);
  bool everywhere = type == kMemoryTypeHost || managed;
  if (result == kSuccess && type != 0 && (everywhere || ordinal == device.ordinal)) {
    int rangeNames[] = {kPointerRangeStart, kPointerRangeSize};
    CUdeviceptr start = 0;
    size_t size = 0;
    void *range[] = {&start, &size};
    if (driver.pointerGetAttributes(2, rangeNames, range, address) == kSuccess && address - start < size)
      known.add({start, size, everywhere ? kEveryDevice : ordinal});
    return TILEGYM_OK;
  }
  if ((result != kSuccess || type == 0) && isCaptured(driver, stream))
    return TILEGYM_OK;
  Text op(call.table.text(call.op.name)), name(call.nameOf(id, element));
  if (result != kSuccess || type == 0)
    return fail(TILEGYM_INVALID_ARGUMENT,
                "%s: %s: %p is not an address of the GPU's memory; expected device memory", op.data,
                name.data, data);
  return fail(TILEGYM_INVALID_ARGUMENT, "%s: %s: lies on device %d, but the current device is %d", op.data,
              name.data, ordinal, device.ordinal);
}

} // namespace

TilegymStatus checkPointers(const Driver &driver, const Device &device, const Call &call, CUstream stream) {
  KnownMemory &memory = known;
  if (memory.driver != &driver) {
    memory = KnownMemory();
    memory.driver = &driver;
  }
  for (uint32_t id = 0; id < call.tensors.size(); ++id) {
    std::span<const BoundTensor> views = call.views(id);
    for (size_t i = 0; i < views.size(); ++i)
      if (views[i].elements != 0 &&
          !memory.serves(id, reinterpret_cast<uint64_t>(views[i].given->data), device.ordinal))
        TRY(askDriver(driver, device, call, id, i, stream));
  }
  return TILEGYM_OK;
}

} // namespace tilegym::runtime
