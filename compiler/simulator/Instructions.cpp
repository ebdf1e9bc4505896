// SPDX-License-Identifier: MIT
// All families in one sorted table.
#include "compiler/simulator/Instructions.h"
#include <algorithm>
#include <vector>

namespace tilegym::sim {
namespace {

using Family = std::span<const Row> (*)();

constexpr Family families[] = {memoryInstructions,    atomicInstructions,    fenceInstructions,
                               executionInstructions, warpInstructions,      barrierInstructions,
                               mathInstructions,      convertInstructions,   mbarrierInstructions,
                               clusterInstructions,   copyAsyncInstructions, bulkInstructions,
                               launchInstructions,    matrixInstructions,    wgmmaInstructions};

} // namespace

std::span<const Row> instructions() {
  static const std::vector<Row> table = [] {
    std::vector<Row> rows;
    for (Family family : families)
      for (const Row &row : family())
        rows.push_back(row);
    std::sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) { return a.mnemonic < b.mnemonic; });
    return rows;
  }();
  return table;
}

Instruction findInstruction(std::string_view mnemonic) {
  auto rows = instructions();
  auto row = std::lower_bound(rows.begin(), rows.end(), mnemonic,
                              [](const Row &one, std::string_view wanted) { return one.mnemonic < wanted; });
  return row != rows.end() && row->mnemonic == mnemonic ? row->run : nullptr;
}

} // namespace tilegym::sim
