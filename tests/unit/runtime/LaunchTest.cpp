// SPDX-License-Identifier: MIT
// From a call to the driver, with a fake one: parameters, grids, fills, loading for each device, refusals.
#include "tests/unit/runtime/Calls.h"
#include "tests/unit/runtime/Fake.h"
#include "tilegym/tilegym.hpp"
#include <functional>
#include <thread>

using namespace tilegym::testing;

namespace {

struct Setting {
  std::vector<int64_t> shape = {3, 4}, strides = {};
  bool withB = true;
  float s = 2;
  void *stream = nullptr;
  char *data = memory();
};

TilegymStatus callScale(const Opened &opened, const Setting &set = {}) {
  Given x(set.data, TILEGYM_F32, set.shape, set.strides), b(memory() + (1 << 18), TILEGYM_F32, {1}),
      y(memory() + (1 << 19), TILEGYM_F32, set.shape);
  const void *args[] = {x.c(), set.withB ? b.c() : nullptr, &set.s, nullptr, y.c()};
  return tilegym_call(opened.package, 0, args, set.stream);
}

std::string refused(const Opened &opened, TilegymStatus status, const Setting &set = {}) {
  CHECK(callScale(opened, set) == status);
  return tilegym_last_error();
}

/// histogram-like: -> h: T[A, B] filled with a value, grid empty where A is 0.
OpText filledOp(uint8_t dtype, uint64_t bits) {
  OpText o;
  o.name = "filled";
  o.typeVars = {{"", {dtype}}};
  o.dims = {{"A"}, {"B"}};
  o.tensors = {{"x", Role::Input, 0, {{0}, {1}}}, {"h", Role::Output, 0, {{0}, {1}}, false, bits}};
  o.kernels = {{"only"}};
  VariantText v;
  v.dtypes = {dtype};
  v.images = {{80, 1, 0, std::string("0 ptx\0", 6)}};
  v.grid = {{dim(0)}};
  o.variants = {v};
  return o;
}

} // namespace

TEST_CASE("parameters and the launch") {
  FakeCuda &fake = fakeCuda();
  Opened opened(scaleOp());
  Setting set;
  set.shape = {2, 3, 300};
  set.strides = {5000, 300, 1};
  set.stream = reinterpret_cast<void *>(size_t(64));
  REQUIRE(callScale(opened, set) == TILEGYM_OK);
  REQUIRE(fake.launches.size() == 1);
  const FakeLaunch &l = fake.launches[0];
  CHECK(l.entry == "general_f32_b");
  CHECK((l.grid[0] == 18 && l.grid[1] == 1 && l.grid[2] == 1));
  CHECK(l.block[0] == 128);
  CHECK(l.stream == set.stream);
  auto address = [](char *p) { return reinterpret_cast<uint64_t>(p); };
  const std::vector<uint64_t> want = {address(memory()),
                                      address(memory() + (1 << 18)),
                                      address(memory() + (1 << 19)),
                                      6,
                                      300, // R, N
                                      1,
                                      0,          // strides of x and of b, which broadcasts
                                      0x40000000, // 2.0f
                                      2,
                                      2,
                                      3,
                                      5000,
                                      300, // the group
                                      6,
                                      132};
  CHECK(l.params == want);
}

TEST_CASE("kernels start early where the thread wants it and their code waits by itself") {
  FakeCuda &fake = fakeCuda();
  for (uint32_t arch : {90u, 80u}) {
    OpText op = filledOp(F32, 0);
    op.variants[0].images[0].arch = arch;
    Opened opened(op);
    Given x(memory(), TILEGYM_F32, {3, 4}), h(memory() + (1 << 19), TILEGYM_F32, {3, 4});
    const void *args[] = {x.c(), h.c()};
    auto early = [&] {
      REQUIRE(tilegym_call(opened.package, 0, args, nullptr) == TILEGYM_OK);
      return fake.launches.back().early;
    };
    CHECK_FALSE(early());
    {
      tilegym::UseEarlyLaunch scope;
      CHECK(early() == (arch == 90));
      bool ofOther = true;
      std::thread([&] { ofOther = early(); }).join();
      CHECK_FALSE(ofOther);
      CHECK(tilegym_set_early_launch(false) == 1);
      CHECK_FALSE(early());
      CHECK(tilegym_set_early_launch(true) == 0);
    }
    CHECK_FALSE(early());
  }
}

