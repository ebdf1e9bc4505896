// SPDX-License-Identifier: MIT
// The C interface to calls, and their way to the backend that runs them: the one that is chosen, or `tile` in its place.
#include "Log.h"
#include "RecentCalls.h"
#include "TileBackend.h"

using namespace tilegym::runtime;
namespace format = tilegym::format;

namespace {

TilegymStatus findOp(TilegymPackage *package, size_t op, const format::Op **record) {
  if (!package)
    return fail(TILEGYM_INVALID_ARGUMENT, "the package is null");
  if (op >= package->table.ops().size())
    return fail(TILEGYM_INVALID_ARGUMENT, "op number %zu is not in the package, which has %zu", op,
                package->table.ops().size());
  *record = &package->table.ops()[op];
  return TILEGYM_OK;
}

/// One call on its way.
struct Request {
  TilegymPackage *package;
  size_t number;
  const format::Op &op;
  const void *const *args;
  void *stream;
  Until until;
  Workspace workspace = {};
  const std::string &name() const { return package->opNames[number]; }
};

TilegymStatus backendState(TilegymPackage &package, size_t op, const Backend &backend,
                           std::shared_ptr<const void> *state) {
  std::lock_guard lock(package.statesMutex);
  if (!package.states[op])
    TRY(backend.prepare(package.table, package.table.ops()[op], &package.states[op]));
  *state = package.states[op];
  return TILEGYM_OK;
}

TilegymStatus runReference(const Request &r) {
  TRY(checkBackend(TILEGYM_BACKEND_REFERENCE));
  const Backend &backend = *referenceBackend();
  Call call(r.package->table, r.op);
  TRY(call.bind(r.args, /*forShape=*/false));
  std::shared_ptr<const void> state;
  TRY(backendState(*r.package, r.number, backend, &state));
  return r.until == Until::Loaded ? TILEGYM_OK : backend.run(call, state.get());
}

TilegymStatus runTile(const Request &r) {
  return runTile(r.package, r.number, r.op, r.args, static_cast<CUstream>(r.stream), r.until, r.workspace);
}

/// "OP is not implemented for BACKEND", or why the backend declined, and who has it.
[[gnu::cold]] std::string lackText(const Request &r, int32_t backend, bool declined) {
  std::string name = tilegym_backend_name(backend), reason = lastError(),
              owners = backendsOf(*r.package, r.number);
  return r.name() +
         (declined ? ": " + name + " does not take this call: " + reason
                   : " is not implemented for " + name) +
         "; it is implemented for " + (owners.empty() ? "no backend" : owners);
}

/// The op is not, or not for this call, the backend's: `tile` does it, or it is an error.
TilegymStatus fallBack(const Request &r, int32_t backend, bool declined) {
  if (fallbackIsDisabled() || !r.op.variants.count)
    return fail(TILEGYM_UNAVAILABLE, "%s", lackText(r, backend, declined).c_str());
  if (r.package->implementations->warnsNow(r.number, r.name(), backend))
    log(TILEGYM_LOG_WARNING, "%s; tile runs it (said once; TILEGYM_DISABLE_FALLBACK=1 makes it an error)",
        lackText(r, backend, declined).c_str());
  return runTile(r);
}

TilegymStatus runRegistered(const Request &r, const Implementation &implementation) {
  RecentCall &recent = RecentCall::of(r.package->number, r.package->table, r.op);
  TRY(recent.bind(r.args));
  if (r.until == Until::Loaded)
    return TILEGYM_OK;
  clearError();
  TilegymStatus status = implementation.run(implementation.user, r.package, r.number, r.args, r.stream);
  if (status != TILEGYM_OK && !*lastError())
    return fail(status, "%s: the backend %s failed and did not say why", r.name().c_str(),
                tilegym_backend_name(implementation.backend));
  return status;
}

TilegymStatus run(TilegymPackage *package, size_t number, const void *const *args, void *stream, Until until,
                  int32_t backend, const Workspace &workspace = {}) {
  const format::Op *op = nullptr;
  TRY(findOp(package, number, &op));
  Request r{package, number, *op, args, stream, until, workspace};
  if (backend == TILEGYM_BACKEND_TILE) [[likely]]
    return runTile(r);
  if (backend == TILEGYM_BACKEND_REFERENCE)
    return runReference(r);
  const Implementation *implementation = package->implementations->find(number, r.name(), backend);
  if (!implementation)
    return fallBack(r, backend, /*declined=*/false);
  TilegymStatus status = runRegistered(r, *implementation);
  return status == TILEGYM_UNAVAILABLE ? fallBack(r, backend, /*declined=*/true) : status;
}

TilegymStatus runOn(TilegymPackage *package, size_t op, const void *const *args, void *stream,
                    int32_t backend) {
  if (backend == TILEGYM_BACKEND_DEFAULT)
    backend = chosenBackend();
  TRY(checkBackend(backend));
  return run(package, op, args, stream, Until::Launched, backend);
}

TilegymStatus available(TilegymPackage *package, size_t number, const void *const *args, int32_t backend) {
  const format::Op *op = nullptr;
  TRY(findOp(package, number, &op));
  if (backend == TILEGYM_BACKEND_DEFAULT)
    backend = chosenBackend();
  TRY(checkBackend(backend));
  if (!implements(*package, number, backend))
    return fail(TILEGYM_UNAVAILABLE, "%s is not implemented for %s; it is implemented for %s",
                package->opNames[number].c_str(), tilegym_backend_name(backend),
                backendsOf(*package, number).c_str());
  if (backend == TILEGYM_BACKEND_TILE)
    return tileTakes(*package, *op, args);
  if (!args)
    return TILEGYM_OK;
  Call call(package->table, *op);
  return call.bind(args, /*forShape=*/false);
}

[[gnu::cold]] TilegymStatus failed(TilegymStatus status) {
  if (logs(TILEGYM_LOG_DEBUG))
    log(TILEGYM_LOG_DEBUG, "a call failed with %s: %s", tilegym_status_name(status), lastError());
  return status;
}

/// Of a list's tensor where `count` is given.
TilegymStatus inferShape(TilegymPackage *package, size_t opNumber, const void *const *args, size_t arg,
                         size_t element, size_t *count, int64_t *shape, int32_t *rank, int32_t *dtype) {
  const format::Op *op = nullptr;
  TRY(findOp(package, opNumber, &op));
  std::span<const format::Argument> arguments = package->table.get<format::Argument>(op->arguments);
  if (arg >= arguments.size() || !arguments[arg].isTensor || !shape || !rank || !dtype)
    return fail(TILEGYM_INVALID_ARGUMENT,
                "%s: argument number %zu is not a tensor, or a result's address is null",
                package->opNames[opNumber].c_str(), arg);
  Call call(package->table, *op);
  if (call.isList(arguments[arg].id) != (count != nullptr))
    return fail(TILEGYM_INVALID_ARGUMENT, "%s: argument number %zu is %s: %s says its shape",
                package->opNames[opNumber].c_str(), arg, count ? "no list" : "a list",
                count ? "tilegym_infer_shape" : "tilegym_infer_list");
  TRY(call.bind(args, /*forShape=*/true));
  if (count) {
    *count = call.lengthOf(arguments[arg].id);
    if (element >= *count)
      return TILEGYM_OK;
  }
  int n = 0;
  TRY(call.extents(arguments[arg].id, shape, &n, element));
  *rank = n;
  uint8_t type = call.dtypes[call.tensors[arguments[arg].id].typeVar];
  if (type == Call::kUnbound)
    return fail(TILEGYM_INVALID_ARGUMENT,
                "%s: the dtype of argument number %zu follows from no input; give the output",
                package->opNames[opNumber].c_str(), arg);
  *dtype = type;
  return TILEGYM_OK;
}

/// Only kernels of packages take scratch memory from outside.
TilegymStatus workspaceSize(TilegymPackage *package, size_t number, const void *const *args, size_t *bytes) {
  const format::Op *op = nullptr;
  TRY(findOp(package, number, &op));
  if (!bytes)
    return fail(TILEGYM_INVALID_ARGUMENT, "the address for the size is null");
  *bytes = 0;
  return chosenBackend() == TILEGYM_BACKEND_TILE ? tileWorkspace(package, number, *op, args, bytes)
                                                 : TILEGYM_OK;
}

} // namespace

