// SPDX-License-Identifier: MIT
// First fit among the buffers that live: allocations and their ends come in the order of the program, and nest as its blocks do.
#include "compiler/transforms/Passes.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_PLANSHARED
#include "compiler/transforms/Passes.h.inc"

namespace {

/// Where a swizzle's pattern of 8 rows of 128 bytes may start.
constexpr int64_t alignment = 1024;

struct PlanSharedPass : impl::PlanSharedBase<PlanSharedPass> {
  void runOnOperation() override {
    std::map<int64_t, int64_t> live; // start to end
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto alloc = dyn_cast<tile::AllocOp>(op)) {
        int64_t bytes = alloc.getBuffer().getType().getBytes(), start = 0;
        for (auto [from, to] : live) {
          if (from - start >= bytes)
            break;
          start = llvm::alignTo(to, alignment);
        }
        live[start] = start + bytes;
        alloc.setOffset(start);
      } else if (auto dealloc = dyn_cast<tile::DeallocOp>(op)) {
        live.erase(*dealloc.getBuffer().getDefiningOp<tile::AllocOp>().getOffset());
      }
    });
  }
};

} // namespace
} // namespace tilegym::transforms
