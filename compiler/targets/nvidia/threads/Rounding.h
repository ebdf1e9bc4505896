// SPDX-License-Identifier: MIT
// Conversions that no single instruction makes.
#pragma once
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"

namespace tilegym::nvidia {
/// f64 to f32, inexact values to the odd neighbour, so that a later rounding to fewer bits is as if made from the f64.
mlir::Value roundToOdd(ThreadBuilder &t, mlir::Value x);
/// Any float to f8 bits, and back to f32.
mlir::Value encodeFloat8(ThreadBuilder &t, mlir::Value x, mlir::Type format, tile::Rounding rounding,
                         bool saturate);
mlir::Value decodeFloat8(ThreadBuilder &t, mlir::Value code, mlir::Type format);
} // namespace tilegym::nvidia
