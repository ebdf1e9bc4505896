// SPDX-License-Identifier: MIT
// Loading of a variant's code on first use. cuLibrary objects belong to no context, so one serves every device that takes the image.
#include "KernelLaunch.h"
#include <string>

namespace tilegym::runtime {

using namespace format;

Loader::Loader(const Table &table) : table(table) {
  for (const Op &op : table.ops()) {
    std::vector<size_t> &first = firstImages.emplace_back();
    for (const Variant &v : table.get<Variant>(op.variants)) {
      first.push_back(count);
      count += v.images.count;
    }
  }
  images = std::make_unique<LoadedImage[]>(count);
}

Loader::~Loader() {
  // At exit the driver may be gone before us; it then says so, and nothing is left to unload.
  for (size_t i = 0; usedDriver && i < count; ++i)
    if (images[i].library)
      usedDriver->libraryUnload(images[i].library);
}

TilegymStatus Loader::load(const Driver &driver, const Device &device, uint64_t context, uint32_t op,
                           const Choice &choice, CUstream stream, CUfunction *function) {
  size_t number = size_t(choice.image - table.get<Image>(choice.variant->images).data());
  LoadedImage &loaded = images[firstImages[op][choice.index] + number];
  if (!(loaded.devices.load(std::memory_order_acquire) >> device.ordinal & 1)) {
    // Loading would break a capture, so it is refused before anything is done.
    int capturing = 0;
    if (stream && driver.streamIsCapturing(stream, &capturing) == kSuccess && capturing)
      return fail(TILEGYM_INVALID_ARGUMENT,
                  "%s: the stream is being captured, but the kernel is not loaded yet; call tilegym_prepare "
                  "before the capture",
                  Text(table.text(table.ops()[op].name)).data);
    std::lock_guard lock(mutex);
    TRY(loadNow(driver, device, context, op, choice, loaded));
  }
  // A kernel may stand in a function's place: the driver then looks for the current context's, which takes it longer.
  if (context && loaded.context.load(std::memory_order_acquire) == context)
    *function = loaded.function.load(std::memory_order_relaxed);
  else
    *function = reinterpret_cast<CUfunction>(loaded.kernel.load(std::memory_order_relaxed));
  return TILEGYM_OK;
}

TilegymStatus Loader::open(const Driver &driver, uint32_t op, const Choice &choice, LoadedImage &loaded) {
  std::string name(table.text(table.ops()[op].name)), entry(table.text(choice.variant->entry));
  std::vector<char> room;
  const void *code = nullptr;
  TRY(table.readImage(*choice.image, room, &code));
  CUlibrary library = nullptr;
  CUresult result =
      driver.libraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0); // copies the code
  if (result != kSuccess) {
    std::string what = name + ": loading " + entry + " (the driver is of CUDA " +
                       std::to_string(driver.version / 1000) + "." +
                       std::to_string(driver.version % 1000 / 10) + ")";
    return driver.failure(what.c_str(), result);
  }
  CUkernel kernel = nullptr;
  if (result = driver.libraryGetKernel(&kernel, library, entry.c_str()); result != kSuccess) {
    driver.libraryUnload(library);
    return driver.failure((name + ": finding " + entry).c_str(), result);
  }
  usedDriver = &driver;
  loaded.library = library;
  loaded.kernel.store(kernel, std::memory_order_relaxed);
  return TILEGYM_OK;
}

TilegymStatus Loader::loadNow(const Driver &driver, const Device &device, uint64_t context, uint32_t op,
                              const Choice &choice, LoadedImage &loaded) {
  if (loaded.devices.load(std::memory_order_relaxed) >> device.ordinal & 1)
    return TILEGYM_OK; // another thread was first
  if (!loaded.kernel.load(std::memory_order_relaxed))
    TRY(open(driver, op, choice, loaded));
  CUkernel kernel = loaded.kernel.load(std::memory_order_relaxed);
  const Variant &variant = *choice.variant;
  std::string name(table.text(table.ops()[op].name)), entry(table.text(variant.entry));
  // What a kernel gets without asking.
  if (variant.sharedBytes > 48 * 1024)
    if (CUresult result = driver.kernelSetAttribute(kFunctionMaxDynamicShared, int(variant.sharedBytes),
                                                    kernel, device.ordinal);
        result != kSuccess)
      return driver.failure((name + ": reserving " + std::to_string(variant.sharedBytes) +
                             " bytes of shared memory for " + entry)
                                .c_str(),
                            result);
  // Asking for the function makes the driver load the code into this context now, not at the first launch.
  CUfunction function = nullptr;
  if (CUresult result = driver.kernelGetFunction(&function, kernel); result != kSuccess)
    return driver.failure((name + ": loading " + entry + " to the GPU").c_str(), result);
  if (context && !loaded.function.load(std::memory_order_relaxed)) { // once: readers see the two as one
    loaded.function.store(function, std::memory_order_relaxed);
    loaded.context.store(context, std::memory_order_release);
  }
  loaded.devices.fetch_or(uint64_t(1) << device.ordinal, std::memory_order_release);
  return TILEGYM_OK;
}

} // namespace tilegym::runtime
