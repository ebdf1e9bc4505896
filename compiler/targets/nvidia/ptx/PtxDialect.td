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
    by all threads that they name.
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

/// Addresses of global memory, and of the block's shared memory.
def Ptx_Global : LLVM_PointerInAddressSpace<1>;
def Ptx_Shared : LLVM_PointerInAddressSpace<3>;

#endif
