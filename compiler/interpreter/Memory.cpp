// SPDX-License-Identifier: MIT
// Loads, stores and the sanitizer's shadow.
#include "compiler/interpreter/Memory.h"
#include <algorithm>
#include <numeric>

namespace tilegym::interp {

Shadow::Shadow(int64_t elements, bool isWritten) : written(size_t(elements), isWritten) {}

void Shadow::beginLaunch(bool useAtomics) {
  auto reset = [&](Owners &owners) {
    if (owners.size() != written.size())
      owners = Owners(written.size());
    for (auto &owner : owners)
      owner.store(nobody, std::memory_order_relaxed);
  };
  reset(writer);
  reset(reader);
  if (useAtomics)
    reset(atomics);
  else
    atomics = Owners();
}

namespace {

int32_t stranger(int32_t owner, int32_t block) { return owner == block ? Shadow::nobody : owner; }

/// Adds a block to an owner that many may share.
void join(std::atomic<int32_t> &owner, int32_t block) {
  int32_t seen = owner.load();
  while (seen != block && seen != Shadow::several)
    if (owner.compare_exchange_weak(seen, seen == Shadow::nobody ? block : Shadow::several))
      break;
}

} // namespace

int32_t Shadow::write(int64_t element, int32_t block) {
  const size_t e = size_t(element);
  written[e] = 1;
  if (writer.empty())
    return nobody;
  int32_t other = stranger(writer[e].exchange(block), block);
  if (other == nobody)
    other = stranger(reader[e].load(), block);
  if (other == nobody && !atomics.empty())
    other = stranger(atomics[e].load(), block);
  return other;
}

int32_t Shadow::read(int64_t element, int32_t block) {
  const size_t e = size_t(element);
  if (writer.empty())
    return nobody;
  join(reader[e], block);
  int32_t other = stranger(writer[e].load(), block);
  if (other == nobody && !atomics.empty())
    other = stranger(atomics[e].load(), block);
  return other;
}

int32_t Shadow::atomic(int64_t element, int32_t block) {
  const size_t e = size_t(element);
  if (writer.empty() || atomics.empty())
    return nobody;
  join(atomics[e], block);
  int32_t other = stranger(writer[e].load(), block);
  return other == nobody ? stranger(reader[e].load(), block) : other;
}

std::vector<int64_t> elementAt(const Memory &memory, int64_t position) {
  const HostTensor &tensor = memory.tensor;
  std::vector<size_t> axes(tensor.shape.size());
  std::iota(axes.begin(), axes.end(), size_t(0));
  std::sort(axes.begin(), axes.end(), [&](size_t a, size_t b) {
    int64_t x = std::abs(tensor.strides[a]), y = std::abs(tensor.strides[b]);
    return x != y ? x > y : a < b;
  });
  std::vector<int64_t> element(tensor.shape.size(), 0);
  int64_t rest = position - tensor.offset;
  for (size_t a : axes)
    if (tensor.strides[a] < 0)
      rest -= (tensor.shape[a] - 1) * tensor.strides[a]; // count from the lowest address
  for (size_t a : axes) {
    int64_t stride = std::abs(tensor.strides[a]);
    if (stride == 0 || tensor.shape[a] == 1)
      continue;
    int64_t at = std::clamp<int64_t>(rest / stride, 0, tensor.shape[a] - 1);
    rest -= at * stride;
    element[a] = tensor.strides[a] < 0 ? tensor.shape[a] - 1 - at : at;
  }
  return element;
}

void failElement(Fault::Kind kind, std::string message, const Memory &memory, int64_t position,
                 SourceRange range, std::string help) {
  RunFault thrown;
  thrown.fault.kind = kind;
  thrown.fault.message = std::move(message);
  thrown.fault.help = std::move(help);
  thrown.fault.range = range;
  thrown.fault.tensor = memory.name;
  thrown.fault.element = elementAt(memory, position);
  throw thrown;
}

void failRace(const Memory &memory, int64_t position, int32_t block, int32_t other, const char *what,
              SourceRange range) {
  std::string blocks = other == Shadow::several ? "other blocks" : "block number " + std::to_string(other);
  failElement(Fault::Race,
              std::string(what) + " by block number " + std::to_string(block) + " races with " + blocks,
              memory, position, range,
              "blocks of one launch are not ordered: bound what reaches into another block's part "
              "(x[lo : hi]), use an atomic, or a launch for each step");
}

void failOutside(const View &view, int64_t tileOffset, int64_t index, int64_t extent,
                 SourceRange indexRange) {
  RunFault thrown;
  thrown.fault.kind = Fault::OutOfBounds;
  thrown.fault.message =
      "index " + std::to_string(index) + " is outside of an axis of extent " + std::to_string(extent);
  thrown.fault.help = "mask the access, or clamp the index";
  thrown.fault.range = indexRange;
  if (view.memory)
    thrown.fault.tensor = view.memory->name;
  const Shape shape = view.shape();
  thrown.fault.element.resize(size_t(shape.rank()));
  for (int a = shape.rank(); a-- > 0;) {
    thrown.fault.element[size_t(a)] = tileOffset % shape[a];
    tileOffset /= shape[a];
  }
  throw thrown;
}

namespace {

bool isOn(const Value *mask, int64_t i) { return !mask || mask->boolAt(mask->count() == 1 ? 0 : i); }

template <class T> void copyRun(T *to, const T *from, int64_t stride, int64_t count) {
  if (stride == 1)
    std::copy_n(from, count, to);
  else
    for (int64_t i = 0; i < count; ++i)
      to[i] = from[i * stride];
}

template <class T> Value loadAs(const View &view, const Value &pad, const Value *mask, const Access &access) {
  const Memory &memory = *view.memory;
  Value result(memory.dtype, view.shape());
  T *to = result.as<T>();
  const T *from = reinterpret_cast<const T *>(memory.data);
  const T padding = *pad.as<T>();
  auto checkRead = [&](int64_t position) {
    Shadow &shadow = *memory.shadow;
    if (!shadow.isWritten(position))
      failElement(Fault::Uninitialized, "read of memory never written", memory, position, access.range,
                  "write it first, or fill it");
    int32_t other = shadow.read(position, access.block);
    if (other != Shadow::nobody)
      failRace(memory, position, access.block, other, "a read", access.range);
  };
  forEachRun(
      view,
      [&](int64_t tile, int64_t at, int64_t stride, int64_t count) {
        if (memory.shadow)
          for (int64_t i = 0; i < count; ++i)
            if (isOn(mask, tile + i))
              checkRead(at + i * stride);
        if (!mask) {
          copyRun(to + tile, from + at, stride, count);
          return;
        }
        for (int64_t i = 0; i < count; ++i)
          to[tile + i] = isOn(mask, tile + i) ? from[at + i * stride] : padding;
      },
      [&](int64_t tile, int64_t count) { std::fill_n(to + tile, count, padding); },
      [&](int64_t tile, int64_t count, int64_t index, int64_t extent, SourceRange range) {
        for (int64_t i = 0; i < count; ++i)
          if (isOn(mask, tile + i))
            failOutside(view, tile + i, index, extent, range);
        std::fill_n(to + tile, count, padding);
      });
  return result;
}

/// A store through index tiles may name one element twice; which value stays is nobody's promise.
template <class T>
void checkDuplicates(std::vector<std::pair<int64_t, T>> &stored, const Memory &memory, SourceRange range) {
  std::sort(stored.begin(), stored.end());
  for (size_t i = 1; i < stored.size(); ++i)
    if (stored[i].first == stored[i - 1].first && stored[i].second != stored[i - 1].second)
      failElement(Fault::Race, "one store writes this element twice with different values", memory,
                  stored[i].first, range, "make the indices distinct, or use an atomic");
}

template <class T>
void storeAs(const View &view, const Value &tile, const Value *mask, const Access &access) {
  Memory &memory = *view.memory;
  T *to = reinterpret_cast<T *>(memory.data);
  const T *from = tile.as<T>();
  const int64_t step = tile.count() == 1 ? 0 : 1;
  std::vector<std::pair<int64_t, T>> stored;
  forEachRun(
      view,
      [&](int64_t at, int64_t position, int64_t stride, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          if (!isOn(mask, at + i))
            continue;
          const int64_t element = position + i * stride;
          if (memory.shadow) {
            int32_t other = memory.shadow->write(element, access.block);
            if (other != Shadow::nobody)
              failRace(memory, element, access.block, other, "a write", access.range);
            if (view.table)
              stored.emplace_back(element, from[(at + i) * step]);
          }
          to[element] = from[(at + i) * step];
        }
      },
      [](int64_t, int64_t) {},
      [&](int64_t at, int64_t count, int64_t index, int64_t extent, SourceRange range) {
        for (int64_t i = 0; i < count; ++i)
          if (isOn(mask, at + i))
            failOutside(view, at + i, index, extent, range);
      });
  checkDuplicates(stored, memory, access.range);
}

} // namespace

Value loadView(const View &view, const Value &pad, const Value *mask, const Access &access) {
  switch (sizeInBytes(view.memory->dtype)) {
  case 1:
    return loadAs<uint8_t>(view, pad, mask, access);
  case 2:
    return loadAs<uint16_t>(view, pad, mask, access);
  case 4:
    return loadAs<uint32_t>(view, pad, mask, access);
  default:
    return loadAs<uint64_t>(view, pad, mask, access);
  }
}

void storeView(const View &view, const Value &tile, const Value *mask, const Access &access) {
  if (view.memory->readOnly)
    fail(Fault::Program, "store to the input '" + view.memory->name + "'", access.range);
  switch (sizeInBytes(view.memory->dtype)) {
  case 1:
    return storeAs<uint8_t>(view, tile, mask, access);
  case 2:
    return storeAs<uint16_t>(view, tile, mask, access);
  case 4:
    return storeAs<uint32_t>(view, tile, mask, access);
  default:
    return storeAs<uint64_t>(view, tile, mask, access);
  }
}

} // namespace tilegym::interp
