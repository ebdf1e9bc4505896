// SPDX-License-Identifier: MIT
// Running the blocks of one launch.
#pragma once
#include "compiler/interpreter/Evaluator.h"

namespace tilegym::interp {

/// True where the body, or a lambda in it, has such an operation.
bool usesOp(const sem::Block &block, bool (*matches)(sem::Op));
bool isAtomic(sem::Op op);

/// Evaluates the grid and runs every block in the order asked for. Throws the RunFault of the earliest faulty block.
void runLaunch(const RunContext &context, const sem::Kernel &kernel, std::vector<Slot> params);

} // namespace tilegym::interp
