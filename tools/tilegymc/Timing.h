// SPDX-License-Identifier: MIT
// Times a call on the GPU: cold caches, events around each run, a device copy of the same traffic in between.
#pragma once
#include "EventTimer.h"
#include "PackageFile.h"
#include "compiler/interpreter/Inputs.h"

namespace tilegym::cli {

struct TimingOptions {
  unsigned iterations = 30, warmUp = 5;
  size_t flushBytes =
      size_t(256) << 20; ///< written before every timed run, so that nothing is in the L2 cache
};

struct Timing {
  Times run, copy; ///< copy: a device-to-device copy that moves `traffic` bytes, half read and half written
  std::string error;
};

/// `call` on memory of its own: inputs repeat the values of `pattern`, which may be a smaller call's.
Timing timeCall(const Gpu &gpu, const PackageFile &package, size_t number, const sem::OpModel &op,
                const sem::TestCall &call, const interp::Arguments &pattern, int64_t traffic,
                const TimingOptions &options);

} // namespace tilegym::cli
