// SPDX-License-Identifier: MIT
// The checked tree: what semantics makes of a kernel, plan or reference for one specialization. Names are resolved, `fn`s inlined,
// `const if/for` gone, dtypes and shapes on every node, conversions explicit. The interpreter evaluates it and the compiler lowers
// it; neither sees the syntax tree. One node class with an operation code: both clients are a switch over families.
#pragma once
#include "compiler/semantics/DType.h"
#include "compiler/syntax/Source.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tilegym::sem {

// ---------------------------------------------------------------- types

/// An extent not known at compile time; only references (whole tensors) and views have it.
constexpr int64_t kDynamic = -1;

struct Type {
  enum Kind : uint8_t { Void, Tile, View, Tuple, List, String } kind = Void;
  DType dtype = DType::F32;   ///< Tile, View, List: the element
  std::vector<int64_t> shape; ///< Tile, View: extents; a rank-0 Tile is a scalar
  std::vector<int64_t>
      tileSizes; ///< View made by `.tile(...)`: what one step of its index means on each axis; else empty
  std::vector<Type> elements; ///< Tuple
  bool isScalar() const { return kind == Tile && shape.empty(); }
  bool isTile() const { return kind == Tile; }
  int64_t rank() const { return int64_t(shape.size()); }
  bool operator==(const Type &) const = default;
};
std::string toString(const Type &type); ///< `f32[128, 64]`, `index`, `view f32[?, 64]`

/// A compile-time value: bool, integer (index and every integer dtype) or float.
struct Constant {
  std::variant<bool, int64_t, double> value = int64_t(0);
  bool isBool() const { return value.index() == 0; }
  bool isInt() const { return value.index() == 1; }
  bool isFloat() const { return value.index() == 2; }
  bool asBool() const {
    return isBool()  ? std::get<bool>(value)
           : isInt() ? std::get<int64_t>(value) != 0
                     : std::get<double>(value) != 0;
  }
  int64_t asInt() const {
    return isBool()  ? int64_t(std::get<bool>(value))
           : isInt() ? std::get<int64_t>(value)
                     : int64_t(std::get<double>(value));
  }
  double asFloat() const { return isFloat() ? std::get<double>(value) : double(asInt()); }
  bool operator==(const Constant &) const = default;
};

// ---------------------------------------------------------------- expressions

