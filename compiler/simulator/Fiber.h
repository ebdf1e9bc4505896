// SPDX-License-Identifier: MIT
// Fibers on pooled, guarded stacks. They can be abandoned: nothing on their stacks is unwound, which compiled code could not bear.
#pragma once
#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <vector>

namespace tilegym::sim {

/// Something with a stack of its own that is entered with resume() and comes back with leave(). The stack is its pool's.
class Fiber {
public:
  using Entry = void (*)(Fiber &fiber); ///< ends with leave(true), never by returning

  /// Takes the stack; the entry runs at the first resume.
  void start(char *stack, size_t bytes, Entry entry, void *owner);
  /// From the root: runs the fiber until it leaves.
  void resume();
  /// From the fiber: back to the root. `last`: it will not be resumed.
  void leave(bool last = false);
  void *owner() const { return whose; }
  char *stack() const { return bottom; }

private:
  static void enter(boost::context::detail::transfer_t from);
  boost::context::detail::fcontext_t context = nullptr, root = nullptr;
  Entry entry = nullptr;
  void *whose = nullptr;
  char *bottom = nullptr;
  size_t size = 0;
  // For AddressSanitizer, which is told of each switch.
  [[maybe_unused]] void *fakeStack = nullptr, *rootFakeStack = nullptr;
  [[maybe_unused]] const void *rootBottom = nullptr;
  [[maybe_unused]] size_t rootSize = 0;
};

/// Stacks of one size, each above a guard page. Taken again last in first out, as those are warm.
class StackPool {
public:
  explicit StackPool(size_t bytes);
  ~StackPool();
  StackPool(const StackPool &) = delete;
  char *take(); ///< the lowest usable address
  void give(char *stack) { spare.push_back(stack); }
  size_t bytes() const { return size; }

private:
  size_t size;
  std::vector<char *> spare, slabs;
};

} // namespace tilegym::sim
