// SPDX-License-Identifier: MIT
// The named combiners that reductions and scans share.
#pragma once
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"

namespace tilegym::nvidia {
mlir::Value combineNamed(ThreadBuilder &t, tile::ReduceKind kind, mlir::Value accumulator,
                         mlir::Value element);
} // namespace tilegym::nvidia
