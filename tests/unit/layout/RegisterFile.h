// SPDX-License-Identifier: MIT
// Runs layout plans on data: a register file holds, for each place, the row-major index of the element it
// has.
#pragma once

#include "compiler/layout/Build.h"
#include "compiler/layout/Convert.h"
#include "compiler/layout/Shared.h"

#include "catch2/catch.hpp"

#include <map>
#include <set>

namespace tilegym::layout::test {

struct RegisterFile {
  RegisterFile(int64_t registers, int64_t warps, int64_t blocks)
      : registers(registers), warps(warps), values(size_t(registers * 32 * warps * blocks), -1) {}
  int64_t &at(int64_t reg, int64_t lane, int64_t warp, int64_t block = 0) {
    return values[size_t(((block * warps + warp) * 32 + lane) * registers + reg)];
  }
  int64_t registers, warps;
  std::vector<int64_t> values;
};

/// What the definition says: every place holds its element.
inline RegisterFile filled(const Layout &layout) {
  RegisterFile file(layout.numRegisters(), layout.numWarps(), layout.numBlocks());
  for (int64_t block = 0; block < layout.numBlocks(); ++block)
    for (int64_t warp = 0; warp < layout.numWarps(); ++warp)
      for (int64_t lane = 0; lane < 32; ++lane)
        for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
          file.at(reg, lane, warp, block) = layout.index({reg, lane, warp, block});
  return file;
}

inline RegisterFile runShuffles(const Layout &from, const Layout &to, const std::vector<ShuffleStep> &steps) {
  RegisterFile in = filled(from), out(to.numRegisters(), to.numWarps(), to.numBlocks());
  for (int64_t block = 0; block < to.numBlocks(); ++block)
    for (int64_t warp = 0; warp < to.numWarps(); ++warp)
      for (const ShuffleStep &step : steps)
        for (int64_t lane = 0; lane < 32; ++lane) {
          int64_t source = step.source.at(lane);
          out.at(step.receive.at(lane), lane, warp, block) = in.at(step.send.at(source), source, warp, block);
        }
  return out;
}

inline RegisterFile runShared(const Layout &from, const Layout &to, const SharedPlan &plan) {
  RegisterFile in = filled(from), out(to.numRegisters(), to.numWarps(), to.numBlocks());
  REQUIRE(plan.store.passes.size() == plan.load.passes.size());
  for (int64_t block = 0; block < to.numBlocks(); ++block)
    for (size_t pass = 0; pass < plan.store.passes.size(); ++pass) {
      std::vector<int64_t> buffer(size_t(plan.numElements), -1);
      for (int64_t warp = 0; warp < from.numWarps(); ++warp)
        for (int64_t lane = 0; lane < 32; ++lane) {
          if ((Vec(lane) & plan.copyLaneBits) || (Vec(warp) & plan.copyWarpBits))
            continue;
          for (const SharedAccess &access : plan.store.passes[pass]) {
            int64_t offset = plan.store.offset(access, lane, warp);
            if (offset % plan.store.width)
              FAIL("misaligned store");
            for (int64_t i = 0; i < plan.store.width; ++i) {
              int64_t &cell = buffer.at(size_t(offset + i));
              if (cell != -1)
                FAIL("two stores to one cell");
              cell = in.at(access.registers.at(size_t(i)), lane, warp, block);
            }
          }
        }
      for (int64_t warp = 0; warp < to.numWarps(); ++warp)
        for (int64_t lane = 0; lane < 32; ++lane)
          for (const SharedAccess &access : plan.load.passes[pass]) {
            int64_t offset = plan.load.offset(access, lane, warp);
            if (offset % plan.load.width)
              FAIL("misaligned load");
            for (int64_t i = 0; i < plan.load.width; ++i)
              out.at(access.registers.at(size_t(i)), lane, warp, block) = buffer.at(size_t(offset + i));
          }
    }
  return out;
}

inline RegisterFile run(const Layout &from, const Layout &to, const ConvertPlan &plan) {
  if (plan.kind == ConvertKind::Shuffle)
    return runShuffles(from, to, plan.shuffles);
  if (plan.kind == ConvertKind::Shared)
    return runShared(from, to, plan.shared);
  RegisterFile in = filled(from), out(to.numRegisters(), to.numWarps(), to.numBlocks());
  for (int64_t block = 0; block < to.numBlocks(); ++block)
    for (int64_t warp = 0; warp < to.numWarps(); ++warp)
      for (int64_t lane = 0; lane < 32; ++lane)
        for (int64_t reg = 0; reg < to.numRegisters(); ++reg)
          out.at(reg, lane, warp, block) = in.at(plan.registers.at(size_t(reg)), lane, warp, block);
  return out;
}

inline Layout get(Expected<Layout> layout) {
  INFO((layout ? "" : layout.error()));
  REQUIRE(layout);
  return *layout;
}

/// Each element is held by exactly as many places as the free bits say, exactly one of which has them all
/// zero.
inline void checkHolds(const Layout &layout) {
  Vec freeReg = layout.freeBits(Dim::Register), freeLane = layout.freeBits(Dim::Lane);
  Vec freeWarp = layout.freeBits(Dim::Warp), freeBlock = layout.freeBits(Dim::Block);
  std::vector<int> first(size_t(layout.numElements())), all(size_t(layout.numElements()));
  for (int64_t block = 0; block < layout.numBlocks(); ++block)
    for (int64_t warp = 0; warp < layout.numWarps(); ++warp)
      for (int64_t lane = 0; lane < int64_t(1) << layout.bits(Dim::Lane); ++lane)
        for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
          size_t index = size_t(layout.index({reg, lane, warp, block}));
          ++all.at(index);
          first[index] += !(Vec(reg % layout.unitRegisters()) & freeReg) && !(Vec(lane) & freeLane) &&
                          !(Vec(warp) & freeWarp) && !(Vec(block) & freeBlock);
        }
  int copies = 1 << (std::popcount(freeReg) + std::popcount(freeLane) + std::popcount(freeWarp) +
                     std::popcount(freeBlock));
  CHECK(std::set<int>(first.begin(), first.end()) == std::set<int>{1});
  CHECK(std::set<int>(all.begin(), all.end()) == std::set<int>{copies});
}

} // namespace tilegym::layout::test
