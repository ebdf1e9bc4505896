// SPDX-License-Identifier: MIT
// `calibrate KERNELS OUT`: runs every calibration kernel on this machine's GPU and writes OUT/results.txt and OUT/log.txt. KERNELS has the .mlir files
// and a .cubin beside each. A child process runs one kernel after the other; where one fails or takes 15 s, the next child goes on behind it.
#include "../KernelRecord.h"
#include "../KernelRun.h"
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fstream>
#include <iostream>
#include <poll.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

using namespace tilegym;
using namespace tilegym::calibration;

namespace {

constexpr int secondsOfKernel = 15, secondsOfStart = 60;

/// cuTensorMapEncodeTiled, which the runtime has no use for yet.
TensorMapBytes encodeMap(const MapPlan &map, uint64_t address) {
  using Encode = int (*)(void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const uint32_t *,
                         const uint32_t *, int, int, int, int);
  static auto encode = reinterpret_cast<Encode>(
      dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), "cuTensorMapEncodeTiled"));
  if (!encode)
    throw std::runtime_error("the driver has no cuTensorMapEncodeTiled");
  int type = -1;
  switch (map.type) {
  case Element::U8:
  case Element::S8:
  case Element::E4M3:
  case Element::E5M2:
    type = 0;
    break;
  case Element::U16:
    type = 1;
    break;
  case Element::U32:
    type = 2;
    break;
  case Element::S32:
    type = 3;
    break;
  case Element::U64:
    type = 4;
    break;
  case Element::F16:
    type = 6;
    break;
  case Element::F32:
  case Element::TF32:
    type = 7;
    break;
  case Element::F64:
    type = 8;
    break;
  case Element::BF16:
    type = 9;
    break;
  }
  int swizzle = map.swizzle == 0 ? 0 : map.swizzle == 32 ? 1 : map.swizzle == 64 ? 2 : 3;
  alignas(64) TensorMapBytes bytes{};
  std::vector<uint64_t> strides = map.strides;
  strides.resize(map.dims.size()); // never null
  int result =
      encode(&bytes, type, unsigned(map.dims.size()), reinterpret_cast<void *>(address), map.dims.data(),
             strides.data(), map.box.data(), map.elementStrides.data(), 0, swizzle, 0, map.fillNaN);
  if (result)
    throw std::runtime_error("cuTensorMapEncodeTiled failed: " + std::to_string(result));
  return bytes;
}

/// Runs kernels from `first` on; says the number of each before, and what came of it. Ends at the first error, as a context may not survive one.
[[noreturn]] void runChild(const std::vector<KernelPlan> &plans, const std::string &folder, size_t first,
                           const std::string &results) {
  size_t at = first;
  try {
    Platform platform;
    platform.encodeMap = encodeMap;
    if (runtime::getDriver(&platform.driver) != TILEGYM_OK ||
        runtime::currentDevice(*platform.driver, nullptr, &platform.device) != TILEGYM_OK)
      throw std::runtime_error(runtime::lastError());
    std::ofstream stream(results, std::ios::app);
    if (first == 0) {
      char date[32];
      std::time_t now = std::time(nullptr);
      std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
      stream << "# " << platform.device->name << ", driver for CUDA " << platform.driver->version / 1000
             << "." << platform.driver->version % 1000 / 10 << ", " << date << "\n";
    }
    for (; at < plans.size(); ++at) {
      std::printf("%zu\n", at);
      std::fflush(stdout);
      std::string image = readFile(folder + "/" + plans[at].file + ".cubin");
      writeRecord(stream, plans[at], runKernel(plans[at], image, platform));
      stream.flush();
    }
  } catch (const std::exception &error) {
    std::printf("error %s\n", error.what());
    std::fflush(stdout);
    _exit(1);
  }
  _exit(0);
}

/// Reads what a child says, a line at a time, with a limit on the silence between.
struct Listener {
  int descriptor;
  std::string buffer = {};
  enum Heard { Line, End, Silence };
  Heard next(std::string &line, int seconds) {
    while (true) {
      if (size_t end = buffer.find('\n'); end != std::string::npos) {
        line = buffer.substr(0, end);
        buffer.erase(0, end + 1);
        return Line;
      }
      pollfd waiting{descriptor, POLLIN, 0};
      int ready = poll(&waiting, 1, seconds * 1000);
      if (ready < 0 && errno == EINTR)
        continue;
      if (ready <= 0)
        return Silence;
      char text[4096];
      ssize_t got = read(descriptor, text, sizeof text);
      if (got <= 0)
        return End;
      buffer.append(text, size_t(got));
    }
  }
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: calibrate KERNELS OUT\n";
    return 2;
  }
  std::vector<KernelPlan> plans;
  try {
    plans = readPlans(argv[1]);
  } catch (const std::exception &error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
  std::string results = std::string(argv[2]) + "/results.txt";
  std::ofstream(results).flush();
  std::ofstream log(std::string(argv[2]) + "/log.txt");
  size_t failed = 0;
  for (size_t first = 0; first < plans.size();) {
    int ends[2];
    if (pipe(ends))
      return 1;
    pid_t child = fork();
    if (child == 0) {
      dup2(ends[1], 1);
      close(ends[0]);
      runChild(plans, argv[1], first, results);
    }
    close(ends[1]);
    Listener listener{ends[0]};
    size_t at = first;
    bool started = false;
    std::string line, error;
    while (true) {
      Listener::Heard heard = listener.next(line, started ? secondsOfKernel : secondsOfStart);
      if (heard == Listener::Silence)
        error = "took more than " + std::to_string(started ? secondsOfKernel : secondsOfStart) + " s";
      if (heard != Listener::Line)
        break;
      if (line.starts_with("error "))
        error = line.substr(6);
      else {
        at = std::stoull(line);
        started = true;
      }
    }
    kill(child, SIGKILL);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (error.empty() && WIFEXITED(status) && WEXITSTATUS(status) == 0)
      break;
    if (error.empty())
      error = "the process ended with status " + std::to_string(status);
    ++failed;
    std::ofstream(results, std::ios::app)
        << "kernel " << plans[at].file << " " << plans[at].name << "\nerror " << error << "\n";
    log << plans[at].file << " " << plans[at].name << ": " << error << "\n";
    std::cout << plans[at].file << " " << plans[at].name << ": " << error << std::endl;
    if (!started) {
      std::cout << "no kernel can run\n";
      return 1;
    }
    first = at + 1;
  }
  std::cout << plans.size() << " kernels, " << failed << " failed" << std::endl;
  log << plans.size() << " kernels, " << failed << " failed\n";
  return 0;
}
