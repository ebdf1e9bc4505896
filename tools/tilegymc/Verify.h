// SPDX-License-Identifier: MIT
// The checks of `verify`, in order: the spec as text, what it means, its compiled code, what was recorded of it.
#pragma once
#include "Checklist.h"
#include "ChildProcess.h"
#include "Specs.h"

namespace tilegym::cli {

struct VerifyOptions {
  std::vector<std::string> specs, archs;
  std::string package; ///< what the GPU's checks use, instead of compiling here
  std::string goldens; ///< folder; empty: tests/golden beside the spec's folder
  int64_t limit = 4096;
  double neutral = 5; ///< percent: the noise of benchmarks
  unsigned jobs = 0;
  bool noSkips = false;
};

class Verify {
public:
  Verify(const VerifyOptions &options, const Globals &globals, std::string spec);
  ~Verify();
  Verify(const Verify &) = delete;
  Verify &operator=(const Verify &) = delete;
  /// Every check. Ok, InputWrong where the spec has errors, or CheckFailed.
  int run();
  const Checklist &checklist() const { return list; }

private:
  using json = nlohmann::json;
  using Finished = ChildProcess::Finished;
  CheckLine complete();
  CheckLine formatted();
  CheckLine linted();
  CheckLine reference();
  void kernels();
  void compiled(const std::string &arch);
  CheckLine compile(const std::string &arch, json &manifest);
  CheckLine resources(const json &manifest) const;
  CheckLine dispatch(const std::string &arch);
  CheckLine simulator(const std::string &arch);
  CheckLine gpu();
  CheckLine tolerance();
  CheckLine golden();
  CheckLine benchmark();

  /// Runs a command of this program on the spec; with the same folders of specs.
  Finished command(std::vector<std::string> words);
  /// What the cases of `check --json` and `test --json` of some backends came to.
  CheckLine judgeCases(const Finished &child, const std::string &backend);
  /// `words`, and how many threads where that was said.
  std::vector<std::string> withJobs(std::vector<std::string> words) const;
  std::string folderOf(const std::string &arch) const { return scratch + "/" + arch; }

  const VerifyOptions &options;
  const Globals &globals;
  std::string spec; ///< as given
  OpPtr op;
  Checklist list;
  std::string scratch; ///< a folder of its own
  std::string lastCommand;
  std::vector<sem::SeenError> seen;
  bool sawCompiledCode = false, sawGpu = false, anyWrong = false;
};

} // namespace tilegym::cli
