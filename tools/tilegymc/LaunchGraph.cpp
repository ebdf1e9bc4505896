// SPDX-License-Identifier: MIT
// Captures a stream. The functions come from the library that the runtime has opened already.
#include "LaunchGraph.h"
#include <cstdlib>
#include <dlfcn.h>

namespace tilegym::cli {

using runtime::CUresult;
using runtime::CUstream;

struct GraphDriver {
  CUresult (*streamCreate)(CUstream *, unsigned) = nullptr;
  CUresult (*streamDestroy)(CUstream) = nullptr;
  CUresult (*beginCapture)(CUstream, int) = nullptr;
  CUresult (*endCapture)(CUstream, void **) = nullptr;
  CUresult (*instantiate)(void **, void *, unsigned long long) = nullptr;
  CUresult (*launch)(void *, CUstream) = nullptr;
  CUresult (*destroy)(void *) = nullptr;
  CUresult (*destroyExecutable)(void *) = nullptr;
};

namespace {

constexpr unsigned kNonBlocking = 1; ///< CU_STREAM_NON_BLOCKING
constexpr int kThreadLocal = 1;      ///< CU_STREAM_CAPTURE_MODE_THREAD_LOCAL

template <class Function> bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

} // namespace

const GraphDriver *findGraphDriver(const Gpu &gpu) {
  static const runtime::Driver *system = [] {
    const runtime::Driver *driver = nullptr;
    return runtime::getDriver(&driver) == TILEGYM_OK ? driver : nullptr;
  }();
  static GraphDriver found;
  static const bool complete = [] {
    const char *named = std::getenv("TILEGYM_DRIVER");
    void *library = dlopen(named ? named : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library && find(library, "cuStreamCreate", found.streamCreate) &&
           find(library, "cuStreamDestroy_v2", found.streamDestroy) &&
           find(library, "cuStreamBeginCapture_v2", found.beginCapture) &&
           find(library, "cuStreamEndCapture", found.endCapture) &&
           find(library, "cuGraphInstantiateWithFlags", found.instantiate) &&
           find(library, "cuGraphLaunch", found.launch) && find(library, "cuGraphDestroy", found.destroy) &&
           find(library, "cuGraphExecDestroy", found.destroyExecutable);
  }();
  return complete && gpu.driver == system ? &found : nullptr;
}

LaunchGraph::~LaunchGraph() {
  if (executable)
    driver.destroyExecutable(executable);
  if (own)
    driver.streamDestroy(own);
}

bool LaunchGraph::record(const Gpu &gpu, const std::function<bool(CUstream, std::string &)> &enqueue,
                         std::string &error) {
  auto good = [&](const char *what, CUresult result) {
    if (result != runtime::kSuccess && error.empty())
      error = gpu.text(what, result);
    return result == runtime::kSuccess;
  };
  if (!good("making a stream", driver.streamCreate(&own, kNonBlocking)) ||
      !good("beginning to capture a stream", driver.beginCapture(own, kThreadLocal)))
    return false;
  bool enqueued = enqueue(own, error);
  void *graph = nullptr;
  bool captured = good("capturing a stream", driver.endCapture(own, &graph)); // even after a failure
  bool made = enqueued && captured && good("making a graph", driver.instantiate(&executable, graph, 0));
  if (graph)
    driver.destroy(graph);
  return made;
}

bool LaunchGraph::launch(const Gpu &gpu, std::string &error) {
  CUresult result = driver.launch(executable, own);
  if (result != runtime::kSuccess && error.empty())
    error = gpu.text("launching a graph", result);
  return result == runtime::kSuccess;
}

} // namespace tilegym::cli
