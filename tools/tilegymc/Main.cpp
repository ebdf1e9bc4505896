// SPDX-License-Identifier: MIT
// The command line: `tilegymc COMMAND ...`.
#include "Command.h"
#include <cstdio>
#include <exception>

using namespace tilegym::cli;

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
  addFmtCommand(app, globals);
  addListCommand(app, globals);
  addRunCommand(app, globals);
  addTestCommand(app, globals);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    int code = app.exit(error);
    return code == 0 ? Ok : InputWrong;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "internal error: %s\n", error.what());
    return CheckFailed;
  }
  return globals.exitCode;
}
