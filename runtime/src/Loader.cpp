// SPDX-License-Identifier: MIT
// Loading of a variant's code on first use. cuLibrary objects belong to no context, so one serves every device.
#include "KernelLaunch.h"
#include <cstring>

namespace tilegym::runtime {

using namespace format;

Loader::Loader(const Table &table) : table(table) {
  size_t n = table.ops().size();
  variants = std::make_unique<std::unique_ptr<LoadedVariant[]>[]>(n);
  libraries = std::make_unique<std::unique_ptr<CUlibrary[]>[]>(n);
  for (size_t i = 0; i < n; ++i) {
    variants[i] = std::make_unique<LoadedVariant[]>(table.ops()[i].variants.count);
    libraries[i] = std::make_unique<CUlibrary[]>(table.ops()[i].variants.count);
  }
}

Loader::~Loader() {
  if (!usedDriver)
    return;
  // At exit the driver may be gone before us; it then says so, and nothing is left to unload.
  for (size_t i = 0; i < table.ops().size(); ++i)
    for (uint32_t v = 0; v < table.ops()[i].variants.count; ++v)
      if (libraries[i][v])
        usedDriver->libraryUnload(libraries[i][v]);
}

TilegymStatus Loader::load(const Driver &driver, const Device &device, uint32_t op, const Choice &choice,
                           CUstream stream, CUkernel *kernel) {
  LoadedVariant &loaded = variants[op][choice.index];
  if (loaded.devices.load(std::memory_order_acquire) >> device.ordinal & 1) {
    *kernel = loaded.kernel.load(std::memory_order_relaxed);
    return TILEGYM_OK;
  }
  // Loading would break a capture, so it is refused before anything is done.
  int capturing = 0;
  if (stream && driver.streamIsCapturing(stream, &capturing) == kSuccess && capturing)
    return fail(TILEGYM_INVALID_ARGUMENT,
                "%.*s: the stream is being captured, but the kernel is not loaded yet; call tilegym_prepare "
                "before the capture",
                int(table.ops()[op].name.count), table.text(table.ops()[op].name).data());
  std::lock_guard lock(mutex);
  return loadNow(driver, device, op, choice, kernel);
}

TilegymStatus Loader::loadNow(const Driver &driver, const Device &device, uint32_t op, const Choice &choice,
                              CUkernel *kernel) {
  LoadedVariant &loaded = variants[op][choice.index];
  const Variant &variant = *choice.variant;
  std::string name(table.text(table.ops()[op].name)), entry(table.text(variant.entry));
  CUkernel handle = loaded.kernel.load(std::memory_order_relaxed);
  if (!handle) {
    const Image *image = choice.image;
    if (TilegymStatus status = table.checkImage(*image); status != TILEGYM_OK)
      return status;
    CUlibrary library = nullptr;
    if (CUresult result =
            driver.libraryLoadData(&library, table.image(*image), nullptr, nullptr, 0, nullptr, nullptr, 0);
        result != kSuccess) {
      std::string what = name + ": loading " + entry + " (the driver is of CUDA " +
                         std::to_string(driver.version / 1000) + "." +
                         std::to_string(driver.version % 1000 / 10) + ")";
      return driver.failure(what.c_str(), result);
    }
    if (CUresult result = driver.libraryGetKernel(&handle, library, entry.c_str()); result != kSuccess) {
      driver.libraryUnload(library);
      return driver.failure((name + ": finding " + entry).c_str(), result);
    }
    usedDriver = &driver;
    libraries[op][choice.index] = library;
    loaded.kernel.store(handle, std::memory_order_relaxed);
  }
  if (variant.sharedBytes > 48 * 1024)
    if (CUresult result = driver.kernelSetAttribute(kFunctionMaxDynamicShared, int(variant.sharedBytes),
                                                    handle, device.ordinal);
        result != kSuccess)
      return driver.failure((name + ": reserving " + std::to_string(variant.sharedBytes) +
                             " bytes of shared memory for " + entry)
                                .c_str(),
                            result);
  // Asking for the function makes the driver load the code into this context now, not at the first launch.
  CUfunction function = nullptr;
  if (CUresult result = driver.kernelGetFunction(&function, handle); result != kSuccess)
    return driver.failure((name + ": loading " + entry + " to the GPU").c_str(), result);
  loaded.devices.fetch_or(uint64_t(1) << device.ordinal, std::memory_order_release);
  *kernel = handle;
  return TILEGYM_OK;
}

} // namespace tilegym::runtime
