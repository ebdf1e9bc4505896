// SPDX-License-Identifier: MIT
// The state of one kernel's lowering. Its members are spread over files by family: LowerElementwise.cpp, LowerMemory.cpp and so on.
#pragma once
#include "compiler/lowering/KernelParams.h"
#include "compiler/lowering/ViewValue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include <optional>

namespace tilegym::lowering {

using mlir::Value;
/// A tuple's elements, or one value.
using Values = llvm::SmallVector<Value, 2>;

class Lowerer {
public:
  Lowerer(const sem::OpModel &op, const sem::Kernel &kernel, const tile::FactSet &facts,
          mlir::OpBuilder &builder, DiagnosticSink &sink);

  /// The kernel's statements at the builder's place.
  void lowerBody();
  KernelParams &kernelParams() { return params; }

private:
  // Statements (LowerStatements.cpp, LowerLoops.cpp).
  void lowerBlock(llvm::ArrayRef<sem::StmtPtr> block);
  void lowerStmt(const sem::Stmt &stmt);
  void lowerIf(const sem::Stmt &stmt);
  void lowerFor(const sem::Stmt &stmt);
  void lowerForWithExit(const sem::Stmt &stmt, Value lo, Value trips, Value step);
  void lowerWhile(const sem::Stmt &stmt);
  /// A loop body with its flags for `break` and `continue`.
  void lowerLoopBody(const sem::Stmt &stmt);

  // Jumps are made structured: each kind is a hidden bool variable, set by the statement; what follows runs only while it is false.
  struct Jumps {
    bool breaks = false, continues = false, returns = false;
    bool any() const { return breaks || continues || returns; }
    bool leaves() const { return breaks || returns; }
  };
  static Jumps jumpsOf(llvm::ArrayRef<sem::StmtPtr> block);
  static Jumps jumpsOf(const sem::Stmt &stmt);
  /// Whether one of the jumps has happened; null if none can have.
  Value jumped(const Jumps &jumps);
  void setFlag(int64_t local, bool value) { locals[local] = {boolean(value)}; }

  /// Variables that exist now and that the block assigns, flags of its jumps included: what a region must hand on.
  llvm::SmallVector<int64_t> assigned(llvm::ArrayRef<llvm::ArrayRef<sem::StmtPtr>> blocks,
                                      const Jumps &jumps);
  Values gather(llvm::ArrayRef<int64_t> ids) const;
  void scatter(llvm::ArrayRef<int64_t> ids, mlir::ValueRange values);
  /// Ends a region of scf.if or scf.for.
  void yield(mlir::ValueRange values);

  // Expressions (LowerExpressions.cpp dispatches).
  Value value(const sem::Expr &e);
  Values values(const sem::Expr &e);
  Value operand(const sem::Expr &e, size_t i) { return value(*e.operands[i]); }
  Value leaf(const sem::Expr &e);
  Value constant(const sem::Expr &e);
  /// By family.
  Value elementwise(const sem::Expr &e);
  Value shape(const sem::Expr &e);
  Value reduction(const sem::Expr &e);
  Value product(const sem::Expr &e);
  Value random(const sem::Expr &e);
  Value memory(const sem::Expr &e);
  Values combine(const sem::Expr &e);
  Value inlinePtx(const sem::Expr &e);
  void check(const sem::Expr &e);

  // Elementwise (LowerElementwise.cpp, LowerIntegers.cpp).
  Value unaryFloat(sem::Op op, Value x);
  Value binaryFloat(sem::Op op, Value a, Value b);
  Value floorDivision(bool remainder, Value a, Value b);
  Value unaryInt(sem::Op op, DType dtype, Value x);
  Value binaryInt(sem::Op op, DType dtype, Value a, Value b);
  Value binaryBool(sem::Op op, Value a, Value b);
  Value compare(sem::Op op, DType dtype, Value a, Value b);
  Value divideInt(sem::Op op, DType dtype, Value a, Value b);
  Value shiftInt(sem::Op op, DType dtype, Value a, Value b);
  Value powerInt(DType dtype, Value base, Value exponent);
  Value convertTo(Value x, DType from, DType to, sem::Rounding rounding, bool saturate);
  Value convertInts(Value x, DType from, DType to);
  Value convertFloats(Value x, DType from, DType to, sem::Rounding rounding, bool saturate);

  // Views and memory (LowerViews.cpp, LowerMemory.cpp).
  ViewValue view(const sem::Expr &e);
  ViewValue wholeTensor(const sem::Expr &e);
  void indexView(ViewValue &view, const sem::Expr &e);
  void moveAxis(ViewValue &view, ViewAxis &axis, Value by);
  void clampAxis(ViewValue &view, const ViewAxis &axis);
  Value extentOf(int64_t tensor, int64_t axis, Value element);
  Value listSum(const sem::Expr &e);
  struct Access;
  Access regionOf(const ViewValue &view);
  Value toRegion(const ViewValue &view, Value tile);
  Value fromRegion(const ViewValue &view, Value tile);
  Value load(const sem::Expr &e);
  void store(const sem::Expr &e);
  Value atomic(const sem::Expr &e);
  Value maskOf(const sem::Expr &e, const ViewValue &view);

  /// A small function's values over arguments.
  Values callLambda(const sem::Lambda &lambda, mlir::ValueRange arguments);

  // Building.
  mlir::Location loc() const { return location; }
  mlir::Location locationOf(SourceRange range);
  mlir::Type typeOf(DType dtype) const;
  mlir::Type memoryType(DType dtype) const;
  mlir::Type typeOf(const sem::Type &type) const;
  Value index(int64_t value);
  Value boolean(bool value);
  Value zero(mlir::Type type) { return number(type, 0); }
  /// An integer or float constant, in every element of a tile.
  Value number(mlir::Type type, int64_t value);
  Value floatNumber(mlir::Type type, double value);
  Value toMemory(Value x, DType dtype);
  Value fromMemory(Value x, DType dtype);
  Value broadcastTo(Value x, llvm::ArrayRef<int64_t> shape);
  Value reshapeTo(Value x, llvm::ArrayRef<int64_t> shape);
  mlir::arith::FastMathFlagsAttr fast() const { return fastMath; }
  mlir::arith::FastMathFlagsAttr fastFunction() const { return fastMathFunction; }
  template <class Op, class... Args> Value create(Args &&...args) {
    return Op::create(builder, location, std::forward<Args>(args)...);
  }

  /// Says that no target lowers this yet.
  void unsupported(SourceRange range, llvm::StringRef what);

  const sem::OpModel &op;
  const sem::Kernel &kernel;
  mlir::OpBuilder &builder;
  DiagnosticSink &sink;
  KernelParams params;
  mlir::Location location;
  mlir::arith::FastMathFlagsAttr fastMath, fastMathFunction;
  std::vector<Values> locals;
  std::vector<std::optional<ViewValue>> views; ///< by local: a `let` of a view
  int64_t breakFlag = -1, continueFlag = -1, returnFlag = -1;
};

} // namespace tilegym::lowering
