// SPDX-License-Identifier: MIT
// What can be called, times the kernels and their derived values, times the facts.
#include "compiler/driver/Variants.h"
#include "compiler/driver/CostModel.h"
#include "compiler/semantics/TuneSpace.h"
#include <algorithm>
#include <cmath>

namespace tilegym::driver {
namespace {

bool wanted(const sem::OpModel &op, const sem::Specialization &spec, const VariantFilter &filter) {
  for (size_t i = 0; i < op.typeVars.size(); ++i)
    if (!filter.dtypes.empty() && op.typeVars[i].choices.size() > 1 &&
        std::find(filter.dtypes.begin(), filter.dtypes.end(), spec.dtypes[i]) == filter.dtypes.end())
      return false;
  for (const auto &[name, value] : filter.consts) {
    if (int64_t s = op.findScalar(name); s >= 0 && op.scalars[s].isConst) {
      const sem::ScalarParam &scalar = op.scalars[s];
      auto named = std::find(scalar.enumerators.begin(), scalar.enumerators.end(), value);
      std::string have = scalar.enumerators.empty() ? spec.consts[s].isBool()
                                                          ? spec.consts[s].asBool() ? "true" : "false"
                                                          : std::to_string(spec.consts[s].asInt())
                                                    : scalar.enumerators[size_t(spec.consts[s].asInt())];
      if (have != value && !(named == scalar.enumerators.end() && have == value))
        return false;
    }
    if (int64_t d = op.findDim(name);
        d >= 0 && !op.dims[d].choices.empty() && std::to_string(spec.constDims[d]) != value)
      return false;
  }
  return true;
}

/// Beyond this, a derived value has no general variant where a later kernel takes every call: long rows lose little there.
constexpr int64_t kMaxGeneralDerived = 1024;

/// More elements a thread of a large tile spill: where a later kernel takes the calls, such points are not tried.
constexpr double kMaxHeldIfSpare = 64;

/// Whether a later kernel takes whatever kernel `k` takes.
bool isCoveredLater(const sem::OpModel &op, size_t k) {
  return std::any_of(
      op.kernels.begin() + int64_t(k) + 1, op.kernels.end(), [](const sem::KernelModel &later) {
        return !later.guard && !later.launchedOnly && sem::factsBuilt(later) == sem::FactsBuilt::All;
      });
}

bool needsCluster(const sem::Specialization &spec) {
  return knob(spec, "ctas", 1) * knob(spec, "split_k", 1) > 1;
}

bool holdsInShared(const sem::Specialization &spec) { return knob(spec, "hold", 0) != 0; }

bool hasProducer(const sem::Specialization &spec) { return knob(spec, "schedule", 0) != 0; }

/// Fast ones for each order that the operands of a product may have in memory, row-major first, a dense one, and the general one. On targets before
/// clusters general ones serve where alignment is missing: a library for both would be half as large again.
std::vector<tile::FactSet> factSets(uint64_t transposable, bool dense) {
  std::vector<tile::FactSet> sets;
  for (uint64_t left = transposable, some = 0;; some = (some - left) & left) { // each subset
    sets.emplace_back(tile::FactKind::Fast, some);
    if (some == left)
      break;
  }
  if (dense)
    sets.emplace_back(tile::FactKind::Dense);
  sets.emplace_back(tile::FactKind::General);
  return sets;
}

/// The points of the tune space that the target can run.
std::vector<sem::Specialization> runnable(const sem::OpModel &op, const sem::Specialization &base,
                                          std::string_view chip, const targets::TargetFacts &target,
                                          DiagnosticSink &sink) {
  std::vector<sem::Specialization> points = sem::candidates(op, base, chip, sink);
  auto without = [&](bool has, bool (*needs)(const sem::Specialization &), const char *what,
                     const char *example) {
    if (has || points.empty())
      return;
    std::erase_if(points, needs);
    if (!points.empty())
      return;
    const sem::KernelModel &kernel = op.kernels[size_t(base.kernel)];
    sink.error(kernel.tune->kernel.range,
               "every point of `tune " + kernel.name + "` needs " + what + ", which " + std::string(chip) +
                   " does not have",
               std::string("give them to the targets that have: `arch sm_90a { ") + example + " }`");
  };
  without(target.clusters, needsCluster, "clusters (`ctas`, `split_k`)", "ctas in [2, 4]");
  without(target.bulkCopies, holdsInShared, "bulk copies (`hold = shared`)", "hold in [registers, shared]");
  without(target.bulkCopies, hasProducer, "a copy engine (`schedule = cooperative`)",
          "schedule in [pipelined, cooperative]");
  return points;
}

} // namespace

std::vector<VariantSlot> enumerateVariants(const sem::OpModel &op, std::string_view chip,
                                           const targets::TargetFacts &target, const VariantFilter &filter,
                                           DiagnosticSink &sink) {
  std::vector<VariantSlot> slots;
  for (const sem::Specialization &interface : sem::enumerateInterfaces(op)) {
    if (!wanted(op, interface, filter))
      continue;
    for (size_t k = 0; k < op.kernels.size(); ++k) {
      if (op.kernels[k].launchedOnly)
        continue;
      bool spare = isCoveredLater(op, k);
      sem::FactsBuilt built = sem::factsBuilt(op.kernels[k]);
      for (const sem::Specialization &derived : sem::enumerateDerived(op, interface, int64_t(k))) {
        bool isLong = std::any_of(derived.params.begin(), derived.params.end(),
                                  [](const sem::NamedInt &p) { return p.value > kMaxGeneralDerived; });
        Candidates candidates(op, runnable(op, derived, chip, target, sink), sink);
        bool groups = target.warpgroupProducts && chip.ends_with('a');
        if (op.kernels[k].isPlan) {
          std::vector<sem::Specialization> fast = candidates.byCost(tile::FactKind::Fast, HUGE_VAL, groups);
          if (!fast.empty())
            slots.push_back({tile::FactKind::Fast, std::move(fast), spare,
                             candidates.byCost(tile::FactKind::General, HUGE_VAL, groups)});
          continue;
        }
        for (const tile::FactSet &facts :
             factSets(candidates.transposable(), target.clusters && candidates.canBeDense())) {
          if (facts.kind == tile::FactKind::General ? built == sem::FactsBuilt::Fast || (spare && isLong)
                                                    : built == sem::FactsBuilt::General)
            continue;
          if (std::vector<sem::Specialization> ordered =
                  candidates.byCost(facts.kind, spare ? kMaxHeldIfSpare : HUGE_VAL, groups);
              !ordered.empty())
            slots.push_back({facts, std::move(ordered), spare, {}});
        }
      }
    }
  }
  return slots;
}

} // namespace tilegym::driver
