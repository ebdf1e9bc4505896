// SPDX-License-Identifier: MIT
// Plans: host lets, scratch buffers and launches. A launched kernel is instantiated for the tile parameters that the launch gives it.
#include "compiler/semantics/BodyChecker.h"
#include "compiler/semantics/HostExpr.h"
#include <algorithm>

namespace tilegym::sem {

bool BodyChecker::checkPlan(const ast::KernelDecl &decl, Plan &result) {
  plan = &result;
  plan->name = decl.name.name;
  plan->spec = spec;
  declareTileParams(decl);
  for (const ast::KernelParam &param : decl.params)
    if (param.type)
      error(param.range, "a plan's parameters are compile-time integers",
            "typed parameters belong to the kernels that it launches");
  checkBlock(decl.body);
  if (plan->launches.empty() && !diagnostics.hasErrors())
    error(decl.name.range, "the plan " + quoted(decl.name.name) + " launches nothing", "write launch k(...)");
  return checkOutputsWritten(decl.name.range, "the plan " + quoted(decl.name.name));
}

void BodyChecker::checkScratch(const ast::Scratch &stmt) {
  if (kind != Kind::Plan || !inlining.empty()) {
    error(stmt.range, "`scratch` belongs to a plan");
    return;
  }
  ScratchBuffer buffer;
  buffer.name = stmt.name.name;
  bool good = true;
  if (auto dtype = dtypeNamed(stmt.type.dtype.name); dtype && isStorage(*dtype)) {
    buffer.dtype = *dtype;
  } else {
    error(stmt.type.dtype.range, quoted(stmt.type.dtype.name) + " is no dtype of a tensor");
    good = false;
  }
  if (!stmt.type.hasShape || stmt.type.optional) {
    error(stmt.type.range, "a scratch buffer is a tensor", "write scratch p: f32[B, D]");
    good = false;
  }
  for (const ast::DimSpec &dim : stmt.type.dims) {
    if (dim.leading || dim.orOne) {
      error(dim.range, "a scratch buffer has plain dims");
      good = false;
      continue;
    }
    ExprPtr extent = checkHost(dim.expr.get(), "a dim");
    good = good && extent;
    buffer.dims.push_back(extent);
  }
  if (int64_t(buffer.dims.size()) > kMaxRank) {
    error(stmt.type.range, "a tensor has at most " + std::to_string(kMaxRank) + " axes");
    good = false;
  }
  Value value;
  if (good) {
    value.kind = Value::Scratch;
    value.id = int64_t(plan->scratch.size());
    plan->scratch.push_back(std::move(buffer));
    emit(Stmt::Scratch, stmt.range).index = value.id;
  }
  declare(stmt.name, value, false, "scratch buffer");
}

/// The launched kernel's tile parameters: by position or by name, compile-time. Derived ones are not given, as their header says them.
bool BodyChecker::bindTileParams(const ast::Launch &stmt, const ast::KernelDecl &target,
                                 Specialization &targetSpec) {
  const KernelModel &model = op.kernels[size_t(targetSpec.kernel)];
  std::vector<const ast::KernelParam *> tiles;
  for (const ast::KernelParam &param : target.params) {
    if (!param.type && !param.derived)
      tiles.push_back(&param);
    for (const ast::Arg &arg : stmt.args)
      if (param.derived && arg.name == param.name.name) {
        error(arg.nameRange,
              quoted(arg.name) + " is derived in the header of " + quoted(target.name.name) +
                  ", so a launch does not give it",
              "leave it out here, or the `=` there");
        return false;
      }
  }
  std::vector<const ast::Expr *> given(tiles.size());
  size_t position = 0;
  for (const ast::Arg &arg : stmt.args) {
    size_t index = position;
    if (arg.name.empty()) {
      if (++position > tiles.size()) {
        error(arg.value ? arg.value->range : stmt.range,
              quoted(target.name.name) + " takes " + std::to_string(tiles.size()) +
                  " tile parameters by position",
              "typed parameters are given by name, p = p; derived ones are not given");
        return false;
      }
    } else {
      index = size_t(std::find_if(tiles.begin(), tiles.end(),
                                  [&](const ast::KernelParam *p) { return p->name.name == arg.name; }) -
                     tiles.begin());
      if (index == tiles.size())
        continue; // a typed one, bound later
    }
    if (given[index]) {
      error(arg.value ? arg.value->range : stmt.range, quoted(tiles[index]->name.name) + " is given twice");
      return false;
    }
    given[index] = arg.value.get();
  }
  targetSpec.params.clear();
  for (size_t i = 0; i < tiles.size(); ++i) {
    std::optional<int64_t> value;
    if (given[i]) {
      value = checkConstInt(given[i], "the tile parameter " + quoted(tiles[i]->name.name));
      if (!value)
        return false;
    } else {
      error(stmt.range, "the launch of " + quoted(target.name.name) + " lacks the tile parameter " +
                            quoted(tiles[i]->name.name));
      return false;
    }
    targetSpec.params.push_back({tiles[i]->name.name, *value});
  }
  for (size_t i = 0; i < model.tileParams.size(); ++i) {
    if (!model.derived[i])
      continue;
    ExprPtr value = specializeHost(model.derived[i], op, spec);
    if (value->op != Op::Const) {
      error(stmt.range,
            quoted(model.tileParams[i]) + " of " + quoted(model.name) +
                " is derived from what is known only at run time, so a plan cannot launch it",
            "derive it in the plan, plan " + plan->name + "(" + model.tileParams[i] +
                " = ...), and leave the `=` out there");
      return false;
    }
    targetSpec.params.push_back({model.tileParams[i], value->constant.asInt()});
  }
  return true;
}

/// Of `lo : hi`: as long as the axis reaches at most, and empty where hi lies before lo.
ExprPtr BodyChecker::boundedExtent(const IndexItem &item, const ExprPtr &axis) {
  auto isConst = [](const ExprPtr &e) { return !e || e->op == Op::Const; };
  const bool fixed = item.second && isConst(item.first) && isConst(item.second);
  if (!fixed && !axis)
    return nullptr;
  auto combined = [&](Op operation, const ExprPtr &a, const ExprPtr &b) {
    return make(operation, scalarType(DType::Index), {a, b}, item.range);
  };
  ExprPtr hi = !item.second ? axis : fixed ? item.second : ExprPtr(combined(Op::Min, item.second, axis));
  if (!item.first)
    return hi;
  ExprPtr length = ops.binary(ast::BinaryOp::Sub, {hi}, {item.first}, item.range).expr;
  return fixed || !length
             ? length
             : ExprPtr(combined(Op::Max, length, makeConst(DType::Index, Constant{int64_t(0)}, item.range)));
}

/// The extents of a view as host expressions; a null one is not known to the host.
std::vector<ExprPtr> BodyChecker::extentsOf(const ExprPtr &view) {
  std::vector<ExprPtr> extents;
  switch (view->op) {
  case Op::Tensor:
    for (const DimUse &use : op.tensors[size_t(view->index)].dims)
      extents.push_back(use.dim >= 0 ? dimValue(use.dim, view->range).expr
                                     : specializeHost(use.expr, op, spec));
    return extents;
  case Op::Local:
    if (auto it = letValues.find(view->index); it != letValues.end())
      return extentsOf(it->second);
    break;
  case Op::ViewPermute: {
    std::vector<ExprPtr> base = extentsOf(view->operands[0]);
    for (int64_t axis : view->ints)
      extents.push_back(base[size_t(axis)]);
    return extents;
  }
  case Op::ViewIndex: {
    std::vector<ExprPtr> base = extentsOf(view->operands[0]);
    for (size_t axis = 0; axis < view->items.size(); ++axis) {
      const IndexItem &item = view->items[axis];
      if (item.kind == IndexItem::Point)
        continue;
      ExprPtr extent = base[axis];
      if (item.kind == IndexItem::Span)
        extent = makeConst(DType::Index, Constant{item.length}, item.range);
      else if (item.kind == IndexItem::Bounds)
        extent = boundedExtent(item, extent);
      else if (item.kind != IndexItem::Whole)
        extent = nullptr;
      extents.push_back(extent);
    }
    return extents;
  }
  default:
    break;
  }
  return std::vector<ExprPtr>(view->type.shape.size());
}

std::optional<LaunchArg> BodyChecker::launchArgument(const ast::Expr *e, const KernelParam &param,
                                                     bool isWritten, std::vector<ExprPtr> &extents) {
  std::string what = "the parameter " + quoted(param.name);
  LaunchArg result;
  if (!param.isTensor) {
    Block *saved = std::exchange(block, nullptr);
    Operand x = ops.require(checkScalar(e, what), param.dtype, what);
    block = saved;
    std::vector<int64_t> known;
    int64_t budget = 10'000;
    if (!x)
      return std::nullopt;
    if (!isHost(*x.expr, known, budget)) {
      error(e->range, what + " must be known before the launch");
      return std::nullopt;
    }
    result.value = x.expr;
    return result;
  }
  Value value = check(e);
  if (!value)
    return std::nullopt;
  DType dtype;
  if (value.kind == Value::Scratch) {
    const ScratchBuffer &buffer = plan->scratch[size_t(value.id)];
    result.kind = LaunchArg::ScratchRef;
    result.scratch = value.id;
    dtype = buffer.dtype;
    extents = buffer.dims;
  } else if (value.kind == Value::Data && value.data.type().kind == Type::View &&
             value.data.type().tileSizes.empty()) {
    result.kind = LaunchArg::View;
    result.value = value.data.expr;
    dtype = value.data.dtype();
    extents = extentsOf(value.data.expr);
  } else {
    error(e->range, what + " takes a tensor", "give a scratch buffer, or a tensor of the op");
    return std::nullopt;
  }
  if (dtype != param.dtype || extents.size() != param.dims.size()) {
    auto text = [](DType type, size_t rank) {
      return std::string(name(type)) + " of rank " + std::to_string(rank);
    };
    error(e->range,
          what + " takes " + text(param.dtype, param.dims.size()) + ", found " + text(dtype, extents.size()));
    return std::nullopt;
  }
  if (isWritten && result.kind == LaunchArg::View && !checkWritable(value.data, e->range, "the kernel"))
    return std::nullopt;
  return result;
}

/// What the kernel's types say of the extents of the tensors given, as far as it is known now; the interpreter checks the rest.
bool BodyChecker::checkExtents(const ast::Launch &stmt, const Kernel &target,
                               const std::vector<LaunchArg> &args,
                               const std::vector<std::vector<ExprPtr>> &extents) {
  std::map<int64_t, ExprPtr> bound; // dims that an axis of an earlier parameter binds
  for (size_t i = 0; i < args.size(); ++i)
    for (size_t axis = 0; axis < extents[i].size(); ++axis) {
      const ExprPtr &given = extents[i][axis];
      ExprPtr want = target.params[i].dims[axis];
      if (want->op == Op::KernelParam)
        want = size_t(want->index) < args.size() ? args[size_t(want->index)].value
                                                 : bound.try_emplace(want->index, given).first->second;
      if (!given || !want || given->op != Op::Const || want->op != Op::Const ||
          given->constant == want->constant)
        continue;
      SourceRange at = stmt.range;
      for (const ast::Arg &arg : stmt.args)
        if (arg.name == target.params[i].name && arg.value)
          at = arg.value->range;
      error(at, "the parameter " + quoted(target.params[i].name) + " takes an extent of " +
                    toString(want->constant) + " along axis " + std::to_string(axis) + ", found " +
                    toString(given->constant));
      return false;
    }
  return true;
}

void BodyChecker::checkLaunch(const ast::Launch &stmt) {
  if (kind != Kind::Plan || !inlining.empty()) {
    error(stmt.range, "`launch` belongs to a plan");
    return;
  }
  auto it = std::find_if(op.kernels.begin(), op.kernels.end(),
                         [&](const KernelModel &k) { return k.name == stmt.kernel.name; });
  if (it == op.kernels.end() || !it->decl || it->isPlan) {
    std::vector<std::string> names;
    for (const KernelModel &model : op.kernels)
      if (!model.isPlan)
        names.push_back(model.name);
    std::string near = nearest(stmt.kernel.name, names);
    error(stmt.kernel.range,
          it != op.kernels.end() && it->isPlan
              ? quoted(stmt.kernel.name) + " is a plan, which is not launched"
              : "unknown kernel " + quoted(stmt.kernel.name),
          near.empty() ? "" : "did you mean " + quoted(near) + "?");
    return;
  }
  Specialization target = spec;
  target.kernel = it - op.kernels.begin();
  if (!bindTileParams(stmt, *it->decl, target))
    return;
  auto child = std::make_shared<Kernel>();
  BodyChecker checker(op, target, Kind::Kernel, *child);
  checker.setLaunched(true);
  bool good = checker.checkKernel(*it->decl, *child);
  size_t before = diagnostics.all().size();
  checker.report(diagnostics);
  for (size_t i = before; i < diagnostics.all().size(); ++i)
    callNotes[i].emplace_back("in this launch of " + quoted(it->name), stmt.range);
  if (!good)
    return;
  for (size_t id = 0; id < written.size(); ++id)
    written[id] = written[id] || checker.written[id];
  Launch launch;
  launch.kernel = child;
  size_t typed = checker.writtenParams.size();
  std::vector<std::vector<ExprPtr>> extents(typed);
  for (size_t i = 0; i < typed; ++i) {
    const KernelParam &param = child->params[i];
    auto arg = std::find_if(stmt.args.begin(), stmt.args.end(),
                            [&](const ast::Arg &a) { return a.name == param.name; });
    if (arg == stmt.args.end()) {
      error(stmt.range, "the launch of " + quoted(it->name) + " lacks " + quoted(param.name),
            "give it by name: " + param.name + " = ...");
      return;
    }
    auto value = launchArgument(arg->value.get(), param, checker.writtenParams[i], extents[i]);
    if (!value)
      return;
    value->isWritten = checker.writtenParams[i];
    launch.args.push_back(*value);
  }
  if (!checkExtents(stmt, *child, launch.args, extents))
    return;
  for (const ast::Arg &arg : stmt.args) {
    bool known = arg.name.empty() || std::any_of(it->decl->params.begin(), it->decl->params.end(),
                                                 [&](const auto &p) { return p.name.name == arg.name; });
    if (!known) {
      error(arg.nameRange, quoted(it->name) + " has no parameter " + quoted(arg.name));
      return;
    }
  }
  for (auto [param, axis] : checker.boundDims) {
    LaunchArg hidden;
    hidden.value = extents[param][axis];
    if (!hidden.value) {
      error(stmt.range, "the extent of axis " + std::to_string(axis) + " of " +
                            quoted(child->params[param].name) + " is not known to the host");
      return;
    }
    launch.args.push_back(hidden);
  }
  emit(Stmt::Launch, stmt.range).index = int64_t(plan->launches.size());
  plan->launches.push_back(std::move(launch));
}

} // namespace tilegym::sem
