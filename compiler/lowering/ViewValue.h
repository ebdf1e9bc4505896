// SPDX-License-Identifier: MIT
// A view while it is lowered: views make no IR, they compose here until a load or store turns one into a region.
#pragma once
#include "mlir/IR/Value.h"
#include <vector>

namespace tilegym::lowering {

/// An axis of the tensor itself.
struct TensorAxis {
  mlir::Value lower, upper; ///< bounds in the tensor's own positions; a null lower is 0
  mlir::Value point,
      gather; ///< where it has been indexed away; `gather` may be shared in shape by several axes
};

/// An axis that the view still has.
struct ViewAxis {
  enum Kind { Range, GatherAxis, NewAxis } kind = Range;
  int64_t source = 0;  ///< Range: axis of the tensor. GatherAxis: axis of the index tiles
  mlir::Value start;   ///< Range: the tensor's position of the view's 0; null is 0
  int64_t extent = -1; ///< static, or -1
  int64_t tile = 0;    ///< size of what one index takes, or 0
  bool window = false; ///< narrower than its bounds: indexing again must respect `extent`
};

struct ViewValue {
  int64_t tensor = 0;
  mlir::Value element; ///< of a list: which of its tensors
  std::vector<TensorAxis> tensorAxes;
  std::vector<ViewAxis> axes;
};

} // namespace tilegym::lowering
