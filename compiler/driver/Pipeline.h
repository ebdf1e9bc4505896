// SPDX-License-Identifier: MIT
// The stages of compiling one kernel, by the names that --emit, --stop-after and --dump-stages take.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace mlir {
class OpPassManager;
}

namespace tilegym::driver {

enum class Stage {
  Tile,    ///< the kernel as lowered from the spec
  Opt,     ///< after the passes on the tile dialect
  Layout,  ///< every tile has a layout
  Threads, ///< one thread's program, with the target's instructions as ops
  Llvm,    ///< LLVM and NVVM dialect; LLVM's alone for the simulator
  Ptx,     ///< text
  Cubin,   ///< machine code
  Object,  ///< for the simulator, instead of the two: this machine's code
};

/// What the code is to run on. Up to Threads it is the same.
enum class Platform { Gpu, Simulator };

/// In order, those of one platform.
llvm::ArrayRef<Stage> stagesOf(Platform platform);
/// "tile", "opt", "layout", "threads", "llvm", "ptx", "cubin", "object".
llvm::StringRef stageName(Stage stage);
std::optional<Stage> parseStage(llvm::StringRef name);

struct PipelineOptions {
  bool checks = false; ///< keep asserts and prints
  Platform platform = Platform::Gpu;
  bool float8Products = false; ///< TargetFacts
  bool warpgroupProducts = false;
  bool tensorCopies = false;      ///< 〃
  bool dependentLaunches = false; ///< 〃
  int64_t sharedBytes = 0;        ///< that a block can have
};

/// The passes that lead to a stage of MLIR from the one before it. `Tile` has none: lowering makes it.
void addStagePasses(mlir::OpPassManager &passes, Stage stage, const PipelineOptions &options);

} // namespace tilegym::driver
