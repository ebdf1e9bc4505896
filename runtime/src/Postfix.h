// SPDX-License-Identifier: MIT
// The one evaluator of a package's small expressions: dims, guards, derived parameters, grids, checks.
#pragma once
#include "tilegym/format/Table.h"
#include <cstdint>
#include <span>

namespace tilegym::runtime {

/// A cell of the stack: which member holds is the opcode's business.
union Cell {
  int64_t i;
  double f;
};

/// What an expression may name. Consts are scalars here.
struct Values {
  const int64_t *dims = nullptr;
  const Cell *scalars = nullptr;       ///< integers as int64, floats as double
  uint64_t present = 0;                ///< bit a tensor
  const int64_t *params = nullptr;     ///< the kernel's
  const int64_t *groupRanks = nullptr; ///< by dim: leading dims of a group
  const uint8_t *dtypes = nullptr;     ///< by type var
  int64_t smCount = 0;
  const uint32_t *listLengths = nullptr;    ///< by tensor, of lists
  const int64_t *const *listDims = nullptr; ///< by dim, of elements: the value of each
  const uint32_t *listDimCounts = nullptr;  ///< by dim: how many these are
};

struct Evaluated {
  Cell value{};
  const char *error = nullptr; ///< "division by zero" ...
};
/// Code that checkCode accepted; no code gives 0.
Evaluated evaluate(std::span<const format::Inst> code, const Values &values);

/// What an instruction that takes nothing puts on the stack.
Cell pushed(const format::Inst &inst, const Values &values);
/// One that takes operands, of them.
Evaluated apply(format::OpCode code, const Cell *operands);

/// How many values an instruction takes from the stack, to leave one.
int operandsOf(format::OpCode code);

struct CodeLimits {
  uint32_t dims, scalars, tensors, params, typeVars;
  uint64_t lists = 0, listDims = 0; ///< bit a tensor that is a list, a dim of elements
};
/// Null where the code is sound: known opcodes, operands in range, a stack that never underflows or exceeds its size and ends with one value (or no code), sums
/// that lie one in the other.
const char *checkCode(std::span<const format::Inst> code, CodeLimits limits);

} // namespace tilegym::runtime
