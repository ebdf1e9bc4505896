// SPDX-License-Identifier: MIT
// The functions of the table. Launches run at once, on the caller's thread; an error's text is what the simulator found.
#include "SimDriver.h"
#include "compiler/simulator/Machine.h"
#include "compiler/simulator/TensorMap.h"
#include "compiler/simulator/jit/LoadedCode.h"
#include "compiler/targets/TargetFacts.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace tilegym::simdriver {
namespace {

using runtime::CUcontext;
using runtime::CUdevice;
using runtime::CUdeviceptr;
using runtime::CUevent;
using runtime::CUfunction;
using runtime::CUkernel;
using runtime::CUlibrary;
using runtime::CUresult;
using runtime::CUstream;

enum : CUresult {
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNotFound = 500,
  kLaunchFailed = 719
};

constexpr int kCapabilities[] = {80, 90};
/// Beside real GPUs, whose facts the runtime keeps by ordinal too.
constexpr CUdevice kFirstOrdinal = 62;
static_assert(kFirstOrdinal + std::size(kCapabilities) == 64);

constexpr unsigned kSharedByDefault = 48 * 1024;

struct Library {
  std::unique_ptr<sim::LoadedCode> code;
  std::vector<std::unique_ptr<struct Kernel>> kernels;
};

struct Kernel {
  sim::LoadedCode::Kernel code;
  std::string name;
  unsigned maxShared = kSharedByDefault;
};

/// A thread's device.
struct Device {
  Settings settings;
  sim::Memory memory;
  sim::Machine machine;
  std::vector<sim::Report> reports;
  std::string error; ///< of the last call that failed
};

Device &device() {
  static thread_local Device device;
  return device;
}

CUresult failed(CUresult result, std::string text) {
  device().error = std::move(text);
  return result;
}

CUdevice ordinalOf(int capability) {
  return kFirstOrdinal + CUdevice(std::find(std::begin(kCapabilities), std::end(kCapabilities), capability) -
                                  std::begin(kCapabilities));
}

CUresult outside(const char *what, CUdeviceptr at, size_t bytes) {
  char text[160];
  std::snprintf(text, sizeof text,
                "%s of %zu bytes at 0x%llx leaves every allocation of this thread's simulated device", what,
                bytes, at);
  return failed(kInvalidValue, text);
}

CUresult allocate(CUdeviceptr *address, size_t bytes) {
  try {
    *address = device().memory.allocate(bytes);
    return runtime::kSuccess;
  } catch (const std::bad_alloc &) {
    return failed(kOutOfMemory, "the simulated device has no room for " + std::to_string(bytes) + " bytes");
  }
}

CUresult release(CUdeviceptr address) {
  return device().memory.free(address)
             ? runtime::kSuccess
             : failed(kInvalidValue, "no allocation of the simulated device starts there");
}

template <class T> CUresult fillRows(CUdeviceptr at, size_t pitch, T value, size_t width, size_t height) {
  std::vector<T> row(width, value);
  for (size_t i = 0; i < height; ++i)
    if (!device().memory.write(at + i * pitch, row.data(), width * sizeof(T)))
      return outside("a fill", at + i * pitch, width * sizeof(T));
  return runtime::kSuccess;
}
template <class T> CUresult fill(CUdeviceptr at, T value, size_t count, CUstream) {
  return fillRows(at, 0, value, count, 1);
}
template <class T>
CUresult fill2D(CUdeviceptr at, size_t pitch, T value, size_t width, size_t height, CUstream) {
  return fillRows(at, pitch, value, width, height);
}

CUresult loadLibrary(CUlibrary *library, const void *image, int *, void **, unsigned, int *, void **,
                     unsigned) {
  size_t size = sim::LoadedCode::sizeOfObject(image);
  if (!size)
    return failed(kInvalidImage, "the image is not code for the simulator; compile the package for it");
  auto code = sim::LoadedCode::load({static_cast<const char *>(image), size});
  if (!code)
    return failed(kInvalidImage, llvm::toString(code.takeError()));
  *library = reinterpret_cast<CUlibrary>(new Library{std::move(*code), {}});
  return runtime::kSuccess;
}

CUresult getKernel(CUkernel *kernel, CUlibrary handle, const char *name) {
  auto *library = reinterpret_cast<Library *>(handle);
  auto code = library->code->kernel(name);
  if (!code)
    return failed(kNotFound, llvm::toString(code.takeError()));
  library->kernels.push_back(std::make_unique<Kernel>(Kernel{*code, name}));
  *kernel = reinterpret_cast<CUkernel>(library->kernels.back().get());
  return runtime::kSuccess;
}

CUresult setAttribute(int attribute, int value, CUkernel kernel, CUdevice ordinal) {
  if (attribute != runtime::kFunctionMaxDynamicShared)
    return failed(kInvalidValue, "the simulated driver does not know attribute " + std::to_string(attribute));
  int64_t most = targets::findTarget(unsigned(kCapabilities[ordinal - kFirstOrdinal]))->maxSharedBytes;
  if (value > most)
    return failed(kInvalidValue, std::to_string(value) + " bytes of shared memory, but a block has at most " +
                                     std::to_string(most));
  reinterpret_cast<Kernel *>(kernel)->maxShared = unsigned(value);
  return runtime::kSuccess;
}

/// The driver's numbers of swizzles, in order.
constexpr sim::Swizzle kSwizzles[] = {sim::Swizzle::None, sim::Swizzle::B32, sim::Swizzle::B64,
                                      sim::Swizzle::B128};

CUresult encodeTensorMap(void *made, int type, uint32_t rank, void *address, const uint64_t *extents,
                         const uint64_t *strides, const uint32_t *box, const uint32_t *elementStrides,
                         int interleave, int swizzle, int, int fill) {
  if (rank > sim::TensorMap::maxRank || type < 0 || type > int(sim::TensorType::BF16) || swizzle < 0 ||
      swizzle >= int(std::size(kSwizzles)))
    return failed(kInvalidValue, "a tensor map of a rank, type or swizzle that no device has");
  sim::TensorMap map;
  map.address = reinterpret_cast<uint64_t>(address);
  map.rank = int(rank);
  map.type = sim::TensorType(type);
  map.swizzle = kSwizzles[swizzle];
  map.interleave = interleave;
  map.fillNaN = fill != 0;
  for (size_t i = 0; i < rank; ++i) {
    map.extents[i] = extents[i];
    map.box[i] = box[i];
    map.elementStrides[i] = elementStrides[i];
    if (i > 0)
      map.strides[i - 1] = strides[i - 1];
  }
  if (auto fault = sim::tensorMapFault(map))
    return failed(kInvalidValue, "a tensor map: " + *fault);
  sim::TensorMapBytes bytes = sim::encodeTensorMap(map);
  std::memcpy(made, bytes.data(), bytes.size());
  return runtime::kSuccess;
}

CUresult launch(const runtime::CUlaunchConfig *launched, CUfunction function, void **parameters, void **) {
  const Kernel &kernel = *reinterpret_cast<const Kernel *>(function);
  const sim::KernelFacts &facts = *kernel.code.facts;
  const auto &[gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, attributes, numAttributes] =
      *launched;
  if (facts.threads && (blockX != facts.threads || blockY != 1 || blockZ != 1))
    return failed(kInvalidValue, kernel.name + " is for blocks of " + std::to_string(facts.threads) +
                                     " threads, but was launched with " + std::to_string(blockX) + " x " +
                                     std::to_string(blockY) + " x " + std::to_string(blockZ));
  if (sharedBytes > kernel.maxShared)
    return failed(kInvalidValue, kernel.name + " was launched with " + std::to_string(sharedBytes) +
                                     " bytes of shared memory, but " + std::to_string(kernel.maxShared) +
                                     " are reserved for it");
  Device &d = device();
  sim::LaunchConfig config;
  config.grid = {gridX, gridY, gridZ};
  config.block = {blockX, blockY, blockZ};
  config.cluster = {facts.cluster, 1, 1};
  config.sharedBytes = sharedBytes;
  config.kernel = kernel.code.entry;
  config.parameters = parameters;
  for (uint32_t i = 0; i < facts.numByValue; ++i)
    config.parameterSpace.push_back(
        {reinterpret_cast<uint64_t>(parameters[facts.byValue[i].parameter]), facts.byValue[i].bytes});
  config.seed = d.settings.seed;
  config.name = kernel.name;
  config.countTraffic = d.settings.countTraffic;
  sim::Report report = d.machine.launch(config, d.memory);
  if (!report.output.empty()) {
    std::fputs(report.output.c_str(), stdout);
    std::fflush(stdout);
  }
  bool clean = report.clean();
  if (!clean)
    d.error = report.text();
  d.reports.push_back(std::move(report));
  return clean ? runtime::kSuccess : kLaunchFailed;
}

CUresult pointerAttributes(unsigned count, int *names, void **values, CUdeviceptr address) {
  Device &d = device();
  bool known = d.memory.find(address, 1) != nullptr;
  for (unsigned i = 0; i < count; ++i)
    switch (names[i]) {
    case runtime::kPointerMemoryType:
      *static_cast<int *>(values[i]) = known ? 2 : 0;
      break;
    case runtime::kPointerDeviceOrdinal:
      *static_cast<int *>(values[i]) = ordinalOf(d.settings.capability);
      break;
    default:
      *static_cast<unsigned *>(values[i]) = 0;
    }
  return known ? runtime::kSuccess : outside("an access", address, 1);
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double &timeOf(CUevent event) { return *reinterpret_cast<double *>(event); }

runtime::Driver makeTable() {
  runtime::Driver t;
  t.version = 13000;
  t.init = [](unsigned) { return CUresult(runtime::kSuccess); };
  t.driverGetVersion = [](int *version) { return *version = 13000, CUresult(runtime::kSuccess); };
  t.getErrorName = [](CUresult result, const char **name) {
    *name = result == kLaunchFailed ? "the simulator's finding" : "SIMULATED_ERROR";
    return CUresult(runtime::kSuccess);
  };
  t.getErrorString = [](CUresult, const char **text) {
    *text = device().error.c_str();
    return CUresult(runtime::kSuccess);
  };
  t.deviceGetCount = [](int *count) {
    return *count = int(std::size(kCapabilities)), CUresult(runtime::kSuccess);
  };
  t.deviceGetName = [](char *name, int size, CUdevice ordinal) {
    std::snprintf(name, size_t(size), "simulated sm_%d", kCapabilities[ordinal - kFirstOrdinal]);
    return CUresult(runtime::kSuccess);
  };
  t.deviceGetAttribute = [](int *value, int attribute, CUdevice ordinal) {
    int capability = kCapabilities[ordinal - kFirstOrdinal];
    *value = attribute == runtime::kAttributeComputeMajor      ? capability / 10
             : attribute == runtime::kAttributeComputeMinor    ? capability % 10
             : attribute == runtime::kAttributeMultiprocessors ? int(sim::multiprocessors)
                                                               : 0;
    return CUresult(runtime::kSuccess);
  };
  t.devicePrimaryCtxRetain = [](CUcontext *context, CUdevice) {
    return *context = reinterpret_cast<CUcontext>(&device()), CUresult(runtime::kSuccess);
  };
  t.ctxGetCurrent = [](CUcontext *context) {
    return *context = reinterpret_cast<CUcontext>(&device()), CUresult(runtime::kSuccess);
  };
  t.ctxSetCurrent = [](CUcontext) { return CUresult(runtime::kSuccess); };
  t.ctxGetDevice = [](CUdevice *ordinal) {
    return *ordinal = ordinalOf(device().settings.capability), CUresult(runtime::kSuccess);
  };
  t.ctxGetId = [](CUcontext, unsigned long long *number) {
    return *number = unsigned(device().settings.capability), CUresult(runtime::kSuccess);
  };
  t.pointerGetAttributes = pointerAttributes;
  t.libraryLoadData = loadLibrary;
  t.libraryUnload = [](CUlibrary library) {
    return delete reinterpret_cast<Library *>(library), CUresult(runtime::kSuccess);
  };
  t.libraryGetKernel = getKernel;
  t.kernelGetFunction = [](CUfunction *function, CUkernel kernel) {
    return *function = reinterpret_cast<CUfunction>(kernel), CUresult(runtime::kSuccess);
  };
  t.kernelSetAttribute = setAttribute;
  t.tensorMapEncodeTiled = encodeTensorMap;
  t.occupancyMaxActiveClusters = [](int *clusters, CUfunction, const runtime::CUlaunchConfig *) {
    return *clusters = int(sim::multiprocessors), CUresult(runtime::kSuccess);
  };
  t.launchKernelEx = launch;
  t.memsetD8Async = fill<unsigned char>;
  t.memsetD16Async = fill<unsigned short>;
  t.memsetD32Async = fill<unsigned>;
  t.memsetD2D8Async = fill2D<unsigned char>;
  t.memsetD2D16Async = fill2D<unsigned short>;
  t.memsetD2D32Async = fill2D<unsigned>;
  t.streamIsCapturing = [](CUstream, int *capturing) { return *capturing = 0, CUresult(runtime::kSuccess); };
  t.streamSynchronize = [](CUstream) { return CUresult(runtime::kSuccess); };
  t.memAlloc = allocate;
  t.memFree = release;
  t.memAllocAsync = [](CUdeviceptr *address, size_t bytes, CUstream) { return allocate(address, bytes); };
  t.memFreeAsync = [](CUdeviceptr address, CUstream) { return release(address); };
  t.memcpyHtoD = [](CUdeviceptr to, const void *from, size_t bytes) {
    return device().memory.write(to, from, bytes) ? CUresult(runtime::kSuccess)
                                                  : outside("a copy", to, bytes);
  };
  t.memcpyDtoH = [](void *to, CUdeviceptr from, size_t bytes) {
    return device().memory.read(from, to, bytes) ? CUresult(runtime::kSuccess)
                                                 : outside("a copy", from, bytes);
  };
  t.memcpyDtoDAsync = [](CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream) {
    std::vector<char> through(bytes);
    if (!device().memory.read(from, through.data(), bytes))
      return outside("a copy", from, bytes);
    return device().memory.write(to, through.data(), bytes) ? CUresult(runtime::kSuccess)
                                                            : outside("a copy", to, bytes);
  };
  t.eventCreate = [](CUevent *event, unsigned) {
    return *event = reinterpret_cast<CUevent>(new double(0)), CUresult(runtime::kSuccess);
  };
  t.eventRecord = [](CUevent event, CUstream) { return timeOf(event) = now(), CUresult(runtime::kSuccess); };
  t.eventSynchronize = [](CUevent) { return CUresult(runtime::kSuccess); };
  t.eventElapsedTime = [](float *milliseconds, CUevent from, CUevent to) {
    return *milliseconds = float((timeOf(to) - timeOf(from)) * 1e3), CUresult(runtime::kSuccess);
  };
  t.eventDestroy = [](CUevent event) {
    return delete reinterpret_cast<double *>(event), CUresult(runtime::kSuccess);
  };
  return t;
}

const runtime::Driver &table() {
  static const runtime::Driver driver = makeTable();
  return driver;
}

} // namespace

bool isSimulated(int capability) {
  return std::find(std::begin(kCapabilities), std::end(kCapabilities), capability) != std::end(kCapabilities);
}

Session::Session(const Settings &settings) {
  device().settings = settings;
  runtime::useDriver(&table());
}

Session::~Session() {
  runtime::useDriver(nullptr);
  device().reports.clear();
}

Settings &Session::settings() { return device().settings; }
const runtime::Driver &Session::driver() const { return table(); }
std::vector<sim::Report> Session::takeReports() { return std::exchange(device().reports, {}); }

} // namespace tilegym::simdriver
