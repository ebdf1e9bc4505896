// SPDX-License-Identifier: MIT
// An operand of a matrix product as its threads hold it: in registers already, or read from a slot of shared memory, a step of K at a time.
#pragma once
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include <map>
#include <memory>

namespace tilegym::nvidia {

class Fragments {
public:
  /// Null after an error. `operand` 0 (A, whose K is axis 1) or 1 (B). `step`: elements of K that are loaded together.
  static std::unique_ptr<Fragments> make(ThreadBuilder &t, tile::DotOp dot, int operand,
                                         const layout::Layout &accumulator, int64_t step);
  virtual ~Fragments() = default;

  /// Reads what the step's elements take; to be called once a step, in order.
  virtual void load(int64_t step) = 0;
  /// The 32-bit word whose first element thread 0 has at these coordinates.
  virtual mlir::Value word(int64_t major, int64_t k);
  /// The element itself.
  virtual mlir::Value element(int64_t major, int64_t k) = 0;

protected:
  Fragments(ThreadBuilder &t, tile::DotOp dot, int operand, layout::Layout layout);
  int64_t registerAt(int64_t major, int64_t k) const;
  int64_t stepOf(int64_t reg) const;
  mlir::Value pack(mlir::ValueRange elements);

  ThreadBuilder &t;
  mlir::Value value;
  layout::Layout layout;
  int kAxis;
  mlir::Type elementType;
  std::map<int64_t, mlir::Value> words; ///< by the register of the first element
  int64_t elementBytes, step = 1;
};

} // namespace tilegym::nvidia
