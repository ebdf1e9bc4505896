// SPDX-License-Identifier: MIT
// Every file of tests/specs/bad is a wrong spec that says what must be reported: lines `# expect-error: LINE:COLUMN: message` (and
// `# expect-help: text` for the error before it). Nothing else may be reported, and each error comes once.
#include "compiler/semantics/SpecLookup.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>

using namespace tilegym;
using namespace tilegym::sem;

namespace {

struct Expected {
  std::string place, message, help;
};

std::vector<Expected> expectations(const std::string &text) {
  std::vector<Expected> found;
  std::istringstream lines(text);
  const std::string error = "# expect-error: ", help = "# expect-help: ";
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(error, 0) == 0) {
      size_t column = line.find(':', error.size()), message = line.find(": ", column + 1);
      REQUIRE(message != std::string::npos);
      found.push_back({line.substr(error.size(), message - error.size()), line.substr(message + 2), {}});
    } else if (line.rfind(help, 0) == 0) {
      REQUIRE_FALSE(found.empty());
      found.back().help = line.substr(help.size());
    }
  }
  return found;
}

std::string place(SourceRange range) {
  if (!range.file)
    return "?";
  auto at = range.file->lineColumn(range.begin);
  return std::to_string(at.line) + ":" + std::to_string(at.column);
}

} // namespace

TEST_CASE("wrong specs are refused at the right place") {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const auto &entry : fs::directory_iterator(std::string(TILEGYM_SOURCE_DIR) + "/tests/specs/bad"))
    if (entry.path().extension() == ".tile")
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  CHECK(files.size() >= 60);
  for (const std::string &file : files) {
    DiagnosticSink sink;
    auto source = readSource(file);
    REQUIRE(source);
    std::vector<Expected> expected = expectations(std::string(source->text()));
    INFO(fs::path(file).filename().string());
    auto spec = loadTree(file, sink);
    auto op = spec ? analyze(spec, {}, sink) : nullptr;
    if (op)
      checkSpec(*op, sink);
    INFO(renderAll(sink));
    CHECK_FALSE(expected.empty());
    std::vector<std::string> got, want, helps;
    for (const Diagnostic &diagnostic : sink.all())
      if (diagnostic.severity == Severity::Error) {
        got.push_back(place(diagnostic.range) + ": " + diagnostic.message);
        helps.push_back(diagnostic.help);
      }
    for (const Expected &one : expected)
      want.push_back(one.place + ": " + one.message);
    CHECK(got == want);
    for (size_t i = 0; i < expected.size() && i < helps.size(); ++i)
      if (!expected[i].help.empty())
        CHECK(helps[i] == expected[i].help);
  }
}
