// SPDX-License-Identifier: MIT
// A CUDA driver whose device is the simulator, as a table of functions: the runtime runs on it unchanged. Images are the objects that compiling for the
// simulator gives.
//
// Each OS thread has a device of its own, with its own memory: what one thread allocates is no address to another. So threads simulate in parallel.
#pragma once
#include "compiler/simulator/Report.h"
#include "runtime/src/Driver.h"
#include <memory>
#include <vector>

namespace tilegym::simdriver {

/// Compute capabilities that can be pretended: 80, 90.
bool isSimulated(int capability);

struct Settings {
  int capability = 90;
  uint64_t seed = 0;         ///< of the next launches
  bool countTraffic = false; ///< bank conflicts and sectors, in the reports
};

/// While it lives, the runtime's calls on this thread go to the simulated device. One a thread at a time.
class Session {
public:
  explicit Session(const Settings &settings);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  Settings &settings();
  const runtime::Driver &driver() const;
  /// What the launches since the last call found, in order. Sites in them live as long as the package.
  std::vector<sim::Report> takeReports();
};

} // namespace tilegym::simdriver
