// SPDX-License-Identifier: MIT
// The C interface: packages and calls.
#include "KernelLaunch.h"
#include "tilegym/tilegym.h"
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

using namespace tilegym::runtime;
namespace format = tilegym::format;

struct TilegymPackage {
  Table table;
  std::unique_ptr<unsigned char[]> owned; ///< the file's bytes
  std::vector<std::string> opNames;
  std::unique_ptr<Loader> loader;
};

#define TRY(expression)                                                                                      \
  if (TilegymStatus status = (expression); status != TILEGYM_OK)                                             \
  return status

namespace {

TilegymStatus openBlock(std::unique_ptr<TilegymPackage> package, const void *data, size_t size,
                        std::string_view source, TilegymPackage **out) {
  TRY(package->table.open(data, size, source));
  for (const format::Op &op : package->table.ops())
    package->opNames.emplace_back(package->table.text(op.name));
  package->loader = std::make_unique<Loader>(package->table);
  *out = package.release();
  return TILEGYM_OK;
}

TilegymStatus findOp(TilegymPackage *package, size_t op, const format::Op **record) {
  if (!package)
    return fail(TILEGYM_INVALID_ARGUMENT, "the package is null");
  if (op >= package->table.ops().size())
    return fail(TILEGYM_INVALID_ARGUMENT, "op number %zu is not in the package, which has %zu", op,
                package->table.ops().size());
  *record = &package->table.ops()[op];
  return TILEGYM_OK;
}

int deviceOf(const Driver &driver, const Call &call) {
  for (size_t id = 0; id < call.tensors.size(); ++id)
    if (call.bound[id].given && call.bound[id].elements) {
      int name[] = {kPointerDeviceOrdinal}, ordinal = -1;
      void *value[] = {&ordinal};
      if (driver.pointerGetAttributes(
              1, name, value, reinterpret_cast<CUdeviceptr>(call.bound[id].given->data)) == kSuccess &&
          ordinal >= 0)
        return ordinal;
    }
  return 0;
}

enum class Until { Launched, Loaded };

TilegymStatus run(TilegymPackage *package, size_t opNumber, const void *const *args, CUstream stream,
                  Until until) {
  const format::Op *op = nullptr;
  TRY(findOp(package, opNumber, &op));
  Call call(package->table, *op);
  TRY(call.bind(args, /*forShape=*/false));
  const Driver *driver = nullptr;
  TRY(getDriver(&driver));
  const Device *device = nullptr;
  TRY(currentDevice(*driver, deviceOf(*driver, call), &device));
  TRY(checkPointers(*driver, *device, call));
  Choice choice;
  TRY(choose(call, device->arch, device->name, &choice));
  Grid grid;
  TRY(computeGrid(call, choice, device->multiprocessors, &grid));
  CUkernel kernel = nullptr;
  if (grid.blocks > 0 || until == Until::Loaded)
    TRY(package->loader->load(*driver, *device, uint32_t(opNumber), choice, stream, &kernel));
  if (until == Until::Loaded)
    return TILEGYM_OK;
  TRY(fillOutputs(*driver, call, stream));
  if (grid.blocks == 0)
    return TILEGYM_OK;
  Parameters parameters;
  fillParameters(call, choice, grid, device->multiprocessors, &parameters);
  CUresult result = driver->launchKernel(reinterpret_cast<CUfunction>(kernel), unsigned(grid.blocks), 1, 1,
                                         choice.variant->threads, 1, 1, choice.variant->sharedBytes, stream,
                                         parameters.pointers, nullptr);
  if (result == kSuccess)
    return TILEGYM_OK;
  char what[512];
  std::string_view entry = package->table.text(choice.variant->entry);
  std::snprintf(what, sizeof what,
                "%s: launching %.*s with %lld blocks of %u threads and %u bytes of shared memory",
                package->opNames[opNumber].c_str(), int(entry.size()), entry.data(),
                static_cast<long long>(grid.blocks), choice.variant->threads, choice.variant->sharedBytes);
  return driver->failure(what, result);
}

} // namespace

extern "C" {

TilegymStatus tilegym_package_open(const void *data, size_t size, TilegymPackage **out) {
  if (!out)
    return fail(TILEGYM_INVALID_ARGUMENT, "the address for the package is null");
  return openBlock(std::make_unique<TilegymPackage>(), data, size, "the embedded block", out);
}

TilegymStatus tilegym_package_open_file(const char *path, TilegymPackage **out) {
  if (!path || !out)
    return fail(TILEGYM_INVALID_ARGUMENT, "the file's name or the address for the package is null");
  std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen(path, "rb"), std::fclose);
  if (!file)
    return fail(TILEGYM_BAD_PACKAGE, "cannot open the package '%s': %s", path, std::strerror(errno));
  std::fseek(file.get(), 0, SEEK_END);
  long size = std::ftell(file.get());
  std::rewind(file.get());
  if (size < 0)
    return fail(TILEGYM_BAD_PACKAGE, "cannot read the package '%s'", path);
  auto package = std::make_unique<TilegymPackage>();
  package->owned.reset(new (std::nothrow) unsigned char[size_t(size) + 1]);
  if (!package->owned || std::fread(package->owned.get(), 1, size_t(size), file.get()) != size_t(size))
    return fail(TILEGYM_BAD_PACKAGE, "cannot read the package '%s'", path);
  const void *data = package->owned.get();
  return openBlock(std::move(package), data, size_t(size), std::string("'") + path + "'", out);
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

TilegymStatus tilegym_call(TilegymPackage *package, size_t op, const void *const *args, void *stream) {
  return run(package, op, args, static_cast<CUstream>(stream), Until::Launched);
}

TilegymStatus tilegym_prepare(TilegymPackage *package, size_t op, const void *const *args) {
  return run(package, op, args, nullptr, Until::Loaded);
}

TilegymStatus tilegym_infer_shape(TilegymPackage *package, size_t opNumber, const void *const *args,
                                  size_t arg, int64_t shape[TILEGYM_MAX_RANK], int32_t *rank,
                                  int32_t *dtype) {
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
  if (type == 255)
    return fail(TILEGYM_INVALID_ARGUMENT,
                "%s: the dtype of argument number %zu follows from no input; give the output",
                package->opNames[opNumber].c_str(), arg);
  *dtype = type;
  return TILEGYM_OK;
}

TilegymStatus tilegym_explain(TilegymPackage *package, size_t opNumber, const void *const *args,
                              const char **text) {
  static thread_local std::string answer;
  const format::Op *op = nullptr;
  TRY(findOp(package, opNumber, &op));
  if (!text)
    return fail(TILEGYM_INVALID_ARGUMENT, "the address for the text is null");
  Call call(package->table, *op);
  TRY(call.bind(args, /*forShape=*/false));
  Choice choice;
  TRY(choose(call, kAnyArch, "", &choice));
  const format::Variant &v = *choice.variant;
  answer = std::string(package->table.text(v.entry)) + ": " + std::string(package->table.text(v.knobs)) +
           ", " + (v.facts == format::kFactsFast ? "fast" : "general") + ", " + std::to_string(v.threads) +
           " threads, " + std::to_string(v.registers) + " registers, " + std::to_string(v.sharedBytes) +
           " bytes of shared memory";
  *text = answer.c_str();
  return TILEGYM_OK;
}

const char *tilegym_last_error(void) { return lastError(); }

} // extern "C"
