// SPDX-License-Identifier: MIT
// What the parts of bench_dispatch share: the clock, medians, arguments of calls that differ from call to call, and a call cut off after a phase.
#pragma once
#include "runtime/src/PackageHandle.h"
#include <chrono>
#include <string>
#include <vector>

namespace tilegym::bench {

inline double now() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

[[noreturn]] void stop(const std::string &why);
/// Stops with the runtime's error.
void need(TilegymStatus status);
void synchronize(const runtime::Driver &driver);

/// Reorders the times.
double median(std::vector<float> &times);

/// How far apart in memory the tensors of a call lie.
constexpr int64_t kRoom = int64_t(1) << 27;

/// The arguments of calls of one op, in the dtypes of its first variant, or of the first with the most tensor maps: groups have one axis, which grows (of an op without one, the first input's first); optional
/// tensors are left out.
class Calls {
public:
  /// The growing axis starts again at 1 behind `maxRows`.
  Calls(const runtime::Table &table, const format::Op &op, int64_t maxRows);
  Calls(const Calls &) = delete;
  /// Of call number `number`: each tensor at an address of its own that moves on.
  void set(int64_t number, char *memory);

  std::vector<const void *> args;
  size_t tensorsGiven() const { return given.size(); }

private:
  int64_t maxRows;
  std::vector<TilegymTensor> tensors;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<uint32_t> given;
  std::vector<int64_t *> growing; ///< extents
};

enum class Phase { Nothing, Bind, Check, Choose, Launch, All };
constexpr const char *kPhases[] = {
    "nothing", "bind", "device, pointers", "choice, grid, load", "parameters, launch", "the whole call"};
/// One call up to the end of a phase, as a thread's first one of the op goes; all of it as calls do that are like the last.
TilegymStatus runUntil(Phase last, TilegymPackage &package, uint32_t number, const void *const *args);

/// All that a launch needs, worked out beforehand.
struct Bare {
  runtime::CUkernel kernel = nullptr;
  runtime::CUfunction function = nullptr; ///< the same, in the current context
  runtime::Choice choice;
  runtime::Grid grid;
  runtime::Parameters parameters;
  alignas(64) unsigned char packed[2048]; ///< the parameters as they lie in the kernel's parameter space
  size_t packedSize = 0;

  void prepare(TilegymPackage &package, const runtime::Driver &driver, const runtime::Device &device,
               uint32_t number, const void *const *args);
};

/// Does what a driver's launch does to a core besides launching: evicts code, data and branch history.
void coolDown();

/// Stops where the tensor maps that a call would make differ from those that the driver makes; whether the runtime made them by itself.
bool checkMaps(TilegymPackage &package, const runtime::Driver &driver, const runtime::Device &device,
               uint32_t number, const void *const *args, const Bare &bare);

/// Random tensor maps, written by the runtime and by the driver: whether they are the same.
bool checkMapForms(const runtime::Driver &driver, int maps);

/// Where a call's time goes on the GPU: a line for each part, by itself, in turns with all others.
void breakDown(TilegymPackage &package, uint32_t number, int rounds, char *memory);

} // namespace tilegym::bench
