// SPDX-License-Identifier: MIT
// Ranges of integers in a kernel, for the passes that prove something from them.
#pragma once
#include "mlir/IR/Operation.h"
#include <memory>
#include <optional>

namespace mlir {
class DataFlowSolver;
}

namespace tilegym::transforms {

class IndexRanges {
public:
  explicit IndexRanges(mlir::Operation *root);
  ~IndexRanges();
  /// False if the analysis failed: then nothing is known.
  bool isValid() const { return valid; }
  /// Least and greatest value, signed; of all elements of a tile. Nothing for a value made after the analysis.
  struct Range {
    int64_t low, high;
  };
  std::optional<Range> of(mlir::Value value) const;

private:
  std::unique_ptr<mlir::DataFlowSolver> solver;
  bool valid;
};

} // namespace tilegym::transforms
