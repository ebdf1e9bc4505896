// SPDX-License-Identifier: MIT
// `tilegym-opt lower SPEC KERNEL [general | dense] [transposed=TENSOR] [checks] [sim] [emit=STAGE] [arch=sm_90a] [NAME=VALUE ...]`: one variant of a spec's kernel at a stage of the
// pipeline, for tests.
#include "LowerSpec.h"
#include "compiler/driver/ChooseVariant.h"
#include "compiler/driver/Compile.h"
#include "compiler/syntax/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilegym;

static int fail(const DiagnosticSink &sink) {
  llvm::errs() << renderAll(sink);
  return 1;
}

int tilegym::lowerSpecMain(llvm::ArrayRef<const char *> args) {
  if (args.size() < 2) {
    llvm::errs()
        << "usage: tilegym-opt lower SPEC KERNEL [general | dense] [transposed=TENSOR] [checks] [sim] "
           "[emit=STAGE] [arch=ARCH] "
           "[NAME=VALUE ...]\n";
    return 1;
  }
  auto buffer = llvm::MemoryBuffer::getFile(args[0]);
  if (!buffer) {
    llvm::errs() << args[0] << ": " << buffer.getError().message() << "\n";
    return 1;
  }
  tile::FactSet facts(tile::FactKind::Fast);
  llvm::SmallVector<std::string> transposed;
  driver::Settings settings;
  driver::CompileOptions options;
  options.stopAfter = driver::Stage::Tile;
  std::string arch = "sm_80";
  for (llvm::StringRef arg : args.drop_front(2)) {
    auto [name, value] = arg.split('=');
    if (arg == "general")
      facts = tile::FactKind::General;
    else if (arg == "dense")
      facts = tile::FactKind::Dense;
    else if (arg == "checks")
      options.pipeline.checks = true;
    else if (arg == "sim")
      options.pipeline.platform = driver::Platform::Simulator;
    else if (name == "transposed")
      transposed.push_back(value.str());
    else if (name == "arch")
      arch = value.str();
    else if (auto stage = name == "emit" ? driver::parseStage(value) : std::nullopt)
      options.stopAfter = *stage;
    else
      settings.push_back({name.str(), value.str()});
  }
  llvm::Expected<emit::Arch> parsed = emit::parseArch(arch);
  if (!parsed) {
    llvm::errs() << llvm::toString(parsed.takeError()) << "\n";
    return 1;
  }
  options.arch = *parsed;

  DiagnosticSink sink;
  auto slash = llvm::StringRef(args[0]).rsplit('/');
  std::string fileName = slash.second.empty() ? args[0] : slash.second.str();
  auto file = std::make_shared<const SourceFile>(fileName, (*buffer)->getBuffer().str());
  auto spec = std::make_shared<const ast::Spec>(parseSpec(file, sink));
  std::shared_ptr<const sem::OpModel> op =
      sink.hasErrors()
          ? nullptr
          : sem::analyze(spec, {{slash.second.empty() ? "lib" : slash.first.str() + "/lib"}}, sink);
  if (!op)
    return fail(sink);
  for (const std::string &name : transposed) {
    int64_t id = op->findTensor(name);
    if (id < 0) {
      llvm::errs() << "transposed=" << name << ": the op has no tensor of that name\n";
      return 1;
    }
    facts.transposed |= uint64_t(1) << id;
  }
  auto variant = driver::chooseVariant(*op, args[1], settings, arch, sink);
  if (!variant)
    return fail(sink);
  options.sink = [&](driver::Stage stage, llvm::StringRef text) {
    if (stage == options.stopAfter)
      llvm::outs() << text;
  };
  auto compiled = driver::compileVariant(*op, *variant, facts, options, sink);
  if (!compiled)
    return fail(sink);
  if (options.stopAfter == driver::Stage::Cubin) {
    const emit::Resources &r = compiled->resources;
    llvm::outs() << compiled->abi.entry << ": " << r.registers << " registers, " << compiled->sharedBytes
                 << " bytes shared, " << r.spillStores << " spilled\n";
  }
  return 0;
}
