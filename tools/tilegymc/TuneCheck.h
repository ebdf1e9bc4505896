// SPDX-License-Identifier: MIT
// Whether a point of a tune package is right: against the reference on few rows, and on the whole call against what is known to be right.
#pragma once
#include "BenchMemory.h"
#include "GpuBackend.h"
#include "VariantLaunch.h"
#include <functional>
#include <map>

namespace tilegym::cli {

/// Told before a launch of an entry that may never end, and when it has.
struct LaunchWatch {
  std::function<void(const std::string &entry)> launch;
  std::function<void()> landed;
};

class TuneCheck {
public:
  TuneCheck(const Gpu &gpu, const PackageFile &package, const sem::OpModel &op, const sem::TestModel &tests,
            const sem::TestCall &call, const LaunchWatch &watch);
  /// Memory for the call, and which points take it.
  bool prepare(std::string &error);
  /// Numbers of the package's fast variants of the kernel that the call runs, which could take it.
  const std::vector<uint32_t> &points() const { return fitting; }
  std::string entry(uint32_t index) const;
  /// A launch on the whole call, loaded when first asked for; null with `error` set.
  VariantLaunch *launchOf(uint32_t index, std::string &error);

  /// Why the point's result is wrong; empty: it is right.
  std::string checkSmall(uint32_t index);
  /// As above, on the whole call. Its inputs repeat the small call's, so where rows don't know their number, outputs are its outputs over and over, bit by bit;
  /// else they must equal the first right ones, within the tolerance.
  std::string checkWhole(uint32_t index);
  /// The GPU takes no more work in this process.
  bool isLost() const { return health.lost; }

private:
  using Outputs = std::vector<std::vector<interp::HostTensor>>; ///< by tensor id
  /// The outputs of the small call, as a point gave them.
  class Recorder : public interp::CaseObserver {
  public:
    void reference(const sem::TestCall &, const interp::Arguments &,
                   const std::vector<std::vector<interp::HostTensor>> &) override {}
    void outcome(const std::string &, const interp::Outcome &outcome) override { last = outcome.tensors; }
    std::vector<std::vector<interp::HostTensor>> last;
  };
  bool repeats(const Outputs &got, const std::vector<std::vector<interp::HostTensor>> &small) const;
  std::string difference(const Outputs &got) const;
  std::string difference(size_t id, const interp::HostTensor &mine, const interp::HostTensor &other) const;

  const Gpu &gpu;
  const PackageFile &package;
  const sem::OpModel &op;
  const sem::TestModel &tests;
  const sem::TestCall &call;
  sem::TestCall small;
  const LaunchWatch &watch;
  size_t number;
  GpuHealth health;
  Recorder recorder;
  interp::CaseRunner runner;
  std::optional<interp::Arguments> pattern; ///< of all inputs
  BenchMemory memory;
  std::vector<uint32_t> fitting;
  std::map<uint32_t, VariantLaunch> launches;
  std::map<uint32_t, std::vector<std::vector<interp::HostTensor>>> ofSmall; ///< by point
  std::optional<Outputs> right;                                             ///< of the whole call
};

} // namespace tilegym::cli
