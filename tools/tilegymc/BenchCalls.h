// SPDX-License-Identifier: MIT
// Calls of a spec's `bench` section at other sizes, and what the section says they move.
#pragma once
#include "Specs.h"
#include "compiler/semantics/TestCalls.h"

namespace tilegym::cli {

/// Values of dims by name, in place of the section's.
using Shape = std::vector<std::pair<std::string, int64_t>>;

/// The bench section's calls at the shapes, equal ones once; `name` says dims, dtypes and consts.
std::vector<sem::TestCall> shapedCalls(const sem::OpModel &op, const sem::BenchModel &bench,
                                       const std::vector<Shape> &shapes, DiagnosticSink &sink);
/// Each "R=65536,N=1024"; nothing after complaining.
std::optional<std::vector<Shape>> parseShapes(const std::vector<std::string> &texts);
/// The call with another value of a dim; nothing where the op refuses it.
std::optional<sem::TestCall> withDim(const sem::OpModel &op, const sem::TestCall &call, size_t dim,
                                     int64_t value);
/// A call that the interpreter checks in reasonable time: less of what the first tensor's longest axis but the last counts, all else the same.
sem::TestCall smallEnough(const sem::OpModel &op, const sem::TestCall &call, int64_t elements);
/// A section's `bytes` or `flops` for the call; 0 where it does not say.
int64_t hostInteger(const sem::ExprPtr &e, const sem::TestCall &call);

} // namespace tilegym::cli
