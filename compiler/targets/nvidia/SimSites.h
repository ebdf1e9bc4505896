// SPDX-License-Identifier: MIT
// The constants by which compiled code tells the simulator which instruction a call is: tilegym::sim::Site, one a place in the code.
#pragma once
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include <variant>

namespace tilegym::nvidia {

/// What a site says of its instruction, beside its place.
struct SiteFacts {
  std::string mnemonic;
  std::vector<std::variant<int64_t, std::string, std::vector<int64_t>>> attributes;
  std::vector<int32_t> segments;
  std::vector<uint8_t> operandTypes, resultTypes;
  bool own = false; ///< told from others that are alike in all of this
};

/// Makes the globals of one module. Equal ones are made once, unless each is to be known by its own.
class SimSites {
public:
  explicit SimSites(mlir::ModuleOp module);
  /// The address of the site, as a value at the builder's place.
  mlir::Value site(mlir::OpBuilder &b, mlir::Location loc, const SiteFacts &facts);

private:
  using Field = std::variant<int64_t, mlir::LLVM::GlobalOp>; ///< a number, or the address of another constant
  mlir::LLVM::GlobalOp constant(mlir::Type type, mlir::Attribute value);
  mlir::LLVM::GlobalOp text(llvm::StringRef text);
  mlir::LLVM::GlobalOp structure(llvm::ArrayRef<std::pair<mlir::Type, Field>> fields);
  mlir::LLVM::GlobalOp attributesOf(const SiteFacts &facts);

  mlir::ModuleOp module;
  mlir::OpBuilder globals; ///< at the module's start
  mlir::Type pointer, i32, i64;
  llvm::StringMap<mlir::LLVM::GlobalOp> texts;
  llvm::DenseMap<mlir::Attribute, mlir::LLVM::GlobalOp> arrays;
  std::map<std::string, mlir::LLVM::GlobalOp> sites;
  unsigned count = 0;
};

} // namespace tilegym::nvidia
