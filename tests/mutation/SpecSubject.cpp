// SPDX-License-Identifier: MIT
// Variants of specs. A mutant becomes a package of one variant, which the runtime and the case runner take as they would take the original: the spec's
// reference and tolerances judge.
#include "Child.h"
#include "Finish.h"
#include "Subject.h"
#include "compiler/driver/Compile.h"
#include "compiler/driver/Variants.h"
#include "compiler/ir/Tile.h"
#include "compiler/lowering/Lowering.h"
#include "compiler/semantics/EdgeCalls.h"
#include "compiler/targets/TargetFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Pass/PassManager.h"
#include "tools/simdriver/SimDriver.h"
#include "tools/tilegymc/GpuBackend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <filesystem>

namespace tilegym::mutation {
namespace {

/// Elements of a case, of all cases of a variant, and cases: more is too slow. So many reach every register of a tile of 4 x 1024, and three chunks
/// of a long row.
constexpr int64_t kMostElements = 66000, kMostInAll = 250000;
constexpr size_t kMostCases = 24;
/// Of the calls made for the variant: rows of each eighth of a tile of 32768.
constexpr int64_t kMostEdgeElements = 140000, kMostEdgesInAll = 800000;
constexpr size_t kEdgeCases = 32;

/// The same code comes again for each register of a tile, but small cases reach the first ones only: of the points of a tune space, the one
/// with the smallest tiles a thread, though not below a vector.
int64_t elementsAThread(const sem::Specialization &spec) {
  int64_t elements = 1, threads = 32;
  for (const sem::NamedInt &param : spec.params)
    elements *= param.value;
  for (const sem::NamedInt &knob : spec.knobs)
    if (knob.name == "warps")
      threads *= knob.value;
  return std::max<int64_t>(4, elements / threads);
}

struct Layout {
  const char *called;
  interp::Spread spread;
  bool inPlace;
};
constexpr Layout layouts[] = {{"", interp::Spread::Dense, false},
                              {", in place", interp::Spread::Dense, true},
                              {", padded", interp::Spread::Padded, false},
                              {", strided", interp::Spread::Strided, false}};

struct Device {
  simdriver::Session session;
  std::shared_ptr<cli::PackageFile> package;
  cli::Gpu gpu;
  Device(std::shared_ptr<cli::PackageFile> package, const emit::Arch &arch)
      : session({.capability = int(arch.number)}), package(std::move(package)) {
    gpu.driver = &session.driver();
    gpu.guard = 0;
    if (runtime::currentDevice(*gpu.driver, nullptr, &gpu.device) != TILEGYM_OK)
      llvm::report_fatal_error(tilegym_last_error());
  }
};

/// The simulator's device, with a schedule a launch.
class Backend final : public cli::GpuBackend {
public:
  Backend(const cli::Gpu &gpu, const cli::PackageFile &package, const sem::OpModel &op,
          cli::GpuHealth &health, simdriver::Session &session, uint64_t seed)
      : GpuBackend(gpu, package, op, health), session(session), seed(seed) {}

private:
  bool attach(std::string &) const override { return true; }
  void beforeLaunch(unsigned round) override { session.settings().seed = seed + round; }

  simdriver::Session &session;
  uint64_t seed;
};

class SpecSubject final : public Subject {
public:
  std::shared_ptr<const sem::OpModel> op;
  const sem::TestModel *tests = nullptr;
  emit::PackageVariant compiled;
  std::vector<sem::TestCall> edges; ///< made for this variant
  std::vector<const sem::TestCall *> calls;
  std::vector<std::unique_ptr<interp::CaseRunner>> runners; ///< by call: each keeps the reference's results
  bool isFast = false;

  Judgement judge(const std::string &object) override {
    auto package = pack(object);
    if (!package)
      return {"compile error", llvm::toString(package.takeError())};
    Device device(std::move(*package), arch);
    for (size_t i = 0; i < calls.size(); ++i)
      if (Judgement fault = judgeCase(device, i); !fault.caughtBy.empty() && fault.caughtBy != skipped)
        return fault;
    return {};
  }

  /// Run-time sizes are in the range where the guard holds and derived parameters have this variant's values.
  void assume(mlir::ModuleOp threads) const override {
    auto function = *threads.getOps<mlir::LLVM::LLVMFuncOp>().begin();
    for (auto [number, param] : llvm::enumerate(compiled.abi.params)) {
      std::optional<std::pair<int64_t, int64_t>> range =
          param.kind == tile::ParamKind::Extent ? sem::sizeRange(*op, compiled.spec, size_t(param.id))
                                                : std::nullopt;
      if (!range)
        continue;
      mlir::OpBuilder b = mlir::OpBuilder::atBlockBegin(&function.getBody().front());
      mlir::Value size = function.getArgument(unsigned(number));
      mlir::Location at = function.getLoc();
      auto bound = [&](int64_t value) {
        return mlir::arith::ConstantOp::create(b, at, b.getIntegerAttr(size.getType(), value));
      };
      auto above = mlir::arith::MaxSIOp::create(b, at, size, bound(range->first));
      auto inside = mlir::arith::MinSIOp::create(b, at, above, bound(range->second));
      size.replaceAllUsesExcept(inside, above);
    }
  }

