// SPDX-License-Identifier: MIT
// The checker of bodies (kernels, plans, references): a walk over the syntax tree that emits the checked tree. One class, since all of
// it shares scopes, the block being emitted and the operator rules; its functions are grouped by family into files, named at each group.
#pragma once
#include "compiler/semantics/Builtins.h"
#include "compiler/semantics/OpModel.h"
#include "compiler/semantics/Operators.h"
#include "compiler/semantics/TileShape.h"
#include <map>
#include <unordered_map>
#include <utility>

namespace tilegym::sem {

/// What an expression of the source means while it is checked. Tuples, dtypes and functions exist only here, not in the checked tree.
struct Value {
  enum Kind : uint8_t {
    Invalid,    ///< an error has been reported
    Nothing,    ///< a call without a value
    Data,       ///< `data`: a tile, a scalar or a view
    Tuple,      ///< `elements`; also a list in brackets
    TypeName,   ///< `dtype`
    Function,   ///< `function`
    Text,       ///< `text`
    ListTensor, ///< `id`: a tensor parameter that is a list
    ElementDim, ///< `id`: a dim that each element of a list has for itself
    Scratch,    ///< `id`: a buffer of the plan
    Absent,     ///< `id`: an optional tensor that this specialization does not have
  } kind = Invalid;
  Operand data;
  std::vector<Value> elements;
  DType dtype = DType::F32;
  const ast::FnDecl *function = nullptr;
  std::string text;
  int64_t id = -1;
  Value() = default;
  Value(Operand operand) : kind(operand ? Data : Invalid), data(std::move(operand)) {}
  explicit operator bool() const { return kind != Invalid; }
  static Value nothing() {
    Value value;
    value.kind = Nothing;
    return value;
  }
  static Value tuple(std::vector<Value> elements) {
    Value value;
    value.kind = Tuple;
    value.elements = std::move(elements);
    return value;
  }
};

struct Symbol {
  Value value;
  SourceRange range;
  bool isVar = false;
  const char *noun = "name"; ///< for diagnostics: "let", "loop variable", "parameter"
};

/// A shape argument. `operands` holds every extent where one of them is dynamic (references only).
struct ShapeArgument {
  std::vector<int64_t> extents;
  std::vector<ExprPtr> operands;
};

/// Where a view's elements live: a tensor of the op, or a typed parameter of the kernel.
struct ViewRoot {
  bool isKernelParam = false;
  int64_t id = -1;
};

class BodyChecker {
public:
  enum class Kind : uint8_t { Kernel, Reference, Plan };
  BodyChecker(const OpModel &op, const Specialization &spec, Kind kind, Body &body);

  bool checkReference(const ast::ReferenceDecl &decl);
  bool checkKernel(const ast::KernelDecl &decl, Kernel &kernel);
  bool checkPlan(const ast::KernelDecl &decl, Plan &plan);
  /// Hands the diagnostics over, with a note for each call that was being inlined.
  void report(DiagnosticSink &to) const;
  /// This kernel is checked for a plan: it may write a part of the outputs only.
  void setLaunched(bool value) { launched = value; }

private:
  // ---- Bodies.cpp: parts of the three entry points
  void declareTileParams(const ast::KernelDecl &decl);
  void declareTypedParams(const ast::KernelDecl &decl);
  void declareTensorParam(const ast::KernelParam &param, size_t index);
  bool checkOutputsWritten(SourceRange range, const std::string &who);

