// SPDX-License-Identifier: MIT
// `checkSpec`: every body of an op for representative specializations. What differs between variants is dtypes, consts, presence and
// tile parameters, so each value of each is seen at least once; one place gets one message.
#include "compiler/semantics/OpModel.h"
#include <set>
#include <tuple>

namespace tilegym::sem {
namespace {

/// Errors of many bodies, one a place: other variants say the same of other dtypes.
class OnceSink {
public:
  explicit OnceSink(DiagnosticSink &to) : to(to) {}
  void take(const DiagnosticSink &from) {
    for (const Diagnostic &d : from.all()) {
      if (!seen.emplace(d.range.file, d.range.begin, d.range.end).second)
        continue;
      Diagnostic &copy = d.severity == Severity::Error ? to.error(d.range, d.message, d.help)
                                                       : to.warning(d.range, d.message, d.help);
      copy.notes = d.notes;
    }
  }

private:
  DiagnosticSink &to;
  std::set<std::tuple<const SourceFile *, uint32_t, uint32_t>> seen;
};

/// Up to `limit` specializations such that each value of each dtype, const, const dim and presence that occurs is among them.
std::vector<Specialization> representatives(const std::vector<Specialization> &all, size_t limit) {
  if (all.size() <= limit)
    return all;
  std::set<std::tuple<int, size_t, int64_t, double>> seen;
  std::vector<Specialization> chosen;
  for (const Specialization &s : all) {
    bool isNew = false;
    auto note = [&](int what, size_t index, int64_t value, double real = 0) {
      isNew |= seen.emplace(what, index, value, real).second;
    };
    for (size_t i = 0; i < s.dtypes.size(); ++i)
      note(0, i, int64_t(s.dtypes[i]));
    for (size_t i = 0; i < s.consts.size(); ++i)
      note(1, i, s.consts[i].isFloat() ? 0 : s.consts[i].asInt(),
           s.consts[i].isFloat() ? s.consts[i].asFloat() : 0);
    for (size_t i = 0; i < s.constDims.size(); ++i)
      note(2, i, s.constDims[i]);
    for (size_t i = 0; i < s.present.size(); ++i)
      note(3, i, s.present[i]);
    for (const NamedInt &p : s.params)
      note(4, std::hash<std::string>()(p.name), p.value);
    if (isNew)
      chosen.push_back(s);
  }
  return chosen;
}

/// The points of a kernel to look at: of each derived value the first and the last candidate, of each arch that has its own.
std::vector<Specialization> points(const OpModel &op, const Specialization &interface, int64_t kernel,
                                   OnceSink &errors) {
  std::vector<Specialization> result;
  const ast::TuneDecl *tune = op.kernels[size_t(kernel)].tune;
  std::vector<std::string> archs = {""};
  if (tune)
    for (const ast::ArchSettings &arch : tune->archs)
      archs.push_back(arch.arch.name);
  for (const Specialization &base : representatives(enumerateDerived(op, interface, kernel), 4)) {
    for (const std::string &arch : archs) {
      DiagnosticSink local;
      std::vector<Specialization> all = candidates(op, base, arch, local);
      errors.take(local);
      if (all.empty())
        continue;
      result.push_back(all.front());
      if (all.size() > 1)
        result.push_back(all.back());
    }
  }
  return result;
}

} // namespace

bool checkSpec(const OpModel &op, DiagnosticSink &sink) {
  size_t before = sink.numErrors();
  OnceSink errors(sink);
  for (const Specialization &interface : representatives(enumerateInterfaces(op), 32)) {
    DiagnosticSink local;
    instantiateReference(op, interface, local);
    errors.take(local);
    for (size_t k = 0; k < op.kernels.size(); ++k) {
      if (op.kernels[k].launchedOnly)
        continue; // seen through the plans that launch it
      for (const Specialization &point : points(op, interface, int64_t(k), errors)) {
        DiagnosticSink body;
        if (op.kernels[k].isPlan)
          instantiatePlan(op, point, body);
        else
          instantiateKernel(op, point, body);
        errors.take(body);
      }
    }
  }
  return sink.numErrors() == before;
}

} // namespace tilegym::sem
