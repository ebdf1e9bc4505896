// SPDX-License-Identifier: MIT
// The table of builtin functions (Builtins.def) as data: lookup, suggestions, and matching a call's arguments to the names of the table.
#pragma once
#include "compiler/semantics/Checked.h"
#include "compiler/syntax/AST.h"
#include "compiler/syntax/Diagnostic.h"

namespace tilegym::sem {

/// Builtins of a family are checked by one file.
enum class Family : uint8_t {
  Elementwise,
  Convert,
  Shape,
  MinMax,
  Reduce,
  Combine,
  Matmul,
  Random,
  Program,
  Memory,
  Facts
};
std::string_view name(Family family);

/// With an underscore, since some names are words of C++.
enum class Builtin : uint8_t {
#define BUILTIN(name, family, operation, arguments, doc, example) name##_,
#include "compiler/semantics/Builtins.def"
#undef BUILTIN
};

struct BuiltinArgument {
  std::string name;
  std::string defaultText; ///< shown in help; empty if there is none
  bool optional = false, byName = false, variadic = false;
};

struct BuiltinInfo {
  Builtin id;
  std::string name;
  Family family;
  Op operation;          ///< what an elementwise builtin becomes
  std::string signature; ///< `load(region, pad=, mask=)`
  std::vector<BuiltinArgument> arguments;
  std::string doc;
  std::string example; ///< statements of a kernel of builtinExampleSpec()
};

/// In the order of the table.
const std::vector<BuiltinInfo> &builtins();
const BuiltinInfo *findBuiltin(std::string_view name);

/// A whole spec whose kernel runs one example; every assert in it holds.
std::string builtinExampleSpec(const BuiltinInfo &info);
/// docs/builtins.md: the table for readers.
std::string builtinsPage();

/// The nearest of `candidates` if it is near enough to be a slip of the pen, else empty.
std::string nearest(std::string_view word, const std::vector<std::string> &candidates);

/// A call's arguments by the table's argument numbers; null where one was not given.
struct BoundArguments {
  std::vector<const ast::Expr *> values;
  std::vector<const ast::Expr *> variadic;
};
/// nullopt after an error: a missing, unknown, doubled or surplus argument, or an option given by position.
std::optional<BoundArguments> bindArguments(const BuiltinInfo &info, const ast::Call &call,
                                            DiagnosticSink &sink);

} // namespace tilegym::sem
