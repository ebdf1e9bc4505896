// SPDX-License-Identifier: MIT
// The table as the runtime reads it: the interface of an op, its texts with its libraries, and what cannot be written.
#include "compiler/emit/Package.h"
#include "compiler/syntax/Parser.h"
#include "runtime/src/PackageTable.h"
#include <catch2/catch.hpp>

using namespace tilegym;

namespace {

llvm::Expected<std::string> tableOf(const std::string &text,
                                    const std::vector<std::pair<std::string, std::string>> &libraries = {}) {
  DiagnosticSink sink;
  sem::SearchPath path;
  for (const auto &[name, contents] : libraries)
    path.libraries.emplace_back(name,
                                std::make_shared<const SourceFile>("folder/lib/" + name + ".tile", contents));
  auto spec = std::make_shared<const ast::Spec>(
      parseSpec(std::make_shared<const SourceFile>("some/folder/op.tile", text), sink));
  auto model = sem::analyze(spec, path, sink);
  INFO(renderAll(sink));
  REQUIRE(model);
  emit::Package package;
  package.name = "tests";
  package.ops.push_back({model, {}});
  return emit::writeTable(package);
}

/// A complete spec around a header; `test` is what its test section says.
std::string around(const std::string &header, const std::string &test) {
  return header + "\nreference { }\nkernel only(BN) { grid(1) }\ntune only { BN in [1] }\ntest { " + test +
         " }\nbench none \"a test\"\n";
}

std::string refusal(const std::string &text) {
  auto table = tableOf(text);
  return table ? "" : llvm::toString(table.takeError());
}

} // namespace

TEST_CASE("the runtime opens what is written, and finds the texts in it") {
  std::string text =
      "use helpers\n" +
      around("op f(x: T[*R, N], w: T[2*N]?) -> y: T[*R, N]\n  where T: f32 | bf16, N % 2 == 0 \"N is even\"",
             "case \"c\" { R = 1; N = 2; x = [[1, 1]]; expect y = [[1, 1]] }; tolerance { f32: 0; bf16: 0 }");
  auto block = tableOf(text, {{"helpers", "fn twice(x) {\n  2 * x\n}\n"}});
  REQUIRE(bool(block));
  std::vector<uint64_t> words(block->size() / 8 + 1);
  std::memcpy(words.data(), block->data(), block->size());
  runtime::Table table;
  REQUIRE(table.open(words.data(), block->size(), "a test") == TILEGYM_OK);
  REQUIRE(table.ops().size() == 1);
  const format::Op &op = table.ops()[0];
  CHECK(table.text(op.name) == "f");
  auto sources = table.get<format::Source>(op.sources);
  REQUIRE(sources.size() == 2);
  CHECK(table.text(sources[0].name) == "op.tile"); // no folder of the machine that made it
  CHECK(table.text(sources[0].text) == text);
  CHECK(table.text(sources[1].name) == "helpers");
  CHECK(table.text(sources[1].text) == "fn twice(x) {\n  2 * x\n}\n");
  CHECK(table.get<format::Check>(op.checks).size() == 1);
  CHECK(op.arguments.count == 3);
}

TEST_CASE("what packages cannot say is refused") {
  CHECK(refusal(around("op f(x: T[*R, N], y: T[*S, N]) -> z: T[*R, N]\n  where T: f32",
                       "case \"c\" { R = 1; S = 1; N = 1; x = [[1]]; y = [[1]]; expect z = [[1]] }; "
                       "tolerance { f32: 0 }")) ==
        "f: the runtime takes one group of leading dims an op, this one has several");
  CHECK(refusal(around("op f(x: T[N]) -> z: T[N] = 1\n  where T: f32 | f16",
                       "case \"c\" { N = 1; x = [1]; expect z = [1] }; tolerance { f32: 0; f16: 0 }")) ==
        "f: z: its first value differs in bits from dtype to dtype, which packages cannot say; use 0 or one "
        "dtype");
  std::string lists;
  for (int i = 0; i < 17; ++i)
    lists += (i ? ", list a" : "list a") + std::to_string(i) + ": f32[M[]]";
  CHECK(refusal(around("op f(" + lists + ") -> list z: f32[M[]]",
                       "case \"c\" { M = [1]; expect z = [[0]] }; tolerance { f32: 0 }")) ==
        "f: the runtime takes 16 lists an op, this one has more");
}

TEST_CASE("lists, and dims that their tensors have for themselves, say so") {
  auto block =
      tableOf(around("op f(list a: f32[M[], N]) -> list c: f32[M[], sum(g in 0 .. len(a): M[g])]",
                     "case \"c\" { M = [1]; N = 1; a = [[[1]]]; expect c = [[[1]]] }; tolerance { f32: 0 }"),
              {});
  REQUIRE(bool(block));
  std::vector<uint64_t> words(block->size() / 8 + 1);
  std::memcpy(words.data(), block->data(), block->size());
  runtime::Table table;
  REQUIRE(table.open(words.data(), block->size(), "a test") == TILEGYM_OK);
  const format::Op &op = table.ops()[0];
  auto tensors = table.get<format::Tensor>(op.tensors);
  CHECK((tensors[0].isList == 1 && tensors[1].isList == 1));
  auto dims = table.get<format::Dim>(op.dims);
  CHECK((dims[0].isOfElement == 1 && dims[1].isOfElement == 0));
}
