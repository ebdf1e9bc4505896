// SPDX-License-Identifier: MIT
// Calls of a spec's `bench` section at other sizes, and what the section says they move.
#pragma once
#include "Specs.h"
#include "compiler/semantics/TestCalls.h"

namespace tilegym::cli {

/// The call with another value of a dim; nothing where the op refuses it.
std::optional<sem::TestCall> withDim(const sem::OpModel &op, const sem::TestCall &call, size_t dim,
                                     int64_t value);
/// A call that the interpreter checks in reasonable time: less of what the first tensor's longest axis but the last counts, all else the same.
sem::TestCall smallEnough(const sem::OpModel &op, const sem::TestCall &call, int64_t elements);
/// A section's `bytes` or `flops` for the call; 0 where it does not say.
int64_t hostInteger(const sem::ExprPtr &e, const sem::TestCall &call);

} // namespace tilegym::cli
