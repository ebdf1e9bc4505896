// SPDX-License-Identifier: MIT
// The parameters a kernel may have, with the facts that its fact set promises of each, and the values that hold them.
#pragma once
#include "compiler/ir/FactSet.h"
#include "compiler/ir/KernelABI.h"
#include "compiler/ir/Tile.h"
#include "compiler/semantics/OpModel.h"
#include "mlir/IR/Builders.h"
#include <map>
#include <tuple>

namespace tilegym::lowering {

/// The type of a dtype where memory and parameters hold it: a bool is a byte.
mlir::Type memoryType(mlir::MLIRContext *context, DType dtype);

class KernelParams {
public:
  KernelParams(const sem::OpModel &op, const sem::Kernel &kernel, const tile::FactSet &facts);

  /// What each tensor must promise, by tensor id.
  const std::vector<tile::TensorFacts> &tensorFacts() const { return tensors; }
  bool isFast() const { return facts.kind != tile::FactKind::General; }
  bool isGroup(int64_t tensor, int64_t axis) const;

  /// The parameter's value: a tile.param at the kernel's start, made on first use. The builder stands in the kernel. Of what each tensor of a list has for itself
  /// that of tensor number `element`, made where the builder stands.
  mlir::Value get(mlir::OpBuilder &builder, tile::ParamKind kind, int64_t id, int64_t axis = 0,
                  mlir::Value element = {});
  /// The number of a parameter that exists already, or -1.
  int64_t find(tile::ParamKind kind, int64_t id, int64_t axis = 0) const;
  /// Parameters so far, in order.
  llvm::ArrayRef<mlir::Attribute> list() const { return attributes; }

private:
  tile::ParamAttr describe(mlir::MLIRContext *context, tile::ParamKind kind, int64_t id, int64_t axis) const;
  bool isOfList(tile::ParamKind kind, int64_t id) const;
  int64_t numberOf(mlir::MLIRContext *context, tile::ParamKind kind, int64_t id, int64_t axis);
  DType elementOf(int64_t tensor) const;

  const sem::OpModel &op;
  const sem::Specialization &spec;
  tile::FactSet facts;
  std::vector<tile::TensorFacts> tensors;
  std::vector<int64_t> extentDivisors; ///< by dim
  std::map<std::tuple<tile::ParamKind, int64_t, int64_t>, int64_t> numbers;
  llvm::SmallVector<mlir::Attribute> attributes;
  mlir::Value last;                      ///< of those at the kernel's start
  std::map<int64_t, mlir::Value> values; ///< of those, by number
};

} // namespace tilegym::lowering
