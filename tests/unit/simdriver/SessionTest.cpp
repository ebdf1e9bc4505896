// SPDX-License-Identifier: MIT
// The simulator as a CUDA driver: what a program sees of it through the table of functions.
#include "compiler/simulator/jit/HostObject.h"
#include "tools/simdriver/SimDriver.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

using namespace tilegym;
using runtime::CUdeviceptr;
using runtime::CUfunction;
using runtime::kSuccess;

namespace {

/// Thread 0 adds 1 to the word at its parameter, after the check that to-sim puts before each access.
const char *kSource = R"(
%site = type { ptr, ptr, i32, i32, i32, i32, i32, i32, ptr, ptr, ptr }
@name = private constant [5 x i8] c"load\00"
@file = private constant [7 x i8] c"a.tile\00"
@alignment = private constant [1 x i64] [i64 4]
@types = private constant [2 x i8] c"@@"
@place = private constant %site { ptr @name, ptr @file, i32 7, i32 3, i32 2, i32 0, i32 1, i32 0, ptr @alignment, ptr null, ptr @types }
declare void @tgsim_load(ptr, ptr, ptr)
declare void @tgsim_store(ptr, ptr, ptr)
define void @increment(ptr %parameters) #0 {
  %operands = alloca [2 x i64]
  %slot = load ptr, ptr %parameters
  %address = load i64, ptr %slot
  %second = getelementptr i64, ptr %operands, i64 1
  store i64 %address, ptr %operands
  store i64 4, ptr %second
  call void @tgsim_load(ptr %operands, ptr null, ptr @place)
  %p = inttoptr i64 %address to ptr
  %v = load i32, ptr %p
  %w = add i32 %v, 1
  call void @tgsim_store(ptr %operands, ptr null, ptr @place)
  store i32 %w, ptr %p
  ret void
}
attributes #0 = { "tilegym-kernel" "tilegym-threads"="1" }
)";

const std::string &object() {
  static const std::string bytes = [] {
    llvm::LLVMContext context;
    llvm::SMDiagnostic diagnostic;
    auto module = llvm::parseAssemblyString(kSource, diagnostic, context);
    REQUIRE(module);
    return llvm::cantFail(sim::compileForHost(*module, 90));
  }();
  return bytes;
}

struct Loaded {
  explicit Loaded(const runtime::Driver &driver) : driver(driver) {
    REQUIRE(driver.libraryLoadData(&library, object().data(), nullptr, nullptr, 0, nullptr, nullptr, 0) ==
            kSuccess);
    REQUIRE(driver.libraryGetKernel(&kernel, library, "increment") == kSuccess);
    REQUIRE(driver.kernelGetFunction(&function, kernel) == kSuccess);
  }
  ~Loaded() { driver.libraryUnload(library); }
  int launch(CUdeviceptr at, unsigned threads = 1, unsigned shared = 0) const {
    void *parameters[] = {&at};
    return driver.launch(function, 1, threads, shared, nullptr, parameters);
  }

  const runtime::Driver &driver;
  runtime::CUlibrary library = nullptr;
  runtime::CUkernel kernel = nullptr;
  CUfunction function = nullptr;
};

std::string errorOf(const runtime::Driver &driver, int result) {
  const char *text = nullptr;
  driver.getErrorString(result, &text);
  return text;
}

} // namespace

TEST_CASE("A session is the thread's driver, and ends") {
  setenv("TILEGYM_DRIVER", "no-driver-here.so", 1);
  const runtime::Driver *driver = nullptr;
  const runtime::Device *device = nullptr;
  for (int capability : {80, 90}) {
    simdriver::Settings settings;
    settings.capability = capability;
    simdriver::Session session(settings);
    REQUIRE(runtime::getDriver(&driver) == TILEGYM_OK);
    CHECK(driver == &session.driver());
    REQUIRE(runtime::currentDevice(*driver, nullptr, &device) == TILEGYM_OK);
    CHECK(device->arch == capability);
    CHECK(device->multiprocessors == 3);
    CHECK(std::string(device->name) == "simulated sm_" + std::to_string(capability));
    std::thread([] {
      const runtime::Driver *other = nullptr;
      CHECK(runtime::getDriver(&other) == TILEGYM_NO_DRIVER);
    }).join();
  }
  CHECK(runtime::getDriver(&driver) == TILEGYM_NO_DRIVER);
  CHECK(simdriver::isSimulated(80));
  CHECK(!simdriver::isSimulated(100));
}

