// SPDX-License-Identifier: MIT
// `tilegymc new`: a spec with every section, which passes as it stands and says in comments what to change.
#include "Specs.h"
#include "Templates.h"
#include "compiler/semantics/Analyze.h"
#include "compiler/semantics/Builtins.h"
#include "compiler/syntax/Keywords.h"
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>

namespace tilegym::cli {
namespace {

struct Options {
  std::string name, like = "elementwise", output;
  bool force = false;
};

const Template *findTemplate(const std::string &name) {
  for (const Template &one : kTemplates)
    if (name == one.name)
      return &one;
  return nullptr;
}

/// Why nothing may be called so; empty: it may.
std::string whyNoName(const std::string &name) {
  bool letters = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
                 std::all_of(name.begin(), name.end(),
                             [](unsigned char c) { return (std::isalnum(c) && c < 128) || c == '_'; });
  if (!letters)
    return "found '" + name + "', expected a name of letters, digits and _";
  if (syntax::isReserved(name) || sem::isReserved(name))
    return "'" + name + "' is a word of the language";
  return "";
}

/// The template's text for an op of this name, without the licence line, which is this project's.
std::string textFor(const Template &one, const std::string &name) {
  std::string text = one.text;
  if (text.starts_with("# SPDX-License-Identifier:"))
    text.erase(0, text.find('\n') + 1);
  const std::string placeholder = "new_op";
  for (size_t at = 0; (at = text.find(placeholder, at)) != text.npos; at += name.size())
    text.replace(at, placeholder.size(), name);
  return text;
}

int run(const Options &o) {
  const Template *like = findTemplate(o.like);
  if (!like) {
    std::vector<std::string> names;
    std::string list;
    for (const Template &one : kTemplates) {
      names.emplace_back(one.name);
      list += std::string(list.empty() ? "" : ", ") + one.name;
    }
    std::string near = sem::nearest(o.like, names);
    complain("--like: found '%s', expected one of %s%s", o.like.c_str(), list.c_str(),
             near.empty() ? "" : ("; did you mean '" + near + "'?").c_str());
    return InputWrong;
  }
  if (std::string why = whyNoName(o.name); !why.empty()) {
    complain("new: %s", why.c_str());
    return InputWrong;
  }
  std::filesystem::path path = o.output.empty() ? "specs/" + o.name + ".tile" : o.output;
  std::error_code ec;
  if (!o.force && std::filesystem::exists(path, ec)) {
    complain("'%s' is there already; --force writes over it", path.c_str());
    return InputWrong;
  }
  if (!path.parent_path().empty())
    std::filesystem::create_directories(path.parent_path(), ec);
  if (!writeFile(path.string(), textFor(*like, o.name)))
    return EnvironmentLacks;
  std::string called = o.output.empty() ? o.name : o.output;
  std::printf("wrote %s\nIt passes as it stands. Change a section, then: tilegymc verify %s\n", path.c_str(),
              called.c_str());
  return Ok;
}

} // namespace

void addNewCommand(CLI::App &app, Globals &globals) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      app.add_subcommand("new", "Write a spec to start from: every section, explained, and it passes");
  command->add_option("OP", options->name, "Name of the op")->required();
  std::string kinds;
  for (const Template &one : kTemplates)
    kinds += std::string(kinds.empty() ? "" : ", ") + one.name;
  command->add_option("--like", options->like, "What it is like: " + kinds);
  command->add_option("-o,--output", options->output, "The file to write (default: specs/OP.tile)");
  command->add_flag("--force", options->force, "Write over a file that is there");
  command->footer("Examples:\n  tilegymc new gelu\n  tilegymc new log_softmax --like softmax");
  command->callback([options, &globals] { globals.exitCode = run(*options); });
}

} // namespace tilegym::cli
