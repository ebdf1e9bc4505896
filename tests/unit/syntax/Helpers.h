// SPDX-License-Identifier: MIT
// What the syntax tests share: parse a text, and see its diagnostics as short lines.
#pragma once
#include "compiler/syntax/Parser.h"
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tilegym::test {

struct Parsed {
  DiagnosticSink sink;
  ast::Spec spec;
};

inline Parsed parse(std::string text, std::string name = "t.tile") {
  Parsed parsed;
  parsed.spec = parseSpec(std::make_shared<SourceFile>(std::move(name), std::move(text)), parsed.sink);
  return parsed;
}

/// Each error as `line:column message | help`.
inline std::vector<std::string> errorsOf(const DiagnosticSink &sink) {
  std::vector<std::string> lines;
  for (const Diagnostic &diagnostic : sink.all()) {
    auto place = diagnostic.range.file->lineColumn(diagnostic.range.begin);
    std::string line =
        std::to_string(place.line) + ":" + std::to_string(place.column) + " " + diagnostic.message;
    lines.push_back(diagnostic.help.empty() ? line : line + " | " + diagnostic.help);
  }
  return lines;
}

/// Parses a text that must be right.
inline ast::Spec parseOk(std::string text, std::string name = "t.tile") {
  Parsed parsed = parse(std::move(text), std::move(name));
  INFO(renderAll(parsed.sink));
  REQUIRE(parsed.sink.all().empty());
  return std::move(parsed.spec);
}

/// A wrong text and all that is to be said about it, each as `line:column message | help`.
struct WrongText {
  std::string text;
  std::vector<std::string> errors;
};

inline void checkErrors(const std::vector<WrongText> &table) {
  for (const WrongText &wrong : table) {
    INFO(wrong.text);
    CHECK(errorsOf(parse(wrong.text).sink) == wrong.errors);
  }
}

inline std::string readFile(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The sample specs of these tests and the specs of the library.
inline std::vector<std::filesystem::path> allSpecs() {
  std::vector<std::filesystem::path> paths;
  for (const char *folder : {"tests/unit/syntax/data", "specs"})
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(TILEGYM_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".tile")
        paths.push_back(entry.path());
  REQUIRE(paths.size() >= 4);
  return paths;
}

} // namespace tilegym::test
