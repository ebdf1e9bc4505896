// SPDX-License-Identifier: MIT
// A CUDA driver that does nothing but remember: loaded through TILEGYM_DRIVER, so that the runtime's way from a call to a launch is tested where
// no GPU is. FAKE_CUDA_INIT and FAKE_CUDA_VERSION set what cuInit and cuDriverGetVersion give.
#include "runtime/src/Driver.h"
#include "tests/unit/runtime/driver/FakeCuda.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>

using namespace tilegym::testing;

namespace {

FakeCuda &state() {
  static FakeCuda fake;
  return fake;
}

struct FakeKernel {
  std::string entry;
  size_t params;
  std::vector<size_t> words;
};

/// "9 [64,1] ptx": 64 and 1.
std::vector<size_t> wordsOf(const std::string &image) {
  std::vector<size_t> words;
  size_t at = image.find(" [");
  for (at += at == image.npos ? 0 : 1; at < image.size() && image[at] != ']';) {
    words.push_back(size_t(std::atoi(image.c_str() + at + 1)));
    at = image.find_first_of(",]", at + 1);
  }
  return words;
}

struct FakeLibrary {
  std::string image;
  std::vector<FakeKernel *> kernels;
};
/// A kernel's code in one context, which no other context launches.
struct FakeFunction {
  FakeKernel *kernel;
  uint64_t context;
};
std::map<void *, FakeFunction> &functions() {
  static std::map<void *, FakeFunction> all;
  return all;
}
thread_local bool threadHasContext = false;

/// Of the current context; -1 without one.
int currentDevice() {
  if (!state().hasContext && !threadHasContext)
    return -1;
  auto own = state().deviceOf.find(std::this_thread::get_id());
  return own == state().deviceOf.end() ? state().device : own->second;
}
/// Each device has one context, a new one after each reset.
uint64_t currentContext() { return state().generation * 64 + uint64_t(currentDevice()); }

/// Notes the call; what it fails with, or 0.
int note(const char *symbol, const std::string &detail = "") {
  state().calls.push_back(std::string(symbol) + (detail.empty() ? "" : " " + detail));
  auto found = state().failures.find(symbol);
  return found == state().failures.end() ? 0 : found->second;
}

int numberOr(const char *variable, int otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

template <class T>
int fill(const char *symbol, unsigned long long at, size_t pitch, T value, size_t width, size_t height) {
  std::lock_guard lock(state().mutex);
  if (int failure = note(symbol, std::to_string(width) + " x " + std::to_string(height)))
    return failure;
  for (size_t row = 0; row < height; ++row)
    for (size_t i = 0; i < width; ++i)
      std::memcpy(reinterpret_cast<char *>(at) + row * pitch + i * sizeof(T), &value, sizeof(T));
  return 0;
}

} // namespace

#define LOCKED(symbol, detail)                                                                               \
  std::lock_guard lock(state().mutex);                                                                       \
  if (int failure = note(symbol, detail))                                                                    \
  return failure

extern "C" {

FakeCuda *fakeCuda() { return &state(); }

int cuInit(unsigned) { return numberOr("FAKE_CUDA_INIT", 0); }
int cuDriverGetVersion(int *version) {
  *version = numberOr("FAKE_CUDA_VERSION", 13000);
  return 0;
}
int cuGetErrorName(int result, const char **name) {
  static const std::map<int, const char *> names = {{2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                    {1, "CUDA_ERROR_INVALID_VALUE"},
                                                    {100, "CUDA_ERROR_NO_DEVICE"},
                                                    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
                                                    {500, "CUDA_ERROR_NOT_FOUND"},
                                                    {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"}};
  auto found = names.find(result);
  *name = found == names.end() ? nullptr : found->second;
  return found == names.end() ? 1 : 0;
}
int cuGetErrorString(int result, const char **text) {
  *text = result == 701 ? "too many resources requested for launch" : nullptr;
  return *text ? 0 : 1;
}
int cuDeviceGetCount(int *count) {
  *count = int(state().devices.size());
  return 0;
}
int cuDeviceGetName(char *name, int size, int device) {
  LOCKED("cuDeviceGetName", "");
  std::snprintf(name, size_t(size), "%s", state().devices[size_t(device)].name.c_str());
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  LOCKED("cuDeviceGetAttribute", "");
  const FakeCuda::Device &d = state().devices[size_t(device)];
  *value = attribute == 75 ? d.major : attribute == 76 ? d.minor : d.multiprocessors;
  return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  LOCKED("cuDevicePrimaryCtxRetain", std::to_string(device));
  *context = reinterpret_cast<void *>(size_t(device) + 1);
  return 0;
}
int cuCtxGetCurrent(void **context) {
  *context = nullptr;
  return 0;
}
int cuCtxSetCurrent(void *context) {
  LOCKED("cuCtxSetCurrent", "");
  threadHasContext = true;
  state().device = int(reinterpret_cast<size_t>(context)) - 1;
  return 0;
}
int cuCtxGetDevice(int *device) {
  LOCKED("cuCtxGetDevice", "");
  *device = currentDevice();
  return *device < 0 ? 201 : 0;
}
int cuCtxGetId(void *, unsigned long long *number) {
  LOCKED("cuCtxGetId", "");
  *number = currentContext();
  return currentDevice() < 0 ? 201 : 0;
}
int cuPointerGetAttributes(unsigned n, int *names, void **values, unsigned long long address) {
  LOCKED("cuPointerGetAttributes", "");
  FakePointer facts;
  facts.device = state().device;
  if (auto found = state().pointers.find(reinterpret_cast<void *>(address)); found != state().pointers.end())
    facts = found->second;
  unsigned long long start = 0;
  auto after = state().blocks.upper_bound(reinterpret_cast<const char *>(address));
  if (after != state().blocks.begin())
    if (--after; address - reinterpret_cast<unsigned long long>(after->first) < after->second.size) {
      start = reinterpret_cast<unsigned long long>(after->first);
      facts = after->second;
    }
  for (unsigned i = 0; i < n; ++i)
    if (names[i] == 8)
      *static_cast<unsigned *>(values[i]) = facts.managed;
    else if (names[i] == 11)
      *static_cast<unsigned long long *>(values[i]) = start;
    else if (names[i] == 12)
      *static_cast<size_t *>(values[i]) = facts.size;
    else
      *static_cast<int *>(values[i]) = names[i] == 2 ? facts.type : facts.device;
  return 0;
}

#ifndef FAKE_LACKS_LIBRARIES
int cuLibraryLoadData(void **library, const void *code, int *, void **, unsigned, int *, void **, unsigned) {
  const auto *text = static_cast<const char *>(code);
  std::string image(text, strnlen(text, 8));
  if (image.find('[') != image.npos) // its parameters' words: PTX, which ends in a NUL
    image = text;
  LOCKED("cuLibraryLoadData", image);
  *library = new FakeLibrary{image, {}};
  return 0;
}
#endif
int cuLibraryUnload(void *library) {
  LOCKED("cuLibraryUnload", "");
  auto *l = static_cast<FakeLibrary *>(library);
  for (FakeKernel *kernel : l->kernels)
    delete kernel;
  delete l;
  return 0;
}
int cuLibraryGetKernel(void **kernel, void *library, const char *entry) {
  LOCKED("cuLibraryGetKernel", entry);
  auto *l = static_cast<FakeLibrary *>(library);
  l->kernels.push_back(new FakeKernel{entry, size_t(std::atoi(l->image.c_str())), wordsOf(l->image)});
  *kernel = l->kernels.back();
  return 0;
}
int cuKernelGetFunction(void **function, void *kernel) {
  LOCKED("cuKernelGetFunction", "");
  static std::deque<char> addresses; // each function has one of its own
  *function = &addresses.emplace_back();
  functions()[*function] = {static_cast<FakeKernel *>(kernel), currentContext()};
  return 0;
}
int cuOccupancyMaxActiveClusters(int *clusters, void *, const void *) { return *clusters = 15, 0; }
int cuKernelSetAttribute(int attribute, int value, void *, int device) {
  LOCKED("cuKernelSetAttribute",
         std::to_string(attribute) + " = " + std::to_string(value) + " on " + std::to_string(device));
  return 0;
}
/// Notes all that it is told; the map itself is a number of that.
int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *extents,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                           int interleave, int swizzle, int promotion, int fill) {
  auto list = [](const auto *numbers, size_t n) {
    std::string text;
    for (size_t i = 0; i < n; ++i)
      text += (i ? "," : "") + std::to_string(numbers[i]);
    return "[" + text + "]";
  };
  auto aligned = reinterpret_cast<size_t>(map) % 64 == 0 ? "" : " misplaced";
  LOCKED("cuTensorMapEncodeTiled",
         "type " + std::to_string(type) + " at " + std::to_string(reinterpret_cast<size_t>(address)) +
             " extents " + list(extents, rank) + " strides " + list(strides, rank - 1) + " box " +
             list(box, rank) + " steps " + list(steps, rank) + " modes " + std::to_string(interleave) +
             std::to_string(swizzle) + std::to_string(promotion) + std::to_string(fill) + aligned);
  std::memset(map, int(++state().tensorMaps), 128);
  if (!state().packsTensorMaps)
    return 0;
  uint64_t words[16] = {reinterpret_cast<uint64_t>(address)};
  for (uint32_t i = 0; i < rank; ++i)
    words[2 + i] = (extents[i] - 1) << 8;
  for (uint32_t i = 1; i < rank; ++i)
    words[7 + i] = strides[i - 1] >> 4;
  for (uint32_t i = 0; i < rank; ++i)
    words[12] |= uint64_t(box[i]) << (12 * i);
  words[13] = uint64_t(type * 16 + swizzle);
  std::memcpy(map, words, 128);
  return 0;
}
int cuLaunchKernelEx(const tilegym::runtime::CUlaunchConfig *c, void *function, void **params, void **) {
  LOCKED("cuLaunchKernelEx", "");
  auto *kernel = static_cast<FakeKernel *>(function);
  if (auto found = functions().find(function); found != functions().end()) {
    if (found->second.context != currentContext())
      return 400; // CUDA_ERROR_INVALID_HANDLE
    kernel = found->second.kernel;
    ++state().launchesOfFunctions;
  }
  FakeLaunch launch{kernel->entry,
                    {c->gridX, c->gridY, c->gridZ},
                    {c->blockX, c->blockY, c->blockZ},
                    c->sharedBytes,
                    c->stream,
                    {},
                    c->numAttributes == 1 && c->attributes->id == 6 && c->attributes->value == 1,
                    {}};
  for (size_t i = 0; i < kernel->params; ++i) {
    launch.params.push_back(0);
    std::memcpy(&launch.params.back(), params[i], 8);
  }
  for (size_t i = 0; i < kernel->words.size(); ++i) {
    const auto *from = static_cast<const uint64_t *>(params[i]);
    launch.words.emplace_back(from, from + kernel->words[i]);
  }
  state().launches.push_back(launch);
  return 0;
}

int cuMemsetD8Async(unsigned long long at, unsigned char v, size_t n, void *) {
  return fill("cuMemsetD8Async", at, 0, v, n, 1);
}
int cuMemsetD16Async(unsigned long long at, unsigned short v, size_t n, void *) {
  return fill("cuMemsetD16Async", at, 0, v, n, 1);
}
int cuMemsetD32Async(unsigned long long at, unsigned v, size_t n, void *) {
  return fill("cuMemsetD32Async", at, 0, v, n, 1);
}
int cuMemsetD2D8Async(unsigned long long at, size_t pitch, unsigned char v, size_t w, size_t h, void *) {
  return fill("cuMemsetD2D8Async", at, pitch, v, w, h);
}
int cuMemsetD2D16Async(unsigned long long at, size_t pitch, unsigned short v, size_t w, size_t h, void *) {
  return fill("cuMemsetD2D16Async", at, pitch, v, w, h);
}
int cuMemsetD2D32Async(unsigned long long at, size_t pitch, unsigned v, size_t w, size_t h, void *) {
  return fill("cuMemsetD2D32Async", at, pitch, v, w, h);
}
int cuStreamIsCapturing(void *stream, int *status) {
  LOCKED("cuStreamIsCapturing", "");
  *status = state().capturing.count(stream) ? 1 : 0;
  return 0;
}
int cuStreamSynchronize(void *) { return 0; }
int cuMemAllocAsync(unsigned long long *at, size_t bytes, void *) {
  LOCKED("cuMemAllocAsync", std::to_string(bytes));
  void *block = std::malloc(bytes);
  state().allocated[block] = bytes;
  *at = reinterpret_cast<unsigned long long>(block);
  return 0;
}
int cuMemFreeAsync(unsigned long long at, void *stream) {
  LOCKED("cuMemFreeAsync", stream ? "on a stream" : "");
  auto *block = reinterpret_cast<void *>(at);
  if (!state().allocated.erase(block))
    return 1;
  std::free(block);
  return 0;
}
// Used by programs beside the runtime's calls; the tests of those bring a GPU.
int cuMemAlloc_v2(unsigned long long *, size_t) { return 801; }
int cuMemFree_v2(unsigned long long) { return 801; }
int cuMemcpyHtoD_v2(unsigned long long, const void *, size_t) { return 801; }
int cuMemcpyDtoH_v2(void *, unsigned long long, size_t) { return 801; }
int cuMemcpyDtoDAsync_v2(unsigned long long, unsigned long long, size_t, void *) { return 801; }
int cuEventCreate(void **, unsigned) { return 801; }
int cuEventRecord(void *, void *) { return 801; }
int cuEventSynchronize(void *) { return 801; }
int cuEventElapsedTime(float *, void *, void *) { return 801; }
int cuEventDestroy_v2(void *) { return 801; }

} // extern "C"
