// SPDX-License-Identifier: MIT
// Specs and libraries found by name: order of folders, near misses, libraries beside the spec and below the folders.
#include "compiler/semantics/SpecLookup.h"
#include "tests/unit/semantics/SpecText.h"
#include <filesystem>
#include <fstream>

using namespace tilegym;
using namespace tilegym::sem;
namespace fs = std::filesystem;

namespace {

/// A folder of its own for one test, removed at its end.
struct Folder {
  fs::path path;
  explicit Folder(const std::string &name) : path(fs::temp_directory_path() / ("tilegym-lookup-" + name)) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path, error);
  }
  std::string write(const std::string &name, const std::string &text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
};

std::string spec(const std::string &use) {
  return use + specAround("op copy(x: f32[N]) -> y: f32[N]",
                          "kernel only(BN) { grid(1) }\ntune only { BN in [1] }",
                          "N = 1; case \"c\" { expect y = [0] }; tolerance { f32: 0 }");
}

} // namespace

TEST_CASE("a name is looked up in folders in order") {
  Folder first("first"), second("second");
  second.write("copy.tile", spec(""));
  std::string hidden = second.write("add.tile", "hidden"), seen = first.write("add.tile", "seen");
  SpecFolders folders{{first.path.string(), second.path.string()}};
  DiagnosticSink sink;
  CHECK(findSpec("add", folders, sink) == seen);
  CHECK(findSpec("copy", folders, sink) == (second.path / "copy.tile").string());
  CHECK(findSpec(hidden, folders, sink) == hidden);
  CHECK(listSpecs(folders) == std::vector<std::string>{"add", "copy"});
  CHECK(loadSpec("copy", folders, sink));
  CHECK_FALSE(sink.hasErrors());
  CHECK_FALSE(findSpec("cpoy", folders, sink));
  CHECK(sink.all()[0].message == "no spec is called `cpoy`");
  CHECK(sink.all()[0].help ==
        "did you mean `copy`? looked in " + first.path.string() + ", " + second.path.string());
  CHECK_FALSE(findSpec("./none.tile", folders, sink));
  CHECK(sink.all()[1].message == "there is no file `./none.tile`");
  CHECK(SpecFolders::standard({"a"}, "b").folders == std::vector<std::string>{"specs", "a", "b"});
  CHECK_FALSE(loadTree(first.path.string(), sink));
  CHECK(sink.all()[2].message == "cannot read `" + first.path.string() + "`");
}

TEST_CASE("use finds libraries beside the spec and in the folders") {
  Folder own("own"), other("other");
  std::string path = own.write("copy.tile", spec("use near\nuse far\n"));
  own.write("lib/near.tile", "use deep\nfn near(a) { deep(a) }\n");
  own.write("lib/deep.tile", "use near\nfn deep(a) { a + a }\n");
  other.write("lib/far.tile", "fn far(a) { a }\n");
  DiagnosticSink sink;
  auto op = loadSpec(path, {{other.path.string()}}, sink);
  INFO(renderAll(sink));
  REQUIRE(op);
  CHECK(op->libraries.size() == 3);
}

TEST_CASE("what can be wrong with a library") {
  Folder folder("wrong");
  auto error = [&](const std::string &library, const std::string &use = "use l\n") {
    folder.write("lib/l.tile", library);
    DiagnosticSink sink;
    CHECK_FALSE(loadSpec(folder.write("copy.tile", spec(use)), {}, sink));
    std::string rendered = renderAll(sink); // of a tree that is gone
    REQUIRE(sink.numErrors() == 1);
    CHECK(rendered.find(".tile:") != std::string::npos);
    return sink.all()[0].message;
  };
  CHECK(error("fn f(a) { a + }\n").substr(0, 22) == "expected an expression");
  CHECK(error(spec("")) == "`l` is a whole spec, expected a library of `fn`s");
  CHECK(error("fn f(a) { f(a) }\n") == "`f` calls `f`, which is being inlined: a fn cannot be recursive");
  CHECK(error("fn f(a, a) { a }\n") == "the parameter `a` is declared twice");
  CHECK(error("fn sum(a) { a }\n") == "`sum` is a word of the language and cannot name a fn");
  CHECK(error("fn f(a) { a }\n", "use l\nfn f(b) { b }\n") == "there is a fn `f` already");
  CHECK(error("fn g(a, b) { let c = reduce(a, init=0, fn=h)\n c }\nfn h(a, b) { g(a, b) }\n") ==
        "`h` calls `g`, which is being inlined: a fn cannot be recursive");
  CHECK(error("", "use m\n") == "library `m` was not found");
}
