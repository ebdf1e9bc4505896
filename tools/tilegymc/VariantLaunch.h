// SPDX-License-Identifier: MIT
// A launch of one variant of a package, whether or not the runtime would choose it.
#pragma once
#include "Gpu.h"
#include "PackageFile.h"
#include "runtime/src/PlanLaunch.h"

namespace tilegym::cli {

class VariantLaunch {
public:
  /// As the runtime's own call does it, from the choice on. False, with `error` set, where the variant cannot be launched. What the arguments
  /// point to must stay.
  bool prepare(const Gpu &gpu, const PackageFile &package, size_t op, uint32_t index, const void *const *args,
               std::string &error);
  /// On the default stream, without waiting. Outputs that the op gives a first value get it before. False, with `error` set, where the driver refuses.
  bool launch(std::string &error);
  const runtime::Call &call() const { return *bound; }

private:
  runtime::PlanPlace place() const {
    return {*gpu->driver, *gpu->device, /*context=*/0, *loader, nullptr, nullptr};
  }
  const Gpu *gpu = nullptr;
  std::unique_ptr<runtime::Call> bound;
  std::unique_ptr<runtime::Parameters> parameters;
  runtime::Choice choice;
  runtime::Grid grid;
  runtime::CUfunction function = nullptr;
  runtime::Loader *loader = nullptr;
};

} // namespace tilegym::cli
