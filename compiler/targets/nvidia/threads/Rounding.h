// SPDX-License-Identifier: MIT
// Conversions that no single instruction makes.
#pragma once
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"
#include <array>

namespace tilegym::nvidia {
/// f64 to f32, inexact values to the odd neighbour, so that a later rounding to fewer bits is as if made from the f64.
mlir::Value roundToOdd(ThreadBuilder &t, mlir::Value x);
/// Any float to f8 bits, and back to f32.
mlir::Value encodeFloat8(ThreadBuilder &t, mlir::Value x, mlir::Type format, tile::Rounding rounding,
                         bool saturate);
/// Two f32, rounded to the nearest and saturated, by the instruction of targets that have it.
std::array<mlir::Value, 2> encodePair(ThreadBuilder &t, mlir::Value low, mlir::Value high, mlir::Type format);
mlir::Value decodeFloat8(ThreadBuilder &t, mlir::Value code, mlir::Type format);
} // namespace tilegym::nvidia
