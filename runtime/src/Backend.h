// SPDX-License-Identifier: MIT
// Who runs a call: the backend that the process, the thread or the call names, and what callers registered. Reading the choice costs a call two loads;
// all else here is off its path.
#pragma once
#include "Call.h"
#include <atomic>
#include <memory>
#include <string>

namespace tilegym::runtime {

/// A backend that comes with a library of its own, which installs it: the runtime knows no interpreter.
struct Backend {
  /// Makes what the backend needs of an op. Called once for an op of a package, the result is kept with the package.
  TilegymStatus (*prepare)(const Table &table, const format::Op &op, std::shared_ptr<const void> *state);
  /// Runs a call that was bound and checked; ends when its outputs are written.
  TilegymStatus (*run)(const Call &call, const void *state);
};

/// The reference backend; null where no library brought it.
const Backend *referenceBackend();

/// The number of the backend of this thread's next call.
int32_t chosenBackend();
/// True where calls of this thread work on host memory.
inline bool usesHostMemory() { return chosenBackend() == TILEGYM_BACKEND_REFERENCE; }

/// Whether there is a backend of this number; fails where not. For the reference: whether its library was linked.
TilegymStatus checkBackend(int32_t backend);

/// What was registered. Never freed: a call may be on its way to it.
struct Implementation {
  std::string op;
  int32_t backend;
  TilegymImpl run; ///< null: taken back
  void *user;
};

/// Of each op of a package, what was registered for each backend: read without a lock while nothing is registered anew.
class Implementations {
public:
  explicit Implementations(size_t ops);
  /// Null where nothing is registered.
  const Implementation *find(size_t op, const std::string &name, int32_t backend);

  /// Whether a fallback of this op from this backend is still to be said; it counts as said from then on, for ops of this name in all packages.
  bool warnsNow(size_t op, const std::string &name, int32_t backend);

private:
  struct Slot {
    std::atomic<uint64_t> seen{0}; ///< the number of registrations that `found` is of
    std::atomic<const Implementation *> found{nullptr};
  };
  std::unique_ptr<Slot[]> slots;
  std::unique_ptr<std::atomic<uint32_t>[]> warned; ///< bit a backend
};

/// All that was registered and not taken back, in the order of registration.
std::vector<const Implementation *> registered();

/// TILEGYM_DISABLE_FALLBACK, read once.
bool fallbackIsDisabled();

} // namespace tilegym::runtime

// For the library that has the interpreter. It may be a shared one and so may this, hence C: it reads the runtime's structures by their headers, and links nothing else
// of it.
extern "C" {
void tilegym_internal_install_reference(const tilegym::runtime::Backend *backend);
/// Sets the process's backend; returns what it was.
int32_t tilegym_internal_exchange_backend(int32_t backend);
}
