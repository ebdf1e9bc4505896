// SPDX-License-Identifier: MIT
// Buffers, maps, launch, and what the buffers hold afterwards.
#include "KernelRun.h"
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace tilegym::calibration {
namespace {

void check(const runtime::Driver &driver, const char *what, runtime::CUresult result) {
  if (result == runtime::kSuccess)
    return;
  driver.failure(what, result);
  throw std::runtime_error(runtime::lastError());
}

} // namespace

std::vector<std::vector<uint8_t>> runKernel(const KernelPlan &plan, const std::string &image,
                                            const Platform &platform) {
  const runtime::Driver &driver = *platform.driver;
  runtime::CUlibrary library = nullptr;
  runtime::CUkernel kernel = nullptr;
  runtime::CUfunction function = nullptr;
  check(driver, "loading the code",
        driver.libraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  check(driver, "finding the kernel", driver.libraryGetKernel(&kernel, library, plan.name.c_str()));
  check(driver, "getting the kernel's function", driver.kernelGetFunction(&function, kernel));
  if (plan.shared)
    check(driver, "reserving shared memory",
          driver.kernelSetAttribute(runtime::kFunctionMaxDynamicShared, int(plan.shared), kernel,
                                    platform.device->ordinal));

  std::vector<runtime::CUdeviceptr> addresses;
  for (const Buffer &buffer : plan.buffers) {
    std::vector<uint8_t> data = generate(buffer.type, buffer.count, buffer.generator);
    check(driver, "allocating a buffer", driver.memAlloc(&addresses.emplace_back(), data.size()));
    check(driver, "filling a buffer", driver.memcpyHtoD(addresses.back(), data.data(), data.size()));
  }
  struct alignas(64) Map {
    TensorMapBytes bytes;
  };
  std::vector<Map> maps;
  for (const MapPlan &map : plan.maps)
    maps.push_back({platform.encodeMap(map, addresses[map.buffer])});
  std::vector<void *> parameters;
  for (const Parameter &parameter : plan.parameters)
    parameters.push_back(parameter.isMap ? static_cast<void *>(&maps[parameter.index])
                                         : &addresses[parameter.index]);
  check(driver, "launching the kernel",
        driver.launch(function, plan.grid, plan.block, plan.shared, nullptr, parameters.data()));
  check(driver, "running the kernel", driver.streamSynchronize(nullptr));

  std::vector<std::vector<uint8_t>> outputs;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer &buffer = plan.buffers[i];
    if (buffer.isOutput) {
      auto &bytes = outputs.emplace_back(buffer.count * bytesOf(buffer.type));
      check(driver, "reading a buffer", driver.memcpyDtoH(bytes.data(), addresses[i], bytes.size()));
    }
    driver.memFree(addresses[i]);
  }
  driver.libraryUnload(library);
  return outputs;
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error(path + ": cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace tilegym::calibration
