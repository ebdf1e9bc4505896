// SPDX-License-Identifier: MIT
// The cheap ways to tell a mutant first; the proof that there is nothing to tell last.
#include "Mutant.h"
#include "Child.h"
#include "Equivalence.h"
#include "Finish.h"
#include "llvm/ADT/StringRef.h"

using namespace mlir;

namespace tilegym::mutation {

/// Of processor time, as for an original: on a loaded machine some take 20, and what is slow is not caught.
constexpr unsigned kSeconds = 120;

std::string Mutant::where() const {
  std::string text = op->getName().getStringRef().str();
  op->getLoc()->walk([&](Location inner) {
    auto line = dyn_cast<FileLineColLoc>(inner);
    if (line)
      text += " at " + std::to_string(line.getLine());
    return line ? WalkResult::interrupt() : WalkResult::advance();
  });
  return text;
}

std::optional<Mutant> chooseMutant(Subject &subject, Random &random, bool plainOnly,
                                   const std::string &onlyOperator) {
  std::vector<std::vector<Mutant>> byOperator;
  for (const Operator *kind : allOperators()) {
    if ((plainOnly && !kind->isPlain) || (!onlyOperator.empty() && kind->name != onlyOperator))
      continue;
    std::vector<Mutant> places;
    subject.module->walk([&](Operation *op) {
      for (unsigned place = 0, count = kind->places(op); place < count; ++place)
        places.push_back({kind, op, place, places.size(), 0});
    });
    if (!places.empty())
      byOperator.push_back(std::move(places));
  }
  if (byOperator.empty())
    return std::nullopt;
  const std::vector<Mutant> &places = byOperator[random.below(byOperator.size())];
  Mutant mutant = places[random.below(places.size())];
  mutant.random = random.next();
  return mutant;
}

static std::string said(const char *verdict, const std::string &by, const std::string &detail = "") {
  return std::string(verdict) + "\t" + by + "\t" + detail;
}

Verdict tryMutant(Subject &subject, const Mutant &mutant) {
  Ended ended = runInChild(kSeconds, [&]() -> std::string {
    OwningOpRef<ModuleOp> original = (*subject.module).clone();
    std::string rule = equivalentByOrder(*mutant.kind, mutant.op);
    if (rule.empty())
      rule = equivalentByMask(*mutant.kind, mutant.op);
    Attribute properties = mutant.op->getPropertiesAsAttribute();
    mutant.kind->apply(mutant.op, mutant.place, mutant.random);
    if (rule.empty())
      rule = equivalentByFlow(*mutant.kind, mutant.op, mutant.place, properties);
    if (std::string fault = checkStatically(*subject.module); !fault.empty())
      return said("c", fault.substr(0, fault.find(':')), fault);
    if (canonicalText(*original) == canonicalText(*subject.module))
      return said("e", "same canonical IR");
    auto object = compileForSimulator(*subject.module, subject.arch);
    if (!object)
      return said("c", "compile error", llvm::toString(object.takeError()));
    if (Judgement fault = subject.judge(*object); !fault.caughtBy.empty())
      return said("c", fault.caughtBy, fault.detail);
    if (!rule.empty())
      return said("e", rule);
    subject.assume(*original);
    subject.assume(*subject.module);
    if (rule = equivalentByRange(*mutant.kind, mutant.op); !rule.empty())
      return said("e", rule);
    auto before = compileToPtx(*original, subject.arch), after = compileToPtx(*subject.module, subject.arch);
    if (!before || !after)
      return said("s", "", llvm::toString(llvm::joinErrors(before.takeError(), after.takeError())));
    return *before == *after ? said("e", "same PTX") : said("s", "");
  });
  if (!ended.how.empty())
    return {Verdict::Caught, ended.how, ""};
  llvm::StringRef verdict, by, detail;
  std::tie(verdict, by) = llvm::StringRef(ended.said).split('\t');
  std::tie(by, detail) = by.split('\t');
  return {verdict == "c"   ? Verdict::Caught
          : verdict == "e" ? Verdict::Equivalent
                           : Verdict::Survived,
          by.str(), detail.str()};
}

void dumpMutant(Subject &subject, const Mutant &mutant, const std::string &path) {
  auto write = [&](const char *which) {
    std::error_code error;
    llvm::raw_fd_ostream file(path + which, error);
    if (!error)
      subject.module->print(file, OpPrintingFlags().enableDebugInfo().useLocalScope());
  };
  runInChild(kSeconds, [&]() -> std::string {
    write(".before");
    mutant.kind->apply(mutant.op, mutant.place, mutant.random);
    write(".after");
    return "";
  });
}

} // namespace tilegym::mutation
