// SPDX-License-Identifier: MIT
// What a compiled op is made of, and the files that a kernel package has: NAME.tgk (the block that the runtime reads), NAME.o (the same embedded, with a
// C entry an op), NAME.h, manifest.json, interface.json. Everything is a function of the inputs: the same ones give the same bytes.
#pragma once
#include "compiler/emit/Ptxas.h"
#include "mlir/IR/DialectImplementation.h" // the generated enums need it

#include "compiler/ir/KernelABI.h"
#include "compiler/semantics/PlanSteps.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace tilegym::emit {

/// A target as the command line names it: "sm_90a".
struct Arch {
  std::string chip;
  unsigned number = 0; ///< 90
  bool exact = false;  ///< sm_90a: code for this arch alone
};
llvm::Expected<Arch> parseArch(llvm::StringRef text);

struct PackagePlan;

/// One compiled kernel, or a plan.
struct PackageVariant {
  sem::Specialization spec;
  tile::KernelABI abi;
  std::vector<sem::ExprPtr> grid;
  Arch arch;
  std::string ptx, cubin; ///< cubin empty where there is no ptxas
  int64_t sharedBytes = 0;
  Resources resources;                     ///< zero without ptxas
  std::shared_ptr<const PackagePlan> plan; ///< then there is no code here
};

struct PackageOp {
  std::shared_ptr<const sem::OpModel> model;
  std::vector<PackageVariant> variants;
};

struct PackagePlan {
  sem::PlanSteps steps;
  std::vector<PackageOp> launched; ///< by launch
};

struct Package {
  std::string name;
  std::string producer; ///< versions of the tools
  bool embedPtx = true; ///< keep PTX beside cubins, for GPUs that have none
  std::vector<PackageOp> ops;
};

/// The block of runtime/include/tilegym/format/Table.h.
llvm::Expected<std::string> writeTable(const Package &package);
/// The object file for the host, from the block.
llvm::Expected<std::string> writeObject(const Package &package, llvm::StringRef table);
std::string writeHeader(const Package &package);
std::string writeManifest(const Package &package, llvm::StringRef table);
/// What bindings for other languages read.
std::string writeInterface(const Package &package, llvm::StringRef table);

/// "BM=4 BN=1024 warps=8".
std::string knobText(const sem::Specialization &spec);

} // namespace tilegym::emit
