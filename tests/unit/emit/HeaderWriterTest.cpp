// SPDX-License-Identifier: MIT
// Generated headers: as expected word for word, and accepted by the C compiler as C99 and by the C++ compiler as C++17 and C++20 with warnings as
// errors. What the functions do is tested in tests/unit/runtime, which includes the same text.
#include "compiler/emit/Package.h"
#include "compiler/syntax/Parser.h"
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace tilegym;

namespace {

std::string readFile(const std::string &path) {
  std::ifstream in(path);
  REQUIRE(in);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::shared_ptr<const sem::OpModel> modelOf(const std::string &text) {
  DiagnosticSink sink;
  auto spec =
      std::make_shared<const ast::Spec>(parseSpec(std::make_shared<const SourceFile>("op.tile", text), sink));
  auto model = sem::analyze(spec, {}, sink);
  INFO(renderAll(sink));
  REQUIRE(model);
  return model;
}

emit::Package packageOf(const std::string &name, const std::vector<std::string> &specs) {
  emit::Package package;
  package.name = name;
  for (const std::string &text : specs)
    package.ops.push_back({modelOf(text), {}});
  return package;
}

std::string headerOf(const std::string &name, const std::vector<std::string> &specs) {
  emit::Package package = packageOf(name, specs);
  return emit::writeHeader(package);
}

/// A complete spec around a header; `test` is what its test section says.
std::string around(const std::string &header, const std::string &test) {
  return header + "\nreference { }\nkernel only(BN) { grid(1) }\ntune only { BN in [1] }\ntest { " + test +
         " }\nbench none \"a test\"\n";
}

/// Compiles a file that includes the header; the compiler's complaints.
std::string complaints(const std::string &header, const std::string &extension, const std::string &compiler) {
  std::string folder = "header-test-" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  std::string source = folder + "/use." + extension, log = folder + "/log";
  std::ofstream(folder + "/kernels.h") << header;
  std::ofstream(source) << "#include \"kernels.h\"\nint main(void) { return 0; }\n";
  std::string command =
      compiler + " -Wall -Wextra -Werror -pedantic -fsyntax-only -I" TILEGYM_SOURCE_DIR "/runtime/include " +
      source + " > " + log + " 2>&1";
  int code = std::system(command.c_str());
  std::string text = code ? readFile(log) : "";
  std::filesystem::remove_all(folder);
  return text;
}

} // namespace

TEST_CASE("the header of a package, word for word") {
  std::string folder = TILEGYM_SOURCE_DIR "/tests/unit/runtime/data/";
  CHECK(headerOf("norms", {readFile(folder + "norm.tile")}) == readFile(folder + "norms.h.golden"));
}

TEST_CASE("headers are C99, C++17 and C++20") {
  std::string header = headerOf(
      "all",
      {readFile(TILEGYM_SOURCE_DIR "/tests/unit/runtime/data/norm.tile"),
       around(
           "## ends in a backslash \\\nop axpy(x: T[N], a: T, n: i32, big: u64 = 7, low: f32 = -inf, const "
           "k: bool) -> z: T[N]\n  where T: f32 | f16",
           "case \"c\" { N = 1; x = [1]; a = 1; n = 1; k = true; expect z = [1] }; tolerance { f32: 0; f16: "
           "0 }"),
       around("op cast(x: f32[N]) -> y: T[N]\n  where T: f16 | bf16",
              "case \"c\" { N = 1; T in all; x = [1]; expect y = [1] }; tolerance { f16: 0; bf16: 0 }"),
       around(
           "op wrap(result: f32[N], union: f64[], status: f32 = 2) -> (package: f32[N], arguments: f32[N]?)",
           "case \"c\" { N = 1; result = [1]; union = 1; expect package = [1] }; tolerance { f32: 0 }"),
       around("op update(inout x: f32[N]) -> out: f32[N]",
              "case \"c\" { N = 1; x = [1]; expect out = [1] }; tolerance { f32: 0 }"),
       readFile(TILEGYM_SOURCE_DIR "/specs/linear.tile"), readFile(TILEGYM_SOURCE_DIR "/specs/bmm.tile"),
       readFile(TILEGYM_SOURCE_DIR "/specs/group_gemm.tile")});
  CHECK(complaints(header, "c", TILEGYM_C_COMPILER " -std=c99") == "");
  CHECK(complaints(header, "cpp", TILEGYM_CXX_COMPILER " -std=c++17") == "");
  CHECK(complaints(header, "cpp", TILEGYM_CXX_COMPILER " -std=c++20") == "");
  CHECK(header.find("cast_result") == std::string::npos); // its output's dtype is the caller's to say
  CHECK(header.find("axpy_result axpy(") != std::string::npos);
  CHECK(header.find(
            "TilegymStatus all_group_gemm(const TilegymTensorList *a, const TilegymTensorList *b, const "
            "TilegymTensorList *c, void *stream);") != std::string::npos);
  CHECK(header.find("inline tilegym::Status group_gemm(const tilegym::TensorList &a, const "
                    "tilegym::TensorList &b, const "
                    "tilegym::TensorList &c, void *stream = nullptr)") != std::string::npos);
  CHECK(header.find("list a: T[M[], K[]]") != std::string::npos);
  CHECK(header.find("group_gemm_result") ==
        std::string::npos); // how many outputs there are the call knows alone
}

TEST_CASE("ops that are products are offered to the vendor, with their arguments' numbers") {
  std::string specs = TILEGYM_SOURCE_DIR "/specs/";
  std::vector<std::string> texts;
  for (const char *name : {"softmax", "linear", "matmul", "fmha"})
    texts.push_back(readFile(specs + name + ".tile"));
  std::string header = headerOf("p", texts);
  CHECK(header.find("static inline TilegymStatus p_add_vendor(void) {\n"
                    "  static const TilegymProduct products[] = {\n"
                    "      {\"linear\", 0, 1, 2, 4, 0, 1, 3, 0},\n"
                    "      {\"matmul\", 0, 1, -1, 3, 0, 0, -1, 0}};\n") != std::string::npos);
  CHECK(headerOf("p", {readFile(specs + "softmax.tile")}).find("vendor") == std::string::npos);
  // And what other languages read has the same numbers.
  std::string interface = emit::writeInterface(packageOf("p", texts), "");
  std::erase_if(interface, [](char c) { return c == ' ' || c == '\n'; });
  CHECK(interface.find("\"product\":[0,1,2,4,0,1,3,0]") != std::string::npos);
  CHECK(interface.find("\"product\":[0,1,-1,3,0,0,-1,0]") != std::string::npos);
  CHECK(interface.find("\"product\"", interface.find("\"name\":\"fmha\"")) == std::string::npos);
}
