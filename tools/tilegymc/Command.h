// SPDX-License-Identifier: MIT
// What the commands share: global options, exit codes, diagnostics on stderr. A command is one file that adds itself to the parser.
#pragma once
#include "compiler/semantics/SpecLookup.h"
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace tilegym::cli {

enum ExitCode { Ok = 0, InputWrong = 1, CheckFailed = 2, EnvironmentLacks = 3 };

struct Globals {
  std::vector<std::string> specDirs;
  bool json = false;
  int exitCode = Ok; ///< what the command that ran decided
  sem::SpecFolders folders() const;
};

/// Adds the subcommands; each one's callback does its work and sets `exitCode`.
void addBenchCommand(CLI::App &app, Globals &globals);
void addCheckCommand(CLI::App &app, Globals &globals);
void addCompileCommand(CLI::App &app, Globals &globals);
void addDoctorCommand(CLI::App &app, Globals &globals);
void addExplainCommand(CLI::App &app, Globals &globals);
void addFmtCommand(CLI::App &app, Globals &globals);
void addGoldenCommand(CLI::App &app, Globals &globals);
void addLintCommand(CLI::App &app, Globals &globals);
void addListCommand(CLI::App &app, Globals &globals);
void addNewCommand(CLI::App &app, Globals &globals);
void addRunCommand(CLI::App &app, Globals &globals);
void addTestCommand(CLI::App &app, Globals &globals);
void addTuneCommand(CLI::App &app, Globals &globals);
void addVerifyCommand(CLI::App &app, Globals &globals);

/// Prints diagnostics: to stderr as text, with `--json` to stdout as JSON.
void report(const DiagnosticSink &sink, const Globals &globals);
/// True where progress may be drawn.
bool isTerminal();
/// One line of progress on stderr, drawn over; empty: cleared. Nothing where stderr is no terminal.
void progress(const std::string &line);
/// Splits "a,b" given once or several times.
std::vector<std::string> splitList(const std::vector<std::string> &values);
/// Writes a whole file or none of it: to a temporary name, then renamed. False after saying why.
bool writeFile(const std::string &path, const std::string &bytes);

} // namespace tilegym::cli
