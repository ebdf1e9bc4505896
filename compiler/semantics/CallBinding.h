// SPDX-License-Identifier: MIT
// A call against an op's interface: binds dims, checks dtypes, ranks, agreement and the op's `where`, and computes the shapes of
// outputs. What the runtime does with generated tables, done from the model: for the interpreter, the tests and the command line.
#pragma once
#include "compiler/semantics/HostEval.h"

namespace tilegym::sem {

struct ArrayShape {
  DType dtype = DType::F32;
  std::vector<int64_t> extents;
};

/// What a caller brings, by name ids of the model.
struct CallShape {
  /// By OpModel::tensors: one entry, one an element of a list, none where absent. Outputs may be given (preallocated) or left out.
  std::vector<std::vector<ArrayShape>> tensors;
  std::vector<bool> wanted; ///< by OpModel::tensors: optional outputs asked for (given ones always are)
  std::vector<std::optional<Constant>>
      scalars; ///< by OpModel::scalars, consts included; nullopt takes the default
  std::vector<std::optional<DType>> dtypes; ///< by OpModel::typeVars: those that are arguments of the call
  static CallShape of(const OpModel &op);   ///< everything absent
};

/// One thing wrong with a call: "softmax: argument `x`: found rank 1, expected at least 2".
struct CallError {
  std::string op, argument; ///< `argument` is empty where the call as a whole is meant
  std::string found, expected, help;
  SourceRange range; ///< the declaration that asks for it
  std::string text() const;
};

struct BoundCall {
  Specialization spec;                      ///< kernel = -1
  HostValues values;                        ///< everything known but the device
  std::vector<std::vector<int64_t>> groups; ///< by OpModel::dims: the leading dims of a group
  std::vector<std::vector<std::vector<int64_t>>>
      shapes; ///< by OpModel::tensors: of every tensor present, a list's elements each
};

/// Nullopt where `errors` says why.
std::optional<BoundCall> bindCall(const OpModel &op, const CallShape &call, std::vector<CallError> &errors);

/// Does the guard of a kernel hold for a call? An error of evaluation counts as no.
bool guardHolds(const OpModel &op, int64_t kernel, const BoundCall &call, int64_t smCount);
/// The call's interface specialization completed for a kernel: derived parameters evaluated.
std::optional<Specialization> deriveFor(const OpModel &op, int64_t kernel, const BoundCall &call);

} // namespace tilegym::sem
