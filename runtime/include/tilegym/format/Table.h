// SPDX-License-Identifier: MIT
// The binary form of a kernel package: what the compiler's emit writes and the runtime reads, the only header
// that both include. One flat, position-independent block: a Header, arrays of the records below, a string
// pool, postfix code, images. Every Slice is a byte offset from the block's start and a count of records.
// Little-endian. A reader checks magic, version, sizes, checksums and that each slice and index lies inside
// before it believes anything.
#pragma once
#include <cstdint>

namespace tilegym::format {

constexpr uint32_t kMagic = 0x4b4d4754; // "TGMK"
constexpr uint32_t kVersion = 7;
constexpr uint32_t kNone = 0xffffffffu;
constexpr uint32_t kDependentArch = 90;
constexpr int64_t kRunTime = -1; ///< "not fixed at compile time" in lists of fixed values
constexpr uint32_t kMaxRank = 8, kMaxGroupDims = 7, kMaxTensors = 64, kMaxDims = 64, kMaxScalars = 64;
constexpr uint32_t kMaxName = 255, kMaxParams = 512, kMaxMaps = 16, kMaxMapRank = 5, kMaxShared = 1 << 20,
                   kMaxImage = 1 << 28, kMaxScratch = 16, kMaxLaunches = 16;
/// Tensors of a list at most, lists of an op, and bytes that a launch's parameters may take.
constexpr uint32_t kMaxListLength = 64, kMaxLists = 16, kMaxParamBytes = 32764;

struct Slice {
  uint32_t offset = 0, count = 0;
};

struct Header {
  uint32_t magic, version;
  uint64_t size;          ///< of the whole block
  uint64_t tableChecksum; ///< tableChecksum() (format/Checksum.h): of this header and all before the images
  uint64_t imagesOffset;  ///< images come last
  Slice ops;              ///< Op
  Slice launched;         ///< Op: what plans launch, each for one launch of one variant of a plan
  Slice name;             ///< char: the package's name
  Slice producer;         ///< char: tool versions, for people
};

/// Values of `dtype` fields, in the language's order. Stable: part of the C ABI.
enum class DType : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  F8E4M3,
  F8E5M2,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  Bool,
  Index
};

/// Bytes of one stored element; 0 for a number that is no DType.
constexpr int bytesOf(DType dtype) {
  constexpr uint8_t bytes[] = {8, 4, 2, 2, 1, 1, 1, 2, 4, 8, 1, 2, 4, 8, 1, 8};
  return uint8_t(dtype) < sizeof bytes ? bytes[uint8_t(dtype)] : 0;
}

struct TypeVar {
  Slice name;    ///< char; empty for a fixed dtype
  Slice choices; ///< uint8_t (DType)
  uint32_t isArgument;
};

struct Dim {
  Slice name;
  Slice choices; ///< int64_t; empty for a run-time dim
  uint32_t isGroup;
  uint32_t bindTensor,
      bindAxis; ///< where it takes its value; axis as written (after a group, counted on the written list)
  uint32_t isOfElement; ///< each tensor of a list has its own
};

/// One axis of a tensor as written. `dim` != kNone: binds that dim or must agree with it. Else `expr` gives
/// the extent.
struct DimUse {
  uint32_t dim;
  uint32_t orOne, isGroup;
  Slice expr; ///< Inst
};

enum class Role : uint32_t { Input, Output, Inout };

struct Tensor {
  Slice name;
  Role role;
  uint32_t typeVar;
  Slice dims; ///< DimUse
  uint32_t optional, hasFill;
  uint64_t fillBits; ///< one element, in its own dtype, low bytes
  uint32_t aliasOf;  ///< tensor, or kNone
  uint32_t isList;   ///< any number of tensors, each with `dims`; neither optional nor with a group
};

struct Scalar {
  Slice name;
  uint32_t typeVar;
  uint32_t isConst;
  Slice choices;     ///< int64_t bits of each (consts)
  Slice enumerators; ///< Slice (char)
  uint32_t hasDefault;
  uint32_t reserved;   ///< 0
  int64_t defaultBits; ///< integers as int64; floats as a double's bits
};

/// The generated interfaces' argument order.
struct Argument {
  uint32_t isTensor, id;
};

struct Check {
  Slice condition; ///< Inst
  Slice message;   ///< char
};

/// A kernel of the spec: guard and derived parameters, evaluated once a call.
struct Kernel {
  Slice name;
  Slice guard;      ///< Inst; empty: always
  Slice paramNames; ///< Slice (char)
  Slice derived;    ///< Slice (of Inst), by parameter; empty: a tuned one
};

