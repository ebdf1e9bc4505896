// SPDX-License-Identifier: MIT
// Every family of the tile dialect's ops: what TableGen reads.
include "compiler/ir/Atomic.td"
include "compiler/ir/Debug.td"
include "compiler/ir/Elementwise.td"
include "compiler/ir/Layout.td"
include "compiler/ir/Memory.td"
include "compiler/ir/Product.td"
include "compiler/ir/Program.td"
include "compiler/ir/Random.td"
include "compiler/ir/Reduce.td"
include "compiler/ir/Scan.td"
include "compiler/ir/Shape.td"
include "compiler/ir/Shared.td"
