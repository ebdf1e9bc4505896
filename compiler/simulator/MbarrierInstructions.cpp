// SPDX-License-Identifier: MIT
// The instructions of mbarriers, as the records of the dialect have them.
#include "compiler/simulator/Instructions.h"
#include "compiler/simulator/Mbarrier.h"
#include "compiler/simulator/Operands.h"
#include "compiler/simulator/Ordering.h"

namespace tilegym::sim {

namespace {

/// The attributes of those that order memory: relaxed, scope.
MbarrierOrder order(const Site *site) {
  return {site->attributes[0] != 0, Scope(site->attributes[1]) != Scope::Cta};
}

void init(const uint64_t *operands, uint64_t *, const Site *site) {
  Operands in(operands, site, 3, 2);
  if (in.holds(2))
    initMbarrier(current(), in[0], uint32_t(in[1]), site);
}

void inval(const uint64_t *operands, uint64_t *, const Site *site) {
  Operands in(operands, site, 2, 1);
  if (in.holds(1))
    invalidateMbarrier(current(), in[0], site);
}

void give(uint64_t *results, const Site *site, uint64_t value) {
  if (site->numResults)
    results[0] = value;
}

void arrive(const uint64_t *operands, uint64_t *results, const Site *site) {
  Operands in(operands, site, 3, 1);
  if (!in.holds(2))
    return give(results, site, 0);
  auto count = uint32_t(in.get(1, 1));
  if (count == 0)
    current().machine->stop(
        fault(FindingKind::MbarrierMisuse, current(), site, "counts 0 arrivals; 1 at least are allowed"));
  give(results, site, arriveAtMbarrier(current(), in[0], count, 0, order(site), site));
}

void arriveExpectTx(const uint64_t *operands, uint64_t *results, const Site *site) {
  Operands in(operands, site, 3, 2);
  give(results, site,
       in.holds(2) ? arriveAtMbarrier(current(), in[0], 1, uint32_t(in[1]), order(site), site) : 0);
}

void expectTx(const uint64_t *operands, uint64_t *, const Site *site) {
  Operands in(operands, site, 3, 2);
  if (in.holds(2))
    arriveAtMbarrier(current(), in[0], 0, uint32_t(in[1]), {.relaxed = true}, site);
}

void completeTx(const uint64_t *operands, uint64_t *, const Site *site) {
  Operands in(operands, site, 3, 2);
  if (in.holds(2))
    completeTransactions(current(), in[0], uint32_t(in[1]), site);
}

void tryWait(const uint64_t *operands, uint64_t *results, const Site *site) {
  PhaseName phase{operands[1], Site::width(site->operandType(1)) == 64};
  results[0] = testMbarrier(current(), operands[0], phase, true, order(site), site);
}

void testWait(const uint64_t *operands, uint64_t *results, const Site *site) {
  PhaseName phase{operands[1], Site::width(site->operandType(1)) == 64};
  results[0] = testMbarrier(current(), operands[0], phase, false, order(site), site);
}

constexpr Row rows[] = {{"mbarrier_init", init},          {"mbarrier_inval", inval},
                        {"mbarrier_arrive", arrive},      {"mbarrier_arrive_expect_tx", arriveExpectTx},
                        {"mbarrier_expect_tx", expectTx}, {"mbarrier_complete_tx", completeTx},
                        {"mbarrier_try_wait", tryWait},   {"mbarrier_test_wait", testWait}};

} // namespace

std::span<const Row> mbarrierInstructions() { return rows; }

} // namespace tilegym::sim
