// SPDX-License-Identifier: MIT
// What is legal in a spec and still likely a slip. Each finding names its rule, and a spec may allow a rule for a reason that it gives:
// `# lint: allow RULE: WHY`, a comment on a line of its own, anywhere in the file.
#pragma once
#include "compiler/semantics/TestModel.h"
#include <span>

namespace tilegym::sem {

struct LintRule {
  const char *name, *doc;
};
/// Every rule, also those that other parts look for: too-many-variants needs the compiler, loose-tolerance what a backend gave.
std::span<const LintRule> lintRules();

struct LintFinding {
  std::string rule;
  SourceRange range;
  std::string message, help;
};

/// unused-name, unread-knob, missing-doc and no-literal-case: what the text alone shows.
std::vector<LintFinding> lintSpec(const OpModel &op);
/// Names that a spec declares and nothing reads.
void lintNames(const OpModel &op, std::vector<LintFinding> &findings);
/// Knobs that a `tune` section sets and no pass reads.
void lintKnobs(const OpModel &op, std::vector<LintFinding> &findings);

/// Whether a kernel says `math approx`: then only a GPU shows the errors, since the simulator's approximations are exact.
inline constexpr char kApproximateMath[] = "its kernels say `math approx`, and only a GPU shows how far off "
                                           "that is (`tilegymc verify` where there is one)";
bool hasApproximateMath(const OpModel &op);
/// loose-tolerance: where `tolerance` takes more than eight times what was seen, a step of the dtype at least. Dtypes that were not
/// seen are not judged.
void lintTolerance(const OpModel &op, const TestModel &model, const std::vector<SeenError> &seen,
                   std::vector<LintFinding> &findings);

/// Reports the findings that the spec does not allow as warnings, and allowances that are wrong: of a rule that there is not, without a
/// reason, or, of the rules that were looked for (`rules`; empty: all), not needed.
void reportLint(const OpModel &op, const std::vector<LintFinding> &findings,
                const std::vector<std::string> &rules, DiagnosticSink &sink);

} // namespace tilegym::sem
