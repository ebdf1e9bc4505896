// SPDX-License-Identifier: MIT
// Code on its way to the driver: packages in files of which only the table is read, PTX for GPUs without machine code, drivers that are too old for the code,
// how long opening takes. Each test is a process of its own.
#include "runtime/src/KernelLaunch.h"
#include "tests/unit/runtime/Calls.h"
#include "tests/unit/runtime/Fake.h"
#include "tests/unit/runtime/LogLines.h"
#include <chrono>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace tilegym::testing;
using Catch::Contains;

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

namespace {

#ifdef SANITIZED
constexpr double kLimit = 100;
#else
constexpr double kLimit = 5;
#endif

TilegymStatus callScale(TilegymPackage *package) {
  Given x(memory(), TILEGYM_F32, {3, 8}), y(memory() + (1 << 19), TILEGYM_F32, {3, 8});
  const void *args[] = {x.c(), nullptr, nullptr, nullptr, y.c()};
  return tilegym_call(package, 0, args, nullptr);
}

/// A file of these bytes, gone at the end.
struct File {
  std::string path = "loading-test-" + std::to_string(getpid()) + ".tgk";
  explicit File(const std::string &bytes) { write(bytes); }
  ~File() { std::filesystem::remove(path); }
  void write(const std::string &bytes) const { std::ofstream(path, std::ios::binary) << bytes; }
};

OpText scaleOf(std::vector<ImageText> images) {
  OpText op = scaleOp();
  for (VariantText &v : op.variants)
    v.images = images;
  return op;
}

} // namespace

TEST_CASE("of a file the table is read at first, and images when they are loaded") {
  FakeCuda &fake = fakeCuda();
  fake.device = 1; // for which there is machine code
  std::string block = PackageBuilder().build({scaleOp()});
  File file(block);
  TilegymPackage *package = nullptr;
  REQUIRE(tilegym_package_open_file(file.path.c_str(), &package) == TILEGYM_OK);
  CHECK(callScale(package) == TILEGYM_OK);
  CHECK(fake.count("cuLibraryLoadData 15 cubin") == 1);
  tilegym_package_close(package);
  // Moved or replaced while it is open: the old one is read on.
  REQUIRE(tilegym_package_open_file(file.path.c_str(), &package) == TILEGYM_OK);
  std::filesystem::remove(file.path);
  file.write("another");
  CHECK(callScale(package) == TILEGYM_OK);
  tilegym_package_close(package);
}

TEST_CASE("images that were altered or cut off behind an open package's back are refused") {
  FakeCuda &fake = fakeCuda();
  fake.device = 1; // for which there is machine code
  std::string block = PackageBuilder().build({scaleOp()});
  File file(block);
  for (bool cut : {false, true}) {
    file.write(block);
    TilegymPackage *package = nullptr;
    REQUIRE(tilegym_package_open_file(file.path.c_str(), &package) == TILEGYM_OK);
    if (cut) {
      tilegym::format::Header header;
      std::memcpy(&header, block.data(), sizeof header);
      std::filesystem::resize_file(file.path, header.imagesOffset);
    } else {
      std::fstream open(file.path, std::ios::in | std::ios::out | std::ios::binary);
      for (size_t at = 0; (at = block.find("15 cubin", at)) != block.npos; ++at) {
        open.seekp(std::streamoff(at));
        open << "16";
      }
    }
    CHECK(callScale(package) == TILEGYM_BAD_PACKAGE);
    CHECK_THAT(tilegym_last_error(), Contains("the code of a kernel was altered (checksum)"));
    tilegym_package_close(package);
  }
}

TEST_CASE("files whose header lies about where the table ends") {
  std::string block = PackageBuilder().build({scaleOp()});
  for (uint64_t lie : {uint64_t(1) << 60, uint64_t(block.size()) + 1, uint64_t(8)}) {
    std::string other = block;
    std::memcpy(other.data() + offsetof(tilegym::format::Header, imagesOffset), &lie, sizeof lie);
    File file(other);
    TilegymPackage *package = nullptr;
    CHECK(tilegym_package_open_file(file.path.c_str(), &package) == TILEGYM_BAD_PACKAGE);
    CHECK_THAT(tilegym_last_error(), Contains("its table lies outside"));
  }
}

