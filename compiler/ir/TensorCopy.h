// SPDX-License-Identifier: MIT
// Stores by the copy engine: ops of their own header, as few files know them.
#pragma once
#include "compiler/ir/Tile.h"

#define GET_OP_CLASSES
#include "compiler/ir/TensorCopyOps.h.inc"
