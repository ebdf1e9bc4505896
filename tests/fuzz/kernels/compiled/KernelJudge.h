// SPDX-License-Identifier: MIT
// Judges one kernel's text: the interpreter runs it without a fault and the same in every order of blocks, every variant compiles, and in the simulator it
// gives the same values without a finding.
#pragma once
#include "tests/fuzz/kernels/KernelCase.h"
#include <cstdint>
#include <string>

namespace tilegym::fuzz {

enum class Backend : uint8_t {
  None,        ///< the text is checked
  Interpreter, ///< alone
  Ptx,         ///< compiles too, and runs nothing of it
  Simulator,
};

struct JudgeOptions {
  Backend backend = Backend::Simulator;
  unsigned layouts = 3; ///< ways of laying out the tensors, of each call
  uint64_t seed = 1;    ///< of layouts and schedules
  std::vector<std::string> archs = {"sm_80", "sm_90a"};
  bool everyArch = true; ///< else the seed chooses one
};

struct Verdict {
  enum Kind : uint8_t { Good, BadSpec, InterpreterFault, CompileError, Finding, Mismatch, Crash } kind = Good;
  std::string message;
  uint64_t runs = 0;     ///< of calls in the interpreter
  uint64_t compared = 0; ///< of variants, each with the interpreter's result
  uint64_t variants = 0; ///< compiled
  std::set<std::string> uses;
};
std::string name(Verdict::Kind kind);

Verdict judgeKernel(const std::string &text, const std::string &fileName, const JudgeOptions &options);

} // namespace tilegym::fuzz
