// SPDX-License-Identifier: MIT
// What a call costs the host, with fresh pointers and one row more on every call. On a GPU: beside a bare cuLaunchKernelEx of the same kernel with the
// same parameters, interleaved, and what a million calls leave in the host's memory. With --no-driver: against a driver that does nothing, split by
// what a call does.
#include "runtime/src/PackageHandle.h"
#include "tests/unit/runtime/driver/NullDriver.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace tilegym::runtime;
namespace format = tilegym::format;

namespace {

constexpr int64_t kColumns = 128, kMaxRows = 100000, kRoom = int64_t(1) << 27;

char *const kNowhere = reinterpret_cast<char *>(int64_t(1) << 40); // never touched

double now() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

template <class Body> double timeOf(Body body) {
  double begin = now();
  body();
  return now() - begin;
}

[[noreturn]] void stop(const std::string &why) {
  std::fprintf(stderr, "bench_dispatch: %s\n", why.c_str());
  std::exit(3);
}
void need(TilegymStatus status) {
  if (status != TILEGYM_OK)
    stop(tilegym_last_error());
}

/// The arguments of calls of one op in its first dtypes: groups have one axis, which grows; optional tensors are left out.
class Calls {
public:
  Calls(const Table &table, const format::Op &op) {
    std::span<const format::Tensor> all = table.get<format::Tensor>(op.tensors);
    tensors.resize(all.size());
    shapes.resize(all.size());
    for (const format::Argument &a : table.get<format::Argument>(op.arguments)) {
      if (!a.isTensor || all[a.id].optional) {
        args.push_back(nullptr);
        continue;
      }
      const format::Tensor &t = all[a.id];
      std::vector<int64_t> &shape = shapes[a.id];
      for (const format::DimUse &use : table.get<format::DimUse>(t.dims))
        shape.push_back(use.isGroup ? 1 : kColumns);
      if (t.dims.count && table.get<format::DimUse>(t.dims)[0].isGroup)
        growing.push_back(a.id);
      std::span<const uint8_t> dtypes =
          table.get<uint8_t>(table.get<format::TypeVar>(op.typeVars)[t.typeVar].choices);
      tensors[a.id] = {nullptr, shape.data(), nullptr, int32_t(shape.size()), dtypes[0]};
      given.push_back(a.id);
      args.push_back(&tensors[a.id]);
    }
  }

  /// The next call's: each tensor at an address of its own that moves on.
  void next(char *memory) {
    rows = rows % kMaxRows + 1;
    step = (step + 256) % (kRoom / 2);
    for (uint32_t id : growing)
      shapes[id][0] = rows;
    for (size_t i = 0; i < given.size(); ++i)
      tensors[given[i]].data = memory + int64_t(i) * kRoom + step;
  }

