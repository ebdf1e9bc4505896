// SPDX-License-Identifier: MIT
// The registry of backends: their names, which one is in use, and what callers registered.
#include "Backend.h"
#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>
#include <utility>

namespace tilegym::runtime {
namespace {

constexpr int kOwnNames = 3; ///< those of TILEGYM_BACKEND_...

struct Registry {
  std::mutex mutex;
  // Names never move or change once `count` says that they are there.
  std::string names[TILEGYM_MAX_BACKENDS] = {"tile", "reference", "vendor"};
  std::atomic<int32_t> count{kOwnNames};
  std::vector<std::unique_ptr<Implementation>> all; ///< in the order of registration, the old ones too
  std::set<std::pair<std::string, int32_t>> warned;
};

Registry &registry() {
  static auto *one = new Registry; // never destroyed: calls may come from destructors of static objects
  return *one;
}

std::atomic<uint64_t> registrations{1};
std::atomic<const Backend *> reference{nullptr};
std::atomic<int32_t> ofProcess{TILEGYM_BACKEND_TILE};
constinit thread_local int32_t ofThread = TILEGYM_BACKEND_DEFAULT;

int32_t find(const Registry &r, const char *name) {
  for (int32_t i = 0; i < r.count.load(std::memory_order_acquire); ++i)
    if (r.names[i] == name)
      return i;
  return TILEGYM_BACKEND_DEFAULT;
}

/// The last one registered for it; with the registry locked.
const Implementation *latest(const Registry &r, const std::string &op, int32_t backend) {
  auto last = std::find_if(r.all.rbegin(), r.all.rend(),
                           [&](const auto &i) { return i->backend == backend && i->op == op; });
  return last != r.all.rend() && (*last)->run ? last->get() : nullptr;
}

TilegymStatus add(const char *op, const char *backend, TilegymImpl impl, void *user) {
  Registry &r = registry();
  std::lock_guard lock(r.mutex);
  int32_t number = find(r, backend);
  if (number == TILEGYM_BACKEND_TILE || number == TILEGYM_BACKEND_REFERENCE)
    return fail(
        TILEGYM_INVALID_ARGUMENT,
        "%s: the backend %s runs what the package has and cannot be replaced; register under another name",
        op, backend);
  int32_t count = r.count.load(std::memory_order_relaxed);
  if (number < 0 && count == TILEGYM_MAX_BACKENDS)
    return fail(TILEGYM_INVALID_ARGUMENT, "%s: %s would be one backend more than the %d that there can be",
                op, backend, int(TILEGYM_MAX_BACKENDS));
  if (number < 0) {
    number = count;
    r.names[number] = backend;
    r.count.store(count + 1, std::memory_order_release);
  }
  r.all.push_back(std::make_unique<Implementation>(Implementation{op, number, impl, user}));
  registrations.fetch_add(1, std::memory_order_release);
  return TILEGYM_OK;
}

} // namespace

const Backend *referenceBackend() { return reference.load(std::memory_order_acquire); }
int32_t chosenBackend() { return ofThread >= 0 ? ofThread : ofProcess.load(std::memory_order_relaxed); }

TilegymStatus checkBackend(int32_t backend) {
  int32_t count = registry().count.load(std::memory_order_acquire);
  if (backend < 0 || backend >= count)
    return fail(TILEGYM_INVALID_ARGUMENT,
                "backend number %d does not exist; there are 0 to %d (tilegym_backend gives a name's)",
                int(backend), int(count) - 1);
  if (backend == TILEGYM_BACKEND_REFERENCE && !referenceBackend())
    return fail(TILEGYM_UNAVAILABLE,
                "the reference backend is not in this program; link TileGym::reference and call "
                "tilegym_add_reference");
  return TILEGYM_OK;
}

Implementations::Implementations(size_t ops)
    : slots(std::make_unique<Slot[]>(ops * TILEGYM_MAX_BACKENDS)),
      warned(std::make_unique<std::atomic<uint32_t>[]>(ops)) {}

const Implementation *Implementations::find(size_t op, const std::string &name, int32_t backend) {
  Slot &slot = slots[op * TILEGYM_MAX_BACKENDS + size_t(backend)];
  if (slot.seen.load(std::memory_order_acquire) != registrations.load(std::memory_order_acquire)) {
    Registry &r = registry();
    std::lock_guard lock(r.mutex);
    slot.found.store(latest(r, name, backend), std::memory_order_relaxed);
    slot.seen.store(registrations.load(std::memory_order_relaxed), std::memory_order_release);
  }
  return slot.found.load(std::memory_order_relaxed);
}

bool Implementations::warnsNow(size_t op, const std::string &name, int32_t backend) {
  uint32_t bit = uint32_t(1) << backend;
  if (warned[op].load(std::memory_order_relaxed) & bit || warned[op].fetch_or(bit) & bit)
    return false;
  Registry &r = registry();
  std::lock_guard lock(r.mutex);
  return r.warned.emplace(name, backend).second;
}

std::vector<const Implementation *> registered() {
  Registry &r = registry();
  std::lock_guard lock(r.mutex);
  std::vector<const Implementation *> list;
  for (const auto &i : r.all)
    if (latest(r, i->op, i->backend) == i.get())
      list.push_back(i.get());
  return list;
}

bool fallbackIsDisabled() {
  static const bool disabled = [] {
    const char *text = std::getenv("TILEGYM_DISABLE_FALLBACK");
    return text && *text && std::string_view(text) != "0";
  }();
  return disabled;
}

} // namespace tilegym::runtime

using namespace tilegym::runtime;

extern "C" {

void tilegym_internal_install_reference(const Backend *backend) {
  reference.store(backend, std::memory_order_release);
}

int32_t tilegym_internal_exchange_backend(int32_t backend) {
  return ofProcess.exchange(backend, std::memory_order_relaxed);
}

int32_t tilegym_backend(const char *name) { return name ? find(registry(), name) : TILEGYM_BACKEND_DEFAULT; }

const char *tilegym_backend_name(int32_t backend) {
  const Registry &r = registry();
  return backend >= 0 && backend < r.count.load(std::memory_order_acquire) ? r.names[backend].c_str()
                                                                           : nullptr;
}

TilegymStatus tilegym_set_backend(int32_t backend) {
  TRY(checkBackend(backend));
  ofProcess.store(backend, std::memory_order_relaxed);
  return TILEGYM_OK;
}

TilegymStatus tilegym_set_thread_backend(int32_t backend, int32_t *previous) {
  if (backend != TILEGYM_BACKEND_DEFAULT)
    TRY(checkBackend(backend));
  if (previous)
    *previous = ofThread;
  ofThread = backend;
  return TILEGYM_OK;
}

int32_t tilegym_current_backend(void) { return chosenBackend(); }

TilegymStatus tilegym_register_impl(const char *op, const char *backend, TilegymImpl impl, void *user) {
  if (!op || !*op || !backend || !*backend)
    return fail(TILEGYM_INVALID_ARGUMENT, "an implementation needs the names of an op and of a backend");
  return guarded([&] { return add(op, backend, impl, user); });
}

} // extern "C"
