// SPDX-License-Identifier: MIT
// The device of a call: that of its tensors, whichever is current. Machines with one device pay nothing for it.
#include "Op.h"
#include <cstdlib>
#include <dlfcn.h>

namespace tilegym::python {
namespace {

struct Contexts {
  int (*deviceGetCount)(int *) = nullptr;
  int (*ctxGetDevice)(int *) = nullptr;
  int (*primaryCtxRetain)(void **, int) = nullptr;
  int (*ctxPush)(void *) = nullptr;
  int (*ctxPop)(void **) = nullptr;
  int devices = 0;
  void *primary[64] = {};
};

/// The driver that the runtime opens, too; null where there is none or one device.
Contexts *severalDevices() {
  static Contexts contexts;
  static const bool several = [] {
    const char *override = std::getenv("TILEGYM_DRIVER");
    void *library = dlopen(override ? override : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return false;
    auto find = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return find(contexts.deviceGetCount, "cuDeviceGetCount") &&
           find(contexts.ctxGetDevice, "cuCtxGetDevice") &&
           find(contexts.primaryCtxRetain, "cuDevicePrimaryCtxRetain") &&
           find(contexts.ctxPush, "cuCtxPushCurrent_v2") && find(contexts.ctxPop, "cuCtxPopCurrent_v2") &&
           contexts.deviceGetCount(&contexts.devices) == 0 && contexts.devices > 1;
  }();
  return several ? &contexts : nullptr;
}

} // namespace

DeviceScope::DeviceScope(DLDevice device) {
  if (device.type != kDLCuda)
    return;
  Contexts *contexts = severalDevices();
  int current = -1;
  if (!contexts || device.id < 0 || device.id >= 64 ||
      (contexts->ctxGetDevice(&current) == 0 && current == device.id))
    return;
  void *&primary = contexts->primary[device.id];
  if (!primary && contexts->primaryCtxRetain(&primary, device.id) != 0)
    return; // the call itself says what is wrong with the device
  isPushed = contexts->ctxPush(primary) == 0;
}

DeviceScope::~DeviceScope() {
  void *context = nullptr;
  if (isPushed)
    severalDevices()->ctxPop(&context);
}

} // namespace tilegym::python