/// Operation codes. Kernels are shape-exact: operands of elementwise ops have equal shapes there (Broadcast is a node);
/// in a reference, shapes may be dynamic and elementwise ops broadcast at run time as NumPy does.
enum class Op : uint16_t {
  // leaves
  Const,       ///< `constant`; type a scalar (u64 constants above 2^63 are kept as their int64 bits)
  Local,       ///< `index` = local id
  Dim,         ///< `index` = OpModel::dims id; index scalar
  Scalar,      ///< `index` = OpModel::scalars id (run-time ones only; consts are folded)
  KernelParam, ///< `index` = Kernel::params id, a typed scalar parameter given by `launch`
  ListDim,     ///< `index` = dim id, operand = element number
  ListLen,     ///< `index` = tensor id
  BlockId,     ///< `index` = axis
  NumBlocks,   ///< `index` = axis
  SmCount,
  Iota, ///< type index[n]: 0 .. n-1; where n is kDynamic (references), operand 0 is n
  // elementwise, one operand
  Neg,
  Not,
  BitNot,
  Abs,
  Exp,
  Exp2,
  Log,
  Log2,
  Sqrt,
  Rsqrt,
  Sin,
  Cos,
  Tanh,
  Erf,
  Sigmoid,
  Floor,
  Ceil,
  Round,
  Trunc,
  IsNan,
  Pow2Ceil,
  // elementwise, two operands of one dtype. Comparisons give bool. And/Or/Xor on bool are logical
  Add,
  Sub,
  Mul,
  Div,
  FloorDiv,
  Mod,
  Pow,
  And,
  Or,
  Xor,
  Shl,
  Shr,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Min,
  Max,
  FMin,
  FMax,
  CDiv,
  // elementwise, three operands
  Fma,
  Select, ///< condition, then, else
  // conversion
  Convert, ///< to type.dtype; `rounding`, `saturate`; `exact`: an index met an integer dtype, a value that does not fit is an error
  Bitcast, ///< same size: elementwise; else the last axis is rescaled
  // shape. In a reference type.shape may be dynamic: then Broadcast and Reshape have every extent, an index scalar an axis, as
  // operands 1, 2 ...
  Broadcast, ///< to type.shape; operand extents 1 (or missing in front, or a scalar) are repeated
  Reshape,   ///< to type.shape, row-major order kept; one extent operand may be the constant -1: what is left
  Permute,   ///< `ints` = permutation: result axis i is operand axis ints[i]
  Cat,       ///< `index` = axis
  Extract,   ///< `ints` = offsets (compile-time), type.shape = sizes
  ValueIndex, ///< references only: operand 0 indexed by `items` (NumPy rules, `None` = NewAxis)
  // reductions: `ints` = axes (kept with extent 1); `wholeTile`: every axis, result a scalar. Accumulate in `accType`.
  Sum,
  Prod,
  ReduceMax,
  ReduceMin,
  ArgMax,
  ArgMin,
  Any,
  All,
  Reduce, ///< operands: tiles..., then init scalars...; `lambda` combines scalars (acc..., x...) -> acc...; `index` = axis or -1; one
          ///< tile gives a tile, several a tuple (Scan likewise)
  // scans, same shape as the operand
  CumSum,    ///< `index` = axis, `reverse`
  Scan,      ///< operands: tiles..., then inits...; `lambda`; `index` = axis; `reverse`
  Sort,      ///< `index` = axis, `reverse` = descending; stable, NaN last
  TopK,      ///< `index` = axis, ints[0] = k; a tuple (values, index): the largest, first of equals first
  Histogram, ///< operand: integer tile; ints[0] = bins; i32[bins]; values outside are dropped
  // tuples
  MakeTuple,
  TupleGet, ///< `index`
  // matrix product
  Mma,       ///< a, b, acc; `precision`. 2-D or with equal leading batch axes
  MmaScaled, ///< a, scaleA, b, scaleB, acc
  MatMul,    ///< references: NumPy `@`
  // random
  Philox,  ///< seed, c; ints[0] = bits; u32/u16/u8
  Uniform, ///< seed, c; ints[0] = bits; f32 in [0, 1)
  // views (type.kind == View; they cost nothing; a `let` may bind one to a local). A dim written `B|1` has the extent B everywhere:
  // where the tensor's is 1, whoever binds arguments gives it stride 0
  Tensor,      ///< `index` = tensor id of the op, or (with `isKernelParam`) of the kernel: the whole tensor
  ListElement, ///< `index` = tensor id of a list, operand = element number
  ViewIndex,   ///< operand 0 = view; `items`
  ViewTile,    ///< operand 0 = view; `ints` = tile sizes
  ViewPermute, ///< operand 0 = view; `ints` = permutation
  // memory. A view here is a region: every axis has a static extent. Elements outside the view's bounds read as `pad` and are not written
  Load,  ///< view, pad scalar, [mask bool tile] (`hasMask`). In a reference also a view of dynamic shape
  Store, ///< view, tile, [mask]; the tile has the view's dtype and shape; Void
  AtomicAdd,
  AtomicMin,
  AtomicMax,
  AtomicAnd,
  AtomicOr,
  AtomicXor,
  AtomicExchange, ///< view, tile, [mask]; old values
  AtomicCas,      ///< view, compare, value, [mask]; old values
  // facts and checks
  Assume,
  Assert, ///< condition (scalar or tile: all of it); `text`
  Print,  ///< operands; `text` = format with `{}`
  InlinePtx, ///< operands of one shape; `text`; elementwise: the meaning is `lambda` over scalars, one an operand
  // host expressions only. There every integer is index, every float f64
  ListSum,  ///< operands lo, hi; `lambda` of one local (the element number) summed over lo .. hi
  Present,  ///< `index` = tensor id: was the optional tensor given; bool
  SizeOf,   ///< `index` = type var id: bytes of an element; index
  TypeCode, ///< `index` = type var id: the number of its DType, to compare with one; index
};

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>; ///< shared: a checked tree is immutable once made

/// One axis of ViewIndex or ValueIndex. Extents of Span are compile-time in kernels.
struct IndexItem {
  enum Kind : uint8_t { Point, Span, Gather, Bounds, Whole, NewAxis } kind = Whole;
  ExprPtr first;      ///< Point, Gather: the index. Span: start. Bounds: lo or null
  ExprPtr second;     ///< Bounds: hi or null
  int64_t length = 0; ///< Span: static length (kDynamic never)
  SourceRange range;
};

enum class Rounding : uint8_t { NearestEven, TowardZero, Down, Up };
enum class Precision : uint8_t { Default, Ieee, Tf32, Tf32x3, Promoted, Fast };

struct Stmt;
using StmtPtr = std::shared_ptr<const Stmt>;
using Block = std::vector<StmtPtr>;

