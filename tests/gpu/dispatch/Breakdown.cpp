// SPDX-License-Identifier: MIT
// Where the time of a call on the GPU goes. Each part is timed by itself, in blocks that take turns, always with fresh pointers and other rows; what is
// taken away from a call (a question, the launch) is taken away by a driver whose one function does nothing.
#include "tests/gpu/dispatch/Bench.h"
#include <algorithm>
#include <cstdio>
#include <dlfcn.h>
#include <functional>
#include <memory>

namespace tilegym::bench {
namespace {

using namespace runtime;

constexpr int kBlock = 16;

/// The driver as calls see it here: the system's, of which one function at a time may be replaced.
Driver used;
const Driver *real = nullptr;
Bare *current = nullptr; ///< of the call that is timed

CUresult launchNothing(const CUlaunchConfig *, CUfunction, void **, void **) { return kSuccess; }
/// As cuLaunchKernelEx with the context's own function, or the kernel in its place, whatever is given.
CUresult launchFunction(const CUlaunchConfig *config, CUfunction, void **parameters, void **extra) {
  return real->launchKernelEx(config, current->function, parameters, extra);
}
CUresult launchKernel(const CUlaunchConfig *config, CUfunction, void **parameters, void **extra) {
  return real->launchKernelEx(config, reinterpret_cast<CUfunction>(current->kernel), parameters, extra);
}
CUresult launchPacked(const CUlaunchConfig *config, CUfunction function, void **, void **) {
  void *extra[] = {reinterpret_cast<void *>(size_t(1)), current->packed, // CU_LAUNCH_PARAM_BUFFER_POINTER
                   reinterpret_cast<void *>(size_t(2)), &current->packedSize, // ..._SIZE
                   nullptr};
  return real->launchKernelEx(config, function, nullptr, extra);
}
CUresult launchFunctionPacked(const CUlaunchConfig *config, CUfunction, void **parameters, void **extra) {
  return launchPacked(config, current->function, parameters, extra);
}
/// Another function than the one whose form was learned, so that the runtime leaves every map to it.
CUresult encodeByDriver(void *map, int type, uint32_t rank, void *address, const uint64_t *extents,
                        const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                        int swizzle, int promotion, int fill) {
  return real->tensorMapEncodeTiled(map, type, rank, address, extents, strides, box, steps, interleave,
                                    swizzle, promotion, fill);
}

/// One that the runtime does without; null where the driver is none that is loaded.
void *symbol(const char *name) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return library ? dlsym(library, name) : nullptr;
}
unsigned long long contextNumber = 0;
CUresult sameContext(CUcontext, unsigned long long *number) {
  return *number = contextNumber, CUresult(kSuccess);
}

struct Part {
  std::string name;
  Driver driver;
  std::function<void(int)> body;
  bool cooled = false; ///< behind a bare launch that is not timed, as it is when calls follow each other
  std::vector<float> times = {};
};

class Breakdown {
public:
  Breakdown(TilegymPackage &package, uint32_t number, char *memory)
      : package(package), number(number), memory(memory) {
    for (int i = 0; i < kBlock; ++i) {
      calls.push_back(std::make_unique<Calls>(package.table, package.table.ops()[number], /*maxRows=*/4096));
      bares.push_back(std::make_unique<Bare>());
    }
    need(currentDevice(*real, nullptr, &device));
    addLaunches();
    addCalls();
    addPhases();
    addQuestions();
  }

  void round(int64_t count) {
    for (int i = 0; i < kBlock; ++i) {
      calls[size_t(i)]->set(count * kBlock + i, memory);
      bares[size_t(i)]->prepare(package, *real, *device, number, calls[size_t(i)]->args.data());
    }
    for (size_t k = 0; k < parts.size(); ++k)
      block(parts[(k + size_t(count)) % parts.size()]);
  }

  void print() {
    double clock = median(parts[0].times);
    std::printf("  clock %.0f ns, taken off all below; blocks of %d, medians of %zu\n", clock, kBlock,
                parts[0].times.size());
    for (size_t k = 1; k < parts.size(); ++k)
      std::printf("  %-66s %6.0f ns\n", parts[k].name.c_str(), median(parts[k].times) - clock);
  }

private:
  void block(Part &part) {
    used = part.driver;
    for (int i = 0; i < kBlock; ++i) {
      current = bares[size_t(i)].get();
      if (part.cooled)
        launch(real->launchKernelEx, reinterpret_cast<CUfunction>(current->kernel));
      double begin = now();
      part.body(i);
      part.times.push_back(float(now() - begin));
    }
    synchronize(*real);
  }

  static void launch(decltype(Driver::launchKernelEx) how, CUfunction function) {
    CUlaunchConfig config{unsigned(current->grid.blocks),
                          1,
                          1,
                          current->choice.variant->threads,
                          1,
                          1,
                          current->choice.variant->sharedBytes,
                          nullptr,
                          nullptr,
                          0};
    if (how(&config, function, current->parameters.pointers, nullptr) != kSuccess)
      stop("a bare launch failed");
  }

  Part &add(std::string name, std::function<void(int)> body) {
    return parts.emplace_back(Part{std::move(name), *real, std::move(body)});
  }

