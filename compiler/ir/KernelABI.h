// SPDX-License-Identifier: MIT
// The calling convention of a compiled kernel: one flat list of parameters, which lowering decides, the target makes into PTX
// parameters in the same order, and emit writes into the package for the runtime to fill.
//
// What each kind holds (`id`, `axis`):
//   Base        address of the first element of tensor `id`; 8 bytes
//   Extent      run-time dim `id` of the op (OpModel::dims); i64. A group dim's is the product of its dims
//   Stride      stride in elements of axis `axis` (as written, a group counts as one) of tensor `id`; i64. An axis declared `B|1` that has
//               extent 1 where the dim has not gets 0. Never present for a group axis in general kernels
//   Scalar      run-time scalar `id` (OpModel::scalars), in its own dtype, naturally aligned; bool is one byte
//   GroupRank   number of dims of group dim `id` after merging, 0 .. maxGroupRank; i64. Neighbouring dims are merged where they merge in every
//               tensor that has the group; dims of extent 1 are dropped
//   GroupExtent extent of the group's merged dim `axis`, counted from the innermost; i64; 1 from the rank on
//   GroupStride stride in elements of tensor `id` along merged dim `axis` of its group, innermost first; i64; 0 from the rank on
//   Grid        number of blocks along grid axis `axis`; i64. Launches are one-dimensional: block number = x + grid(0) * (y + grid(1) * z)
//   SmCount     multiprocessors of the device; i64
#pragma once
#include "compiler/ir/TileEnums.h"
#include "compiler/semantics/DType.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tilegym::tile {

/// A tensor has rank 8 at most, so a group has 8 dims at most.
constexpr int64_t maxGroupRank = 8;

struct KernelParam {
  ParamKind kind = ParamKind::Base;
  int64_t id = 0, axis = 0;
  DType dtype = DType::I64; ///< Base: the element. Scalar: the scalar. Else I64
  bool operator==(const KernelParam &) const = default;
};

/// What dispatch must have found true of a tensor before it may pick the kernel. A general kernel asks for nothing.
struct TensorFacts {
  bool unitInner = false;    ///< the last axis has stride 1 (or extent at most 1)
  bool aligned = false;      ///< base address and all other strides are multiples of 16 bytes
  bool wholeVectors = false; ///< the last axis's extent is a multiple of 16 bytes
  bool operator==(const TensorFacts &) const = default;
};

struct KernelABI {
  std::string entry; ///< the PTX entry's name
  Facts facts = Facts::General;
  std::vector<KernelParam> params;
  std::vector<TensorFacts> tensors; ///< by OpModel::tensors
  bool mergedGroups = false; ///< every group merges to one dim (so Stride is given for it), in fast kernels
  bool offsets32 = false;    ///< strides are not negative, and every element's offset in bytes is below 2^31
  int64_t gridRank = 1;
  int64_t warps = 4;
};

} // namespace tilegym::tile
