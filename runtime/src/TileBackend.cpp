// SPDX-License-Identifier: MIT
// The backend `tile`: a call of a package's kernels. Check, choose, load, launch.
#include "TileBackend.h"
#include "RecentCalls.h"

namespace tilegym::runtime {
namespace {

/// An address whose device is the call's, where the thread has no context yet.
const void *someData(const Call &call) {
  for (uint32_t id = 0; id < call.tensors.size(); ++id)
    for (const BoundTensor &b : call.views(id))
      if (b.elements)
        return b.given->data;
  return nullptr;
}

TilegymStatus findDevice(Call &call, const Driver **driver, const Device **device,
                         uint64_t *context = nullptr) {
  TRY(getDriver(driver));
  TRY(currentDevice(**driver, someData(call), device, context));
  call.smCount = (*device)->multiprocessors;
  return TILEGYM_OK;
}

/// What a call runs on, and what it takes.
struct Chosen {
  RecentCall *recent = nullptr;
  const Driver *driver = nullptr;
  const Device *device = nullptr;
  uint64_t context = 0;
  Choice choice;
};

TilegymStatus chooseFor(TilegymPackage *package, size_t opNumber, const format::Op &op,
                        const void *const *args, CUstream stream, Chosen *chosen) {
  RecentCall &recent = RecentCall::of(package->number, package->table, op);
  chosen->recent = &recent;
  TRY(recent.bind(args));
  Call &call = recent.call();
  TRY(findDevice(call, &chosen->driver, &chosen->device, &chosen->context));
  const Device &device = *chosen->device;
  TRY(checkPointers(*chosen->driver, device, call, stream));
  return recent.choose(*package->choices[opNumber], device, &chosen->choice);
}

/// Whether the launch is the last one's but for what moves, which is written then.
bool isRepeat(const TilegymPackage &package, size_t opNumber, const Chosen &chosen, int64_t *blocks) {
  RepeatedLaunch *launch = chosen.recent->repeated();
  if (!launch)
    return false;
  const Call &call = chosen.recent->call();
  if (!launch->isOf(*chosen.driver, chosen.choice) &&
      launch->make(*chosen.driver, call, chosen.choice, *package.grids,
                   package.maps->of(uint32_t(opNumber), chosen.choice.index)) != TILEGYM_OK)
    return false; // and so does the call, in the same words
  return launch->isOf(*chosen.driver, chosen.choice) && launch->update(call, chosen.choice, blocks);
}

TilegymStatus runPlan(const PlanPlace &place, const Call &call, const format::Variant &plan, Until until,
                      const Workspace &workspace) {
  if (until == Until::Loaded)
    return loadPlan(place, call, plan);
  if (call.plan.hasFills)
    TRY(fillOutputs(place.driver, call, place.stream));
  return launchPlan(place, call, plan, workspace);
}

} // namespace

TilegymStatus runTile(TilegymPackage *package, size_t opNumber, const format::Op &op, const void *const *args,
                      CUstream stream, Until until, const Workspace &workspace) {
  Chosen chosen;
  TRY(chooseFor(package, opNumber, op, args, stream, &chosen));
  Call &call = chosen.recent->call();
  const Driver *driver = chosen.driver;
  const Device *device = chosen.device;
  uint64_t context = chosen.context;
  const Choice &choice = chosen.choice;
  if (choice.variant->launches.count)
    return runPlan({*driver, *device, context, *package->loader, package->maps.get(), stream}, call,
                   *choice.variant, until, workspace);
  CUfunction function = nullptr;
  int64_t blocks = 0;
  if (until == Until::Launched && isRepeat(*package, opNumber, chosen, &blocks)) {
    TRY(package->loader->load(*driver, *device, context, uint32_t(opNumber), choice, stream, &function,
                              &blocks));
    if (call.plan.hasFills)
      TRY(fillOutputs(*driver, call, stream));
    return launchKernel(*driver, call, choice, blocks, function, stream,
                        chosen.recent->repeated()->parameters(), launchesEarly());
  }
  Grid grid;
  TRY(computeGrid(call, choice, &grid));
  if (grid.blocks > 0 || until == Until::Loaded)
    TRY(package->loader->load(*driver, *device, context, uint32_t(opNumber), choice, stream, &function,
                              &grid.blocks));
  if (until == Until::Loaded)
    return TILEGYM_OK;
  if (call.plan.hasFills)
    TRY(fillOutputs(*driver, call, stream));
  return grid.blocks == 0
             ? TILEGYM_OK
             : launchKernel(*driver, call, choice, grid, function, stream,
                            package->maps->of(uint32_t(opNumber), choice.index), launchesEarly());
}

TilegymStatus tileWorkspace(TilegymPackage *package, size_t opNumber, const format::Op &op,
                            const void *const *args, size_t *bytes) {
  Chosen chosen;
  TRY(chooseFor(package, opNumber, op, args, nullptr, &chosen));
  ScratchSpace space;
  TRY(measureScratch(chosen.recent->call(), *chosen.choice.variant, &space));
  *bytes = space.bytes;
  return TILEGYM_OK;
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
  answer = std::string(package->table.text(v.entry)) + ": " + std::string(package->table.text(v.knobs));
  if (v.launches.count) {
    ScratchSpace space;
    TRY(measureScratch(call, v, &space));
    answer += ", a plan of " + std::to_string(v.launches.count) + " launches, " +
              std::to_string(space.bytes) + " bytes of scratch memory";
    *text = answer.c_str();
    return TILEGYM_OK;
  }
  answer += std::string(", ") + factsName(package->table, v) + ", " + std::to_string(v.threads) +
            " threads, " + std::to_string(v.registers) + " registers, " + std::to_string(v.sharedBytes) +
            " bytes of shared memory";
  *text = answer.c_str();
  return TILEGYM_OK;
}

} // namespace tilegym::runtime