  void addLaunches() {
    add("clock", [](int) {});
    auto bare = [&](const char *name, decltype(Driver::launchKernelEx) how) {
      add(name, [how](int) { launch(how, reinterpret_cast<CUfunction>(current->kernel)); });
    };
    bare("bare launch, CUkernel", real->launchKernelEx);
    bare("bare launch, CUfunction", launchFunction);
    if (!hasMaps()) { // which cuLaunchKernelEx does not take from a buffer
      bare("bare launch, CUkernel, packed parameters", launchPacked);
      bare("bare launch, CUfunction, packed parameters", launchFunctionPacked);
    }
    using Launch = CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                unsigned, CUstream, void **, void **);
    if (auto plain = reinterpret_cast<Launch>(symbol("cuLaunchKernel")))
      add("bare launch by cuLaunchKernel, CUfunction", [plain](int) {
        plain(current->function, unsigned(current->grid.blocks), 1, 1, current->choice.variant->threads, 1, 1,
              current->choice.variant->sharedBytes, nullptr, current->parameters.pointers, nullptr);
      });
  }

  void addCalls() {
    auto whole = [&](const char *name, auto change) {
      change(add(std::string("call") + name, [&](int i) {
               need(tilegym_call(&package, number, calls[size_t(i)]->args.data(), nullptr));
             }).driver);
    };
    whole("", [](Driver &) {});
    whole(", no cuCtxGetId", [](Driver &d) { d.ctxGetId = sameContext; });
    whole(", launching a CUkernel", [](Driver &d) { d.launchKernelEx = launchKernel; });
    if (!hasMaps())
      whole(", launching with packed parameters", [](Driver &d) { d.launchKernelEx = launchFunctionPacked; });
    else
      whole(", the driver making tensor maps", [](Driver &d) { d.tensorMapEncodeTiled = encodeByDriver; });
    whole(", launching nothing", [](Driver &d) { d.launchKernelEx = launchNothing; });
    whole(", launching nothing, no cuCtxGetId", [](Driver &d) {
      d.launchKernelEx = launchNothing;
      d.ctxGetId = sameContext;
    });
  }

  /// What a call does before the launch, when the last thing done was a launch.
  void addPhases() {
    for (Phase p : {Phase::Nothing, Phase::Bind, Phase::Check, Phase::Choose, Phase::Launch, Phase::All}) {
      Part &part =
          add(std::string("behind a launch, launching nothing: until ") + kPhases[int(p)],
              [this, p](int i) { need(runUntil(p, package, number, calls[size_t(i)]->args.data())); });
      part.driver.launchKernelEx = launchNothing;
      part.cooled = true;
    }
    add("behind a launch: bare launch, CUfunction", [](int) { launch(launchFunction, nullptr); }).cooled =
        true;
    add("behind a launch: call", [&](int i) {
      need(tilegym_call(&package, number, calls[size_t(i)]->args.data(), nullptr));
    }).cooled = true;
  }

  /// Of the driver, each as it is behind a launch.
  void addQuestions() {
    auto question = [&](const char *name, auto body) { add(name, body).cooled = true; };
    question("behind a launch: cuCtxGetDevice", [](int) {
      CUdevice ordinal = 0;
      real->ctxGetDevice(&ordinal);
    });
    question("behind a launch: cuCtxGetCurrent", [](int) {
      CUcontext context = nullptr;
      real->ctxGetCurrent(&context);
    });
    question("behind a launch: cuCtxGetId", [](int) {
      unsigned long long id = 0;
      real->ctxGetId(nullptr, &id);
    });
    question("behind a launch: cuKernelGetFunction", [](int) {
      CUfunction function = nullptr;
      real->kernelGetFunction(&function, current->kernel);
    });
    auto attributes = [&](const char *name, std::vector<int> names) {
      question(name, [this, names](int i) mutable {
        uint64_t answers[3] = {};
        void *values[] = {&answers[0], &answers[1], &answers[2]};
        auto *tensor = static_cast<const TilegymTensor *>(calls[size_t(i)]->args[0]);
        real->pointerGetAttributes(unsigned(names.size()), names.data(), values,
                                   reinterpret_cast<CUdeviceptr>(tensor->data));
      });
    };
    attributes("behind a launch: cuPointerGetAttributes, type, device, managed",
               {kPointerMemoryType, kPointerDeviceOrdinal, kPointerIsManaged});
    attributes("behind a launch: cuPointerGetAttributes, range", {kPointerRangeStart, kPointerRangeSize});
    question("behind a launch: cuStreamIsCapturing", [](int) {
      int capturing = 0;
      real->streamIsCapturing(nullptr, &capturing);
    });
  }

  bool hasMaps() const {
    const format::Op &op = package.table.ops()[number];
    std::span<const format::Variant> variants = package.table.get<format::Variant>(op.variants);
    return std::any_of(variants.begin(), variants.end(),
                       [](const format::Variant &v) { return v.maps.count > 0; });
  }

  TilegymPackage &package;
  uint32_t number;
  char *memory;
  const Device *device = nullptr;
  std::vector<std::unique_ptr<Calls>> calls;
  std::vector<std::unique_ptr<Bare>> bares;
  std::vector<Part> parts;
};

} // namespace

void breakDown(TilegymPackage &package, uint32_t number, int rounds, char *memory) {
  need(getDriver(&real));
  used = *real;
  real->ctxGetId(nullptr, &contextNumber);
  Breakdown breakdown(package, number, memory);
  useDriver(&used);
  for (int64_t count = 0; count < rounds; ++count)
    breakdown.round(count);
  useDriver(nullptr);
  breakdown.print();
}

} // namespace tilegym::bench
