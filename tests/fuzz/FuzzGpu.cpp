// SPDX-License-Identifier: MIT
// fuzz_gpu FOLDER: the packages of `fuzz_kernels --emit-bundle` on the GPU of this machine. Every kernel's text is in its package: the interpreter runs it
// here, on the same inputs, and what differs is printed with the text. Needs a driver and nothing else.
#include "tests/fuzz/kernels/KernelDevice.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

using namespace tilegym;
using namespace tilegym::fuzz;

namespace {

struct Totals {
  std::mutex mutex;
  std::atomic<uint64_t> kernels{0}, calls{0}, compared{0}, failures{0};
  std::atomic<bool> lost{false}; ///< faults of a GPU stay: what would come after says nothing
  void fail(const std::string &what, std::string_view text) {
    ++failures;
    std::lock_guard lock(mutex);
    std::printf("%s\n---- \n%.*s\n----\n", what.c_str(), int(text.size()), text.data());
    std::fflush(stdout);
  }
};

constexpr unsigned kLayouts = 2;

/// The first thing that is wrong with a kernel; nothing, if all is well.
std::string judge(KernelDevice &device, KernelDevice::Package &package, size_t number, std::string_view text,
                  Totals &totals) {
  std::string error;
  std::unique_ptr<KernelCase> kernel = readKernel(std::string(text), "kernel.tile", error);
  if (!kernel)
    return error;
  for (const sem::TestCall &call : kernel->calls)
    for (unsigned i = 0; i < kLayouts; ++i) {
      uint64_t layout = i ? number * 1000 + i : 0;
      std::string where = "call " + call.name + ", layout " + std::to_string(layout) + "\n";
      std::optional<interp::Arguments> args = makeArguments(*kernel, call, layout, error);
      if (!args)
        return where + error;
      auto want = wantedOf(*kernel, call, *args, error);
      if (!want)
        return where + error;
      ++totals.calls;
      for (const DeviceOutcome &outcome : device.run(package, number, *kernel, call, *args, layout, {})) {
        if (!outcome.error.empty())
          return where + outcome.variant + "\n" + outcome.error;
        if (std::string what = difference(*kernel, outcome.tensors, *want); !what.empty())
          return where + outcome.variant + "\n" + what;
        ++totals.compared;
      }
    }
  return "";
}

/// All kernels of one package, on this thread's context of the GPU.
void runPackage(const std::string &path, Totals &totals) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}}, error;
  auto package = KernelDevice::open(bytes, error);
  const runtime::Driver *driver = nullptr;
  const runtime::Device *found = nullptr;
  if (!package)
    return totals.fail(path + ": " + error, "");
  if (runtime::getDriver(&driver) != TILEGYM_OK ||
      runtime::currentDevice(*driver, nullptr, &found) != TILEGYM_OK)
    return totals.fail(tilegym_last_error(), "");
  KernelDevice device(*driver, *found, /*apart=*/false);
  for (size_t number = 0; number < package->table.ops().size() && !totals.lost; ++number) {
    std::string_view text = package->text(number);
    ++totals.kernels;
    if (std::string what = judge(device, *package, number, text, totals); !what.empty())
      totals.fail(path + ", kernel " + std::to_string(number) + ": " + what, text);
    totals.lost = totals.lost || device.isLost();
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: fuzz_gpu FOLDER [THREADS]\n");
    return 2;
  }
  std::vector<std::string> paths;
  for (const auto &entry : std::filesystem::directory_iterator(argv[1]))
    if (entry.path().extension() == ".tgk")
      paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  auto begin = std::chrono::steady_clock::now();
  Totals totals;
  std::atomic<size_t> next{0};
  unsigned count =
      argc > 2 ? unsigned(std::atoi(argv[2])) : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i)
    threads.emplace_back([&] {
      for (size_t at; (at = next++) < paths.size();)
        runPackage(paths[at], totals);
    });
  for (std::thread &thread : threads)
    thread.join();
  std::printf("fuzz_gpu: %" PRIu64 " kernels, %" PRIu64 " calls, %" PRIu64 " runs compared, %" PRIu64
              " failures, %.1f s\n",
              totals.kernels.load(), totals.calls.load(), totals.compared.load(), totals.failures.load(),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  if (totals.lost)
    std::printf("the GPU was lost on the way\n");
  return totals.failures || totals.kernels == 0 ? 1 : 0;
}
