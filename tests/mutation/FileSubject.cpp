// SPDX-License-Identifier: MIT
// Kernels in files of tests/ir/simulator. What the file's own test compares with literal values is what the original leaves in its buffers: a mutant
// must leave the same.
#include "Finish.h"
#include "Subject.h"
#include "compiler/simulator/Machine.h"
#include "compiler/simulator/jit/LoadedCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "tools/tilegym-opt/SimulatedArguments.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace tilegym::mutation {
namespace {

constexpr uint64_t kSeeds = 8;
constexpr llvm::StringLiteral kRun = "tilegym-opt simulate %s ";

class FileSubject final : public Subject {
public:
  std::string kernel, wanted;
  std::vector<std::string> arguments;
  uint32_t grid = 1;

  Judgement judge(const std::string &object) override {
    auto code = sim::LoadedCode::load(object);
    if (!code)
      return {"compile error", llvm::toString(code.takeError())};
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      std::string left;
      auto report = launch(**code, seed, left);
      std::string where = "seed " + std::to_string(seed);
      if (!report)
        return {"compile error", llvm::toString(report.takeError())};
      if (!report->findings.empty())
        return {std::string(sim::name(report->findings[0].kind)), where + ": " + report->findings[0].text};
      if (wanted.empty())
        wanted = left;
      if (left != wanted)
        return {"numbers", where};
    }
    return {};
  }

private:
  llvm::Expected<sim::Report> launch(const sim::LoadedCode &code, uint64_t seed, std::string &left) {
    auto entry = code.kernel(kernel);
    if (!entry)
      return entry.takeError();
    sim::Memory memory;
    SimulatedArguments given(memory);
    for (const std::string &text : arguments)
      if (auto ok = given.add(text); !ok)
        return ok.takeError();
    sim::LaunchConfig config;
    config.grid = {grid, 1, 1};
    config.block = {entry->facts->threads, 1, 1};
    config.cluster = {entry->facts->cluster, 1, 1};
    config.sharedBytes = entry->facts->sharedBytes;
    config.kernel = entry->entry;
    config.parameters = given.parameters();
    for (uint32_t i = 0; i < entry->facts->numByValue; ++i)
      config.parameterSpace.push_back(
          {given.addressOf(entry->facts->byValue[i].parameter), entry->facts->byValue[i].bytes});
    config.seed = seed;
    config.name = kernel;
    sim::Machine machine;
    sim::Report report = machine.launch(config, memory);
    left = given.text(/*hex=*/true);
    return report;
  }
};

class FileSource final : public Source {
public:
  explicit FileSource(std::vector<std::string> paths) : paths(std::move(paths)) {}
  size_t size() const override { return paths.size(); }
  std::string nameOf(size_t number) const override { return llvm::sys::path::filename(paths[number]).str(); }

  llvm::Expected<std::unique_ptr<Subject>> make(size_t number, mlir::MLIRContext &context) override {
    auto subject = std::make_unique<FileSubject>();
    subject->name = nameOf(number);
    auto buffer = llvm::MemoryBuffer::getFile(paths[number]);
    if (!buffer)
      return llvm::createStringError("%s: %s", paths[number].c_str(), buffer.getError().message().c_str());
    readArguments((*buffer)->getBuffer(), *subject);
    subject->module = mlir::parseSourceString<mlir::ModuleOp>((*buffer)->getBuffer(),
                                                              mlir::ParserConfig(&context), subject->name);
    if (!subject->module)
      return llvm::createStringError("%s: not a module", paths[number].c_str());
    for (auto function : subject->module->getOps<mlir::LLVM::LLVMFuncOp>())
      subject->kernel = function.getSymName().str();
    auto arch = emit::parseArch("sm_90a");
    if (!arch)
      return arch.takeError();
    subject->arch = *arch;
    subject->variant = subject->kernel + " sm_90a";
    auto object = compileForSimulator(*subject->module, subject->arch);
    if (!object)
      return object.takeError();
    if (Judgement fault = subject->judge(*object); !fault.caughtBy.empty())
      return llvm::createStringError("%s fails as it is: %s: %s", subject->name.c_str(),
                                     fault.caughtBy.c_str(), fault.detail.c_str());
    return subject;
  }

private:
  static void readArguments(llvm::StringRef text, FileSubject &subject) {
    llvm::StringRef line = text.drop_front(text.find(kRun)).split('\n').first.split('|').first;
    llvm::SmallVector<llvm::StringRef> words;
    line.split(words, ' ', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef word : llvm::ArrayRef(words).drop_front(3))
      if (word.consume_front("grid="))
        subject.grid = uint32_t(std::stoul(word.str()));
      else if (!word.starts_with("seed"))
        subject.arguments.push_back(word.str());
  }

  std::vector<std::string> paths;
};

} // namespace

llvm::Expected<std::unique_ptr<Source>> makeFileSource(const std::vector<std::string> &paths) {
  std::vector<std::string> runnable;
  for (const std::string &path : paths) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return llvm::createStringError("%s: %s", path.c_str(), buffer.getError().message().c_str());
    if ((*buffer)->getBuffer().contains(kRun))
      runnable.push_back(path);
  }
  return std::make_unique<FileSource>(std::move(runnable));
}

} // namespace tilegym::mutation
