// SPDX-License-Identifier: MIT
// The order of the checks, and what they share.
#include "Verify.h"
#include <cstdlib>
#include <filesystem>

namespace tilegym::cli {

Verify::Verify(const VerifyOptions &options, const Globals &globals, std::string spec)
    : options(options), globals(globals), spec(std::move(spec)),
      list(std::filesystem::path(this->spec).stem().string(), globals.json) {
  std::string pattern = (std::filesystem::temp_directory_path() / "tilegymc-verify-XXXXXX").string();
  if (mkdtemp(pattern.data()))
    scratch = pattern;
}

Verify::~Verify() {
  std::error_code ec;
  if (!scratch.empty())
    std::filesystem::remove_all(scratch, ec);
}

int Verify::run() {
  if (!list.add("complete", [&] { return complete(); }))
    return InputWrong;
  list.add("formatted", [&] { return formatted(); });
  list.add("linted", [&] { return linted(); });
  list.add("reference", [&] { return reference(); });
  kernels();
  for (const std::string &arch : options.archs)
    compiled(arch);
  list.add("gpu", [&] { return gpu(); });
  list.add("tolerance", [&] { return tolerance(); });
  list.add("golden", [&] { return golden(); });
  list.add("benchmark", [&] { return benchmark(); });
  if (list.count(CheckLine::Failed))
    return CheckFailed;
  return options.noSkips && list.count(CheckLine::Skipped) ? EnvironmentLacks : Ok;
}

ChildProcess::Finished Verify::command(std::vector<std::string> words) {
  words.insert(words.begin() + 1, spec);
  for (const std::string &folder : globals.specDirs)
    words.insert(words.end(), {"--spec-dir", folder});
  lastCommand = "tilegymc";
  for (const std::string &word : words)
    if (word != "--json")
      lastCommand += " " + word;
  words.push_back("--json");
  words.insert(words.begin(), kOwnProgram);
  return ChildProcess::run(words);
}

std::vector<std::string> Verify::withJobs(std::vector<std::string> words) const {
  if (options.jobs)
    words.insert(words.end(), {"-j", std::to_string(options.jobs)});
  return words;
}

/// "a line\nanother\n" as lines.
static void appendLines(const std::string &text, std::vector<std::string> &lines) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

CheckLine Verify::judgeCases(const Finished &child, const std::string &backend) {
  json report = json::parse(child.out, nullptr, /*allow_exceptions=*/false);
  if (!child.crash.empty() || !report.is_object() || !report.contains("cases")) {
    CheckLine line = CheckLine::failed(child.firstError());
    line.rerun = lastCommand;
    return line;
  }
  size_t passed = 0, failed = 0, skipped = 0;
  std::string why;
  std::vector<std::string> details;
  for (const json &one : report["cases"]) {
    if (!one["backend"].get<std::string>().starts_with(backend))
      continue;
    std::string status = one["status"];
    if (status == "passed") {
      ++passed;
    } else if (status == "skipped") {
      ++skipped;
      why = one["reason"];
    } else {
      ++failed;
      for (const json &failure : one["failures"])
        appendLines(failure, details);
    }
    if (one.contains("errors"))
      for (const auto &[dtype, error] : one["errors"].items())
        sem::mergeErrors(seen, {{*parseDType(dtype), error.get<double>()}});
  }
  for (const json &d : report["diagnostics"])
    if (d["severity"] == "error" || (backend == "interpreter" && d["severity"] == "warning")) {
      ++failed; // a kernel that no case runs: nothing was checked of it
      details.push_back(d.value("file", spec) + ":" + std::to_string(d.value("line", 0)) + ": " +
                        d["message"].get<std::string>());
    }
  anyWrong |= failed > 0;
  CheckLine line = failed   ? CheckLine::failed(std::to_string(failed) + " of " +
                                                    std::to_string(passed + failed) + " cases failed",
                                                std::move(details))
                   : passed ? CheckLine::passed(std::to_string(passed) + " cases" +
                                                (skipped ? ", " + std::to_string(skipped) + " left out" : ""))
                            : CheckLine::skipped(why.empty() ? child.firstError() : why);
  line.rerun = lastCommand;
  return line;
}

void Verify::kernels() {
  // One run of `check` is two lines.
  Finished child;
  list.add("kernels", [&] {
    child = command(withJobs({"check"}));
    return judgeCases(child, "interpreter");
  });
  list.add("gradient", op->spec->op->gradientOf
                           ? judgeCases(child, "gradient")
                           : CheckLine::skipped("the op is not the gradient of another"));
}

void Verify::compiled(const std::string &arch) {
  json manifest;
  if (!list.add("compile " + arch, [&] { return compile(arch, manifest); })) {
    for (const char *name : {"resources ", "dispatch ", "simulator "})
      list.add(name + arch, CheckLine::skipped("it was not compiled for " + arch));
    return;
  }
  list.add("resources " + arch, [&] { return resources(manifest); });
  list.add("dispatch " + arch, [&] { return dispatch(arch); });
  list.add("simulator " + arch, [&] { return simulator(arch); });
}

} // namespace tilegym::cli
