// SPDX-License-Identifier: MIT
// Issue, execution and the waits of warpgroup products.
#include "compiler/simulator/Wgmma.h"

#include "compiler/simulator/Collective.h"
#include "compiler/simulator/ExitChecks.h"
#include "compiler/simulator/Handover.h"
#include "compiler/simulator/Instructions.h"
#include "compiler/simulator/MatrixFragment.h"
#include "compiler/simulator/Operands.h"

#include <algorithm>
#include <cstring>

namespace tilegym::sim {

Warpgroup &warpgroupOf(Thread &thread) {
  return thread.block->warps[thread.warp->index & ~3u].family.get<Warpgroup>();
}

namespace {

constexpr int rows = 64, threads = 128;
constexpr uint32_t allLanes = ~0u;

void misuse(const Agent &agent, const Site *site, std::string text) {
  agent.machine->report(fault(FindingKind::WgmmaMisuse, agent, site, std::move(text)));
}
[[noreturn]] void fatal(Thread &thread, const Site *site, std::string text) {
  thread.machine->stop(fault(FindingKind::WgmmaMisuse, thread, site, std::move(text)));
}

// --- What is multiplied -----------------------------------------------------------------------------------------------------------------

using Matrix = std::vector<Parts>; // row after row of k elements

/// Elements of an operand in shared memory, as the descriptor says. Each 16 bytes are read once.
void readOperand(AsyncOp &op, uint64_t window, const MatrixDescriptor &descriptor, Major major,
                 ElementType type, bool negate, int mn, int k, Matrix &out) {
  int bytes = elementBytes(type), chunk = 16 / bytes;
  out.resize(size_t(mn * k));
  int along = major == Major::K ? k : mn, across = major == Major::K ? mn : k;
  for (int i = 0; i < across; ++i)
    for (int j = 0; j < along; j += chunk) {
      int first = major == Major::K ? i : j, second = major == Major::K ? j : i;
      std::byte data[16];
      op.read(window + elementAddress(descriptor, major, first, second, bytes), data, 16);
      for (int e = 0; e < chunk; ++e) {
        uint32_t bits = 0;
        std::memcpy(&bits, data + e * bytes, size_t(bytes));
        Parts element = elementParts(type, bits);
        if (negate)
          element.significand = -element.significand;
        size_t at = major == Major::K ? size_t(i * k + j + e) : size_t((j + e) * k + i);
        out[at] = element;
      }
    }
}

/// A from registers: four words a thread.
void unpackOperand(const std::vector<uint32_t> &words, ElementType type, bool negate, int k, Matrix &out) {
  int bytes = elementBytes(type);
  out.resize(size_t(rows * k));
  for (int thread = 0; thread < threads; ++thread)
    for (int reg = 0; reg < 4; ++reg)
      for (int e = 0; e < 4 / bytes; ++e) {
        Place place = operandAPlace(thread / 32, thread % 32, reg, e, bytes);
        Parts element = elementParts(type, words[size_t(thread * 4 + reg)] >> 8 * bytes * e);
        if (negate)
          element.significand = -element.significand;
        out[size_t(place.row * k + place.column)] = element;
      }
}

void multiplyInto(const WgmmaShape &shape, const Matrix &a, const Matrix &b, WgmmaChain &chain) {
  auto k = size_t(shape.k);
  std::vector<OperandBlock> left, right;
  for (size_t at = 0; at < a.size(); at += k)
    left.emplace_back(std::span(a).subspan(at, k));
  for (size_t at = 0; at < b.size(); at += k)
    right.emplace_back(std::span(b).subspan(at, k));
  bool isPacked = shape.unit.accumulator == AccumulatorType::F16;
  for (int thread = 0; thread < threads; ++thread)
    for (int i = 0; i < shape.n / 2; ++i) {
      Place place = accumulatorPlace(thread / 32, thread % 32, i);
      uint32_t &word = chain.values[size_t(thread * chain.registers + (isPacked ? i / 2 : i))];
      int shift = isPacked ? 16 * (i % 2) : 0;
      uint32_t mask = isPacked ? 0xFFFF : ~0u;
      uint32_t sum = multiplyBlock(shape.unit, left[size_t(place.row)], right[size_t(place.column)],
                                   word >> shift & mask);
      word = (word & ~(mask << shift)) | sum << shift;
    }
}

// --- Issue ------------------------------------------------------------------------------------------------------------------------------

/// Attributes: n, the types of A, B and the sum, transpose A, transpose B, negate A, negate B, saturate.
WgmmaShape shapeOf(const Site *site, bool hasRegistersA) {
  const int64_t *attributes = site->attributes;
  auto a = ElementType(attributes[1]), b = ElementType(attributes[2]), sum = ElementType(attributes[3]);
  WgmmaShape shape;
  shape.unit = warpgroupUnit(a, b,
                             sum == ElementType::F16   ? AccumulatorType::F16
                             : sum == ElementType::S32 ? AccumulatorType::S32
                                                       : AccumulatorType::F32);
  shape.unit.saturate = attributes[8] != 0;
  shape.n = int(attributes[0]);
  shape.k = 32 / elementBytes(a);
  shape.majorA = attributes[4] ? Major::MN : Major::K;
  shape.majorB = attributes[5] ? Major::MN : Major::K;
  shape.negateA = attributes[6] != 0;
  shape.negateB = attributes[7] != 0;
  shape.hasRegistersA = hasRegistersA;
  return shape;
}

MatrixDescriptor descriptorOf(Thread &thread, const Site *site, const char *which, uint64_t bits) {
  auto invalid = descriptorFault(bits);
  MatrixDescriptor descriptor = decodeDescriptor(bits);
  if (!invalid)
    invalid = alignmentFault(descriptor);
  if (invalid)
    thread.machine->stop(fault(FindingKind::BadOperand, thread, site,
                               std::string("has an operand ") + which + " whose " + *invalid));
  return descriptor;
}

/// Operand places: A, B, accumulators, scale.
Operands operandsOf(const Meeting &meeting, int thread) {
  return {meeting.operands[size_t(thread)], meeting.site, 4, 2};
}

/// All threads must have given the same.
void checkUniform(Meeting &meeting, unsigned place, const char *what) {
  uint64_t first = operandsOf(meeting, 0).get(place, 1);
  for (int thread = 1; thread < threads; ++thread)
    if (operandsOf(meeting, thread).get(place, 1) != first)
      fatal(*meeting.threads[size_t(thread)], meeting.site,
            std::string("gives another ") + what + " than the first thread of its warpgroup");
}

/// The chain whose handles the accumulators are; null where they are values. Ends the launch where some are and some are not.
std::shared_ptr<WgmmaChain> chainOf(Meeting &meeting, Warpgroup &group, int registers) {
  auto accumulators = [&](int thread) { return operandsOf(meeting, thread).group(2); };
  auto first = uint32_t(accumulators(0)[0]);
  std::shared_ptr<WgmmaChain> chain;
  for (auto &[number, candidate] : group.chains)
    if (first == wgmmaHandle(number, 0) && candidate->registers == registers)
      chain = candidate;
  for (int thread = 0; thread < threads; ++thread)
    for (int reg = 0; reg < registers; ++reg) {
      auto bits = uint32_t(accumulators(thread)[size_t(reg)]);
      bool isExpected = chain ? bits == wgmmaHandle(chain->latest, reg)
                              : !looksLikeHandle(bits) || isInteger(ElementType(meeting.site->attributes[1]));
      if (!isExpected)
        fatal(*meeting.threads[size_t(thread)], meeting.site,
              "adds to accumulator register " + std::to_string(reg) +
                  ", which was touched, moved or replaced while a wgmma was in flight: only wgmma_wait's "
                  "results are values");
    }
  return chain;
}

void startChain(Meeting &meeting, WgmmaChain &chain, bool adds) {
  chain.values.assign(size_t(threads * chain.registers), 0);
  for (int thread = 0; adds && thread < threads; ++thread)
    for (int reg = 0; reg < chain.registers; ++reg)
      chain.values[size_t(thread * chain.registers + reg)] =
          uint32_t(operandsOf(meeting, thread).group(2)[size_t(reg)]);
}

void checkFenced(Meeting &meeting, const Warpgroup &group, bool startsChain, bool hasRegistersA) {
  for (uint32_t warp = 0; warp < 4; ++warp) {
    const WgmmaWarp &state = group.warps[warp];
    Thread &thread = *meeting.threads[size_t(warp) * 32];
    if (hasRegistersA && !state.fencedSinceCommit)
      misuse(thread, meeting.site,
             "multiplies by A from registers without a wgmma_fence since the last group of products: it must "
             "follow the writes of A");
    else if (startsChain && !state.fencedSinceWait)
      misuse(thread, meeting.site,
             "starts accumulators without a wgmma_fence since the last wait: it must follow every other use "
             "of the registers");
    else
      continue;
    return;
  }
}

/// Words of A in flight are registers that the next round of a loop writes again, unless it is unrolled.
void checkFragmentsFree(Meeting &meeting, const Warpgroup &group) {
  uint64_t waited = group.warps[0].waited;
  for (const auto &product : group.products)
    if (product->site == meeting.site && product->hasRegistersA && product->number >= waited)
      return misuse(*meeting.threads[0], meeting.site,
                    "is issued with A in registers while its earlier issue is still in flight: the registers "
                    "of A are overwritten; wait first, or unroll by two");
}

void run(AsyncOp &op, const WgmmaShape &shape, uint64_t window, const std::vector<uint32_t> &wordsA,
         const MatrixDescriptor &a, const MatrixDescriptor &b, WgmmaChain &chain) {
  Matrix left, right;
  if (shape.hasRegistersA)
    unpackOperand(wordsA, shape.unit.a, shape.negateA, shape.k, left);
  else
    readOperand(op, window, a, shape.majorA, shape.unit.a, shape.negateA, rows, shape.k, left);
  readOperand(op, window, b, shape.majorB, shape.unit.b, shape.negateB, shape.n, shape.k, right);
  multiplyInto(shape, left, right, chain);
}

/// All threads are here, so what all four warps have waited for is of no use to anybody any more.
void forget(Warpgroup &group) {
  uint64_t waited = group.warps[0].waited;
  for (const WgmmaWarp &warp : group.warps)
    waited = std::min(waited, warp.waited);
  while (!group.products.empty() && group.products.front()->number < waited)
    group.products.pop_front();
  std::erase_if(group.chains, [](const auto &entry) {
    return entry.second->returned >= size_t(threads * entry.second->registers);
  });
}

/// Runs on the last thread of the warpgroup to come.
void issue(Meeting &meeting) {
  Thread &leader = *meeting.threads[0];
  Machine &machine = *leader.machine;
  const Site *site = meeting.site;
  Warpgroup &group = warpgroupOf(leader);
  forget(group);
  Operands in = operandsOf(meeting, 0);
  WgmmaShape shape = shapeOf(site, in.group(0).size() != 1);
  if (auto illegal = wgmmaFault(shape))
    machine.stop(fault(FindingKind::BadOperand, leader, site, *illegal));
  checkUniform(meeting, 1, "descriptor of B");
  checkUniform(meeting, 3, "scale");
  MatrixDescriptor a, b = descriptorOf(leader, site, "B", in[1]);
  if (!shape.hasRegistersA) {
    checkUniform(meeting, 0, "descriptor of A");
    a = descriptorOf(leader, site, "A", in[0]);
  } else {
    checkFragmentsFree(meeting, group);
  }
  bool adds = in.get(3, 1) != 0;
  std::shared_ptr<WgmmaChain> chain = adds ? chainOf(meeting, group, shape.registers()) : nullptr;
  checkFenced(meeting, group, !chain, shape.hasRegistersA);
  if (chain) {
    group.chains.erase(chain->latest);
  } else {
    chain = std::make_shared<WgmmaChain>();
    chain->registers = shape.registers();
    startChain(meeting, *chain, adds);
  }
  chain->latest = group.issued;
  group.chains[chain->latest] = chain;
  auto product = std::make_shared<WgmmaProduct>();
  product->number = group.issued++;
  product->site = site;
  product->chain = chain;
  product->hasRegistersA = shape.hasRegistersA;
  // Who has waited for a product knows that all threads issued it, and so that they had the words of A: what they were loaded from is free.
  if (shape.hasRegistersA)
    for (Thread *thread : meeting.threads)
      product->clock.release(*thread);
  std::vector<uint32_t> wordsA;
  for (int thread = 0; shape.hasRegistersA && thread < threads; ++thread)
    for (uint64_t word : operandsOf(meeting, thread).group(0))
      wordsA.push_back(uint32_t(word));
  // Memory is ordered before the product only as each of its threads knows it: any one of them may be the one that does not.
  AsyncOp &op = machine.engine().issue(*meeting.threads[machine.random(threads)], site, "wgmma", true);
  product->operation = op.serial;
  if (!group.products.empty())
    op.after = group.products.back()->operation;
  uint64_t window = leader.block->window;
  op.steps = {[=, &group](AsyncOp &self) {
    run(self, shape, window, wordsA, a, b, *product->chain);
    product->clock.release(self);
    product->isDone = true;
    group.waiting.wakeAll();
  }};
  group.products.push_back(product);
  for (int thread = 0; thread < threads; ++thread)
    for (int reg = 0; reg < shape.registers(); ++reg)
      meeting.results[size_t(thread)][reg] = wgmmaHandle(product->number, reg);
}

void wgmma(const uint64_t *operands, uint64_t *results, const Site *site) {
  meetWarpgroup(operands, results, site, issue);
}

// --- Fence, commit, wait ----------------------------------------------------------------------------------------------------------------

WgmmaWarp &warpOf(Thread &thread) { return warpgroupOf(thread).warps[thread.warp->index % 4]; }

void fenceWarp(Meeting &meeting) {
  WgmmaWarp &warp = warpOf(*meeting.threads[0]);
  warp.fencedSinceWait = warp.fencedSinceCommit = true;
}

void commitWarp(Meeting &meeting) {
  WgmmaWarp &warp = warpOf(*meeting.threads[0]);
  warp.committed = warpgroupOf(*meeting.threads[0]).issued;
  warp.groups.push_back(warp.committed);
  warp.fencedSinceCommit = false;
}

/// Settles which products the wait is for; each lane then waits for them by itself.
void startWait(Meeting &meeting) {
  WgmmaWarp &warp = warpOf(*meeting.threads[0]);
  auto pending = size_t(meeting.site->attributes[0]);
  while (warp.groups.size() > pending) {
    warp.waited = warp.groups.front();
    warp.groups.pop_front();
  }
  warp.fencedSinceWait = warp.fencedSinceCommit = false;
}

std::string describeWait(const void *object, uint64_t number) {
  const auto &product = *static_cast<const WgmmaProduct *>(object);
  return "wgmma " + std::to_string(number) + " (" + place(product.site) + ")";
}

/// A thread has what products before this number did.
struct WgmmaLane {
  uint64_t acquired = 0;
};

/// The value that a handle stands for; what is no handle is given back as it is.
uint64_t exchange(Thread &thread, Warpgroup &group, uint64_t waited, uint64_t value, const Site *site) {
  auto bits = uint32_t(value);
  for (auto &[number, chain] : group.chains) {
    uint32_t reg = bits - wgmmaHandle(number, 0);
    if (reg >= uint32_t(chain->registers))
      continue;
    if (number >= warpOf(thread).committed)
      fatal(thread, site,
            "takes results of a wgmma that was not committed: wgmma_commit must come before the wait");
    if (number >= waited)
      fatal(thread, site,
            "takes results of a wgmma whose group may still be in flight: wait for fewer pending groups");
    ++chain->returned;
    return chain->values[size_t(thread.index % threads) * size_t(chain->registers) + reg];
  }
  // A handle that arithmetic has touched is a quiet NaN with the same tail.
  constexpr uint32_t quiet = 1u << 22;
  for (auto &[number, chain] : group.chains)
    if (uint32_t reg = bits - (wgmmaHandle(number, 0) | quiet); reg < uint32_t(chain->registers))
      fatal(thread, site,
            "takes accumulator register " + std::to_string(reg) +
                " of a wgmma that something computed with while it was in flight");
  if (looksLikeHandle(bits) && !group.products.empty() && Site::isFloat(site->resultType(0)))
    fatal(thread, site,
          "takes an accumulator of a wgmma that a later wgmma, or an earlier wait, has already replaced");
  return value;
}

void wait(const uint64_t *operands, uint64_t *results, const Site *site) {
  Thread &thread = current();
  meetWarp(allLanes, operands, results, site, startWait);
  Warpgroup &group = warpgroupOf(thread);
  uint64_t waited = warpOf(thread).waited;
  uint64_t &acquired = thread.family.get<WgmmaLane>().acquired;
  for (; acquired < waited; ++acquired) {
    std::shared_ptr<WgmmaProduct> product = group.products[acquired - group.products.front()->number];
    while (!product->isDone)
      group.waiting.wait({site, describeWait, product.get(), product->number});
    product->clock.acquire(thread);
    handover(thread).merge(product->clock);
  }
  for (unsigned i = 0; i < site->numResults; ++i)
    results[i] = exchange(thread, group, waited, operands[i], site);
}

/// Its values pass: they are there to be computed before it.
void fence(const uint64_t *operands, uint64_t *results, const Site *site) {
  meetWarp(allLanes, operands, results, site, fenceWarp);
  std::copy_n(operands, site->numResults, results);
}
void commit(const uint64_t *operands, uint64_t *results, const Site *site) {
  meetWarp(allLanes, operands, results, site, commitWarp);
}

constexpr Row instructionRows[] = {
    {"wgmma_fence", fence}, {"wgmma", wgmma}, {"wgmma_commit", commit}, {"wgmma_wait", wait}};

} // namespace

std::optional<std::string> wgmmaFault(const WgmmaShape &shape) {
  ElementType a = shape.unit.a, b = shape.unit.b;
  bool byteFloats = (a == ElementType::E4M3 || a == ElementType::E5M2) &&
                    (b == ElementType::E4M3 || b == ElementType::E5M2);
  bool integers = isInteger(a) && isInteger(b);
  bool halves = a == b && (a == ElementType::F16 || a == ElementType::BF16);
  std::string types = std::string(name(a)) + " by " + name(b);
  if (!byteFloats && !integers && !halves && !(a == b && a == ElementType::TF32))
    return "multiplies " + types + ", which wgmma cannot";
  if (shape.n < 8 || shape.n > 256 || shape.n % 8 || (integers && shape.n > 24 && shape.n % 16))
    return "has n = " + std::to_string(shape.n) + "; 8 to 256 by 8 are possible, for integers above 24 by 16";
  AccumulatorType sum = shape.unit.accumulator;
  if (integers != (sum == AccumulatorType::S32) ||
      (sum == AccumulatorType::F16 && a != ElementType::F16 && !byteFloats))
    return "sums products of " + types + " in a type that wgmma cannot";
  if (!halves && (shape.majorA == Major::MN || shape.majorB == Major::MN))
    return "transposes an operand of " + types + "; only f16 and bf16 may be";
  if (shape.hasRegistersA && shape.majorA == Major::MN)
    return "transposes A, which is in registers";
  if (integers && (shape.negateA || shape.negateB))
    return "negates integers";
  return std::nullopt;
}

void checkWgmmasAtExit(Thread &thread) {
  if (thread.warp->exited != thread.warp->lanes)
    return;
  const Warpgroup *group = thread.block->warps[thread.warp->index & ~3u].family.find<Warpgroup>();
  if (group && group->warps[thread.warp->index % 4].waited < group->issued)
    thread.machine->report(fault(FindingKind::PendingAtExit, thread, group->products.back()->site,
                                 "ends with a wgmma that it did not wait for"));
}

std::span<const Row> wgmmaInstructions() { return instructionRows; }

} // namespace tilegym::sim
