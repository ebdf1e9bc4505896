// SPDX-License-Identifier: MIT
// The entry points: a reference or a kernel of one specialization, made into a checked tree.
#include "compiler/semantics/BodyChecker.h"
#include <algorithm>

namespace tilegym::sem {

BodyChecker::BodyChecker(const OpModel &op, const Specialization &spec, Kind kind, Body &body)
    : op(op), spec(spec), kind(kind), body(body),
      ops(diagnostics, kind == Kind::Reference ? ShapeMode::Whole : ShapeMode::Kernel),
      written(op.tensors.size(), false) {
  scopes.emplace_back();
  block = &body.block;
}

void BodyChecker::report(DiagnosticSink &to) const {
  const auto &all = diagnostics.all();
  for (size_t i = 0; i < all.size(); ++i) {
    const Diagnostic &d = all[i];
    Diagnostic &copy = d.severity == Severity::Error ? to.error(d.range, d.message, d.help)
                                                     : to.warning(d.range, d.message, d.help);
    copy.notes = d.notes;
    if (auto it = callNotes.find(i); it != callNotes.end())
      for (const auto &[text, range] : it->second)
        copy.notes.push_back({Severity::Note, range, text, {}, {}});
  }
}

/// Where the section lists this value of a setting as a number.
static const ast::Expr *listedValue(const ast::TuneDecl &tune, const NamedInt &param) {
  auto isValue = [&](const ast::Expr *e) {
    const auto *literal = ast::dynCast<ast::IntLiteral>(e);
    return literal && literal->value == uint64_t(param.value);
  };
  auto search = [&](const std::vector<ast::Setting> &settings) -> const ast::Expr * {
    for (const ast::Setting &setting : settings) {
      if (setting.kind == ast::Setting::Where || setting.name.name != param.name)
        continue;
      if (isValue(setting.value.get()))
        return setting.value.get();
      if (const auto *list = ast::dynCast<ast::List>(setting.value.get()))
        for (const ast::ExprPtr &element : list->elements)
          if (isValue(element.get()))
            return element.get();
    }
    return nullptr;
  };
  if (const ast::Expr *found = search(tune.settings))
    return found;
  for (const ast::ArchSettings &arch : tune.archs)
    if (const ast::Expr *found = search(arch.settings))
      return found;
  return nullptr;
}

void BodyChecker::shapeError(SourceRange use, const ShapeFault &fault) {
  const ast::TuneDecl *tune = spec.kernel >= 0 && !launched ? op.kernels[size_t(spec.kernel)].tune : nullptr;
  for (const NamedInt &param : spec.params) {
    const ast::Expr *value = tune && param.value == fault.extent ? listedValue(*tune, param) : nullptr;
    if (!value)
      continue;
    error(value->range,
          quoted(param.name) + " cannot be " + std::to_string(param.value) + ": " + fault.message, fault.help)
        .notes.push_back({Severity::Note, use, "it is an extent here", {}, {}});
    return;
  }
  error(use, fault.message, fault.help);
}

bool BodyChecker::checkOutputsWritten(SourceRange range, const std::string &who) {
  if (diagnostics.hasErrors())
    return false;
  for (size_t id = 0; id < op.tensors.size(); ++id) {
    const TensorParam &tensor = op.tensors[id];
    if (tensor.role == Role::Output && !tensor.fill && !tensor.optional && !written[id])
      error(range, who + " never writes the output " + quoted(tensor.name));
  }
  return !diagnostics.hasErrors();
}

bool BodyChecker::checkReference(const ast::ReferenceDecl &decl) {
  checkBlock(decl.body);
  return checkOutputsWritten(decl.range, "the reference");
}

void BodyChecker::declareTileParams(const ast::KernelDecl &decl) {
  for (const ast::KernelParam &param : decl.params) {
    if (param.type)
      continue;
    auto it = std::find_if(spec.params.begin(), spec.params.end(),
                           [&](const NamedInt &p) { return p.name == param.name.name; });
    if (it == spec.params.end()) {
      error(param.name.range, "the tile parameter " + quoted(param.name.name) + " has no value",
            "list its values in `tune " + decl.name.name + "`");
      declare(param.name, {}, false, "tile parameter");
      continue;
    }
    declare(param.name, Operand{makeConst(DType::Index, Constant{it->value}, param.name.range)}, false,
            "tile parameter");
  }
}

void BodyChecker::declareTypedParams(const ast::KernelDecl &decl) {
  if (op.isLaunch)
    return; // they are names of the op
  std::vector<const ast::KernelParam *> typed;
  for (const ast::KernelParam &param : decl.params)
    if (param.type)
      typed.push_back(&param);
  kernel->params.resize(typed.size());
  writtenParams.resize(typed.size());
  // Scalars first: the dims of tensors may name them, whatever the order.
  for (size_t i = 0; i < typed.size(); ++i) {
    const ast::TensorType &type = *typed[i]->type;
    KernelParam &param = kernel->params[i];
    param.name = typed[i]->name.name;
    param.isTensor = type.hasShape;
    if (auto dtype = dtypeNamed(type.dtype.name))
      param.dtype = *dtype;
    else
      error(type.dtype.range, "unknown dtype " + quoted(type.dtype.name));
    if (type.optional)
      error(type.range, "a kernel's parameter is not optional");
    if (param.isTensor && isIndex(param.dtype))
      error(type.dtype.range, "a tensor cannot hold index", "name an integer of a size: i64");
    if (param.isTensor)
      continue;
    auto expr = make(Op::KernelParam, scalarType(param.dtype), {}, typed[i]->name.range);
    expr->index = int64_t(i);
    declare(typed[i]->name, Operand{expr}, false, "kernel parameter");
  }
  for (size_t i = 0; i < typed.size(); ++i)
    if (kernel->params[i].isTensor)
      declareTensorParam(*typed[i], i);
}

void BodyChecker::declareTensorParam(const ast::KernelParam &param, size_t index) {
  Type view;
  view.kind = Type::View;
  view.dtype = kernel->params[index].dtype;
  const auto &dims = param.type->dims;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const auto *name = ast::dynCast<ast::Name>(dims[axis].expr.get());
    ExprPtr extent;
    if (dims[axis].leading || dims[axis].orOne)
      error(dims[axis].range, "a kernel's parameter has plain dims");
    if (name && !findLocal(name->name) && !findOpName(name->name, name->range)) {
      // A new name is bound by this axis: an index scalar that the launch fills in.
      auto dim = make(Op::KernelParam, scalarType(DType::Index), {}, name->range);
      dim->index = int64_t(kernel->params.size());
      KernelParam hidden;
      hidden.name = name->name;
      hidden.dtype = DType::Index;
      kernel->params.push_back(hidden);
      ++kernel->boundNames;
      boundDims.emplace_back(index, axis);
      declare({name->name, name->range}, Operand{dim}, false, "dim of a kernel parameter");
      extent = dim;
    } else {
      extent = checkHost(dims[axis].expr.get(), "a dim");
    }
    kernel->params[index].dims.push_back(extent);
    view.shape.push_back(extent && extent->op == Op::Const ? extent->constant.asInt() : kDynamic);
  }
  if (view.rank() > kMaxRank)
    error(param.type->range, "a tensor has at most " + std::to_string(kMaxRank) + " axes");
  auto expr = make(Op::Tensor, view, {}, param.name.range);
  expr->index = int64_t(index);
  expr->isKernelParam = true;
  declare(param.name, Operand{expr}, false, "kernel parameter");
}

