// SPDX-License-Identifier: MIT
// `tilegymc fmt`: specs in the one canonical format.
#include "Specs.h"
#include "compiler/syntax/Parser.h"
#include "compiler/syntax/Printer.h"
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>

namespace tilegym::cli {
namespace {

struct Options {
  std::vector<std::string> specs;
  bool check = false;
};

struct Formatted {
  std::shared_ptr<const SourceFile> file;
  std::string text;
};

/// Null after an error.
std::optional<Formatted> format(const std::string &name, const Globals &globals, DiagnosticSink &sink) {
  Formatted result;
  if (name == "-") {
    std::string text((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
    result.file = std::make_shared<const SourceFile>("<stdin>", std::move(text));
  } else {
    std::optional<std::string> path = sem::findSpec(name, globals.folders(), sink);
    if (!path)
      return std::nullopt;
    if (result.file = sem::readSource(*path); !result.file) {
      sink.error({}, "cannot read `" + *path + "`");
      return std::nullopt;
    }
  }
  size_t before = sink.numErrors();
  ast::Spec tree = parseSpec(result.file, sink);
  if (sink.numErrors() != before)
    return std::nullopt;
  result.text = printSpec(tree);
  return result;
}

/// The first line that would change.
SourceRange firstDifference(const SourceFile &file, const std::string &text) {
  std::string_view have = file.text();
  size_t same =
      size_t(std::mismatch(have.begin(), have.end(), text.begin(), text.end()).first - have.begin());
  uint32_t line = file.lineColumn(uint32_t(same)).line;
  uint32_t begin = uint32_t(file.line(line).data() - have.data());
  return {&file, begin, begin + uint32_t(file.line(line).size())};
}

int run(const Options &o, const Globals &globals) {
  DiagnosticSink sink;
  int code = Ok;
  std::vector<std::string> names = o.specs.empty() ? sem::listSpecs(globals.folders()) : o.specs;
  for (const std::string &name : names) {
    std::optional<Formatted> formatted = format(name, globals, sink);
    if (!formatted)
      continue;
    bool same = formatted->file->text() == formatted->text;
    if (o.check) {
      if (!same && globals.json) {
        sink.keep(formatted->file);
        sink.warning(firstDifference(*formatted->file, formatted->text), "this is not the canonical format",
                     "run `tilegymc fmt " + name + "`");
      } else if (!same) {
        std::printf("%s\n", formatted->file->name().c_str());
      }
      code = same ? code : CheckFailed;
    } else if (name == "-") {
      std::fputs(formatted->text.c_str(), stdout);
    } else if (!same && !writeFile(formatted->file->name(), formatted->text)) {
      code = EnvironmentLacks;
    }
  }
  report(sink, globals);
  return sink.hasErrors() ? InputWrong : code;
}

} // namespace

void addFmtCommand(CLI::App &app, Globals &globals) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand("fmt", "Format specs in place");
  command->add_option("OP", options->specs, "Specs: paths or names, or - for stdin to stdout (default: all)");
  command->add_flag("--check", options->check,
                    "Change nothing; list what is not formatted, and fail if there is any");
  command->footer("Examples:\n  tilegymc fmt softmax\n  tilegymc fmt --check specs/*.tile\n  tilegymc fmt - "
                  "< draft.tile");
  command->callback([options, &globals] { globals.exitCode = run(*options, globals); });
}

} // namespace tilegym::cli
