// SPDX-License-Identifier: MIT
// The next call of an op is nearly always like the thread's last one: other addresses, more or fewer rows. Then what the last one found of shapes holds, and
// what does not is checked as ever.
#include "Call.h"
#include <cstring>

namespace tilegym::runtime {

using namespace format;

static constexpr int64_t kManyRows = int64_t(1) << 31; // products of two such numbers fit

/// Finds whether the next call may be told apart from this one by its rows alone: all tensors packed, the group one axis of at least two rows, as
/// with one row no stride of theirs is known.
void Call::settle() {
  settled = !(present & ~plain) && !plan.extentsVary;
  if (!withGroup)
    return;
  settled &=
      group.rank == 1 && group.extents[0] < kManyRows && bound[std::countr_zero(withGroup)].leading == 1;
  for (uint64_t rest = withGroup; settled && rest; rest &= rest - 1)
    settled = group.strides[std::countr_zero(rest)][0] < kManyRows;
}

bool Call::isAgain(const void *const *args) {
  if (!settled || !args)
    return false;
  int64_t rows = 0;
  for (const Argument &argument : table.get<Argument>(op.arguments)) {
    const void *value = *args++;
    uint32_t id = argument.id;
    if (!argument.isTensor) {
      if (!scalars[id].isConst)
        continue;
      int64_t bits = scalars[id].defaultBits;
      if (value)
        std::memcpy(&bits, value, sizeof bits);
      if (bits != scalarValues[id].i)
        return false;
      continue;
    }
    const auto *given = static_cast<const TilegymTensor *>(value);
    if ((present >> id & 1) != (given != nullptr))
      return false;
    if (!given)
      continue;
    BoundTensor &b = bound[id];
    if (given->rank != b.rank || given->dtype != dtypes[plan.tensors[id].typeVar] ||
        (given->strides != nullptr) != b.hasStrides || (b.rank && !given->shape))
      return false;
    if (b.hasGroup) {
      if (rows && rows != given->shape[0])
        return false;
      rows = given->shape[0];
    }
    for (int i = b.hasGroup; i < b.rank; ++i)
      if (given->shape[i] != b.shape[i])
        return false;
    for (int i = 0; b.hasStrides && i < b.rank; ++i)
      if (given->strides[i] != b.strides[i])
        return false;
    b.given = given;
  }
  if (withGroup && rows != group.extents[0]) {
    if (rows < 2 || rows >= kManyRows)
      return false;
    setRows(rows);
  }
  return true;
}

void Call::setRows(int64_t rows) {
  dimValues[plan.groupDim] = group.extents[0] = rows;
  for (uint64_t rest = withGroup; rest; rest &= rest - 1) {
    int id = std::countr_zero(rest);
    BoundTensor &b = bound[id];
    b.shape[0] = rows;
    b.elements = rows * group.strides[id][0];
    if (b.rank == 1)
      b.lastExtent = rows;
  }
}

TilegymStatus Call::bindAgain(const void *const *args) {
  TRY(bindScalars(args));
  TRY(runChecks());
  TRY(checkMemory());
  TRY(checkOverlap());
  findFacts();
  return TILEGYM_OK;
}

} // namespace tilegym::runtime
