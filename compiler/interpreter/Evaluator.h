// SPDX-License-Identifier: MIT
// The tree walker: one Evaluator runs one body once (a block of a kernel, a plan, a reference, a host expression). Its members are
// spread over files by family of operation, Eval*.cpp.
#pragma once
#include "compiler/interpreter/Memory.h"
#include <deque>

namespace tilegym::interp {

/// What a run shares between its blocks: the call's values and the tensors' memory.
struct RunContext {
  const sem::OpModel &op;
  const sem::Specialization &spec;
  DimValues dims;
  std::vector<sem::Constant> scalars;
  std::vector<std::vector<HostTensor>> hostTensors;
  std::vector<std::vector<View>> views; ///< by tensor id: whole tensors, leading group merged
  std::deque<Memory> memories;          ///< what the views point into
  RunOptions options;
};

/// What a launch adds: the grid and the typed parameters.
struct LaunchContext {
  std::string kernel;
  std::vector<int64_t> grid;
  std::vector<Slot> params;
};

enum class Flow : uint8_t { Next, Break, Continue, Return };

/// Runs a plan's `scratch` and `launch` statements.
class PlanActions {
public:
  virtual ~PlanActions() = default;
  virtual void scratch(const sem::Stmt &stmt, class Evaluator &evaluator) = 0;
  virtual void launch(const sem::Stmt &stmt, class Evaluator &evaluator) = 0;
};

class Evaluator {
public:
  Evaluator(const RunContext &context, const LaunchContext *launch, size_t numLocals)
      : context(context), launch(launch), locals(numLocals) {}

  Flow run(const sem::Block &block);
  Slot eval(const sem::Expr &e);
  Value value(const sem::Expr &e);
  View view(const sem::Expr &e);
  Value value(const sem::ExprPtr &e) { return value(*e); }

  const RunContext &context;
  const LaunchContext *launch; ///< null outside of kernels
  std::vector<Slot> locals;
  std::vector<int64_t> block;
  int32_t blockNumber = 0;
  PlanActions *plan = nullptr;

private:
  // Statements (EvalStmt.cpp)
  Flow runStmt(const sem::Stmt &stmt);
  Flow runFor(const sem::Stmt &stmt);
  Flow runWhile(const sem::Stmt &stmt);
  void writeWhole(const sem::Stmt &stmt);
  void writeView(const sem::Stmt &stmt);
  // Leaves and the switch over families (Evaluator.cpp)
  Value leaf(const sem::Expr &e);
  Value constant(const sem::Constant &constant, DType dtype, SourceRange range);
  View tensorView(const sem::Expr &e);
  Value listSum(const sem::Expr &e);
  const Tuple &tuple(const Slot &slot, SourceRange range);
  Access access(const sem::Expr &e) const { return {blockNumber, e.range}; }
  // EvalElementwise.cpp
  Value unaryOp(const sem::Expr &e);
  Value binaryOp(const sem::Expr &e);
  Value compareOp(const sem::Expr &e);
  Value fmaOp(const sem::Expr &e);
  Value selectOp(const sem::Expr &e);
  Value operand(const sem::ExprPtr &e, Shape &shape);
  // EvalConvert.cpp
  Value convertOp(const sem::Expr &e);
  Value bitcastOp(const sem::Expr &e);
  // EvalShape.cpp
  Shape shapeOf(const sem::Expr &e, size_t firstExtent, int64_t elements);
  Value iota(const sem::Expr &e);
  Value shapeOp(const sem::Expr &e);
  Value valueIndex(const sem::Expr &e);
  std::vector<Indexer> indexers(const std::vector<sem::IndexItem> &items);
  // EvalReduce.cpp, EvalCombine.cpp, EvalSort.cpp
  Value reduceOp(const sem::Expr &e);
  Value argReduce(const sem::Expr &e);
  Slot combineReduce(const sem::Expr &e);
  Slot combineScan(const sem::Expr &e);
  Value cumSum(const sem::Expr &e);
  std::vector<Value> applyLambda(const sem::Lambda &lambda, const std::vector<Value> &arguments,
                                 const Shape &shape);
  std::vector<Value> callLambda(const sem::Lambda &lambda, const std::vector<Value> &arguments);
  Value inlinePtx(const sem::Expr &e);
  Value sortOp(const sem::Expr &e);
  Slot topK(const sem::Expr &e);
  Value histogram(const sem::Expr &e);
  // EvalMatmul.cpp, EvalRandom.cpp
  Value mma(const sem::Expr &e);
  Value mmaScaled(const sem::Expr &e);
  Value matMul(const sem::Expr &e);
  Value random(const sem::Expr &e);
  // EvalMemory.cpp
  Value load(const sem::Expr &e);
  void store(const sem::Expr &e);
  Value atomic(const sem::Expr &e);
  void check(const sem::Expr &e);
  void print(const sem::Expr &e);
};

/// Index arithmetic and index scalars of an expression.
int64_t indexValue(Evaluator &evaluator, const sem::ExprPtr &e);

} // namespace tilegym::interp
