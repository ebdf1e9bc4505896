// SPDX-License-Identifier: MIT
// Opening and compiling of packages for the commands.
#include "PackageFile.h"
#ifdef TILEGYM_HAS_COMPILER
#include "compiler/driver/CompileOp.h"
#include "llvm/Support/Error.h"
#endif
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

namespace tilegym::cli {

std::shared_ptr<PackageFile> PackageFile::open(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes;
  if (in)
    bytes.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  if (!in || in.bad()) {
    complain("cannot read the package '%s': %s", path.c_str(), std::strerror(errno));
    return nullptr;
  }
  return fromBytes(bytes, "'" + path + "'");
}

std::shared_ptr<PackageFile> PackageFile::fromBytes(std::string_view bytes, const std::string &source) {
  auto file = std::make_shared<PackageFile>();
  file->name = source;
  file->storage.resize(bytes.size() / 8 + 1);
  std::memcpy(file->storage.data(), bytes.data(), bytes.size());
  // The table first: it names the file in what it says, and the runtime's own check is the same.
  bool sound = file->records.open(file->storage.data(), bytes.size(), source) == TILEGYM_OK;
  std::vector<char> room;
  const void *code = nullptr;
  // Images are checked when they are loaded; here at once, so that an altered file is refused whatever is run from it.
  for (size_t i = 0; sound && i < file->records.count(); ++i)
    for (const format::Variant &variant :
         file->records.get<format::Variant>(file->records.numbered(i).variants))
      for (const format::Image &image : file->records.get<format::Image>(variant.images))
        sound = sound && file->records.readImage(image, room, &code) == TILEGYM_OK;
  if (sound)
    file->code = std::make_unique<runtime::Loader>(file->records);
  if (sound && tilegym_package_open(file->storage.data(), bytes.size(), &file->package) == TILEGYM_OK)
    return file;
  complain("%s", tilegym_last_error());
  return nullptr;
}

PackageFile::~PackageFile() {
  if (package)
    tilegym_package_close(package);
}

std::optional<size_t> PackageFile::findOp(std::string_view wanted) const {
  std::span<const format::Op> ops = records.ops();
  for (size_t i = 0; i < ops.size(); ++i)
    if (records.text(ops[i].name) == wanted)
      return i;
  return std::nullopt;
}

bool PackageFile::isOf(size_t number, const sem::OpModel &op) const {
  auto sources = records.get<format::Source>(records.ops()[number].sources);
  std::string_view compiled = sources.empty() ? std::string_view() : records.text(sources[0].text);
  return compiled.empty() || compiled.substr(0, op.spec->file->text().size()) == op.spec->file->text();
}

#ifdef TILEGYM_HAS_COMPILER

static PackageChoice compileAll(const std::vector<OpPtr> &ops, driver::CompileOpOptions options,
                                const std::string &what, const WantedVariants &wanted = {}) {
  emit::Package package;
  package.name = "tilegym_kernels";
  package.producer = driver::toolVersions();
  DiagnosticSink sink;
  driver::CompileReport summary;
  for (const OpPtr &op : ops) {
    if (wanted)
      options.wanted = [&](const sem::Specialization &spec, bool transposed) {
        return wanted(*op, spec, transposed);
      };
    options.progress = [&](size_t done, size_t all) {
      progress("compiling " + op->name + ": " + std::to_string(done) + "/" + std::to_string(all));
    };
    if (std::optional<emit::PackageOp> compiled = driver::compileOp(op, options, summary, sink))
      package.ops.push_back(std::move(*compiled));
    progress("");
  }
  std::fputs(renderAll(sink, isTerminal()).c_str(), stderr);
  if (sink.hasErrors())
    return {nullptr, "", InputWrong};
  llvm::Expected<std::string> table = emit::writeTable(package);
  if (!table) {
    complain("%s", llvm::toString(table.takeError()).c_str());
    return {nullptr, "", InputWrong};
  }
  PackageChoice choice;
  choice.file = PackageFile::fromBytes(*table, what);
  choice.code = choice.file ? Ok : CheckFailed;
  return choice;
}

static PackageChoice compileHere(const std::vector<OpPtr> &ops, int arch) {
  std::string chip = arch == 0 || arch == 90 ? "sm_90a" : "sm_" + std::to_string(arch);
  llvm::Expected<emit::Arch> parsed = emit::parseArch(chip);
  if (!parsed) {
    // A GPU newer than the compiler knows runs the portable target's PTX.
    llvm::consumeError(parsed.takeError());
    parsed = emit::parseArch("sm_80");
  }
  if (!parsed) {
    complain("%s", llvm::toString(parsed.takeError()).c_str());
    return {nullptr, "", EnvironmentLacks};
  }
  driver::CompileOpOptions options;
  options.archs = {*parsed};
  return compileAll(ops, options, "the package compiled here");
}

PackageChoice compileForSimulator(const std::vector<OpPtr> &ops, const std::string &chip, unsigned jobs,
                                  const WantedVariants &wanted) {
  llvm::Expected<emit::Arch> parsed = emit::parseArch(chip);
  if (!parsed) {
    complain("--arch: %s", llvm::toString(parsed.takeError()).c_str());
    return {nullptr, "", InputWrong};
  }
  driver::CompileOpOptions options;
  options.archs = {*parsed};
  options.jobs = jobs;
  options.pipeline.platform = driver::Platform::Simulator;
  return compileAll(ops, options, "the package compiled for the simulator", wanted);
}

#else

static PackageChoice compileHere(const std::vector<OpPtr> &, int) {
  return {nullptr, "this tilegymc was built without LLVM and cannot compile; give a package with --package",
          Ok};
}

PackageChoice compileForSimulator(const std::vector<OpPtr> &, const std::string &, unsigned,
                                  const WantedVariants &) {
  return {nullptr, "this tilegymc was built without LLVM: there is no compiled code to simulate", Ok};
}

#endif

PackageChoice choosePackage(const std::string &path, const std::vector<OpPtr> &ops, int arch) {
  if (path.empty())
    return compileHere(ops, arch);
  PackageChoice choice;
  choice.file = PackageFile::open(path);
  choice.code = choice.file ? Ok : InputWrong;
  return choice;
}

} // namespace tilegym::cli
