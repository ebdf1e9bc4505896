// SPDX-License-Identifier: MIT
// A CUDA driver for tests on machines without one: memory is the host's, and kernels do nothing, or the damage that
// TILEGYM_FAKE_DAMAGE asks for. So what the commands do around a launch, and what they notice, is tested everywhere.
//
// With TILEGYM_FAKE_TIMES=TEXT=MICROSECONDS;... a kernel takes as long as the first TEXT says that is part of its name, on a clock of its own, and sets
// to zero the outputs that were poisoned, unless TILEGYM_FAKE_WRONG is part of its name. With TILEGYM_FAKE_ENDLESS or TILEGYM_FAKE_CRASH in its name it never
// ends, or takes the process with it. TILEGYM_FAKE_LAUNCHES=N ends this process and the one that started it at launch N + 1. In the first process that
// sees TILEGYM_FAKE_SLOW_ONCE, a file that is not there yet, kernels take twice as long; with TILEGYM_FAKE_NO_WORKER one that was given a single GPU ends
// at once. There are TILEGYM_FAKE_DEVICES GPUs; graphs take the time of what was captured; and it is a cuBLASLt, too, whose products take 60 us, and which
// writes what it is told about them to the file TILEGYM_FAKE_TOLD; launches and changes of the device go to TILEGYM_FAKE_LAUNCHED.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unistd.h>
#include <utility>

namespace {

std::mutex mutex;
std::map<unsigned long long, size_t> blocks;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double madeUpClock = 0;        ///< seconds
double *capture = nullptr;     ///< where time goes while a stream is captured
std::set<std::string> kernels; ///< names; a kernel's handle is its name here

const char *times() { return std::getenv("TILEGYM_FAKE_TIMES"); }

void pass(double seconds) { (capture ? *capture : madeUpClock) += seconds; }

bool isAskedFor(const char *variable, const std::string &kernel) {
  const char *text = std::getenv(variable);
  return text && kernel.find(text) != std::string::npos;
}

bool isSlow() {
  static const bool slow = [] {
    const char *path = std::getenv("TILEGYM_FAKE_SLOW_ONCE");
    FILE *file = path ? std::fopen(path, "wx") : nullptr;
    return file && std::fclose(file) == 0;
  }();
  return slow;
}

/// What the kernel of this name takes, in microseconds.
double timeOf(const std::string &name) {
  std::string list = times();
  for (size_t at = 0, end; at < list.size(); at = end + 1) {
    end = std::min(list.find(';', at), list.size());
    size_t equals = list.find('=', at);
    if (name.find(list.substr(at, equals - at)) != std::string::npos)
      return std::atof(list.c_str() + equals + 1);
  }
  return 100;
}

bool isPoison(const char *bytes, size_t size, unsigned char poison) {
  for (size_t i = 0; i < size; ++i)
    if (static_cast<unsigned char>(bytes[i]) != poison)
      return false;
  return size > 0;
}

/// A kernel whose outputs are all zero: the memory between guards, in which a first run finds 0xa5 and others 0xff, or a benchmark's (0xfe).
void zeroOutputs() {
  for (const auto &[start, size] : blocks) {
    char *bytes = reinterpret_cast<char *>(start);
    if (isPoison(bytes, size, 0xfe))
      std::memset(bytes, 0, size);
    else if (size > 512 && (isPoison(bytes, size, 0xff) || isPoison(bytes + 256, size - 512, 0xa5)))
      std::memset(bytes + 256, 0, size - 512);
  }
}

/// To the file of what cuBLASLt is told.
void tell(const std::string &line) {
  const char *path = std::getenv("TILEGYM_FAKE_TOLD");
  if (FILE *file = path ? std::fopen(path, "a") : nullptr) {
    std::fprintf(file, "%s\n", line.c_str());
    std::fclose(file);
  }
}

/// An attribute of four bytes, or of eight that are no address.
std::string attribute(const char *of, int number, const void *value, size_t size) {
  int64_t wide = 0;
  std::memcpy(&wide, value, std::min(size, sizeof wide));
  return std::string(of) + " " + std::to_string(number) +
         (wide < int64_t(1) << 40 ? " = " + std::to_string(wide) : "");
}

template <class T> void fill(unsigned long long at, T value, size_t count) {
  for (size_t i = 0; i < count; ++i)
    std::memcpy(reinterpret_cast<char *>(at) + i * sizeof(T), &value, sizeof(T));
}

template <class T> void fillRows(unsigned long long at, size_t pitch, T value, size_t width, size_t height) {
  for (size_t row = 0; row < height; ++row)
    fill(at + row * pitch, value, width);
}

void logLaunch(const char *line, long value) {
  const char *path = std::getenv("TILEGYM_FAKE_LAUNCHED");
  if (FILE *file = path ? std::fopen(path, "a") : nullptr) {
    std::fprintf(file, line, value);
    std::fclose(file);
  }
}

} // namespace

