// SPDX-License-Identifier: MIT
// A small builder of checked trees: expressions over given values, and ops with one kernel, for tests that need no spec text.
#pragma once
#include "compiler/interpreter/Evaluator.h"
#include "compiler/interpreter/NumericsConvert.h"
#include <functional>
#include <limits>

namespace tilegym::interp::test {

inline const double Inf = std::numeric_limits<double>::infinity();
inline const double NaN = std::numeric_limits<double>::quiet_NaN();

inline Value tile(DType dtype, const Shape &shape, const std::vector<double> &elements) {
  Value value(dtype, shape);
  convert(DType::F64, {elements.data(), 1}, dtype, value.data(), elements.size());
  return value;
}
inline Value ints(DType dtype, const Shape &shape, const std::vector<int64_t> &elements) {
  Value value(dtype, shape);
  convert(DType::I64, {elements.data(), 1}, dtype, value.data(), elements.size());
  return value;
}
inline Value scalar(DType dtype, double element) { return tile(dtype, Shape{}, {element}); }

inline std::vector<double> doubles(const Value &value) {
  std::vector<double> result;
  for (int64_t i = 0; i < value.count(); ++i)
    result.push_back(toDouble(value.dtype, value.data() + i * int64_t(value.elementSize())));
  return result;
}
inline std::vector<int64_t> integers(const Value &value) {
  std::vector<int64_t> result;
  for (int64_t i = 0; i < value.count(); ++i)
    result.push_back(value.intAt(i));
  return result;
}
inline std::vector<int64_t> extents(const Shape &shape) { return {shape.begin(), shape.end()}; }

// ---------------------------------------------------------------- nodes

using Edit = std::function<void(sem::Expr &)>;

inline sem::Type tileType(DType dtype, std::vector<int64_t> shape = {}) {
  sem::Type type;
  type.kind = sem::Type::Tile;
  type.dtype = dtype;
  type.shape = std::move(shape);
  return type;
}
inline sem::ExprPtr node(sem::Op op, sem::Type type, std::vector<sem::ExprPtr> operands = {},
                         const Edit &edit = {}) {
  auto e = std::make_shared<sem::Expr>();
  e->op = op;
  e->type = std::move(type);
  e->operands = std::move(operands);
  if (edit)
    edit(*e);
  return e;
}
inline sem::ExprPtr index(int64_t value) {
  return node(sem::Op::Const, tileType(DType::Index), {}, [&](sem::Expr &e) { e.constant.value = value; });
}
inline sem::ExprPtr constant(DType dtype, double value) {
  return node(sem::Op::Const, tileType(dtype), {}, [&](sem::Expr &e) { e.constant.value = value; });
}
inline sem::ExprPtr local(int64_t id, sem::Type type = tileType(DType::F32)) {
  return node(sem::Op::Local, std::move(type), {}, [&](sem::Expr &e) { e.index = id; });
}
inline sem::ExprPtr add(sem::ExprPtr a, sem::ExprPtr b) {
  sem::Type type = a->type;
  return node(sem::Op::Add, type, {a, b});
}
inline sem::IndexItem item(sem::IndexItem::Kind kind, sem::ExprPtr first = nullptr, int64_t length = 0,
                           sem::ExprPtr second = nullptr) {
  sem::IndexItem result;
  result.kind = kind;
  result.first = std::move(first);
  result.second = std::move(second);
  result.length = length;
  return result;
}
inline sem::IndexItem point(sem::ExprPtr at) { return item(sem::IndexItem::Point, std::move(at)); }
inline sem::IndexItem span(sem::ExprPtr start, int64_t length) {
  return item(sem::IndexItem::Span, std::move(start), length);
}
inline sem::IndexItem gather(sem::ExprPtr at) { return item(sem::IndexItem::Gather, std::move(at)); }
inline sem::IndexItem bounds(sem::ExprPtr low, sem::ExprPtr high) {
  return item(sem::IndexItem::Bounds, low, 0, high);
}

// ---------------------------------------------------------------- evaluation of one expression

/// Evaluates with locals 0, 1, ... preset; throws RunFault.
inline Slot evaluate(const sem::ExprPtr &e, std::vector<Slot> locals, size_t numLocals = 16) {
  static const sem::OpModel op;
  static const sem::Specialization spec;
  RunContext context{op, spec, {}, {}, {}, {}, {}, {}};
  Evaluator evaluator(context, nullptr, numLocals);
  for (size_t i = 0; i < locals.size(); ++i)
    evaluator.locals[i] = locals[i];
  return evaluator.eval(*e);
}
/// One operation on values. The result has the shape of type only where the operation asks it.
inline Slot applySlot(sem::Op op, const std::vector<Value> &values, sem::Type type, const Edit &edit = {}) {
  std::vector<Slot> locals(values.begin(), values.end());
  std::vector<sem::ExprPtr> operands;
  for (size_t i = 0; i < values.size(); ++i)
    operands.push_back(
        local(int64_t(i), tileType(values[i].dtype, {values[i].shape.begin(), values[i].shape.end()})));
  return evaluate(node(op, std::move(type), operands, edit), locals);
}
inline Value apply(sem::Op op, const std::vector<Value> &values, sem::Type type, const Edit &edit = {}) {
  return std::get<Value>(applySlot(op, values, std::move(type), edit));
}
inline Value apply(sem::Op op, const std::vector<Value> &values, const Edit &edit = {}) {
  return apply(op, values, tileType(values.at(0).dtype, extents(values[0].shape)), edit);
}
/// The fault that evaluating gives; its message is empty if there was none.
inline Fault faultOf(const std::function<void()> &run) {
  try {
    run();
  } catch (RunFault &thrown) {
    return thrown.fault;
  }
  return {};
}

// ---------------------------------------------------------------- ops with a kernel

/// An op of tensors whose dims are all named, and one kernel.
struct OpBuilder {
  sem::OpModel op;
  sem::Kernel kernel;
  Arguments args;

