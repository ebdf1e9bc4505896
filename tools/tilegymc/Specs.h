// SPDX-License-Identifier: MIT
// From the OPs of a command line to checked ops and their test cases.
#pragma once
#include "Command.h"
#include "compiler/semantics/TestCalls.h"

namespace tilegym::cli {

using OpPtr = std::shared_ptr<const sem::OpModel>;

/// Loads and checks what is named; all specs that are found where `names` is empty. Errors go to `sink`, and the others still load.
std::vector<OpPtr> loadOps(const std::vector<std::string> &names, const Globals &globals,
                           DiagnosticSink &sink);

/// The test cases of one op. Its calls point into the model, so it stays where it is.
struct OpTests {
  OpPtr op;
  sem::TestModel model;
  std::vector<sem::TestCall> calls;
};
/// Has the text every pattern as a part, in any case of letters?
bool matchesAll(const std::string &text, const std::vector<std::string> &patterns);

/// The cases whose "OP CASE" matches, or the one of exactly this name.
std::unique_ptr<OpTests> collectTests(const OpPtr &op, const std::vector<std::string> &patterns,
                                      DiagnosticSink &sink, const std::string &exactly = "");
/// What a shell takes as one word.
std::string shellWord(const std::string &text);

/// The op that a gradient op is the gradient of: beside its spec, or where specs are. Null after an error.
OpPtr loadForward(const sem::OpModel &op, const Globals &globals, DiagnosticSink &sink);

/// Says an error of the command line on stderr, as every command does: `error: ...`.
[[gnu::format(printf, 1, 2)]] void complain(const char *format, ...);

/// Each a dtype that tensors can have, or a list of these with commas; nothing after complaining.
std::optional<std::vector<DType>> parseDTypes(const std::vector<std::string> &texts);

} // namespace tilegym::cli
