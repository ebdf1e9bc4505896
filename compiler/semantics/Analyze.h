// SPDX-License-Identifier: MIT
// The steps of `analyze`, each in a file of its own. They report to the sink and go on, so that one run shows several errors.
#pragma once
#include "compiler/semantics/HostExpr.h"

namespace tilegym::sem {

/// Type variables, dims, tensors, scalars, aliases and checks of the header. False where later steps would only repeat its errors.
bool analyzeInterface(OpModel &op, const ast::OpDecl &decl, DiagnosticSink &sink);
/// `serves` and `gradient of`: further names for the same arguments.
void analyzeNamesServed(const OpModel &op, const ast::OpDecl &decl, DiagnosticSink &sink);
/// Reads what `use` names (and what those use) and checks all `fn`s together.
void loadLibraries(OpModel &op, const SearchPath &path, DiagnosticSink &sink);
/// Headers of kernels and plans: parameters, derived values, guards; and their `tune` sections.
void analyzeKernels(OpModel &op, const ast::Spec &spec, DiagnosticSink &sink);
void analyzeTune(const OpModel &op, const KernelModel &kernel, const ast::TuneDecl &tune,
                 DiagnosticSink &sink);
/// The names, values and completeness of `test` and `bench`.
void analyzeTest(const OpModel &op, const ast::TestDecl &test, DiagnosticSink &sink);
void analyzeBench(const OpModel &op, const ast::BenchDecl &bench, DiagnosticSink &sink);

// ---------------------------------------------------------------- shared by the steps

/// The spec's own words at a place.
std::string sourceText(SourceRange range);
/// `a, b and c`, each in backquotes.
std::string quotedList(const std::vector<std::string> &words);
/// "did you mean `x`?", or "known: ...", or nothing.
std::string suggestion(std::string_view word, const std::vector<std::string> &known);
/// Words with a meaning of their own, which nothing may be called.
bool isReserved(std::string_view word);
/// A literal (with a sign, or arithmetic of literals) as a value of every dtype that `typeVar` can be; nullopt after an error.
std::optional<Constant> literalValue(const ast::Expr &e, const TypeVar &typeVar, std::string_view what,
                                     DiagnosticSink &sink);
/// A literal of a scalar or const: one of its names, its choices or its dtype.
std::optional<Constant> scalarLiteral(const ast::Expr &e, const OpModel &op, const ScalarParam &scalar,
                                      DiagnosticSink &sink);

} // namespace tilegym::sem