bool BodyChecker::checkKernel(const ast::KernelDecl &decl, Kernel &result) {
  kernel = &result;
  kernel->name = decl.name.name;
  kernel->spec = spec;
  declareTileParams(decl);
  declareTypedParams(decl);
  if (diagnostics.hasErrors())
    return false;
  checkBlock(decl.body);
  if (!gridSeen && !diagnostics.hasErrors())
    error(decl.name.range, "the kernel " + quoted(decl.name.name) + " has no `grid(...)`",
          "say how many blocks run, first in its body");
  // What a plan launches may write a part of the outputs only.
  if (!kernel->params.empty() || launched)
    return !diagnostics.hasErrors();
  return checkOutputsWritten(decl.name.range, "the kernel " + quoted(decl.name.name));
}

std::shared_ptr<const Reference> instantiateReference(const OpModel &op, const Specialization &spec,
                                                      DiagnosticSink &sink) {
  if (!op.spec || !op.spec->reference)
    return nullptr;
  auto reference = std::make_shared<Reference>();
  reference->spec = spec;
  BodyChecker checker(op, spec, BodyChecker::Kind::Reference, *reference);
  bool good = checker.checkReference(*op.spec->reference);
  checker.report(sink);
  return good ? reference : nullptr;
}

static const ast::KernelDecl *declOf(const OpModel &op, const Specialization &spec, bool isPlan,
                                     DiagnosticSink &sink) {
  if (spec.kernel < 0 || size_t(spec.kernel) >= op.kernels.size() || !op.kernels[size_t(spec.kernel)].decl)
    return nullptr;
  const KernelModel &model = op.kernels[size_t(spec.kernel)];
  if (model.isPlan == isPlan)
    return model.decl;
  sink.error(model.decl->name.range,
             quoted(model.name) + (model.isPlan ? " is a plan, not a kernel" : " is a kernel, not a plan"));
  return nullptr;
}

std::shared_ptr<const Kernel> instantiateKernel(const OpModel &op, const Specialization &spec,
                                                DiagnosticSink &sink) {
  const ast::KernelDecl *decl = declOf(op, spec, false, sink);
  if (!decl)
    return nullptr;
  auto kernel = std::make_shared<Kernel>();
  BodyChecker checker(op, spec, BodyChecker::Kind::Kernel, *kernel);
  checker.setLaunched(op.isLaunch);
  bool good = checker.checkKernel(*decl, *kernel);
  checker.report(sink);
  return good ? kernel : nullptr;
}

std::shared_ptr<const Plan> instantiatePlan(const OpModel &op, const Specialization &spec,
                                            DiagnosticSink &sink) {
  const ast::KernelDecl *decl = declOf(op, spec, true, sink);
  if (!decl)
    return nullptr;
  auto plan = std::make_shared<Plan>();
  BodyChecker checker(op, spec, BodyChecker::Kind::Plan, *plan);
  bool good = checker.checkPlan(*decl, *plan);
  checker.report(sink);
  return good ? plan : nullptr;
}

} // namespace tilegym::sem
