// SPDX-License-Identifier: MIT
// `tilegymc doctor`: what of the environment was found, and what each part is needed for.
#include "Specs.h"
#include "runtime/src/Driver.h"
#ifdef TILEGYM_HAS_COMPILER
#include "compiler/emit/Toolchain.h"
#include "llvm/Config/llvm-config.h"
#endif
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace tilegym::cli {
namespace {

using json = nlohmann::ordered_json;

struct Finding {
  std::string name;
  bool found = false;
  std::string what; ///< what was found, or why not
  std::string need; ///< what it is for
};

void findCompiler(std::vector<Finding> &findings) {
  Finding llvm{"llvm", false,
               "this tilegymc was built without LLVM; build it where LLVM/MLIR 22 is: tools/setup",
               "compile, and test, run and bench without --package"};
  Finding ptxas{"ptxas", false, "not looked for, as this tilegymc cannot compile",
                "machine code; without it packages hold PTX, which the driver compiles at first use"};
  Finding libdevice{"libdevice", false, "not looked for, as this tilegymc cannot compile",
                    "exp, sin and the like in kernels"};
#ifdef TILEGYM_HAS_COMPILER
  llvm.found = true;
  llvm.what = "LLVM " LLVM_VERSION_STRING;
  if (llvm::Expected<emit::Ptxas> tool = emit::findPtxas()) {
    ptxas.found = true;
    ptxas.what = tool->version + ": " + tool->path + " (" + tool->origin + ")";
  } else {
    ptxas.what = llvm::toString(tool.takeError());
  }
  if (llvm::Expected<emit::Tool> tool = emit::findLibdevice()) {
    libdevice.found = true;
    libdevice.what = tool->path + " (" + tool->origin + ")";
  } else {
    libdevice.what = llvm::toString(tool.takeError());
  }
#endif
  findings.insert(findings.end(), {llvm, ptxas, libdevice});
}

void findDevices(std::vector<Finding> &findings) {
  using namespace runtime;
  Finding driver{"driver", false, "", "anything on a GPU"},
      gpu{"gpu", false, "needs the driver", "test, run and bench on a GPU"};
  const Driver *opened = nullptr;
  if (getDriver(&opened) != TILEGYM_OK) {
    driver.what = tilegym_last_error();
    findings.insert(findings.end(), {driver, gpu});
    return;
  }
  driver.found = true;
  driver.what =
      "CUDA " + std::to_string(opened->version / 1000) + "." + std::to_string(opened->version % 1000 / 10);
  gpu.what.clear();
  int count = 0;
  if (opened->deviceGetCount(&count) != kSuccess || count == 0)
    gpu.what = "the driver sees no GPU";
  for (int i = 0; i < count; ++i) {
    char name[128] = "";
    int major = 0, minor = 0;
    opened->deviceGetName(name, sizeof name, i);
    opened->deviceGetAttribute(&major, kAttributeComputeMajor, i);
    opened->deviceGetAttribute(&minor, kAttributeComputeMinor, i);
    gpu.what += (i ? "; " : "") + std::string(name) + ", sm_" + std::to_string(major) + std::to_string(minor);
    gpu.found = true;
  }
  findings.insert(findings.end(), {driver, gpu});
}

Finding findSpecs(const Globals &globals) {
  Finding specs{"specs", false, "", "ops by name"};
  sem::SpecFolders folders = globals.folders();
  size_t count = sem::listSpecs(folders).size();
  specs.found = count > 0;
  specs.what = std::to_string(count) + " in ";
  for (size_t i = 0; i < folders.folders.size(); ++i)
    specs.what += (i ? ", " : "") + folders.folders[i];
  return specs;
}

int run(const std::vector<std::string> &required, const Globals &globals) {
  std::vector<Finding> findings;
  findCompiler(findings);
  findDevices(findings);
  findings.push_back(findSpecs(globals));
  std::string names;
  for (const Finding &f : findings)
    names += (names.empty() ? "" : ", ") + f.name;
  std::vector<std::string> lacking;
  for (const std::string &name : splitList(required)) {
    auto found =
        std::find_if(findings.begin(), findings.end(), [&](const Finding &f) { return f.name == name; });
    if (found == findings.end()) {
      complain("--require: found '%s', expected one of %s", name.c_str(), names.c_str());
      return InputWrong;
    }
    if (!found->found)
      lacking.push_back(name);
  }
  if (globals.json) {
    json j;
    for (const Finding &f : findings)
      j[f.name] = {{"found", f.found}, {"what", f.what}, {"for", f.need}};
    std::puts(j.dump(2).c_str());
  } else {
    for (const Finding &f : findings)
      std::printf("%-9s  %-7s  %s\n%20sfor %s\n", f.name.c_str(), f.found ? "found" : "missing",
                  f.what.c_str(), "", f.need.c_str());
  }
  for (const std::string &name : lacking)
    complain("%s is required and missing", name.c_str());
  return lacking.empty() ? Ok : EnvironmentLacks;
}

} // namespace

void addDoctorCommand(CLI::App &app, Globals &globals) {
  auto required = std::make_shared<std::vector<std::string>>();
  CLI::App *command =
      app.add_subcommand("doctor", "Say what of the environment was found, and what each part is needed for");
  command
      ->add_option("--require", *required,
                   "Exit with 3 where one of these is missing: llvm, ptxas, libdevice, driver, gpu, specs")
      ->allow_extra_args(false);
  command->footer("Examples:\n  tilegymc doctor\n  tilegymc doctor --require gpu --json");
  command->callback([required, &globals] { globals.exitCode = run(*required, globals); });
}

} // namespace tilegym::cli
