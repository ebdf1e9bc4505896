// SPDX-License-Identifier: MIT
// The few functions and constants of cuBLASLt that a product needs, declared here as its interface has them. It is column-major: c's transpose is the product of
// the operands' transposes, in the other order.
#include "ProductLibrary.h"
#include "tilegym/tilegym.h"
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <vector>

namespace tilegym::runtime {
namespace {

enum : int { // cublasComputeType_t, cudaDataType_t and the attributes' numbers
  kCompute32F = 68,
  kCompute64F = 70,
  kData32F = 0,
  kData64F = 1,
  kData16F = 2,
  kData16BF = 14,
  kTransposeA = 3,
  kTransposeB = 4,
  kEpilogue = 7,
  kBiasPointer = 8,
  kEpilogueBias = 4,
  kBatchCount = 5,
  kBatchStride = 6,
  kMaxWorkspace = 1,
  kMinAlignmentA = 5, // and of b, c and d
};

struct Heuristic { // cublasLtMatmulHeuristicResult_t
  uint64_t algorithm[8];
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

struct Opened {
  CublasLt library;
  std::string lacking;
};

template <class Function> bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Opened openLibrary(const std::string &alsoTry) {
  Opened o;
  CublasLt &l = o.library;
  void *opened = nullptr;
  const char *named = std::getenv("TILEGYM_CUBLASLT");
  for (const std::string &name :
       named ? std::vector<std::string>{named}
             : std::vector<std::string>{"libcublasLt.so.13", "libcublasLt.so.12", alsoTry})
    if (!opened && !name.empty())
      opened = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!opened)
    o.lacking =
        "no cuBLASLt: neither libcublasLt.so.13 nor .12 is installed, and TILEGYM_CUBLASLT names none";
  else if (!find(opened, "cublasLtCreate", l.create) ||
           !find(opened, "cublasLtMatmulDescCreate", l.descriptionCreate) ||
           !find(opened, "cublasLtMatmulDescSetAttribute", l.descriptionSet) ||
           !find(opened, "cublasLtMatmulDescDestroy", l.descriptionDestroy) ||
           !find(opened, "cublasLtMatrixLayoutCreate", l.layoutCreate) ||
           !find(opened, "cublasLtMatrixLayoutSetAttribute", l.layoutSet) ||
           !find(opened, "cublasLtMatrixLayoutDestroy", l.layoutDestroy) ||
           !find(opened, "cublasLtMatmulPreferenceCreate", l.preferenceCreate) ||
           !find(opened, "cublasLtMatmulPreferenceSetAttribute", l.preferenceSet) ||
           !find(opened, "cublasLtMatmulPreferenceDestroy", l.preferenceDestroy) ||
           !find(opened, "cublasLtMatmulAlgoGetHeuristic", l.heuristic) ||
           !find(opened, "cublasLtMatmul", l.multiply))
    o.lacking = "the cuBLASLt that was found lacks a function";
  return o;
}

/// -1 for a dtype that is not used here.
int dataType(uint8_t dtype) {
  switch (dtype) {
  case TILEGYM_F64:
    return kData64F;
  case TILEGYM_F32:
    return kData32F;
  case TILEGYM_F16:
    return kData16F;
  case TILEGYM_BF16:
    return kData16BF;
  default:
    return -1;
  }
}

} // namespace

const CublasLt *CublasLt::open(const std::string &alsoTry, std::string &lacking) {
  static const auto *opened = new Opened(openLibrary(alsoTry)); // never closed, as its handles are not
  lacking = opened->lacking;
  return lacking.empty() ? &opened->library : nullptr;
}

void *CublasLt::handle(int device, std::string &lacking) const {
  static std::mutex mutex;
  static void *handles[64] = {};
  if (device < 0 || size_t(device) >= std::size(handles)) {
    lacking = "device number " + std::to_string(device) + " is beyond the 64 that are known";
    return nullptr;
  }
  std::lock_guard lock(mutex);
  if (!handles[device])
    if (int status = create(&handles[device])) {
      handles[device] = nullptr;
      lacking = "cuBLASLt does not start: status " + std::to_string(status);
    }
  return handles[device];
}

ProductPlan::~ProductPlan() {
  if (description)
    library->descriptionDestroy(description);
  for (void *layout : {first, second, result})
    if (layout)
      library->layoutDestroy(layout);
}

bool ProductPlan::make(const CublasLt &with, int device, const ProductShape &shape, size_t workspaceLimit,
                       std::string &lacking) {
  library = &with;
  product = shape;
  int a = dataType(shape.typeA), b = dataType(shape.typeB), c = dataType(shape.typeC);
  if (a < 0 || b < 0 || c < 0) {
    lacking = "no dtype of cuBLASLt's that is used here";
    return false;
  }
  handle = library->handle(device, lacking);
  if (!handle)
    return false;
  bool isDouble = c == kData64F;
  auto [m, n, k] = std::tuple(shape.m, shape.n, shape.k);
  int turnFirst = shape.columnsB, turnSecond = shape.columnsA;
  void *preference = nullptr;
  Heuristic best{};
  int count = 0;
  int status = library->descriptionCreate(&description, isDouble ? kCompute64F : kCompute32F,
                                          isDouble ? kData64F : kData32F);
  auto then = [&](int next) { status = status ? status : next; };
  auto layout = [&](void **made, int type, int64_t rows, int64_t columns, int64_t lead, int64_t stride) {
    then(library->layoutCreate(made, type, uint64_t(rows), uint64_t(columns), lead));
    auto batch = int32_t(shape.batch);
    if (status || batch == 1)
      return;
    then(library->layoutSet(*made, kBatchCount, &batch, sizeof batch));
    then(library->layoutSet(*made, kBatchStride, &stride, sizeof stride));
  };
  then(library->descriptionSet(description, kTransposeA, &turnFirst, sizeof turnFirst));
  then(library->descriptionSet(description, kTransposeB, &turnSecond, sizeof turnSecond));
  layout(&first, b, shape.columnsB ? k : n, shape.columnsB ? n : k, shape.leadB, shape.strideB);
  layout(&second, a, shape.columnsA ? m : k, shape.columnsA ? k : m, shape.leadA, shape.strideA);
  layout(&result, c, n, m, shape.leadC, shape.strideC);
  if (shape.hasBias) {
    const uint32_t epilogue = kEpilogueBias;
    then(library->descriptionSet(description, kEpilogue, &epilogue, sizeof epilogue));
  }
  then(library->preferenceCreate(&preference));
  then(library->preferenceSet(preference, kMaxWorkspace, &workspaceLimit, sizeof workspaceLimit));
  auto alignment = uint32_t(shape.alignment);
  for (int i = 0; i < 4; ++i)
    then(library->preferenceSet(preference, kMinAlignmentA + i, &alignment, sizeof alignment));
  if (!status)
    then(
        library->heuristic(handle, description, first, second, result, result, preference, 1, &best, &count));
  if (preference)
    library->preferenceDestroy(preference);
  if (status || count == 0) {
    lacking = "cuBLASLt has no algorithm for it: status " + std::to_string(status);
    return false;
  }
  std::copy(std::begin(best.algorithm), std::end(best.algorithm), algorithm);
  workspaceBytes = std::min(best.workspace, workspaceLimit);
  return true;
}

int ProductPlan::run(const void *a, const void *b, const void *bias, void *c, void *workspace,
                     CUstream stream) const {
  const double doubles[2] = {1, 0};
  const float floats[2] = {1, 0};
  bool isDouble = product.typeC == TILEGYM_F64;
  const void *alpha = isDouble ? static_cast<const void *>(&doubles[0]) : &floats[0];
  const void *beta = isDouble ? static_cast<const void *>(&doubles[1]) : &floats[1];
  int status = product.hasBias ? library->descriptionSet(description, kBiasPointer,
                                                         static_cast<const void *>(&bias), sizeof bias)
                               : 0;
  return status ? status
                : library->multiply(handle, description, alpha, b, first, a, second, beta, c, result, c,
                                    result, algorithm, workspace, workspaceBytes, stream);
}

} // namespace tilegym::runtime
