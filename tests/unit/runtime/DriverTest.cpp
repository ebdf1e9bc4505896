// SPDX-License-Identifier: MIT
// Opening the driver, in a process of its own each time: none, one without a GPU, one that is too old.
#include "tilegym/tilegym.h"
#include <catch2/catch.hpp>
#include <cstdio>
#include <string>

namespace {

/// "STATUS TEXT" of a program that asks for GPU memory under this environment.
std::string opening(const std::string &environment) {
  std::FILE *pipe = popen((environment + " " OPEN_DRIVER).c_str(), "r");
  REQUIRE(pipe);
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;)
    text += char(c);
  REQUIRE(pclose(pipe) == 0);
  return text;
}

std::string number(TilegymStatus status) { return std::to_string(int(status)) + " "; }

} // namespace

TEST_CASE("a driver that is fine") { CHECK(opening("TILEGYM_DRIVER=" FAKE_DRIVER) == number(TILEGYM_OK)); }

TEST_CASE("no driver") {
  std::string text = opening("TILEGYM_DRIVER=no-such-library.so");
  CHECK_THAT(text, Catch::StartsWith(number(TILEGYM_NO_DRIVER) + "no CUDA driver: no-such-library.so"));
  CHECK_THAT(text, Catch::EndsWith("; install NVIDIA's driver, or use the reference backend"));
}

TEST_CASE("a driver without a GPU") {
  CHECK(opening("FAKE_CUDA_INIT=100 TILEGYM_DRIVER=" FAKE_DRIVER) ==
        number(TILEGYM_NO_DEVICE) + "the CUDA driver found no usable GPU: cuInit gave CUDA_ERROR_NO_DEVICE");
  CHECK(opening("FAKE_CUDA_INIT=4321 TILEGYM_DRIVER=" FAKE_DRIVER) ==
        number(TILEGYM_NO_DEVICE) + "the CUDA driver found no usable GPU: cuInit gave 4321");
}

TEST_CASE("a driver that is too old") {
  CHECK(opening("TILEGYM_DRIVER=" FAKE_DRIVER_OLD) ==
        number(TILEGYM_NO_DRIVER) +
            "the CUDA driver lacks cuLibraryLoadData: it is older than CUDA 12.0; update NVIDIA's driver");
  CHECK(opening("FAKE_CUDA_VERSION=11080 TILEGYM_DRIVER=" FAKE_DRIVER) ==
        number(TILEGYM_NO_DRIVER) +
            "the CUDA driver is of CUDA 11.8, older than CUDA 12.0; update NVIDIA's driver");
}
