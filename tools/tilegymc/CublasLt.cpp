// SPDX-License-Identifier: MIT
// The few functions and constants of cuBLASLt that a product needs, declared here as its interface has them. It is column-major: c's transpose is the product of
// the operands' transposes, in the other order.
#include "CublasLt.h"
#include <cstdlib>
#include <dlfcn.h>
#include <regex>

namespace tilegym::cli {
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
  kMaxWorkspace = 1
};
constexpr size_t kWorkspace = size_t(64) << 20;

struct Heuristic { // cublasLtMatmulHeuristicResult_t
  uint64_t algorithm[8];
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

struct Library {
  int (*create)(void **) = nullptr;
  int (*descriptionCreate)(void **, int compute, int scale) = nullptr;
  int (*descriptionSet)(void *, int, const void *, size_t) = nullptr;
  int (*layoutCreate)(void **, int type, uint64_t rows, uint64_t columns, int64_t leading) = nullptr;
  int (*preferenceCreate)(void **) = nullptr;
  int (*preferenceSet)(void *, int, const void *, size_t) = nullptr;
  int (*heuristic)(void *, void *, void *, void *, void *, void *, void *, int, Heuristic *, int *) = nullptr;
  int (*multiply)(void *, void *, const void *alpha, const void *a, void *, const void *b, void *,
                  const void *beta, const void *c, void *, void *d, void *, const void *algorithm,
                  void *workspace, size_t, runtime::CUstream) = nullptr;
  void *handle = nullptr;
  std::string lacking;
};

template <class Function> bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// Opened once; with a thread's context current.
const Library &open(const std::string &found) {
  static const Library library = [&] {
    Library l;
    void *opened = nullptr;
    const char *named = std::getenv("TILEGYM_CUBLASLT");
    for (const std::string &name :
         named ? std::vector<std::string>{named}
               : std::vector<std::string>{"libcublasLt.so.13", "libcublasLt.so.12", found})
      if (!opened && !name.empty())
        opened = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!opened)
      l.lacking =
          "no cuBLASLt: neither libcublasLt.so.13 nor .12 is installed, and TILEGYM_CUBLASLT names none";
    else if (!find(opened, "cublasLtCreate", l.create) ||
             !find(opened, "cublasLtMatmulDescCreate", l.descriptionCreate) ||
             !find(opened, "cublasLtMatmulDescSetAttribute", l.descriptionSet) ||
             !find(opened, "cublasLtMatrixLayoutCreate", l.layoutCreate) ||
             !find(opened, "cublasLtMatmulPreferenceCreate", l.preferenceCreate) ||
             !find(opened, "cublasLtMatmulPreferenceSetAttribute", l.preferenceSet) ||
             !find(opened, "cublasLtMatmulAlgoGetHeuristic", l.heuristic) ||
             !find(opened, "cublasLtMatmul", l.multiply))
      l.lacking = "the cuBLASLt that was found lacks a function";
    else if (int status = l.create(&l.handle))
      l.lacking = "cuBLASLt does not start: status " + std::to_string(status);
    return l;
  }();
  return library;
}

std::optional<int> dataType(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return kData64F;
  case DType::F32:
    return kData32F;
  case DType::F16:
    return kData16F;
  case DType::BF16:
    return kData16BF;
  default:
    return std::nullopt;
  }
}

class CublasContestant final : public CallContestant {
public:
  CublasContestant(DeviceTimer &timer, const Library &library, const sem::OpModel &op,
                   const sem::TestCall &call, const interp::Arguments &pattern, const Product &product)
      : CallContestant(timer, op, call, pattern), library(library), product(product) {}
  std::string name() const override { return "cublaslt"; }