  /// Keeps the cases that this variant takes and passes; the first fault, where it does not.
  llvm::Error chooseCases(const std::vector<sem::TestCall> &all, const std::string &object) {
    std::vector<const sem::TestCall *> mine;
    for (const sem::TestCall &call : all) {
      const sem::Specialization &wanted = call.bound.spec, &have = compiled.spec;
      if (wanted.dtypes == have.dtypes && wanted.present == have.present && sem::elementsOf(call) > 0 &&
          sem::elementsOf(call) <= kMostElements)
        mine.push_back(&call);
    }
    // Those that somebody thought of first. The larger, the more of the code is reached, and the smaller, the more of the masks.
    auto rank = [](auto *call) { return std::tuple(!call->testCase, -sem::elementsOf(*call), call); };
    llvm::sort(mine, [&](auto *x, auto *y) { return rank(x) < rank(y); });
    auto plain = std::find_if(mine.begin(), mine.end(), [](auto *call) { return !call->testCase; });
    calls.assign(mine.begin(), plain);
    for (auto last = mine.end(); plain < last;) {
      calls.push_back(*plain++);
      if (plain < last)
        calls.push_back(*--last);
    }
    size_t written = calls.size();
    edges = sem::edgeCalls(*op, *tests, compiled.spec, compiled.grid,
                           {.count = kEdgeCases, .mostElements = kMostEdgeElements, .wholeVectors = isFast});
    for (const sem::TestCall &call : edges)
      calls.push_back(&call);
    for (size_t i = 0; i < calls.size(); ++i)
      runners.push_back(std::make_unique<interp::CaseRunner>(*op, *tests));
    auto package = pack(object);
    if (!package)
      return package.takeError();
    Ended ended = runInChild(120, [&] {
      Device device(*package, arch);
      std::string fit;
      size_t taken = 0;
      int64_t elements = 0;
      for (size_t i = 0; i < calls.size(); ++i) {
        if (i == written)
          taken = 0, elements = 0;
        bool isEdge = i >= written;
        if (isEdge ? elements >= kMostEdgesInAll : taken >= kMostCases || elements >= kMostInAll)
          continue;
        // Nobody looked at these sizes: what the reference refuses is no call.
        if (isEdge && runners[i]->runReferenceAlone(*calls[i]).status == interp::CaseResult::Failed)
          continue;
        Judgement fault = judgeCase(device, i);
        // A section's tolerances are for the values that it asks for.
        bool isInexact =
            fault.caughtBy == "numbers" && isEdge && llvm::StringRef(calls[i]->name).contains(", ");
        if (fault.caughtBy == skipped || isInexact)
          continue;
        if (!fault.caughtBy.empty())
          return "!" + fault.caughtBy + ": " + fault.detail;
        fit += std::to_string(i) + " ";
        ++taken;
        elements += sem::elementsOf(*calls[i]);
      }
      return fit;
    });
    if (!ended.how.empty() || ended.said.starts_with("!"))
      return llvm::createStringError("%s %s fails as it is: %s", name.c_str(), variant.c_str(),
                                     (ended.how + ended.said).c_str());
    std::vector<const sem::TestCall *> fitting;
    std::vector<std::unique_ptr<interp::CaseRunner>> theirs;
    llvm::SmallVector<llvm::StringRef> numbers;
    llvm::SplitString(ended.said, numbers);
    for (llvm::StringRef number : numbers) {
      size_t i = std::stoul(number.str());
      fitting.push_back(calls[i]);
      cases += (cases.empty() ? "" : ", ") + calls[i]->name;
      theirs.push_back(std::move(runners[i]));
      theirs.back()->runReferenceAlone(*calls[i]);
    }
    calls = std::move(fitting);
    runners = std::move(theirs);
    return llvm::Error::success();
  }

private:
  static constexpr const char *skipped = "skipped";

  /// A package of this one variant.
  llvm::Expected<std::shared_ptr<cli::PackageFile>> pack(const std::string &object) {
    emit::Package package;
    package.name = "mutant";
    compiled.cubin = object;
    package.ops.push_back({op, {compiled}});
    llvm::Expected<std::string> table = emit::writeTable(package);
    if (!table)
      return table.takeError();
    auto file = cli::PackageFile::fromBytes(*table, "the mutant");
    if (!file)
      return llvm::createStringError("the package cannot be read");
    return file;
  }

