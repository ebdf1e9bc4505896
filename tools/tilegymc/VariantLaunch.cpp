// SPDX-License-Identifier: MIT
// Binds, loads and launches.
#include "VariantLaunch.h"

namespace tilegym::cli {

bool VariantLaunch::prepare(const Gpu &on, const PackageFile &package, size_t op, uint32_t index,
                            const void *const *args, std::string &error) {
  gpu = &on;
  const runtime::Table &table = package.table();
  const format::Op &record = table.ops()[op];
  bound = std::make_unique<runtime::Call>(table, record);
  bound->smCount = gpu->device->multiprocessors;
  parameters = std::make_unique<runtime::Parameters>();
  choice = runtime::choiceOf(*bound, index, gpu->device->arch);
  loader = &package.loader();
  if (choice.variant->launches.count) {
    if (bound->bind(args, false) == TILEGYM_OK &&
        runtime::loadPlan(place(), *bound, *choice.variant) == TILEGYM_OK)
      return true;
    error = tilegym_last_error();
    return false;
  }
  if (bound->bind(args, false) != TILEGYM_OK || runtime::computeGrid(*bound, choice, &grid) != TILEGYM_OK ||
      package.loader().load(*gpu->driver, *gpu->device, /*context=*/0, uint32_t(op), choice, nullptr,
                            &function, &grid.blocks) != TILEGYM_OK ||
      runtime::fillParameters(*gpu->driver, *bound, choice, grid, parameters.get()) != TILEGYM_OK) {
    error = tilegym_last_error();
    return false;
  }
  return true;
}

bool VariantLaunch::launch(std::string &error) {
  if (runtime::fillOutputs(*gpu->driver, *bound, nullptr) != TILEGYM_OK) {
    error = tilegym_last_error();
    return false;
  }
  if (choice.variant->launches.count) {
    if (runtime::launchPlan(place(), *bound, *choice.variant, {}) == TILEGYM_OK)
      return true;
    error = tilegym_last_error();
    return false;
  }
  if (grid.blocks == 0)
    return true;
  runtime::CUresult result = gpu->driver->launch(function, unsigned(grid.blocks), choice.variant->threads,
                                                 choice.variant->sharedBytes, nullptr, parameters->pointers);
  if (result != runtime::kSuccess)
    error = gpu->text("the launch", result);
  return result == runtime::kSuccess;
}

} // namespace tilegym::cli
