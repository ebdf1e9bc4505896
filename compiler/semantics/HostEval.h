// SPDX-License-Identifier: MIT
// The value of a host expression for a call. The runtime has an evaluator of its own over postfix code; tests hold the two together.
#pragma once
#include "compiler/semantics/ConstFold.h"
#include "compiler/semantics/OpModel.h"

namespace tilegym::sem {

/// What a call knows. Shorter vectors, kDynamic and nullopt mean unknown.
struct HostValues {
  std::vector<int64_t> dims;                    ///< by OpModel::dims
  std::vector<std::vector<int64_t>> lists;      ///< by OpModel::dims: the values of a dim of list elements
  std::vector<int64_t> lengths;                 ///< by OpModel::tensors: how many a list has
  std::vector<std::optional<Constant>> scalars; ///< by OpModel::scalars, consts included
  std::vector<DType> dtypes;                    ///< by OpModel::typeVars
  std::vector<bool> present;                    ///< by OpModel::tensors
  int64_t smCount = 0;                          ///< 0: unknown
  std::vector<std::optional<Constant>> locals;  ///< of a body's host lets, and the variables of sums
};

/// What a specialization alone fixes.
HostValues knownValues(const OpModel &op, const Specialization &spec);

/// Integers are exact 64-bit ones, floats f64. Errors: "division by zero", "the result does not fit in 64 bits", an element number
/// outside its list; `unknown` is set where a value that the expression needs is not known.
struct Evaluated : Folded {
  bool unknown = false;
};
Evaluated evaluateHost(const Expr &e, const HostValues &values);

} // namespace tilegym::sem