TEST_CASE("an absent tensor is a null pointer, and a merged group has one dim") {
  FakeCuda &fake = fakeCuda();
  Opened opened(scaleOp());
  Setting set;
  set.shape = {2, 3, 4};
  set.withB = false;
  REQUIRE(callScale(opened, set) == TILEGYM_OK);
  const std::vector<uint64_t> &p = fake.launches[0].params;
  CHECK(fake.launches[0].entry == "fast_f32");
  CHECK(p[1] == 0);
  CHECK((p[8] == 1 && p[9] == 6 && p[10] == 1 && p[11] == 4 && p[12] == 0));
}

TEST_CASE("code is loaded once, lazily, and prepare loads without a launch") {
  FakeCuda &fake = fakeCuda();
  Opened opened(scaleOp());
  CHECK(fake.count("cuLibraryLoadData") == 0);
  Given x(memory(), TILEGYM_F32, {3, 4}), y(memory() + (1 << 19), TILEGYM_F32, {3, 4});
  const void *args[] = {x.c(), nullptr, nullptr, nullptr, y.c()};
  REQUIRE(tilegym_prepare(opened.package, 0, args) == TILEGYM_OK);
  CHECK(fake.count("cuLibraryLoadData 15 ptx") == 1);
  CHECK(fake.launches.empty());
  for (int i = 0; i < 3; ++i)
    REQUIRE(tilegym_call(opened.package, 0, args, nullptr) == TILEGYM_OK);
  CHECK(fake.launches.size() == 3);
  CHECK(fake.count("cuLibraryLoadData") == 1);
  CHECK(fake.count("cuKernelGetFunction") == 1);
}

TEST_CASE("closing a package unloads its code") {
  FakeCuda &fake = fakeCuda();
  {
    Opened opened(scaleOp());
    REQUIRE(callScale(opened) == TILEGYM_OK);
  }
  CHECK(fake.count("cuLibraryUnload") == 1);
}

TEST_CASE("each device takes the image that fits it") {
  FakeCuda &fake = fakeCuda();
  OpText op = scaleOp();
  for (VariantText &v : op.variants)
    v.sharedBytes = 100000;
  Opened opened(op);
  REQUIRE(callScale(opened) == TILEGYM_OK); // an sm_90: PTX of sm_80
  fake.device = 1;                          // an sm_80: its cubin
  REQUIRE(callScale(opened) == TILEGYM_OK);
  fake.device = 0;
  REQUIRE(callScale(opened) == TILEGYM_OK);
  CHECK(fake.count("cuLibraryLoadData 15 ptx") == 1);
  CHECK(fake.count("cuLibraryLoadData 15 cubin") == 1);
  CHECK(fake.count("cuKernelSetAttribute 8 = 100000 on 0") == 1);
  CHECK(fake.count("cuKernelSetAttribute 8 = 100000 on 1") == 1);
  CHECK(fake.launches[1].params.back() == 108);
  CHECK(fake.launches[2].params.back() == 132);
  CHECK(fake.launches[0].shared == 100000);
}

TEST_CASE("two devices of one architecture share the code, and each is made ready") {
  FakeCuda &fake = fakeCuda();
  fake.devices.push_back({9, 0, 132, "Fake H"});
  Opened opened(scaleOp());
  REQUIRE(callScale(opened) == TILEGYM_OK);
  fake.device = 2;
  REQUIRE(callScale(opened) == TILEGYM_OK);
  CHECK(fake.count("cuLibraryLoadData") == 1);
  CHECK(fake.count("cuKernelGetFunction") == 2);
}