extern "C" {

int cuInit(unsigned) {
  if (std::getenv("TILEGYM_FAKE_NO_WORKER") && std::getenv("CUDA_VISIBLE_DEVICES"))
    std::_Exit(7);
  return 0;
}
int cuDriverGetVersion(int *version) { return *version = 13000, 0; }
int cuGetErrorName(int, const char **name) { return *name = "CUDA_ERROR_FAKE", 0; }
int cuGetErrorString(int, const char **text) { return *text = "a fault that the test asked for", 0; }
int cuDeviceGetCount(int *count) {
  const char *devices = std::getenv("TILEGYM_FAKE_DEVICES");
  return *count = devices ? std::atoi(devices) : 1, 0;
}
int cuDeviceGetName(char *name, int size, int) {
  const char *card = std::getenv("TILEGYM_FAKE_CARD");
  return std::snprintf(name, size_t(size), "%s", card ? card : "Fake GPU"), 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int) {
  static const std::map<int, int> values = {{75, 9},       {76, 0},    {16, 3},
                                            {36, 1000000}, {37, 1000}, {13, 1000000}};
  auto found = values.find(attribute);
  *value = found == values.end() ? 0 : found->second;
  return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  static int others;
  return *context = device ? static_cast<void *>(&others) : &blocks, 0;
}
int cuCtxGetCurrent(void **context) { return *context = &blocks, 0; }
int cuCtxSetCurrent(void *) { return 0; }
int cuCtxGetDevice(int *device) { return *device = 0, 0; }
int cuCtxPushCurrent_v2(void *context) { return logLaunch("push %d\n", context == &blocks ? 0 : 1), 0; }
int cuCtxPopCurrent_v2(void **) { return logLaunch("pop %d\n", 0), 0; }
int cuCtxGetId(void *, unsigned long long *number) { return *number = 1, 0; }
int cuPointerGetAttributes(unsigned count, int *names, void **values, unsigned long long) {
  for (unsigned i = 0; i < count; ++i)
    *static_cast<int *>(values[i]) = names[i] == 2 ? 2 : 0;
  return 0;
}
int cuLibraryLoadData(void **library, const void *, int *, void **, unsigned, int *, void **, unsigned) {
  return *library = &blocks, 0;
}
int cuLibraryUnload(void *) { return 0; }
int cuLibraryGetKernel(void **kernel, void *, const char *name) {
  std::lock_guard lock(mutex);
  return *kernel = const_cast<std::string *>(&*kernels.insert(name).first), 0;
}
int cuKernelGetFunction(void **function, void *kernel) { return *function = kernel, 0; }
int cuKernelSetAttribute(int, int, void *, int) { return 0; }
int cuOccupancyMaxActiveClusters(int *clusters, void *, const void *) { return *clusters = 15, 0; }
int cuLaunchKernelEx(const void *config, void *function, void **, void **) {
  long stream = 0; // behind seven numbers of 4 bytes, aligned
  std::memcpy(&stream, static_cast<const char *>(config) + 32, sizeof stream);
  logLaunch("stream %ld\n", stream);
  static int launches = 0;
  if (const char *most = std::getenv("TILEGYM_FAKE_LAUNCHES"); most && launches++ == std::atoi(most)) {
    kill(getppid(), SIGKILL);
    std::_Exit(9);
  }
  if (times() && isAskedFor("TILEGYM_FAKE_CRASH", *static_cast<std::string *>(function)))
    std::abort();
  while (times() && isAskedFor("TILEGYM_FAKE_ENDLESS", *static_cast<std::string *>(function)))
    pause();
  if (times()) {
    std::lock_guard lock(mutex);
    const std::string &name = *static_cast<std::string *>(function);
    pass(timeOf(name) * (isSlow() ? 2e-6 : 1e-6));
    if (!isAskedFor("TILEGYM_FAKE_WRONG", name))
      zeroOutputs();
  }
  const char *damage = std::getenv("TILEGYM_FAKE_DAMAGE");
  if (!damage)
    return 0;
  std::lock_guard lock(mutex);
  for (const auto &[start, size] : blocks) {
    char *bytes = reinterpret_cast<char *>(start);
    if (!std::strcmp(damage, "before"))
      bytes[0] = 1;
    if (!std::strcmp(damage, "after"))
      bytes[size - 1] = 1;
    if (!std::strcmp(damage, "elements")) // zero, so that every run gives the same
      std::memset(bytes + 256, 0, size - 512);
  }
  return !std::strcmp(damage, "launch") ? 700 : 0;
}
int cuMemsetD8Async(unsigned long long at, unsigned char v, size_t n, void *) {
  if (!times() || n < size_t(64) << 20) // what only clears a cache would take the test's time
    fill(at, v, n);
  return 0;
}
int cuMemsetD16Async(unsigned long long at, unsigned short v, size_t n, void *) { return fill(at, v, n), 0; }
int cuMemsetD32Async(unsigned long long at, unsigned v, size_t n, void *) { return fill(at, v, n), 0; }
int cuMemsetD2D8Async(unsigned long long at, size_t pitch, unsigned char v, size_t w, size_t h, void *) {
  return fillRows(at, pitch, v, w, h), 0;
}
int cuMemsetD2D16Async(unsigned long long at, size_t pitch, unsigned short v, size_t w, size_t h, void *) {
  return fillRows(at, pitch, v, w, h), 0;
}
int cuMemsetD2D32Async(unsigned long long at, size_t pitch, unsigned v, size_t w, size_t h, void *) {
  return fillRows(at, pitch, v, w, h), 0;
}
int cuTensorMapEncodeTiled(void *, int, unsigned, void *, const void *, const void *, const void *,
                           const void *, int, int, int, int) {
  return 0;
}
int cuStreamIsCapturing(void *, int *capturing) { return *capturing = 0, 0; }
int cuStreamSynchronize(void *) {
  const char *damage = std::getenv("TILEGYM_FAKE_DAMAGE");
  return damage && !std::strcmp(damage, "run") ? 700 : 0;
}
int cuMemAlloc_v2(unsigned long long *address, size_t size) {
  void *memory = std::aligned_alloc(256, (size + 255) / 256 * 256);
  *address = reinterpret_cast<unsigned long long>(memory);
  std::lock_guard lock(mutex);
  blocks[*address] = size;
  return 0;
}
int cuMemFree_v2(unsigned long long address) {
  std::lock_guard lock(mutex);
  blocks.erase(address);
  std::free(reinterpret_cast<void *>(address));
  return 0;
}
int cuMemAllocAsync(unsigned long long *address, size_t size, void *) { return cuMemAlloc_v2(address, size); }
int cuMemFreeAsync(unsigned long long address, void *) { return cuMemFree_v2(address); }
int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t n) {
  return std::memcpy(reinterpret_cast<void *>(to), from, n), 0;
}
int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t n) {
  return std::memcpy(to, reinterpret_cast<void *>(from), n), 0;
}
int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t n, void *) {
  pass(50e-6);
  return std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), n), 0;
}
int cuEventCreate(void **event, unsigned) { return *event = new double(0), 0; }
int cuEventRecord(void *event, void *) {
  return *static_cast<double *>(event) = times() ? madeUpClock : now(), 0;
}
int cuEventSynchronize(void *) { return 0; }
int cuEventElapsedTime(float *ms, void *from, void *to) {
  *ms = float((*static_cast<double *>(to) - *static_cast<double *>(from)) * 1e3);
  return 0;
}
int cuEventDestroy_v2(void *event) { return delete static_cast<double *>(event), 0; }

