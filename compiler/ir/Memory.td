// SPDX-License-Identifier: MIT
// Loads and stores. A memory op names a region of a tensor, axis by axis, and never an address: the target chooses vectors, predicates
// and address arithmetic.
#ifndef TILEGYM_IR_MEMORY_TD
#define TILEGYM_IR_MEMORY_TD

include "compiler/ir/TileAttrs.td"

def Tile_RegionOpInterface : OpInterface<"RegionOp"> {
  let cppNamespace = "::tilegym::tile";
  let description = [{
    An op that accesses a region. Each axis of the tensor has an index, a stride in elements and bounds: an element is in bounds where
    `lower <= index < upper` holds on every axis that is checked. Bit 0 of an axis's check asks for the lower, bit 1 for the upper comparison; a
    check that is not asked for has been proved. Elements out of bounds are neither read nor written.

    - `point(%i)`: one index; the region has no such axis.
    - `span(%o, n)`: indices `%o` .. `%o + n - 1`; an axis of extent n.
    - `gather(%t)`: indices from an integer tile. All gathers of a region have one shape; its axes stand where the first gather stands.

    A leading group axis (`*R`) of a general kernel has no single stride. Its operands in `group` are: the number r of dims it has at run time,
    then k extents and k strides, outermost first, where extents are 1 and strides 0 from r on. The index is split by the extents; the axis's own stride is
    then unused.
  }];
  let methods = [
    InterfaceMethod<"address of the tensor", "::mlir::TypedValue<::tilegym::tile::PtrType>", "getBase">,
    InterfaceMethod<"AxisKind of each axis", "::llvm::ArrayRef<int32_t>", "getKinds">,
    InterfaceMethod<"index of each axis", "::mlir::OperandRange", "getIndices">,
    InterfaceMethod<"extent of each axis, 0 unless a span", "::llvm::ArrayRef<int64_t>", "getLengths">,
    InterfaceMethod<"stride of each axis in elements", "::mlir::OperandRange", "getStrides">,
    InterfaceMethod<"first index in bounds of each axis", "::mlir::OperandRange", "getLowers">,
    InterfaceMethod<"first index beyond the bounds of each axis", "::mlir::OperandRange", "getUppers">,
    InterfaceMethod<"which bounds are checked", "::llvm::ArrayRef<int32_t>", "getChecks">,
    InterfaceMethod<"sets which bounds are checked", "void", "setChecks", (ins "::llvm::ArrayRef<int32_t>":$checks)>,
    InterfaceMethod<"rank, extents and strides of a group axis, or nothing", "::mlir::OperandRange", "getGroup">,
    InterfaceMethod<"mask tile or null", "::mlir::Value", "getMask">,
  ];
  let extraClassDeclaration = [{
    int64_t getNumAxes() { return int64_t(getKinds().size()); }
    ::tilegym::tile::RegionAxis getAxis(int64_t axis);
    bool hasGroup() { return !getGroup().empty(); }
    ::mlir::Value getGroupRank() { return getGroup()[0]; }
    ::mlir::Value getGroupExtent(int64_t dim) { return getGroup()[1 + dim]; }
    ::mlir::Value getGroupStride(int64_t dim) { return getGroup()[1 + (getGroup().size() - 1) / 2 + dim]; }
    int64_t getMaxGroupRank() { return (int64_t(getGroup().size()) - 1) / 2; }
    /// Extents of the region; empty for a scalar.
    ::llvm::SmallVector<int64_t> getRegionShape();
    /// For each axis of the tensor, the first axis of the region that it makes, or -1 for a point.
    ::llvm::SmallVector<int64_t> getRegionAxes();
    bool isChecked() { return ::llvm::any_of(getChecks(), [](int32_t c) { return c != 0; }); }
  }];
  let verify = "return ::tilegym::tile::verifyRegion($_op);";
}

defvar regionFormat = [{ $base custom<Region>($kinds, $indices, type($indices), $lengths, $strides, $lowers, $uppers, $checks, $group) }];
class Tile_RegionOp<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, !listconcat([AttrSizedOperandSegments, Tile_RegionOpInterface], traits)>;

def Tile_LoadOp : Tile_RegionOp<"load"> {
  let summary = "reads a region";
  let description = [{
    Elements that are out of bounds, or whose mask is false, are `pad`. Without a pad every element is in bounds and unmasked.
    A region of points alone gives a scalar.

    Example:
    ```mlir
    %t = tile.load %x [point(%row) stride %s0 in(%zero, %r), span(%c, 1024) stride %one in(%zero, %n)] pad(%inf : bf16)
         : !tile.ptr<bf16> -> tensor<1024xbf16>
    ```
    A bound written `below` has only its upper end checked, `from` only its lower, `within` neither.

    With `held`, what `tile.hold` copied is read instead of memory: the region is a part of the held one, shorter along its last axis alone.
  }];
  let arguments = (ins Arg<Tile_Ptr, "", [MemRead]>:$base, DenseI32ArrayAttr:$kinds, Variadic<Tile_Index>:$indices,
    DenseI64ArrayAttr:$lengths, Variadic<I64>:$strides, Variadic<I64>:$lowers, Variadic<I64>:$uppers, DenseI32ArrayAttr:$checks,
    Variadic<I64>:$group, Optional<Tile_Scalar>:$pad, Optional<Tile_Mask>:$mask, Optional<Tile_Held>:$held);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = !strconcat(regionFormat, [{
    (`pad` `(` $pad^ `:` type($pad) `)`)? (`mask` `(` $mask^ `:` type($mask) `)`)? (`held` `(` $held^ `)`)? attr-dict `:` qualified(type($base)) `->` type($result)
  }]);
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_RegionOp<"store"> {
  let summary = "writes a region";
  let description = [{
    Writes the elements that are in bounds and whose mask is true. The tile has the tensor's dtype: rounding is an op before it.

    Example:
    ```mlir
    tile.store %t to %y [span(%c, 1024) stride %one below(%zero, %n)] : tensor<1024xf32> to !tile.ptr<f32>
    ```
  }];
  let arguments = (ins Tile_Value:$value, Arg<Tile_Ptr, "", [MemWrite]>:$base, DenseI32ArrayAttr:$kinds, Variadic<Tile_Index>:$indices,
    DenseI64ArrayAttr:$lengths, Variadic<I64>:$strides, Variadic<I64>:$lowers, Variadic<I64>:$uppers, DenseI32ArrayAttr:$checks,
    Variadic<I64>:$group, Optional<Tile_Mask>:$mask);
  let assemblyFormat = !strconcat("$value `to`", regionFormat, [{
    (`mask` `(` $mask^ `:` type($mask) `)`)? attr-dict `:` type($value) `to` qualified(type($base))
  }]);
  let hasVerifier = 1;
}

#endif
