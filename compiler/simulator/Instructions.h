// SPDX-License-Identifier: MIT
// The table of instructions: compiled code's `tgsim_<mnemonic>` is resolved against it.
//
// A family file (NamedBarrier.cpp, Mbarrier.cpp, ...) defines its functions in an unnamed namespace and one `std::span<const Row>
// xxxInstructions()`, which is declared below and named once in `families` of Instructions.cpp.
//
// Rows that are no op of the dialect: `load` and `store` (address, byte count), which compiled code calls before each plain access.
#pragma once
#include "compiler/simulator/Site.h"
#include <span>
#include <string_view>

namespace tilegym::sim {

struct Row {
  std::string_view mnemonic;
  Instruction run;
};

/// Every row, sorted by mnemonic.
std::span<const Row> instructions();
/// Null where there is none.
Instruction findInstruction(std::string_view mnemonic);

// One a family file.
std::span<const Row> memoryInstructions();
std::span<const Row> atomicInstructions();
std::span<const Row> fenceInstructions();
std::span<const Row> executionInstructions();
std::span<const Row> warpInstructions();
std::span<const Row> barrierInstructions();
std::span<const Row> mathInstructions();
std::span<const Row> convertInstructions();
std::span<const Row> mbarrierInstructions();
std::span<const Row> clusterInstructions();
std::span<const Row> copyAsyncInstructions();
std::span<const Row> bulkInstructions();
std::span<const Row> launchInstructions();
std::span<const Row> matrixInstructions();
std::span<const Row> wgmmaInstructions();

} // namespace tilegym::sim
