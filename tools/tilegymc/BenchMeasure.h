// SPDX-License-Identifier: MIT
// One row of a benchmark: the result is checked, then ours and its peers are timed in turns.
#pragma once
#include "BenchResult.h"
#include "Cards.h"
#include "GpuBackend.h"
#include "PeerProcess.h"

namespace tilegym::cli {

struct MeasureOptions {
  unsigned iterations = 30, warmUp = 5;
  int64_t checkElements = int64_t(1) << 22;
};

class BenchMeasure {
public:
  BenchMeasure(const Gpu &gpu, const PackageFile &package, PeerProcess &peers, const MeasureOptions &options)
      : gpu(gpu), package(package), peers(peers), options(options), card(cardOf(gpu)) {}
  /// Fills in what is measured: the row has names already.
  void measure(const OpPtr &op, const sem::TestModel &tests, const sem::BenchModel &bench,
               const sem::TestCall &call, BenchRow &row);
  const Card &limits() const { return card; }

private:
  bool check(const sem::OpModel &op, const sem::TestModel &tests, const sem::TestCall &call, BenchRow &row);
  void time(const sem::OpModel &op, const sem::TestCall &call, const interp::Arguments &pattern,
            BenchRow &row);

  const Gpu &gpu;
  const PackageFile &package;
  PeerProcess &peers;
  MeasureOptions options;
  Card card;
  GpuHealth health;
};

} // namespace tilegym::cli
