// SPDX-License-Identifier: MIT
// Which regions have a tensor map, which map that is, and why others have none.
#include "compiler/ir/TensorMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace tilegym;

namespace {

constexpr const char *params =
    R"(#tile.param<base 0, "x", !tile.ptr<bf16>, divisor = 16, readonly>, #tile.param<extent 0, "M", i64, upper = 2146435071>,
  #tile.param<extent 1, "N", i64, divisor = 8, upper = 2146435071>, #tile.param<stride 0, "s", i64, divisor = 8, upper = 2147483647>,
  #tile.param<group_stride 0, "g", i64, divisor = 8, upper = 2147483647>, #tile.param<extent 2, "wide", i64, upper = 4611686018427387904>,
  #tile.param<stride 0:1, "odd", i64, upper = 2147483647>, #tile.param<base 1, "near", !tile.ptr<bf16>>)";

/// A kernel that loads `region` of base `x`.
struct Kernel {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  tile::LoadOp load;

  explicit Kernel(const std::string &region, const std::string &shape = "128x64xbf16",
                  const std::string &base = "x") {
    context.loadDialect<tile::TileDialect, arith::ArithDialect>();
    module = parseSourceString<ModuleOp>(
        std::string("tile.kernel @k grid 1 [-1] facts <fast> warps 4 params [") + params + R"(] {
      %x = tile.param 0 : !tile.ptr<bf16>
      %M = tile.param 1 : i64
      %N = tile.param 2 : i64
      %s = tile.param 3 : i64
      %g = tile.param 4 : i64
      %wide = tile.param 5 : i64
      %odd = tile.param 6 : i64
      %near = tile.param 7 : !tile.ptr<bf16>
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %rows = arith.constant 100 : i64
      %pad = arith.constant 0.0 : bf16
      %more = arith.addi %N, %one : i64
      %yes = arith.constant true
      %places = arith.constant dense<0> : tensor<128xi64>
      %i = tile.linear_block_id
      %size = arith.constant 64 : i64
      %j = arith.muli %i, %size : i64
      %t = tile.load %)" +
            base + " " + region + " : !tile.ptr<bf16> -> tensor<" + shape + R"(>
      tile.return
    })",
        &context);
    REQUIRE(module);
    module->walk([&](tile::LoadOp op) { load = op; });
  }

  std::string map(std::vector<int64_t> box, int64_t swizzle = 128) {
    std::string reason;
    FailureOr<Value> value =
        tile::tensorMapOf(cast<tile::RegionOp>(load.getOperation()), box, swizzle, reason);
    if (failed(value))
      return reason;
    REQUIRE(succeeded(verify(*module)));
    std::string text;
    llvm::raw_string_ostream(text) << value->getType();
    return text;
  }
  tile::KernelOp kernel() { return load->getParentOfType<tile::KernelOp>(); }
};

/// Of rows from %i on and columns from %j on.
std::string matrix(const std::string &row, const std::string &column) {
  return "[span(%i, 128) " + row + ", span(%j, 64) " + column + "] pad(%pad : bf16)";
}

} // namespace

TEST_CASE("a region's tensor map has its extents and strides") {
  CHECK(Kernel(matrix("stride %s in(%zero, %M)", "stride %one in(%zero, %N)")).map({128, 64}) ==
        "!tile.tensor_map<bf16, [128 of dim 0 by 0, 64 of dim 1], swizzle 128>");
  CHECK(Kernel(matrix("stride %g in(%zero, %rows)", "stride %one within(%zero, %N)")).map({64, 32}, 64) ==
        "!tile.tensor_map<bf16, [64 of 100 by 0, 32 of dim 1], swizzle 64>");
  CHECK(Kernel("[point(%i) stride %s in(%zero, %M), span(%j, 64) stride %one in(%zero, %N)] pad(%pad : bf16)",
               "64xbf16")
            .map({1, 64}) == "!tile.tensor_map<bf16, [1 of dim 0 by 0, 64 of dim 1], swizzle 128>");
}