  // ---- Names.cpp: scopes and what names mean
  struct Scope {
    std::map<std::string, Symbol, std::less<>> symbols;
    bool isFunction = false; ///< lookup stops here
    bool isLibrary = false;  ///< and does not see the op
  };
  struct ScopeGuard;
  Symbol *findLocal(std::string_view name);
  bool seesOp() const;
  std::optional<Value> findOpName(std::string_view name, SourceRange range);
  const ast::FnDecl *findFunction(std::string_view name) const;
  bool isLibraryFunction(const ast::FnDecl *fn) const;
  Value nameValue(const ast::Name &e);
  Value unknownName(std::string_view name, SourceRange range, bool called);
  Value tensorValue(int64_t id, SourceRange range);
  Operand dimValue(int64_t id, SourceRange range);
  Value scalarValue(int64_t id, SourceRange range);
  Type tensorType(int64_t id) const;
  DType dtypeOf(int64_t typeVar) const;
  std::optional<DType> dtypeNamed(std::string_view name) const;
  void declare(const ast::BoundName &name, Value value, bool isVar, const char *noun);

  // ---- Expressions.cpp
  Value check(const ast::Expr *e);
  Value checkUnlimited(const ast::Expr &e);
  Value checkBinary(const ast::Binary &e);
  Value checkMember(const ast::Member &e);
  Value checkCall(const ast::Call &e);
  Value checkBuiltin(const BuiltinInfo &info, const ast::Call &e);
  Value checkConversion(DType to, const ast::Call &e);
  Value checkComprehension(const ast::Call &e, const ast::Comprehension &c);
  std::optional<Value> enumComparison(const ast::Binary &e);
  /// A tile or scalar; in a reference a tensor is read.
  /// f8 is stored, converted and multiplied by mma; it has no arithmetic of its own.
  bool hasArithmetic(const Operand &x, std::string_view what, SourceRange range);
  Operand asValue(const Value &value, SourceRange range, std::string_view what);
  Operand checkValue(const ast::Expr *e, std::string_view what);
  Operand checkScalar(const ast::Expr *e, std::string_view what);
  std::optional<int64_t> checkConstInt(const ast::Expr *e, std::string_view what);
  std::optional<bool> checkConstBool(const ast::Expr *e, std::string_view what);
  std::optional<std::vector<int64_t>> checkConstInts(const ast::Expr *e, std::string_view what);
  std::optional<DType> checkDType(const ast::Expr *e, std::string_view what);
  std::optional<ShapeArgument> checkShape(const ast::Expr *e, std::string_view what, bool mayInfer = false);
  std::optional<int64_t> checkAxis(const ast::Expr *e, int64_t rank, std::string_view what);
  std::optional<std::string> checkText(const ast::Expr *e, std::string_view what);
  /// A scalar that the host can evaluate: dims, scalars, consts, tile parameters.
  ExprPtr checkHost(const ast::Expr *e, std::string_view what);
  ExprPtr checkDetached(const ast::Expr *e, std::string_view what);
  bool isHost(const Expr &e, std::vector<int64_t> &known, int64_t &budget);

  // ---- Functions.cpp: inlining
  Value callFunction(const ast::FnDecl &fn, const ast::Call &e);
  Value inlineFunction(const ast::FnDecl &fn, std::vector<Value> args, SourceRange range);
  const ast::FnDecl *checkCombiner(const ast::Expr *e, std::string_view what);
  std::shared_ptr<const Lambda> makeLambda(const ast::FnDecl &fn, const std::vector<DType> &params,
                                           const std::vector<DType> &results, SourceRange range);
  Value inlinePtx(const BoundArguments &args, const ast::Call &e);

  // ---- Statements.cpp
  void checkBlock(const ast::Block &block);
  void checkStmt(const ast::Stmt &stmt);
  void checkLet(const std::vector<ast::BoundName> &names, bool isTuple, const ast::Expr *value,
                SourceRange range, bool isVar);
  void declareLet(const ast::BoundName &name, const Value &value, SourceRange range);
  void declareVar(const ast::BoundName &name, const Value &value, SourceRange range);
  void checkAssign(const ast::Assign &stmt);
  void assign(const ast::Expr &target, const Value &value, SourceRange range, SourceRange valueRange);
  void assignTensor(const ast::Expr &target, const Value &value, SourceRange range, SourceRange valueRange);
  void checkExprStmt(const ast::ExprStmt &stmt);
  void checkFor(const ast::For &stmt);
  void checkConstFor(const ast::For &stmt);
  void checkWhile(const ast::While &stmt);
  void checkIf(const ast::If &stmt, bool inConstChain = false);
  void checkMath(const ast::Math &stmt);

