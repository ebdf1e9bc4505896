// SPDX-License-Identifier: MIT
// The three steps of `tilegymc tune`, each an exit code.
#pragma once
#include "PackageFile.h"
#include "TunePlan.h"

namespace tilegym::cli {

struct TuneOptions {
  std::vector<std::string> specs, shapes, dtypes;
  std::string build, measure, finish, results, output, arch = "sm_90a";
  unsigned jobs = 0, assembleSeconds = 60;
  double limit = 10; ///< seconds that a launch may take
  bool dryRun = false, worker = false;
};

/// The calls that a part of a plan is tuned by, and what they need.
struct TuneCalls {
  OpPtr op;
  sem::TestModel tests;
  sem::BenchModel bench;
  std::vector<sem::TestCall> calls; ///< point into the models
  TuneCalls(const OpPtr &op, const TuneOp &part, DiagnosticSink &sink)
      : op(op), tests(sem::readTest(*op, *op->spec->test, sink)),
        bench(sem::readBench(*op, *op->spec->bench, sink)), calls(plannedCalls(*op, bench, part, sink)) {}
};

int tuneBuild(const TuneOptions &o, const std::vector<OpPtr> &ops, const Globals &globals);
int tuneMeasure(const TuneOptions &o, const std::vector<OpPtr> &ops, const Globals &globals);
/// What `--measure` starts for each GPU.
int tuneWorker(const TuneOptions &o, const std::vector<OpPtr> &ops);
int tuneFinish(const TuneOptions &o, const std::vector<OpPtr> &ops, const Globals &globals);

/// The plan's part for an op, or of all its ops where `ops` is empty; nothing after complaining.
std::vector<const TuneOp *> partsOf(const TunePlan &plan, const std::vector<OpPtr> &ops);
/// The package as it was built; null after complaining.
std::shared_ptr<PackageFile> openPlanned(const std::string &folder, const TuneOp &part,
                                         const sem::OpModel &op);
/// Where the results of a folder are, unless the options say.
std::string resultsOf(const TuneOptions &o, const std::string &folder);

} // namespace tilegym::cli
