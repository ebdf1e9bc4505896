// SPDX-License-Identifier: MIT
// Kernels to make mistakes in: compiled to the threads stage, with a judge of what the code does in the simulator.
#pragma once
#include "compiler/emit/Package.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <memory>
#include <string>
#include <vector>

namespace tilegym::mutation {

/// How a mutant was told from the original.
struct Judgement {
  std::string caughtBy; ///< "numbers", "race", ...; empty: it was not
  std::string detail;   ///< the case or the seed
};

class Subject {
public:
  virtual ~Subject() = default;
  /// Runs the code until something is wrong. In a process of its own: it may not come back.
  virtual Judgement judge(const std::string &object) = 0;
  /// Tells the module what every call of this kernel has true of its parameters.
  virtual void assume(mlir::ModuleOp) const {}

  std::string name;    ///< "softmax": what survivors.txt calls it
  std::string cases;   ///< of the spec, that judge it
  std::string variant; ///< "resident_f32_BM1_BN128_warps4_fast sm_90a"
  emit::Arch arch;
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< at the threads stage
};

/// The kernels there are, each compiled when it is asked for.
class Source {
public:
  virtual ~Source() = default;
  virtual size_t size() const = 0;
  virtual std::string nameOf(size_t number) const = 0;
  /// Null where the kernel has no case that is small enough. An error where it fails as it is.
  virtual llvm::Expected<std::unique_ptr<Subject>> make(size_t number, mlir::MLIRContext &context) = 0;
};
/// Every variant of every spec in the folder, on every target.
llvm::Expected<std::unique_ptr<Source>> makeSpecSource(const std::vector<std::string> &paths);
/// Whole kernels of instructions, with the arguments of their `RUN: tilegym-opt simulate` line; files without one are not meant to run.
llvm::Expected<std::unique_ptr<Source>> makeFileSource(const std::vector<std::string> &paths);

} // namespace tilegym::mutation
