// SPDX-License-Identifier: MIT
// `tilegymc compile`: specs to a kernel package, or to the text of one stage.
#include "Command.h"
#include "Specs.h"
#ifdef TILEGYM_HAS_COMPILER
#include "compiler/driver/CompileOp.h"
#include "llvm/Support/Error.h"
#endif
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace tilegym::cli {
namespace {

struct Options {
  std::vector<std::string> specs, archs, dtypes, consts;
  std::string output = "tilegym-kernels", packageName, emit = "package", dumpStages, depfile, tuned;
  unsigned jobs = 0;
  bool noCache = false, requirePtxas = false, quiet = false, checks = false, keepGoing = false;
};

#ifdef TILEGYM_HAS_COMPILER

bool parseOptions(const Options &o, driver::CompileOpOptions &options) {
  for (const std::string &text : splitList(o.archs)) {
    llvm::Expected<emit::Arch> arch = emit::parseArch(text);
    if (!arch) {
      std::fprintf(stderr, "error: --arch: %s\n", llvm::toString(arch.takeError()).c_str());
      return false;
    }
    options.archs.push_back(*arch);
  }
  std::optional<std::vector<DType>> dtypes = parseDTypes(o.dtypes);
  if (!dtypes)
    return false;
  options.filter.dtypes = std::move(*dtypes);
  for (const std::string &text : o.consts) {
    size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      std::fprintf(stderr, "error: --const: found '%s', expected NAME=VALUE, such as causal=true\n",
                   text.c_str());
      return false;
    }
    options.filter.consts.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  options.jobs = o.jobs;
  options.cache = !o.noCache;
  options.requirePtxas = o.requirePtxas;
  options.pipeline.checks = o.checks;
  if (!o.tuned.empty())
    options.tunedFolder = o.tuned == "none" ? "" : o.tuned;
  return true;
}

/// A --const that no op knows is a mistake, not a filter.
bool constsExist(const std::vector<std::shared_ptr<const sem::OpModel>> &ops,
                 const driver::VariantFilter &filter) {
  for (const auto &[name, value] : filter.consts) {
    bool known = false;
    for (const auto &op : ops) {
      int64_t s = op->findScalar(name), d = op->findDim(name);
      known |= (s >= 0 && op->scalars[s].isConst) || (d >= 0 && !op->dims[d].choices.empty());
    }
    if (!known) {
      std::fprintf(stderr, "error: --const %s=%s: no op has a const or a listed dim '%s'\n", name.c_str(),
                   value.c_str(), name.c_str());
      return false;
    }
  }
  return true;
}

void absorb(const DiagnosticSink &from, DiagnosticSink &into) {
  for (const Diagnostic &d : from.all())
    (d.severity == Severity::Error ? into.error(d.range, d.message, d.help)
                                   : into.warning(d.range, d.message, d.help))
        .notes = d.notes;
}

/// What includes the header is compiled again only where its text is another.
bool writeIfNew(const std::string &path, const std::string &text) {
  std::ifstream file(path, std::ios::binary);
  std::string old((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return (file && old == text) || writeFile(path, text);
}

int writePackage(const Options &o, const emit::Package &package, const driver::CompileReport &made) {
  llvm::Expected<std::string> table = emit::writeTable(package);
  if (!table) {
    std::fprintf(stderr, "error: %s\n", llvm::toString(table.takeError()).c_str());
    return InputWrong;
  }
  llvm::Expected<std::string> object = emit::writeObject(package, *table);
  if (!object) {
    std::fprintf(stderr, "error: %s\n", llvm::toString(object.takeError()).c_str());
    return EnvironmentLacks;
  }
  std::error_code ec;
  std::filesystem::create_directories(o.output, ec);
  std::string base = o.output + "/" + package.name;
  bool ok = writeFile(base + ".tgk", *table) && writeFile(base + ".o", *object) &&
            writeIfNew(base + ".h", emit::writeHeader(package)) &&
            writeFile(o.output + "/manifest.json", emit::writeManifest(package, *table)) &&
            writeFile(o.output + "/interface.json", emit::writeInterface(package, *table));
  if (ok && !o.depfile.empty()) {
    std::string line = base + ".o:";
    for (const emit::PackageOp &op : package.ops) {
      line += " " + op.model->spec->file->name();
      for (const auto &library : op.model->libraries)
        line += " " + library->file->name();
    }
    for (const auto &table : made.tables)
      line += " " + table->name();
    ok = writeFile(o.depfile, line + "\n");
  }
  return ok ? Ok : EnvironmentLacks;
}

int run(const Options &o, const Globals &globals) {
  driver::CompileOpOptions options;
  if (!parseOptions(o, options))
    return InputWrong;
  std::optional<driver::Stage> emitted = driver::parseStage(o.emit);
  const bool interfaceOnly = o.emit == "interface";
  if (o.emit != "package" && !interfaceOnly &&
      (!emitted || *emitted == driver::Stage::Cubin || *emitted == driver::Stage::Object)) {
    std::fprintf(
        stderr,
        "error: --emit: found '%s', expected package, interface, tile, opt, layout, threads, llvm or ptx\n",
        o.emit.c_str());
    return InputWrong;
  }
  DiagnosticSink sink;
  std::vector<std::shared_ptr<const sem::OpModel>> ops;
  for (const std::string &spec : o.specs)
    if (std::shared_ptr<const sem::OpModel> op = sem::loadSpec(spec, globals.folders(), sink);
        op && sem::checkSpec(*op, sink))
      ops.push_back(op);
  if (sink.hasErrors() || !constsExist(ops, options.filter)) {
    report(sink, globals);
    return InputWrong;
  }
  std::map<std::string, std::string> stageTexts; // by entry and stage: jobs finish in any order
  if (o.emit != "package" || !o.dumpStages.empty())
    options.dump = [&](llvm::StringRef entry, driver::Stage stage, llvm::StringRef text) {
      if (!o.dumpStages.empty()) {
        std::error_code ec;
        std::filesystem::create_directories(o.dumpStages, ec);
        std::ofstream(o.dumpStages + "/" + entry.str() + "." + driver::stageName(stage).str()) << text.str();
      }
      if (stage == emitted)
        stageTexts[entry.str()] = text.str();
    };
  emit::Package package;
  package.name = o.packageName.empty() ? (ops.size() == 1 ? ops[0]->name : "tilegym_kernels") : o.packageName;
  package.producer = driver::toolVersions();
  driver::CompileReport summary;
  if (interfaceOnly) {
    for (const auto &op : ops)
      package.ops.push_back({op, {}});
    std::fputs(emit::writeInterface(package, "").c_str(), stdout);
    return Ok;
  }
  for (const auto &op : ops) {
    DiagnosticSink own;
    options.progress = [&](size_t done, size_t all) {
      progress(op->name + ": " + std::to_string(done) + "/" + std::to_string(all) + " variants");
    };
    if (std::optional<emit::PackageOp> compiled = driver::compileOp(op, options, summary, own))
      package.ops.push_back(std::move(*compiled));
    progress("");
    if (own.hasErrors() && o.keepGoing)
      sink.warning(own.all().front().range, "'" + op->name + "' is left out: " + own.all().front().message,
                   own.all().front().help);
    else
      absorb(own, sink);
  }
  report(sink, globals);
  if (sink.hasErrors())
    return InputWrong;
  if (package.ops.empty()) {
    std::fprintf(stderr, "error: no op is left to compile\n");
    return InputWrong;
  }
  if (o.emit != "package") {
    for (const auto &[entry, text] : stageTexts)
      std::printf("// %s\n%s\n", entry.c_str(), text.c_str());
    return Ok;
  }
  int code = writePackage(o, package, summary);
  if (code == Ok && !o.quiet) {
    std::fprintf(
        stderr,
        "%zu variants of %zu ops (%zu fast, %zu dense, %zu general, %zu tuned, %zu from the cache) in %s\n",
        summary.variants(), package.ops.size(), summary.fast, summary.dense, summary.general, summary.tuned,
        summary.cached, o.output.c_str());
    if (summary.ptxOnly)
      std::fprintf(stderr, "note: PTX only, which the driver compiles at first use: %s\n",
                   summary.ptxOnlyReason.c_str());
  }
  return code;
}

#else

int run(const Options &, const Globals &) {
  std::fprintf(stderr, "error: this tilegymc was built without LLVM, so it cannot compile; everything else "
                       "works on a package made elsewhere "
                       "(--package FILE). Build it where LLVM/MLIR 22 is installed: run tools/setup\n");
  return EnvironmentLacks;
}

#endif

} // namespace

void addCompileCommand(CLI::App &app, Globals &globals) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand("compile", "Compile specs into a kernel package");
  command->add_option("OP", options->specs, "Specs: paths or names")->required();
  command->add_option("--arch", options->archs, "Targets, such as sm_80,sm_90a")
      ->default_val(std::vector<std::string>{"sm_80", "sm_90a"})
      ->allow_extra_args(false);
  command->add_option("--dtypes", options->dtypes, "Only these dtypes, such as f32,bf16")
      ->allow_extra_args(false);
  command->add_option("--const", options->consts, "Only this value of a const or listed dim: NAME=VALUE")
      ->allow_extra_args(false);
  command->add_option("-o,--output", options->output, "Folder for the package");
  command->add_option("--name", options->packageName,
                      "Name of the package: of its files and the prefix of its C functions");
  command->add_option("--emit", options->emit,
                      "package; or on stdout its interface.json (interface), without compiling, or one "
                      "stage's text: tile, opt, layout, threads, llvm, ptx");
  command->add_option("--dump-stages", options->dumpStages, "Folder for every stage's text");
  command->add_option("--tuned", options->tuned,
                      "Folder of tuned tables (ARCH/OP.json), or none (default: kernels/tuned beside the "
                      "spec's folder)");
  command->add_option("--depfile", options->depfile, "File for the dependencies, in make's form");
  command->add_option("-j,--jobs", options->jobs, "Threads (default: one a core)");
  command->add_flag("--no-cache", options->noCache, "Compile everything anew");
  command->add_flag("--require-ptxas", options->requirePtxas,
                    "Fail where there is no ptxas, instead of packing PTX alone");
  command->add_flag("--checks", options->checks, "Keep asserts and prints in the kernels");
  command->add_flag("--keep-going", options->keepGoing,
                    "Leave out ops that no target compiles yet, instead of failing");
  command->add_flag("-q,--quiet", options->quiet, "No summary");
  command->footer(
      "Examples:\n  tilegymc compile softmax rms_norm --arch sm_90a -o build/kernels --name norms\n"
      "  tilegymc compile softmax --arch sm_80 --dtypes bf16 --emit ptx");
  command->callback([options, &globals] { globals.exitCode = run(*options, globals); });
}

} // namespace tilegym::cli