  int64_t dim(const std::string &name) {
    if (int64_t found = find(op.dims, name); found >= 0)
      return found;
    op.dims.emplace_back().name = name;
    return int64_t(op.dims.size()) - 1;
  }
  /// Dims by name; a leading `*` makes a group, a trailing `|1` may broadcast.
  int64_t tensor(const std::string &name, sem::Role role, DType dtype, const std::vector<std::string> &dims) {
    sem::TensorParam param;
    param.name = name;
    param.role = role;
    param.typeVar = int64_t(op.typeVars.size());
    op.typeVars.push_back({"", {dtype}, false});
    for (std::string text : dims) {
      sem::DimUse use;
      use.isGroup = text[0] == '*';
      use.orOne = text.size() > 2 && text.ends_with("|1");
      if (use.isGroup)
        text.erase(0, 1);
      if (use.orOne)
        text.erase(text.size() - 2);
      use.dim = dim(text);
      param.dims.push_back(use);
    }
    op.tensors.push_back(param);
    args.tensors.emplace_back();
    kernel.spec.dtypes.push_back(dtype);
    kernel.spec.present.push_back(true);
    return int64_t(op.tensors.size()) - 1;
  }
  int64_t input(const std::string &name, const HostTensor &given, const std::vector<std::string> &dims) {
    int64_t id = tensor(name, sem::Role::Input, given.dtype, dims);
    args.tensors[size_t(id)] = {given};
    return id;
  }
  sem::ExprPtr dimOf(const std::string &name) {
    return node(sem::Op::Dim, tileType(DType::Index), {}, [&](sem::Expr &e) { e.index = dim(name); });
  }
  sem::ExprPtr whole(int64_t id) const {
    sem::Type type = tileType(op.typeVars[size_t(op.tensors[size_t(id)].typeVar)].choices[0]);
    type.kind = sem::Type::View;
    return node(sem::Op::Tensor, type, {}, [&](sem::Expr &e) { e.index = id; });
  }
  static sem::ExprPtr at(const sem::ExprPtr &view, std::vector<sem::IndexItem> items) {
    return node(sem::Op::ViewIndex, view->type, {view}, [&](sem::Expr &e) { e.items = items; });
  }
  static sem::ExprPtr tiles(const sem::ExprPtr &view, std::vector<int64_t> sizes) {
    return node(sem::Op::ViewTile, view->type, {view}, [&](sem::Expr &e) { e.ints = sizes; });
  }
  static sem::ExprPtr load(const sem::ExprPtr &view, double pad = 0, sem::ExprPtr mask = nullptr) {
    std::vector<sem::ExprPtr> operands{view, constant(view->type.dtype, pad)};
    if (mask)
      operands.push_back(mask);
    return node(sem::Op::Load, tileType(view->type.dtype), operands,
                [&](sem::Expr &e) { e.hasMask = mask != nullptr; });
  }
  static sem::ExprPtr block(int64_t axis = 0) {
    return node(sem::Op::BlockId, tileType(DType::Index), {}, [&](sem::Expr &e) { e.index = axis; });
  }
  int64_t addLocal(DType dtype = DType::Index) {
    kernel.locals.push_back({"v", tileType(dtype), false, {}});
    return int64_t(kernel.locals.size()) - 1;
  }
  static sem::StmtPtr stmt(sem::Stmt::Kind kind, sem::ExprPtr value = nullptr, int64_t index = -1) {
    auto made = std::make_shared<sem::Stmt>();
    made->kind = kind;
    made->value = std::move(value);
    made->index = index;
    return made;
  }
  void effect(sem::ExprPtr value) { kernel.block.push_back(stmt(sem::Stmt::Eval, std::move(value))); }
  void store(sem::ExprPtr view, sem::ExprPtr value, sem::ExprPtr mask = nullptr) {
    std::vector<sem::ExprPtr> operands{view, value};
    if (mask)
      operands.push_back(mask);
    effect(node(sem::Op::Store, {}, operands, [&](sem::Expr &e) { e.hasMask = mask != nullptr; }));
  }
  RunResult run(const RunOptions &options = {}) {
    kernel.name = "k";
    if (kernel.grid.empty())
      kernel.grid = {index(1)};
    return runKernel(op, kernel, args, options);
  }

private:
  static int64_t find(const std::vector<sem::DimVar> &dims, const std::string &name) {
    for (size_t i = 0; i < dims.size(); ++i)
      if (dims[i].name == name)
        return int64_t(i);
    return -1;
  }
};

} // namespace tilegym::interp::test