TEST_CASE("a captured stream is not disturbed by loading") {
  FakeCuda &fake = fakeCuda();
  Opened opened(scaleOp());
  Setting set;
  set.stream = reinterpret_cast<void *>(size_t(64));
  fake.capturing.insert(set.stream);
  CHECK(refused(opened, TILEGYM_INVALID_ARGUMENT, set) ==
        "scale: the stream is being captured, but the kernel is not loaded yet; call tilegym_prepare before "
        "the "
        "capture");
  CHECK(fake.count("cuLibraryLoadData") == 0);
  fake.capturing.clear();
  REQUIRE(callScale(opened, set) == TILEGYM_OK);
  fake.capturing.insert(set.stream);
  CHECK(callScale(opened, set) == TILEGYM_OK);
}

TEST_CASE("a context's own function is launched, and in another context the kernel") {
  FakeCuda &fake = fakeCuda();
  Opened opened(scaleOp());
  REQUIRE(callScale(opened) == TILEGYM_OK);
  REQUIRE(callScale(opened) == TILEGYM_OK);
  CHECK((fake.launches.size() == 2 && fake.launchesOfFunctions == 2));
  CHECK((fake.count("cuCtxGetDevice") == 1 && fake.count("cuKernelGetFunction") == 1));
  ++fake.generation; // destroyed, and made anew on the same device: what was of it is an invalid handle now
  REQUIRE(callScale(opened) == TILEGYM_OK);
  CHECK((fake.launches.size() == 3 && fake.launchesOfFunctions == 2));
  CHECK(fake.count("cuCtxGetDevice") == 2);
  fake.failures = {{"cuCtxGetId", 1}}; // a driver that does not say: the device is asked for each time
  REQUIRE(callScale(opened) == TILEGYM_OK);
  REQUIRE(callScale(opened) == TILEGYM_OK);
  CHECK((fake.launches.size() == 5 && fake.launchesOfFunctions == 2));
  CHECK(fake.count("cuCtxGetDevice") == 4);
}

TEST_CASE("what the driver refuses has op, variant and its name for it") {
  FakeCuda &fake = fakeCuda();
  OpText op = scaleOp();
  for (VariantText &v : op.variants)
    v.sharedBytes = 100000;
  Opened opened(op);
  auto failing = [&](const char *symbol, int result, TilegymStatus status = TILEGYM_CUDA_ERROR) {
    fake.failures = {{symbol, result}};
    std::string text = refused(opened, status);
    fake.failures.clear();
    return text;
  };
  CHECK(failing("cuLibraryLoadData", 209) ==
        "scale: loading general_f32_b (the driver is of CUDA 13.0) failed: "
        "CUDA_ERROR_NO_BINARY_FOR_GPU (209): no description");
  CHECK(failing("cuLibraryGetKernel", 500) ==
        "scale: finding general_f32_b failed: CUDA_ERROR_NOT_FOUND (500): no description");
  CHECK(failing("cuKernelSetAttribute", 1) ==
        "scale: reserving 100000 bytes of shared memory for general_f32_b failed: "
        "CUDA_ERROR_INVALID_VALUE (1): no description");
  CHECK(failing("cuKernelGetFunction", 2) ==
        "scale: loading general_f32_b to the GPU failed: CUDA_ERROR_OUT_OF_MEMORY (2): no description");
  CHECK(
      failing("cuLaunchKernelEx", 701) ==
      "scale: launching general_f32_b with 3 blocks of 128 threads and 100000 bytes of shared memory failed: "
      "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701): too many resources requested for launch");
  ++fake.generation; // another context: its device is asked for
  CHECK(failing("cuCtxGetDevice", 700) ==
        "asking for the current GPU failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): no description");
  CHECK(failing("cuLaunchKernelEx", 12345) ==
        "scale: launching general_f32_b with 3 blocks of 128 threads and "
        "100000 bytes of shared memory failed: unknown "
        "error (12345): no description");
  CHECK(callScale(opened) == TILEGYM_OK); // nothing of it sticks
  fake.device = 70;
  CHECK(refused(opened, TILEGYM_NO_DEVICE) == "device number 70 is beyond the 64 that this runtime knows");
}

