// SPDX-License-Identifier: MIT
// What only a checked build runs.
#include "compiler/transforms/Passes.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_STRIPCHECKS
#include "compiler/transforms/Passes.h.inc"

namespace {

struct StripChecks : impl::StripChecksBase<StripChecks> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (isa<tile::AssertOp, tile::AssumeOp, tile::PrintOp>(op))
        op->erase();
    });
  }
};

} // namespace
} // namespace tilegym::transforms