/// What one kernel parameter is. Each takes 8 bytes aligned, except scalars, which have their dtype's size
/// and alignment, and tensor maps. What belongs to a tensor of a list, and a dim that each of those has for itself, is kMaxListLength such values.
enum class ParamKind : uint32_t {
  TensorPointer, ///< a = tensor
  Dim,           ///< a = dim: i64 extent (a group's: the product)
  Stride,        ///< a = tensor, b = axis as written (not a group): i64 elements; 0 for a broadcast axis
  Scalar,        ///< a = scalar
  GroupRank,     ///< a = group dim: i64, number of dims left after merging (general facts)
  GroupExtent,   ///< a = group dim, b = position (0 = outermost after merging): i64; 1 from the rank on
  GroupStride,   ///< a = tensor, b = position: i64 elements; 0 from the rank on; with fast facts b = 0 is the
                 ///< one merged stride
  Grid,          ///< a = grid axis: i64, the number of blocks along it
  SmCount,       ///< i64, multiprocessors of the device
  TensorMap,     ///< a = number among Variant::maps: the driver's 128 bytes, aligned to 64
  ListLength,    ///< a = tensor, a list: i64, how many tensors it has
};
struct Param {
  ParamKind kind;
  uint32_t a, b;
};

/// One axis of a tensor map.
struct MapAxis {
  uint32_t dim; ///< whose value is the extent; kNone: `extent` is
  uint32_t
      stride; ///< axis as written, as of ParamKind::Stride; the innermost axis has stride 1, whatever stands here
  uint32_t box;      ///< elements along it that one copy takes, 1 to 256
  uint32_t reserved; ///< 0
  int64_t extent;
};

/// What the driver makes a tensor map from.
struct TensorMap {
  uint32_t tensor;
  uint32_t swizzle; ///< bytes: 0, 32, 64 or 128
  Slice axes;       ///< MapAxis, 1 to 5, the innermost first
};

/// So far below 2^31 that a position beyond an extent by a tile still fits a signed 32-bit integer.
constexpr int64_t kMaxFastExtent = (int64_t(1) << 31) - (int64_t(1) << 20);

/// Facts about arguments that a variant relies on (bits).
enum Facts : uint32_t {
  kFactsGeneral = 0,
  kFactsFast = 1, ///< what Variant::tensorFacts asks of each tensor; leading axes merge to one; strides are
                  ///< not negative; every element's offset in bytes is below 2^31, and every extent at most
                  ///< kMaxFastExtent
};

/// What a fast variant relies on for one tensor (bits): those that its kernel reaches by vectors. Per-row
/// statistics beside a matrix need nothing, so that an odd number of rows does not cost the fast path.
enum TensorFacts : uint8_t {
  kUnitInner = 1,    ///< the last axis has stride 1, or extent at most 1 (a group's: its innermost dim)
  kAligned = 2,      ///< base address and every other stride are multiples of 16 bytes
  kWholeVectors = 4, ///< the last axis's extent is a multiple of 16 bytes
  kTransposed =
      8, ///< times one of these: the same where the last axis but one takes the last one's part; no group's
};

/// Code. Its checksum is checksum64() (format/Checksum.h) of the bytes as they stand in the block.
/// From kDependentArch on, its kernels wait for the grid before them in their stream (griddepcontrol.wait) before they touch memory.
struct Image {
  uint32_t arch;  ///< 90 for sm_90 and sm_90a
  uint32_t kind;  ///< 0 cubin, 1 PTX
  uint32_t exact; ///< 1: this arch only (sm_90a); 0: also later GPUs of the family (cubin: same major; PTX:
                  ///< any later)
  uint32_t unpacked; ///< bytes that unpack() makes of it (format/Unpack.h); 0: it is not packed
  uint64_t offset, size, checksum;
};

/// Memory of one call of a plan, row-major. Expressions of a plan are over the dims and scalars of its op.
struct Scratch {
  Slice name;     ///< char
  uint32_t dtype; ///< DType
  Slice extents;  ///< Slice (of Inst)
};

/// One axis of the part of a tensor that a launch is given.
struct PartAxis {
  uint32_t axis;    ///< of the tensor, which has no group
  uint32_t isPoint; ///< it is dropped
  Slice start;      ///< Inst; empty: 0
  Slice extent;     ///< Inst; empty for a point
};

