// SPDX-License-Identifier: MIT
// Ours and the device copy.
#include "Contestant.h"

namespace tilegym::cli {

DeviceTimer::DeviceTimer(const Gpu &gpu, std::string &error) : gpu(gpu), graphDriver(findGraphDriver(gpu)) {
  flush.allocate(gpu, kFlushBytes, error);
}

double DeviceContestant::once(std::string &error) {
  if (graph)
    return timer.time([&] { graph->launch(timer.device(), error); }, graph->stream(), error) / inGraph;
  return timer.time([&] { enqueue(nullptr, 0, error); }, nullptr, error);
}

void DeviceContestant::useGraph(unsigned runs, std::string &error) {
  if (!timer.graphs() || !makeCopies(runs, error))
    return;
  auto made = std::make_unique<LaunchGraph>(*timer.graphs());
  auto all = [&](runtime::CUstream stream, std::string &why) {
    for (unsigned i = 0; i < runs; ++i)
      if (!enqueue(stream, i, why))
        return false;
    return true;
  };
  if (made->record(timer.device(), all, error)) {
    graph = std::move(made);
    inGraph = runs;
  }
}

bool CallContestant::makeCopies(unsigned count, std::string &error) {
  while (memory.size() < count) {
    auto one = std::make_unique<BenchMemory>();
    if (!one->make(timer.device(), op, call, pattern, error))
      return false;
    memory.push_back(std::move(one));
  }
  return true;
}

namespace {

class OurContestant final : public CallContestant {
public:
  OurContestant(DeviceTimer &timer, const PackageFile &package, size_t number, const sem::OpModel &op,
                const sem::TestCall &call, const interp::Arguments &pattern)
      : CallContestant(timer, op, call, pattern), package(package), number(number) {}
  std::string name() const override { return "ours"; }

private:
  bool enqueue(runtime::CUstream stream, unsigned copy, std::string &error) override {
    TilegymStatus status = tilegym_call(package.handle(), number, memory[copy]->arguments().data(), stream);
    if (status != TILEGYM_OK && error.empty())
      error = tilegym_last_error();
    return status == TILEGYM_OK;
  }

  const PackageFile &package;
  size_t number;
};

class CopyContestant final : public DeviceContestant {
public:
  CopyContestant(DeviceTimer &timer, size_t bytes) : DeviceContestant(timer), half(bytes / 2) {}
  std::string name() const override { return "copy"; }
  bool makeCopies(unsigned count, std::string &error) override {
    return from.allocate(timer.device(), half * count, error) &&
           to.allocate(timer.device(), half * count, error);
  }

private:
  bool enqueue(runtime::CUstream stream, unsigned copy, std::string &error) override {
    runtime::CUresult result = timer.device().driver->memcpyDtoDAsync(
        to.address() + copy * half, from.address() + copy * half, half, stream);
    if (result != runtime::kSuccess && error.empty())
      error = timer.device().text("copying on the GPU", result);
    return result == runtime::kSuccess;
  }

  size_t half;
  DeviceBlock from, to;
};

} // namespace

std::unique_ptr<Contestant> ourContestant(DeviceTimer &timer, const PackageFile &package, size_t number,
                                          const sem::OpModel &op, const sem::TestCall &call,
                                          const interp::Arguments &pattern, std::string &error) {
  auto ours = std::make_unique<OurContestant>(timer, package, number, op, call, pattern);
  return ours->makeCopies(1, error) ? std::move(ours) : nullptr;
}

std::unique_ptr<Contestant> copyContestant(DeviceTimer &timer, size_t bytes, std::string &error) {
  auto copy = std::make_unique<CopyContestant>(timer, bytes);
  return copy->makeCopies(1, error) ? std::move(copy) : nullptr;
}

} // namespace tilegym::cli
