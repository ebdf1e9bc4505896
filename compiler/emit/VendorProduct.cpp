// SPDX-License-Identifier: MIT
// From what a spec's peer says to the numbers of arguments.
#include "compiler/emit/VendorProduct.h"
#include "compiler/semantics/ProductPeer.h"
#include "llvm/ADT/STLExtras.h"

namespace tilegym::emit {

static int argumentOf(const sem::OpModel &op, bool isTensor, int64_t id) {
  for (auto [number, a] : llvm::enumerate(op.arguments))
    if (a.isTensor == isTensor && a.id == id)
      return int(number);
  return -1;
}

std::optional<VendorProduct> vendorProduct(const sem::OpModel &op) {
  std::optional<sem::ProductPeer> p = sem::productPeer(op);
  int64_t c = -1, outputs = 0;
  for (auto [id, t] : llvm::enumerate(op.tensors))
    if (t.role != sem::Role::Input) {
      c = int64_t(id);
      ++outputs;
    }
  if (!p || !p->isAll || outputs != 1)
    return std::nullopt;
  VendorProduct product;
  product.a = argumentOf(op, true, p->a);
  product.b = argumentOf(op, true, p->b);
  product.bias = argumentOf(op, true, p->bias);
  product.c = argumentOf(op, true, c);
  product.turnA = p->turnA;
  product.turnB = p->turnB;
  product.plain = argumentOf(op, false, p->plainConst);
  product.plainValue = p->plainValue;
  return product;
}

} // namespace tilegym::emit
