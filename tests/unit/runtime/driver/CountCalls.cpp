// SPDX-License-Identifier: MIT
// Counts what 10000 calls allocate and lock after the first few have warmed up: nothing. Every call has fresh pointers and a growing dim, and they
// alternate between fast and general variants, with and without an optional tensor; every fifth names a backend. Counts, not times: they hold on any machine.
#include "tests/unit/runtime/PackageBuilder.h"
#include "tests/unit/runtime/driver/NullDriver.h"
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define SANITIZED
#endif

#ifdef SANITIZED
int main() {
  std::printf("[SKIP] the C library's functions belong to a sanitizer here, or it is not glibc\n");
  return 77;
}
#else

namespace {
bool counting = false;
long allocations = 0, locks = 0;
int (*lockForReal)(pthread_mutex_t *) = nullptr;
} // namespace

// In place of the C library's, for everything in this program: operator new ends here, too.
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void *malloc(size_t size) {
  allocations += counting;
  return __libc_malloc(size);
}
void *calloc(size_t n, size_t size) {
  allocations += counting;
  return __libc_calloc(n, size);
}
void *realloc(void *block, size_t size) {
  allocations += counting;
  return __libc_realloc(block, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  allocations += counting;
  return __libc_memalign(alignment, size);
}
int pthread_mutex_lock(pthread_mutex_t *mutex) {
  if (!lockForReal)
    lockForReal = reinterpret_cast<int (*)(pthread_mutex_t *)>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  locks += counting;
  return lockForReal(mutex);
}
}

namespace {

using namespace tilegym::testing;

/// scale(x: T[*R, N], b: T[N|1]?) -> y, by a kernel with a guard and a derived parameter, and one that takes the rest.
OpText countedOp() {
  OpText op = scaleOp();
  op.kernels = {
      {"resident", {dim(1), number(64), inst(OpCode::LeI)}, {"BN"}, {{dim(1), inst(OpCode::Pow2CeilI)}}},
      {"streaming", {}, {"BN"}, {{}}}};
  std::vector<VariantText> variants;
  for (VariantText v : op.variants)
    for (int64_t bn : {16, 32, 64, 1024}) {
      v.kernel = bn == 1024;
      v.params = {bn};
      variants.push_back(v);
    }
  op.variants = variants;
  return op;
}

struct Calls {
  TilegymPackage *package = nullptr;
  int failed = 0;
  int32_t mine = 0, lacking = 0; ///< a backend that has the op, and one in whose place `tile` runs it

  void make(int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      char *at = reinterpret_cast<char *>((int64_t(1) << 40) + i * 4096 + (i % 7 == 0 ? 4 : 0));
      int64_t shape[] = {i, 16 + i % 80}, one[] = {1}, strides[] = {shape[1], 1};
      TilegymTensor x{at, shape, strides, 2, TILEGYM_F32},
          b{at + (int64_t(1) << 36), i % 2 ? one : shape + 1, nullptr, 1, TILEGYM_F32},
          y{at + (int64_t(1) << 37), shape, nullptr, 2, TILEGYM_F32};
      float s = float(i);
      const void *args[] = {&x, i % 3 ? &b : nullptr, &s, nullptr, &y};
      failed += (i % 5 ? tilegym_call(package, 0, args, nullptr)
                       : tilegym_call_on(package, 0, args, nullptr, i % 2 ? mine : lacking)) != TILEGYM_OK;
    }
  }
};

} // namespace

int main(int argc, char **) {
  tilegym::runtime::Driver none = nullDriver();
  tilegym::runtime::useDriver(&none);
  std::string block = PackageBuilder().build({countedOp()});
  std::vector<uint64_t> words(block.size() / 8 + 1);
  std::memcpy(words.data(), block.data(), block.size());
  Calls calls;
  tilegym_set_log_level(TILEGYM_LOG_OFF);
  auto nothing = [](void *, TilegymPackage *, size_t, const void *const *, void *) { return TILEGYM_OK; };
  calls.failed = tilegym_register_impl("scale", "mine", nothing, nullptr) != TILEGYM_OK;
  calls.mine = tilegym_backend("mine");
  calls.lacking = TILEGYM_BACKEND_VENDOR;
  if (tilegym_package_open(words.data(), block.size(), &calls.package) != TILEGYM_OK)
    calls.failed = 1;
  else
    calls.make(1, 1700); // every combination of the above has been met
  counting = true;
  if (argc > 1) { // that the counts can fail
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    std::free(std::malloc(16));
  }
  if (!calls.failed)
    calls.make(1700, 11700);
  counting = false;
  if (calls.failed)
    std::printf("%d calls failed: %s\n", calls.failed, tilegym_last_error());
  std::printf("10000 calls: %ld allocations, %ld locks\n", allocations, locks);
  tilegym_package_close(calls.package);
  return calls.failed || allocations || locks;
}
#endif
