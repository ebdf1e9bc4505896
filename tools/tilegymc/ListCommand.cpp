// SPDX-License-Identifier: MIT
// `tilegymc list`: the ops that are found, or the builtins of the language.
#include "Specs.h"
#include "compiler/semantics/Builtins.h"
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace tilegym::cli {
namespace {

using json = nlohmann::ordered_json;

struct Row {
  std::string name, doc, place; ///< place: a spec's path, a builtin's family
};

void print(const std::vector<Row> &rows, const char *placeKey, const Globals &globals) {
  if (globals.json) {
    json j = json::array();
    for (const Row &row : rows)
      j.push_back({{"name", row.name}, {placeKey, row.place}, {"doc", row.doc}});
    std::puts(j.dump(2).c_str());
    return;
  }
  size_t width = 0;
  for (const Row &row : rows)
    width = std::max(width, row.name.size());
  for (const Row &row : rows)
    std::printf("%-*s  %s\n", int(width), row.name.c_str(), row.doc.c_str());
}

int listBuiltins(const Globals &globals) {
  std::vector<Row> rows;
  for (const sem::BuiltinInfo &builtin : sem::builtins())
    rows.push_back({builtin.signature, builtin.doc, std::string(sem::name(builtin.family))});
  print(rows, "family", globals);
  return Ok;
}

int listOps(const Globals &globals) {
  DiagnosticSink sink;
  std::vector<Row> rows;
  sem::SpecFolders folders = globals.folders();
  for (const std::string &name : sem::listSpecs(folders)) {
    std::optional<std::string> path = sem::findSpec(name, folders, sink);
    OpPtr op = path ? sem::loadSpec(*path, folders, sink) : nullptr;
    if (op)
      rows.push_back({name, op->doc.empty() ? "" : op->doc[0], *path});
  }
  if (!globals.json || !sink.hasErrors())
    print(rows, "path", globals);
  if (sink.hasErrors())
    report(sink, globals);
  return sink.hasErrors() ? InputWrong : Ok;
}

} // namespace

void addListCommand(CLI::App &app, Globals &globals) {
  auto builtins = std::make_shared<bool>(false);
  CLI::App *command = app.add_subcommand(
      "list", "List the ops that are found, each with the first line of its documentation");
  command->add_flag("--builtins", *builtins, "List the language's builtin functions instead");
  command->footer(
      "Examples:\n  tilegymc list\n  tilegymc list --spec-dir my_specs --json\n  tilegymc list --builtins");
  command->callback(
      [builtins, &globals] { globals.exitCode = *builtins ? listBuiltins(globals) : listOps(globals); });
}

} // namespace tilegym::cli
