// SPDX-License-Identifier: MIT
// An operand in a slot of shared memory as wgmma reads it: by a descriptor of 64 bits, of which the steps of a product change the low ones.
#pragma once
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"

namespace tilegym::nvidia {

class SlotMatrix {
public:
  /// `groups`: of the product's result; each warpgroup reads its own rows of A (`operand` 0) or columns of B (1). An error of `dot` where no descriptor says
  /// how the slot lies. `slot`: another than the operand's, of the same type.
  static mlir::FailureOr<SlotMatrix> make(ThreadBuilder &t, tile::DotOp dot, int operand,
                                          const layout::Layout &groups, mlir::Value slot = {});

  /// Rows (columns) lie side by side, not elements along K.
  bool isTransposed() const { return transposed; }
  /// The descriptor of an instruction's part that begins at this row (column) and `k`, multiples of 8.
  mlir::Value at(int64_t major, int64_t k) const;

private:
  SlotMatrix(ThreadBuilder &t, layout::Layout shared, int kAxis, int64_t elementBytes)
      : t(t), shared(std::move(shared)), kAxis(kAxis), elementBytes(elementBytes) {}
  int64_t offset(int64_t major, int64_t k) const;

  ThreadBuilder &t;
  layout::Layout shared;
  int kAxis;
  int64_t elementBytes;
  bool transposed = false;
  mlir::Value base; ///< of the group's first element
};

} // namespace tilegym::nvidia