/// What a launch is given for a tensor of its own.
struct LaunchTensor {
  uint32_t scratch; ///< number among Variant::scratch, or kNone
  uint32_t tensor;  ///< of the plan's op, or kNone
  Slice axes;       ///< PartAxis; the kept ones in the order of the parameter's axes
};

/// One launch of a plan: a call of an op whose tensors, scalars and dims are those of the plan's op, and then its own. Its variants are of one kernel and
/// differ in facts and targets only.
struct Launch {
  uint32_t op;   ///< number among Header::launched
  Slice tensors; ///< LaunchTensor, of its own tensors
  Slice scalars; ///< Slice (of Inst), of its own scalars
  Slice dims;    ///< Slice (of Inst), of its own dims
};

/// One compiled kernel for one set of fixed values; or a plan, which has launches in place of images.
struct Variant {
  uint32_t kernel;
  uint32_t facts;
  Slice dtypes;      ///< uint8_t, by type var
  Slice consts;      ///< int64_t, by scalar; kRunTime for run-time ones
  Slice constDims;   ///< int64_t, by dim; kRunTime
  uint64_t present;  ///< bit a tensor
  Slice params;      ///< int64_t, by Kernel::paramNames
  Slice entry;       ///< char: the symbol
  Slice images;      ///< Image, best first for each arch; none of a plan
  Slice layout;      ///< Param
  Slice maps;        ///< TensorMap
  Slice tensorFacts; ///< uint8_t (TensorFacts bits), by tensor
  Slice
      grid; ///< Slice (of Inst): 1 to 3 extents, and the cluster's size if there is one; the launch has one axis, of their product (first fastest)
  Slice knobs; ///< char: "warps=8 BM=4", for people
  uint32_t threads, sharedBytes, registers, spillBytes;
  uint32_t
      blocksPerSm;  ///< the launch's at most, each of which takes several of the grid's; 0: it has the grid's
  uint32_t cluster; ///< blocks of a cluster
  Slice scratch;    ///< Scratch
  Slice launches;   ///< Launch; of a plan, which relies on no facts: its launches' variants do
};

/// A text that the op was made from.
struct Source {
  Slice name; ///< char: of the spec its file's name; of a library what `use` calls it
  Slice text; ///< char
};

/// An op has one group dim at most, and each of its tensors and scalars is one argument.
struct Op {
  Slice name, doc;
  Slice sources; ///< Source: the spec, then the libraries it uses, for the reference backend; may be empty
  Slice typeVars, dims, tensors, scalars, arguments, checks, kernels, variants;
};

/// Postfix code for a stack machine of 64-bit cells; each opcode knows whether its operands are integers or
/// doubles.
enum class OpCode : uint16_t {
  PushInt,
  PushFloat, ///< imm (a double's bits)
  PushDim,   ///< a = dim
  PushScalarInt,
  PushScalarFloat, ///< a = scalar
  PushPresent,     ///< a = tensor: 0 or 1
  PushParam,       ///< a = the kernel's parameter (grids)
  PushSmCount,
  PushRank,       ///< a = group dim: number of leading dims (output shapes)
  PushSizeOf,     ///< a = type var: bytes of an element
  PushDType,      ///< a = type var: the DType's number
  PushListLength, ///< a = tensor, a list
  AddI,
  SubI,
  MulI,
  FloorDivI,
  ModI,
  CDivI,
  NegI,
  MinI,
  MaxI,
  AbsI,
  PowI,
  Pow2CeilI,
  AndI,
  OrI,
  XorI,
  ShlI,
  ShrI,
  BitNotI,
  EqI,
  NeI,
  LtI,
  LeI,
  GtI,
  GeI,
  NotB,
  AddF,
  SubF,
  MulF,
  DivF,
  NegF,
  MinF,
  MaxF,
  AbsF,
  SqrtF,
  FloorF,
  CeilF,
  EqF,
  NeF,
  LtF,
  LeF,
  GtF,
  GeF,
  IntToFloat,
  FloatToInt,
  Select,       ///< condition, then, else
  PushVariable, ///< a = how many sums stand around the one whose variable it is
  ListDim,      ///< a = dim of elements; number of the element -> its value
  BeginSum, ///< first, end -> 0; a = distance to its EndSum. What stands between them gives the term for each number from `first` on
  EndSum,   ///< sum, term -> sum; a = distance to its BeginSum
};
struct Inst {
  OpCode code;
  uint16_t reserved;
  uint32_t a;
  int64_t imm;
};

} // namespace tilegym::format