TEST_CASE("a device whose properties cannot be read is not remembered") {
  FakeCuda &fake = fakeCuda();
  fake.devices.resize(40, {9, 0, 7, "Fake"});
  fake.device = 39;
  fake.failures = {{"cuDeviceGetAttribute", 2}};
  Opened opened(scaleOp());
  CHECK(refused(opened, TILEGYM_NO_DEVICE) ==
        "asking for the GPU's properties failed: CUDA_ERROR_OUT_OF_MEMORY (2): no description");
  fake.failures.clear();
  REQUIRE(callScale(opened) == TILEGYM_OK);
  CHECK(fake.launches[0].params.back() == 7);
}

TEST_CASE("altered code is refused when it is loaded") {
  fakeCuda();
  OpText op = scaleOp();
  std::string block = PackageBuilder().build({op});
  std::vector<uint64_t> words(block.size() / 8 + 1);
  size_t at = block.rfind("15 ptx"), calls = 0;
  while (at != std::string::npos) { // of every variant
    block[at + 3] = 'q';
    at = block.rfind("15 ptx");
    ++calls;
  }
  CHECK(calls == 8);
  std::memcpy(words.data(), block.data(), block.size());
  TilegymPackage *package = nullptr;
  REQUIRE(tilegym_package_open(words.data(), block.size(), &package) == TILEGYM_OK);
  Given x(memory(), TILEGYM_F32, {3, 4}), y(memory() + (1 << 19), TILEGYM_F32, {3, 4});
  const void *args[] = {x.c(), nullptr, nullptr, nullptr, y.c()};
  CHECK(tilegym_call(package, 0, args, nullptr) == TILEGYM_BAD_PACKAGE);
  CHECK(std::string(tilegym_last_error()) ==
        "the embedded block: the code of a kernel was altered (checksum); make "
        "the package again with tilegymc compile");
  tilegym_package_close(package);
  // PTX without its end would be read beyond.
  for (VariantText &v : op.variants)
    v.images = {{80, 1, 0, "15 ptx"}};
  CHECK(refused(Opened(op), TILEGYM_BAD_PACKAGE) ==
        "the embedded block: the code of a kernel was altered (checksum); "
        "make the package again with tilegymc compile");
}

TEST_CASE("packed code reaches the driver unpacked") {
  OpText op = scaleOp();
  auto answer = [&](const std::string &bytes, uint32_t unpacked) {
    for (VariantText &v : op.variants)
      v.images = {{80, 1, 0, bytes, unpacked}};
    Opened opened(op);
    TilegymStatus status = callScale(opened);
    return status == TILEGYM_OK ? "ok" : tilegym_last_error();
  };
  fakeCuda();
  // "15 ptx" and NUL; then the same with "15 p" and a copy of nothing new behind it.
  CHECK(answer(std::string("\x07"
                           "15 ptx\0",
                           8),
               7) == std::string("ok"));
  std::string altered = "the embedded block: the code of a kernel was altered (checksum); make the package "
                        "again with tilegymc compile";
  CHECK(answer(std::string("\x07"
                           "15 ptx\0",
                           8),
               9) == altered);
  CHECK(answer(std::string("\x06"
                           "15 ptx",
                           7),
               6) == altered); // PTX without its end
}

TEST_CASE("memory must be the device's") {
  FakeCuda &fake = fakeCuda();
  Opened opened(scaleOp());
  fake.pointers[memory()] = {0, 0, 0};
  std::string text = refused(opened, TILEGYM_INVALID_ARGUMENT);
  CHECK_THAT(text, Catch::StartsWith("scale: x: 0x") &&
                       Catch::EndsWith(" is not an address of the GPU's memory; expected device memory"));
  fake.pointers[memory()] = {2, 1, 0};
  CHECK(refused(opened, TILEGYM_INVALID_ARGUMENT) ==
        "scale: x: lies on device 1, but the current device is 0");
  fake.pointers[memory()] = {1, 1, 0}; // pinned host memory
  CHECK(callScale(opened) == TILEGYM_OK);
  fake.pointers[memory()] = {2, 1, 1}; // managed
  CHECK(callScale(opened) == TILEGYM_OK);
}

