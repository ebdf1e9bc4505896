// SPDX-License-Identifier: MIT
// Elements as the words that instructions move.
#pragma once
#include "compiler/targets/nvidia/threads/ThreadBuilder.h"

namespace tilegym::nvidia {

/// How n elements travel: `words` words of `wordBits`.
struct Words {
  int64_t words, wordBits;
  mlir::Type wordType;
};
Words wordsFor(ThreadBuilder &t, int64_t elementBytes, int64_t n);

/// Elements (as registers hold them) to words, and n elements of a type from words.
llvm::SmallVector<mlir::Value> pack(ThreadBuilder &t, mlir::ValueRange elements, const Words &words);
Registers unpack(ThreadBuilder &t, mlir::ValueRange words, mlir::Type element, int64_t n, const Words &form);

/// A load of what `tile.hold` copied.
mlir::LogicalResult lowerHeldLoad(ThreadBuilder &t, tile::LoadOp load);

} // namespace tilegym::nvidia
