// SPDX-License-Identifier: MIT
// Attributes and enums of the tile dialect.
#ifndef TILEGYM_IR_TILEATTRS_TD
#define TILEGYM_IR_TILEATTRS_TD

include "compiler/ir/TileDialect.td"

class Tile_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tilegym::tile";
  let genSpecializedAttr = 0;
}
class Tile_EnumAttr<EnumAttrInfo info, string name> : EnumAttr<Tile_Dialect, info, name> {
  let assemblyFormat = "`<` $value `>`";
}

def Tile_Facts : Tile_Enum<"Facts", "what dispatch promises about the arguments", [
  I32EnumAttrCase<"General", 0, "general">, I32EnumAttrCase<"Fast", 1, "fast">]>;
def Tile_FactsAttr : Tile_EnumAttr<Tile_Facts, "facts">;

def Tile_AxisKind : Tile_Enum<"AxisKind", "how a region indexes an axis of its tensor", [
  I32EnumAttrCase<"Point", 0, "point">, I32EnumAttrCase<"Span", 1, "span">, I32EnumAttrCase<"Gather", 2, "gather">]>;

def Tile_ReduceKind : Tile_Enum<"ReduceKind", "a reduction with a name", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">, I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Min", 3, "min">, I32EnumAttrCase<"UMax", 4, "umax">, I32EnumAttrCase<"UMin", 5, "umin">,
  I32EnumAttrCase<"Any", 6, "any">, I32EnumAttrCase<"All", 7, "all">]>;
def Tile_ReduceKindAttr : Tile_EnumAttr<Tile_ReduceKind, "reduce_kind">;

def Tile_AtomicKind : Tile_Enum<"AtomicKind", "what an atomic update does", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">, I32EnumAttrCase<"Min", 2, "min">,
  I32EnumAttrCase<"UMax", 3, "umax">, I32EnumAttrCase<"UMin", 4, "umin">, I32EnumAttrCase<"And", 5, "and">,
  I32EnumAttrCase<"Or", 6, "or">, I32EnumAttrCase<"Xor", 7, "xor">, I32EnumAttrCase<"Exchange", 8, "exchange">]>;
def Tile_AtomicKindAttr : Tile_EnumAttr<Tile_AtomicKind, "atomic_kind">;

def Tile_Rounding : Tile_Enum<"Rounding", "direction of rounding", [
  I32EnumAttrCase<"NearestEven", 0, "nearest_even">, I32EnumAttrCase<"TowardZero", 1, "toward_zero">,
  I32EnumAttrCase<"Down", 2, "down">, I32EnumAttrCase<"Up", 3, "up">]>;
def Tile_RoundingAttr : Tile_EnumAttr<Tile_Rounding, "rounding">;

def Tile_Precision : Tile_Enum<"Precision", "how exact a matrix product is", [
  I32EnumAttrCase<"Full", 0, "full">, I32EnumAttrCase<"TF32", 1, "tf32">, I32EnumAttrCase<"TF32x3", 2, "tf32x3">,
  I32EnumAttrCase<"Fast", 3, "fast">]>;
def Tile_PrecisionAttr : Tile_EnumAttr<Tile_Precision, "precision">;

def Tile_ParamKind : Tile_Enum<"ParamKind", "what one parameter of a kernel's flat list holds", [
  I32EnumAttrCase<"Base", 0, "base">, I32EnumAttrCase<"Extent", 1, "extent">, I32EnumAttrCase<"Stride", 2, "stride">,
  I32EnumAttrCase<"Scalar", 3, "scalar">, I32EnumAttrCase<"GroupRank", 4, "group_rank">,
  I32EnumAttrCase<"GroupExtent", 5, "group_extent">, I32EnumAttrCase<"GroupStride", 6, "group_stride">,
  I32EnumAttrCase<"Grid", 7, "grid">, I32EnumAttrCase<"SmCount", 8, "sm_count">,
  I32EnumAttrCase<"TensorMap", 9, "tensor_map">, I32EnumAttrCase<"ListLength", 10, "list_length">]>;

def Tile_Param : Tile_Attr<"Param", "param"> {
  let summary = "one parameter of a kernel";
  let description = [{
    `id` and `axis` mean what `ParamKind` in compiler/ir/KernelABI.h says. The facts that dispatch promises are written here, so
    that no later pass has to know what a fact set is: the value is a multiple of `divisor` (an address: in bytes), and, if
    `upper` is not -1, it is in 0 .. upper. `readonly`: nothing writes the tensor while the kernel runs. `list`: there is one value
    for each tensor of a list, and room for so many; what is said of the value holds for each.

    Examples: `#tile.param<base 0, "x", !tile.ptr<bf16>, divisor = 16, readonly>`, `#tile.param<extent 1, "M", i64, list = 64>`
  }];
  let parameters = (ins "::tilegym::tile::ParamKind":$kind, DefaultValuedParameter<"int64_t", "0">:$id,
    DefaultValuedParameter<"int64_t", "0">:$axis, "::mlir::StringAttr":$name, "::mlir::Type":$type,
    DefaultValuedParameter<"int64_t", "1">:$divisor, DefaultValuedParameter<"int64_t", "-1">:$upper,
    DefaultValuedParameter<"bool", "false">:$readonly, DefaultValuedParameter<"int64_t", "0">:$list);
  let hasCustomAssemblyFormat = 1;
}
def Tile_ParamArray : TypedArrayAttrBase<Tile_Param, "parameters of a kernel">;

def Tile_Math : Tile_Attr<"Math", "math"> {
  let summary = "how far a kernel relaxes its arithmetic";
  let description = [{
    The same permissions are on each `arith` and `math` op as fast-math flags (`contract`; `afn` and `arcp` for approx); `ftz`, and `approx`
    for what a target itself makes, are said for the whole kernel.

    Example: `#tile.math<approx, ftz>`
  }];
  let parameters = (ins DefaultValuedParameter<"bool", "false">:$approx, DefaultValuedParameter<"bool", "false">:$ftz,
    DefaultValuedParameter<"bool", "false">:$contract);
  let hasCustomAssemblyFormat = 1;
}

#endif
