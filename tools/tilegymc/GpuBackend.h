// SPDX-License-Identifier: MIT
// The GPU as a backend of the case runner: compiled kernels, launched through the runtime's C interface as a program would, with the
// memory around them watched.
#pragma once
#include "DeviceCall.h"
#include "compiler/interpreter/CaseRunner.h"
#include <atomic>

namespace tilegym::cli {

/// What several backends of one command share: after a fault that the GPU does not recover from, the rest is skipped.
struct GpuHealth {
  std::atomic<bool> lost{false};
};

/// Inputs (bit a tensor) that some fast variant of the op wants transposed, and ", a and b transposed".
struct TransposedInputs {
  uint64_t tensors;
  std::string text;
};
std::vector<TransposedInputs> transposedInputs(const PackageFile &package, const sem::OpModel &op);

/// Whether an output may share an input's memory.
bool mayRunInPlace(const sem::OpModel &op);

/// `gpu` may be the simulator's device: SimBackend says what is different there.
class GpuBackend : public interp::Backend {
public:
  GpuBackend(const Gpu &gpu, const PackageFile &package, const sem::OpModel &op, GpuHealth &health)
      : op(op), gpu(gpu), package(package), health(health) {}
  std::string name() const override { return "gpu"; }
  /// How outputs lie in memory, and how the inputs of the next run do.
  void setSpread(interp::Spread how) { spread = how; }
  /// Inputs (bit a tensor) whose last two axes the next runs find swapped in memory.
  void setTransposed(uint64_t tensors) { transposed = tensors; }
  /// Whether outputs that may share an input's memory do.
  void setInPlace(bool wanted) { inPlace = wanted; }
  /// Whether variants that the runtime would not choose run, too.
  void setOthers(bool wanted) { others = wanted; }
  /// Only the variant of this number, once.
  void setOnly(uint32_t index) { only = index; }
  /// Runs the variant that the runtime chooses twice, with outputs poisoned differently: what was not written, or is another time another, then differs. Then
  /// every other variant that could take the call runs once.
  interp::BackendRun run(const sem::TestCall &test, const interp::Arguments &inputs) override;

protected:
  /// Makes the device this thread's; says why it cannot.
  virtual bool attach(std::string &why) const;
  /// Why a case is left out on this device; empty: it is not.
  virtual std::string whySkipped(const sem::TestCall &) const { return ""; }
  /// Before the first and the second run of a case, and each further variant's.
  virtual void beforeLaunch(unsigned) {}
  /// A launch or what it needs has failed: `message` is the runtime's word for it.
  virtual void addFailure(interp::Outcome &outcome, const std::string &message) const;

  const sem::OpModel &op;

private:
  /// Outputs of one run; nothing after a fault, or where `skipped` says why it cannot be.
  std::optional<std::vector<std::vector<interp::HostTensor>>>
  once(DeviceCall &call, size_t number, std::byte poison, interp::Outcome &outcome, std::string &skipped);
  void runOthers(DeviceCall &call, size_t number, interp::BackendRun &out);
  void runVariant(uint32_t index, size_t number, DeviceCall &call, interp::BackendRun &out);
  /// Waits for the launch, and takes what it left; nothing after a fault.
  std::optional<std::vector<std::vector<interp::HostTensor>>> finish(DeviceCall &call,
                                                                     interp::Outcome &outcome);
  void checkShapes(DeviceCall &call, size_t number, const sem::TestCall &test, interp::Outcome &outcome);

  const Gpu &gpu;
  const PackageFile &package;
  GpuHealth &health;
  interp::Spread spread = interp::Spread::Dense;
  uint64_t transposed = 0;
  bool others = false, inPlace = false;
  std::optional<uint32_t> only;
};

} // namespace tilegym::cli
