// SPDX-License-Identifier: MIT
// The dialect and the simulator's table of instructions name the same things.
#include "compiler/simulator/Instructions.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>
#include <set>

using namespace tilegym;

/// libdevice's functions are compiled, not simulated; an author's assembly, and a sum in a register of its own, are replaced by their meaning.
static const std::set<std::string> kWithoutRow = {"libdevice", "inline", "anew"};
/// Checks of plain accesses.
static const std::set<std::string> kWithoutOp = {"load", "store"};

TEST_CASE("Every op of the dialect has a row, and every row an op") {
  mlir::MLIRContext context;
  context.loadDialect<ptx::PtxDialect>();
  std::set<std::string> ops, rows;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
    if (name.getDialectNamespace() == "ptx")
      ops.insert(name.stripDialect().str());
  for (const sim::Row &row : sim::instructions())
    rows.insert(std::string(row.mnemonic));
  for (const std::string &op : ops) {
    INFO("ptx." << op);
    CHECK(rows.count(op) + kWithoutRow.count(op) == 1);
  }
  for (const std::string &row : rows) {
    INFO("the row " << row);
    CHECK(ops.count(row) + kWithoutOp.count(row) == 1);
  }
}

TEST_CASE("libdevice's approximations have the numbers of the dialect's") {
  // compiler/simulator/jit/NvvmIntrinsics.cpp writes them into sites without the dialect.
  CHECK(int(ptx::ApproxKind::Ex2) == 0);
  CHECK(int(ptx::ApproxKind::Lg2) == 1);
  CHECK(int(ptx::ApproxKind::Rsqrt) == 2);
  CHECK(int(ptx::ApproxKind::Rcp) == 3);
  CHECK(int(ptx::ApproxKind::Sqrt) == 4);
  CHECK(int(ptx::ApproxKind::Sin) == 5);
  CHECK(int(ptx::ApproxKind::Cos) == 6);
}
