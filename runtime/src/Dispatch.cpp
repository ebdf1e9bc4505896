// SPDX-License-Identifier: MIT
// The C interface to calls: check, choose, load, launch.
#include "PackageHandle.h"
#include "RecentCalls.h"
#include <cstdio>

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

/// An address whose device is the call's, where the thread has no context yet.
const void *someData(const Call &call) {
  for (size_t id = 0; id < call.tensors.size(); ++id)
    if (call.bound[id].given && call.bound[id].elements)
      return call.bound[id].given->data;
  return nullptr;
}

TilegymStatus findDevice(Call &call, const Driver **driver, const Device **device,
                         uint64_t *context = nullptr) {
  TRY(getDriver(driver));
  TRY(currentDevice(**driver, someData(call), device, context));
  call.smCount = (*device)->multiprocessors;
  return TILEGYM_OK;
}

[[gnu::cold]] TilegymStatus launchFailure(const Driver &driver, const Call &call, const Choice &choice,
                                          const Grid &grid, CUresult result) {
  char what[768];
  Text entry(call.table.text(choice.variant->entry));
  std::snprintf(what, sizeof what,
                "%s: launching %s with %lld blocks of %u threads and %u bytes of shared memory",
                Text(call.table.text(call.op.name)).data, entry.data, static_cast<long long>(grid.blocks),
                choice.variant->threads, choice.variant->sharedBytes);
  return driver.failure(what, result);
}

TilegymStatus launch(const Driver &driver, const Call &call, const Choice &choice, const Grid &grid,
                     CUfunction function, CUstream stream) {
  Parameters parameters;
  TRY(fillParameters(driver, call, choice, grid, &parameters));
  CUresult result = driver.launch(function, unsigned(grid.blocks), choice.variant->threads,
                                  choice.variant->sharedBytes, stream, parameters.pointers);
  return result == kSuccess ? TILEGYM_OK : launchFailure(driver, call, choice, grid, result);
}
TilegymStatus backendState(TilegymPackage &package, size_t op, const Backend &backend,
                           std::shared_ptr<const void> *state) {
  std::lock_guard lock(package.statesMutex);
  if (!package.states[op])
    TRY(backend.prepare(package.table, package.table.ops()[op], &package.states[op]));
  *state = package.states[op];
  return TILEGYM_OK;
}

enum class Until { Launched, Loaded };

TilegymStatus run(TilegymPackage *package, size_t opNumber, const void *const *args, CUstream stream,
                  Until until) {
  const format::Op *op = nullptr;
  TRY(findOp(package, opNumber, &op));
  if (const Backend *backend = currentBackend()) {
    Call call(package->table, *op);
    TRY(call.bind(args, /*forShape=*/false));
    std::shared_ptr<const void> state;
    TRY(backendState(*package, opNumber, *backend, &state));
    return until == Until::Loaded ? TILEGYM_OK : backend->run(call, state.get());
  }
  RecentCall &recent = RecentCall::of(package->number, package->table, *op);
  TRY(recent.bind(args));
  Call &call = recent.call();
  const Driver *driver = nullptr;
  const Device *device = nullptr;
  uint64_t context = 0;
  TRY(findDevice(call, &driver, &device, &context));
  TRY(checkPointers(*driver, *device, call, stream));
  Choice choice;
  if (!recent.chosen(*device, &choice)) {
    TRY(package->choices[opNumber]->choose(call, device->arch, device->name, &choice));
    recent.keep(*device, choice);
  }
  Grid grid;
  TRY(computeGrid(call, choice, &grid));
  CUfunction function = nullptr;
  if (grid.blocks > 0 || until == Until::Loaded)
    TRY(package->loader->load(*driver, *device, context, uint32_t(opNumber), choice, stream, &function));
  if (until == Until::Loaded)
    return TILEGYM_OK;
  if (call.plan.hasFills)
    TRY(fillOutputs(*driver, call, stream));
  return grid.blocks == 0 ? TILEGYM_OK : launch(*driver, call, choice, grid, function, stream);
}

TilegymStatus inferShape(TilegymPackage *package, size_t opNumber, const void *const *args, size_t arg,
                         int64_t *shape, int32_t *rank, int32_t *dtype) {
  const format::Op *op = nullptr;
  TRY(findOp(package, opNumber, &op));
  std::span<const format::Argument> arguments = package->table.get<format::Argument>(op->arguments);
  if (arg >= arguments.size() || !arguments[arg].isTensor || !shape || !rank || !dtype)
    return fail(TILEGYM_INVALID_ARGUMENT,
                "%s: argument number %zu is not a tensor, or a result's address is null",
                package->opNames[opNumber].c_str(), arg);
  Call call(package->table, *op);
  TRY(call.bind(args, /*forShape=*/true));
  int n = 0;
  TRY(call.extents(arguments[arg].id, shape, &n));
  *rank = n;
  uint8_t type = call.dtypes[call.tensors[arguments[arg].id].typeVar];
  if (type == Call::kUnbound)
    return fail(TILEGYM_INVALID_ARGUMENT,
                "%s: the dtype of argument number %zu follows from no input; give the output",
                package->opNames[opNumber].c_str(), arg);
  *dtype = type;
  return TILEGYM_OK;
}

TilegymStatus explain(TilegymPackage *package, size_t opNumber, const void *const *args, const char **text) {
  static thread_local std::string answer;
  const format::Op *op = nullptr;
  TRY(findOp(package, opNumber, &op));
  if (!text)
    return fail(TILEGYM_INVALID_ARGUMENT, "the address for the text is null");
  Call call(package->table, *op);
  TRY(call.bind(args, /*forShape=*/false));
  const Driver *driver = nullptr;
  const Device *device = nullptr;
  Choice choice;
  bool hasDevice = findDevice(call, &driver, &device) == TILEGYM_OK;
  TRY(choose(call, hasDevice ? device->arch : kAnyArch, hasDevice ? device->name : "", &choice));
  const format::Variant &v = *choice.variant;
  answer = std::string(package->table.text(v.entry)) + ": " + std::string(package->table.text(v.knobs)) +
           ", " + (v.facts == format::kFactsFast ? "fast" : "general") + ", " + std::to_string(v.threads) +
           " threads, " + std::to_string(v.registers) + " registers, " + std::to_string(v.sharedBytes) +
           " bytes of shared memory";
  *text = answer.c_str();
  return TILEGYM_OK;
}

} // namespace

extern "C" {

TilegymStatus tilegym_call(TilegymPackage *package, size_t op, const void *const *args, void *stream) {
  return guarded([&] { return run(package, op, args, static_cast<CUstream>(stream), Until::Launched); });
}

TilegymStatus tilegym_prepare(TilegymPackage *package, size_t op, const void *const *args) {
  return guarded([&] { return run(package, op, args, nullptr, Until::Loaded); });
}

TilegymStatus tilegym_infer_shape(TilegymPackage *package, size_t op, const void *const *args, size_t arg,
                                  int64_t shape[TILEGYM_MAX_RANK], int32_t *rank, int32_t *dtype) {
  return guarded([&] { return inferShape(package, op, args, arg, shape, rank, dtype); });
}

TilegymStatus tilegym_explain(TilegymPackage *package, size_t op, const void *const *args,
                              const char **text) {
  return guarded([&] { return explain(package, op, args, text); });
}

} // extern "C"
