// SPDX-License-Identifier: MIT
// The arguments of a simulated kernel as `tilegym-opt simulate` takes them on its command line, one a parameter:
//
//   i32=7  f32=0.5  i64=0x10      a scalar
//   f32[64]                       a buffer that nobody has written
//   f32[64]=iota                  0, 1, 2 ...; or `zero`, `small` (integers of -8 .. 8 that repeat late), or values: =1,2,nan that repeat
//   map=f32:0:64x32:16x8          a tensor map of the buffer that is argument 0: extents and box, innermost first; then any of
//                                 :strides=B,B (bytes, of all but the innermost) :swizzle=128 :steps=1x2 :nan
//
// Types: i8 i16 i32 i64 f16 bf16 f32 f64.
#pragma once
#include "compiler/semantics/DType.h"
#include "compiler/simulator/DeviceMemory.h"
#include "compiler/simulator/TensorMap.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <vector>

namespace tilegym {

class SimulatedArguments {
public:
  explicit SimulatedArguments(sim::Memory &memory) : memory(memory) {}
  /// The next parameter's. False where the text is of another form (an option).
  llvm::Expected<bool> add(llvm::StringRef text);
  /// CUDA's array.
  void **parameters();
  /// Memory of the `index`th parameter, for those passed by value.
  uint64_t addressOf(size_t index) const { return reinterpret_cast<uint64_t>(values[index]->bytes); }
  size_t count() const { return values.size(); }
  /// Each buffer as it is now, a line each: `arg1 f32 [0, 1.5]`; with `hex` as bits.
  std::string text(bool hex) const;

private:
  struct Argument {
    alignas(64) std::byte bytes[128] = {}; ///< the parameter
    bool isBuffer = false;
    DType type = DType::I32;
    uint64_t address = 0;
    int64_t elements = 0;
  };
  llvm::Error fill(const Argument &buffer, llvm::StringRef pattern);
  llvm::Error addMap(llvm::StringRef text);

  sim::Memory &memory;
  std::vector<std::unique_ptr<Argument>> values;
  std::vector<void *> pointers;
};

} // namespace tilegym
