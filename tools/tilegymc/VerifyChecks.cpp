// SPDX-License-Identifier: MIT
// Each check of `verify`: which command it is, and what its answer means.
#include "Verify.h"
#include "compiler/semantics/Lint.h"
#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tilegym::cli {
namespace {

using json = nlohmann::json;

/// Diagnostics as `--json` gives them, a line each.
std::vector<std::string> diagnosticLines(const json &list) {
  std::vector<std::string> lines;
  if (!list.is_array())
    return lines;
  for (const json &d : list) {
    std::string place = d.contains("file")
                            ? d["file"].get<std::string>() + ":" + std::to_string(d["line"].get<int>()) +
                                  ":" + std::to_string(d["column"].get<int>()) + ": "
                            : "";
    lines.push_back(place + d["severity"].get<std::string>() + ": " + d["message"].get<std::string>() +
                    (d.contains("rule") ? " [" + d["rule"].get<std::string>() + "]" : ""));
    if (std::string help = d.value("help", ""); !help.empty())
      lines.push_back("  help: " + help);
  }
  return lines;
}

} // namespace

CheckLine Verify::complete() {
  DiagnosticSink sink;
  std::vector<OpPtr> ops = loadOps({spec}, globals, sink);
  lastCommand = "tilegymc check --static " + spec;
  if (ops.empty() || sink.hasErrors()) {
    CheckLine line =
        CheckLine::failed(counted(sink.numErrors(), "error"), diagnosticLines(json::parse(renderJson(sink))));
    line.rerun = lastCommand;
    return line;
  }
  op = ops[0];
  size_t calls = collectTests(op, {}, sink)->calls.size();
  return CheckLine::passed(counted(op->kernels.size(), "kernel") + ", " + counted(calls, "test case"));
}

CheckLine Verify::formatted() {
  Finished child = command({"fmt", "--check"});
  CheckLine line = child.code == Ok
                       ? CheckLine::passed("as `tilegymc fmt` writes it")
                       : CheckLine::failed("not as `tilegymc fmt` writes it",
                                           diagnosticLines(json::parse(child.out, nullptr, false)));
  line.rerun = "tilegymc fmt " + spec;
  return line;
}

CheckLine Verify::linted() {
  Finished child = command({"lint"});
  json found = json::parse(child.out, nullptr, false);
  if (!found.is_array())
    return CheckLine::failed(child.firstError());
  CheckLine line = child.code == Ok
                       ? CheckLine::passed("no findings")
                       : CheckLine::failed(counted(found.size(), "finding"), diagnosticLines(found));
  line.rerun = lastCommand;
  return line;
}

CheckLine Verify::reference() { return judgeCases(command({"check", "--reference"}), "reference"); }

CheckLine Verify::compile(const std::string &arch, json &manifest) {
  Finished child =
      command(withJobs({"compile", "--arch", arch, "-o", folderOf(arch), "--name", "verified", "-q"}));
  if (child.code == EnvironmentLacks)
    return CheckLine::skipped(child.firstError());
  std::vector<std::string> details = diagnosticLines(json::parse(child.out, nullptr, false));
  CheckLine line;
  if (child.code != Ok || !child.crash.empty()) {
    line = CheckLine::failed(details.empty() ? child.firstError() : "it cannot be compiled", details);
  } else {
    std::ifstream in(folderOf(arch) + "/manifest.json");
    manifest = json::parse(in, nullptr, false);
    const json &variants = manifest["ops"][0]["variants"];
    size_t fast = size_t(
        std::count_if(variants.begin(), variants.end(), [](const json &v) { return v["facts"] == "fast"; }));
    line = CheckLine::passed(counted(variants.size(), "variant") + ", " + std::to_string(fast) +
                             " of them fast");
  }
  line.rerun = "tilegymc compile " + spec + " --arch " + arch;
  return line;
}

CheckLine Verify::resources(const json &manifest) const {
  int64_t registers = 0, shared = 0;
  std::vector<std::string> spills;
  for (const json &v : manifest["ops"][0]["variants"]) {
    registers = std::max(registers, v["registers"].get<int64_t>());
    shared = std::max(shared, v["shared_bytes"].get<int64_t>());
    if (int64_t bytes = v["spill_bytes"]; bytes > 0)
      spills.push_back(v["entry"].get<std::string>() + " spills " + std::to_string(bytes) + " bytes");
  }
  if (registers == 0)
    return CheckLine::skipped("there is no ptxas here, which counts them");
  if (!spills.empty())
    return CheckLine::failed(counted(spills.size(), "variant") + " spill registers to memory", spills);
  return CheckLine::passed("at most " + std::to_string(registers) + " registers a thread and " +
                           std::to_string(shared) + " bytes of shared memory a block, no spills");
}

