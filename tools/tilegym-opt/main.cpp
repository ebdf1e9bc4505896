// SPDX-License-Identifier: MIT
// mlir-opt with the tile dialect and the project's passes: runs any of them on a module in text form.
#include "compiler/driver/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tilegym::driver::registerDialects(registry);
  tilegym::driver::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "tilegym passes\n", registry));
}