  // ---- families of builtins
  Value elementwise(const BuiltinInfo &info, const BoundArguments &args,
                    SourceRange range); // ElementwiseOps.cpp
  Value selectOp(const BoundArguments &args, SourceRange range);
  Value conversionOp(Builtin id, const BoundArguments &args, SourceRange range);
  Value shapeOp(Builtin id, const BoundArguments &args, SourceRange range); // ShapeOps.cpp
  Value filled(Operand value, const ShapeArgument &shape, SourceRange range);
  Value reshapeOp(Operand x, const ast::Expr *shape, SourceRange range);
  Value permuteValue(Operand x, const std::vector<int64_t> &axes, SourceRange range);
  Value catOp(const BoundArguments &args, SourceRange range);
  Value splitOp(const BoundArguments &args, SourceRange range);
  Value extractOp(const BoundArguments &args, SourceRange range);
  Operand reshapeTo(Operand x, std::vector<int64_t> shape, SourceRange range);
  Value reduction(const BuiltinInfo &info, const BoundArguments &args, SourceRange range); // Reductions.cpp
  Value combineOp(const BuiltinInfo &info, const BoundArguments &args, SourceRange range);
  Value customReduction(bool isScan, const BoundArguments &args, SourceRange range);
  std::optional<int64_t> scanAxis(const ast::Expr *axis, const Operand &x, std::string_view what,
                                  SourceRange range);
  Value matmulOp(Builtin id, const BoundArguments &args, SourceRange range); // Products.cpp
  Value scaledMatmul(const BoundArguments &args, SourceRange range);
  Value randomOp(Builtin id, const BoundArguments &args, SourceRange range);
  Value programOp(Builtin id, const BoundArguments &args, SourceRange range); // ProgramOps.cpp
  Value gridOp(const ast::Call &e);
  Value swizzleOp(const BoundArguments &args, SourceRange range);
  Value factsOp(Builtin id, const BoundArguments &args, const ast::Call &e);
  Value memoryOp(Builtin id, const BoundArguments &args, SourceRange range); // MemoryOps.cpp
  Value loadOp(const BoundArguments &args, SourceRange range);
  Value storeOp(const BoundArguments &args, SourceRange range);
  Value atomicOp(Builtin id, const BoundArguments &args, SourceRange range);
  Operand checkRegion(const ast::Expr *e, std::string_view what);
  bool checkWritable(const Operand &region, SourceRange range, std::string_view what);
  Operand fitTo(Operand value, const std::vector<int64_t> &shape, std::string_view what);
  Operand storedValue(Operand value, DType to, std::string_view what);
  bool addMask(const ast::Expr *mask, const std::vector<int64_t> &shape, Expr &access);

  // ---- Views.cpp, Indexing.cpp
  Value checkIndex(const ast::Index &e);
  Value indexView(Operand view, const ast::Index &e);
  Value indexTiled(Operand view, const ast::Index &e);
  Value indexValue(Operand value, const ast::Index &e);
  Value indexKernelValue(Operand value, const ast::Index &e);
  std::optional<Type> indexedType(const Type &base, const ast::Index &e, bool isView,
                                  std::vector<IndexItem> &items);
  Value tileView(Operand view, const ast::Call &e);
  Value permuteMember(const Value &base, const ast::Call &e);
  std::optional<std::vector<int64_t>> permutation(const std::vector<const ast::Expr *> &axes, int64_t rank,
                                                  SourceRange range);
  Operand permuteView(Operand view, std::vector<int64_t> axes, SourceRange range);
  Operand readView(Operand view, SourceRange range);
  std::optional<ViewRoot> rootOf(const Expr *view) const;

