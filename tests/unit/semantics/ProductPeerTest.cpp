// SPDX-License-Identifier: MIT
// Which products peers' texts name, and when such a product is all that an op does.
#include "compiler/semantics/ProductPeer.h"
#include "tests/unit/semantics/SpecText.h"

using namespace tilegym;
using namespace tilegym::sem;

namespace {

/// op f(a, w, v, act) with this peer: a, b and bias by name, "T" behind what is turned; "all" or "all if act = 1" where the op is that product.
std::string productOf(const std::string &peer) {
  std::shared_ptr<const OpModel> op =
      mustAnalyze("op f(a: f32[M, K], w: f32[N, K], v: f32[N]?, const act: silu | none = none) -> y: f32[M, "
                  "N]\nreference { y = a @ w.T }\n"
                  "kernel only(BN) { grid(1) }\ntune only { BN in [1] }\ntest { M in [1]; N in [1]; K in "
                  "[1]; act in all; case \"c\" { M = 1; N = 1; K = 1; a = [[1]]; w = [[2]]; v = None; act = "
                  "none; expect y = [[2]] }; tolerance { f32: 0 } }\n"
                  "bench { M = 8; N = 8; K = 8; act = none; flops = 1; peer torch \"" +
                  peer + "\" }\n");
  std::optional<ProductPeer> p = productPeer(*op);
  if (!p)
    return "none";
  auto name = [&](int64_t id) { return id < 0 ? "" : op->tensors[size_t(id)].name; };
  std::string text =
      name(p->a) + (p->turnA ? "T " : " ") + name(p->b) + (p->turnB ? "T " : " ") + name(p->bias);
  text += p->isAll ? " all" : "";
  return text + (p->plainConst >= 0 ? " if " + op->scalars[size_t(p->plainConst)].name + " = " +
                                          std::to_string(p->plainValue)
                                    : "");
}

} // namespace

TEST_CASE("products in peers") {
  CHECK(productOf("a @ w.T") == "a wT  all");
  CHECK(productOf("a.mT @ w") == "aT w  all");
  CHECK(productOf("torch.bmm(a, w)") == "a w  all");
  CHECK(productOf("torch.nn.functional.linear(a, w)") == "a wT  all");
  CHECK(productOf("torch.nn.functional.linear(a, w, v)") == "a wT v all");
  CHECK(productOf("torch.relu(torch.nn.functional.linear(a, w, v))") == "a wT v");
  CHECK(productOf("{'none': lambda t: t, 'silu': "
                  "torch.nn.functional.silu}[act](torch.nn.functional.linear(a, w, v))") ==
        "a wT v all if act = 1");
  CHECK(productOf("{'none': lambda t: t + 1, 'silu': "
                  "torch.nn.functional.silu}[act](torch.nn.functional.linear(a, w, v))") == "a wT v");
  CHECK(productOf("{'other': lambda t: t}[act](torch.nn.functional.linear(a, w, v))") == "a wT v");
  CHECK(productOf("a @ w + v") == "none");
  CHECK(productOf("torch.softmax(a, -1)") == "none");
}
