// SPDX-License-Identifier: MIT
// One parameter an axis, however many passes ask for it.
#include "compiler/transforms/GridExtent.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilegym::transforms {

Value gridExtent(tile::KernelOp kernel, OpBuilder &builder, int64_t axis) {
  SmallVector<Attribute> params(kernel.getParams().begin(), kernel.getParams().end());
  constexpr int64_t maxBlocks = (int64_t(1) << 31) - 1;
  auto param = tile::ParamAttr::get(builder.getContext(), tile::ParamKind::Grid, axis, 0,
                                    builder.getStringAttr("grid" + std::to_string(axis)),
                                    builder.getI64Type(), 1, maxBlocks, false, /*list=*/0);
  auto found = llvm::find(params, param);
  int64_t number = found - params.begin();
  if (found == params.end()) {
    params.push_back(param);
    kernel.setParamsAttr(builder.getArrayAttr(params));
  }
  return tile::ParamOp::create(builder, kernel.getLoc(), param.getType(), number);
}

bool isGridLoop(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  Operation *step = loop ? loop.getStep().getDefiningOp() : nullptr;
  while (isa_and_present<arith::TruncIOp, arith::ExtUIOp, arith::ExtSIOp, arith::MulIOp>(step))
    step = step->getOperand(0).getDefiningOp();
  return isa_and_present<tile::LaunchSizeOp>(step);
}

} // namespace tilegym::transforms