  // ---- Plans.cpp
  void checkScratch(const ast::Scratch &stmt);
  void checkLaunch(const ast::Launch &stmt);
  bool bindTileParams(const ast::Launch &stmt, const ast::KernelDecl &target, Specialization &targetSpec);
  std::optional<LaunchArg> launchArgument(const ast::Expr *e, const KernelParam &param, bool isWritten,
                                          std::vector<ExprPtr> &extents);
  bool checkExtents(const ast::Launch &stmt, const Kernel &target, const std::vector<LaunchArg> &args,
                    const std::vector<std::vector<ExprPtr>> &extents);
  std::vector<ExprPtr> extentsOf(const ExprPtr &view);
  ExprPtr boundedExtent(const IndexItem &item, const ExprPtr &axis);

  // ---- emission
  Stmt &emit(Stmt::Kind kind, SourceRange range);
  int64_t newLocal(std::string name, Type type, bool isVar, SourceRange range);
  Operand localValue(int64_t local, SourceRange range) const;
  /// The value in a local of its own, so that it is computed once and now. Leaves stay as they are.
  Operand bind(Operand value, std::string_view name, SourceRange range, bool isTemporary = false);
  Value snapshot(const Value &value, std::string_view name, SourceRange range);
  Value tupleResult(ExprPtr tuple, std::string_view name);
  bool mayHaveEffects(SourceRange range, std::string_view what);
  std::shared_ptr<Expr> make(Op operation, Type type, std::vector<ExprPtr> operands, SourceRange range) const;
  Diagnostic &error(SourceRange range, std::string message, std::string help = {}) {
    return diagnostics.error(range, std::move(message), std::move(help));
  }
  /// Reports an illegal shape: at the line of `tune` that gives the extent, where one does, with a note of its use.
  void shapeError(SourceRange use, const ShapeFault &fault);
  bool inKernel() const { return kind == Kind::Kernel; }
  bool inReference() const { return kind == Kind::Reference; }

  const OpModel &op;
  const Specialization &spec;
  const Kind kind;
  Body &body;
  DiagnosticSink diagnostics;
  Operators ops;
  Kernel *kernel = nullptr;
  Plan *plan = nullptr;

  std::vector<Scope> scopes;
  std::vector<const ast::FnDecl *> inlining;
  /// By number of the diagnostic: the calls under which it arose, innermost first.
  std::map<size_t, std::vector<std::pair<std::string, SourceRange>>> callNotes;
  std::unordered_map<int64_t, ExprPtr> letValues; ///< of locals that hold views
  /// The kernel's hidden parameters: the typed tensor parameter and axis that bind each.
  std::vector<std::pair<size_t, size_t>> boundDims;
  std::vector<bool> written;         ///< by OpModel::tensors: stored, updated or assigned somewhere
  std::vector<bool> writtenParams;   ///< by Kernel::params
  Block *block = nullptr;            ///< where statements go; null in host expressions, which have none
  Block unreachable;                 ///< what is emitted after a `return`, `break` or `continue` goes here
  const char *pureContext = nullptr; ///< why effects are forbidden here, if they are
  int depth = 0;                     ///< of check and checkStmt
  int loopDepth = 0;                 ///< runtime loops that `break` can leave
  int deadDepth = 0;                 ///< inside the branch of a `select` that a constant rules out
  int64_t steps = 0;                 ///< expressions and statements checked so far
  bool tooLarge = false;
  bool gridSeen = false, headOver = false;
  bool launched = false;
};

struct BodyChecker::ScopeGuard {
  explicit ScopeGuard(BodyChecker &checker, bool isFunction = false, bool isLibrary = false)
      : checker(checker) {
    checker.scopes.push_back({{}, isFunction, isLibrary});
  }
  ~ScopeGuard() { checker.scopes.pop_back(); }
  ScopeGuard(const ScopeGuard &) = delete;
  BodyChecker &checker;
};

/// "`name`", as diagnostics cite it.
inline std::string quoted(std::string_view name) { return "`" + std::string(name) + "`"; }

} // namespace tilegym::sem
