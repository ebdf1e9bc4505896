// SPDX-License-Identifier: MIT
// Text to syntax tree. The parser recovers at statement and section boundaries, so one run reports several errors.
#pragma once
#include "compiler/syntax/AST.h"
#include "compiler/syntax/Diagnostic.h"

namespace tilegym {

/// Parses a spec or a library file. Always returns a tree; what could not be read is missing from it and reported to `sink`.
ast::Spec parseSpec(std::shared_ptr<const SourceFile> file, DiagnosticSink &sink);
/// Parses one expression (the command line's `--shape`, guards in tests).
ast::ExprPtr parseExpr(std::shared_ptr<const SourceFile> file, DiagnosticSink &sink);

} // namespace tilegym
