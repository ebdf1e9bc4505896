// SPDX-License-Identifier: MIT
// Loading of specs for the commands.
#include "Specs.h"
#include "compiler/interpreter/Gradient.h"
#include <algorithm>
#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <filesystem>

namespace tilegym::cli {
namespace {

std::string lowered(std::string text) {
  for (char &c : text)
    c = char(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

} // namespace

bool matchesAll(const std::string &text, const std::vector<std::string> &patterns) {
  return std::all_of(patterns.begin(), patterns.end(), [&](const std::string &p) {
    return lowered(text).find(lowered(p)) != std::string::npos;
  });
}

std::vector<OpPtr> loadOps(const std::vector<std::string> &names, const Globals &globals,
                           DiagnosticSink &sink) {
  sem::SpecFolders folders = globals.folders();
  std::vector<std::string> wanted = names.empty() ? sem::listSpecs(folders) : names;
  if (wanted.empty()) {
    std::string looked;
    for (const std::string &folder : folders.folders)
      looked += (looked.empty() ? "" : ", ") + folder;
    sink.error({}, "there is no spec in " + looked, "name a .tile file, or give its folder with --spec-dir");
  }
  std::vector<OpPtr> ops;
  for (const std::string &name : wanted)
    if (OpPtr op = sem::loadSpec(name, folders, sink); op && sem::checkSpec(*op, sink))
      ops.push_back(op);
  return ops;
}

std::unique_ptr<OpTests> collectTests(const OpPtr &op, const std::vector<std::string> &patterns,
                                      DiagnosticSink &sink, const std::string &exactly) {
  auto tests = std::make_unique<OpTests>();
  tests->op = op;
  tests->model = sem::readTest(*op, *op->spec->test, sink);
  for (sem::TestCall &call : sem::testCalls(*op, tests->model, sink))
    if (matchesAll(op->name + " " + call.name, patterns) && (exactly.empty() || call.name == exactly))
      tests->calls.push_back(std::move(call));
  return tests;
}

std::string shellWord(const std::string &text) {
  const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos)
    return text;
  std::string word = "'";
  for (char c : text)
    word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

OpPtr loadForward(const sem::OpModel &op, const Globals &globals, DiagnosticSink &sink) {
  sem::SpecFolders folders = globals.folders();
  std::filesystem::path beside = std::filesystem::path(op.spec->file->name()).parent_path();
  folders.folders.insert(folders.folders.begin(), beside.empty() ? "." : beside.string());
  return sem::loadSpec(interp::forwardName(op), folders, sink);
}

void complain(const char *format, ...) {
  std::fputs("error: ", stderr);
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
}

std::optional<std::vector<DType>> parseDTypes(const std::vector<std::string> &texts) {
  std::vector<DType> dtypes;
  for (const std::string &text : splitList(texts)) {
    std::optional<DType> dtype = parseDType(text);
    if (!dtype || !isStorage(*dtype)) {
      complain("--dtypes: '%s' is no dtype; expected one such as f32, f16, bf16", text.c_str());
      return std::nullopt;
    }
    dtypes.push_back(*dtype);
  }
  return dtypes;
}

} // namespace tilegym::cli
