// SPDX-License-Identifier: MIT
// One mistake at one place: chosen, made and judged.
#pragma once
#include "MutationOperators.h"
#include "Subject.h"

namespace tilegym::mutation {

/// Numbers of a mutant: equal everywhere for equal seeds.
class Random {
public:
  Random(uint64_t seed, uint64_t number) : state(seed * 0x9e3779b97f4a7c15 + number * 0xbf58476d1ce4e5b9) {}
  uint64_t next() { // splitmix64
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t state;
};

struct Mutant {
  const Operator *kind = nullptr;
  mlir::Operation *op = nullptr; ///< in the subject's module
  unsigned place = 0;            ///< of the op
  size_t ordinal = 0;            ///< among the places of its operator in the module
  uint64_t random = 0;

  /// "ptx.barrier at 21".
  std::string where() const;
};
/// An operator that has a place here, each with equal chance; then one of its places.
std::optional<Mutant> chooseMutant(Subject &subject, Random &random, bool plainOnly,
                                   const std::string &onlyOperator);

struct Verdict {
  enum Kind { Caught, Equivalent, Survived } kind = Survived;
  std::string by, detail;
};
/// In a process of its own; the subject stays as it is.
Verdict tryMutant(Subject &subject, const Mutant &mutant);
/// Writes `path`.before and `path`.after.
void dumpMutant(Subject &subject, const Mutant &mutant, const std::string &path);

} // namespace tilegym::mutation
