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
  Llvm,    ///< LLVM and NVVM dialect
  Ptx,     ///< text
  Cubin,   ///< machine code
};

llvm::ArrayRef<Stage> allStages();
/// "tile", "opt", "layout", "threads", "llvm", "ptx", "cubin".
llvm::StringRef stageName(Stage stage);
std::optional<Stage> parseStage(llvm::StringRef name);

struct PipelineOptions {
  bool checks = false; ///< keep asserts and prints
};

/// The passes that lead to a stage of MLIR from the one before it. `Tile` has none: lowering makes it.
void addStagePasses(mlir::OpPassManager &passes, Stage stage, const PipelineOptions &options);

} // namespace tilegym::driver
