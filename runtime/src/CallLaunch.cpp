// SPDX-License-Identifier: MIT
// A launch of a plan as a call of its own op: the plan's call, and what the launch gives.
#include "Call.h"
#include "ScalarBits.h"
#include <cinttypes>
#include <cstring>

namespace tilegym::runtime {

using namespace format;

TilegymStatus Call::bindLaunch(const Call &outer, const TilegymTensor *given, const Cell *values,
                               const int64_t *sizes) {
  // A launch has a few tensors; copying what the plan's call found of the others costs less than finding it.
  for (size_t id = 0; id < outer.tensors.size(); ++id)
    std::memcpy(static_cast<void *>(&bound[id]), &outer.bound[id], sizeof(BoundTensor));
  std::memcpy(dimValues, outer.dimValues, outer.dims.size() * sizeof *dimValues);
  std::memcpy(groupRanks, outer.groupRanks, outer.dims.size() * sizeof *groupRanks);
  std::memcpy(scalarValues, outer.scalarValues, outer.scalars.size() * sizeof *scalarValues);
  std::memcpy(dtypes, outer.dtypes, outer.typeVars.size());
  present = outer.present;
  withGroup = outer.withGroup;
  plain = outer.plain;
  smCount = outer.smCount;
  group.rank = outer.group.rank;
  std::memcpy(group.extents, outer.group.extents, sizeof group.extents);
  for (uint64_t rest = withGroup; rest; rest &= rest - 1) {
    int id = std::countr_zero(rest);
    std::memcpy(group.strides[id], outer.group.strides[id], sizeof group.strides[id]);
  }
  for (size_t d = outer.dims.size(); d < dims.size(); ++d) {
    dimValues[d] = *sizes++;
    groupRanks[d] = 0;
  }
  for (size_t s = outer.scalars.size(); s < scalars.size(); ++s) {
    uint8_t dtype = dtypes[scalars[s].typeVar];
    uint64_t bits = scalarBits(*values, dtype);
    scalarValues[s] = readScalar(&bits, dtype);
    if (!isFloatType(dtype) && scalarValues[s].i != values->i)
      return wrongNamed(scalars[s].name, "%" PRId64 " does not fit %s", values->i, dtypeName(dtype));
    ++values;
  }
  uint64_t own = 0;
  for (size_t id = outer.tensors.size(); id < tensors.size(); ++id) {
    TRY(bindTensor(uint32_t(id), *given++, bound[id]));
    own |= uint64_t(1) << id;
  }
  TRY(checkDims(own));
  TRY(checkMemory());
  findFacts();
  return TILEGYM_OK;
}

} // namespace tilegym::runtime
