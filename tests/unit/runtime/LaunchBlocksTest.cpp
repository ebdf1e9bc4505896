// SPDX-License-Identifier: MIT
// Resident blocks come in whole clusters.
#include "runtime/src/KernelLaunch.h"
#include <catch2/catch.hpp>

using tilegym::runtime::launchBlocks;

TEST_CASE("a launch has whole clusters of resident blocks") {
  tilegym::format::Variant variant{};
  CHECK(launchBlocks(variant, 132, 1000) == 1000);
  variant.blocksPerSm = 2;
  CHECK(launchBlocks(variant, 132, 1000) == 264);
  CHECK(launchBlocks(variant, 132, 100) == 100);
  variant.cluster = 4;
  CHECK(launchBlocks(variant, 131, 1000) == 260);
  CHECK(launchBlocks(variant, 1, 1000) == 4); // one cluster at least
}
