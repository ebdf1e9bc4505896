// SPDX-License-Identifier: MIT
// The enums of the tile dialect alone: cheap to include where no IR is touched.
#pragma once
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>

#include "compiler/ir/TileEnums.h.inc"
