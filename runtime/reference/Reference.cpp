// SPDX-License-Identifier: MIT
// The interpreter as a backend: a package's specs, parsed again from their text, and calls of their references on the caller's memory.
#include "tilegym/reference.h"
#include "compiler/interpreter/Interpreter.h"
#include "compiler/syntax/Parser.h"
#include "runtime/src/Backend.h"
#include <string>

namespace tilegym::runtime {
namespace {

/// The runtime's own, and its thread's text with it, may lie in a shared library that exports C functions alone.
TilegymStatus refuse(TilegymStatus status, const std::string &text) {
  tilegym_set_error(text.c_str());
  return status;
}

TilegymStatus prepareOp(const Table &table, const format::Op &op, std::shared_ptr<const void> *state) {
  std::span<const format::Source> sources = table.get<format::Source>(op.sources);
  std::string name(table.text(op.name));
  if (sources.empty())
    return refuse(TILEGYM_UNAVAILABLE,
                  name + ": the package holds no spec text, which the reference backend runs; "
                         "make it again with tilegymc compile");
  auto fileOf = [&](const format::Source &s) {
    return std::make_shared<const SourceFile>(std::string(table.text(s.name)),
                                              std::string(table.text(s.text)));
  };
  sem::SearchPath path;
  for (const format::Source &library : sources.subspan(1))
    path.libraries.emplace_back(table.text(library.name), fileOf(library));
  DiagnosticSink sink;
  auto spec = std::make_shared<const ast::Spec>(parseSpec(fileOf(sources[0]), sink));
  std::shared_ptr<const sem::OpModel> model = sink.hasErrors() ? nullptr : sem::analyze(spec, path, sink);
  if (!model || model->tensors.size() != op.tensors.count || model->scalars.size() != op.scalars.count ||
      model->typeVars.size() != op.typeVars.count)
    return refuse(TILEGYM_BAD_PACKAGE,
                  name + ": its spec in the package does not fit this runtime: " +
                      (sink.all().empty() ? "another interface" : render(sink.all().front())));
  *state = model;
  return TILEGYM_OK;
}

/// The caller's memory as it is: its strides, its bytes.
interp::HostTensor tensorOf(const BoundTensor &b) {
  interp::HostTensor tensor;
  tensor.dtype = tilegym::DType(b.given->dtype);
  tensor.shape.assign(b.shape, b.shape + b.rank);
  tensor.strides.assign(b.strides, b.strides + b.rank);
  tensor.buffer = b.elements ? interp::HostBuffer::borrow(static_cast<char *>(b.given->data) + b.lowest,
                                                          size_t(b.highest - b.lowest))
                             : interp::HostBuffer::allocate(0);
  tensor.offset = b.elements ? -b.lowest / b.elementBytes : 0;
  return tensor;
}

sem::Constant constantOf(const Call &call, const sem::OpModel &model, size_t id) {
  const sem::ScalarParam &s = model.scalars[id];
  Cell value = call.scalarValues[id];
  tilegym::DType dtype = tilegym::DType(call.dtypes[s.typeVar]);
  sem::Constant constant;
  if (s.isConst) { // compares by value with the spec's own
    for (const sem::Constant &choice : s.choices)
      if (choice.asInt() == value.i)
        return choice;
    constant.value = value.i;
  } else if (isFloat(dtype)) {
    constant.value = value.f;
  } else if (isBool(dtype)) {
    constant.value = value.i != 0;
  } else {
    constant.value = value.i;
  }
  return constant;
}

TilegymStatus report(const Call &call, const interp::Fault &fault) {
  Diagnostic diagnostic = toDiagnostic(fault);
  TilegymStatus status = fault.kind == interp::Fault::OutOfMemory ? TILEGYM_OUT_OF_MEMORY
                         : fault.kind == interp::Fault::Program   ? TILEGYM_UNAVAILABLE
                                                                  : TILEGYM_INVALID_ARGUMENT;
  return refuse(status, std::string(call.table.text(call.op.name)) + ": the reference backend: " +
                            (diagnostic.range.file ? render(diagnostic) : diagnostic.message));
}

TilegymStatus runCall(const Call &call, const void *state) {
  const auto &model = *static_cast<const sem::OpModel *>(state);
  interp::Arguments arguments;
  arguments.tensors.resize(model.tensors.size());
  sem::Specialization spec;
  for (size_t v = 0; v < model.typeVars.size(); ++v) {
    if (call.dtypes[v] == Call::kUnbound) // of absent optional tensors alone: any will do
      spec.dtypes.push_back(model.typeVars[v].choices.front());
    else
      spec.dtypes.push_back(tilegym::DType(call.dtypes[v]));
  }
  for (size_t s = 0; s < model.scalars.size(); ++s) {
    arguments.scalars.push_back(constantOf(call, model, s));
    spec.consts.push_back(model.scalars[s].isConst ? arguments.scalars.back() : sem::Constant{});
  }
  for (size_t t = 0; t < model.tensors.size(); ++t) {
    spec.present.push_back(call.present >> t & 1);
    for (const BoundTensor &b : call.views(uint32_t(t)))
      arguments.tensors[t].push_back(tensorOf(b));
  }
  for (size_t d = 0; d < model.dims.size(); ++d)
    spec.constDims.push_back(model.dims[d].choices.empty() ? sem::kDynamic : call.dimValues[d]);
  interp::RunOptions options;
  options.inPlace = true;
  interp::RunResult result = interp::runReferenceOf(model, spec, arguments, options);
  return result.ok() ? TILEGYM_OK : report(call, result.faults.front());
}

} // namespace
} // namespace tilegym::runtime

extern "C" {

void tilegym_add_reference(void) {
  static const tilegym::runtime::Backend interpreter{tilegym::runtime::prepareOp, tilegym::runtime::runCall};
  tilegym_internal_install_reference(&interpreter);
}

int tilegym_use_reference(int on) {
  tilegym_add_reference();
  return tilegym_internal_exchange_backend(on ? TILEGYM_BACKEND_REFERENCE : TILEGYM_BACKEND_TILE) ==
         TILEGYM_BACKEND_REFERENCE;
}

} // extern "C"
