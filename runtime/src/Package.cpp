// SPDX-License-Identifier: MIT
// The C interface to packages: from memory or a file, checked whole.
#include "PackageHandle.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

using namespace tilegym::runtime;
namespace format = tilegym::format;

static std::atomic<uint64_t> packagesOpened{0};

TilegymPackage::TilegymPackage() : number(++packagesOpened) {}
TilegymPackage::~TilegymPackage() {
  if (file >= 0)
    close(file);
}

namespace {

/// `package->table` was opened.
void finish(std::unique_ptr<TilegymPackage> package, TilegymPackage **out) {
  for (const format::Op &op : package->table.ops()) {
    package->opNames.emplace_back(package->table.text(op.name));
    package->choices.push_back(std::make_unique<ChoiceCache>(package->table, op));
  }
  package->loader = std::make_unique<Loader>(package->table);
  package->maps = std::make_unique<MapTemplates>(package->table);
  package->grids = std::make_unique<Grids>(package->table);
  package->implementations = std::make_unique<Implementations>(package->opNames.size());
  package->states.resize(package->opNames.size());
  *out = package.release();
}

TilegymStatus openBlock(const void *data, size_t size, TilegymPackage **out) {
  auto package = std::make_unique<TilegymPackage>();
  TRY(package->table.open(data, size, "the embedded block"));
  finish(std::move(package), out);
  return TILEGYM_OK;
}

/// Reads the table; the images, nearly all of a file, are read one by one when they are loaded.
TilegymStatus openFile(const char *path, TilegymPackage **out) {
  auto package = std::make_unique<TilegymPackage>();
  int file = package->file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return fail(TILEGYM_BAD_PACKAGE, "cannot open the package '%s': %s", path, std::strerror(errno));
  std::error_code error;
  off_t end = lseek(file, 0, SEEK_END);
  if (end < 0 || !std::filesystem::is_regular_file(path, error))
    return fail(TILEGYM_BAD_PACKAGE, "cannot read the package '%s': it is no file", path);
  auto size = size_t(end);
  format::Header header{};
  size_t atHand = std::min(size, sizeof header);
  bool complete = pread(file, &header, atHand, 0) == ssize_t(atHand);
  // What the header says is believed no further than the file goes; the table checks the rest.
  if (header.magic == format::kMagic && header.imagesOffset <= size)
    atHand = std::max(atHand, size_t(header.imagesOffset));
  package->owned = std::make_unique<unsigned char[]>(atHand + 1);
  complete = complete && pread(file, package->owned.get(), atHand, 0) == ssize_t(atHand);
  if (!complete)
    return fail(TILEGYM_BAD_PACKAGE, "cannot read the package '%s': it changed while it was read", path);
  TRY(package->table.open(package->owned.get(), atHand, size, file, std::string("'") + path + "'"));
  finish(std::move(package), out);
  return TILEGYM_OK;
}

} // namespace

namespace tilegym::runtime {

bool implements(TilegymPackage &package, size_t op, int32_t backend) {
  const format::Op &record = package.table.ops()[op];
  if (backend == TILEGYM_BACKEND_TILE)
    return record.variants.count > 0;
  if (backend == TILEGYM_BACKEND_REFERENCE)
    return referenceBackend() && record.sources.count > 0;
  return package.implementations->find(op, package.opNames[op], backend) != nullptr;
}

std::string backendsOf(TilegymPackage &package, size_t op) {
  std::string list;
  for (int32_t backend = 0; const char *name = tilegym_backend_name(backend); ++backend)
    if (implements(package, op, backend))
      list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

} // namespace tilegym::runtime

extern "C" {

TilegymStatus tilegym_package_open(const void *data, size_t size, TilegymPackage **out) {
  if (!out)
    return fail(TILEGYM_INVALID_ARGUMENT, "the address for the package is null");
  return guarded([&] { return openBlock(data, size, out); });
}

TilegymStatus tilegym_package_open_file(const char *path, TilegymPackage **out) {
  if (!path || !out)
    return fail(TILEGYM_INVALID_ARGUMENT, "the file's name or the address for the package is null");
  return guarded([&] { return openFile(path, out); });
}

TilegymStatus tilegym_embedded(const void *data, size_t size, TilegymPackage **slot) {
  std::atomic_ref<TilegymPackage *> opened(*slot);
  if (opened.load(std::memory_order_acquire))
    return TILEGYM_OK;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (opened.load(std::memory_order_relaxed))
    return TILEGYM_OK;
  TilegymPackage *package = nullptr;
  TRY(tilegym_package_open(data, size, &package));
  opened.store(package, std::memory_order_release);
  return TILEGYM_OK;
}

void tilegym_package_close(TilegymPackage *package) { delete package; }

size_t tilegym_package_num_ops(const TilegymPackage *package) {
  return package ? package->opNames.size() : 0;
}

const char *tilegym_package_op_name(const TilegymPackage *package, size_t op) {
  return package && op < package->opNames.size() ? package->opNames[op].c_str() : nullptr;
}

const char *tilegym_last_error(void) { return lastError(); }

void tilegym_set_error(const char *text) { fail(TILEGYM_OK, "%s", text ? text : "no text"); }

const char *tilegym_status_name(int32_t status) {
  static const char *const names[] = {"OK",          "INVALID_ARGUMENT", "NO_DRIVER",   "NO_DEVICE",
                                      "NO_IMAGE",    "NO_VARIANT",       "BAD_PACKAGE", "CUDA_ERROR",
                                      "UNAVAILABLE", "OUT_OF_MEMORY"};
  return size_t(status) < std::size(names) ? names[status] : "UNKNOWN";
}

uint32_t tilegym_abi_version(void) { return TILEGYM_ABI_VERSION; }

const char *tilegym_version(void) { return TILEGYM_VERSION; }

} // extern "C"
