// SPDX-License-Identifier: MIT
// The fake driver, loaded for this process before the runtime asks for one.
#pragma once
#include "tests/unit/runtime/driver/FakeCuda.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <dlfcn.h>

namespace tilegym::testing {

/// Freshly set up.
inline FakeCuda &fakeCuda() {
  static FakeCuda *fake = [] {
    setenv("TILEGYM_DRIVER", FAKE_DRIVER, 1);
    void *library = dlopen(FAKE_DRIVER, RTLD_NOW);
    REQUIRE(library);
    auto get = reinterpret_cast<FakeCuda *(*)()>(dlsym(library, "fakeCuda"));
    REQUIRE(get);
    return get();
  }();
  fake->reset();
  return *fake;
}

} // namespace tilegym::testing
