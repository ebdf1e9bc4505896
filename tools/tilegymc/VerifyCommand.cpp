// SPDX-License-Identifier: MIT
// `tilegymc verify`: everything that an op needs, as one checklist.
#include "Verify.h"
#include <cstdio>

namespace tilegym::cli {
namespace {

int run(const VerifyOptions &o, const Globals &globals) {
  int code = Ok;
  nlohmann::ordered_json reports = nlohmann::ordered_json::array();
  for (const std::string &spec : o.specs) {
    Verify verify(o, globals, spec);
    int one = verify.run();
    if (globals.json)
      reports.push_back(verify.checklist().toJson());
    else
      verify.checklist().printTotals();
    // What is wrong with the input outweighs a failed check, and that what is missing here.
    auto weight = [](int c) {
      return c == InputWrong ? 3 : c == CheckFailed ? 2 : c == EnvironmentLacks ? 1 : 0;
    };
    if (weight(one) > weight(code))
      code = one;
  }
  if (globals.json)
    std::puts(reports.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
  return code;
}

} // namespace

void addVerifyCommand(CLI::App &app, Globals &globals) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App *command = app.add_subcommand("verify", "Check everything that an op needs, as one list");
  command->add_option("OP", options->specs, "Specs: paths or names")->required();
  command->add_option("--arch", options->archs, "Targets")
      ->default_val(std::vector<std::string>{"sm_80", "sm_90a"})
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--limit", options->limit, "Largest case to simulate, in elements of all its tensors")
      ->check(CLI::PositiveNumber);
  command->add_option("--package", options->package,
                      "A package (.tgk) for the checks on the GPU, instead of compiling here");
  command->add_option("--golden", options->goldens,
                      "Folder of the approved files (default: tests/golden beside the spec's folder)");
  command
      ->add_option("--neutral", options->neutral,
                   "Percent that a benchmark may be slower than what `bench --record` kept")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--no-skips", options->noSkips,
                    "What cannot be checked here is a failure, too (exit code 3)");
  command->add_option("-j,--jobs", options->jobs, "Threads (default: one a core)");
  command->footer("A line of the list passes, fails, or is skipped with the reason; a failure names the "
                  "command to run again.\n\n"
                  "Examples:\n  tilegymc verify softmax\n  tilegymc verify my_op.tile --arch sm_90a --json");
  command->callback([options, &globals] { globals.exitCode = run(*options, globals); });
}

} // namespace tilegym::cli
