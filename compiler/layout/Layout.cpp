// SPDX-License-Identifier: MIT
// The layout type: construction with its checks, evaluation, inverse, vectors.
#include "compiler/layout/Layout.h"

#include <algorithm>
#include <bit>

namespace tilegym::layout {

int64_t powerOfTwoPart(int64_t extent) { return extent & -extent; }
bool isPowerOfTwo(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }
int log2Exact(int64_t powerOfTwo) { return std::countr_zero(uint64_t(powerOfTwo)); }

Expected<Layout> Layout::make(Shape shape, Bases bases) {
  Shape unit;
  std::vector<Repeat> repeats;
  for (int64_t extent : shape) {
    if (extent < 1)
      return Failure{"tile extent " + std::to_string(extent) + " is not positive"};
    unit.push_back(powerOfTwoPart(extent));
  }
  for (int axis = int(shape.size()) - 1; axis >= 0; --axis)
    if (shape[axis] != unit[axis])
      repeats.push_back({axis, shape[axis] / unit[axis]});
  return make(std::move(unit), std::move(bases), std::move(repeats));
}

Expected<Layout> Layout::make(Shape unit, Bases bases, std::vector<Repeat> repeats) {
  Layout layout;
  for (int64_t extent : unit)
    if (!isPowerOfTwo(extent))
      return Failure{"unit tile extent " + std::to_string(extent) + " is not a power of two"};
  layout.shape_ = unit;
  layout.unit_ = std::move(unit);
  layout.bases_ = std::move(bases);

  std::vector<bool> seen(layout.unit_.size(), false);
  for (const Repeat &repeat : repeats) {
    if (repeat.axis < 0 || repeat.axis >= layout.rank() || seen[repeat.axis] || repeat.count < 1)
      return Failure{"bad repeat of axis " + std::to_string(repeat.axis)};
    seen[repeat.axis] = true;
    layout.shape_[repeat.axis] *= repeat.count;
    if (repeat.count > 1)
      layout.repeats_.push_back(repeat);
  }

  Span span;
  int unitBits = layout.unitBits();
  if (unitBits > 40)
    return Failure{"tile of " + formatShape(layout.shape_) + " is too large"};
  for (Dim dim : allDims)
    for (Vec basis : layout.bases(dim)) {
      if (basis >> unitBits)
        return Failure{"layout basis " + std::to_string(basis) + " lies outside the unit tile " +
                       formatShape(layout.unit_)};
      span.add(basis);
    }
  if (span.dim() != size_t(unitBits))
    return Failure{"layout holds only 2^" + std::to_string(span.dim()) + " of the 2^" +
                   std::to_string(unitBits) + " elements of the unit tile " + formatShape(layout.unit_)};
  return layout;
}

int64_t Layout::repeatCount() const {
  int64_t count = 1;
  for (const Repeat &repeat : repeats_)
    count *= repeat.count;
  return count;
}

int64_t Layout::numElements() const {
  int64_t count = 1;
  for (int64_t extent : shape_)
    count *= extent;
  return count;
}

int Layout::unitBits() const {
  int bits = 0;
  for (int64_t extent : unit_)
    bits += log2Exact(extent);
  return bits;
}

Vec Layout::unitIndex(const Coords &coords) const {
  Vec index = 0;
  for (int axis = 0; axis < rank(); ++axis)
    index = index * Vec(unit_[axis]) + Vec(coords[axis]);
  return index;
}

Coords Layout::unitCoords(Vec index) const {
  Coords coords(unit_.size());
  for (int axis = rank() - 1; axis >= 0; --axis) {
    coords[axis] = int64_t(index & Vec(unit_[axis] - 1));
    index >>= log2Exact(unit_[axis]);
  }
  return coords;
}

Coords Layout::repeatOffset(int64_t repetition) const {
  Coords offset(unit_.size(), 0);
  for (const Repeat &repeat : repeats_) {
    offset[repeat.axis] = repetition % repeat.count * unit_[repeat.axis];
    repetition /= repeat.count;
  }
  return offset;
}

Vec Layout::pack(const Place &place) const {
  Vec packed = Vec(place.block);
  packed = packed << bits(Dim::Warp) | Vec(place.warp);
  packed = packed << bits(Dim::Lane) | Vec(place.lane);
  return packed << bits(Dim::Register) | Vec(place.reg);
}

Place Layout::unpack(Vec packed) const {
  auto take = [&](Dim dim) {
    int64_t value = int64_t(packed & ((Vec(1) << bits(dim)) - 1));
    packed >>= bits(dim);
    return value;
  };
  Place place;
  place.reg = take(Dim::Register);
  place.lane = take(Dim::Lane);
  place.warp = take(Dim::Warp);
  place.block = take(Dim::Block);
  return place;
}

LinearMap Layout::map() const {
  LinearMap map;
  for (Dim dim : allDims)
    map.columns.insert(map.columns.end(), bases(dim).begin(), bases(dim).end());
  return map;
}

LinearMap Layout::inverse() const { return *rightInverse(map(), unitBits()); }

Coords Layout::apply(const Place &place) const {
  Vec element = 0;
  const int64_t indices[] = {place.reg % unitRegisters(), place.lane, place.warp, place.block};
  for (Dim dim : allDims)
    for (int bit = 0; bit < bits(dim); ++bit)
      element ^= (indices[size_t(dim)] >> bit & 1) ? bases(dim)[bit] : 0;
  Coords coords = unitCoords(element);
  Coords offset = repeatOffset(place.reg / unitRegisters());
  for (int axis = 0; axis < rank(); ++axis)
    coords[axis] += offset[axis];
  return coords;
}

int64_t Layout::index(const Place &place) const {
  Coords coords = apply(place);
  int64_t index = 0;
  for (int axis = 0; axis < rank(); ++axis)
    index = index * shape_[axis] + coords[axis];
  return index;
}

int64_t Layout::repetitionRegister(const Coords &coords) const {
  int64_t reg = 0, stride = unitRegisters();
  for (const Repeat &repeat : repeats_) {
    reg += coords[repeat.axis] / unit_[repeat.axis] * stride;
    stride *= repeat.count;
  }
  return reg;
}

Place Layout::find(const Coords &coords) const {
  Coords inUnit(unit_.size());
  for (int axis = 0; axis < rank(); ++axis)
    inUnit[axis] = coords[axis] % unit_[axis];
  Place place = unpack(inverse().apply(unitIndex(inUnit)));
  place.reg += repetitionRegister(coords);
  return place;
}

std::optional<int64_t> Layout::registerInThreadZero(const Coords &coords) const {
  Coords inUnit(unit_.size());
  for (int axis = 0; axis < rank(); ++axis)
    inUnit[axis] = coords[axis] % unit_[axis];
  auto reg = Span(bases(Dim::Register)).solve(unitIndex(inUnit));
  if (!reg)
    return std::nullopt;
  return int64_t(*reg) + repetitionRegister(coords);
}

Vec Layout::freeBits(Dim wanted) const {
  Span span;
  Vec free = 0;
  for (Dim dim : allDims)
    for (int bit = 0; bit < bits(dim); ++bit)
      if (!span.add(bases(dim)[bit]) && dim == wanted)
        free |= Vec(1) << bit;
  return free;
}

bool Layout::isReplicated() const { return map().columns.size() > size_t(unitBits()); }

Vectors Layout::vectors(int axis, int64_t maxWidth) const {
  int shift = 0; // where the axis starts in a unit index
  for (int later = axis + 1; later < rank(); ++later)
    shift += log2Exact(unit_[later]);
  const std::vector<Vec> &regs = bases(Dim::Register);
  std::vector<int> vectorBits; // register bits, by rising coordinate bit
  Vec low = 0;
  while ((int64_t(2) << vectorBits.size()) <= std::min(maxWidth, unit_[axis])) {
    Vec step = Vec(1) << (shift + int(vectorBits.size()));
    auto at = std::find(regs.begin(), regs.end(), step);
    // Aligned only if nothing else moves within the vector.
    auto touches = [&](Vec basis) { return (basis & step) != 0; };
    int64_t touching = 0;
    for (Dim dim : allDims)
      touching += std::count_if(bases(dim).begin(), bases(dim).end(), touches);
    if (at == regs.end() || touching != 1)
      break;
    vectorBits.push_back(int(at - regs.begin()));
    low |= Vec(1) << vectorBits.back();
  }

  Vectors result;
  result.width = int64_t(1) << vectorBits.size();
  for (int64_t reg = 0; reg < numRegisters(); ++reg) {
    if (Vec(reg % unitRegisters()) & low)
      continue;
    std::vector<int64_t> group;
    for (int64_t i = 0; i < result.width; ++i) {
      int64_t member = reg;
      for (size_t bit = 0; bit < vectorBits.size(); ++bit)
        member += (i >> bit & 1) << vectorBits[bit];
      group.push_back(member);
    }
    result.groups.push_back(std::move(group));
  }
  return result;
}

Layout Layout::normalized() const {
  Layout result = *this;
  while (!result.repeats_.empty()) {
    Repeat &first = result.repeats_.front();
    int64_t twos = powerOfTwoPart(first.count);
    if (twos == 1)
      break;
    // The unit tile grows along one axis: re-spell every basis in the larger tile, then add the new register
    // bits.
    Layout larger = result;
    larger.unit_[first.axis] *= twos;
    for (auto &list : larger.bases_)
      for (Vec &basis : list)
        basis = larger.unitIndex(result.unitCoords(basis));
    for (int64_t step = 1; step < twos; step *= 2) {
      Coords coords(unit_.size(), 0);
      coords[first.axis] = step * result.unit_[first.axis];
      larger.bases_[size_t(Dim::Register)].push_back(larger.unitIndex(coords));
    }
    larger.repeats_.front().count /= twos;
    bool done = larger.repeats_.front().count > 1;
    if (!done)
      larger.repeats_.erase(larger.repeats_.begin());
    result = std::move(larger);
    if (done)
      break;
  }
  return result;
}

bool Layout::operator==(const Layout &other) const {
  Layout a = normalized(), b = other.normalized();
  return a.shape_ == b.shape_ && a.unit_ == b.unit_ && a.bases_ == b.bases_ && a.repeats_ == b.repeats_;
}

} // namespace tilegym::layout
