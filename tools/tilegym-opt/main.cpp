// SPDX-License-Identifier: MIT
// mlir-opt with the tile dialect and the project's passes: runs any of them on a module in text form; `lower`, which makes
// such a module from a spec; `assemble`, which takes threads' programs on to machine code; and `simulate`, which runs them here.
#include "Assemble.h"
#include "LowerSpec.h"
#include "SimulateFile.h"
#include "compiler/driver/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include <cstring>

int main(int argc, char **argv) {
  if (argc > 1 && std::strcmp(argv[1], "lower") == 0)
    return tilegym::lowerSpecMain(llvm::ArrayRef<const char *>(argv + 2, size_t(argc) - 2));
  if (argc > 1 && std::strcmp(argv[1], "assemble") == 0)
    return tilegym::assembleMain(llvm::ArrayRef<const char *>(argv + 2, size_t(argc) - 2));
  if (argc > 1 && std::strcmp(argv[1], "simulate") == 0)
    return tilegym::simulateMain(llvm::ArrayRef<const char *>(argv + 2, size_t(argc) - 2));
  mlir::DialectRegistry registry;
  tilegym::driver::registerDialects(registry);
  tilegym::driver::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "tilegym passes\n", registry));
}
