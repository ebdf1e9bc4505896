// SPDX-License-Identifier: MIT
// Points of a tune section: cross product, `where`, archs, knobs of each kind.
#include "compiler/semantics/Knobs.h"
#include "tests/unit/semantics/SpecText.h"

using namespace tilegym;
using namespace tilegym::sem;

namespace {

std::shared_ptr<const OpModel> op(const std::string &tune, const std::string &params = "BM, BN") {
  return mustAnalyze(
      specAround("op f(x: T[N, D]) -> y: T[N, D]\n  where T: f32 | bf16, D: 64 | 128",
                 "kernel k(" + params + ") { grid(1) }\ntune k { " + tune + " }",
                 "N = 0; D = 64; case \"c\" { expect y = [] }; tolerance { f32: 0; bf16: 0 }"));
}

std::vector<Specialization> points(const OpModel &op, const std::string &arch = "", size_t interface = 0) {
  DiagnosticSink sink;
  Specialization base = enumerateDerived(op, enumerateInterfaces(op)[interface], 0)[0];
  auto result = candidates(op, base, arch, sink);
  INFO(renderAll(sink));
  CHECK_FALSE(sink.hasErrors());
  return result;
}

std::vector<std::string> texts(const std::vector<Specialization> &points) {
  std::vector<std::string> all;
  for (const Specialization &point : points) {
    std::string text;
    for (const auto *list : {&point.params, &point.knobs})
      for (const NamedInt &entry : *list)
        text += (text.empty() ? "" : " ") + entry.name + "=" + knobText(entry.name, entry.value);
    all.push_back(text);
  }
  return all;
}

using Texts = std::vector<std::string>;

} // namespace

TEST_CASE("lists are crossed, the last fastest") {
  CHECK(texts(points(*op("BM in [1, 2]; BN in [16, 32]; warps = 4"))) ==
        Texts{"BM=1 BN=16 warps=4", "BM=1 BN=32 warps=4", "BM=2 BN=16 warps=4", "BM=2 BN=32 warps=4"});
}

TEST_CASE("where cuts the space, with knobs, consts, compile-time dims and dtypes") {
  CHECK(texts(points(*op("BM in [1, 2]; BN in [16, 32]; where BM * BN <= 32"))) ==
        Texts{"BM=1 BN=16", "BM=1 BN=32", "BM=2 BN=16"});
  auto model = op("BM in [1, 2]; BN in [16, 32]; stages in [2, 3]; where BN * stages * sizeof(T) >= D * 2; "
                  "where BM == 1");
  // Interfaces: f32 D=64, f32 D=128, bf16 D=64, bf16 D=128.
  CHECK(texts(points(*model, "", 0)) ==
        Texts{"BM=1 BN=16 stages=2", "BM=1 BN=16 stages=3", "BM=1 BN=32 stages=2", "BM=1 BN=32 stages=3"});
  CHECK(texts(points(*model, "", 1)) == Texts{"BM=1 BN=32 stages=2", "BM=1 BN=32 stages=3"});
  CHECK(texts(points(*model, "", 2)) == Texts{"BM=1 BN=32 stages=2", "BM=1 BN=32 stages=3"});
  CHECK(points(*model, "", 3).empty());
  // A knob's words stand for themselves.
  CHECK(texts(points(*op("BM = 1; BN = 1; hold in [registers, shared]; warps in [4, 8]; where (hold == "
                         "shared) | (warps == 4)"))) == Texts{"BM=1 BN=1 hold=registers warps=4",
                                                              "BM=1 BN=1 hold=shared warps=4",
                                                              "BM=1 BN=1 hold=shared warps=8"});
}

TEST_CASE("an arch replaces settings and adds its own") {
  auto model =
      op("BM = 1; BN in [16, 32]; warps = 4; arch sm_90a { warps in [8, 16]; ctas = 2; where BN == 32 }");
  CHECK(texts(points(*model, "sm_80")) == Texts{"BM=1 BN=16 warps=4", "BM=1 BN=32 warps=4"});
  CHECK(texts(points(*model, "sm_90a")) == Texts{"BM=1 BN=32 warps=8 ctas=2", "BM=1 BN=32 warps=16 ctas=2"});
}

TEST_CASE("knobs of every kind") {
  CHECK(texts(points(*op("BM = 1; BN = 1; persistent in [true, false]; hold = shared; split_k in [1, 4]"))) ==
        Texts{"BM=1 BN=1 persistent=true hold=shared split_k=1",
              "BM=1 BN=1 persistent=true hold=shared split_k=4",
              "BM=1 BN=1 persistent=false hold=shared split_k=1",
              "BM=1 BN=1 persistent=false hold=shared split_k=4"});
  for (const KnobInfo &knob : knobs()) {
    INFO(knob.name);
    CHECK_FALSE(knob.doc.empty());
    CHECK(findKnob(knob.name) == &knob);
    CHECK((knob.kind == KnobInfo::Word) == !knob.words.empty());
  }
}

TEST_CASE("values may name compile-time dims, derived parameters come from the base") {
  CHECK(texts(points(*op("BM in [1, D]; where BN == D", "BM, BN = D"), "", 1)) ==
        Texts{"BM=1 BN=128", "BM=128 BN=128"});
}

TEST_CASE("a kernel without tune has one point") {
  auto model = mustAnalyze(specAround("op f(x: T[N]) -> y: T[N] where T: f32", "kernel k(BN = 4) { grid(1) }",
                                      "N = 1; case \"c\" { expect y = [0] }; tolerance { f32: 0 }"));
  CHECK(texts(points(*model)) == Texts{"BN=4"});
}
