// SPDX-License-Identifier: MIT
// The syntax tree of a spec, as written: no names resolved, no types. The parser builds it, the printer turns it back into
// text, semantics reads it. Expressions and statements are small classes told apart by `kind` (use dynCast<T>).
#pragma once
#include "compiler/syntax/Source.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilegym::ast {

inline constexpr uint32_t maxExprHeight = 256; ///< deeper expressions are an error, not a stack overflow
inline constexpr uint32_t maxBlockDepth = 64;  ///< the same for `{ }` inside `{ }`

/// What the formatter must keep around a statement, setting or declaration. Comments are as written, `#` included;
/// an empty string is a blank line between comments.
struct Trivia {
  std::vector<std::string> comments; ///< lines above it (and any found inside it)
  std::string trailingComment;       ///< after it, on its last line
  bool blankBefore = false;          ///< an empty line above it
  bool joined = false;               ///< written after `;` on the line of the one before
};

// ---------------------------------------------------------------- expressions

enum class ExprKind {
  IntLiteral,
  FloatLiteral,
  BoolLiteral,
  StringLiteral,
  Name,
  Unary,
  Binary,
  Call,
  Member,
  Index,
  Tuple,
  List,
  Range,
  Comprehension,
};

struct Expr {
  ExprKind kind;
  SourceRange range;
  bool parens =
      false; ///< written in parentheses of its own, which the formatter keeps; `range` includes them
  /// Longest path down to a leaf. The parser bounds it (maxExprHeight), so everyone may recurse over expressions.
  uint32_t height = 1;
  virtual ~Expr() = default;

protected:
  Expr(ExprKind kind, SourceRange range) : kind(kind), range(range) {}
};
using ExprPtr = std::unique_ptr<Expr>;

template <class T> const T *dynCast(const Expr *e) {
  return e && e->kind == T::Kind ? static_cast<const T *>(e) : nullptr;
}
template <class T> T *dynCast(Expr *e) { return e && e->kind == T::Kind ? static_cast<T *>(e) : nullptr; }

template <ExprKind K> struct ExprOf : Expr {
  static constexpr ExprKind Kind = K;
  explicit ExprOf(SourceRange range) : Expr(K, range) {}
};

struct IntLiteral : ExprOf<ExprKind::IntLiteral> {
  using ExprOf::ExprOf;
  uint64_t value = 0;
  std::string text; ///< as written: `0x10`, `1_000`
};
struct FloatLiteral : ExprOf<ExprKind::FloatLiteral> {
  using ExprOf::ExprOf;
  double value = 0;
  std::string text;
};
struct BoolLiteral : ExprOf<ExprKind::BoolLiteral> {
  using ExprOf::ExprOf;
  bool value = false;
};
struct StringLiteral : ExprOf<ExprKind::StringLiteral> {
  using ExprOf::ExprOf;
  std::string value;
};
/// Any identifier, dtype names, `inf`, `nan`, `PI`, `LOG2E`, `none`, `None`, `all`, `last` included: semantics tells them apart.
struct Name : ExprOf<ExprKind::Name> {
  using ExprOf::ExprOf;
  std::string name;
};

enum class UnaryOp { Neg, Not, BitNot }; ///< `-`, `!`, `~`
enum class BinaryOp {
  Add,
  Sub,
  Mul,
  Div,
  FloorDiv,
  Mod,
  Pow,
  MatMul, // + - * / // % ** @
  BitAnd,
  BitOr,
  BitXor,
  Shl,
  Shr, // & | ^ << >>
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge, // == != < <= > >=
};
const char *spelling(UnaryOp op);
const char *spelling(BinaryOp op);

struct Unary : ExprOf<ExprKind::Unary> {
  using ExprOf::ExprOf;
  UnaryOp op = UnaryOp::Neg;
  ExprPtr operand;
};
struct Binary : ExprOf<ExprKind::Binary> {
  using ExprOf::ExprOf;
  BinaryOp op = BinaryOp::Add;
  SourceRange opRange;
  ExprPtr lhs, rhs;
};