CheckLine Verify::dispatch(const std::string &arch) {
  Finished child = command({"explain", "--cases", "--package", folderOf(arch) + "/verified.tgk", "--arch",
                            std::to_string(std::atoi(arch.c_str() + 3))});
  json report = json::parse(child.out, nullptr, false);
  if (!report.is_object())
    return CheckLine::failed(child.firstError());
  std::vector<std::string> details;
  for (const json &one : report["cases"])
    if (one.contains("error"))
      details.push_back(one["case"].get<std::string>() + ": " + one["error"].get<std::string>());
  CheckLine line =
      details.empty()
          ? CheckLine::passed("each of " + counted(report["cases"].size(), "call") + " finds its variant")
          : CheckLine::failed(counted(details.size(), "call") + " of " +
                                  std::to_string(report["cases"].size()) +
                                  (details.size() == 1 ? " finds no variant" : " find no variant"),
                              details);
  line.rerun = "tilegymc explain " + spec + " --cases --arch " + std::to_string(std::atoi(arch.c_str() + 3));
  return line;
}

CheckLine Verify::simulator(const std::string &arch) {
  Finished child = command(
      withJobs({"test", "--backend", "sim", "--arch", arch, "--limit", std::to_string(options.limit)}));
  CheckLine line = judgeCases(child, "sim");
  sawCompiledCode |= line.status != CheckLine::Skipped;
  return line;
}

CheckLine Verify::gpu() {
  std::vector<std::string> words = {"test", "--backend", "gpu"};
  if (!options.package.empty())
    words.insert(words.end(), {"--package", options.package});
  CheckLine line = judgeCases(command(words), "gpu");
  sawGpu = line.status != CheckLine::Skipped;
  return line;
}

CheckLine Verify::tolerance() {
  if (anyWrong)
    return CheckLine::skipped("cases fail, and errors that are wrong results say nothing of a tolerance");
  if (!sawGpu && sem::hasApproximateMath(*op))
    return CheckLine::skipped(sem::kApproximateMath);
  if (!sawGpu && !sawCompiledCode)
    return CheckLine::skipped(
        "no compiled code ran, and the interpreter's errors alone do not say what is near");
  DiagnosticSink sink;
  std::vector<sem::LintFinding> findings;
  sem::lintTolerance(*op, sem::readTest(*op, *op->spec->test, sink), seen, findings);
  sem::reportLint(*op, findings, {"loose-tolerance"}, sink);
  std::erase_if(findings, [](const sem::LintFinding &f) { return f.rule != "loose-tolerance"; });
  std::string text;
  for (const sem::SeenError &error : seen) {
    char number[32];
    std::snprintf(number, sizeof number, "%.2g", error.relative);
    text += (text.empty() ? "largest errors seen: " : ", ") + std::string(name(error.dtype)) + " " + number;
  }
  bool loose = std::any_of(sink.all().begin(), sink.all().end(),
                           [](const Diagnostic &d) { return d.rule == "loose-tolerance"; });
  return loose ? CheckLine::failed("looser than the errors need",
                                   diagnosticLines(json::parse(renderJson(sink))))
               : CheckLine::passed(text);
}

CheckLine Verify::golden() {
  std::string folder = options.goldens;
  if (folder.empty())
    folder = (std::filesystem::path(op->spec->file->name()).parent_path() / ".." / "tests" / "golden")
                 .lexically_normal()
                 .string();
  std::string make = "tilegymc golden " + spec + " --dir " + folder + " --update";
  std::error_code ec;
  if (!std::filesystem::is_directory(folder, ec))
    return CheckLine::skipped("there is no folder " + folder + "; `" + make + "` makes it");
  std::string archs;
  for (const std::string &arch : options.archs)
    archs += (archs.empty() ? "" : ",") + arch;
  Finished child = command({"golden", "--dir", folder, "--arch", archs});
  if (child.code == EnvironmentLacks)
    return CheckLine::skipped(child.firstError());
  if (child.code == Ok && child.crash.empty())
    return CheckLine::passed("what the compiler makes is what was approved");
  json report = json::parse(child.out, nullptr, false);
  std::vector<std::string> details;
  size_t missing = 0;
  for (const json &file : report.is_object() ? report["files"] : json::array())
    if (file["status"] != "same") {
      missing += file["status"] == "missing";
      details.push_back(file["path"].get<std::string>() + ": " + file["status"].get<std::string>());
    }
  CheckLine line = details.empty() ? CheckLine::failed(child.firstError())
                   : missing == details.size()
                       ? CheckLine::failed("none was approved", details)
                       : CheckLine::failed("it differs from what was approved", details);
  line.rerun = make + ", and review the difference";
  return line;
}

} // namespace tilegym::cli
