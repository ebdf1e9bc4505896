// SPDX-License-Identifier: MIT
// cuBLASLt (runtime/src/ProductLibrary.h) on a benchmark's tensors, which are contiguous.
#include "CublasLt.h"
#include "compiler/semantics/ProductPeer.h"
#include "runtime/src/ProductLibrary.h"

namespace tilegym::cli {
namespace {

constexpr size_t kWorkspace = size_t(64) << 20;

class CublasContestant final : public CallContestant {
public:
  CublasContestant(DeviceTimer &timer, const runtime::CublasLt &library, const sem::OpModel &op,
                   const sem::TestCall &call, const interp::Arguments &pattern, const Product &product)
      : CallContestant(timer, op, call, pattern), library(library), product(product) {}
  std::string name() const override { return "cublaslt"; }

  bool prepare(std::string &error) {
    auto dtypeOf = [&](size_t id) { return uint8_t(call.bound.spec.dtypes[size_t(op.tensors[id].typeVar)]); };
    runtime::ProductShape shape;
    shape.typeA = dtypeOf(product.a);
    shape.typeB = dtypeOf(product.b);
    shape.typeC = dtypeOf(product.c);
    shape.columnsA = product.turnA;
    shape.columnsB = product.turnB;
    shape.hasBias = product.bias.has_value();
    auto [m, n, k] = std::tie(shape.m, shape.n, shape.k) = std::tuple(product.m, product.n, product.k);
    shape.batch = product.batch;
    shape.leadA = product.turnA ? m : k;
    shape.leadB = product.turnB ? k : n;
    shape.leadC = n;
    shape.strideA = m * k;
    shape.strideB = k * n;
    shape.strideC = m * n;
    return plan.make(library, timer.device().device->ordinal, shape, kWorkspace, error) &&
           workspace.allocate(timer.device(), kWorkspace, error) && makeCopies(1, error);
  }

private:
  bool enqueue(runtime::CUstream stream, unsigned copy, std::string &error) override {
    int status =
        plan.run(memory[copy]->data(product.a), memory[copy]->data(product.b),
                 product.bias ? memory[copy]->data(*product.bias) : nullptr, memory[copy]->data(product.c),
                 reinterpret_cast<void *>(workspace.address()), stream);
    if (status && error.empty())
      error = "cuBLASLt fails: status " + std::to_string(status);
    return status == 0;
  }

  const runtime::CublasLt &library;
  Product product;
  runtime::ProductPlan plan;
  DeviceBlock workspace;
};

} // namespace

std::optional<Product> productOf(const sem::OpModel &op, const sem::TestCall &call) {
  std::optional<sem::ProductPeer> peer = sem::productPeer(op);
  if (!peer)
    return std::nullopt;
  std::optional<Product> product = Product{};
  product->a = size_t(peer->a);
  product->b = size_t(peer->b);
  product->turnA = peer->turnA;
  product->turnB = peer->turnB;
  if (peer->bias >= 0)
    product->bias = size_t(peer->bias);
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
  const runtime::CublasLt *library = runtime::CublasLt::open(found, lacking);
  if (!library)
    return nullptr;
  auto contestant = std::make_unique<CublasContestant>(timer, *library, op, call, pattern, product);
  return contestant->prepare(lacking) ? std::move(contestant) : nullptr;
}

} // namespace tilegym::cli
