// SPDX-License-Identifier: MIT
// The tile dialect, its types and the base classes that every family of ops shares.
#ifndef TILEGYM_IR_TILEDIALECT_TD
#define TILEGYM_IR_TILEDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tilegym::tile";
  let summary = "Programs on tiles: what a kernel of a spec means, before threads";
  let description = [{
    A `tile.kernel` is a program that one block of a grid runs. Its values are tiles, which are ranked tensors of static
    shape (`tensor<128x64xf32>`), and scalars, which are plain `i64`, `f32` and so on; the language's `index` is `i64`.
    Elementwise work is `arith` and `math` on those tensors wherever their meaning is exactly the language's (signless integers,
    IEEE floats, `arith.maximumf` for `max`); ops here say the rest. Control flow is `scf`.

    A tile whose type has a `#tile.layout` encoding has been given to threads; lowering makes none, a target assigns them.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

class Tile_Type<string name, string typeMnemonic, list<Trait> traits = []> : TypeDef<Tile_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

class Tile_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Tile_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

def Tile_Ptr : Tile_Type<"Ptr", "ptr"> {
  let summary = "address of a tensor's first element in global memory";
  let description = [{
    A `bool` tensor is held as bytes, so its pointer is `!tile.ptr<i8>`; integers are signless.

    Example: `!tile.ptr<bf16>`
  }];
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), elementType);
  }]>];
}

def Tile_Held : Tile_Type<"Held", "held"> {
  let summary = "a region that lives in the block's shared memory";
  let description = "Example: `!tile.held`";
}

def Tile_Tile : StaticShapeTensorOf<[AnyFloat, AnySignlessInteger]>;
def Tile_Scalar : AnyTypeOf<[AnyFloat, AnySignlessInteger]>;
def Tile_Value : AnyTypeOf<[Tile_Tile, Tile_Scalar]>;
def Tile_IntTile : StaticShapeTensorOf<[AnySignlessInteger]>;
def Tile_IntValue : AnyTypeOf<[Tile_IntTile, AnySignlessInteger]>;
def Tile_Mask : AnyTypeOf<[I1, StaticShapeTensorOf<[I1]>]>;
/// An index: `i64`, or `i32` once a pass has proved that it fits; or a tile of either.
def Tile_IndexScalar : AnyTypeOf<[I64, I32]>;
def Tile_IndexTile : StaticShapeTensorOf<[I64, I32]>;
def Tile_Index : AnyTypeOf<[Tile_IndexScalar, Tile_IndexTile]>;

/// I64Attr's accessor is unsigned, which compares badly with every shape and axis.
def Tile_Int : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit integer attribute"> {
  let convertFromStorage = "$_self.getInt()";
}

#endif
