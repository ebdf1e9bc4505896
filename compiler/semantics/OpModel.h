// SPDX-License-Identifier: MIT
// An op's interface with names resolved: tensors, dims, scalars, checks, kernels and their guards. Made once a spec by
// `analyze`; from it `enumerate...` lists the variants and `instantiate...` makes checked trees. Everything here that a call
// evaluates (dims, guards, grids, checks) is a host expression: a sem::Expr over Dim, Scalar, Const and scalar operations.
#pragma once
#include "compiler/semantics/Checked.h"
#include "compiler/syntax/AST.h"
#include "compiler/syntax/Diagnostic.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilegym::sem {

/// `T` in `x: T[M, N]`. A fixed dtype is a type variable of its own with one choice and no name.
struct TypeVar {
  std::string name;
  std::vector<DType> choices;
  bool isArgument = false; ///< bound by no input: an argument of the call
};

struct DimVar {
  std::string name;
  std::vector<int64_t> choices; ///< `where D: 64 | 96`: compile-time; empty for a run-time dim
  bool isGroup = false;         ///< `*R`: any number of leading dims, seen by kernels as one
  bool perElement = false;      ///< a dim of list tensors: M[g]
  /// Where it takes its value: tensor id and axis as written. A tensor that is always given and an axis without `|1` are preferred;
  /// where every use says `|1`, the dim is the extent that is not 1; bound by absent optional tensors alone, it is 0.
  int64_t bindTensor = -1, bindAxis = -1;
};

/// One axis as written. After a group axis, axes are counted from the back.
struct DimUse {
  int64_t dim =
      -1;       ///< binds or must agree with this dim; -1: `expr` is checked (inputs) or computed (outputs)
  ExprPtr expr; ///< host expression; for dim >= 0 simply that dim
  bool orOne = false; ///< extent 1 is accepted and broadcasts
  bool isGroup = false;
  SourceRange range;
};

enum class Role : uint8_t { Input, Output, Inout };

struct TensorParam {
  std::string name;
  Role role = Role::Input;
  int64_t typeVar = 0;
  std::vector<DimUse> dims;
  bool optional = false, isList = false;
  std::optional<Constant> fill; ///< output filled before the first block
  int64_t aliasOf = -1;         ///< `y alias x`
  bool isTouched = true;        ///< false: the one kernel of this op, a launch of a plan, accesses it nowhere
  SourceRange range;
};

/// A scalar of the signature, in order of declaration. Consts (`isConst`) have their choices; an enum const counts its names from 0.
struct ScalarParam {
  std::string name;
  int64_t typeVar = 0; ///< dtype; Bool or I32 for consts
  bool isConst = false;
  std::vector<std::string> enumerators;
  std::vector<Constant> choices;
  std::optional<Constant> defaultValue;
  SourceRange range;
};

struct Check {
  ExprPtr condition;
  std::string message; ///< the author's, or the condition as written
  SourceRange range;
};

struct KernelModel {
  std::string name;
  bool isPlan = false;
  const ast::KernelDecl *decl = nullptr;
  std::vector<std::string> tileParams; ///< untyped, in order
  std::vector<ExprPtr> derived;        ///< by tileParams: host expression, or null for a tuned one
  bool launchedOnly = false;           ///< has typed parameters
  ExprPtr guard;                       ///< `when`, or null
  const ast::TuneDecl *tune = nullptr;
};

/// The order of arguments in every generated interface: params as written (tensors, scalars, consts), then outputs.
struct Argument {
  bool isTensor = true;
  int64_t id = 0; ///< tensor or scalar id
};

struct OpModel {
  std::string name;
  std::vector<std::string> doc;
  std::shared_ptr<const ast::Spec> spec; ///< keeps the tree (and its text) alive
  std::vector<std::shared_ptr<const ast::Spec>> libraries;
  std::vector<TypeVar> typeVars;
  std::vector<DimVar> dims;
  std::vector<TensorParam> tensors; ///< inputs and inouts, then outputs
  std::vector<ScalarParam> scalars;
  std::vector<Argument> arguments;
  std::vector<Check> checks;
  std::vector<KernelModel> kernels; ///< kernels and plans in the order of choice
  bool nondeterministic = false;
  bool isLaunch =
      false; ///< what a launch of a plan sees: typed parameters of its one kernel are tensors, scalars and dims here
  int64_t findTensor(std::string_view name) const;
  int64_t findScalar(std::string_view name) const;
  int64_t findDim(std::string_view name) const;
  int64_t findTypeVar(std::string_view name) const;
};

/// Where `use NAME` looks: libraries in memory, by name, then folders in order.
struct SearchPath {
  std::vector<std::string> libraryFolders;
  std::vector<std::pair<std::string, std::shared_ptr<const SourceFile>>> libraries;
};

/// Resolves names, dims, guards and sections (a missing section is an error that names it). Null if there were errors.
std::shared_ptr<const OpModel> analyze(std::shared_ptr<const ast::Spec> spec, const SearchPath &path,
                                       DiagnosticSink &sink);

/// All (dtypes, consts, const dims, presence) an op can be called with, kernel = -1: the reference's specializations.
std::vector<Specialization> enumerateInterfaces(const OpModel &op);

/// For one interface specialization and kernel: every value the derived parameters can take under the guard.
/// Tuned parameters are left out of `params`; see candidates().
std::vector<Specialization> enumerateDerived(const OpModel &op, const Specialization &interface,
                                             int64_t kernel);

/// The points of a kernel's `tune` section that satisfy its `where`, for one arch ("" = the common part): params and knobs completed.
std::vector<Specialization> candidates(const OpModel &op, const Specialization &base, std::string_view arch,
                                       DiagnosticSink &sink);

/// Types, shapes and control flow of one body. Null if there were errors.
std::shared_ptr<const Kernel> instantiateKernel(const OpModel &op, const Specialization &spec,
                                                DiagnosticSink &sink);
std::shared_ptr<const Plan> instantiatePlan(const OpModel &op, const Specialization &spec,
                                            DiagnosticSink &sink);
std::shared_ptr<const Reference> instantiateReference(const OpModel &op, const Specialization &spec,
                                                      DiagnosticSink &sink);

/// Everything `tilegymc check` can say without running: analyze, then each body for representative specializations. Errors are said once.
bool checkSpec(const OpModel &op, DiagnosticSink &sink);

} // namespace tilegym::sem