  Judgement judgeCase(Device &device, size_t number) {
    const sem::TestCall &call = *calls[number];
    bool any = false;
    for (const Layout &layout : layouts) {
      if ((layout.spread != interp::Spread::Dense && isFast) || (layout.inPlace && !cli::mayRunInPlace(*op)))
        continue;
      cli::GpuHealth health;
      simdriver::Session &session = device.session;
      Backend backend(device.gpu, *device.package, *op, health, session, interp::hashName(call.name));
      backend.setSpread(layout.spread);
      backend.setInPlace(layout.inPlace);
      session.takeReports();
      interp::CaseResult result = runners[number]->run(call, backend, layout.spread);
      any |= result.status == interp::CaseResult::Passed;
      if (result.status != interp::CaseResult::Failed)
        continue;
      std::string where = "case \"" + call.name + "\"" + layout.called + ": ";
      for (const sim::Report &report : session.takeReports())
        for (const sim::Finding &finding : report.findings)
          return {std::string(sim::name(finding.kind)), where + finding.text};
      return {"numbers", where + result.failures.front()};
    }
    return any ? Judgement{} : Judgement{skipped, ""};
  }
};

class SpecSource final : public Source {
public:
  struct Spec {
    std::shared_ptr<const sem::OpModel> op;
    sem::TestModel tests;
    std::vector<sem::TestCall> calls;
  };
  struct Variant {
    const Spec *spec;
    driver::VariantSlot slot;
    emit::Arch arch;
  };
  std::vector<std::unique_ptr<Spec>> specs;
  std::vector<Variant> variants;

  size_t size() const override { return variants.size(); }
  std::string nameOf(size_t number) const override { return variants[number].spec->op->name; }

  llvm::Expected<std::unique_ptr<Subject>> make(size_t number, mlir::MLIRContext &context) override {
    const Variant &chosen = variants[number];
    const sem::OpModel &op = *chosen.spec->op;
    const sem::Specialization &spec = *llvm::min_element(
        chosen.slot.candidates, [](auto &a, auto &b) { return elementsAThread(a) < elementsAThread(b); });
    DiagnosticSink sink;
    auto kernel = sem::instantiateKernel(op, spec, sink);
    auto subject = std::make_unique<SpecSubject>();
    std::string entry = driver::entryName(op, spec, chosen.slot.facts);
    subject->name = op.name;
    subject->variant = entry.substr(op.name.size() + 1) + " " + chosen.arch.chip;
    subject->arch = chosen.arch;
    subject->op = chosen.spec->op;
    subject->tests = &chosen.spec->tests;
    subject->isFast = chosen.slot.facts.isFast();
    subject->module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    auto failed = [&](const char *what) {
      return llvm::createStringError("%s %s: %s\n%s", op.name.c_str(), subject->variant.c_str(), what,
                                     renderAll(sink).c_str());
    };
    if (!kernel || !lowering::lowerKernel(op, *kernel, chosen.slot.facts, entry, *subject->module, sink))
      return failed("does not lower");
    for (driver::Stage stage : {driver::Stage::Opt, driver::Stage::Layout, driver::Stage::Threads}) {
      mlir::PassManager passes(&context);
      driver::addStagePasses(passes, stage, {});
      if (mlir::failed(passes.run(*subject->module)))
        return failed("a stage failed");
      if (stage == driver::Stage::Opt)
        for (auto one : subject->module->getOps<tile::KernelOp>())
          subject->compiled.abi = tile::abiOf(one);
    }
    subject->module->walk([&](mlir::Operation *one) {
      if (auto bytes = one->getAttrOfType<mlir::IntegerAttr>("tilegym.shared_bytes"))
        subject->compiled.sharedBytes = bytes.getInt();
    });
    subject->compiled.spec = spec;
    subject->compiled.grid = kernel->grid;
    subject->compiled.arch = chosen.arch;
    auto object = compileForSimulator(*subject->module, chosen.arch);
    if (!object)
      return object.takeError();
    if (llvm::Error error = subject->chooseCases(chosen.spec->calls, *object))
      return error;
    if (subject->calls.empty())
      return nullptr;
    return subject;
  }
};

} // namespace

llvm::Expected<std::unique_ptr<Source>> makeSpecSource(const std::vector<std::string> &paths) {
  auto source = std::make_unique<SpecSource>();
  DiagnosticSink sink;
  for (const std::string &path : paths) {
    std::string folder = std::filesystem::path(path).parent_path().string();
    auto spec = std::make_unique<SpecSource::Spec>();
    spec->op = sem::loadSpec(path, sem::SpecFolders{{folder}}, sink);
    if (!spec->op)
      return llvm::createStringError("%s", renderAll(sink).c_str());
    spec->tests = sem::readTest(*spec->op, *spec->op->spec->test, sink);
    spec->calls = sem::testCalls(*spec->op, spec->tests, sink);
    // Lists cannot be compiled yet.
    if (llvm::any_of(spec->op->tensors, [](const auto &tensor) { return tensor.isList; }))
      continue;
    for (const char *chip : {"sm_80", "sm_90a"}) {
      auto arch = emit::parseArch(chip);
      if (!arch)
        return arch.takeError();
      for (driver::VariantSlot &slot : driver::enumerateVariants(
               *spec->op, chip, *targets::findTarget(arch->number), driver::VariantFilter{}, sink))
        if (!slot.isPlan()) // several kernels, of which none runs alone
          source->variants.push_back({spec.get(), std::move(slot), *arch});
    }
    source->specs.push_back(std::move(spec));
  }
  return source;
}

} // namespace tilegym::mutation
