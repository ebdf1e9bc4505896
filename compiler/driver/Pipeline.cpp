// SPDX-License-Identifier: MIT
// The whole order of passes. A comment stands only where the order matters.
#include "compiler/driver/Pipeline.h"
#include "compiler/targets/nvidia/Passes.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tilegym::driver {

static constexpr Stage gpuStages[] = {Stage::Tile, Stage::Opt, Stage::Layout, Stage::Threads,
                                      Stage::Llvm, Stage::Ptx, Stage::Cubin};
static constexpr Stage simulatorStages[] = {Stage::Tile,    Stage::Opt,  Stage::Layout,
                                            Stage::Threads, Stage::Llvm, Stage::Object};
static constexpr llvm::StringRef names[] = {"tile", "opt", "layout", "threads",
                                            "llvm", "ptx", "cubin",  "object"};

llvm::ArrayRef<Stage> stagesOf(Platform platform) {
  return platform == Platform::Gpu ? llvm::ArrayRef(gpuStages) : llvm::ArrayRef(simulatorStages);
}
llvm::StringRef stageName(Stage stage) { return names[size_t(stage)]; }

std::optional<Stage> parseStage(llvm::StringRef name) {
  const llvm::StringRef *found = llvm::find(names, name);
  return found == std::end(names) ? std::nullopt : std::optional(Stage(found - names));
}

static void addTilePasses(OpPassManager &kernel, const PipelineOptions &options) {
  if (!options.checks)
    kernel.addPass(transforms::createStripChecks());
  kernel.addPass(createCanonicalizerPass());
  kernel.addPass(createCSEPass());

  kernel.addPass(transforms::createSpreadProducts());
  // Both make loops, which the passes below take as the author's own.
  kernel.addPass(transforms::createSplitReduction());
  kernel.addPass(transforms::createHoldInShared());
  kernel.addPass(createCanonicalizerPass());
  kernel.addPass(createCSEPass());

  // Splitting needs canonical indices; what it leaves in the loops without checks, the proof of bounds then finds.
  kernel.addPass(transforms::createSplitMaskedLoops());
  kernel.addPass(createCanonicalizerPass());
  kernel.addPass(transforms::createProveBounds());
  kernel.addPass(createLoopInvariantCodeMotionPass());

  // After the proof, which knows a block's position on an axis; before the arithmetic, of which the positions are part.
  kernel.addPass(transforms::createLinearizeGrid());
  kernel.addPass(transforms::createMakePersistent());

  // Index arithmetic in 32 bits where ranges allow: loops and regions, then what lies between them. First fold what they decide, then make signed operations unsigned (a floor division becomes
  // a plain one), then narrow, and only then take apart the divisions that are left.
  kernel.addPass(transforms::createNarrowLoops());
  kernel.addPass(transforms::createNarrowRegions());
  kernel.addPass(arith::createIntRangeOptimizationsPass());
  kernel.addPass(arith::createArithUnsignedWhenEquivalentPass());
  kernel.addPass(arith::createArithIntRangeNarrowing({{32}}));
  kernel.addPass(transforms::createExpandDivision());
  kernel.addPass(createCanonicalizerPass());
  kernel.addPass(createCSEPass());
  kernel.addPass(transforms::createDivideByReciprocals());

  // Last: every pass above may drop a use.
  kernel.addPass(transforms::createPruneParams());
}

void addStagePasses(OpPassManager &passes, Stage stage, const PipelineOptions &options) {
  switch (stage) {
  case Stage::Opt:
    addTilePasses(passes.nest<tile::KernelOp>(), options);
    break;
  case Stage::Layout:
    passes.nest<tile::KernelOp>().addPass(transforms::createWidenOperands({options.float8Products}));
    if (options.warpgroupProducts) {
      passes.nest<tile::KernelOp>().addPass(transforms::createUseWarpgroups());
      passes.nest<tile::KernelOp>().addPass(transforms::createOverlapProducts());
    }
    passes.nest<tile::KernelOp>().addPass(transforms::createShareOperands());
    passes.addPass(transforms::createAssignLayouts());
    passes.nest<tile::KernelOp>().addPass(
        transforms::createSpecializeLoads({options.tensorCopies, options.sharedBytes}));
    passes.nest<tile::KernelOp>().addPass(transforms::createPipelineLoads());
    passes.nest<tile::KernelOp>().addPass(transforms::createHoldAhead());
    if (options.tensorCopies)
      passes.nest<tile::KernelOp>().addPass(transforms::createStageStores({options.sharedBytes}));
    passes.nest<tile::KernelOp>().addPass(transforms::createPlaceBarriers());
    passes.nest<tile::KernelOp>().addPass(transforms::createPlanShared());
    // What a tensor map stands for is no parameter any more.
    passes.nest<tile::KernelOp>().addPass(transforms::createPruneParams());
    break;
  case Stage::Threads:
    passes.addPass(nvidia::createTilesToThreads({options.float8Products}));
    // A thread's code repeats its address arithmetic for every register.
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    passes.addPass(nvidia::createResumeSearches());
    // The registers are final here, and control flow is still structured.
    passes.addPass(nvidia::createCheckWgmma());
    passes.addPass(nvidia::createStartSums());
    passes.addPass(nvidia::createFreeSums());
    if (options.dependentLaunches)
      passes.addPass(nvidia::createAwaitDependencies());
    break;
  case Stage::Llvm:
    if (options.platform == Platform::Simulator) {
      passes.addPass(nvidia::createToSim());
      break;
    }
    passes.addPass(nvidia::createToPtx());
    // `.loc` lines for profilers, without DWARF sections: the spec's name as given, no folder.
    passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass({LLVM::DIEmissionKind::DebugDirectivesOnly}));
    break;
  default:
    break;
  }
}

} // namespace tilegym::driver