TEST_CASE("the axis whose neighbours are neighbours in memory is innermost wherever it stands") {
  Kernel k("[span(%j, 128) stride %one in(%zero, %N), point(%i) stride %g in(%zero, %M), span(%i, 64) stride "
           "%s in(%zero, %M)] pad(%pad : bf16)");
  CHECK(k.map({64, 1, 8}) ==
        "!tile.tensor_map<bf16, [64 of dim 1, 1 of dim 0 by 0, 8 of dim 0 by 0], swizzle 128>");
  tile::KernelABI abi = tile::abiOf(k.kernel());
  REQUIRE(abi.maps.size() == 1);
  CHECK(abi.params.back() == tile::KernelParam{tile::ParamKind::TensorMap, 0, 0, 128});
  CHECK(abi.maps[0] == tile::TensorMapABI{0, 128, {{64, 1, 0, -1}, {8, 0, 0, 0}, {1, 0, 0, 0}}});
}

TEST_CASE("equal maps are one parameter, and a kernel has no more than the format takes") {
  Kernel k(matrix("stride %s in(%zero, %M)", "stride %one in(%zero, %N)"));
  k.map({128, 64});
  k.map({128, 64});
  CHECK(k.kernel().getNumParams() == 9);
  CHECK(llvm::count_if(k.kernel().getBody().getOps<tile::ParamOp>(),
                       [](tile::ParamOp op) { return op.getNumber() == 8; }) == 1);
  for (int64_t rows = 1; rows < 16; ++rows)
    k.map({rows, 64});
  CHECK(k.map({16, 64}) == "the kernel has 16 tensor maps already");
}

TEST_CASE("regions that the copy engine does not reach") {
  std::string row = "stride %s in(%zero, %M)", column = "stride %one in(%zero, %N)";
  CHECK(Kernel(matrix(row, column), "128x64xbf16", "near").map({128, 64}) ==
        "the tensor is not known to lie at a multiple of 16 bytes");
  CHECK(Kernel(matrix(row, column) + " mask(%yes : i1)").map({128, 64}) == "the access is masked");
  CHECK(Kernel("[gather(%places : tensor<128xi64>) " + row + ", point(%j) " + column + "] pad(%pad : bf16)",
               "128xbf16")
            .map({1, 64}) == "axis 0: its positions come from a tile");
  CHECK(Kernel(matrix("stride %s in(%one, %M)", column)).map({128, 64}) ==
        "axis 0: its bounds do not begin at 0");
  CHECK(Kernel(matrix(row, "stride %one in(%zero, %more)")).map({128, 64}) ==
        "axis 1: its bounds do not end at an extent of the op");
  CHECK(Kernel(matrix("stride %s in(%zero, %wide)", column)).map({128, 64}) ==
        "axis 0: its extent may not fit 31 bits");
  CHECK(Kernel(matrix("stride %odd in(%zero, %M)", column)).map({128, 64}) ==
        "axis 0: its stride is not known to be a multiple of 16 bytes");
  CHECK(Kernel(matrix("stride %more in(%zero, %M)", column)).map({128, 64}) ==
        "axis 0: its stride is no parameter");
  CHECK(Kernel("[span(%i, 128) " + row + ", span(%i, 64) " + column + "] pad(%pad : bf16)").map({128, 64}) ==
        "axis 1: it is not known to begin at a multiple of 16 bytes");
  CHECK(Kernel(matrix(row, row)).map({128, 64}) ==
        "its tensor map has not exactly one axis whose neighbours are neighbours in memory");
  CHECK(Kernel(matrix(row, column)).map({257, 64}) ==
        "its tensor map copies 257 elements along an axis, expected 1 to 256");
  CHECK(Kernel(matrix(row, column)).map({128, 4}) ==
        "its tensor map copies rows of 8 bytes, expected a multiple of 16");
  CHECK(Kernel(matrix(row, column)).map({128, 64}, 64) ==
        "its tensor map copies rows of 128 bytes, longer than the swizzle's 64");
  CHECK(Kernel(matrix(row, column)).map({128, 64}, 48) ==
        "its tensor map is swizzled by 48 bytes, expected 0, 32, 64 or 128");
}
