// SPDX-License-Identifier: MIT
// Loading of a variant's code on first use. cuLibrary objects belong to no context, so one serves every device that takes the image.
#include "KernelLaunch.h"
#include "Log.h"
#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

namespace tilegym::runtime {

using namespace format;

Loader::Loader(const Table &table) : table(table) {
  for (size_t i = 0; i < table.count(); ++i) {
    const Op &op = table.numbered(i);
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
                           const Choice &choice, CUstream stream, CUfunction *function, int64_t *blocks) {
  size_t number = size_t(choice.image - table.get<Image>(choice.variant->images).data());
  LoadedImage &loaded = images[firstImages[op][choice.index] + number];
  if (!(loaded.devices.load(std::memory_order_acquire) >> device.ordinal & 1)) {
    // Loading would break a capture, so it is refused before anything is done.
    int capturing = 0;
    if (stream && driver.streamIsCapturing(stream, &capturing) == kSuccess && capturing)
      return fail(TILEGYM_INVALID_ARGUMENT,
                  "%s: the stream is being captured, but the kernel is not loaded yet; call tilegym_prepare "
                  "before the capture",
                  Text(table.text(table.numbered(op).name)).data);
    std::lock_guard lock(mutex);
    TRY(loadNow(driver, device, context, op, choice, loaded));
  }
  // A kernel may stand in a function's place: the driver then looks for the current context's, which takes it longer.
  if (context && loaded.context.load(std::memory_order_acquire) == context)
    *function = loaded.function.load(std::memory_order_relaxed);
  else
    *function = reinterpret_cast<CUfunction>(loaded.kernel.load(std::memory_order_relaxed));
  if (choice.variant->cluster > 1 && choice.variant->blocksPerSm) [[unlikely]]
    *blocks = std::min<int64_t>(*blocks, loaded.blocksThatFit.load(std::memory_order_relaxed));
  return TILEGYM_OK;
}

namespace {

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// The number in front of a point, and the one behind it, as 1000 * 13 + 10 * 0; 0 where there are none.
int versionAt(std::string_view text) {
  if (text.empty())
    return 0;
  text = text.substr(0, 16);
  int major = 0, minor = 0;
  const char *begin = &*text.begin(), *end = begin + text.size();
  auto [point, error] = std::from_chars(begin, end, major);
  if (error != std::errc() || point == end || *point != '.')
    return 0;
  return std::from_chars(point + 1, end, minor).ec == std::errc() ? major * 1000 + minor * 10 : 0;
}

} // namespace

int neededDriver(std::string_view code, bool isPtx) {
  constexpr std::string_view kTool = "Cuda compilation tools, release ", kPtx = ".version ";
  size_t at = code.find(isPtx ? kPtx : kTool);
  if (at == code.npos)
    return 0;
  int version = versionAt(code.substr(at + (isPtx ? kPtx : kTool).size()));
  if (!isPtx)
    return version / 1000 * 1000; // a driver runs what was made by any release of its major version
  // Versions of PTX came with releases of CUDA.
  if (version < 8000)
    return 11080;
  if (version < 9000)
    return 12000 + (version % 1000 <= 50 ? version % 1000 : version % 1000 + 10);
  return 13000 + version - 9000;
}

TilegymStatus Loader::refused(const Driver &driver, const std::string &name, const std::string &entry,
                              std::string_view code, bool isPtx, CUresult result) const {
  if (int needed = neededDriver(code, isPtx); needed > driver.version)
    return fail(TILEGYM_NO_DRIVER,
                "%s: the driver is of CUDA %s, but the package's %s needs one of CUDA %s or later; update "
                "NVIDIA's driver",
                name.c_str(), versionText(driver.version).c_str(), isPtx ? "PTX" : "machine code",
                versionText(needed).c_str());
  std::string what =
      name + ": loading " + entry + " (the driver is of CUDA " + versionText(driver.version) + ")";
  return driver.failure(what.c_str(), result);
}

TilegymStatus Loader::open(const Driver &driver, const Device &device, uint32_t op, const Choice &choice,
                           LoadedImage &loaded) {
  std::string name(table.text(table.numbered(op).name)), entry(table.text(choice.variant->entry));
  std::vector<char> room;
  const void *code = nullptr;
  TRY(table.readImage(*choice.image, room, &code));
  size_t size = choice.image->unpacked ? choice.image->unpacked : choice.image->size;
  bool isPtx = choice.image->kind == 1;
  if (isPtx && !std::exchange(saidPtx, true))
    log(TILEGYM_LOG_WARNING,
        "%s: the package has no machine code for this GPU (%s, sm_%d), so that the driver compiles its PTX "
        "for sm_%u at "
        "first use (said once a package; tilegymc compile --arch sm_%d makes machine code)",
        name.c_str(), device.name, device.arch, choice.image->arch, device.arch);
  CUlibrary library = nullptr;
  CUresult result =
      driver.libraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0); // copies the code
  if (result != kSuccess)
    return refused(driver, name, entry, {static_cast<const char *>(code), size}, isPtx, result);
  CUkernel kernel = nullptr;
  if (result = driver.libraryGetKernel(&kernel, library, entry.c_str()); result != kSuccess) {
    driver.libraryUnload(library);
    return driver.failure((name + ": finding " + entry).c_str(), result);
  }
  log(TILEGYM_LOG_INFO, "%s: loaded %s (%zu bytes of %s for sm_%u)", name.c_str(), entry.c_str(), size,
      isPtx ? "PTX" : "machine code", choice.image->arch);
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
    TRY(open(driver, device, op, choice, loaded));
  CUkernel kernel = loaded.kernel.load(std::memory_order_relaxed);
  const Variant &variant = *choice.variant;
  std::string name(table.text(table.numbered(op).name)), entry(table.text(variant.entry));
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
  if (variant.cluster > 1 && variant.blocksPerSm) {
    // One more would begin when the others end. Multiprocessors that share no cluster with enough others stay idle.
    CUlaunchConfig config{variant.cluster, 1,       1, variant.threads, 1, 1, variant.sharedBytes,
                          nullptr,         nullptr, 0};
    int clusters = 0;
    if (CUresult result = driver.occupancyMaxActiveClusters(&clusters, function, &config); result != kSuccess)
      return driver.failure((name + ": fitting clusters of " + entry).c_str(), result);
    uint32_t fit = uint32_t(std::max(clusters, 1)) * variant.cluster; // if none fits, the launch says so
    uint32_t known = loaded.blocksThatFit.load(std::memory_order_relaxed);
    loaded.blocksThatFit.store(known ? std::min(known, fit) : fit, std::memory_order_relaxed);
  }
  loaded.devices.fetch_or(uint64_t(1) << device.ordinal, std::memory_order_release);
  return TILEGYM_OK;
}

} // namespace tilegym::runtime
