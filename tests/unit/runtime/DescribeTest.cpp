// SPDX-License-Identifier: MIT
// What the runtime says of itself: introspection as text and JSON, versions, names of statuses, the log.
#include "tests/unit/runtime/Calls.h"
#include "tests/unit/runtime/Fake.h"
#include "tests/unit/runtime/SpecPackage.h"
#include "tilegym/tilegym.hpp"

using namespace tilegym::testing;
using Catch::Contains;

TEST_CASE("a package as text") {
  fakeCuda();
  Opened opened(scaleOp());
  REQUIRE(tilegym_register_impl(
              "scale", "mine",
              [](void *, TilegymPackage *, size_t, const void *const *, void *) { return TILEGYM_OK; },
              nullptr) == TILEGYM_OK);
  CHECK_THAT(tilegym::describe(opened.package), Contains("tilegym: 0.1.0\nabi: 1\n"));
  CHECK_THAT(tilegym::describe(opened.package), Contains("driver: CUDA 13.0\n"
                                                         "devices:\n"
                                                         "  device: Fake H\n"
                                                         "  arch: sm_90\n"
                                                         "  device: Fake A\n"
                                                         "  arch: sm_80\n"
                                                         "backend: tile\n"
                                                         "backends: tile, vendor, mine\n"
                                                         "registered:\n"
                                                         "  op: scale\n"
                                                         "  backend: mine\n"));
  CHECK_THAT(tilegym::describe(opened.package), Contains("    op: scale\n"
                                                         "    arguments:\n"
                                                         "      name: x\n"
                                                         "      kind: input\n"
                                                         "      dtypes: f32, f16\n"
                                                         "      dims: *R, N\n"
                                                         "      name: b\n"
                                                         "      kind: input\n"
                                                         "      dtypes: f32, f16\n"
                                                         "      dims: N|1\n"
                                                         "      optional: true\n"
                                                         "      name: s\n"
                                                         "      kind: scalar\n"
                                                         "      dtypes: f32\n"
                                                         "      default: 0.5\n"
                                                         "      name: fast\n"
                                                         "      kind: const\n"
                                                         "      dtypes: bool\n"
                                                         "      choices: 0, 1\n"
                                                         "      default: 1\n"
                                                         "      name: y\n"
                                                         "      kind: output\n"
                                                         "      dtypes: f32, f16\n"
                                                         "      dims: *R, N\n"
                                                         "    backends: tile, mine\n"
                                                         "    variants: 8\n"
                                                         "    code:\n"
                                                         "      dtypes:\n"
                                                         "        T: f32\n"
                                                         "      archs: PTX for sm_80, sm_80\n"
                                                         "      dtypes:\n"
                                                         "        T: f16\n"
                                                         "      archs: PTX for sm_80, sm_80\n"));
}

TEST_CASE("a package as JSON, for which dtypes there is code, and for which archs") {
  fakeCuda();
  OpText op = scaleOp();
  for (VariantText &v : op.variants)
    if (v.dtypes[0] == F16)
      v.images = {{90, 0, 1, "15 cubin"}}; // a hole: no f16 on sm_80
  Opened opened(op);
  std::string json = tilegym::describe(opened.package, /*json=*/true);
  CHECK_THAT(json, Catch::StartsWith("{\"tilegym\":\"0.1.0\",\"abi\":1,\"reads_format\":"));
  CHECK_THAT(json, Contains("\"devices\":[{\"device\":\"Fake H\",\"arch\":\"sm_90\"},{\"device\":\"Fake "
                            "A\",\"arch\":\"sm_80\"}]"));
  CHECK_THAT(json, Contains("{\"name\":\"b\",\"kind\":\"input\",\"dtypes\":[\"f32\",\"f16\"],\"dims\":[\"N|"
                            "1\"],\"optional\":true}"));
  CHECK_THAT(
      json,
      Contains("{\"name\":\"s\",\"kind\":\"scalar\",\"dtypes\":[\"f32\"],\"choices\":[],\"default\":0.5}"));
  CHECK_THAT(json, Contains("\"code\":[{\"dtypes\":{\"T\":\"f32\"},\"archs\":[\"PTX for sm_80\",\"sm_80\"]},"
                            "{\"dtypes\":{\"T\":\"f16\"},\"archs\":[\"sm_90a\"]}]"));
  const char *text = nullptr;
  CHECK(tilegym_describe(opened.package, 7, &text) == TILEGYM_INVALID_ARGUMENT);
}

TEST_CASE("quotes, lines and enums in JSON, no package and no driver") {
  setenv("TILEGYM_DRIVER", "no-such-library.so", 1);
  auto run = [](void *, TilegymPackage *, size_t, const void *const *, void *) { return TILEGYM_OK; };
  REQUIRE(tilegym_register_impl("a\"b\\c\nd", "mine", run, nullptr) == TILEGYM_OK);
  Opened opened(opOfSpec(sourceFile("tests/unit/runtime/data/norm.tile")));
  std::string json = tilegym::describe(opened.package, /*json=*/true);
  CHECK_THAT(json, Contains("\"driver\":null,\"no_driver\":\"no CUDA driver: no-such-library.so"));
  CHECK_THAT(json, Contains("{\"op\":\"a\\\"b\\\\c\\u000ad\",\"backend\":\"mine\"}"));
  CHECK_THAT(json, Contains("\"dtypes\":[\"i32\"],\"choices\":[0,1],\"default\":0}"));
  CHECK(tilegym::describe().find("package:") == std::string::npos);
}

TEST_CASE("versions and names of statuses") {
  CHECK(tilegym_abi_version() == TILEGYM_ABI_VERSION);
  CHECK(std::string(tilegym_version()) == TILEGYM_VERSION);
  CHECK(std::string(tilegym_status_name(TILEGYM_OK)) == "OK");
  CHECK(std::string(tilegym_status_name(TILEGYM_BAD_PACKAGE)) == "BAD_PACKAGE");
  CHECK(std::string(tilegym_status_name(TILEGYM_OUT_OF_MEMORY)) == "OUT_OF_MEMORY");
  CHECK(std::string(tilegym_status_name(77)) == "UNKNOWN");
}

TEST_CASE("failures are logged where that is wished") {
  fakeCuda();
  std::vector<std::string> lines;
  auto sink = [](void *user, int32_t level, const char *text) {
    static_cast<std::vector<std::string> *>(user)->push_back(std::to_string(level) + " " + text);
  };
  tilegym_set_log(sink, &lines);
  CHECK(tilegym_call(nullptr, 0, nullptr, nullptr) == TILEGYM_INVALID_ARGUMENT);
  CHECK(lines.empty());
  tilegym_set_log_level(TILEGYM_LOG_DEBUG);
  CHECK(tilegym_call(nullptr, 0, nullptr, nullptr) == TILEGYM_INVALID_ARGUMENT);
  CHECK(lines == std::vector<std::string>{"3 a call failed with INVALID_ARGUMENT: the package is null"});
  tilegym_set_log(nullptr, nullptr);
}