  std::vector<const void *> args;
  std::vector<uint32_t> given;

private:
  std::vector<TilegymTensor> tensors;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<uint32_t> growing;
  int64_t rows = 0, step = 0;
};

enum class Phase { Nothing, Bind, Check, Choose, Launch, All };
constexpr const char *kPhases[] = {"arguments", "bind", "check", "choose", "launch", "all"};

/// One call up to the end of a phase.
TilegymStatus runUntil(Phase last, TilegymPackage &package, uint32_t number, const void *const *args) {
  if (last == Phase::All)
    return tilegym_call(&package, number, args, nullptr);
  if (last == Phase::Nothing)
    return TILEGYM_OK;
  Call call(package.table, package.table.ops()[number]);
  TRY(call.bind(args, /*forShape=*/false));
  if (last == Phase::Bind)
    return TILEGYM_OK;
  const Driver *driver = nullptr;
  const Device *device = nullptr;
  TRY(getDriver(&driver));
  TRY(currentDevice(*driver, nullptr, &device));
  call.smCount = device->multiprocessors;
  TRY(checkPointers(*driver, *device, call));
  if (last == Phase::Check)
    return TILEGYM_OK;
  Choice choice;
  TRY(package.choices[number]->choose(call, device->arch, device->name, &choice));
  Grid grid;
  TRY(computeGrid(call, choice, &grid));
  CUkernel kernel = nullptr;
  TRY(package.loader->load(*driver, *device, number, choice, nullptr, &kernel));
  if (last == Phase::Choose)
    return TILEGYM_OK;
  Parameters parameters;
  fillParameters(call, choice, grid, &parameters);
  driver->launch(reinterpret_cast<CUfunction>(kernel), unsigned(grid.blocks), choice.variant->threads,
                 choice.variant->sharedBytes, nullptr, parameters.pointers);
  return TILEGYM_OK;
}

double median(std::vector<double> &times) {
  std::nth_element(times.begin(), times.begin() + long(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// Nanoseconds a call: the median over batches, in which an interruption spoils one batch and no more.
double timePhase(Phase last, TilegymPackage &package, uint32_t number, int calls) {
  Calls args(package.table, package.table.ops()[number]);
  std::vector<double> batches;
  constexpr int kBatch = 100;
  for (int done = 0; done < calls; done += kBatch) {
    double begin = now();
    for (int i = 0; i < kBatch; ++i) {
      args.next(kNowhere);
      need(runUntil(last, package, number, args.args.data()));
    }
    batches.push_back((now() - begin) / kBatch);
  }
  return median(batches);
}

long residentKiB() {
  long size = 0, resident = 0;
  if (FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &size, &resident) != 2)
      resident = 0;
    std::fclose(file);
  }
  return resident * 4;
}

void synchronize(const Driver &driver) {
  if (driver.streamSynchronize(nullptr) != kSuccess)
    stop("a kernel failed");
}

/// What as many calls leave in the host's memory, in KiB.
long grownKiB(TilegymPackage &package, uint32_t number, char *memory, int calls) {
  const Driver *driver = nullptr;
  need(getDriver(&driver));
  Calls args(package.table, package.table.ops()[number]);
  long before = residentKiB();
  for (int i = 0; i < calls; ++i) {
    args.next(memory);
    need(tilegym_call(&package, number, args.args.data(), nullptr));
    if (i % 256 == 0)
      synchronize(*driver);
  }
  synchronize(*driver);
  return residentKiB() - before;
}

void benchPhases(TilegymPackage &package, uint32_t number, int calls, int flat) {
  std::printf("%s:", package.opNames[number].c_str());
  double before = 0;
  for (Phase p : {Phase::Nothing, Phase::Bind, Phase::Check, Phase::Choose, Phase::Launch, Phase::All}) {
    double t = timePhase(p, package, number, calls);
    std::printf("  %s %.0f", kPhases[int(p)], p == Phase::All ? t : t - before);
    before = t;
  }
  std::printf(" ns; memory after %d calls: %+ld KiB\n", flat, grownKiB(package, number, kNowhere, flat));
}

/// All that a launch needs, worked out beforehand.
struct Bare {
  CUfunction kernel = nullptr; ///< a CUkernel in its place, as the runtime launches it
  Choice choice;
  Grid grid;
  Parameters parameters;

  void prepare(TilegymPackage &package, const Driver &driver, const Device &device, uint32_t number,
               const void *const *args) {
    Call call(package.table, package.table.ops()[number]);
    need(call.bind(args, /*forShape=*/false));
    call.smCount = device.multiprocessors;
    need(package.choices[number]->choose(call, device.arch, device.name, &choice));
    grid = Grid();
    need(computeGrid(call, choice, &grid));
    CUkernel loaded = nullptr;
    need(package.loader->load(driver, device, number, choice, nullptr, &loaded));
    kernel = reinterpret_cast<CUfunction>(loaded);
    fillParameters(call, choice, grid, &parameters);
  }
  CUresult launch(const Driver &driver, CUfunction function) {
    return driver.launch(function, unsigned(grid.blocks), choice.variant->threads,
                         choice.variant->sharedBytes, nullptr, parameters.pointers);
  }
};

/// What the questions cost that a call asks, or would ask if it remembered nothing.
void benchQuestions(const Driver &driver, char *memory) {
  std::vector<double> device, pointer, clock;
  for (int64_t i = 0; i < 10000; ++i) {
    CUdevice ordinal = 0;
    clock.push_back(timeOf([] {}));
    device.push_back(timeOf([&] { driver.ctxGetDevice(&ordinal); }));
    int names[] = {kPointerMemoryType, kPointerDeviceOrdinal, kPointerIsManaged}, answers[3] = {};
    void *values[] = {&answers[0], &answers[1], &answers[2]};
    auto address = reinterpret_cast<CUdeviceptr>(memory) + CUdeviceptr(i * 256);
    pointer.push_back(timeOf([&] { driver.pointerGetAttributes(3, names, values, address); }));
  }
  std::printf(
      "  of which the driver: cuCtxGetDevice %.0f ns; cuPointerGetAttributes, once an allocation and thread: "
      "%.0f ns; the clock itself %.0f ns\n",
      median(device), median(pointer), median(clock));
}

/// True where a call costs at most `limit` ns more than a bare launch, and a million of them no memory.
bool benchOnGpu(TilegymPackage &package, uint32_t number, int calls, int flat, double limit) {
  const Driver *driver = nullptr;
  const Device *device = nullptr;
  need(getDriver(&driver));
  need(currentDevice(*driver, nullptr, &device));
  Calls args(package.table, package.table.ops()[number]);
  CUdeviceptr memory = 0;
  if (driver->memAlloc(&memory, args.given.size() * size_t(kRoom)) != kSuccess)
    stop("no memory on the GPU");
  auto *base = reinterpret_cast<char *>(memory);
  Bare bare;
  std::vector<double> ours, kernels, functions;
  for (int i = 0; i < calls; ++i) {
    args.next(base);
    bare.prepare(package, *driver, *device, number, args.args.data());
    CUfunction function = nullptr;
    driver->kernelGetFunction(&function, reinterpret_cast<CUkernel>(bare.kernel));
    if (i % 64 == 0) // before the queue is full: then a launch waits for the GPU
      synchronize(*driver);
    auto call = [&] { need(tilegym_call(&package, number, args.args.data(), nullptr)); };
    auto launch = [&](CUfunction f) {
      if (bare.launch(*driver, f) != kSuccess)
        stop("a bare launch failed");
    };
    // Each goes first as often as last.
    if (i % 2)
      ours.push_back(timeOf(call));
    kernels.push_back(timeOf([&] { launch(bare.kernel); }));
    functions.push_back(timeOf([&] { launch(function); }));
    if (i % 2 == 0)
      ours.push_back(timeOf(call));
  }
  long grown = grownKiB(package, number, base, flat);
  double call = median(ours), kernel = median(kernels), function = median(functions);
  bool good = call - std::min(kernel, function) <= limit && grown < 1024;
  std::printf("%s: call %.0f ns, bare cuLaunchKernelEx %.0f ns (of a CUkernel %.0f ns), more by %.0f ns; "
              "memory after %d "
              "calls: %+ld KiB: %s\n",
              package.opNames[number].c_str(), call, function, kernel, call - std::min(kernel, function),
              flat, grown, good ? "within the limit" : "NOT within the limit");
  benchQuestions(*driver, base);
  driver->memFree(memory);
  return good;
}

} // namespace

int main(int argc, char **argv) {
  bool withDriver = true, good = true;
  int calls = 100000, flat = 1000000;
  double limit = 500;
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--no-driver")
      withDriver = false;
    else if (word == "--calls" && i + 1 < argc)
      calls = std::max(100, std::atoi(argv[++i]));
    else if (word == "--flat" && i + 1 < argc)
      flat = std::atoi(argv[++i]);
    else if (word == "--limit" && i + 1 < argc)
      limit = std::atof(argv[++i]);
    else
      words.push_back(word);
  }
  if (words.size() < 2 || words[0][0] == '-')
    stop("usage: bench_dispatch [--no-driver] [--calls N] [--flat N] [--limit NS] PACKAGE OP...");
  TilegymPackage *package = nullptr;
  need(tilegym_package_open_file(words[0].c_str(), &package));
  Driver none = tilegym::testing::nullDriver();
  if (!withDriver)
    useDriver(&none);
  for (size_t i = 1; i < words.size(); ++i) {
    auto found = std::find(package->opNames.begin(), package->opNames.end(), words[i]);
    if (found == package->opNames.end())
      stop("the package has no op " + words[i]);
    auto number = uint32_t(found - package->opNames.begin());
    if (withDriver)
      good &= benchOnGpu(*package, number, calls, flat, limit);
    else
      benchPhases(*package, number, calls, flat);
  }
  tilegym_package_close(package);
  return good ? 0 : 2;
}
