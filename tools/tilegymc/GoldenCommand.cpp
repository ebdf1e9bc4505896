// SPDX-License-Identifier: MIT
// `tilegymc golden`: what the compiler makes of the specs, as files that are reviewed like code.
#include "Specs.h"
#ifdef TILEGYM_HAS_COMPILER
#include "GoldenText.h"
#include "compiler/driver/CompileOp.h"
#include "llvm/Support/Error.h"
#endif
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace tilegym::cli {
namespace {

using json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> specs, archs;
  std::string folder = "tests/golden";
  bool update = false;
};

/// CI may not approve what it compares with.
bool inCI() {
  const char *ci = std::getenv("CI");
  return ci && *ci && std::string(ci) != "0" && std::string(ci) != "false";
}

#ifdef TILEGYM_HAS_COMPILER

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// The lines between what both begin and end with, the old ones first; long ones are cut.
void printDifference(const std::string &path, const std::string &approved, const std::string &made) {
  std::vector<std::string> a = linesOf(approved), b = linesOf(made);
  size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head])
    ++head;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::printf("--- %s\n+++ %s.unapproved\n@@ line %zu @@\n", path.c_str(), path.c_str(), head + 1);
  auto print = [&](char sign, const std::vector<std::string> &lines) {
    size_t count = lines.size() - tail - head;
    for (size_t i = 0; i < std::min<size_t>(count, 20); ++i)
      std::printf("%c%s\n", sign, lines[head + i].c_str());
    if (count > 20)
      std::printf("%c... %zu more lines\n", sign, count - 20);
  };
  print('-', a);
  print('+', b);
}

std::optional<std::string> readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return std::nullopt;
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

int settle(const Options &o, const std::vector<GoldenFile> &files, const Globals &globals) {
  size_t same = 0, changed = 0;
  json list = json::array();
  for (const GoldenFile &file : files) {
    std::string path = o.folder + "/" + file.name, aside = path + ".unapproved";
    std::error_code ec;
    std::optional<std::string> approved = readFile(path);
    list.push_back({{"path", path},
                    {"status", approved == file.text ? "same"
                               : o.update            ? "written"
                               : approved            ? "differs"
                                                     : "missing"}});
    if (approved == file.text) {
      ++same;
      std::filesystem::remove(aside, ec);
      continue;
    }
    ++changed;
    std::filesystem::create_directories(o.folder, ec);
    if (!writeFile(o.update ? path : aside, file.text))
      return EnvironmentLacks;
    if (o.update) {
      std::filesystem::remove(aside, ec);
      if (!globals.json)
        std::printf("%s %s\n", approved ? "updated" : "new", path.c_str());
    } else if (!globals.json) {
      printDifference(path, approved.value_or(""), file.text);
    }
  }
  if (globals.json) {
    std::puts(json({{"files", list}}).dump(2).c_str());
    return changed && !o.update ? CheckFailed : Ok;
  }
  std::printf("%zu goldens are the same, %zu %s\n", same, changed, o.update ? "were written" : "differ");
  if (changed && !o.update)
    std::fprintf(
        stderr, "note: if the change is meant, run tilegymc golden --update and review its diff like code\n");
  return changed && !o.update ? CheckFailed : Ok;
}

int run(const Options &o, const Globals &globals) {
  if (o.update && inCI()) {
    complain("golden --update is refused where CI is set: goldens are approved by a person");
    return InputWrong;
  }
  // Up to PTX: what ptxas makes of it is another program's, and takes most of the time.
  setenv("TILEGYM_PTXAS", "", 1);
  DiagnosticSink sink;
  std::vector<OpPtr> ops = loadOps(o.specs, globals, sink);
  std::vector<GoldenFile> files;
  driver::CompileReport summary; // errors point into the tables that it keeps
  for (const std::string &chip : splitList(o.archs)) {
    llvm::Expected<emit::Arch> arch = emit::parseArch(chip);
    if (!arch) {
      complain("--arch: %s", llvm::toString(arch.takeError()).c_str());
      return InputWrong;
    }
    for (const OpPtr &op : ops) {
      driver::CompileOpOptions options;
      options.archs = {*arch};
      options.progress = [&](size_t done, size_t all) {
        progress(op->name + " for " + chip + ": " + std::to_string(done) + "/" + std::to_string(all));
      };
      std::optional<emit::PackageOp> compiled = driver::compileOp(op, options, summary, sink);
      progress("");
      if (!compiled)
        continue;
      emit::Package package;
      package.name = op->name;
      package.ops.push_back(std::move(*compiled));
      for (GoldenFile &file : goldenFiles(package, chip))
        files.push_back(std::move(file));
    }
  }
  if (sink.hasErrors()) {
    report(sink, globals);
    return InputWrong;
  }
  return settle(o, files, globals);
}

#else

int run(const Options &o, const Globals &) {
  if (o.update && inCI())
    complain("golden --update is refused where CI is set: goldens are approved by a person");
  else
    complain("this tilegymc was built without LLVM, and goldens are what the compiler makes. Build it where "
             "LLVM/MLIR 22 is "
             "installed: run tools/setup");
  return o.update && inCI() ? InputWrong : EnvironmentLacks;
}

#endif

} // namespace

void addGoldenCommand(CLI::App &app, Globals &globals) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      app.add_subcommand("golden", "Compare what the compiler makes of specs with the approved files");
  command->add_option("OP", options->specs, "Specs: paths or names (default: all)");
  command->add_option("--arch", options->archs, "Targets")
      ->default_val(std::vector<std::string>{"sm_80", "sm_90a"})
      ->allow_extra_args(false);
  command->add_option("--dir", options->folder, "Folder of the approved files");
  command->add_flag("--update", options->update, "Approve what is made now; refused where CI is set");
  command->footer("What differs is written beside the approved file as FILE.unapproved.\n\n"
                  "Examples:\n  tilegymc golden\n  tilegymc golden softmax --update");
  command->callback([options, &globals] { globals.exitCode = run(*options, globals); });
}

} // namespace tilegym::cli
