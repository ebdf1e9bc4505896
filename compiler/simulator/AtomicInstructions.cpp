// SPDX-License-Identifier: MIT
// Atomic accesses of one word, or of neighbouring words each by itself.
#include "compiler/simulator/Instructions.h"
#include "compiler/simulator/Machine.h"
#include "compiler/simulator/MemoryReduction.h"
#include "compiler/simulator/Ordering.h"
#include <cstring>

namespace tilegym::sim {
namespace {

uint64_t readWord(uint64_t address, uint32_t bytes) {
  uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void *>(address), bytes);
  return value;
}

/// Something changed: who polls it may go on.
void writeWord(uint64_t address, uint64_t value, uint32_t bytes) {
  if (readWord(address, bytes) != value)
    current().machine->progress();
  std::memcpy(reinterpret_cast<void *>(address), &value, bytes);
}

bool isGlobal(uint64_t address) { return address >> 32; }

/// The ordering is attribute number `index`; older forms of the ops have none.
Ordering orderOf(const Site *site, unsigned index) {
  return index < site->numAttributes ? Ordering(site->attributes[index]) : Ordering::Relaxed;
}

/// Follows the ordering.
Scope scopeOf(const Site *site, unsigned index) {
  return index + 1 < site->numAttributes ? Scope(site->attributes[index + 1]) : Scope::Gpu;
}

bool holds(const uint64_t *operands, const Site *site, unsigned index) {
  return index >= site->numOperands || operands[index];
}

[[noreturn]] void badKind(const Site *site) {
  Thread &thread = current();
  thread.machine->stop(
      fault(FindingKind::BadOperand, thread, site,
            std::string("carries out an ") + site->mnemonic + " of a kind that there is not for its type"));
}

enum class AtomicKind { Add, AddFloat, MinS, MaxS, MinU, MaxU, And, Or, Xor, Exchange };

ElementType integerType(bool isSigned, unsigned bits) {
  if (bits == 64)
    return isSigned ? ElementType::S64 : ElementType::U64;
  return isSigned ? ElementType::S32 : ElementType::U32;
}

ElementType floatType(uint8_t type) {
  return type == Site::f16Type    ? ElementType::F16
         : type == Site::bf16Type ? ElementType::BF16
         : type == Site::f32Type  ? ElementType::F32
                                  : ElementType::F64;
}

std::optional<uint64_t> updated(AtomicKind kind, uint8_t type, uint64_t old, uint64_t value, bool flush) {
  unsigned bits = Site::width(type);
  auto integer = [&](ReduceKind how, bool isSigned) {
    return reduced(how, integerType(isSigned, bits), old, value, false);
  };
  switch (kind) {
  case AtomicKind::Add:
    return integer(ReduceKind::Add, false);
  case AtomicKind::AddFloat:
    return Site::isFloat(type) ? reduced(ReduceKind::Add, floatType(type), old, value, flush) : std::nullopt;
  case AtomicKind::MinS:
    return integer(ReduceKind::Min, true);
  case AtomicKind::MaxS:
    return integer(ReduceKind::Max, true);
  case AtomicKind::MinU:
    return integer(ReduceKind::Min, false);
  case AtomicKind::MaxU:
    return integer(ReduceKind::Max, false);
  case AtomicKind::And:
    return integer(ReduceKind::And, false);
  case AtomicKind::Or:
    return integer(ReduceKind::Or, false);
  case AtomicKind::Xor:
    return integer(ReduceKind::Xor, false);
  case AtomicKind::Exchange:
    return value;
  }
  return std::nullopt;
}

/// address, value, predicate?
void atomic(const uint64_t *operands, uint64_t *results, const Site *site) {
  results[0] = 0;
  if (!holds(operands, site, 2))
    return;
  uint64_t address = operands[0];
  uint8_t type = site->operandType(1);
  uint32_t bytes = Site::width(type) / 8;
  atomicAccess(current(), address, bytes, Touch::Update, orderOf(site, 1), scopeOf(site, 1), site);
  uint64_t old = readWord(address, bytes);
  auto now = updated(AtomicKind(site->attributes[0]), type, old, operands[1], isGlobal(address));
  if (!now)
    badKind(site);
  writeWord(address, *now, bytes);
  results[0] = old;
}

/// address, compare, value, predicate?
void atomicCas(const uint64_t *operands, uint64_t *results, const Site *site) {
  results[0] = 0;
  if (!holds(operands, site, 3))
    return;
  uint64_t address = operands[0];
  uint32_t bytes = Site::width(site->operandType(1)) / 8;
  atomicAccess(current(), address, bytes, Touch::Update, orderOf(site, 0), scopeOf(site, 0), site);
  uint64_t old = readWord(address, bytes);
  if (old == operands[1])
    writeWord(address, operands[2], bytes);
  results[0] = old;
}

/// address, words..., predicate?
void atomicReduce(const uint64_t *operands, uint64_t *, const Site *site) {
  uint32_t words = uint32_t(site->segments[1]);
  if (!holds(operands, site, 1 + words))
    return;
  auto kind = ReduceKind(site->attributes[0]);
  auto type = ElementType(site->attributes[1]);
  uint32_t bytes = Site::width(site->operandType(1)) / 8, element = uint32_t(elementBytes(type));
  uint64_t address = operands[0];
  atomicAccess(current(), address, words * bytes, Touch::Update, orderOf(site, 2), scopeOf(site, 2), site);
  for (uint32_t at = 0; at < words * bytes; at += element) {
    uint64_t value = operands[1 + at / bytes] >> at % bytes * 8;
    if (element < 8)
      value &= (uint64_t(1) << element * 8) - 1;
    auto now = reduced(kind, type, readWord(address + at, element), value, isGlobal(address));
    if (!now)
      badKind(site);
    writeWord(address + at, *now, element);
  }
}

void atomicLoad(const uint64_t *operands, uint64_t *results, const Site *site) {
  uint32_t bytes = Site::width(site->resultType(0)) / 8;
  atomicAccess(current(), operands[0], bytes, Touch::AtomicRead, orderOf(site, 0), scopeOf(site, 0), site);
  results[0] = readWord(operands[0], bytes);
}

/// address, value, predicate?
void atomicStore(const uint64_t *operands, uint64_t *, const Site *site) {
  if (!holds(operands, site, 2))
    return;
  uint32_t bytes = Site::width(site->operandType(1)) / 8;
  atomicAccess(current(), operands[0], bytes, Touch::AtomicWrite, orderOf(site, 0), scopeOf(site, 0), site);
  writeWord(operands[0], operands[1], bytes);
}

constexpr Row rows[] = {{"atomic", atomic},
                        {"atomic_cas", atomicCas},
                        {"atomic_reduce", atomicReduce},
                        {"atomic_load", atomicLoad},
                        {"atomic_store", atomicStore}};

} // namespace

std::span<const Row> atomicInstructions() { return rows; }

} // namespace tilegym::sim