/// An argument; `name` is empty for a positional one.
struct Arg {
  std::string name;
  SourceRange nameRange;
  ExprPtr value;
};
/// `callee(args)`. The callee is a Name or a Member (`x.tile(...)`). `inline_ptx("...", a) reference expr` keeps expr in `reference`.
struct Call : ExprOf<ExprKind::Call> {
  using ExprOf::ExprOf;
  ExprPtr callee;
  std::vector<Arg> args;
  ExprPtr reference;
};
/// `base.name`, e.g. `x.T`.
struct Member : ExprOf<ExprKind::Member> {
  using ExprOf::ExprOf;
  ExprPtr base;
  std::string name;
  SourceRange nameRange;
};

/// One axis of an index: `e` (integer, integer tile, or `None` for a new axis), `start :+ length`, `lo : hi`, or `:`.
struct IndexItem {
  enum Kind { Value, Span, Bounds, Whole } kind = Value;
  SourceRange range;
  ExprPtr first, second; ///< Value: first. Span: start, length. Bounds: lo, hi (either may be null).
};
struct Index : ExprOf<ExprKind::Index> {
  using ExprOf::ExprOf;
  ExprPtr base;
  std::vector<IndexItem> items;
};
struct Tuple : ExprOf<ExprKind::Tuple> { ///< `(a, b)`
  using ExprOf::ExprOf;
  std::vector<ExprPtr> elements;
};
struct List : ExprOf<ExprKind::List> { ///< `[a, b]`: shapes, permutations, literal tensors, candidate values
  using ExprOf::ExprOf;
  std::vector<ExprPtr> elements;
};
/// `lo .. hi` or `lo .. hi step s`.
struct Range : ExprOf<ExprKind::Range> {
  using ExprOf::ExprOf;
  ExprPtr lo, hi, step;
};
/// `g in lo .. hi: body`, only as the sole argument of a reduction such as `sum(...)`.
struct Comprehension : ExprOf<ExprKind::Comprehension> {
  using ExprOf::ExprOf;
  std::string var;
  SourceRange varRange;
  ExprPtr range_; ///< a Range
  ExprPtr body;
};

// ---------------------------------------------------------------- statements

enum class StmtKind {
  Let,
  Var,
  Assign,
  ExprStmt,
  For,
  While,
  If,
  Break,
  Continue,
  Return,
  Math,
  Scratch,
  Launch
};

struct Stmt : Trivia {
  StmtKind kind;
  SourceRange range;
  virtual ~Stmt() = default;

protected:
  Stmt(StmtKind kind, SourceRange range) : kind(kind), range(range) {}
};
using StmtPtr = std::unique_ptr<Stmt>;
template <class T> const T *dynCast(const Stmt *s) {
  return s && s->kind == T::Kind ? static_cast<const T *>(s) : nullptr;
}

template <StmtKind K> struct StmtOf : Stmt {
  static constexpr StmtKind Kind = K;
  explicit StmtOf(SourceRange range) : Stmt(K, range) {}
};

struct Block {
  SourceRange range;
  std::vector<StmtPtr> stmts;
  std::vector<std::string> endComments; ///< lines before the closing brace
  bool oneLine = false;                 ///< `{ ... }` written on one line
};

struct BoundName {
  std::string name;
  SourceRange range;
};

struct Let : StmtOf<StmtKind::Let> { ///< `let a = e` or `let (a, b) = e`
  using StmtOf::StmtOf;
  std::vector<BoundName> names;
  bool isTuple = false;
  ExprPtr value;
};
struct Var : StmtOf<StmtKind::Var> {
  using StmtOf::StmtOf;
  std::vector<BoundName> names;
  bool isTuple = false;
  ExprPtr value;
};
/// `name = e`, `(a, b) = e`, `y[i, a : b] = e`, and with `op` the compound forms `+=` and so on.
struct Assign : StmtOf<StmtKind::Assign> {
  using StmtOf::StmtOf;
  ExprPtr target;
  std::optional<BinaryOp> op;
  ExprPtr value;
};
struct ExprStmt : StmtOf<StmtKind::ExprStmt> { ///< a call, or (last in a `fn`) its value
  using StmtOf::StmtOf;
  ExprPtr value;
};
struct For : StmtOf<StmtKind::For> {
  using StmtOf::StmtOf;
  bool isConst = false;
  BoundName var;
  ExprPtr range_; ///< a Range
  Block body;
};
struct While : StmtOf<StmtKind::While> {
  using StmtOf::StmtOf;
  ExprPtr condition;
  Block body;
};
struct If : StmtOf<StmtKind::If> {
  using StmtOf::StmtOf;
  bool isConst = false;
  ExprPtr condition;
  Block thenBlock;
  bool hasElse = false;
  Block elseBlock; ///< `else if` is a block of one If
};
struct Break : StmtOf<StmtKind::Break> {
  using StmtOf::StmtOf;
};
struct Continue : StmtOf<StmtKind::Continue> {
  using StmtOf::StmtOf;
};
struct Return : StmtOf<StmtKind::Return> {
  using StmtOf::StmtOf;
};
struct Math : StmtOf<StmtKind::Math> { ///< `math approx, ftz, contract`
  using StmtOf::StmtOf;
  std::vector<BoundName> flags;
};

