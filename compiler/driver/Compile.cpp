// SPDX-License-Identifier: MIT
// Runs the stages in turn. Errors of MLIR passes and of LLVM come out as the language's diagnostics, at the spec's line where they have one.
#include "compiler/driver/Compile.h"
#include "compiler/driver/Registration.h"
#include "compiler/driver/SpecPlace.h"
#include "compiler/emit/Ptx.h"
#include "compiler/ir/Tile.h"
#include "compiler/lowering/Lowering.h"
#include "compiler/targets/TargetFacts.h"
#ifdef TILEGYM_HAS_SIMULATOR
#include "compiler/simulator/jit/HostObject.h"
#endif
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace tilegym::driver {

using namespace mlir;

std::string entryName(const sem::OpModel &op, const sem::Specialization &spec,
                      const std::optional<tile::FactSet> &facts) {
  std::string text = op.name + "_" + op.kernels[spec.kernel].name;
  for (size_t i = 0; i < op.typeVars.size(); ++i)
    if (op.typeVars[i].choices.size() > 1)
      text += "_" + std::string(name(spec.dtypes[i]));
  auto add = [&](llvm::StringRef what, int64_t value) {
    text += "_" + what.str() + (value < 0 ? "m" : "") + std::to_string(value < 0 ? -value : value);
  };
  for (size_t i = 0; i < op.scalars.size(); ++i)
    if (op.scalars[i].isConst)
      add(op.scalars[i].name, spec.consts[i].asInt());
  for (size_t i = 0; i < op.dims.size(); ++i)
    if (!op.dims[i].choices.empty())
      add(op.dims[i].name, spec.constDims[i]);
  for (size_t i = 0; i < op.tensors.size(); ++i)
    if (op.tensors[i].optional && spec.present[i])
      text += "_" + op.tensors[i].name;
  for (const auto *list : {&spec.params, &spec.knobs})
    for (const sem::NamedInt &entry : *list)
      add(entry.name, entry.value);
  if (!facts)
    return text;
  text += "_" + std::string(tile::nameOf(facts->kind));
  for (size_t i = 0; i < op.tensors.size(); ++i)
    if (facts->transposed >> i & 1)
      text += "_" + op.tensors[i].name + "T";
  return text;
}

SourceRange rangeOf(const sem::OpModel &op, Location location) {
  SourceRange range;
  location->walk([&](Location inner) {
    auto place = dyn_cast<FileLineColLoc>(inner);
    if (!place)
      return WalkResult::advance();
    std::vector<const ast::Spec *> specs = {op.spec.get()};
    for (const auto &library : op.libraries)
      specs.push_back(library.get());
    for (const ast::Spec *spec : specs)
      if (spec->file->name() == place.getFilename().strref() && place.getLine() > 0) {
        const SourceFile &file = *spec->file;
        uint32_t begin =
            uint32_t(file.line(place.getLine()).data() - file.text().data()) + place.getColumn() - 1;
        range = {&file, begin, begin + 1};
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return range;
}

namespace {

/// Errors of passes, while it lives. One with a note is the author's to mend, as the note says.
class Bridge : public ScopedDiagnosticHandler {
public:
  Bridge(MLIRContext *context, const sem::OpModel &op, DiagnosticSink &sink)
      : ScopedDiagnosticHandler(context) {
    setHandler([this, &op, &sink](mlir::Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return success();
      std::string help = "this is a fault of the compiler, not of the spec: please report it";
      for (const mlir::Diagnostic &note : diagnostic.getNotes())
        help = note.str(), pointIsUnfit = true;
      sink.error(rangeOf(op, diagnostic.getLocation()), diagnostic.str(), help);
      return success();
    });
  }

  bool pointIsUnfit = false;
};

llvm::Expected<std::string> compileForSimulator(ModuleOp module, const emit::Arch &arch) {
#ifdef TILEGYM_HAS_SIMULATOR
  llvm::LLVMContext llvmContext;
  auto llvmModule = sim::translateForHost(module, llvmContext);
  return llvmModule ? sim::compileForHost(**llvmModule, arch.number) : llvmModule.takeError();
#else
  return llvm::createStringError("this tilegymc was built without the simulator (it needs Boost.Context)");
#endif
}

std::string textOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, OpPrintingFlags().enableDebugInfo(false));
  return text + "\n";
}

/// What a launch's parameters take.
int64_t paramBytes(const tile::KernelABI &abi) {
  int64_t bytes = 0;
  for (const tile::KernelParam &param : abi.params)
    bytes += param.bytes * std::max<int64_t>(1, param.list);
  return bytes;
}

} // namespace

std::optional<emit::PackageVariant> compileVariant(const sem::OpModel &op, const sem::Specialization &spec,
                                                   const tile::FactSet &facts, const CompileOptions &options,
                                                   DiagnosticSink &sink) {
  std::shared_ptr<const sem::Kernel> kernel = sem::instantiateKernel(op, spec, sink);
  if (!kernel)
    return {};
  SourceRange place = op.kernels[spec.kernel].decl->range;
  auto fail = [&](llvm::Error error) {
    sink.error(place, llvm::toString(std::move(error)));
    return std::nullopt;
  };

  // One thread a context: variants are the unit of parallelism.
  MLIRContext context(MLIRContext::Threading::DISABLED);
  DialectRegistry registry;
  registerDialects(registry);
  context.appendDialectRegistry(registry);
  Bridge bridge(&context, op, sink);
  // The kernel's own place, which names the file in debug information.
  SourceFile::LineColumn at = place.file->lineColumn(place.begin);
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(FileLineColLoc::get(&context, place.file->name(), at.line, at.column));
  std::string entry = entryName(op, spec, facts);
  if (!lowering::lowerKernel(op, *kernel, facts, entry, *module, sink))
    return {};

  SourceRange product = place; ///< where what ptxas says of instructions of warpgroups belongs
  emit::PackageVariant variant;
  variant.spec = spec;
  variant.grid = kernel->grid;
  variant.arch = options.arch;
  for (Stage stage : stagesOf(options.pipeline.platform)) {
    switch (stage) {
    case Stage::Ptx: {
      llvm::LLVMContext llvmContext;
      emit::PtxOptions ptxOptions;
      ptxOptions.chip = options.arch.chip;
      auto llvmModule = emit::translateToLLVM(*module, llvmContext, ptxOptions);
      if (!llvmModule)
        return fail(llvmModule.takeError());
      llvm::Expected<std::string> ptx = emit::emitPtx(**llvmModule, ptxOptions);
      if (!ptx)
        return fail(ptx.takeError());
      variant.ptx = std::move(*ptx);
      if (options.sink)
        options.sink(stage, variant.ptx);
      break;
    }
    case Stage::Cubin: {
      llvm::Expected<emit::Cubin> cubin =
          emit::assemble(variant.ptx, entry, options.arch.chip, options.assembleSeconds);
      if (!cubin) {
        llvm::Error error = cubin.takeError();
        bool late = false;
        error = llvm::handleErrors(std::move(error), [&](std::unique_ptr<llvm::StringError> one) {
          late = one->convertToErrorCode() == std::errc::timed_out;
          return llvm::Error(std::move(one));
        });
        if (late && options.pointIsUnfit)
          *options.pointIsUnfit = true;
        return fail(std::move(error));
      }
      variant.cubin = std::move(cubin->image);
      variant.resources = cubin->resources;
      for (const std::string &warning : cubin->warnings)
        sink.warning(place, warning);
      for (const std::string &reason : cubin->slow)
        sink.error(product, reason, "tune with smaller tiles or more warps");
      if (!cubin->slow.empty()) {
        if (options.pointIsUnfit)
          *options.pointIsUnfit = true;
        return {};
      }
      break;
    }
    case Stage::Object: {
      llvm::Expected<std::string> object = compileForSimulator(*module, options.arch);
      if (!object)
        return fail(object.takeError());
      variant.cubin = std::move(*object);
      break;
    }
    default: {
      PassManager passes(&context);
      PipelineOptions pipeline = options.pipeline;
      if (const targets::TargetFacts *target = targets::findTarget(options.arch.number)) {
        pipeline.float8Products = target->float8Products;
        pipeline.warpgroupProducts = target->warpgroupProducts && options.arch.exact;
        pipeline.tensorCopies = target->bulkCopies;
        pipeline.dependentLaunches = target->dependentLaunches;
        pipeline.sharedBytes = target->maxSharedBytes;
      }
      addStagePasses(passes, stage, pipeline);
      // Once a stage: behind every pass it took a third of the time. Tests of passes verify behind each (tilegym-opt).
      passes.enableVerifier(false);
      if (failed(passes.run(*module)) || failed(verify(*module))) {
        if (!sink.hasErrors())
          sink.error(place, "the stage '" + stageName(stage).str() + "' failed without saying why");
        if (options.pointIsUnfit)
          *options.pointIsUnfit = bridge.pointIsUnfit;
        return {};
      }
      if (options.inspect)
        options.inspect(stage, module->getOperation());
      if (options.sink)
        options.sink(stage, textOf(*module));
      if (stage == Stage::Opt || stage == Stage::Layout)
        for (auto op : module->getOps<tile::KernelOp>())
          variant.abi = tile::abiOf(op);
      if (int64_t bytes = paramBytes(variant.abi); bytes > tile::maxParamBytes) {
        sink.error(place,
                   "the parameters of kernel '" + op.kernels[spec.kernel].name + "' take " +
                       std::to_string(bytes) + " bytes, but a launch has at most " +
                       std::to_string(tile::maxParamBytes),
                   "each list takes " + std::to_string(tile::maxListLength) +
                       " values of 8 bytes for its tensors' addresses, and as many for each of their strides "
                       "and dims: use fewer lists, or of fewer axes");
        return {};
      }
      if (stage == Stage::Layout)
        module->walk([&](tile::DotOp dot) {
          if (dot.getWarpgroups())
            product = rangeOf(op, dot.getLoc());
        });
      if (stage == Stage::Threads)
        module->walk([&](Operation *op) {
          if (auto bytes = op->getAttrOfType<IntegerAttr>("tilegym.shared_bytes"))
            variant.sharedBytes = bytes.getInt();
        });
      break;
    }
    }
    if (stage == options.stopAfter || variant.sharedBytes > options.maxSharedBytes)
      break;
  }
  return variant;
}

} // namespace tilegym::driver
