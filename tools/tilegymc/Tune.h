// SPDX-License-Identifier: MIT
// The three steps of `tilegymc tune`, each an exit code.
#pragma once
#include "TunePlan.h"

namespace tilegym::cli {

struct TuneOptions {
  std::vector<std::string> specs, shapes;
  std::string build, measure, finish, results, output, arch = "sm_90a";
  unsigned jobs = 0;
  bool dryRun = false;
};

int tuneBuild(const TuneOptions &o, const std::vector<OpPtr> &ops, const Globals &globals);
int tuneMeasure(const TuneOptions &o, const std::vector<OpPtr> &ops, const Globals &globals);
int tuneFinish(const TuneOptions &o, const std::vector<OpPtr> &ops, const Globals &globals);

/// The plan's part for an op, or of all its ops where `ops` is empty; nothing after complaining.
std::vector<const TuneOp *> partsOf(const TunePlan &plan, const std::vector<OpPtr> &ops);
/// Where the results of a folder are, unless the options say.
std::string resultsOf(const TuneOptions &o, const std::string &folder);

} // namespace tilegym::cli