TEST_CASE("Memory is allocated, filled and copied, within its bounds") {
  simdriver::Session session({});
  const runtime::Driver &driver = session.driver();
  CUdeviceptr a = 0, b = 0;
  REQUIRE(driver.memAlloc(&a, 64) == kSuccess);
  REQUIRE(driver.memAllocAsync(&b, 64, nullptr) == kSuccess);
  REQUIRE(driver.memsetD16Async(a, 0x1234, 32, nullptr) == kSuccess);
  REQUIRE(driver.memsetD2D8Async(a, 16, 0xff, 2, 4, nullptr) == kSuccess);
  REQUIRE(driver.memcpyDtoDAsync(b, a, 64, nullptr) == kSuccess);
  unsigned char bytes[64];
  REQUIRE(driver.memcpyDtoH(bytes, b, 64) == kSuccess);
  for (int i = 0; i < 64; ++i)
    CHECK(bytes[i] == (i % 16 < 2 ? 0xff : i % 2 ? 0x12 : 0x34));
  int result = driver.memcpyHtoD(a + 32, bytes, 33);
  CHECK(result != kSuccess);
  CHECK(errorOf(driver, result).find("a copy of 33 bytes at 0x") == 0);
  CHECK(driver.memsetD32Async(a, 1, 17, nullptr) != kSuccess);
  int names[] = {runtime::kPointerMemoryType, runtime::kPointerDeviceOrdinal}, type = 0, ordinal = -1;
  void *values[] = {&type, &ordinal};
  CHECK(driver.pointerGetAttributes(2, names, values, a + 5) == kSuccess);
  CHECK(type == 2);
  CHECK(ordinal >= 62);
  CHECK(driver.memFree(a) == kSuccess);
  CHECK(driver.pointerGetAttributes(2, names, values, a + 5) != kSuccess);
  CHECK(driver.memFreeAsync(a, nullptr) != kSuccess);
  CHECK(driver.memFree(b) == kSuccess);
}

TEST_CASE("A launch changes memory, what is found is its error, at its line") {
  simdriver::Session session({});
  const runtime::Driver &driver = session.driver();
  Loaded kernel(driver);
  CUdeviceptr at = 0;
  REQUIRE(driver.memAlloc(&at, 4) == kSuccess);

  // Nobody has written it yet.
  int result = kernel.launch(at);
  CHECK(result == 719);
  CHECK(errorOf(driver, result).find("a.tile:7") != std::string::npos);

  REQUIRE(driver.memsetD32Async(at, 41, 1, nullptr) == kSuccess);
  session.takeReports();
  session.settings().seed = 5;
  REQUIRE(kernel.launch(at) == kSuccess);
  int value = 0;
  REQUIRE(driver.memcpyDtoH(&value, at, 4) == kSuccess);
  CHECK(value == 42);
  std::vector<sim::Report> reports = session.takeReports();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].clean());
  CHECK(reports[0].seed == 5);
  CHECK(session.takeReports().empty());

  CHECK(kernel.launch(at + 4) == 719); // out of bounds
  reports = session.takeReports();
  REQUIRE(reports.size() == 1);
  REQUIRE(!reports[0].findings.empty());
  CHECK(reports[0].findings[0].kind == sim::FindingKind::OutOfBounds);
  CHECK(kernel.launch(at) == kSuccess); // and the device lives on
  driver.memFree(at);
}

TEST_CASE("Launches that a GPU refuses are refused") {
  simdriver::Session session({});
  const runtime::Driver &driver = session.driver();
  Loaded kernel(driver);
  CUdeviceptr at = 0;
  REQUIRE(driver.memAlloc(&at, 4) == kSuccess);
  int result = kernel.launch(at, 32);
  CHECK(errorOf(driver, result) == "increment is for blocks of 1 threads, but was launched with 32 x 1 x 1");
  result = kernel.launch(at, 1, 50000);
  CHECK(errorOf(driver, result) ==
        "increment was launched with 50000 bytes of shared memory, but 49152 are reserved for it");
  REQUIRE(driver.memsetD32Async(at, 0, 1, nullptr) == kSuccess);
  CHECK(driver.kernelSetAttribute(runtime::kFunctionMaxDynamicShared, 50000, kernel.kernel, 63) == kSuccess);
  CHECK(kernel.launch(at, 1, 50000) == kSuccess);
  result = driver.kernelSetAttribute(runtime::kFunctionMaxDynamicShared, 200000, kernel.kernel, 62);
  CHECK(errorOf(driver, result) == "200000 bytes of shared memory, but a block has at most 166912");

  runtime::CUkernel none = nullptr;
  CHECK(driver.libraryGetKernel(&none, kernel.library, "other") != kSuccess);
  std::string cubin(64, '\0');
  std::memcpy(cubin.data(), "\177ELF", 4);
  runtime::CUlibrary library = nullptr;
  result = driver.libraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  CHECK(errorOf(driver, result) == "the image is not code for the simulator; compile the package for it");
  driver.memFree(at);
}

TEST_CASE("Threads simulate side by side, each on a device of its own") {
  std::vector<std::thread> threads;
  std::vector<int> values(4, 0);
  for (size_t t = 0; t < values.size(); ++t)
    threads.emplace_back([&, t] {
      simdriver::Session session({});
      const runtime::Driver &driver = session.driver();
      Loaded kernel(driver);
      CUdeviceptr at = 0;
      driver.memAlloc(&at, 4);
      driver.memsetD32Async(at, unsigned(100 * t), 1, nullptr);
      for (int i = 0; i < 20; ++i)
        kernel.launch(at);
      driver.memcpyDtoH(&values[t], at, 4);
      driver.memFree(at);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (size_t t = 0; t < values.size(); ++t)
    CHECK(values[t] == int(100 * t + 20));
}
