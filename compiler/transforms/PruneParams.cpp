// SPDX-License-Identifier: MIT
// The parameters that are read keep their order.
#include "compiler/transforms/Passes.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_PRUNEPARAMS
#include "compiler/transforms/Passes.h.inc"

namespace {

struct PruneParams : impl::PruneParamsBase<PruneParams> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    SmallVector<SmallVector<tile::ParamOp, 1>> uses(kernel.getNumParams());
    kernel.walk([&](tile::ParamOp op) { uses[op.getNumber()].push_back(op); });

    SmallVector<Attribute> kept;
    SmallVector<int64_t> newNumber(uses.size(), -1);
    for (size_t number = 0; number < uses.size(); ++number) {
      if (llvm::all_of(uses[number], [](tile::ParamOp op) { return op.use_empty(); })) {
        for (tile::ParamOp op : uses[number])
          op.erase();
        continue;
      }
      newNumber[number] = int64_t(kept.size());
      for (tile::ParamOp op : uses[number])
        op.setNumber(newNumber[number]);
      kept.push_back(kernel.getParam(int64_t(number)));
    }
    SmallVector<int64_t> gridParams(kernel.getGridParams());
    for (int64_t &number : gridParams)
      number = number < 0 ? -1 : newNumber[number];
    kernel.setGridParams(gridParams);
    kernel.setParamsAttr(ArrayAttr::get(&getContext(), kept));
  }
};

} // namespace
} // namespace tilegym::transforms