extern "C" {

TilegymStatus tilegym_call(TilegymPackage *package, size_t op, const void *const *args, void *stream) {
  TilegymStatus status =
      guarded([&] { return run(package, op, args, stream, Until::Launched, chosenBackend()); });
  return status == TILEGYM_OK ? status : failed(status);
}

TilegymStatus tilegym_call_on(TilegymPackage *package, size_t op, const void *const *args, void *stream,
                              int32_t backend) {
  TilegymStatus status = guarded([&] { return runOn(package, op, args, stream, backend); });
  return status == TILEGYM_OK ? status : failed(status);
}

TilegymStatus tilegym_call_with_workspace(TilegymPackage *package, size_t op, const void *const *args,
                                          void *stream, void *workspace, size_t bytes) {
  TilegymStatus status = guarded(
      [&] { return run(package, op, args, stream, Until::Launched, chosenBackend(), {workspace, bytes}); });
  return status == TILEGYM_OK ? status : failed(status);
}

TilegymStatus tilegym_workspace_size(TilegymPackage *package, size_t op, const void *const *args,
                                     size_t *bytes) {
  return guarded([&] { return workspaceSize(package, op, args, bytes); });
}

TilegymStatus tilegym_prepare(TilegymPackage *package, size_t op, const void *const *args) {
  return guarded([&] { return run(package, op, args, nullptr, Until::Loaded, chosenBackend()); });
}

TilegymStatus tilegym_available(TilegymPackage *package, size_t op, const void *const *args,
                                int32_t backend) {
  return guarded([&] { return available(package, op, args, backend); });
}

TilegymStatus tilegym_infer_shape(TilegymPackage *package, size_t op, const void *const *args, size_t arg,
                                  int64_t shape[TILEGYM_MAX_RANK], int32_t *rank, int32_t *dtype) {
  return guarded([&] { return inferShape(package, op, args, arg, 0, nullptr, shape, rank, dtype); });
}

TilegymStatus tilegym_infer_list(TilegymPackage *package, size_t op, const void *const *args, size_t arg,
                                 size_t element, size_t *count, int64_t shape[TILEGYM_MAX_RANK],
                                 int32_t *rank, int32_t *dtype) {
  if (!count)
    return fail(TILEGYM_INVALID_ARGUMENT, "the address for the number of tensors is null");
  return guarded([&] { return inferShape(package, op, args, arg, element, count, shape, rank, dtype); });
}

TilegymStatus tilegym_explain(TilegymPackage *package, size_t op, const void *const *args,
                              const char **text) {
  return guarded([&] {
    const format::Op *record = nullptr;
    TRY(findOp(package, op, &record));
    return explainTile(package, *record, args, text);
  });
}

} // extern "C"