  bool prepare(std::string &error) {
    auto dtypeOf = [&](size_t id) {
      return dataType(call.bound.spec.dtypes[size_t(op.tensors[id].typeVar)]);
    };
    std::optional<int> a = dtypeOf(product.a), b = dtypeOf(product.b), c = dtypeOf(product.c);
    if (!a || !b || !c) {
      error = "no dtype of cuBLASLt's that is used here";
      return false;
    }
    isDouble = *c == kData64F;
    auto [m, n, k] = std::tuple(product.m, product.n, product.k);
    int scale = isDouble ? kData64F : kData32F, turnFirst = product.turnB, turnSecond = product.turnA;
    void *preference = nullptr;
    Heuristic best{};
    int count = 0;
    size_t limit = kWorkspace;
    int status = library.descriptionCreate(&description, isDouble ? kCompute64F : kCompute32F, scale);
    auto then = [&](int next) { status = status ? status : next; };
    then(library.descriptionSet(description, kTransposeA, &turnFirst, sizeof turnFirst));
    then(library.descriptionSet(description, kTransposeB, &turnSecond, sizeof turnSecond));
    then(product.turnB ? library.layoutCreate(&first, *b, uint64_t(k), uint64_t(n), k)
                       : library.layoutCreate(&first, *b, uint64_t(n), uint64_t(k), n));
    then(product.turnA ? library.layoutCreate(&second, *a, uint64_t(m), uint64_t(k), m)
                       : library.layoutCreate(&second, *a, uint64_t(k), uint64_t(m), k));
    then(library.layoutCreate(&result, *c, uint64_t(n), uint64_t(m), n));
    then(library.preferenceCreate(&preference));
    then(library.preferenceSet(preference, kMaxWorkspace, &limit, sizeof limit));
    if (!status)
      then(library.heuristic(library.handle, description, first, second, result, result, preference, 1, &best,
                             &count));
    if (status || count == 0) {
      error = "cuBLASLt has no algorithm for it: status " + std::to_string(status);
      return false;
    }
    std::copy(std::begin(best.algorithm), std::end(best.algorithm), algorithm);
    return workspace.allocate(timer.device(), kWorkspace, error) && makeCopies(1, error);
  }

private:
  bool enqueue(runtime::CUstream stream, unsigned copy, std::string &error) override {
    const double doubles[2] = {1, 0};
    const float floats[2] = {1, 0};
    const void *alpha = isDouble ? static_cast<const void *>(&doubles[0]) : &floats[0];
    const void *beta = isDouble ? static_cast<const void *>(&doubles[1]) : &floats[1];
    void *c = memory[copy]->data(product.c);
    int status =
        library.multiply(library.handle, description, alpha, memory[copy]->data(product.b), first,
                         memory[copy]->data(product.a), second, beta, c, result, c, result, algorithm,
                         reinterpret_cast<void *>(workspace.address()), kWorkspace, stream);
    if (status && error.empty())
      error = "cuBLASLt fails: status " + std::to_string(status);
    return status == 0;
  }

  const Library &library;
  Product product;
  bool isDouble = false;
  void *description = nullptr, *first = nullptr, *second = nullptr, *result = nullptr;
  uint64_t algorithm[8] = {};
  DeviceBlock workspace;
};

} // namespace

std::optional<Product> productOf(const sem::OpModel &op, const sem::TestCall &call) {
  static const std::regex form(R"(\s*(\w+)(\.m?T)?\s*@\s*(\w+)(\.m?T)?\s*)");
  Product product;
  bool found = false;
  for (const ast::External &peer : op.spec->bench->peers) {
    std::smatch match;
    if (peer.backend.name != "torch" || !std::regex_match(peer.text, match, form))
      continue;
    int64_t a = op.findTensor(match[1].str()), b = op.findTensor(match[3].str());
    if (a < 0 || b < 0)
      continue;
    product.a = size_t(a);
    product.b = size_t(b);
    product.turnA = match[2].matched;
    product.turnB = match[4].matched;
    found = true;
  }
  size_t outputs = 0;
  for (size_t id = 0; id < op.tensors.size(); ++id)
    if (op.tensors[id].role != sem::Role::Input && call.bound.spec.present[id]) {
      product.c = id;
      ++outputs;
    }
  if (!found || outputs != 1)
    return std::nullopt;
  auto shape = [&](size_t id) {
    return call.bound.shapes[id].empty() ? interp::Dims() : call.bound.shapes[id][0];
  };
  interp::Dims a = shape(product.a), b = shape(product.b), c = shape(product.c);
  if (a.size() != 2 || b.size() != 2 || c.size() != 2)
    return std::nullopt;
  product.m = c[0];
  product.n = c[1];
  product.k = a[product.turnA ? 0 : 1];
  bool fits = a[product.turnA ? 1 : 0] == product.m && b[product.turnB ? 1 : 0] == product.k &&
              b[product.turnB ? 0 : 1] == product.n;
  return fits ? std::optional(product) : std::nullopt;
}

std::unique_ptr<Contestant> cublasContestant(DeviceTimer &timer, const sem::OpModel &op,
                                             const sem::TestCall &call, const interp::Arguments &pattern,
                                             const Product &product, const std::string &found,
                                             std::string &lacking) {
  const Library &library = open(found);
  lacking = library.lacking;
  if (!lacking.empty())
    return nullptr;
  auto contestant = std::make_unique<CublasContestant>(timer, library, op, call, pattern, product);
  return contestant->prepare(lacking) ? std::move(contestant) : nullptr;
}

} // namespace tilegym::cli
