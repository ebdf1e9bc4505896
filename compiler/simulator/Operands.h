// SPDX-License-Identifier: MIT
// An instruction's operands by their places in its record, where some are optional or variadic.
#pragma once
#include "compiler/simulator/Site.h"
#include <span>

namespace tilegym::sim {

class Operands {
public:
  /// `places` operands in the record, of which number `variable` alone is optional or variadic where the site has no segments.
  Operands(const uint64_t *values, const Site *site, unsigned places, unsigned variable)
      : values(values), site(site), places(places), variable(variable) {}

  std::span<const uint64_t> group(unsigned place) const {
    unsigned start = 0;
    for (unsigned i = 0; i < place; ++i)
      start += size(i);
    return {values + start, size(place)};
  }
  bool has(unsigned place) const { return size(place) != 0; }
  uint64_t operator[](unsigned place) const { return group(place)[0]; }
  uint64_t get(unsigned place, uint64_t otherwise) const { return has(place) ? group(place)[0] : otherwise; }
  /// Of a predicate: absent is true.
  bool holds(unsigned place) const { return get(place, 1) != 0; }

private:
  unsigned size(unsigned place) const {
    if (site->segments)
      return unsigned(site->segments[place]);
    return place == variable ? site->numOperands - (places - 1) : 1;
  }
  const uint64_t *values;
  const Site *site;
  unsigned places, variable;
};

} // namespace tilegym::sim
