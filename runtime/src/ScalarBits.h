// SPDX-License-Identifier: MIT
// Scalars between their own dtype in memory and the cells of host expressions: integers as int64, floats as doubles.
#pragma once
#include "Postfix.h"

namespace tilegym::runtime {

bool isFloatType(uint8_t dtype);
/// A scalar of `dtype` at `from`, read by its own size.
Cell readScalar(const void *from, uint8_t dtype);
/// The bits of a value in `dtype`, low bytes first. Floats round once, to nearest even; f8 saturates.
uint64_t scalarBits(Cell value, uint8_t dtype);

} // namespace tilegym::runtime
