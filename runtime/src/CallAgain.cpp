// SPDX-License-Identifier: MIT
// The next call of an op is nearly always like the thread's last one: other addresses, more or fewer rows. Then what the last one found of shapes holds, and
// what does not is checked as ever.
#include "Call.h"
#include <cstring>

namespace tilegym::runtime {

using namespace format;

static constexpr int64_t kManyRows = int64_t(1) << 31; // products of two such numbers fit

/// Finds whether the next call may be told apart from this one by its rows alone: all tensors packed, the rows one axis of at least two, as
/// with one row no stride of theirs is known.
void Call::settle() {
  settled = !(present & ~plain) && !plan.extentsVary; // never of lists
  uint64_t withRows = plan.rowsOf & present;
  if (!withRows)
    return;
  int64_t rows = dimValues[plan.rowsDim];
  settled &= rows > 1 && rows < kManyRows && (!withGroup || bound[std::countr_zero(withGroup)].leading == 1);
  for (uint64_t rest = withRows; settled && rest; rest &= rest - 1)
    settled = strideOfRows(std::countr_zero(rest)) < kManyRows;
}

/// Of a packed tensor.
int64_t Call::strideOfRows(int id) const { return withGroup ? group.strides[id][0] : bound[id].strides[0]; }

/// Whether a tensor is as `b` was, but for its address and, where its first axis is the rows, how many: they are `*rows` or, where that is 0, become it.
static bool isLike(const BoundTensor &b, bool hasRows, uint8_t dtype, const TilegymTensor &given,
                   int64_t *rows) {
  const int64_t *shape = given.shape, *strides = given.strides;
  if (given.rank != b.rank || given.dtype != dtype || (strides != nullptr) != b.hasStrides ||
      (!shape && b.rank))
    return false;
  int axis = 0;
  if (hasRows) {
    if (*rows && *rows != shape[0])
      return false;
    *rows = shape[0];
    axis = 1;
  }
  for (; axis < b.rank; ++axis)
    if (shape[axis] != b.shape[axis])
      return false;
  if (strides)
    for (axis = 0; axis < b.rank; ++axis)
      if (strides[axis] != b.strides[axis])
        return false;
  return true;
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
    BoundTensor &b = bound[id];
    const auto *given = static_cast<const TilegymTensor *>(value);
    if (!(present >> id & 1)) {
      if (given)
        return false;
      continue;
    }
    if (!given || !isLike(b, plan.rowsOf >> id & 1, dtypes[plan.tensors[id].typeVar], *given, &rows))
      return false;
    b.given = given;
  }
  if (plan.rowsOf & present && rows != dimValues[plan.rowsDim]) {
    if (rows < 2 || rows >= kManyRows)
      return false;
    setRows(rows);
  }
  return true;
}

void Call::setRows(int64_t rows) {
  dimValues[plan.rowsDim] = rows;
  if (withGroup)
    group.extents[0] = rows;
  for (uint64_t rest = plan.rowsOf & present; rest; rest &= rest - 1) {
    int id = std::countr_zero(rest);
    BoundTensor &b = bound[id];
    b.shape[0] = rows;
    b.elements = rows * strideOfRows(id);
    if (b.rank == 1)
      b.lastExtent = rows;
  }
}

TilegymStatus Call::bindAgain(const void *const *args) {
  if (plan.hasScalars)
    TRY(bindScalars(args));
  if (plan.checksVary)
    TRY(runChecks());
  TRY(checkMemory());
  TRY(checkOverlap());
  findFacts();
  return TILEGYM_OK;
}

} // namespace tilegym::runtime
