// SPDX-License-Identifier: MIT
// Checks of a point's results.
#include "TuneCheck.h"
#include "BenchCalls.h"
#include "CaseReport.h"
#include "VariantFit.h"
#include "compiler/interpreter/Parallel.h"
#include <cstring>

namespace tilegym::cli {
namespace {

constexpr int64_t kSmallElements = 1 << 16; ///< of a tensor of the call that the interpreter checks
constexpr int64_t kChunk = 1 << 18;         ///< elements that a thread compares at a time
/// What outputs hold before a run: in no dtype a likely value.
constexpr std::byte kPoison{0xfe};

interp::RunOptions quickly() {
  interp::RunOptions options;
  options.threads = threadsFor(0);
  options.sanitize = false;
  return options;
}

/// Says when the kernel is launched: what the reference takes is no time of it.
class WatchedBackend final : public GpuBackend {
public:
  WatchedBackend(const Gpu &gpu, const PackageFile &package, const sem::OpModel &op, GpuHealth &health,
                 const LaunchWatch &watch, std::string entry)
      : GpuBackend(gpu, package, op, health), watch(watch), entry(std::move(entry)) {}

private:
  void beforeLaunch(unsigned) override { watch.launch(entry); }

  const LaunchWatch &watch;
  std::string entry;
};

/// `count` rows of a contiguous tensor.
interp::HostTensor rows(const interp::HostTensor &tensor, int64_t first, int64_t count) {
  interp::HostTensor part = tensor;
  part.offset += first * (tensor.shape[0] ? tensor.numElements() / tensor.shape[0] : 0);
  part.shape[0] = count;
  return part;
}

} // namespace

TuneCheck::TuneCheck(const Gpu &gpu, const PackageFile &package, const sem::OpModel &op,
                     const sem::TestModel &tests, const sem::TestCall &call, const LaunchWatch &watch)
    : gpu(gpu), package(package), op(op), tests(tests), call(call),
      small(smallEnough(op, call, kSmallElements)), watch(watch), number(*package.findOp(op.name)),
      runner(op, tests, quickly()) {
  runner.setObserver(&recorder);
}

std::string TuneCheck::entry(uint32_t index) const {
  const runtime::Table &table = package.table();
  return std::string(table.text(table.get<format::Variant>(table.ops()[number].variants)[index].entry));
}

bool TuneCheck::prepare(std::string &error) {
  std::vector<interp::Fault> faults;
  pattern = interp::makeInputs(op, small, interp::Spread::Dense, faults);
  if (!pattern) {
    error = faults.empty() ? "no inputs" : faults[0].message;
    return false;
  }
  if (!memory.make(gpu, op, call, *pattern, error))
    return false;
  const format::Op &record = package.table().ops()[number];
  runtime::Call bound(package.table(), record);
  bound.smCount = gpu.device->multiprocessors;
  runtime::Choice choice;
  if (bound.bind(memory.arguments().data(), false) != TILEGYM_OK ||
      runtime::choose(bound, gpu.device->arch, gpu.device->name, &choice) != TILEGYM_OK) {
    error = tilegym_last_error();
    return false;
  }
  KernelFit fit = fitOf(bound, choice.variant->kernel);
  std::span<const format::Variant> variants = package.table().get<format::Variant>(record.variants);
  for (uint32_t i = 0; i < variants.size(); ++i)
    if (variants[i].kernel == choice.variant->kernel &&
        whyNot(bound, variants[i], fit, gpu.device->arch).empty())
      fitting.push_back(i);
  return true;
}

VariantLaunch *TuneCheck::launchOf(uint32_t index, std::string &error) {
  auto found = launches.find(index);
  if (found != launches.end())
    return &found->second;
  VariantLaunch launch;
  if (!launch.prepare(gpu, package, number, index, memory.arguments().data(), error))
    return nullptr;
  return &launches.emplace(index, std::move(launch)).first->second;
}

std::string TuneCheck::checkSmall(uint32_t index) {
  WatchedBackend backend(gpu, package, op, health, watch, entry(index));
  backend.setOnly(index);
  interp::CaseResult result = runner.run(small, backend);
  watch.landed();
  if (result.status == interp::CaseResult::Passed) {
    ofSmall[index] = recorder.last;
    return "";
  }
  return result.status == interp::CaseResult::Skipped ? result.skipped : result.failures[0];
}

bool TuneCheck::repeats(const Outputs &got, const std::vector<std::vector<interp::HostTensor>> &of) const {
  for (size_t id = 0; id < got.size(); ++id)
    for (size_t i = 0; i < got[id].size() && op.tensors[id].role == sem::Role::Output; ++i) {
      if (id >= of.size() || i >= of[id].size() || !of[id][i].isContiguous() || of[id][i].offset)
        return false;
      const interp::HostBuffer &whole = *got[id][i].buffer, &part = *of[id][i].buffer;
      for (size_t at = 0; at < whole.size(); at += part.size())
        if (std::memcmp(whole.data() + at, part.data(), std::min(part.size(), whole.size() - at)))
          return false;
    }
  return true;
}

std::string TuneCheck::difference(size_t id, const interp::HostTensor &mine,
                                  const interp::HostTensor &other) const {
  interp::Tolerance tolerance = interp::toleranceFor(op, tests, call.bound, mine.dtype);
  tolerance.relative *= 2; // both may be off, each to its side
  tolerance.absolute *= 2;
  int64_t inner = std::max<int64_t>(1, mine.numElements() / std::max<int64_t>(1, mine.shape[0]));
  int64_t step = std::max<int64_t>(1, kChunk / inner), chunks = (mine.shape[0] + step - 1) / step;
  std::vector<std::string> found(static_cast<size_t>(chunks));
  interp::parallelFor(chunks, threadsFor(0), [&](int64_t i) {
    int64_t first = i * step, count = std::min(step, mine.shape[0] - first);
    if (std::optional<interp::Mismatch> mismatch = interp::compareTensors(
            op.tensors[id].name, rows(mine, first, count), rows(other, first, count), tolerance))
      found[size_t(i)] = "from row " + std::to_string(first) + " on, " + interp::describe(*mismatch);
  });
  for (const std::string &text : found)
    if (!text.empty())
      return text;
  return "";
}

std::string TuneCheck::difference(const Outputs &got) const {
  for (size_t id = 0; id < got.size(); ++id)
    for (size_t i = 0; i < got[id].size() && op.tensors[id].role == sem::Role::Output; ++i)
      if (got[id][i].rank())
        if (std::string text = difference(id, got[id][i], (*right)[id][i]); !text.empty())
          return text;
  return "";
}

std::string TuneCheck::checkWhole(uint32_t index) {
  std::string error;
  VariantLaunch *launch = launchOf(index, error);
  if (!launch || !memory.fill(*pattern, error) || !memory.poison(kPoison, error))
    return error;
  watch.launch(entry(index));
  bool launched = launch->launch(error);
  runtime::CUresult result = launched ? gpu.driver->streamSynchronize(nullptr) : runtime::kSuccess;
  watch.landed();
  if (!launched)
    return error;
  if (result != runtime::kSuccess) {
    health.lost = true;
    return gpu.text("the kernel's run", result);
  }
  std::optional<Outputs> got = memory.download(error);
  if (!got) {
    health.lost = true;
    return error;
  }
  std::string wrong = repeats(*got, ofSmall[index]) || !right ? "" : difference(*got);
  if (wrong.empty() && !right)
    right = std::move(got);
  return wrong;
}

} // namespace tilegym::cli
