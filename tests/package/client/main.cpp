// SPDX-License-Identifier: MIT
// Calls the kernel through the typed header: on a GPU it checks the numbers; without one the call must say that there is no
// driver, and the reference backend gives the numbers. The driver is opened here only for memory that both sides can read; the kernels
// open it for themselves.
#include "client_kernels.h"
#include "tilegym/reference.h"
#include <cstdio>
#include <dlfcn.h>

namespace {

int fail(const char *text) {
  std::printf("client: %s\n", text);
  return 1;
}

/// Managed memory of the first GPU, or null where there is no driver or no GPU.
float *allocate(void *driver, size_t count) {
  if (!driver)
    return nullptr;
  auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto deviceGet = reinterpret_cast<int (*)(int *, int)>(dlsym(driver, "cuDeviceGet"));
  auto retain = reinterpret_cast<int (*)(void **, int)>(dlsym(driver, "cuDevicePrimaryCtxRetain"));
  auto setCurrent = reinterpret_cast<int (*)(void *)>(dlsym(driver, "cuCtxSetCurrent"));
  auto managed =
      reinterpret_cast<int (*)(unsigned long long *, size_t, unsigned)>(dlsym(driver, "cuMemAllocManaged"));
  int device = 0;
  void *context = nullptr;
  unsigned long long address = 0;
  if (init(0) || deviceGet(&device, 0) || retain(&context, device) || setCurrent(context) ||
      managed(&address, count * sizeof(float), 1))
    return nullptr;
  return reinterpret_cast<float *>(address);
}

tilegym::Status axpy(float *x, float *y, float *z, int64_t n) {
  return client_kernels::axpy({x, TILEGYM_F32, {n}}, {y, TILEGYM_F32, {n}}, 3.0f, {z, TILEGYM_F32, {n}});
}

bool isRight(const float *z, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    if (z[i] != 3.0f * float(i) + 0.5f)
      return false;
  return true;
}

/// The same call in the interpreter, its output given and allocated.
int callReference(float *x, float *y, float *z, int64_t n) {
  tilegym_use_reference(1);
  if (tilegym::Status status = axpy(x, y, z, n); !status)
    return fail(status.message().c_str());
  auto [status, made] =
      client_kernels::axpy(tilegym::allocate, {x, TILEGYM_F32, {n}}, {y, TILEGYM_F32, {n}}, 3.0f);
  if (!status)
    return fail(status.message().c_str());
  if (!isRight(z, n) || !isRight(static_cast<const float *>(made.data()), n))
    return fail("a wrong number from the reference backend");
  std::printf("client: %lld numbers from the reference backend are right\n", static_cast<long long>(n));
  return 0;
}

} // namespace

int main() {
  constexpr int64_t n = 1000;
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  float *x = allocate(driver, 3 * n);
  if (!x) {
    static float host[3 * n];
    for (int64_t i = 0; i < n; ++i)
      host[i] = float(i), host[n + i] = 0.5f, host[2 * n + i] = -1;
    tilegym::Status status = axpy(host, host + n, host + 2 * n, n);
    bool said = status.code() == TILEGYM_NO_DRIVER || status.code() == TILEGYM_NO_DEVICE;
    if (!said || status.message().empty())
      return fail("without a GPU, a call must say that there is no driver or no device");
    std::printf("client: no GPU, and the call says so: %s\n", status.message().c_str());
    return callReference(host, host + n, host + 2 * n, n);
  }

  float *y = x + n, *z = y + n;
  for (int64_t i = 0; i < n; ++i)
    x[i] = float(i), y[i] = 0.5f, z[i] = -1;
  if (tilegym::Status status = axpy(x, y, z, n); !status)
    return fail(status.message().c_str());
  auto synchronize = reinterpret_cast<int (*)()>(dlsym(driver, "cuCtxSynchronize"));
  if (synchronize())
    return fail("the kernel failed");
  if (!isRight(z, n))
    return fail("a wrong number");
  std::printf("client: %lld numbers from the GPU are right\n", static_cast<long long>(n));
  return 0;
}
