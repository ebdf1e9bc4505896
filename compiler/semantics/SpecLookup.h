// SPDX-License-Identifier: MIT
// From what a user types (a path, or a name) to a checked op: `./specs`, `--spec-dir` and the installed specs, in that order.
#pragma once
#include "compiler/semantics/OpModel.h"
#include "compiler/syntax/Diagnostic.h"

namespace tilegym::sem {

/// Folders with specs, each with its `lib`: `./specs`, then those of `--spec-dir`, then the installed ones.
struct SpecFolders {
  std::vector<std::string> folders;
  /// `specDirs` from the command line; `installed` may be empty.
  static SpecFolders standard(const std::vector<std::string> &specDirs, const std::string &installed);
  SearchPath libraries() const;
};

/// The path of a spec: what is written where that is a file (or looks like one), else NAME.tile in the first folder that has it.
/// An error says where it looked and which names come near.
std::optional<std::string> findSpec(const std::string &pathOrName, const SpecFolders &folders,
                                    DiagnosticSink &sink);
/// Names of all specs, sorted; one that an earlier folder has hides the later.
std::vector<std::string> listSpecs(const SpecFolders &folders);

/// Null if the file cannot be read.
std::shared_ptr<const SourceFile> readSource(const std::string &path);
/// Parses one file; null after an error.
std::shared_ptr<const ast::Spec> loadTree(const std::string &path, DiagnosticSink &sink);
/// Finds, parses and analyzes. Null after errors, which are in `sink`.
std::shared_ptr<const OpModel> loadSpec(const std::string &pathOrName, const SpecFolders &folders,
                                        DiagnosticSink &sink);

} // namespace tilegym::sem
