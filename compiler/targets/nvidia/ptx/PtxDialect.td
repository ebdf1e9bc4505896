// SPDX-License-Identifier: MIT
// The dialect of target instructions: what a GPU thread can do beyond plain arithmetic, loads and stores. Each is a named op with a
// meaning of its own, so that one module can become PTX (`to-ptx`) or be run by a simulator; inline assembly appears nowhere else.
#ifndef TILEGYM_TARGETS_NVIDIA_PTX_DIALECT_TD
#define TILEGYM_TARGETS_NVIDIA_PTX_DIALECT_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"

def Ptx_Dialect : Dialect {
  let name = "ptx";
  let cppNamespace = "::tilegym::ptx";
  let summary = "Instructions of an NVIDIA GPU thread, each a named op";
  let description = [{
    Values are what registers hold: `i32` words, `f32`, `i1`. The PTX ISA defines the meaning of each; collective ops must be reached
    by all threads that they name. An op with `if %p` does nothing where `%p` is false, and its results are undefined there: it is predicated,
    not branched around, as one thread that acts for many needs it.

    Plain loads and stores of addresses 1 (global), 3 (shared) and 7 (shared of any block of the cluster) are `llvm.load` and `llvm.store`.
    Addresses that an op takes as a number of bytes are pointers; sizes are in bytes unless a record says otherwise.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let useDefaultAttributePrinterParser = 1;
}

def Ptx_AssemblyOpInterface : OpInterface<"AssemblyOp"> {
  let cppNamespace = "::tilegym::ptx";
  let description = "An instruction that `to-ptx` writes as one piece of inline assembly.";
  let methods = [
    InterfaceMethod<"text with `$N` for operands, results first", "::tilegym::ptx::Assembly", "getAssembly">,
  ];
}

def Ptx_InstructionInterface : OpInterface<"Instruction"> {
  let cppNamespace = "::tilegym::ptx";
  let description = "Every op of the dialect: what `to-sim` asks of one to tell the simulator.";
  let methods = [
    StaticInterfaceMethod<"names of the attributes as the record lists them, which is the order that the simulator reads them in",
                          "::llvm::ArrayRef<::llvm::StringRef>", "attributeOrder">,
  ];
}

class Ptx_Op<string mnemonic, list<Trait> traits = []>
    : Op<Ptx_Dialect, mnemonic, !listconcat([DeclareOpInterfaceMethods<Ptx_InstructionInterface>], traits)> {
  // MLIR itself keeps the names sorted.
  list<string> attributeNames = !foldl([]<string>, !range(!size(arguments)), names, i,
    !if(!initialized(!getdagarg<AttrConstraint>(arguments, i)), !listconcat(names, ["\"" # !getdagname(arguments, i) # "\""]), names));
  let extraClassDefinition = [{
    ::llvm::ArrayRef<::llvm::StringRef> $cppClass::attributeOrder() {
      static const std::vector<::llvm::StringRef> names = }] # "{" # !interleave(attributeNames, ", ") # "}" # [{;
      return names;
    }
  }];
}

/// An instruction whose text is composed in C++.
class Ptx_AssemblyOp<string mnemonic, list<Trait> traits = []>
    : Ptx_Op<mnemonic, !listconcat([DeclareOpInterfaceMethods<Ptx_AssemblyOpInterface>], traits)>;

class Ptx_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tilegym::ptx";
  let genSpecializedAttr = 0;
}
class Ptx_EnumAttr<EnumAttrInfo info, string name> : EnumAttr<Ptx_Dialect, info, name> {
  let assemblyFormat = "`<` $value `>`";
}

/// Addresses: of global memory, of the block's shared memory, and of that of any block of the cluster.
def Ptx_Global : LLVM_PointerInAddressSpace<1>;
def Ptx_Shared : LLVM_PointerInAddressSpace<3>;
def Ptx_Cluster : LLVM_PointerInAddressSpace<7>;
def Ptx_SharedOrCluster : AnyTypeOf<[Ptx_Shared, Ptx_Cluster]>;
def Ptx_AnyMemory : AnyTypeOf<[Ptx_Global, Ptx_Shared, Ptx_Cluster]>;

/// What memory or a matrix fragment holds, where registers are words of it: two f16 or bf16 in an i32, four 8-bit elements.
def Ptx_ElementType : Ptx_Enum<"ElementType", "type of an element that words hold", [
  I32EnumAttrCase<"U32", 0, "u32">, I32EnumAttrCase<"S32", 1, "s32">, I32EnumAttrCase<"U64", 2, "u64">, I32EnumAttrCase<"S64", 3, "s64">,
  I32EnumAttrCase<"F16", 4, "f16">, I32EnumAttrCase<"BF16", 5, "bf16">, I32EnumAttrCase<"F32", 6, "f32">, I32EnumAttrCase<"F64", 7, "f64">,
  I32EnumAttrCase<"TF32", 8, "tf32">, I32EnumAttrCase<"E4M3", 9, "e4m3">, I32EnumAttrCase<"E5M2", 10, "e5m2">,
  I32EnumAttrCase<"S8", 11, "s8">, I32EnumAttrCase<"U8", 12, "u8">]>;
def Ptx_ElementTypeAttr : Ptx_EnumAttr<Ptx_ElementType, "element_type">;

/// What memory of type T becomes: add, min, max by T; `inc`: old >= x ? 0 : old + 1; `dec`: old == 0 || old > x ? x : old - 1.
def Ptx_ReduceKind : Ptx_Enum<"ReduceKind", "what a reduction into memory does; the element type says the rest", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Min", 1, "min">, I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Inc", 3, "inc">,
  I32EnumAttrCase<"Dec", 4, "dec">, I32EnumAttrCase<"And", 5, "and">, I32EnumAttrCase<"Or", 6, "or">, I32EnumAttrCase<"Xor", 7, "xor">]>;
def Ptx_ReduceKindAttr : Ptx_EnumAttr<Ptx_ReduceKind, "reduce_kind">;

def Ptx_Ordering : Ptx_Enum<"Ordering", "how an access is ordered against others of its thread", [
  I32EnumAttrCase<"Relaxed", 0, "relaxed">, I32EnumAttrCase<"Acquire", 1, "acquire">, I32EnumAttrCase<"Release", 2, "release">,
  I32EnumAttrCase<"AcqRel", 3, "acq_rel">, I32EnumAttrCase<"Sc", 4, "sc">]>;
def Ptx_OrderingAttr : Ptx_EnumAttr<Ptx_Ordering, "ordering">;

def Ptx_Scope : Ptx_Enum<"Scope", "the threads that an ordering or an atomic is for", [
  I32EnumAttrCase<"Cta", 0, "cta">, I32EnumAttrCase<"Cluster", 1, "cluster">, I32EnumAttrCase<"Gpu", 2, "gpu">, I32EnumAttrCase<"System", 3, "sys">]>;
def Ptx_ScopeAttr : Ptx_EnumAttr<Ptx_Scope, "scope">;

#endif
