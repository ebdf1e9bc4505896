// SPDX-License-Identifier: MIT
// fuzz_kernels: random kernels, each run by the interpreter and by what it was compiled to, in the simulator. Prints seeds; a failure comes with its text,
// made small. `--emit-bundle` compiles kernels for a GPU instead, where fuzz_gpu runs them.
#include "tests/fuzz/kernels/KernelCoverage.h"
#include "tests/fuzz/kernels/KernelGen.h"
#include "tests/fuzz/kernels/KernelReduce.h"
#include "tests/fuzz/kernels/compiled/Forked.h"
#include "tests/fuzz/kernels/compiled/KernelCompile.h"
#include <CLI/CLI.hpp>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace tilegym::fuzz;

namespace {

struct Options {
  SeedRange range;
  JudgeOptions judge;
  bool print = false, coverage = false, everyBuiltin = false, everyArch = false;
  double reduceSeconds = 120;
  std::string backend = "sim", keep, bundle;
  std::vector<std::string> replay;
};

struct Totals {
  std::map<std::string, uint64_t> uses;
  uint64_t kernels = 0, failures = 0, calls = 0, variants = 0, compared = 0;
};

std::string fileOf(uint64_t seed) { return "seed" + std::to_string(seed) + ".tile"; }

std::string readText(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void add(Totals &totals, const Verdict &verdict) {
  ++totals.kernels;
  totals.calls += verdict.runs;
  totals.variants += verdict.variants;
  totals.compared += verdict.compared;
  for (const std::string &use : verdict.uses)
    ++totals.uses[use];
  totals.failures += verdict.kind != Verdict::Good;
}

/// The text of a failure as small as it goes while it fails in the same way.
std::string reduced(const Options &o, const std::string &text, const JudgeOptions &judge,
                    const Verdict &verdict) {
  return reduceKernel(
      text,
      [&](const std::string &smaller) {
        return judgeForked([&] { return judgeKernel(smaller, "reduced.tile", judge); }).kind == verdict.kind;
      },
      o.reduceSeconds);
}

int replay(const Options &o) {
  Totals totals;
  for (const std::string &path : o.replay) {
    std::string text = readText(path);
    Verdict verdict = judgeForked([&] { return judgeKernel(text, path, o.judge); });
    add(totals, verdict);
    if (verdict.kind == Verdict::Good)
      continue;
    std::printf("%s: %s\n%s\n", path.c_str(), name(verdict.kind).c_str(), verdict.message.c_str());
    if (!o.keep.empty() && o.reduceSeconds > 0)
      std::ofstream(o.keep + "/" + std::filesystem::path(path).filename().string(), std::ios::binary)
          << reduced(o, text, o.judge, verdict);
  }
  std::printf("fuzz_kernels: %" PRIu64 " kept kernels, %" PRIu64 " calls, %" PRIu64 " runs compared, %" PRIu64
              " failures\n",
              totals.kernels, totals.calls, totals.compared, totals.failures);
  return totals.failures ? 1 : 0;
}

int fuzz(const Options &o) {
  Totals totals;
  auto said = std::chrono::steady_clock::now();
  auto judgeOf = [&](uint64_t seed) {
    JudgeOptions own = o.judge;
    own.seed = seed;
    own.everyArch = o.everyArch;
    return own;
  };
  judgeSeeds(
      o.range, [&](uint64_t seed) { return judgeKernel(generateKernel(seed), fileOf(seed), judgeOf(seed)); },
      [&](uint64_t seed, const Verdict &verdict) {
        add(totals, verdict);
        if (auto now = std::chrono::steady_clock::now(); now - said > std::chrono::seconds(30)) {
          said = now;
          std::fprintf(stderr, "%" PRIu64 " kernels, %" PRIu64 " runs compared, %" PRIu64 " failures\n",
                       totals.kernels, totals.compared, totals.failures);
        }
        if (verdict.kind == Verdict::Good)
          return;
        std::printf("seed %" PRIu64 ": %s\n%s\n", seed, name(verdict.kind).c_str(), verdict.message.c_str());
        std::string text = generateKernel(seed);
        if (o.reduceSeconds > 0)
          text = reduced(o, text, judgeOf(seed), verdict);
        std::printf("---- seed %" PRIu64 "\n%s----\n", seed, text.c_str());
        std::fflush(stdout);
        if (!o.keep.empty())
          std::ofstream(o.keep + "/" + fileOf(seed), std::ios::binary) << text;
      });
  if (o.coverage)
    std::printf("%s", coverageTable(totals.uses).c_str());
  std::printf("fuzz_kernels: seeds from %" PRIu64 ": %" PRIu64 " kernels, %" PRIu64 " variants, %" PRIu64
              " calls, %" PRIu64 " runs compared, %" PRIu64 " failures\n",
              o.range.first, totals.kernels, totals.variants, totals.calls, totals.compared, totals.failures);
  if (!o.everyBuiltin)
    return totals.failures ? 1 : 0;
  std::vector<std::string> missing = builtinsNotUsed(totals.uses);
  for (const std::string &builtin : missing)
    std::printf("no kernel uses %s\n", builtin.c_str());
  return totals.failures || !missing.empty() ? 1 : 0;
}

constexpr uint64_t kKernelsOfPackage = 100;

/// Packages of kernels for sm_90a, of `--replay`'s texts or else of the seeds; the texts are in them.
int emitBundle(const Options &o) {
  std::filesystem::create_directories(o.bundle);
  uint64_t count = o.replay.empty() ? o.range.count : o.replay.size();
  auto readNumber = [&](uint64_t i, std::string &error) {
    if (!o.replay.empty())
      return readKernel(readText(o.replay[i]), o.replay[i], error);
    uint64_t seed = o.range.first + i;
    return readKernel(generateKernel(seed), fileOf(seed), error);
  };
  SeedRange packages = o.range;
  packages.first = 0;
  packages.count = (count + kKernelsOfPackage - 1) / kKernelsOfPackage;
  packages.secondsOfOne = 3600;
  packages.chunk = 1;
  uint64_t failures = 0, kernels = 0, variants = 0;
  judgeSeeds(
      packages,
      [&](uint64_t number) {
        Verdict verdict;
        std::vector<std::unique_ptr<KernelCase>> cases;
        std::vector<const KernelCase *> list;
        for (uint64_t i = number * kKernelsOfPackage; i < std::min(count, (number + 1) * kKernelsOfPackage);
             ++i) {
          cases.push_back(readNumber(i, verdict.message));
          if (!cases.back()) {
            verdict.kind = Verdict::BadSpec;
            return verdict;
          }
          list.push_back(cases.back().get());
        }
        Compiled compiled = compileForGpu(list, "sm_90a");
        verdict.message = compiled.error;
        verdict.kind = compiled.error.empty() ? Verdict::Good : Verdict::CompileError;
        verdict.runs = list.size();
        verdict.variants = compiled.variants;
        std::ofstream(o.bundle + "/fuzz" + std::to_string(number) + ".tgk", std::ios::binary)
            << compiled.package;
        return verdict;
      },
      [&](uint64_t number, const Verdict &verdict) {
        kernels += verdict.runs;
        variants += verdict.variants;
        if (verdict.kind == Verdict::Good)
          return;
        ++failures;
        std::printf("package %" PRIu64 ": %s\n%s\n", number, name(verdict.kind).c_str(),
                    verdict.message.c_str());
      });
  std::string from = o.replay.empty() ? "seeds from " + std::to_string(o.range.first) : "kept texts";
  std::printf("fuzz_kernels: %s: %" PRIu64 " kernels, %" PRIu64 " variants in %s, %" PRIu64 " failures\n",
              from.c_str(), kernels, variants, o.bundle.c_str(), failures);
  return failures ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
  Options o;
  CLI::App app{"Random kernels: the interpreter against what they are compiled to"};
  app.add_option("--seed", o.range.first, "The first seed");
  app.add_option("--count", o.range.count, "How many seeds");
  app.add_option("--seconds", o.range.seconds, "Begin no seed after this");
  app.add_option("--jobs", o.range.jobs, "Processes at once");
  app.add_option("--layouts", o.judge.layouts, "Ways of laying out the tensors of each call");
  app.add_option("--arch", o.judge.archs, "Targets")->delimiter(',');
  app.add_option("--backend", o.backend,
                 "What is compared with the interpreter; ptx only compiles, none only checks the texts")
      ->check(CLI::IsMember({"sim", "ptx", "interpreter-only", "none"}));
  app.add_option("--keep", o.keep, "Folder for the texts of failures");
  app.add_option("--reduce", o.reduceSeconds, "Seconds to make a failure small; 0: leave it as it is");
  app.add_option("--replay", o.replay, "Texts to judge instead");
  app.add_option("--emit-bundle", o.bundle, "Compile the kernels for a GPU into packages of this folder");
  app.add_flag("--every-arch", o.everyArch, "Each kernel on every target; else the seed chooses one");
  app.add_flag("--print", o.print, "Write the texts and judge nothing");
  app.add_flag("--coverage", o.coverage, "A table of what the kernels used");
  app.add_flag("--every-builtin", o.everyBuiltin, "Fail where a builtin that compiles is in no kernel");
  CLI11_PARSE(app, argc, argv);
  static const std::map<std::string, Backend> backends = {{"none", Backend::None},
                                                          {"interpreter-only", Backend::Interpreter},
                                                          {"ptx", Backend::Ptx},
                                                          {"sim", Backend::Simulator}};
  o.judge.backend = backends.at(o.backend);
  if (o.print) {
    for (uint64_t i = 0; i < o.range.count; ++i)
      std::printf("%s\n", generateKernel(o.range.first + i).c_str());
    return 0;
  }
  if (!o.bundle.empty())
    return emitBundle(o);
  return o.replay.empty() ? fuzz(o) : replay(o);
}
