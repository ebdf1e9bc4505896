// SPDX-License-Identifier: MIT
// A column of a benchmark: something that does the work of a call and can be timed, one run at a time, so that all of a call's columns take turns.
#pragma once
#include "BenchMemory.h"
#include "EventTimer.h"
#include "LaunchGraph.h"
#include "PackageFile.h"
#include <memory>

namespace tilegym::cli {

class Contestant {
public:
  virtual ~Contestant() = default;
  virtual std::string name() const = 0;
  /// Seconds of one run, with cold caches.
  virtual double once(std::string &error) = 0;
  /// From now on, each run is a graph of so many, on copies of the inputs in turn. Nothing where that cannot be; `once` then gives the time of one of them.
  virtual void useGraph(unsigned runs, std::string &error) = 0;
};

/// What all contestants of this process share.
class DeviceTimer {
public:
  static constexpr size_t kFlushBytes = size_t(256) << 20; ///< several times the L2 cache

  DeviceTimer(const Gpu &gpu, std::string &error);
  const Gpu &device() const { return gpu; }
  const GraphDriver *graphs() const { return graphDriver; }
  /// Seconds between the events around `body`, after the caches were flushed.
  template <class Body> double time(Body body, runtime::CUstream stream, std::string &error) {
    EventTimer timer(gpu, error);
    // On the same stream: while it runs, the host gets ahead, and its time is not measured.
    timer.keep("flushing the L2 cache",
               gpu.driver->memsetD8Async(flush.address(), ++turn, flush.size(), stream));
    return timer.time(body, stream);
  }

private:
  const Gpu &gpu;
  const GraphDriver *graphDriver;
  DeviceBlock flush;
  unsigned char turn = 0;
};

/// One that puts its work on a stream of ours.
class DeviceContestant : public Contestant {
public:
  explicit DeviceContestant(DeviceTimer &timer) : timer(timer) {}
  double once(std::string &error) override;
  void useGraph(unsigned runs, std::string &error) override;

protected:
  /// The run on copy number `copy` of the inputs.
  virtual bool enqueue(runtime::CUstream stream, unsigned copy, std::string &error) = 0;
  /// Makes as many copies of the inputs.
  virtual bool makeCopies(unsigned count, std::string &error) = 0;

  DeviceTimer &timer;

private:
  std::unique_ptr<LaunchGraph> graph;
  unsigned inGraph = 1;
};

/// One that works on a call's tensors.
class CallContestant : public DeviceContestant {
public:
  CallContestant(DeviceTimer &timer, const sem::OpModel &op, const sem::TestCall &call,
                 const interp::Arguments &pattern)
      : DeviceContestant(timer), op(op), call(call), pattern(pattern) {}
  bool makeCopies(unsigned count, std::string &error) override;

protected:
  const sem::OpModel &op;
  const sem::TestCall &call;
  const interp::Arguments &pattern;
  std::vector<std::unique_ptr<BenchMemory>> memory; ///< one a copy; each is pointed to
};

/// Ours: a call as a program makes it.
std::unique_ptr<Contestant> ourContestant(DeviceTimer &timer, const PackageFile &package, size_t number,
                                          const sem::OpModel &op, const sem::TestCall &call,
                                          const interp::Arguments &pattern, std::string &error);
/// A device-to-device copy that moves `bytes`, half of them read and half written.
std::unique_ptr<Contestant> copyContestant(DeviceTimer &timer, size_t bytes, std::string &error);

} // namespace tilegym::cli