/// A tensor type as written: `T[*R, B|1, 2*H]?`.
struct DimSpec {
  SourceRange range;
  bool leading = false;    ///< `*R`
  bool orOne = false;      ///< `B|1`
  bool perElement = false; ///< `M[]` of a list: expr is the Name M
  ExprPtr expr;            ///< a Name (binds on first sight) or an integer expression
};
struct TensorType {
  SourceRange range;
  BoundName dtype;
  bool hasShape = false; ///< false: a scalar
  std::vector<DimSpec> dims;
  bool optional = false;
};
struct Scratch : StmtOf<StmtKind::Scratch> { ///< `scratch p: f32[B, D]`
  using StmtOf::StmtOf;
  BoundName name;
  TensorType type;
};
struct Launch : StmtOf<StmtKind::Launch> { ///< `launch partial(BN, p = p)`
  using StmtOf::StmtOf;
  BoundName kernel;
  std::vector<Arg> args;
};

// ---------------------------------------------------------------- declarations

struct Param : Trivia {
  SourceRange range;
  std::vector<std::string> doc; ///< `##` lines above it
  BoundName name;
  bool isConst = false, isInout = false, isList = false;
  TensorType type; ///< for an enum const (`none | mean | sum`) hasShape is false and dtype is empty
  std::vector<BoundName> enumerators; ///< `const reduction: none | mean | sum`
  ExprPtr defaultValue;               ///< scalars and consts; for an output `= 0` the fill value
};
/// `T: f32 | f16`, `D: 64 | 96`, or a condition with an optional text.
struct WhereItem {
  SourceRange range;
  BoundName name;               ///< empty for a condition
  std::vector<ExprPtr> choices; ///< Names or integers
  ExprPtr condition;
  std::string message;
};
/// What `serves` says of one name of another library's: `use_tma: ignored`, `input: x`.
struct ServesArg {
  enum class Use : uint8_t {
    Argument,   ///< is `target`; without a `:` that is the argument of its own name
    Ignored,    ///< `: ignored`
    Refused,    ///< `: none`: taken, but no other value than None
    Transposes, ///< `: transposes a`: where true, the last two axes of `target` change places
    InPlace ///< `: in_place unless training`: where true, or `target` false, outputs take the inputs they may alias
  };
  BoundName name;
  ExprPtr defaultValue;
  Use use = Use::Argument;
  BoundName target; ///< empty where `in_place` has no `unless`
};
/// `serves "liger.softmax"(x, eps=1e-6, use_tma: ignored) -> (y, none)`.
struct Serves {
  SourceRange range;
  std::string name;
  std::vector<ServesArg> args;
  std::vector<BoundName>
      results; ///< what it returns, where that is not the outputs as they come; empty name: None
  bool resultsParenthesised = false;
};
struct NamePair {
  BoundName from, to; ///< `y -> dy`, or `y alias x`
};
struct GradientOf {
  SourceRange range;
  BoundName op;
  std::vector<NamePair> outputs, inputs; ///< `y -> dy` before the `;`, `x -> dx` after it
};
struct OpDecl : Trivia {
  SourceRange range;
  std::vector<std::string> doc;
  BoundName name;
  std::vector<Param> params, results;
  bool resultsParenthesised = false;
  std::vector<WhereItem> where;
  std::vector<Serves> serves;
  std::optional<GradientOf> gradientOf;
  std::vector<NamePair> aliases;
  bool nondeterministic = false;
};
struct ReferenceDecl : Trivia {
  SourceRange range;
  std::vector<std::string> doc;
  Block body;
};
/// `kernel name(BM, BN = pow2ceil(N), p: f32[B]) when guard { ... }`; a plan has the same header.
struct KernelParam {
  SourceRange range;
  BoundName name;
  ExprPtr derived;                ///< `= e`, or null
  std::optional<TensorType> type; ///< typed: given by `launch`
};
struct KernelDecl : Trivia {
  SourceRange range;
  std::vector<std::string> doc;
  bool isPlan = false;
  BoundName name;
  std::vector<KernelParam> params;
  ExprPtr when; ///< or null
  Block body;
};
struct FnDecl : Trivia {
  SourceRange range;
  std::vector<std::string> doc;
  BoundName name;
  std::vector<BoundName> params;
  Block body;
};
struct UseDecl : Trivia {
  SourceRange range;
  BoundName name;
};
/// One line of `tune`, `test`, `case` or `bench`: `NAME in [..]`, `NAME in all`, `NAME = e`, `where e`.
struct Setting : Trivia {
  enum Kind { In, Equals, Where } kind = Equals;
  SourceRange range;
  BoundName name;
  ExprPtr value; ///< In: a List, a Range or the Name `all`
};
/// The braces of `tune`, `test`, `case`, `tolerance`, `bench` and `arch`, for the formatter.
struct Braces {
  std::vector<std::string> endComments;
  bool oneLine = false;
};
struct ArchSettings : Trivia { ///< `arch sm_90a { ... }`
  SourceRange range;
  Braces braces;
  BoundName arch;
  std::vector<Setting> settings;
};
struct TuneDecl : Trivia {
  Braces braces;
  SourceRange range;
  std::vector<std::string> doc;
  BoundName kernel;
  std::vector<Setting> settings;
  std::vector<ArchSettings> archs;
};
struct Case : Trivia {
  Braces braces;
  SourceRange range;
  std::string name;
  std::vector<Setting> settings;
  std::vector<Setting> expects; ///< `expect y = [[...]]`
};
struct Tolerance : Trivia {
  SourceRange range;
  BoundName dtype;
  ExprPtr value; ///< r, or a Tuple (rtol, atol)
};
struct External : Trivia { ///< `oracle torch "..."`, `peer triton "..."`
  SourceRange range;
  BoundName backend;
  std::string text;
};
struct TestDecl : Trivia {
  Braces braces;
  SourceRange range;
  std::vector<std::string> doc;
  std::vector<Setting> settings;
  std::vector<Case> cases;
  std::vector<Tolerance> tolerances;
  SourceRange toleranceRange; ///< the `tolerance { ... }` itself; its file is null where there is none
  Trivia toleranceTrivia;
  Braces toleranceBraces;
  std::vector<External> oracles;
};
struct BenchDecl : Trivia {
  Braces braces;
  SourceRange range;
  std::vector<std::string> doc;
  bool none = false; ///< `bench none "why"`
  std::string noneReason;
  std::vector<Setting> settings; ///< dims, dtypes, `bytes = `, `flops = `
  std::vector<External> peers;
};

/// A whole spec. `order` keeps the order of the sections for the printer and for kernels against plans.
struct Spec {
  std::shared_ptr<const SourceFile> file;
  std::vector<std::string> headComments; ///< `#` lines before everything
  std::vector<std::string> endComments;  ///< lines after the last section
  std::vector<UseDecl> uses;
  std::vector<FnDecl> fns;
  std::optional<OpDecl> op; ///< absent in a library file
  std::optional<ReferenceDecl> reference;
  std::vector<KernelDecl> kernels; ///< kernels and plans, in the order written
  std::vector<TuneDecl> tunes;
  std::optional<TestDecl> test;
  std::optional<BenchDecl> bench;
  enum class Section { Use, Fn, Op, Reference, Kernel, Tune, Test, Bench };
  std::vector<std::pair<Section, size_t>> order;
};

} // namespace tilegym::ast
