// SPDX-License-Identifier: MIT
// All products of a kernel or none: those that share an accumulator must agree on where its elements are.
#include "compiler/ir/ProductLayouts.h"
#include "compiler/transforms/Passes.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_USEWARPGROUPS
#include "compiler/transforms/Passes.h.inc"

namespace {

struct UseWarpgroupsPass : impl::UseWarpgroupsBase<UseWarpgroupsPass> {
  void runOnOperation() override {
    SmallVector<tile::DotOp> dots;
    getOperation().walk([&](tile::DotOp dot) {
      if (dot.usesTensorCores())
        dots.push_back(dot);
    });
    if (!llvm::all_of(dots, [](tile::DotOp dot) { return tile::warpgroupShape(dot).has_value(); }))
      return;
    for (tile::DotOp dot : dots)
      dot.setWarpgroups(true);
  }
};

} // namespace
} // namespace tilegym::transforms
