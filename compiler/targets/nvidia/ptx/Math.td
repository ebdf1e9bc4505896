// SPDX-License-Identifier: MIT
// Arithmetic that plain IEEE operations do not say: the fast approximate functions, and libdevice's accurate ones.
#ifndef TILEGYM_TARGETS_NVIDIA_PTX_MATH_TD
#define TILEGYM_TARGETS_NVIDIA_PTX_MATH_TD

include "compiler/targets/nvidia/ptx/PtxDialect.td"

def Ptx_ApproxKind : Ptx_Enum<"ApproxKind", "a function of the special-function unit", [
  I32EnumAttrCase<"Ex2", 0, "ex2">, I32EnumAttrCase<"Lg2", 1, "lg2">, I32EnumAttrCase<"Rsqrt", 2, "rsqrt">, I32EnumAttrCase<"Rcp", 3, "rcp">,
  I32EnumAttrCase<"Sqrt", 4, "sqrt">, I32EnumAttrCase<"Sin", 5, "sin">, I32EnumAttrCase<"Cos", 6, "cos">, I32EnumAttrCase<"Tanh", 7, "tanh">]>;
def Ptx_ApproxKindAttr : Ptx_EnumAttr<Ptx_ApproxKind, "approx_kind">;

def Ptx_ApproxOp : Ptx_AssemblyOp<"approx", [Pure]> {
  let summary = "approximate function of one f32";
  let description = [{
    Bounds, from the PTX ISA: ex2 2 ulp; lg2 2^-22 absolute in (0.5, 2), else 2 ulp; rsqrt 2^-22.9, rcp 1 ulp, sqrt 2^-23 relative; sin, cos 2^-20.9
    absolute in [-pi, pi]; tanh 2^-11 relative. `ftz` flushes subnormal operands and results.

    Example: `%y = ptx.approx <ex2> %x ftz`
  }];
  let arguments = (ins Ptx_ApproxKindAttr:$kind, F32:$operand, UnitAttr:$ftz);
  let results = (outs F32:$result);
  let assemblyFormat = "$kind $operand (`ftz` $ftz^)? attr-dict";
}

def Ptx_DivideApproxOp : Ptx_AssemblyOp<"divide_approx", [Pure]> {
  let summary = "f32 quotient within 2 ulp over the full range";
  let description = "PTX's `div.full`. Example: `%q = ptx.divide_approx %a, %b ftz`";
  let arguments = (ins F32:$lhs, F32:$rhs, UnitAttr:$ftz);
  let results = (outs F32:$result);
  let assemblyFormat = "$lhs `,` $rhs (`ftz` $ftz^)? attr-dict";
}

def Ptx_RoundingMode : Ptx_Enum<"RoundingMode", "direction of rounding", [
  I32EnumAttrCase<"NearestEven", 0, "rn">, I32EnumAttrCase<"TowardZero", 1, "rz">, I32EnumAttrCase<"Down", 2, "rm">, I32EnumAttrCase<"Up", 3, "rp">]>;
def Ptx_RoundingModeAttr : Ptx_EnumAttr<Ptx_RoundingMode, "rounding_mode">;

def Ptx_ConvertOp : Ptx_AssemblyOp<"convert", [Pure]> {
  let summary = "conversion with a rounding mode";
  let description = [{
    Between f16, f32, f64 (narrowing) and i32, i64. Float to integer saturates; NaN gives 0 from f32 to i32, but the top bit alone where either has 64
    bits (measured on an H200).

    Example: `%i = ptx.convert <rz> %x : f32 to i32`
  }];
  let arguments = (ins AnyTypeOf<[F32, F64, I32, I64]>:$operand, Ptx_RoundingModeAttr:$mode, UnitAttr:$isUnsigned);
  let results = (outs AnyTypeOf<[F16, F32, F64, I32, I64]>:$result);
  let assemblyFormat = "$mode $operand (`unsigned` $isUnsigned^)? attr-dict `:` type($operand) `to` type($result)";
}

def Ptx_ConvertPairOp : Ptx_AssemblyOp<"convert_pair", [Pure]> {
  let summary = "two f32 to a word of two 8-bit floats, from sm_89 on";
  let description = [{
    To the nearest, ties to even; what is beyond the largest finite value becomes that value, and NaN 0x7f. The first is the low byte.

    Example: `%w = ptx.convert_pair %a, %b to <e4m3>`
  }];
  let arguments = (ins F32:$low, F32:$high, Ptx_ElementTypeAttr:$elementType);
  let results = (outs I16:$result);
  let assemblyFormat = "$low `,` $high `to` $elementType attr-dict";
  let hasVerifier = 1;
}

def Ptx_AnewOp : Ptx_AssemblyOp<"anew", [Pure]> {
  let summary = "the same f32 in a register that nothing else decides about";
  let description = [{
    ptxas gives a value and its `mov` one register, and what stores it as part of a vector decides which. It does not see that adding -0 changes nothing.

    Example: `%y = ptx.anew %x`
  }];
  let arguments = (ins F32:$operand);
  let results = (outs F32:$result);
  let assemblyFormat = "$operand attr-dict";
}

def Ptx_LibdeviceOp : Ptx_Op<"libdevice", [Pure]> {
  let summary = "a function of NVIDIA's device math library";
  let description = [{
    Example: `%y = ptx.libdevice "__nv_expf" (%x) : (f32) -> f32`
  }];
  let arguments = (ins StrAttr:$callee, Variadic<AnyTypeOf<[F32, F64, I32]>>:$operands);
  let results = (outs AnyTypeOf<[F32, F64]>:$result);
  let assemblyFormat = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, $result)";
}

def Ptx_InlineOp : Ptx_Op<"inline", [AllTypesMatch<["meaning", "result"]>]> {
  let summary = "assembly that the author of a kernel wrote (`inline_ptx`)";
  let description = [{
    `$0` is the result, `$1` ... the operands. `meaning` is what the spec's `reference` expression gives: the result everywhere but on a GPU.

    Example: `%r = ptx.inline "popc.b32 $0, $1;" (%x) meaning %bits : (i32) -> i32`
  }];
  let arguments = (ins StrAttr:$text, Variadic<AnyType>:$values, AnyType:$meaning);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$text `(` $values `)` `meaning` $meaning attr-dict `:` functional-type($values, $result)";
}

#endif
