// SPDX-License-Identifier: MIT
// Opening of the driver, and the devices' facts. TILEGYM_DRIVER names another library, for tests.
#include "Driver.h"
#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>

namespace tilegym::runtime {
namespace {

struct Opened {
  Driver driver;
  TilegymStatus status = TILEGYM_OK;
  std::string error;
};

Opened openDriver() {
  Opened o;
  const char *override = std::getenv("TILEGYM_DRIVER");
  const char *names[] = {override ? override : "libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"};
  void *library = nullptr;
  std::string why;
  for (const char *name : names) {
    library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    if (library || override)
      break;
  }
  if (!library) {
    const char *text = dlerror();
    o.status = TILEGYM_NO_DRIVER;
    o.error = std::string("no CUDA driver: ") + (text ? text : "libcuda.so.1 not found") +
              "; install NVIDIA's driver, or use the reference backend";
    return o;
  }
#define X(name, symbol, parameters)                                                                          \
  if (!(o.driver.name = reinterpret_cast<CUresult(*) parameters>(dlsym(library, symbol)))) {                 \
    o.status = TILEGYM_NO_DRIVER;                                                                            \
    o.error = "the CUDA driver lacks " symbol ": it is older than CUDA 12.0; update NVIDIA's driver";        \
    return o;                                                                                                \
  }
#include "CudaSymbols.inc"
#undef X
  if (CUresult result = o.driver.init(0); result != kSuccess) {
    const char *name = nullptr;
    o.driver.getErrorName(result, &name);
    o.status = TILEGYM_NO_DEVICE;
    o.error = std::string("the CUDA driver found no usable GPU: cuInit gave ") +
              (name ? name : std::to_string(result).c_str());
    return o;
  }
  o.driver.driverGetVersion(&o.driver.version);
  return o;
}

} // namespace

TilegymStatus Driver::failure(const char *what, CUresult result) const {
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  return fail(TILEGYM_CUDA_ERROR, "%s failed: %s (%d): %s", what, name ? name : "unknown error", result,
              text ? text : "no description");
}

TilegymStatus getDriver(const Driver **driver) {
  // Never closed: CUDA's own teardown order at exit is not ours to disturb.
  static const Opened *opened = new Opened(openDriver());
  if (opened->status != TILEGYM_OK)
    return fail(opened->status, "%s", opened->error.c_str());
  *driver = &opened->driver;
  return TILEGYM_OK;
}

TilegymStatus currentDevice(const Driver &driver, int preferred, const Device **device) {
  static std::array<Device, 64> devices;
  static std::array<std::once_flag, 64> known;
  CUdevice ordinal = 0;
  if (driver.ctxGetDevice(&ordinal) != kSuccess) {
    // A thread that never used CUDA: give it the context that the CUDA runtime would.
    CUcontext context = nullptr;
    if (CUresult result = driver.devicePrimaryCtxRetain(&context, preferred); result != kSuccess)
      return driver.failure("making a context on the GPU", result);
    if (CUresult result = driver.ctxSetCurrent(context); result != kSuccess)
      return driver.failure("making the GPU's context current", result);
    ordinal = preferred;
  }
  if (ordinal < 0 || ordinal >= int(devices.size()))
    return fail(TILEGYM_NO_DEVICE, "device number %d is beyond the %zu that this runtime knows", ordinal,
                devices.size());
  std::call_once(known[ordinal], [&] {
    Device &d = devices[ordinal];
    int major = 0, minor = 0;
    driver.deviceGetAttribute(&major, kAttributeComputeMajor, ordinal);
    driver.deviceGetAttribute(&minor, kAttributeComputeMinor, ordinal);
    driver.deviceGetAttribute(&d.multiprocessors, kAttributeMultiprocessors, ordinal);
    driver.deviceGetName(d.name, sizeof d.name, ordinal);
    d.arch = major * 10 + minor;
    d.ordinal = ordinal;
  });
  *device = &devices[ordinal];
  return TILEGYM_OK;
}

} // namespace tilegym::runtime
