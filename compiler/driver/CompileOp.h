// SPDX-License-Identifier: MIT
// Compiling an op: every variant for every arch, in parallel, through the cache.
#pragma once
#include "compiler/driver/Compile.h"
#include "compiler/driver/Variants.h"
#include "compiler/emit/Package.h"
#include "compiler/syntax/Diagnostic.h"
#include <functional>

namespace tilegym::driver {

struct CompileOpOptions {
  std::vector<emit::Arch> archs;
  VariantFilter filter;
  unsigned jobs = 0; ///< threads; 0: one a core
  bool cache = true;
  unsigned assembleSeconds = 300; ///< ptxas may take for a point
  bool requirePtxas = false;      ///< otherwise PTX only, with a note, where there is no ptxas
  PipelineOptions pipeline;
  /// Folder of tuned tables; nothing: the one beside the spec's; empty: none, and the cost model decides.
  std::optional<std::string> tunedFolder;
  /// Only variants that this takes, where it is given, are built; it is asked about a point of each, and whether operands lie transposed for it.
  std::function<bool(const sem::Specialization &, bool transposed)> wanted;
  /// For tuning: of each fast variant that this takes, all points worth measuring are built, the likely fastest first.
  std::function<bool(const sem::Specialization &)> tune;
  /// Called with each stage's text for each variant, from one thread at a time. With it, nothing comes from the cache.
  std::function<void(llvm::StringRef entry, Stage stage, llvm::StringRef text)> dump;
  std::function<void(size_t done, size_t all)> progress;
};

struct CompileReport {
  size_t fast = 0, dense = 0, general = 0; ///< variants by facts
  size_t variants() const { return fast + dense + general; }
  size_t tuned = 0, cached = 0; ///< of all, those at a point of a tuned table; those from the cache
  std::vector<std::shared_ptr<const SourceFile>> tables; ///< that were read; diagnostics point into them
  bool ptxOnly = false;
  std::string ptxOnlyReason;
};

/// Nothing where `sink` has errors.
std::optional<emit::PackageOp> compileOp(std::shared_ptr<const sem::OpModel> op,
                                         const CompileOpOptions &options, CompileReport &report,
                                         DiagnosticSink &sink);

/// Versions of what makes the code, as in manifests: "tilegymc 0.1.0, LLVM 22.1.8, ptxas 13.0.88".
std::string toolVersions();

} // namespace tilegym::driver
