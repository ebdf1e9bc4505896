// SPDX-License-Identifier: MIT
// The backend `tile`: a call of a package's kernels. Check, choose, load, launch.
#include "TileBackend.h"
#include "RecentCalls.h"
#include <cstdio>

namespace tilegym::runtime {
namespace {

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
                     CUfunction function, CUstream stream, MapTemplate *maps) {
  Parameters parameters;
  TRY(fillParameters(driver, call, choice, grid, &parameters, maps));
  CUresult result = driver.launch(function, unsigned(grid.blocks), choice.variant->threads,
                                  choice.variant->sharedBytes, stream, parameters.pointers);
  return result == kSuccess ? TILEGYM_OK : launchFailure(driver, call, choice, grid, result);
}

} // namespace

TilegymStatus runTile(TilegymPackage *package, size_t opNumber, const format::Op &op, const void *const *args,
                      CUstream stream, Until until) {
  RecentCall &recent = RecentCall::of(package->number, package->table, op);
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
  return grid.blocks == 0 ? TILEGYM_OK
                          : launch(*driver, call, choice, grid, function, stream,
                                   package->maps->of(uint32_t(opNumber), choice.index));
}

TilegymStatus tileTakes(const TilegymPackage &package, const format::Op &op, const void *const *args) {
  const Driver *driver = nullptr;
  const Device *device = nullptr;
  if (!args) {
    TRY(getDriver(&driver));
    TRY(currentDevice(*driver, nullptr, &device));
    return hasCode(package.table, op, device->arch, device->name);
  }
  Call call(package.table, op);
  TRY(call.bind(args, /*forShape=*/false));
  TRY(findDevice(call, &driver, &device));
  TRY(checkPointers(*driver, *device, call, nullptr));
  Choice choice;
  return choose(call, device->arch, device->name, &choice);
}

TilegymStatus explainTile(const TilegymPackage *package, const format::Op &op, const void *const *args,
                          const char **text) {
  static thread_local std::string answer;
  if (!text)
    return fail(TILEGYM_INVALID_ARGUMENT, "the address for the text is null");
  Call call(package->table, op);
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

} // namespace tilegym::runtime
