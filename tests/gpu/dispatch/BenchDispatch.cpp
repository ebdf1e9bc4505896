// SPDX-License-Identifier: MIT
// What a call costs the host, with fresh pointers and one row more on every call. On a GPU: beside a bare cuLaunchKernelEx of the same kernel with the
// same parameters, in turns, and what a million calls leave in the host's memory; with --parts, where the time goes. With --no-driver: against a
// driver that does nothing, split by what a call does, warm and with cold caches. --maps: whether tensor maps are written as the driver writes them.
#include "tests/gpu/dispatch/Bench.h"
#include "tests/unit/runtime/driver/NullDriver.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

using namespace tilegym::runtime;
using namespace tilegym::bench;

namespace {

constexpr int64_t kMaxRows = 100000;

char *const kNowhere = reinterpret_cast<char *>(int64_t(1) << 40); // never touched

/// Nanoseconds a call: the median of `calls` when they follow each other, or with caches gone cold before each.
double timePhase(Phase last, TilegymPackage &package, uint32_t number, int calls, bool cold) {
  Calls args(package.table, package.table.ops()[number], kMaxRows);
  std::vector<float> times;
  int batch = cold ? 1 : 100; // an interruption spoils one batch and no more
  for (int done = 0; done < calls;) {
    if (cold)
      coolDown();
    double begin = now();
    for (int i = 0; i < batch; ++i) {
      args.set(done++, kNowhere);
      need(runUntil(last, package, number, args.args.data()));
    }
    times.push_back(float((now() - begin) / batch));
  }
  return median(times);
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

/// What as many calls leave in the host's memory, in KiB.
long grownKiB(TilegymPackage &package, uint32_t number, char *memory, int calls) {
  const Driver *driver = nullptr;
  need(getDriver(&driver));
  Calls args(package.table, package.table.ops()[number], kMaxRows);
  long before = residentKiB();
  for (int i = 0; i < calls; ++i) {
    args.set(i, memory);
    need(tilegym_call(&package, number, args.args.data(), nullptr));
    if (i % 256 == 0)
      synchronize(*driver);
  }
  synchronize(*driver);
  return residentKiB() - before;
}

void benchPhases(TilegymPackage &package, uint32_t number, int calls, int flat) {
  for (bool cold : {false, true}) {
    std::printf("%s, %s:", package.opNames[number].c_str(), cold ? "cold" : "warm");
    double before = 0;
    for (Phase p : {Phase::Nothing, Phase::Bind, Phase::Check, Phase::Choose, Phase::Launch, Phase::All}) {
      double t = timePhase(p, package, number, cold ? calls / 10 : calls, cold);
      std::printf("  %s %.0f", kPhases[int(p)], p == Phase::All ? t : t - before);
      before = t;
    }
    std::printf(" ns\n");
  }
  Calls args(package.table, package.table.ops()[number], kMaxRows);
  args.set(kMaxRows - 1, kNowhere);
  const char *text = nullptr;
  need(tilegym_explain(&package, number, args.args.data(), &text));
  std::printf("  the last one takes %s\n  memory after %d calls: %+ld KiB\n", text, flat,
              grownKiB(package, number, kNowhere, flat));
}

/// True where a call costs at most `limit` ns more than a bare launch, a million of them no memory, and the first one 30 ms.
bool benchOnGpu(TilegymPackage &package, uint32_t number, int calls, int flat, double limit, int parts) {
  const Driver *driver = nullptr;
  const Device *device = nullptr;
  need(getDriver(&driver));
  need(currentDevice(*driver, nullptr, &device));
  CUdeviceptr memory = 0;
  Calls args(package.table, package.table.ops()[number], kMaxRows);
  if (driver->memAlloc(&memory, args.tensorsGiven() * size_t(kRoom)) != kSuccess)
    stop("no memory on the GPU");
  auto *base = reinterpret_cast<char *>(memory);
  args.set(0, base);
  double begin = now();
  need(tilegym_call(&package, number, args.args.data(), nullptr));
  double first = now() - begin;
  bool ownMaps = true;
  // Calls follow calls, and bare launches bare launches, as they do in programs; blocks of them take turns. What is launched is worked out beforehand.
  constexpr int kBlock = 16;
  std::vector<std::unique_ptr<Bare>> bares;
  for (int i = 0; i < kBlock; ++i)
    bares.push_back(std::make_unique<Bare>());
  std::vector<float> ours, kernels, functions;
  for (int done = 0; done < calls; done += kBlock) {
    for (int i = 0; i < kBlock; ++i) {
      args.set(done + i, base);
      bares[size_t(i)]->prepare(package, *driver, *device, number, args.args.data());
      ownMaps &= checkMaps(package, *driver, *device, number, args.args.data(), *bares[size_t(i)]);
    }
    for (int turn = 0; turn < 3; ++turn) {
      int what = (turn + done / kBlock) % 3;
      for (int i = 0; i < kBlock; ++i) {
        args.set(done + i, base);
        Bare &bare = *bares[size_t(i)];
        auto function = what == 1 ? bare.function : reinterpret_cast<CUfunction>(bare.kernel);
        double begin = now();
        if (what == 2)
          need(tilegym_call(&package, number, args.args.data(), nullptr));
        else if (driver->launch(function, unsigned(bare.grid.blocks), bare.choice.variant->threads,
                                bare.choice.variant->sharedBytes, nullptr,
                                bare.parameters.pointers) != kSuccess)
          stop("a bare launch failed");
        (what == 2 ? ours : what == 1 ? functions : kernels).push_back(float(now() - begin));
      }
      synchronize(*driver); // before the queue is full: then a launch waits for the GPU
    }
  }
  long grown = grownKiB(package, number, base, flat);
  double call = median(ours), kernel = median(kernels), function = median(functions);
  // Of an op's first call, once the driver and its context are there: code is read, unpacked and loaded.
  constexpr double kFirstLimit = 30e6;
  bool good = call - std::min(kernel, function) <= limit && grown < 1024 && first <= kFirstLimit;
  size_t maps = bares[0]->choice.variant->maps.count;
  std::printf("%s: first call %.2f ms (30 at most); %zu tensor maps%s\n", package.opNames[number].c_str(),
              first / 1e6, maps,
              !maps     ? ""
              : ownMaps ? ", all of the runtime's making and as the driver's"
                        : ", made by the driver");
  std::printf("%s: call %.0f ns, bare cuLaunchKernelEx %.0f ns (of a CUkernel %.0f ns), more by %.0f ns; "
              "memory after %d "
              "calls: %+ld KiB: %s\n",
              package.opNames[number].c_str(), call, function, kernel, call - std::min(kernel, function),
              flat, grown, good ? "within the limit" : "NOT within the limit");
  if (parts)
    breakDown(package, number, parts, base);
  driver->memFree(memory);
  return good;
}

} // namespace

int main(int argc, char **argv) {
  bool withDriver = true, good = true;
  int calls = 100000, flat = 1000000, parts = 0, maps = 0;
  double limit = 500;
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--no-driver")
      withDriver = false;
    else if (word == "--calls" && i + 1 < argc)
      calls = std::max(1000, std::atoi(argv[++i]));
    else if (word == "--flat" && i + 1 < argc)
      flat = std::atoi(argv[++i]);
    else if (word == "--limit" && i + 1 < argc)
      limit = std::atof(argv[++i]);
    else if (word == "--maps" && i + 1 < argc)
      maps = std::atoi(argv[++i]);
    else if (word == "--parts" && i + 1 < argc)
      parts = std::atoi(argv[++i]);
    else
      words.push_back(word);
  }
  if (words.size() < 2 || words[0][0] == '-')
    stop("usage: bench_dispatch [--no-driver] [--calls N] [--flat N] [--limit NS] [--parts ROUNDS] [--maps "
         "N] PACKAGE "
         "OP...");
  TilegymPackage *package = nullptr;
  double begin = now();
  need(tilegym_package_open_file(words[0].c_str(), &package));
  std::printf("opening %s: %.2f ms\n", words[0].c_str(), (now() - begin) / 1e6);
  Driver none = tilegym::testing::nullDriver();
  if (!withDriver)
    useDriver(&none);
  const Driver *driver = nullptr;
  if (maps) {
    const Device *device = nullptr; // whose context the driver wants for maps, too
    need(getDriver(&driver));
    need(currentDevice(*driver, nullptr, &device));
    good &= checkMapForms(*driver, maps);
  }
  for (size_t i = 1; i < words.size(); ++i) {
    auto found = std::find(package->opNames.begin(), package->opNames.end(), words[i]);
    if (found == package->opNames.end())
      stop("the package has no op " + words[i]);
    auto number = uint32_t(found - package->opNames.begin());
    if (withDriver)
      good &= benchOnGpu(*package, number, calls, flat, limit, parts);
    else
      benchPhases(*package, number, calls, flat);
  }
  tilegym_package_close(package);
  return good ? 0 : 2;
}
