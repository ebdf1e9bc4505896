// SPDX-License-Identifier: MIT
// The builtin table: lookup, signatures, suggestions, and what a call's arguments may be.
#include "compiler/semantics/Builtins.h"
#include "BodyTesting.h"
#include "compiler/semantics/TileShape.h"
#include <cstdlib>
#include <fstream>
#include <set>

using namespace tilegym::sem;
using namespace tilegym::sem::testing;

TEST_CASE("each builtin is one row with a name, arguments and a doc line") {
  std::set<std::string> names;
  for (const BuiltinInfo &info : builtins()) {
    CHECK(names.insert(info.name).second);
    CHECK(findBuiltin(info.name) == &info);
    CHECK(&builtins()[size_t(info.id)] == &info);
    CHECK_FALSE(info.doc.empty());
    CHECK(info.example.find(info.name + "(") != std::string::npos);
    CHECK(info.signature.rfind(info.name + "(", 0) == 0);
    CHECK_FALSE(name(info.family).empty());
  }
  CHECK(names.size() > 70);
  CHECK(findBuiltin("softmax") == nullptr);
  CHECK(findBuiltin("load")->signature == "load(region, pad=, mask=)");
  CHECK(findBuiltin("philox")->arguments[2].defaultText == "32");
}

TEST_CASE("docs/builtins.md is the table") {
  // To renew it, run this test with TILEGYM_UPDATE_DOCS set.
  std::string path = std::string(TILEGYM_SOURCE_DIR) + "/docs/builtins.md";
  if (std::getenv("TILEGYM_UPDATE_DOCS"))
    std::ofstream(path) << builtinsPage();
  std::ifstream in(path);
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == builtinsPage());
}

TEST_CASE("the nearest name is offered only where it is near") {
  CHECK(nearest("sqr", {"sqrt", "sin"}) == "sqrt");
  CHECK(nearest("laod", {"load", "log"}) == "load");
  CHECK(nearest("frobnicate", {"load", "log"}).empty());
  CHECK(nearest("x", {"y"}).empty());
  CHECK(nearest(std::string(100, 'a'), {std::string(100, 'a') + "b"}).empty());
}

TEST_CASE("tile extents are 2^k * r with r odd and at most 15") {
  for (int64_t extent : {1, 2, 4, 8, 24, 96, 120, 176, 192, 5120, 1 << 20})
    CHECK(isTileExtent(extent));
  for (int64_t extent : {0, -8, 3, 12, 100, 17 * 8, 1000000})
    CHECK_FALSE(isTileExtent(extent));
  CHECK(nearestTileExtents(100).below == 96);
  CHECK(nearestTileExtents(100).above == 104);
  CHECK(nearestTileExtents(3).below == 2);
  CHECK(nearestTileExtents(3).above == 4);
}

TEST_CASE("arguments of builtins") {
  expectKernelErrors({
      {"let v = @{exp()}@", "`exp` lacks its argument `x`", "it is written `exp(x)`"},
      {"let v = exp(eps, @{eps}@)", "`exp` has too many arguments", "it is written `exp(x)`"},
      {"let t = iota(8)\nlet v = sum(t, @{0}@)", "`sum` takes `axis` by name",
       "write `axis=...`; it is written `sum(x, axis=, acc=)`"},
      {"let t = iota(8)\nlet v = sum(t, @{axs}@=0)", "`sum` has no argument `axs`",
       "did you mean `axis`? it is written `sum(x, axis=, acc=)`"},
      {"let t = iota(8)\nlet v = sum(t, @{dim}@=0)", "`sum` has no argument `dim`",
       "it is written `sum(x, axis=, acc=)`"},
      {"let v = exp(eps, @{x}@=eps)", "`exp` is given `x` twice", "it is written `exp(x)`"},
      {"let v = @{expp}@(eps)", "unknown function `expp`", "did you mean `exp`?"},
      {"let v = @{frobnicate}@(eps)", "unknown function `frobnicate`",
       "declare it with `fn`, `use` the library that has it, or see `tilegymc list --builtins`"},
      {"let v = @{exp}@", "`exp` is a builtin function", "call it: exp(x)"},
  });
}
