// SPDX-License-Identifier: MIT
// Switching between stacks, with Boost.Context's own jump.
#include "compiler/simulator/Fiber.h"
#include <cstdint>
#include <new>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define TILEGYM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TILEGYM_ASAN 1
#endif
#endif
#ifdef TILEGYM_ASAN
extern "C" {
void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *saved, const void **bottom, size_t *size);
void __asan_unpoison_memory_region(const volatile void *address, size_t size);
}
#endif

namespace tilegym::sim {

namespace {

constexpr size_t guard = 4096, stacksPerSlab = 64;

} // namespace

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

void Fiber::start(char *stack, size_t bytes, Entry startAt, void *owner) {
#ifdef TILEGYM_ASAN
  __asan_unpoison_memory_region(stack, bytes); // whoever was abandoned on it left its marks
#endif
  *this = {};
  bottom = stack;
  size = bytes;
  entry = startAt;
  whose = owner;
  // Stacks lie whole pages apart, so that without this all tops would share a few sets of the cache.
  size_t offset = reinterpret_cast<uintptr_t>(stack) / guard * 832 % 8192;
  context = make_fcontext(stack + bytes - offset, bytes - offset, enter);
}

void Fiber::enter(transfer_t from) {
  auto &fiber = *static_cast<Fiber *>(from.data);
  fiber.root = from.fctx;
#ifdef TILEGYM_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &fiber.rootBottom, &fiber.rootSize);
#endif
  fiber.entry(fiber);
}

void Fiber::resume() {
#ifdef TILEGYM_ASAN
  __sanitizer_start_switch_fiber(&rootFakeStack, bottom, size);
#endif
  context = jump_fcontext(context, this).fctx;
#ifdef TILEGYM_ASAN
  __sanitizer_finish_switch_fiber(rootFakeStack, nullptr, nullptr);
#endif
}

void Fiber::leave([[maybe_unused]] bool last) {
#ifdef TILEGYM_ASAN
  __sanitizer_start_switch_fiber(last ? nullptr : &fakeStack, rootBottom, rootSize);
#endif
  root = jump_fcontext(root, nullptr).fctx;
#ifdef TILEGYM_ASAN
  __sanitizer_finish_switch_fiber(fakeStack, &rootBottom, &rootSize);
#endif
}

StackPool::StackPool(size_t bytes) : size((bytes + guard - 1) / guard * guard) {}

StackPool::~StackPool() {
  for (char *slab : slabs)
    munmap(slab, (size + guard) * stacksPerSlab);
}

char *StackPool::take() {
  if (spare.empty()) {
    void *slab = mmap(nullptr, (size + guard) * stacksPerSlab, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slab == MAP_FAILED)
      throw std::bad_alloc();
    slabs.push_back(static_cast<char *>(slab));
    for (size_t i = stacksPerSlab; i-- > 0;) {
      char *at = slabs.back() + i * (size + guard);
      mprotect(at, guard, PROT_NONE); // a stack grows down into it
      spare.push_back(at + guard);
    }
  }
  char *stack = spare.back();
  spare.pop_back();
  return stack;
}

} // namespace tilegym::sim
