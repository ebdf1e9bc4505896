// SPDX-License-Identifier: MIT
// mutate_kernels: does the net catch what a pass could do wrong? Small mistakes at random places of generated code, each judged by the spec's own cases
// (or the kernel's own values) in the simulator, with its sanitizers.
//
//   mutate_kernels --count 300 --seed 1          the test
//   mutate_kernels --only softmax --operator drop-barrier -v
//   mutate_kernels --originals --count 100               no mistakes: do kernels pass what judges mutants?
//   mutate_kernels --seed 4 --draw 17 --dump FOLDER      one of them again; what it is: diff FOLDER/1.before FOLDER/1.after
//
// Fails where a mutant survives that survivors.txt does not explain, or fewer than 95 of 100 that can change anything are caught.
#include "Mutant.h"
#include "Survivors.h"
#include "compiler/driver/Registration.h"
#include "compiler/interpreter/Inputs.h"
#include "llvm/ADT/STLExtras.h"
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

using namespace tilegym;
using namespace tilegym::mutation;

namespace {

struct Options {
  uint64_t count = 300, seed = 1;
  std::vector<uint64_t> draws; ///< empty: all
  std::string only, operatorName;
  std::string dump; ///< a folder; empty: none
  std::string survivors = TILEGYM_SOURCE_DIR "/tests/mutation/survivors.txt";
  bool plain = false, originals = false, verbose = false;
};

std::vector<std::string> filesIn(const std::string &folder, const std::string &extension,
                                 const std::string &only) {
  std::vector<std::string> paths;
  for (const auto &entry : std::filesystem::directory_iterator(TILEGYM_SOURCE_DIR "/" + folder))
    if (entry.path().extension() == extension &&
        entry.path().filename().string().find(only) != std::string::npos)
      paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

struct Counts {
  uint64_t caught = 0, equivalent = 0, explained = 0, survived = 0;
  uint64_t all() const { return caught + equivalent + explained + survived; }
};

/// Of one spec, so many variants are tried: each is compiled and run as it is first.
constexpr size_t kVariants = 5;

/// Kernels by number, compiled once; those without a small case are null.
class Shelf {
public:
  Shelf(Source &source, bool isVerbose) : source(source), isVerbose(isVerbose) {
    for (size_t i = 0; i < source.size(); ++i)
      byName[source.nameOf(i)].push_back(i);
  }
  /// Each spec with equal chance, then one of the variants that this seed tries. Every name draws a number and the largest wins: a new spec takes its
  /// share, and the other draws stay as they were.
  size_t draw(uint64_t seed, Random &random) const {
    uint64_t round = random.next();
    const std::vector<size_t> *variants = nullptr;
    uint64_t most = 0;
    for (const auto &[name, numbers] : byName)
      if (uint64_t number = Random(interp::hashName(name), round).next(); !variants || number > most) {
        variants = &numbers;
        most = number;
      }
    uint64_t which = Random(seed, random.below(kVariants)).next();
    return (*variants)[which % variants->size()];
  }
  llvm::Expected<Subject *> get(size_t number, mlir::MLIRContext &context) {
    auto found = subjects.find(number);
    if (found == subjects.end()) {
      auto made = source.make(number, context);
      if (!made)
        return made.takeError();
      if (*made && isVerbose)
        std::printf("-- %s/%s: %s\n", (*made)->name.c_str(), (*made)->variant.c_str(),
                    (*made)->cases.c_str());
      found = subjects.emplace(number, std::move(*made)).first;
    }
    return found->second.get();
  }

private:
  Source &source;
  bool isVerbose;
  std::map<std::string, std::vector<size_t>> byName;
  std::map<size_t, std::unique_ptr<Subject>> subjects;
};

class Run {
public:
  explicit Run(const Options &options) : options(options) {}

  llvm::Error make(std::vector<Shelf> &shelves, const Survivors &survivors, mlir::MLIRContext &context) {
    auto start = std::chrono::steady_clock::now();
    // What was drawn before is drawn again: give up where the places run out.
    for (uint64_t draw = 0; total.all() < options.count && draw < 20 * options.count; ++draw) {
      if (!options.draws.empty() && !llvm::is_contained(options.draws, draw))
        continue;
      Random random(options.seed, draw);
      // A kernel of a file has the instructions that specs do not reach yet: two of five draws.
      Shelf &shelf = shelves[shelves.size() > 1 && random.below(5) < 2 ? 1 : 0];
      auto subject = shelf.get(shelf.draw(options.seed, random), context);
      if (!subject)
        return subject.takeError();
      if (!*subject)
        continue;
      auto mutant = chooseMutant(**subject, random, options.plain, options.operatorName);
      if (!mutant || !seen.emplace(*subject, mutant->kind, mutant->ordinal).second)
        continue;
      judge(**subject, *mutant, survivors, draw);
    }
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return llvm::Error::success();
  }

  int report() const {
    std::printf("\n%-20s %7s %7s %11s %10s %9s\n", "operator", "mutants", "caught", "equivalent", "explained",
                "survived");
    for (const auto &[name, counts] : byOperator)
      std::printf("%-20s %7llu %7llu %11llu %10llu %9llu\n", name.c_str(), (unsigned long long)counts.all(),
                  (unsigned long long)counts.caught, (unsigned long long)counts.equivalent,
                  (unsigned long long)counts.explained, (unsigned long long)counts.survived);
    std::printf("\n");
    for (const auto &[by, count] : caughtBy)
      std::printf("%6llu  %s\n", (unsigned long long)count, by.c_str());
    uint64_t meaningful = total.all() - total.equivalent;
    double share = meaningful ? 100.0 * double(total.caught) / double(meaningful) : 0;
    std::printf("\n%llu mutants in %.0f s (seed %llu): %llu equivalent; of the other %llu, %llu caught (%.1f "
                "%%), %llu "
                "explained, %llu survived\n",
                (unsigned long long)total.all(), seconds, (unsigned long long)options.seed,
                (unsigned long long)total.equivalent, (unsigned long long)meaningful,
                (unsigned long long)total.caught, share, (unsigned long long)total.explained,
                (unsigned long long)total.survived);
    return total.survived || share < 95;
  }

private:
  void judge(Subject &subject, const Mutant &mutant, const Survivors &survivors, uint64_t draw) {
    std::string kernel = subject.name + "/" + subject.variant, where = mutant.where();
    auto start = std::chrono::steady_clock::now();
    Verdict verdict = tryMutant(subject, mutant);
    double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    Counts &counts = byOperator[mutant.kind->name.str()];
    std::string why;
    switch (verdict.kind) {
    case Verdict::Caught:
      ++total.caught, ++counts.caught, ++caughtBy[verdict.by];
      break;
    case Verdict::Equivalent:
      ++total.equivalent, ++counts.equivalent, ++caughtBy["(equivalent) " + verdict.by];
      break;
    case Verdict::Survived:
      why = survivors.find(kernel, mutant.kind->name.str(), where);
      if (llvm::StringRef(why).starts_with("equivalent:"))
        ++total.equivalent, ++counts.equivalent, ++caughtBy["(equivalent) by survivors.txt"];
      else
        why.empty() ? (++total.survived, ++counts.survived) : (++total.explained, ++counts.explained);
      verdict.by = why.empty() ? "SURVIVED" : "explained: " + why;
    }
    if (options.verbose || (verdict.kind == Verdict::Survived && why.empty()))
      std::printf(
          "%s | %s | %s | draw %llu: %s  %s(%.1f s)\n", kernel.c_str(), mutant.kind->name.data(),
          where.c_str(), (unsigned long long)draw, verdict.by.c_str(),
          verdict.detail.empty() ? "" : (verdict.detail.substr(0, verdict.detail.find('\n')) + " ").c_str(),
          took);
    std::fflush(stdout);
    if (verdict.kind == Verdict::Survived && why.empty() && !options.dump.empty())
      dumpMutant(subject, mutant, options.dump + "/" + std::to_string(total.survived));
  }

  const Options &options;
  std::set<std::tuple<Subject *, const Operator *, size_t>> seen;
  std::map<std::string, Counts> byOperator;
  std::map<std::string, uint64_t> caughtBy;
  Counts total;
  double seconds = 0;
};

/// Kernels of the specs as they are, by the cases that judge mutants: each is made of another variant than the one before.
int runOriginals(const Options &options, Source &source, mlir::MLIRContext &context) {
  uint64_t judged = 0, failed = 0;
  for (uint64_t i = 0; i < options.count; ++i) {
    auto subject = source.make(Random(options.seed, i).below(source.size()), context);
    if (!subject) {
      std::printf("%s\n", llvm::toString(subject.takeError()).c_str());
      ++failed;
    } else if (*subject) {
      ++judged;
      if (options.verbose)
        std::printf("%s/%s\n", (*subject)->name.c_str(), (*subject)->variant.c_str());
    }
    std::fflush(stdout);
  }
  std::printf("%llu kernels (seed %llu): %llu pass, %llu fail, %llu have no case that is small enough\n",
              (unsigned long long)options.count, (unsigned long long)options.seed, (unsigned long long)judged,
              (unsigned long long)failed, (unsigned long long)(options.count - judged - failed));
  return failed || !judged;
}

int fail(llvm::Error error) {
  std::fprintf(stderr, "error: %s\n", llvm::toString(std::move(error)).c_str());
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Makes small mistakes in generated code, and sees whether the tests catch them");
  app.add_option("--count", options.count, "Mutants");
  app.add_option("--seed", options.seed, "Which");
  app.add_option("--draw", options.draws, "Only these, by the numbers that a run prints");
  app.add_option("--only", options.only, "Only kernels whose file's name has this text");
  app.add_option("--operator", options.operatorName, "Only this kind of mistake");
  app.add_option("--survivors", options.survivors, "The list of explained survivors");
  app.add_option("--dump", options.dump, "A folder for the IR of unexplained survivors, before and after");
  app.add_flag("--originals", options.originals, "No mistakes: judge as many kernels of specs as they are");
  app.add_flag("--plain", options.plain, "Only mistakes that are always faults");
  app.add_flag("-v,--verbose", options.verbose, "A line a mutant");
  CLI11_PARSE(app, argc, argv);

  auto survivors = Survivors::read(options.survivors);
  if (!survivors)
    return fail(survivors.takeError());
  std::vector<std::string> specs = filesIn("specs", ".tile", options.only);
  for (std::string &path : filesIn("tests/specs/ops", ".tile", options.only))
    specs.push_back(std::move(path));
  auto ofSpecs = makeSpecSource(specs);
  if (!ofSpecs)
    return fail(ofSpecs.takeError());
  auto ofFiles = makeFileSource(filesIn("tests/ir/simulator", ".mlir", options.only));
  if (!ofFiles)
    return fail(ofFiles.takeError());
  mlir::DialectRegistry registry;
  driver::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  if (options.originals && (*ofSpecs)->size())
    return runOriginals(options, **ofSpecs, context);
  std::vector<Shelf> shelves; // after the context, which their modules need
  for (Source *source : {ofSpecs->get(), ofFiles->get()})
    if (source->size())
      shelves.emplace_back(*source, options.verbose);
  if (shelves.empty()) {
    std::fprintf(stderr, "error: no kernel's file has '%s' in its name\n", options.only.c_str());
    return 2;
  }
  Run run(options);
  if (llvm::Error error = run.make(shelves, *survivors, context))
    return fail(std::move(error));
  return run.report();
}
