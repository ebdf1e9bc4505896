// SPDX-License-Identifier: MIT
// The rules that look at documentation, expectations and tolerances, and what a spec allows.
#include "compiler/semantics/Lint.h"
#include "compiler/semantics/Analyze.h"
#include "compiler/semantics/Builtins.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tilegym::sem {
namespace {

constexpr LintRule kRules[] = {
    {"unused-name",
     "a parameter, local, function or library that nothing reads; a name that begins with `_` may be"},
    {"unread-knob", "a knob that changes no code of its kernel"},
    {"missing-doc", "an op without a `##` line, or a kernel without one where there are several"},
    {"no-literal-case", "an output of which no case expects literal values"},
    {"loose-tolerance",
     "a tolerance above 8 times the largest error that any backend gave (`lint --measure`, `verify`)"},
    {"too-many-variants", "an op of more than 300 variants for one target"},
    {"allowance", "`# lint: allow` of no rule, without a reason, or not needed"},
};
constexpr double kToleranceFactor = 8;

void lintDocs(const OpModel &op, std::vector<LintFinding> &findings) {
  if (op.doc.empty())
    findings.push_back({"missing-doc", op.spec->op->name.range, "op `" + op.name + "` is not documented",
                        "say in a `##` line above it what it computes"});
  for (const ast::KernelDecl &kernel : op.spec->kernels)
    if (kernel.doc.empty() && op.spec->kernels.size() > 1)
      findings.push_back({"missing-doc", kernel.name.range,
                          "kernel `" + kernel.name.name + "` is not documented, and it is one of " +
                              std::to_string(op.spec->kernels.size()),
                          "say in a `##` line above it which calls it is for"});
}

void lintExpectations(const OpModel &op, std::vector<LintFinding> &findings) {
  for (const TensorParam &tensor : op.tensors) {
    if (tensor.role == Role::Input)
      continue;
    bool expected = false;
    for (const ast::Case &one : op.spec->test->cases)
      for (const ast::Setting &expect : one.expects)
        expected |= expect.name.name == tensor.name;
    if (!expected)
      findings.push_back({"no-literal-case", tensor.range,
                          "no case expects literal values of `" + tensor.name + "`",
                          "add `expect " + tensor.name + " = ...`, worked out by hand, to a case"});
  }
}

std::string shortNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

/// One line of the file that allows a rule.
struct Allowance {
  std::string rule, why;
  SourceRange range; ///< of the rule's name
};

std::vector<Allowance> allowancesOf(const SourceFile &file) {
  constexpr std::string_view mark = "# lint: allow ";
  std::vector<Allowance> list;
  std::string_view text = file.text();
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    size_t at = line.find_first_not_of(" \t");
    if (at != line.npos && line.substr(at).starts_with(mark)) {
      size_t name = at + mark.size(), colon = std::min(line.find(':', name), line.size());
      std::string_view why = line.substr(std::min(colon + 1, line.size()));
      why.remove_prefix(std::min(why.find_first_not_of(" \t"), why.size()));
      list.push_back({std::string(line.substr(name, colon - name)),
                      std::string(why),
                      {&file, uint32_t(begin + name), uint32_t(begin + colon)}});
    }
    begin = end + 1;
  }
  return list;
}

} // namespace

std::span<const LintRule> lintRules() { return kRules; }

std::vector<LintFinding> lintSpec(const OpModel &op) {
  std::vector<LintFinding> findings;
  lintNames(op, findings);
  lintKnobs(op, findings);
  lintDocs(op, findings);
  lintExpectations(op, findings);
  return findings;
}

bool hasApproximateMath(const OpModel &op) {
  for (const ast::KernelDecl &kernel : op.spec->kernels)
    for (const ast::StmtPtr &stmt : kernel.body.stmts)
      if (auto *math = ast::dynCast<ast::Math>(stmt.get()))
        for (const ast::BoundName &flag : math->flags)
          if (flag.name == "approx")
            return true;
  return false;
}

void lintTolerance(const OpModel &op, const TestModel &model, const std::vector<SeenError> &seen,
                   std::vector<LintFinding> &findings) {
  for (const ast::Tolerance &line : op.spec->test->tolerances) {
    std::optional<DType> dtype = parseDType(line.dtype.name);
    const ToleranceModel *tolerance = dtype ? model.tolerance(*dtype) : nullptr;
    if (!tolerance || !isFloat(*dtype))
      continue;
    const SeenError *most = nullptr;
    for (const SeenError &one : seen)
      if (one.dtype == *dtype && (!most || one.relative > most->relative))
        most = &one;
    if (!most)
      continue;
    // Below a step of the dtype no rounding can be told from none.
    double step = std::ldexp(1.0, -floatFormat(*dtype).fractionBits);
    double enough = kToleranceFactor * std::max(most->relative, step);
    if (tolerance->relative > enough)
      findings.push_back({"loose-tolerance", line.range,
                          "the tolerance of " + std::string(name(*dtype)) + " is " +
                              shortNumber(tolerance->relative) + ", but the largest error seen needs " +
                              shortNumber(most->relative),
                          "at most " + shortNumber(enough) +
                              " still finds mistakes: eight times the error, or eight steps of " +
                              std::string(name(*dtype))});
  }
}

void reportLint(const OpModel &op, const std::vector<LintFinding> &findings,
                const std::vector<std::string> &rules, DiagnosticSink &sink) {
  std::vector<Allowance> allowances = allowancesOf(*op.spec->file);
  std::vector<std::string> known;
  for (const LintRule &rule : kRules)
    known.emplace_back(rule.name);
  auto has = [](const std::vector<std::string> &list, const std::string &name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const LintFinding &finding : findings)
    if (std::none_of(allowances.begin(), allowances.end(),
                     [&](const Allowance &a) { return a.rule == finding.rule && !a.why.empty(); }))
      sink.warning(finding.range, finding.message, finding.help).rule = finding.rule;
  for (const Allowance &a : allowances) {
    std::string message, help;
    if (!has(known, a.rule)) {
      message = "there is no lint rule `" + a.rule + "`";
      help = suggestion(a.rule, known);
    } else if (a.why.empty()) {
      message = "`" + a.rule + "` is allowed without a reason";
      help = "write `# lint: allow " + a.rule + ": WHY`";
    } else if ((rules.empty() || has(rules, a.rule)) &&
               std::none_of(findings.begin(), findings.end(),
                            [&](const LintFinding &f) { return f.rule == a.rule; })) {
      message = "nothing here needs `" + a.rule + "` to be allowed";
      help = "remove the line";
    }
    if (!message.empty())
      sink.warning(a.range, message, help).rule = "allowance";
  }
}

} // namespace tilegym::sem
