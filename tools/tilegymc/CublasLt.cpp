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
  kEpilogue = 7,
  kBiasPointer = 8,
  kEpilogueBias = 4,
  kBatchCount = 5,
  kBatchStride = 6,
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
  int (*layoutSet)(void *, int, const void *, size_t) = nullptr;
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
             !find(opened, "cublasLtMatrixLayoutSetAttribute", l.layoutSet) ||
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
    if (!workspace.allocate(timer.device(), kWorkspace, error) || !makeCopies(1, error))
      return false;
    isDouble = *c == kData64F;
    auto [m, n, k] = std::tuple(product.m, product.n, product.k);
    int scale = isDouble ? kData64F : kData32F, turnFirst = product.turnB, turnSecond = product.turnA;
    void *preference = nullptr;
    Heuristic best{};
    int count = 0;
    size_t limit = kWorkspace;
    int status = library.descriptionCreate(&description, isDouble ? kCompute64F : kCompute32F, scale);
    auto then = [&](int next) { status = status ? status : next; };
    auto layout = [&](void **made, int type, int64_t rows, int64_t columns) {
      then(library.layoutCreate(made, type, uint64_t(rows), uint64_t(columns), rows));
      int32_t batch = int32_t(product.batch);
      int64_t stride = rows * columns;
      if (status || batch == 1)
        return;
      then(library.layoutSet(*made, kBatchCount, &batch, sizeof batch));
      then(library.layoutSet(*made, kBatchStride, &stride, sizeof stride));
    };
    then(library.descriptionSet(description, kTransposeA, &turnFirst, sizeof turnFirst));
    then(library.descriptionSet(description, kTransposeB, &turnSecond, sizeof turnSecond));
    layout(&first, *b, product.turnB ? k : n, product.turnB ? n : k);
    layout(&second, *a, product.turnA ? m : k, product.turnA ? k : m);
    layout(&result, *c, n, m);
    if (product.bias)
      then(setBias(0));
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
    return true;
  }

private:
  /// The copy's bias is added to the product's columns.
  int setBias(unsigned copy) {
    const uint32_t epilogue = kEpilogueBias;
    const void *bias = memory[copy]->data(*product.bias);
    int status = library.descriptionSet(description, kEpilogue, &epilogue, sizeof epilogue);
    return status ? status : library.descriptionSet(description, kBiasPointer, &bias, sizeof bias);
  }

  bool enqueue(runtime::CUstream stream, unsigned copy, std::string &error) override {
    const double doubles[2] = {1, 0};
    const float floats[2] = {1, 0};
    const void *alpha = isDouble ? static_cast<const void *>(&doubles[0]) : &floats[0];
    const void *beta = isDouble ? static_cast<const void *>(&doubles[1]) : &floats[1];
    void *c = memory[copy]->data(product.c);
    int status = product.bias ? setBias(copy) : 0;
    if (!status)
      status = library.multiply(library.handle, description, alpha, memory[copy]->data(product.b), first,
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

/// The operands that a peer's text names; nothing where it is no product of inputs of the op.
static std::optional<Product> operandsOf(const sem::OpModel &op, const std::string &text) {
  static const std::regex plain(R"(\s*(\w+)(\.m?T)?\s*@\s*(\w+)(\.m?T)?\s*)"),
      stacks(R"(\s*torch\.bmm\((\w+), (\w+)\)\s*)"),
      linear(R"(torch\.nn\.functional\.linear\((\w+), (\w+)(?:, (\w+))?\))");
  std::smatch match;
  Product product;
  std::string second;
  if (std::regex_match(text, match, plain)) {
    second = match[3].str();
    product.turnA = match[2].matched;
    product.turnB = match[4].matched;
  } else if (std::regex_match(text, match, stacks) || std::regex_search(text, match, linear)) {
    second = match[2].str();
    product.turnB = match.size() > 3;
  } else {
    return std::nullopt;
  }
  int64_t a = op.findTensor(match[1].str()), b = op.findTensor(second);
  if (a < 0 || b < 0)
    return std::nullopt;
  product.a = size_t(a);
  product.b = size_t(b);
  if (match.size() == 4 && match[3].matched)
    if (int64_t bias = op.findTensor(match[3].str()); bias >= 0)
      product.bias = size_t(bias);
  return product;
}

std::optional<Product> productOf(const sem::OpModel &op, const sem::TestCall &call) {
  std::optional<Product> product;
  for (const ast::External &peer : op.spec->bench->peers)
    if (!product && peer.backend.name == "torch")
      product = operandsOf(op, peer.text);
  if (!product)
    return std::nullopt;
  size_t outputs = 0;
  for (size_t id = 0; id < op.tensors.size(); ++id)
    if (op.tensors[id].role != sem::Role::Input && call.bound.spec.present[id]) {
      product->c = id;
      ++outputs;
    }
  if (product->bias && !call.bound.spec.present[*product->bias])
    product->bias.reset();
  auto shape = [&](size_t id) {
    return call.bound.shapes[id].empty() ? interp::Dims() : call.bound.shapes[id][0];
  };
  interp::Dims a = shape(product->a), b = shape(product->b), c = shape(product->c);
  if (outputs != 1 || a.size() != c.size() || b.size() != c.size() || (c.size() != 2 && c.size() != 3))
    return std::nullopt;
  size_t row = c.size() - 2, column = row + 1;
  if (row == 1) {
    if (a[0] != c[0] || b[0] != c[0])
      return std::nullopt;
    product->batch = c[0];
  }
  product->m = c[row];
  product->n = c[column];
  product->k = a[product->turnA ? row : column];
  bool fits = a[product->turnA ? column : row] == product->m &&
              b[product->turnB ? column : row] == product->k &&
              b[product->turnB ? row : column] == product->n;
  return fits ? product : std::nullopt;
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
