// SPDX-License-Identifier: MIT
// Every call in every layout: the interpreter first, then what was compiled.
#include "tests/fuzz/kernels/compiled/KernelJudge.h"
#include "tests/fuzz/kernels/KernelCoverage.h"
#include "tests/fuzz/kernels/compiled/KernelCompile.h"
#include "tests/fuzz/kernels/compiled/Simulated.h"

namespace tilegym::fuzz {

std::string name(Verdict::Kind kind) {
  static const char *const names[] = {"good",     "bad spec", "interpreter fault", "compile error", "finding",
                                      "mismatch", "crash"};
  return names[kind];
}

Verdict judgeKernel(const std::string &text, const std::string &fileName, const JudgeOptions &options) {
  Verdict verdict;
  auto fail = [&](Verdict::Kind kind, const std::string &message) {
    verdict.kind = kind;
    verdict.message = message;
    return verdict;
  };
  std::string error;
  std::unique_ptr<KernelCase> kernel = readKernel(text, fileName, error);
  if (!kernel)
    return fail(Verdict::BadSpec, error);
  verdict.uses = usesOf(*kernel);
  std::vector<std::unique_ptr<SimulatedKernel>> simulated;
  for (size_t i = 0; i < options.archs.size(); ++i) {
    if (options.backend < Backend::Ptx)
      break;
    if (!options.everyArch && i != options.seed % options.archs.size())
      continue;
    const std::string &arch = options.archs[i];
    bool simulates = options.backend == Backend::Simulator && hasSimulator();
    Compiled compiled =
        compileKernel(*kernel, simulates ? Target::Simulator : Target::Ptx, arch, options.seed % 3 == 0);
    if (!compiled.error.empty())
      return fail(Verdict::CompileError, compiled.error);
    verdict.variants += compiled.variants;
    if (simulates)
      simulated.push_back(std::make_unique<SimulatedKernel>(arch, compiled.package));
  }
  if (options.backend == Backend::None)
    return verdict;
  for (const sem::TestCall &call : kernel->calls)
    for (unsigned i = 0; i < options.layouts; ++i) {
      uint64_t layout = i ? options.seed * 1000 + i : 0;
      std::string where = "call " + call.name + ", layout " + std::to_string(layout) + "\n";
      std::optional<interp::Arguments> args = makeArguments(*kernel, call, layout, error);
      if (!args)
        return fail(Verdict::BadSpec, where + error);
      auto want = wantedOf(*kernel, call, *args, error);
      if (!want)
        return fail(Verdict::InterpreterFault, where + error);
      ++verdict.runs;
      for (const auto &one : simulated)
        for (const DeviceOutcome &outcome : one->run(*kernel, call, *args, layout, options.seed + i)) {
          std::string who = where + one->arch() + ", " + outcome.variant + "\n";
          if (!outcome.error.empty())
            return fail(Verdict::Finding, who + outcome.error);
          if (std::string what = difference(*kernel, outcome.tensors, *want); !what.empty())
            return fail(Verdict::Mismatch, who + what);
          ++verdict.compared;
        }
    }
  return verdict;
}

} // namespace tilegym::fuzz
