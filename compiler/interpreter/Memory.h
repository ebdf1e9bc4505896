// SPDX-License-Identifier: MIT
// The memory behind views, and the shadow that the sanitizer keeps of it.
#pragma once
#include "compiler/interpreter/HostTensor.h"
#include "compiler/interpreter/Value.h"
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

namespace tilegym::interp {

/// What the sanitizer knows of each element of a buffer. Owners are linear block indices; they last for one launch, `written` for the run.
/// Every access notes itself before it looks at the others' notes, so of two blocks on two threads at least one sees the race.
class Shadow {
public:
  static constexpr int32_t nobody = -1, several = -2;
  Shadow(int64_t elements, bool written);
  /// Forgets owners: a new launch begins. `atomics`: whether the launch uses any.
  void beginLaunch(bool atomics);
  void markWritten(int64_t element) { written[size_t(element)] = 1; }
  bool isWritten(int64_t element) const { return written[size_t(element)] != 0; }
  /// Each notes an access by a block and returns a block it races with, `several` for one not known by number, or `nobody`.
  int32_t write(int64_t element, int32_t block);
  int32_t read(int64_t element, int32_t block);
  int32_t atomic(int64_t element, int32_t block);

private:
  using Owners = std::vector<std::atomic<int32_t>>;
  std::vector<uint8_t> written;
  Owners writer, reader, atomics;
};

/// One tensor's memory as a run sees it.
struct Memory {
  std::string name;
  HostTensor tensor;
  std::byte *data = nullptr; ///< of element 0 of the buffer
  DType dtype = DType::F32;
  bool readOnly = false;
  std::shared_ptr<Shadow> shadow;         ///< null: not tracked
  std::shared_ptr<std::mutex> atomicLock; ///< shared by tensors of one buffer
};

/// Who accesses.
struct Access {
  int32_t block = 0;
  SourceRange range;
};

/// Elements of the view; `pad` (a scalar) where it reaches outside of its bounds or the mask is false.
Value loadView(const View &view, const Value &pad, const Value *mask, const Access &access);
void storeView(const View &view, const Value &tile, const Value *mask, const Access &access);
/// The region's old values; masked-off and padding elements give 0. `combine(old, i)` gives the bits to write for tile element i.
template <class Combine>
Value atomicView(const View &view, const Value *mask, const Access &access, Combine combine);

/// The index in `memory.tensor` of a position in its buffer.
std::vector<int64_t> elementAt(const Memory &memory, int64_t position);

[[noreturn]] void failOutside(const View &view, int64_t tileOffset, int64_t index, int64_t extent,
                              SourceRange indexRange);
[[noreturn]] void failRace(const Memory &memory, int64_t position, int32_t block, int32_t other,
                           const char *what, SourceRange range);
[[noreturn]] void failElement(Fault::Kind kind, std::string message, const Memory &memory, int64_t position,
                              SourceRange range, std::string help = {});

template <class Combine>
Value atomicView(const View &view, const Value *mask, const Access &access, Combine combine) {
  Memory &memory = *view.memory;
  Value old(memory.dtype, view.shape());
  std::memset(old.data(), 0, old.bytes());
  const size_t size = old.elementSize();
  if (memory.readOnly)
    fail(Fault::Program, "atomic on the input '" + memory.name + "'", access.range);
  std::lock_guard<std::mutex> lock(*memory.atomicLock);
  auto isOn = [&](int64_t i) { return !mask || mask->boolAt(mask->count() == 1 ? 0 : i); };
  forEachRun(
      view,
      [&](int64_t tile, int64_t at, int64_t stride, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          if (!isOn(tile + i))
            continue;
          const int64_t position = at + i * stride;
          if (Shadow *shadow = memory.shadow.get()) {
            if (!shadow->isWritten(position))
              failElement(Fault::Uninitialized, "atomic on memory never written", memory, position,
                          access.range, "fill the output in the signature, as in `-> h: i32[256] = 0`");
            int32_t other = shadow->atomic(position, access.block);
            if (other != Shadow::nobody)
              failRace(memory, position, access.block, other, "an atomic", access.range);
          }
          std::byte *element = memory.data + position * int64_t(size);
          uint64_t bits = 0;
          std::memcpy(&bits, element, size);
          std::memcpy(old.data() + (tile + i) * int64_t(size), &bits, size);
          bits = combine(bits, tile + i);
          std::memcpy(element, &bits, size);
        }
      },
      [](int64_t, int64_t) {},
      [&](int64_t tile, int64_t count, int64_t index, int64_t extent, SourceRange range) {
        for (int64_t i = 0; i < count; ++i)
          if (isOn(tile + i))
            failOutside(view, tile + i, index, extent, range);
      });
  return old;
}

} // namespace tilegym::interp
