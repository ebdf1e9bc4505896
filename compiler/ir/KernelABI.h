// SPDX-License-Identifier: MIT
// The calling convention of a compiled kernel: one flat list of parameters, which lowering decides and a tile.kernel carries, the target makes into
// PTX parameters in the same order, and emit writes into the package for the runtime to fill.
//
// What each kind holds (`id`, `axis`); runtime/include/tilegym/format/Table.h has the same list for the package:
//   Base        address of the first element of tensor `id`; 8 bytes
//   Extent      run-time dim `id` of the op (OpModel::dims); i64. A group dim's is the product of its dims
//   Stride      stride in elements of axis `axis` (as written, a group counts as one; not the group) of tensor `id`; i64. An axis declared
//               `B|1` that has extent 1 where the dim has not gets 0
//   Scalar      run-time scalar `id` (OpModel::scalars), in its own dtype, naturally aligned; bool is one byte
//   GroupRank   number of dims of group dim `id` after merging, 0 .. maxGroupRank; i64. Neighbouring dims are merged where they merge in every
//               tensor that has the group; dims of extent 1 are dropped. General kernels only
//   GroupExtent extent of the group's merged dim `axis`, 0 = outermost; i64; 1 from the rank on. General kernels only
//   GroupStride stride in elements of tensor `id` along merged dim `axis` of its group, 0 = outermost; i64; 0 from the rank on. Fast
//               kernels have axis 0 alone: there the group is one dim
//   Grid        number of blocks along grid axis `id`; i64. Launches are one-dimensional: block number = x + grid(0) * (y + grid(1) * z)
//   SmCount     multiprocessors of the device; i64
//   TensorMap   what the copy engine knows of tensor `id`, KernelABI::maps[axis]; 128 bytes, aligned to 64, by value
//   ListLength  tensors in the list `id`; i64
//
// Base, Stride and TensorMap of a list's tensor, and Extent of a dim that each of them has for itself, are arrays of maxListLength values, one
// for each tensor: kernels read them with the number of a tensor that they work out.
#pragma once
#include "compiler/ir/FactSet.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tilegym::tile {

/// format::kMaxGroupDims: what a group may still have after merging.
constexpr int64_t maxGroupRank = 7;

/// format::kMaxFastExtent.
constexpr int64_t maxFastExtent = (int64_t(1) << 31) - (int64_t(1) << 20);

/// format::kMaxListLength: so many tensors may be in a list.
constexpr int64_t maxListLength = 64;

/// format::kMaxParamBytes: what a launch's parameters may take, in all.
constexpr int64_t maxParamBytes = 32764;

/// format::kMaxMaps.
constexpr int64_t maxTensorMaps = 16;

/// One axis of a tensor map.
struct MapAxis {
  int64_t box = 1;    ///< elements along it that one copy takes
  int64_t dim = -1;   ///< the op's run-time dim that is its extent; -1: `extent` is
  int64_t extent = 0; ///< 0 where a dim is
  int64_t stride =
      -1; ///< the axis of the tensor (as ParamKind::Stride counts) whose stride it has; -1: neighbours in memory
  bool operator==(const MapAxis &) const = default;
};

/// A tensor map that the runtime makes.
struct TensorMapABI {
  int64_t tensor = 0;
  int64_t swizzle = 0;       ///< bytes; 0: none
  std::vector<MapAxis> axes; ///< the innermost first
  bool operator==(const TensorMapABI &) const = default;
};

struct KernelParam {
  ParamKind kind = ParamKind::Base;
  int64_t id = 0, axis = 0;
  int64_t bytes = 8; ///< size and, but for a tensor map, alignment; of a list's each value's
  int64_t list = 0;  ///< room for so many values; 0: one, of no list
  bool operator==(const KernelParam &) const = default;
};

/// What dispatch must have found true of a tensor before it may pick the kernel. A general kernel asks for nothing; a fast one asks only for
/// the tensors that its blocks reach by vectors.
struct TensorFacts {
  bool unitInner = false;    ///< the inner axis has stride 1 or extent at most 1
  bool aligned = false;      ///< base address and all other strides are multiples of 16 bytes
  bool wholeVectors = false; ///< the inner axis's extent is a multiple of 16 bytes
  bool transposed = false;   ///< the inner axis is the last but one; else the last
  /// format::TensorFacts.
  int64_t bits() const { return (unitInner + 2 * aligned + 4 * wholeVectors) << (transposed ? 3 : 0); }
  static TensorFacts fromBits(int64_t bits) {
    int64_t own = bits > 7 ? bits >> 3 : bits;
    return {(own & 1) != 0, (own & 2) != 0, (own & 4) != 0, bits > 7};
  }
  bool operator==(const TensorFacts &) const = default;
};

struct KernelABI {
  std::string entry; ///< the PTX entry's name
  Facts facts = Facts::General;
  std::vector<KernelParam> params;
  std::vector<TensorFacts> tensors; ///< by OpModel::tensors; all false unless fast
  std::vector<TensorMapABI> maps;   ///< by the `axis` of parameters that are tensor maps
  /// In fast kernels every group merges to one dim, strides are not negative, offsets in bytes are below 2^31, and
  /// extents at most maxFastExtent.
  bool isFast() const { return facts == Facts::Fast; }
  /// A dense kernel asks for a unit stride alone of some tensor.
  FactKind kind() const {
    bool anywhere = false;
    for (const TensorFacts &one : tensors)
      anywhere |= one.unitInner && !one.aligned;
    return !isFast() ? FactKind::General : anywhere ? FactKind::Dense : FactKind::Fast;
  }
  int64_t gridRank = 1;
  int64_t warps = 4;    ///< that hold tiles, of all teams
  int64_t producer = 0; ///< further warps, one of which feeds them
  int64_t threads() const { return (warps + producer) * 32; }
  int64_t ctas = 1;        ///< blocks of a cluster for each block of the grid
  int64_t blocksPerSm = 0; ///< of a launch whose blocks take several of the grid each; 0: one each
};

class KernelOp;
/// What the kernel's attributes say; `entry` is its name.
KernelABI abiOf(KernelOp kernel);

} // namespace tilegym::tile
