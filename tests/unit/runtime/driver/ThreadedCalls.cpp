// SPDX-License-Identifier: MIT
// Sixteen threads at once on all that they share: first calls that load code and learn the form of tensor maps, backends that are registered meanwhile,
// fallbacks and their log, questions. It says nothing where all is well; for the sanitizers, which need no more than this program.
#include "tests/unit/runtime/PackageBuilder.h"
#include "tests/unit/runtime/driver/NullDriver.h"
#include <atomic>
#include <cstdio>
#include <thread>

using namespace tilegym::testing;

namespace {

/// mapped(x: f32[*R, N]) -> y, whose kernel takes a tensor map of each.
OpText mappedOp() {
  OpText o;
  o.name = "mapped";
  o.typeVars = {{"", {F32}}};
  o.dims = {{"R", {}, true}, {"N"}};
  o.tensors = {{"x", Role::Input, 0, {{0, false, true}, {1}}},
               {"y", Role::Output, 0, {{0, false, true}, {1}}}};
  o.kernels = {{"only"}};
  VariantText v;
  v.dtypes = {F32};
  v.facts = kFactsFast;
  v.tensorFacts = {kUnitInner | kAligned, kUnitInner | kAligned};
  v.images = {{90, 0, 1, "cubin"}};
  v.maps = {{0, 128, {{1, 0, 32, 0, 0}, {0, 0, 32, 0, 0}}}, {1, 0, {{1, 0, 8, 0, 0}, {0, 0, 1, 0, 0}}}};
  v.layout = {{ParamKind::TensorMap, 0, 0}, {ParamKind::TensorMap, 1, 0}};
  o.variants = {v};
  return o;
}

TilegymPackage *package = nullptr;
std::atomic<int> failures{0}, reached{0}, lines{0};

TilegymStatus mine(void *, TilegymPackage *, size_t, const void *const *, void *) {
  return ++reached, TILEGYM_OK;
}

tilegym::runtime::Driver driver; // trivially destroyed, so it outlives all

void work(int thread) {
  tilegym::runtime::useDriver(&driver); // this thread's
  for (int i = 0; i < 300; ++i) {
    char *at = reinterpret_cast<char *>((int64_t(1) << 40) + (int64_t(thread) << 30) + i * 4096);
    int64_t shape[] = {i % 50 + 1, 64};
    TilegymTensor x{at, shape, nullptr, 2, TILEGYM_F32}, y{at + (1 << 24), shape, nullptr, 2, TILEGYM_F32};
    const void *scale[] = {&x, nullptr, nullptr, nullptr, &y}, *mapped[] = {&x, &y};
    int32_t backend = (thread + i) % 3 == 0   ? tilegym_backend("mine")
                      : (thread + i) % 3 == 1 ? TILEGYM_BACKEND_VENDOR
                                              : 0;
    failures += tilegym_set_thread_backend(backend, nullptr) != TILEGYM_OK;
    failures += tilegym_call(package, 0, scale, nullptr) != TILEGYM_OK;
    failures += tilegym_call(package, 1, mapped, nullptr) != TILEGYM_OK;
    failures += tilegym_prepare(package, 1, mapped) != TILEGYM_OK;
    if (thread == 0 && i % 10 == 0)
      failures += tilegym_register_impl("scale", "mine", mine, nullptr) != TILEGYM_OK;
    if (i % 50 == 0) {
      const char *text = nullptr;
      failures += tilegym_describe(package, TILEGYM_JSON, &text) != TILEGYM_OK;
      failures += tilegym_available(package, 1, mapped, TILEGYM_BACKEND_TILE) != TILEGYM_OK;
      failures += tilegym_call(package, 7, mapped, nullptr) != TILEGYM_INVALID_ARGUMENT;
    }
  }
}

} // namespace

int main() {
  driver = nullDriver();
  OpText scale = scaleOp();
  std::string block = PackageBuilder().build({scale, mappedOp()});
  std::vector<uint64_t> words(block.size() / 8 + 1);
  std::memcpy(words.data(), block.data(), block.size());
  tilegym_set_log([](void *, int32_t, const char *) { ++lines; }, nullptr);
  failures += tilegym_register_impl("scale", "mine", mine, nullptr) != TILEGYM_OK;
  if (tilegym_package_open(words.data(), block.size(), &package) != TILEGYM_OK) {
    std::printf("%s\n", tilegym_last_error());
    return 1;
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([i] { work(i); });
  for (std::thread &thread : threads)
    thread.join();
  tilegym_package_close(package);
  // One of PTX for scale, one fallback each of scale and mapped from vendor, one of mapped from mine.
  if (failures || reached != 16 * 100 || lines != 4)
    std::printf("%d failures, the last: %s; %d reached the registered one; %d lines\n", failures.load(),
                tilegym_last_error(), reached.load(), lines.load());
  return failures || reached != 16 * 100 || lines != 4;
}
