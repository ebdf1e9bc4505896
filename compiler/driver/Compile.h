// SPDX-License-Identifier: MIT
// One kernel of an op from its checked tree to a cubin. Everything is local to the call, so variants compile in parallel.
#pragma once
#include "compiler/driver/Pipeline.h"
#include "compiler/emit/Package.h"
#include "compiler/ir/FactSet.h"
#include <functional>

namespace mlir {
class Operation;
}

namespace tilegym::driver {

struct CompileOptions {
  emit::Arch arch;
  Stage stopAfter = Stage::Cubin;
  /// Sees the module of every MLIR stage passed.
  std::function<void(Stage, mlir::Operation *)> inspect;
  /// Gets the text of every stage passed; cubins and objects are not text, and not given.
  std::function<void(Stage, llvm::StringRef)> sink;
  PipelineOptions pipeline;
  /// A kernel that needs more shared memory is given back as soon as that is known, without code.
  int64_t maxSharedBytes = INT64_MAX;
  unsigned assembleSeconds = 300; ///< for ptxas; a point that takes it longer is unfit
  /// Set where the kernel can be compiled, but not at this point of its tune space; the error says why.
  bool *pointIsUnfit = nullptr;
};

/// Name of a variant's kernel in PTX, unique within an op: `softmax_resident_bf16_BM1_BN1024_warps4_fast`; with `_aT` behind it where `a` is transposed.
/// A plan's has no facts.
std::string entryName(const sem::OpModel &op, const sem::Specialization &spec,
                      const std::optional<tile::FactSet> &facts);

/// Compiles one variant, which names a kernel, for one fact set. Nothing if there were errors, which have been reported. Where `stopAfter` is early,
/// what comes later stays empty; without ptxas the cubin does, and `options.stopAfter` should be Ptx. For the simulator
/// the cubin is an object file for this machine.
std::optional<emit::PackageVariant> compileVariant(const sem::OpModel &op, const sem::Specialization &spec,
                                                   const tile::FactSet &facts, const CompileOptions &options,
                                                   DiagnosticSink &sink);

} // namespace tilegym::driver
