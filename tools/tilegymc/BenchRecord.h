// SPDX-License-Identifier: MIT
// The run that an op's benchmark is held to: kernels/measured/CARD/OP.json beside the folder of its spec, a bench.json of ours and the copy alone.
#pragma once
#include "BenchResult.h"
#include "Specs.h"

namespace tilegym::cli {

std::string recordPath(const sem::OpModel &op, const std::string &device);
/// Writes the recording of each op. False after complaining: a row has no time, or a file cannot be written.
bool recordRun(const BenchRun &run, const std::vector<OpPtr> &ops, bool quiet);
/// What was recorded of the ops on this card, as one run of its oldest date; `missing` are those without a recording. Nothing after complaining.
std::optional<BenchRun> readRecords(const std::vector<OpPtr> &ops, const std::string &device,
                                    std::vector<OpPtr> &missing);

} // namespace tilegym::cli
