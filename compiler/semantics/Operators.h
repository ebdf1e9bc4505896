// SPDX-License-Identifier: MIT
// Typing rules of literals, operators and conversions, for host expressions and bodies alike, with constants folded. The rules in
// one place: operands have one dtype; an untyped literal takes the other side's; `index` meets any integer dtype by taking it;
// everything else must be converted by name.
#pragma once
#include "compiler/semantics/ConstFold.h"
#include "compiler/syntax/AST.h"
#include "compiler/syntax/Diagnostic.h"
#include <initializer_list>
#include <span>

namespace tilegym::sem {

/// An expression while it is checked. An untyped literal is a Const of dtype index (u64 above 2^63), f64 or bool.
struct Operand {
  ExprPtr expr; ///< null: an error has been reported; every function here passes it on silently
  bool literal = false;
  explicit operator bool() const { return expr != nullptr; }
  const Type &type() const { return expr->type; }
  DType dtype() const { return expr->type.dtype; }
  const Constant *constant() const { return expr && expr->op == Op::Const ? &expr->constant : nullptr; }
};

/// Where an expression stands decides what shapes do.
enum class ShapeMode : uint8_t {
  Host,   ///< scalars only
  Kernel, ///< static tiles; a Broadcast node makes shapes equal
  Whole,  ///< references: extents may be dynamic, elementwise ops broadcast at run time
};

Type scalarType(DType dtype);
Type tileType(DType dtype, std::vector<int64_t> shape);
ExprPtr makeConst(DType dtype, Constant value, SourceRange range);
ExprPtr makeExpr(Op op, Type type, std::vector<ExprPtr> operands, SourceRange range);

class Operators {
public:
  Operators(DiagnosticSink &sink, ShapeMode mode) : sink(sink), mode(mode) {}

  // Literals. `inf`, `nan`, `PI`, `LOG2E` are float literals too.
  Operand literal(const ast::IntLiteral &e);
  Operand literal(const ast::FloatLiteral &e);
  Operand literal(const ast::BoolLiteral &e);
  Operand intLiteral(int64_t value, SourceRange range);
  Operand floatLiteral(double value, SourceRange range);

  /// The operators as written. `range` is the whole expression.
  Operand unary(ast::UnaryOp op, Operand x, SourceRange range);
  Operand binary(ast::BinaryOp op, Operand a, Operand b, SourceRange range);

  /// Elementwise operations by code, for builtins (min, cdiv, exp, ...): dtypes and shapes made equal, constants folded.
  /// `what` names it in errors: "`max`". The caller has checked which dtypes the operation takes.
  Operand elementwise(Op op, std::string_view what, std::initializer_list<Operand> operands,
                      SourceRange range);
  Operand select(Operand condition, Operand a, Operand b, SourceRange range);

  /// `f32(x)`: an explicit conversion, from any numeric dtype to any.
  Operand convert(Operand x, DType to, SourceRange range, Rounding rounding = Rounding::NearestEven,
                  bool saturate = true);
  /// Where a dtype is required (a store's tile, an assignment, an argument): literals and index take it, others must have it.
  /// `what` says who wants it: "the pad".
  Operand require(Operand x, DType to, std::string_view what);
  /// Literals to their default dtype: index, f32 or bool.
  Operand settle(Operand x);
  /// One dtype for all, in place; false after an error.
  bool unifyDTypes(std::span<Operand *const> operands, std::string_view what, SourceRange range);

  /// NumPy broadcasting of two shapes; nullopt if they do not fit.
  static std::optional<std::vector<int64_t>> broadcastShapes(const std::vector<int64_t> &a,
                                                             const std::vector<int64_t> &b);
  /// In a kernel: a Broadcast node if the shape differs. In a reference: unchanged. An error where the shapes do not fit.
  Operand broadcastTo(Operand x, const std::vector<int64_t> &shape, std::string_view what);
  /// One shape for all, in place; false after an error.
  bool unifyShapes(std::span<Operand *const> operands, std::string_view what, SourceRange range,
                   std::vector<int64_t> &shape);

  /// A compile-time integer (of index or an integer dtype); reports `what` otherwise.
  std::optional<int64_t> requireConstInt(const Operand &x, std::string_view what);
  /// A scalar of dtype index, for extents, loop bounds and positions. Other integer dtypes must be converted by `index(x)`.
  Operand requireIndex(Operand x, std::string_view what);
  /// A bool, scalar or tile.
  Operand requireBool(Operand x, std::string_view what);

private:
  bool isValue(const Operand &x, std::string_view what);
  Operand adopt(const Operand &x, DType to);
  Operand fold(Op op, const Type &type, std::vector<ExprPtr> operands, bool literal, SourceRange range);
  Operand matmul(Operand a, Operand b, SourceRange range);
  Operand failure(SourceRange range, std::string message, std::string help = {});

  DiagnosticSink &sink;
  ShapeMode mode;
};

} // namespace tilegym::sem