TEST_CASE("a thread without a context gets the primary one of its data's device") {
  FakeCuda &fake = fakeCuda();
  fake.hasContext = false;
  fake.pointers[memory()] = {2, 1, 0};
  fake.device = 1;
  Opened opened(scaleOp());
  TilegymStatus status = TILEGYM_CUDA_ERROR;
  std::string first, second;
  std::thread([&] { status = callScale(opened); }).join();
  CHECK(status == TILEGYM_OK);
  CHECK(fake.count("cuDevicePrimaryCtxRetain 1") == 1);
  for (const char *symbol : {"cuDevicePrimaryCtxRetain", "cuCtxSetCurrent"}) {
    fake.failures = {{symbol, 2}};
    std::string text;
    std::thread([&] {
      status = callScale(opened);
      text = tilegym_last_error();
    }).join();
    CHECK(status == TILEGYM_NO_DEVICE);
    CHECK(text == std::string(symbol == std::string("cuCtxSetCurrent") ? "making the GPU's context current"
                                                                       : "making a context on the GPU") +
                      " failed: CUDA_ERROR_OUT_OF_MEMORY (2): no description");
  }
}

TEST_CASE("grids: empty, too large, not computable") {
  FakeCuda &fake = fakeCuda();
  OpText op = scaleOp();
  auto withGrid = [&](std::vector<Code> grid) {
    for (VariantText &v : op.variants) {
      v.grid = grid;
      v.layout.clear();
      v.images = {{80, 1, 0, std::string("0 ptx\0", 6)}};
    }
    return op;
  };
  Setting empty;
  empty.shape = {0, 4};
  CHECK(callScale(Opened(withGrid({{dim(0)}})), empty) == TILEGYM_OK);
  CHECK(fake.launches.empty());
  CHECK(fake.count("cuLibraryLoadData") == 0);
  CHECK(callScale(Opened(withGrid({{number(-3)}}))) == TILEGYM_OK);
  CHECK(callScale(Opened(withGrid({{number(INT64_MAX)}, {number(2)}, {number(0)}}))) == TILEGYM_OK);
  CHECK(fake.launches.empty());
  CHECK(callScale(Opened(withGrid({{number(INT32_MAX)}}))) == TILEGYM_OK);
  CHECK(refused(Opened(withGrid({{number(1 << 16)}, {number(1 << 15)}})), TILEGYM_INVALID_ARGUMENT) ==
        "scale: the grid has 2147483648 blocks, but a launch has at most 2147483647");
  CHECK(refused(Opened(withGrid({{number(INT64_MAX)}, {number(3)}})), TILEGYM_INVALID_ARGUMENT) ==
        "scale: the grid has 9223372036854775807 blocks, but a launch has at most 2147483647");
  CHECK(refused(Opened(withGrid({{number(1), number(0), inst(OpCode::CDivI)}})), TILEGYM_INVALID_ARGUMENT) ==
        "scale: the grid cannot be computed: division by zero");
}

