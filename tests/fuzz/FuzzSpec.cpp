// SPDX-License-Identifier: MIT
// fuzz_spec: changed specs and random text through the language part, with fixed seeds. ctest runs it for a moment;
// `fuzz_spec --seconds 600` under ASan and UBSan is the long run. Prints the seed before it dies, and writes the input.
#include "tests/fuzz/Mutate.h"
#include "tests/fuzz/OneSpec.h"
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace tilegym::fuzz;

static uint64_t currentSeed;

/// Async-signal-safe enough for a test: the process is dying already.
static void sayWhich(int signal) {
  std::fprintf(stderr, "fuzz_spec: signal %d with --seed %llu --iterations 1\n", signal,
               static_cast<unsigned long long>(currentSeed));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

static std::string readFile(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The whole specs of the language reference, which use every builtin.
static void addExamples(std::vector<std::string> &corpus) {
  const std::string page = readFile(std::filesystem::path(TILEGYM_SOURCE_DIR) / "docs/language.md"),
                    open = "```tile\n";
  for (size_t at = page.find(open); at != std::string::npos; at = page.find(open, at)) {
    at += open.size();
    corpus.insert(corpus.end(), 10, page.substr(at, page.find("```", at) - at));
  }
}

static std::vector<std::string> readCorpus() {
  std::vector<std::filesystem::path> paths;
  for (const char *folder : {"specs", "tests/unit/syntax/data", "tests/specs"})
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(TILEGYM_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".tile")
        paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end()); // the order of a folder is not the same everywhere
  std::vector<std::string> corpus;
  for (const auto &path : paths) {
    std::string text = readFile(path);
    // Right specs get further than wrong ones, so they come more often.
    bool isWrong = path.parent_path().filename() == "bad";
    corpus.insert(corpus.end(), isWrong ? 1 : 20, text);
  }
  addExamples(corpus);
  return corpus;
}

int main(int argc, char **argv) {
  uint64_t seed = 1, iterations = UINT64_MAX, seconds = UINT64_MAX;
  bool print = false;
  for (int i = 1; i < argc; ++i) {
    auto value = [&](const char *name, uint64_t &number) {
      if (std::strcmp(argv[i], name) != 0 || i + 1 >= argc)
        return false;
      number = std::strtoull(argv[++i], nullptr, 10);
      return true;
    };
    if (std::strcmp(argv[i], "--print") == 0) {
      print = true;
    } else if (!value("--seed", seed) && !value("--iterations", iterations) && !value("--seconds", seconds)) {
      std::fprintf(stderr,
                   "usage: fuzz_spec [--seed N] [--iterations N] [--seconds N] [--print]\n"
                   "Input number i is made from seed N + i; --print shows it instead of running it.\n");
      return 1;
    }
  }
  if (iterations == UINT64_MAX && seconds == UINT64_MAX)
    seconds = 10;
  std::vector<std::string> corpus = readCorpus();
  if (corpus.empty()) {
    std::fprintf(stderr, "fuzz_spec: no spec found to start from\n");
    return 1;
  }
  for (int signal : {SIGABRT, SIGSEGV, SIGILL, SIGFPE, SIGBUS})
    std::signal(signal, sayWhich);

  auto start = std::chrono::steady_clock::now();
  uint64_t valid = 0, done = 0;
  for (; done < iterations; ++done) {
    if (std::chrono::steady_clock::now() - start >=
        std::chrono::seconds(std::min<uint64_t>(seconds, 1u << 30)))
      break;
    currentSeed = seed + done;
    Random random(currentSeed);
    std::string input = makeInput(random, corpus);
    if (print)
      std::fwrite(input.data(), 1, input.size(), stdout);
    else
      valid += fuzzOneSpec(input);
  }
  if (!print)
    std::printf("fuzz_spec: %llu inputs from seed %llu, %llu of them valid\n",
                static_cast<unsigned long long>(done), static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(valid));
  return 0;
}