TEST_CASE("PTX for a GPU without machine code is compiled by the driver, with one notice a package") {
  FakeCuda &fake = fakeCuda();
  fake.devices[0] = {12, 0, 170, "Fake N"};
  Lines log;
  Opened opened(scaleOp());
  for (int i = 0; i < 3; ++i)
    REQUIRE(callScale(opened.package) == TILEGYM_OK);
  CHECK(log.lines ==
        std::vector<std::string>{
            "1 scale: the package has no machine code for this GPU (Fake N, sm_120), so that the driver "
            "compiles its PTX for sm_80 at first use (said once a package; tilegymc compile --arch sm_120 "
            "makes machine code)"});
  CHECK(fake.count("cuLibraryLoadData 15 ptx") == 1);
}

TEST_CASE("what is loaded is said where that is wished") {
  FakeCuda &fake = fakeCuda();
  fake.device = 1; // for which there is machine code
  Lines log;
  tilegym_set_log_level(TILEGYM_LOG_INFO);
  Opened opened(scaleOp());
  REQUIRE(callScale(opened.package) == TILEGYM_OK);
  CHECK(log.lines ==
        std::vector<std::string>{"2 scale: loaded fast_f32 (8 bytes of machine code for sm_80)"});
}

TEST_CASE("code that is newer than the driver: which version is needed") {
  setenv("FAKE_CUDA_VERSION", "12040", 1);
  FakeCuda &fake = fakeCuda();
  fake.device = 1; // for which there is machine code
  fake.failures["cuLibraryLoadData"] = 200;
  Opened cubin(scaleOf({{80, 0, 0, "15 cubin Cuda compilation tools, release 13.1, V13.1.80"}}));
  CHECK(callScale(cubin.package) == TILEGYM_NO_DRIVER);
  CHECK(std::string(tilegym_last_error()) == "scale: the driver is of CUDA 12.4, but the package's machine "
                                             "code needs one of CUDA 13.0 or later; update "
                                             "NVIDIA's driver");
  fake.failures["cuLibraryLoadData"] = 222;
  Opened ptx(scaleOf({{80, 1, 0, std::string("15 ptx\n.version 8.7\n\0", 21)}}));
  CHECK(callScale(ptx.package) == TILEGYM_NO_DRIVER);
  CHECK(std::string(tilegym_last_error()) == "scale: the driver is of CUDA 12.4, but the package's PTX needs "
                                             "one of CUDA 12.8 or later; update NVIDIA's driver");
  // Old enough: the failure is another one.
  Opened old(scaleOf({{80, 1, 0, std::string("15 ptx\n.version 8.0\n\0", 21)}}));
  CHECK(callScale(old.package) == TILEGYM_CUDA_ERROR);
  CHECK_THAT(tilegym_last_error(), Contains("scale: loading fast_f32 (the driver is of CUDA 12.4) failed"));
}

TEST_CASE("which driver a version of PTX or of the tools needs") {
  using tilegym::runtime::neededDriver;
  for (auto [text, version] : {std::pair(".version 7.8", 11080),
                               {".version 8.0", 12000},
                               {".version 8.5", 12050},
                               {".version 8.6", 12070},
                               {".version 8.8", 12090},
                               {".version 9.0", 13000},
                               {".version 9.1", 13010},
                               {".version", 0},
                               {"", 0}})
    CHECK(neededDriver(text, /*isPtx=*/true) == version);
  CHECK(neededDriver("xCuda compilation tools, release 12.9, V12.9.1", /*isPtx=*/false) == 12000);
  CHECK(neededDriver("nothing", /*isPtx=*/false) == 0);
}

TEST_CASE("a library of 60 ops with 6000 kernels opens within 5 ms") {
  std::vector<OpText> ops;
  for (int i = 0; i < 60; ++i) {
    OpText op = scaleOp();
    op.name = "op" + std::to_string(i);
    std::vector<VariantText> variants;
    for (int k = 0; k < 13; ++k)
      variants.insert(variants.end(), op.variants.begin(), op.variants.end());
    op.variants = variants;
    for (VariantText &v : op.variants)
      v.images = {{80, 0, 0, std::string(3000, 'c')}};
    ops.push_back(op);
  }
  File file(PackageBuilder().build(ops));
  CHECK(std::filesystem::file_size(file.path) > 18'000'000);
  double best = 1e9; // of several: the machine may be busy
  for (int i = 0; i < 20; ++i) {
    auto begin = std::chrono::steady_clock::now();
    TilegymPackage *package = nullptr;
    REQUIRE(tilegym_package_open_file(file.path.c_str(), &package) == TILEGYM_OK);
    best = std::min(
        best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    tilegym_package_close(package);
  }
  CHECK(best < kLimit);
  WARN("opening took " << best << " ms");
}
