// SPDX-License-Identifier: MIT
// An op's arguments as its C function takes them, in the op's order: what the header declares and the object defines.
#pragma once
#include "compiler/semantics/OpModel.h"
#include <string>
#include <vector>

namespace tilegym::emit {

struct CArgument {
  enum Kind {
    Tensor, ///< const TilegymTensor *
    Scalar, ///< by value, in its dtype
    Pointer, ///< a scalar whose dtype the call decides, or one that C has no type for: const void *, NULL for the default
    Const, ///< int64_t
    List,  ///< const TilegymTensorList *
  } kind = Tensor;
  int64_t id = 0; ///< tensor, list or scalar
  std::string name;
  DType dtype = DType::F32; ///< Scalar
  bool optional = false;    ///< Tensor
};
std::vector<CArgument> signatureOf(const sem::OpModel &op);

} // namespace tilegym::emit