TEST_CASE("first values of outputs, whatever their strides") {
  FakeCuda &fake = fakeCuda();
  struct {
    uint8_t dtype;
    uint64_t bits;
  } values[] = {{uint8_t(tilegym::format::DType::U8), 0x5a},
                {F16, 0x3c01},
                {F32, 0x3f800001},
                {F64, 0x3ff0000012345678},
                {uint8_t(tilegym::format::DType::I64), 0}};
  const std::vector<std::vector<int64_t>> stridesOf = {{},     {4, 1},  {1, 3},  {9, 1},
                                                       {9, 2}, {2, 20}, {-9, 1}, {9, -2}};
  for (auto value : values) {
    Opened opened(filledOp(value.dtype, value.bits));
    int64_t size = tilegym::format::bytesOf(tilegym::format::DType(value.dtype));
    for (const std::vector<int64_t> &strides : stridesOf) {
      std::vector<unsigned char> bytes(8192, 0xee), want(8192, 0xee);
      int64_t origin = 4096;
      std::vector<int64_t> s = strides.empty() ? std::vector<int64_t>{4, 1} : strides;
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t k = 0; k < 4; ++k)
          std::memcpy(&want[size_t(origin + (i * s[0] + k * s[1]) * size)], &value.bits, size_t(size));
      Given x(memory(), value.dtype, {3, 4}), h(bytes.data() + origin, value.dtype, {3, 4}, strides);
      const void *args[] = {x.c(), h.c()};
      REQUIRE(tilegym_call(opened.package, 0, args, nullptr) == TILEGYM_OK);
      INFO(int(value.dtype) << " strides " << s[0] << ", " << s[1]);
      REQUIRE(bytes == want);
    }
  }
  CHECK(fake.count("cuMemsetD2D") > 0);
  // Filled although no block runs; a dense output by one call.
  fake.calls.clear();
  Opened opened(filledOp(F32, 0));
  Given x(memory(), TILEGYM_F32, {0, 4}), h(memory(), TILEGYM_F32, {0, 4});
  const void *none[] = {x.c(), h.c()};
  REQUIRE(tilegym_call(opened.package, 0, none, nullptr) == TILEGYM_OK);
  CHECK(fake.count("cuMemset") == 0);
  Given x2(memory(), TILEGYM_F32, {64, 32}), h2(memory() + 16384, TILEGYM_F32, {64, 32}, {1, 64});
  const void *dense[] = {x2.c(), h2.c()};
  REQUIRE(tilegym_call(opened.package, 0, dense, nullptr) == TILEGYM_OK);
  CHECK(fake.count("cuMemsetD32Async 2048 x 1") == 1);
  fake.failures = {{"cuMemsetD32Async", 2}};
  CHECK(tilegym_call(opened.package, 0, dense, nullptr) == TILEGYM_CUDA_ERROR);
  CHECK(std::string(tilegym_last_error()) ==
        "filled: filling h with its first value failed: CUDA_ERROR_OUT_OF_MEMORY "
        "(2): no description");
}

TEST_CASE("explain names the variant of the current GPU") {
  fakeCuda();
  Opened opened(scaleOp());
  Given x(memory(), TILEGYM_F32, {3, 4}), y(memory() + (1 << 19), TILEGYM_F32, {3, 4});
  const void *args[] = {x.c(), nullptr, nullptr, nullptr, y.c()};
  const char *text = nullptr;
  REQUIRE(tilegym_explain(opened.package, 0, args, &text) == TILEGYM_OK);
  CHECK(std::string(text) == "fast_f32: warps=4, fast, 128 threads, 32 registers, 0 bytes of shared memory");
  CHECK(tilegym_explain(opened.package, 0, args, nullptr) == TILEGYM_INVALID_ARGUMENT);
  CHECK(std::string(tilegym_last_error()) == "the address for the text is null");
}

TEST_CASE("memory in stream order") {
  FakeCuda &fake = fakeCuda();
  void *block = nullptr, *stream = reinterpret_cast<void *>(size_t(64));
  REQUIRE(tilegym_allocate(1000, stream, &block) == TILEGYM_OK);
  CHECK(fake.count("cuMemAllocAsync 1000") == 1);
  REQUIRE(tilegym_free(block, stream) == TILEGYM_OK);
  CHECK(fake.count("cuMemFreeAsync on a stream") == 1);
  CHECK(fake.allocated.empty());
  REQUIRE(tilegym_allocate(0, stream, &block) == TILEGYM_OK);
  CHECK(block == nullptr);
  CHECK(tilegym_free(nullptr, stream) == TILEGYM_OK);
  CHECK(tilegym_allocate(8, stream, nullptr) == TILEGYM_INVALID_ARGUMENT);
  CHECK(std::string(tilegym_last_error()) == "the address for the memory is null");
  fake.failures = {{"cuMemAllocAsync", 2}};
  CHECK(tilegym_allocate(1000, stream, &block) == TILEGYM_CUDA_ERROR);
  CHECK(std::string(tilegym_last_error()) ==
        "allocating 1000 bytes on the GPU failed: CUDA_ERROR_OUT_OF_MEMORY (2): no description");
  CHECK(tilegym_free(memory(), stream) == TILEGYM_CUDA_ERROR);
  CHECK(std::string(tilegym_last_error()) ==
        "freeing memory of the GPU failed: CUDA_ERROR_INVALID_VALUE (1): no description");
}
