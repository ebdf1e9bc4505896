// SPDX-License-Identifier: MIT
// The chosen variant, found again among those that the compiler would build, and compiled once more with its eyes open.
#include "Explain.h"
#ifdef TILEGYM_HAS_COMPILER
#include "compiler/driver/CompileOp.h"
#include "compiler/driver/CostModel.h"
#include "compiler/driver/Remarks.h"
#include "compiler/driver/TunedTable.h"
#include <filesystem>
#endif

namespace tilegym::cli {

#ifdef TILEGYM_HAS_COMPILER

namespace {

struct Found {
  driver::VariantSlot slot; ///< with all its candidates
  size_t number = 0;        ///< of the one that has the entry's name
  bool tuned = false;
};

std::string nameOf(const sem::OpModel &op, const driver::VariantSlot &slot,
                   const sem::Specialization &point) {
  return driver::entryName(op, point, slot.isPlan() ? std::nullopt : std::optional(slot.facts));
}

std::optional<Found> findVariant(const sem::OpModel &op, const std::string &entry, const std::string &chip,
                                 const targets::TargetFacts &target, const driver::TunedTable &table,
                                 DiagnosticSink &sink) {
  for (driver::VariantSlot &slot : driver::enumerateVariants(op, chip, target, {}, sink))
    for (size_t i = 0; i < slot.candidates.size(); ++i)
      if (nameOf(op, slot, slot.candidates[i]) == entry) {
        driver::VariantSlot tuned = slot;
        bool applies = slot.facts.isFast() && table.apply(op, tuned, sink) &&
                       nameOf(op, slot, tuned.candidates.front()) == entry;
        return Found{std::move(slot), i, applies};
      }
  return std::nullopt;
}

void tellPoint(const sem::OpModel &op, const Found &found, const std::string &table, CodeStory &story) {
  size_t all = found.slot.candidates.size();
  if (found.tuned)
    story.point = "measured fastest: " + table;
  else if (all == 1)
    story.point = "the only point of its tune section";
  else if (found.number == 0)
    story.point =
        "the first of " + std::to_string(all) + " points by the cost model; no tuned table speaks of it";
  else
    story.point = "number " + std::to_string(found.number + 1) + " of " + std::to_string(all) +
                  " points by the cost model: those before it spill or do not fit";
  for (size_t i = 0; i < all && story.others.size() < 3; ++i)
    if (i != found.number)
      story.others.push_back(driver::pointJson(op, found.slot.candidates[i]).dump());
}

} // namespace

int tellCode(const OpPtr &op, const std::string &entry, int arch, const std::string &stage,
             CodeStory &story) {
  std::optional<driver::Stage> wanted = driver::parseStage(stage);
  if (!stage.empty() && (!wanted || *wanted == driver::Stage::Cubin || *wanted == driver::Stage::Object)) {
    complain("--emit: found '%s', expected tile, opt, layout, threads, llvm or ptx", stage.c_str());
    return InputWrong;
  }
  std::string chip = arch == 90 ? "sm_90a" : "sm_" + std::to_string(arch);
  llvm::Expected<emit::Arch> parsed = emit::parseArch(chip);
  const targets::TargetFacts *target = targets::findTarget(unsigned(arch));
  if (!parsed || !target) {
    llvm::consumeError(parsed.takeError());
    story.lacking = "this compiler has no target " + chip;
    return Ok;
  }
  DiagnosticSink sink;
  std::string path = driver::tunedTablePath(driver::standardTunedFolder(*op), chip, op->name);
  driver::TunedTable table = driver::TunedTable::read(path, *op, chip, sink);
  std::optional<Found> found = findVariant(*op, entry, chip, *target, table, sink);
  if (!found) {
    story.lacking = "this compiler does not build " + entry;
    return Ok;
  }
  tellPoint(*op, *found, path, story);
  driver::CompileOptions options;
  options.arch = *parsed;
  options.stopAfter = std::max(driver::Stage::Layout, wanted.value_or(driver::Stage::Layout));
  options.sink = [&](driver::Stage at, llvm::StringRef text) {
    if (at == wanted)
      story.stageText += text.str();
  };
  const sem::OpModel *compiled = op.get();
  options.inspect = [&](driver::Stage at, mlir::Operation *module) {
    if (at == driver::Stage::Layout)
      for (const driver::Remark &remark : driver::variantRemarks(*compiled, module))
        story.remarks.push_back({Severity::Note, remark.range, remark.text, ""});
  };
  const sem::Specialization &point = found->slot.candidates[found->number];
  if (!found->slot.isPlan()) {
    driver::compileVariant(*op, point, found->slot.facts, options, sink);
  } else if (auto plan = sem::instantiatePlan(*op, point, sink)) {
    std::optional<sem::PlanSteps> steps = sem::stepsOf(*op, *plan, sink);
    for (size_t i = 0; steps && i < steps->launches.size(); ++i) {
      compiled = steps->launches[i].model.get();
      driver::compileVariant(*compiled, steps->launches[i].spec, found->slot.facts, options, sink);
    }
  }
  std::fputs(renderAll(sink, isTerminal()).c_str(), stderr);
  return sink.hasErrors() ? CheckFailed : Ok;
}

#else

int tellCode(const OpPtr &, const std::string &, int, const std::string &stage, CodeStory &story) {
  story.lacking =
      "this tilegymc was built without LLVM: no remarks, and no word on where the point comes from";
  if (stage.empty())
    return Ok;
  complain("--emit: this tilegymc was built without LLVM");
  return EnvironmentLacks;
}

#endif

} // namespace tilegym::cli
