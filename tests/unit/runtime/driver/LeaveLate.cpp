// SPDX-License-Identifier: MIT
// Leaves the program while a package that has loaded code is held by a static object, which closes it when the driver is gone already: no word, no
// crash. usage: leave_late return|exit|thread
#include "tests/unit/runtime/PackageBuilder.h"
#include "tests/unit/runtime/driver/NullDriver.h"
#include <cstdlib>
#include <thread>

using namespace tilegym::testing;

namespace {

struct Held {
  std::vector<uint64_t> words;
  TilegymPackage *package = nullptr;
  ~Held() { tilegym_package_close(package); }
};
Held held;
tilegym::runtime::Driver driver; // trivially destroyed, so it outlives the package

int callOnce() {
  tilegym::runtime::useDriver(&driver);
  int64_t shape[] = {3, 4};
  char *at = reinterpret_cast<char *>(int64_t(1) << 40);
  TilegymTensor x{at, shape, nullptr, 2, TILEGYM_F32}, y{at + 4096, shape, nullptr, 2, TILEGYM_F32};
  const void *args[] = {&x, nullptr, nullptr, nullptr, &y};
  return tilegym_call(held.package, 0, args, nullptr);
}

} // namespace

int main(int argc, char **argv) {
  driver = nullDriver();
  tilegym_set_log_level(TILEGYM_LOG_OFF);                               // it has PTX alone for this device
  driver.libraryUnload = [](tilegym::runtime::CUlibrary) { return 4; }; // CUDA_ERROR_DEINITIALIZED
  std::string block = PackageBuilder().build({scaleOp()}), way = argc > 1 ? argv[1] : "";
  held.words.resize(block.size() / 8 + 1);
  std::memcpy(held.words.data(), block.data(), block.size());
  if (tilegym_package_open(held.words.data(), block.size(), &held.package) != TILEGYM_OK)
    return 1;
  int status = 1;
  if (way == "thread")
    std::thread([&] { status = callOnce(); }).join();
  else
    status = callOnce();
  if (way == "exit")
    std::exit(status);
  return status;
}
