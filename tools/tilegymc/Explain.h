// SPDX-License-Identifier: MIT
// What `explain` knows of one call on one package: the choice that dispatch makes, as the runtime makes it, without a GPU.
#pragma once
#include "DeviceCall.h"
#include "PackageFile.h"
#include "compiler/interpreter/HostTensor.h"
#include "compiler/semantics/TestCalls.h"
#include "runtime/src/PlanLaunch.h"
#include <nlohmann/json.hpp>

namespace tilegym::cli {

/// A call with arguments at made-up addresses, as aligned as an allocator's and far apart: nothing is launched.
class PretendedCall {
public:
  PretendedCall(const sem::OpModel &op, const sem::TestCall &call, const PackageFile &package, size_t number);
  /// False, with `error` set, where the runtime refuses the call or has no variant for it.
  bool choose(int arch, int64_t multiprocessors, std::string &error, int &code);

  runtime::Call call;
  runtime::Choice choice;
  runtime::Grid grid;
  /// Where a plan was chosen: its launches, as many as it has.
  runtime::PlannedLaunch launches[format::kMaxLaunches];
  runtime::ScratchSpace scratch;

private:
  std::vector<std::vector<interp::Dims>> strides; ///< by tensor: of each of a list
  std::vector<ListArgument> tensors;
  std::vector<uint64_t> scalars;
  std::vector<const void *> arguments;
};

/// One kernel: its guard, derived parameters, and its variants with why they lose.
nlohmann::ordered_json explainKernel(const PretendedCall &pretended, const sem::OpModel &op, uint32_t kernel,
                                     int arch);

/// Of the variant that runs: where its point comes from ("the tuned table ...", "the cost model ..."), remarks at the spec's lines, and the
/// text of a stage, if one is asked for. Needs the compiler: `lacking` says so where there is none. An exit code.
struct CodeStory {
  std::string point, stageText, lacking;
  std::vector<std::string> others; ///< points that the cost model ranks next
  std::vector<Diagnostic> remarks; ///< notes
};
int tellCode(const OpPtr &op, const std::string &entry, int arch, const std::string &stage, CodeStory &story);

} // namespace tilegym::cli
