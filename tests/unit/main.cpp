// SPDX-License-Identifier: MIT
// Catch2 main, compiled once for every unit test binary.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
