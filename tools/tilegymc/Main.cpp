// SPDX-License-Identifier: MIT
// The command line: `tilegymc COMMAND ...`.
#include "Command.h"
#include "compiler/semantics/Builtins.h"
#include <cstdio>
#include <exception>

using namespace tilegym::cli;

/// The parser takes a word that is no command for a surplus argument, and only misses the command.
static std::string unknownCommand(const CLI::App &app, int argc, char **argv) {
  if (argc < 2 || argv[1][0] == '-' || !app.get_subcommands().empty())
    return "";
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    names.push_back(command->get_name());
  std::string near = tilegym::sem::nearest(argv[1], names);
  return "there is no command '" + std::string(argv[1]) + "'; " +
         (near.empty() ? "tilegymc --help lists them" : "did you mean '" + near + "'?");
}

int main(int argc, char **argv) {
  CLI::App app("Ahead-of-time GPU kernels from text specs.\n\nAn OP is a path to a .tile file, or a name "
               "looked up in ./specs, --spec-dir and the installed specs.\n"
               "Exit codes: 0 ok, 1 the input is wrong, 2 a check failed, 3 the environment lacks something.",
               "tilegymc");
  app.set_version_flag("--version", "tilegymc " TILEGYM_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  Globals globals;
  app.add_option("--spec-dir", globals.specDirs,
                 "Folder of specs to look in before the installed ones (may be given several times)")
      ->allow_extra_args(false);
  app.add_flag("--json", globals.json, "Machine-readable output on stdout");
  addBenchCommand(app, globals);
  addCheckCommand(app, globals);
  addCompileCommand(app, globals);
  addDoctorCommand(app, globals);
  addExplainCommand(app, globals);
  addFmtCommand(app, globals);
  addGoldenCommand(app, globals);
  addLintCommand(app, globals);
  addListCommand(app, globals);
  addNewCommand(app, globals);
  addRunCommand(app, globals);
  addTestCommand(app, globals);
  addTuneCommand(app, globals);
  addVerifyCommand(app, globals);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (std::string wrong = unknownCommand(app, argc, argv); !wrong.empty()) {
      std::fprintf(stderr, "error: %s\n", wrong.c_str());
      return InputWrong;
    }
    int code = app.exit(error);
    return code == 0 ? Ok : InputWrong;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "internal error: %s\n", error.what());
    return CheckFailed;
  }
  return globals.exitCode;
}
