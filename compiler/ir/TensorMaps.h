// SPDX-License-Identifier: MIT
// Which regions the copy engine can reach, and the parameter that describes their tensor to it.
#pragma once
#include "compiler/ir/Tile.h"

namespace tilegym::tile {

/// The tensor map that copies boxes of the region, of `box[i]` elements along axis i of its tensor, to or from shared memory swizzled by `swizzle` bytes: a parameter of the
/// kernel, added where it has none like it. Whatever the region leaves out of bounds, such a copy leaves out, too; loads give zeros there. The caller sees to pads, and that nothing that is
/// stored has a negative index. On failure `reason` says why there is none.
mlir::FailureOr<mlir::Value> tensorMapOf(RegionOp region, llvm::ArrayRef<int64_t> box, int64_t swizzle,
                                         std::string &reason);

} // namespace tilegym::tile