/// A small pure function: the combiner of reduce/scan, the meaning of inline_ptx. Its params are locals of the enclosing body.
struct Lambda {
  std::vector<int64_t> params;
  Block body;
  std::vector<ExprPtr> results;
};

struct Expr {
  Op op = Op::Const;
  Type type;
  SourceRange range;
  std::vector<ExprPtr> operands;
  Constant constant;
  int64_t index = 0;
  std::vector<int64_t> ints;
  std::vector<IndexItem> items;
  std::string text;
  std::shared_ptr<const Lambda> lambda;
  DType accType = DType::F32;
  Rounding rounding = Rounding::NearestEven;
  Precision precision = Precision::Default;
  bool saturate = true, reverse = false, hasMask = false, wholeTile = false, isKernelParam = false,
       exact = false;
};

// ---------------------------------------------------------------- statements

struct Stmt {
  enum Kind : uint8_t {
    Let,    ///< locals[index] = value, once
    Assign, ///< the same for a `var`
    Eval,   ///< value for its effect: Store, atomics, Assert, Print ...
    For,    ///< locals[index] from lo to hi step step (index scalars); `body`
    While,  ///< `condBlock` runs, then `value` decides; `body`
    If,     ///< value; body, elseBody
    Break,
    Continue,
    Return, ///< these three are the last of their Block
    WriteWhole, ///< references: tensor `index` = value (broadcast to the tensor's shape, converted by Convert before)
    WriteView, ///< references: region `view` = value
    // plans only
    Scratch, ///< kernel-visible buffer `index` of Plan::scratch
    Launch,  ///< Plan::launches[index]
  } kind = Eval;
  SourceRange range;
  int64_t index = -1;
  ExprPtr value, view, lo, hi, step;
  Block condBlock, body, elseBody;
};

struct Local {
  std::string name;
  Type type;
  bool isVar = false;
  SourceRange range;
  bool isTemporary = false; ///< named by the checker, not by the author
};

// ---------------------------------------------------------------- bodies

struct Body {
  std::vector<Local> locals;
  Block block;
};

struct MathFlags {
  bool approx = false, ftz = false, contract = false;
};

/// A value of a kernel's schedule knob (`warps`, `stages` ...) or tile parameter, by name.
struct NamedInt {
  std::string name;
  int64_t value = 0;
  bool operator==(const NamedInt &) const = default;
};

/// Which variant of an op is meant: everything that is fixed at compile time, for checking and for lowering.
struct Specialization {
  std::vector<DType> dtypes;      ///< by OpModel::typeVars
  std::vector<Constant> consts;   ///< by OpModel::scalars; run-time scalars have a don't-care entry
  std::vector<int64_t> constDims; ///< by OpModel::dims; kDynamic for run-time ones
  std::vector<bool> present;      ///< by OpModel::tensors; true for every non-optional one
  int64_t kernel = -1;            ///< OpModel::kernels index; -1 for the reference
  std::vector<NamedInt> params;   ///< tile parameters, derived ones included
  std::vector<NamedInt> knobs;    ///< schedule knobs
  bool operator==(const Specialization &) const = default;
};

/// A typed parameter of a kernel that a plan launches. After the ones written come index scalars for the dim names that first stand
/// in a tensor parameter's type: their LaunchArgs are made from the tensor given.
struct KernelParam {
  std::string name;
  bool isTensor = false;
  DType dtype = DType::F32;
  std::vector<ExprPtr> dims; ///< host expressions
};

struct Kernel : Body {
  std::string name;
  Specialization spec;
  std::vector<ExprPtr> grid; ///< host expressions over dims, scalars and tile parameters (folded); 1 to 3
  MathFlags math;
  std::vector<KernelParam> params;
  size_t boundNames = 0; ///< of `params`, the last: dim names that stand in types of tensor parameters
};

struct ScratchBuffer {
  std::string name;
  DType dtype = DType::F32;
  std::vector<ExprPtr> dims;
};
/// One launch of a plan: each typed parameter is a tensor of the op, a scratch buffer, or a scalar expression.
struct LaunchArg {
  enum Kind : uint8_t { Scalar, ScratchRef, View } kind = Scalar;
  int64_t scratch = -1;
  ExprPtr value;          ///< Scalar: the expression. View: a view of an op's tensor
  bool isWritten = false; ///< a tensor that the kernel stores to
};
struct Launch {
  std::shared_ptr<const Kernel> kernel;
  std::vector<LaunchArg> args;
};
struct Plan : Body {
  std::string name;
  Specialization spec;
  std::vector<ScratchBuffer> scratch;
  std::vector<Launch> launches;
};

struct Reference : Body {
  Specialization spec;
};

} // namespace tilegym::sem
