// SPDX-License-Identifier: MIT
// Calls through the typed C++ header on a GPU: 16 threads at once on two streams, and CUDA graphs replayed on changed contents, whose outputs were given
// or allocated in the capture. Each must give the bits of a call by itself.
#include "gpu_calls_kernels.h"
#include "runtime/src/Driver.h"
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace tilegym;
using runtime::CUdeviceptr;
using runtime::CUstream;

namespace {

const runtime::Driver *driver = nullptr;

void needTrue(bool good, const std::string &what) {
  if (good)
    return;
  std::printf("FAILED %s: %s\n", what.c_str(), tilegym_last_error());
  std::exit(1);
}
void need(int result, const char *what) {
  needTrue(result == runtime::kSuccess, std::string(what) + " gave " + std::to_string(result));
}

/// A function of the driver that the runtime does without.
template <class... Parameters> int cuda(const char *symbol, Parameters... parameters) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  auto function = reinterpret_cast<int (*)(Parameters...)>(library ? dlsym(library, symbol) : nullptr);
  return function ? function(parameters...) : -1;
}

/// Floats on the GPU.
class Floats {
public:
  explicit Floats(int64_t count) : count(size_t(count)) {
    need(driver->memAlloc(&address, bytes()), "cuMemAlloc");
  }
  Floats(const Floats &) = delete;
  ~Floats() { driver->memFree(address); }
  void write(const std::vector<float> &values) {
    need(driver->memcpyHtoD(address, values.data(), bytes()), "a copy to the GPU");
  }
  void fill(float value) { write(std::vector<float>(count, value)); }
  std::vector<float> read() const {
    std::vector<float> values(count);
    need(driver->memcpyDtoH(values.data(), address, bytes()), "a copy from the GPU");
    return values;
  }
  TensorView view(int64_t rows) const {
    return {reinterpret_cast<void *>(address), TILEGYM_F32, {rows, int64_t(count) / rows}};
  }

private:
  size_t bytes() const { return count * sizeof(float); }
  size_t count;
  CUdeviceptr address = 0;
};

bool sameBits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<float> numbers(int64_t count, unsigned seed) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525 + 1013904223;
    values.push_back(float(int(seed >> 8)) / float(1 << 22) - 2);
  }
  return values;
}

CUstream newStream() {
  CUstream stream = nullptr;
  need(cuda("cuStreamCreate", &stream, 1u), "cuStreamCreate"); // does not wait for the null stream
  return stream;
}

/// What each thread computes: twice softmax, by way of a tensor that the first call allocates; and a dropout.
Status compute(const TensorView &x, const TensorView &y, const TensorView &z, uint64_t seed,
               CUstream stream) {
  auto [status, half] = gpu_calls_kernels::softmax(allocate, x, stream);
  if (!status)
    return status;
  if (Status second = gpu_calls_kernels::vector_add(half, half, y, stream); !second)
    return second;
  return gpu_calls_kernels::dropout(x, seed, z, 0.3f, true, stream);
}

struct Job {
  int64_t rows, n;
  uint64_t seed;
  Floats x, y, z;

  Job(int64_t rows, int64_t n, unsigned number)
      : rows(rows), n(n), seed(number), x(rows * n), y(rows * n), z(rows * n) {
    x.write(numbers(rows * n, number));
    poison();
  }
  void poison() {
    y.fill(NAN);
    z.fill(NAN);
  }
  Status run(CUstream stream) { return compute(x.view(rows), y.view(rows), z.view(rows), seed, stream); }
  /// True where the outputs are what a call by itself gives now.
  bool isRight() {
    std::vector<float> gotY = y.read(), gotZ = z.read();
    poison();
    needTrue(bool(run(nullptr)), "a call by itself");
    need(driver->streamSynchronize(nullptr), "cuStreamSynchronize");
    std::vector<float> wantY = y.read();
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
      sum += double(wantY[size_t(i)]);
    needTrue(std::abs(sum - 2) < 1e-4, "a row of twice softmax sums to " + std::to_string(sum));
    return sameBits(gotY, wantY) && sameBits(gotZ, z.read());
  }
};

int testThreads() {
  constexpr int kThreads = 16, kCalls = 100;
  CUstream streams[] = {newStream(), newStream()};
  std::vector<std::unique_ptr<Job>> jobs;
  for (int i = 0; i < kThreads; ++i)
    jobs.push_back(std::make_unique<Job>(3 + 5 * i, 1000 + 257 * i, unsigned(i + 1)));
  std::latch start(kThreads);
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      // One stream a thread: its own calls are ordered, and those of seven others beside it.
      for (int k = 0; k < kCalls; ++k)
        if (Status status = jobs[size_t(i)]->run(streams[i % 2]); !status) {
          std::printf("FAILED thread %d: %s\n", i, status.message().c_str());
          ++failed;
          return;
        }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (CUstream stream : streams)
    need(driver->streamSynchronize(stream), "cuStreamSynchronize");
  for (int i = 0; i < kThreads; ++i)
    if (!jobs[size_t(i)]->isRight()) {
      std::printf("FAILED thread %d: other bits than by itself\n", i);
      ++failed;
    }
  std::printf("%s threads: %d at once on two streams, %d calls each\n", failed ? "FAILED" : "passed",
              kThreads, 3 * kCalls);
  return failed;
}

int testGraphs() {
  int failed = 0, replays = 0;
  CUstream stream = newStream();
  for (auto [rows, n] : {std::pair<int64_t, int64_t>{5, 1000}, {64, 4096}, {3, 50257}}) {
    Job job(rows, n, unsigned(n));
    void *graph = nullptr, *executable = nullptr;
    needTrue(bool(job.run(nullptr)), "a call by itself"); // loads what the capture will need
    need(cuda("cuStreamBeginCapture_v2", stream, 0), "cuStreamBeginCapture");
    Status status = job.run(stream);
    need(cuda("cuStreamEndCapture", stream, &graph), "cuStreamEndCapture");
    needTrue(bool(status), "a call in a capture");
    need(cuda("cuGraphInstantiateWithFlags", &executable, graph, 0ull), "cuGraphInstantiate");
    for (unsigned turn = 0; turn < 4; ++turn, ++replays) {
      job.x.write(numbers(rows * n, turn + 7));
      job.poison();
      need(cuda("cuGraphLaunch", executable, stream), "cuGraphLaunch");
      need(driver->streamSynchronize(stream), "a replay");
      if (!job.isRight()) {
        std::printf("FAILED graph of %lld x %lld: other bits in replay %u\n", static_cast<long long>(rows),
                    static_cast<long long>(n), turn);
        ++failed;
      }
    }
    need(cuda("cuGraphExecDestroy", executable), "cuGraphExecDestroy");
    need(cuda("cuGraphDestroy", graph), "cuGraphDestroy");
  }
  std::printf("%s graphs: %d replays on changed contents\n", failed ? "FAILED" : "passed", replays);
  return failed;
}

} // namespace

int main() {
  // Before anything has loaded the kernels: the first calls come from threads that have no context yet.
  needTrue(runtime::getDriver(&driver) == TILEGYM_OK, "opening the driver");
  const runtime::Device *device = nullptr;
  needTrue(runtime::currentDevice(*driver, nullptr, &device) == TILEGYM_OK, "a context");
  int failed = testThreads() + testGraphs();
  std::printf("%d failed\n", failed);
  return failed != 0;
}