int cuStreamCreate(void **stream, unsigned) { return *stream = &blocks, 0; }
int cuStreamDestroy_v2(void *) { return 0; }
int cuStreamBeginCapture_v2(void *, int) { return capture = new double(0), 0; }
int cuStreamEndCapture(void *, void **graph) { return *graph = std::exchange(capture, nullptr), 0; }
int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long) {
  return *executable = new double(*static_cast<double *>(graph)), 0;
}
int cuGraphLaunch(void *executable, void *) { return pass(*static_cast<double *>(executable)), 0; }
int cuGraphDestroy(void *graph) { return delete static_cast<double *>(graph), 0; }
int cuGraphExecDestroy(void *executable) { return delete static_cast<double *>(executable), 0; }

int cublasLtCreate(void **handle) { return *handle = &blocks, 0; }
int cublasLtMatmulDescCreate(void **description, int, int) { return *description = &blocks, 0; }
int cublasLtMatmulDescSetAttribute(void *, int number, const void *value, size_t size) {
  return tell(attribute("product", number, value, size)), 0;
}
int cublasLtMatmulDescDestroy(void *) { return 0; }
int cublasLtMatrixLayoutDestroy(void *) { return 0; }
int cublasLtMatmulPreferenceDestroy(void *) { return 0; }
int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns, int64_t leading) {
  tell("matrix of " + std::to_string(type) + ": " + std::to_string(rows) + " x " + std::to_string(columns) +
       ", " + std::to_string(leading));
  return *layout = &blocks, 0;
}
int cublasLtMatrixLayoutSetAttribute(void *, int number, const void *value, size_t size) {
  return tell(attribute("matrix", number, value, size)), 0;
}
int cublasLtMatmulPreferenceCreate(void **preference) { return *preference = &blocks, 0; }
int cublasLtMatmulPreferenceSetAttribute(void *, int, const void *, size_t) { return 0; }
int cublasLtMatmulAlgoGetHeuristic(void *, void *, void *, void *, void *, void *, void *, int, void *,
                                   int *count) {
  return *count = 1, 0;
}
int cublasLtMatmul(void *, void *, const void *, const void *, void *, const void *, void *, const void *,
                   const void *, void *, void *, void *, const void *, void *, size_t, void *) {
  return pass(60e-6), 0;
}

} // extern "C"
