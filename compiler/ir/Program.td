// SPDX-License-Identifier: MIT
// The kernel and what it reads of its launch.
#ifndef TILEGYM_IR_PROGRAM_TD
#define TILEGYM_IR_PROGRAM_TD

include "compiler/ir/TensorMaps.td"

def Tile_KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, Symbol, SingleBlock, NoRegionArguments]> {
  let summary = "a program run once for each block of a grid";
  let description = [{
    `params` is the flat list of parameters, in order (compiler/ir/KernelABI.h). `gridRank` axes have block ids; where the extent of
    one is exactly a parameter, `gridParams` gives its number (else -1), which proves `block_id < extent`. `warps` is the size of
    a block; the other knobs of the schedule are in `knobs`. `tensors` has for each tensor of the op what dispatch promises of it: 1 for a unit
    inner stride, 2 for aligned, 4 for whole vectors (TensorFacts), added up. `resident`: the launch has at most so many blocks a multiprocessor, and each takes
    further blocks of the grid in turn; 0: one for each block of the grid.

    Example:
    ```mlir
    tile.kernel @copy grid 1 [-1] facts <fast> warps 4 params [#tile.param<base 0, "x", !tile.ptr<f32>>] {
      tile.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Tile_Int:$gridRank, DenseI64ArrayAttr:$gridParams, Tile_FactsAttr:$facts, Tile_Int:$warps,
    Tile_ParamArray:$params, OptionalAttr<Tile_Math>:$math, OptionalAttr<DictionaryAttr>:$knobs,
    OptionalAttr<DenseI64ArrayAttr>:$tensorFacts, DefaultValuedAttr<Tile_Int, "0">:$blocksPerSm);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `grid` $gridRank $gridParams `facts` $facts `warps` $warps `params` $params (`math` $math^)? (`knobs` $knobs^)? (`tensors` $tensorFacts^)?
    (`resident` $blocksPerSm^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::tilegym::tile::ParamAttr getParam(int64_t number);
    int64_t getNumParams() { return int64_t(getParams().size()); }
    /// Those that hold tiles; a producer's come on top.
    int64_t getNumThreads() { return getWarps() * 32; }
    int64_t getProducerWarps();
    /// How many times the warps that hold tiles are there, each with blocks of the grid of their own.
    int64_t getTeams();
    /// Blocks of a multiprocessor that registers are to be shared by.
    int64_t getBlocksAtOnce() { return std::max<int64_t>(getBlocksPerSm(), getKnob("occupancy", 1)); }
    /// Blocks of the cluster that one block of the grid is spread over.
    int64_t getCtas() { return getKnob("ctas", 1); }
    /// Blocks of the cluster that each take a part of a product's reduction axis.
    int64_t getSplitK() { return getKnob("split_k", 1); }
    /// Blocks of the cluster that each make a part of a product's tile, once `spread-products` has cut it. One of the three at most is not 1.
    int64_t getSpread() { return getKnob("spread", 1); }
    int64_t getClusterSize() { return getCtas() * getSplitK() * getSpread(); }
    bool hasFtz() { return getMath() && getMath()->getFtz(); }
    bool hasApprox() { return getMath() && getMath()->getApprox(); }
    bool hasContract() { return getMath() && getMath()->getContract(); }
    /// The knob's value, or `fallback`.
    int64_t getKnob(::llvm::StringRef name, int64_t fallback);
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "ends a kernel";
  let description = "Example: `tile.return`";
  let assemblyFormat = "attr-dict";
}

def Tile_ParamOp : Tile_Op<"param", [Pure, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
                                     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the value of one of the kernel's parameters";
  let description = [{
    Of a parameter that has one value for each tensor of a list, the value of tensor number `element`, counted from 0.

    Examples:
    ```mlir
    %x = tile.param 0 : !tile.ptr<bf16>
    %m = tile.param 1[%g] : i64
    ```
  }];
  let arguments = (ins Tile_Int:$number, Optional<I64>:$element);
  let results = (outs AnyTypeOf<[Tile_Ptr, Tile_Scalar, Tile_TensorMap]>:$result);
  let assemblyFormat = "$number (`[` $element^ `]`)? attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "int64_t":$number), [{
    build($_builder, $_state, type, number, ::mlir::Value());
  }]>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether it has one value wherever it stands: it is not of a list.
    bool isFixed() { return !getElement(); }
    /// The kernel's description of it; null outside a kernel.
    ::tilegym::tile::ParamAttr getParam();
  }];
}

def Tile_BlockIdOp : Tile_Op<"block_id", [Pure, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "this block's number along a grid axis";
  let description = [{
    `linearize-grid` replaces it; targets see only `tile.linear_block_id`.

    Example:
    ```mlir
    %i = tile.block_id 0
    ```
  }];
  let arguments = (ins Tile_Int:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "$axis attr-dict";
  let hasVerifier = 1;
}

def Tile_NumBlocksOp : Tile_Op<"num_blocks", [Pure, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "the number of blocks along a grid axis";
  let description = [{
    Example:
    ```mlir
    %n = tile.num_blocks 0
    ```
  }];
  let arguments = (ins Tile_Int:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "$axis attr-dict";
  let hasVerifier = 1;
}

def Tile_LinearBlockIdOp : Tile_Op<"linear_block_id", [Pure, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "this block's number in the launch, which has one axis";
  let description = [{
    Every launch is one-dimensional, so that no grid axis stops at 65535. It fits in 31 bits.

    Example:
    ```mlir
    %b = tile.linear_block_id
    ```
  }];
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_ClusterRankOp : Tile_Op<"cluster_rank", [Pure, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "this block's number in its cluster, where each block makes a part of a product";
  let description = [{
    Example:
    ```mlir
    %r = tile.cluster_rank
    ```
  }];
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_LaunchSizeOp : Tile_Op<"launch_size", [Pure, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "how many blocks the launch has: those of the grid, or fewer where blocks are resident";
  let description = [{
    Example:
    ```mlir
    %n = tile.launch_size
    ```
  }];
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

#endif
