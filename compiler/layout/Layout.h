// SPDX-License-Identifier: MIT
// The layout of a tile: which element each (register, lane, warp, block) holds. On a power-of-two unit tile
// it is a linear map over GF(2), from the bits of the four indices to the bits of the element's coordinates;
// the unit tile is then repeated along axes, one more set of registers for each repetition (192 = 3 x 64). A
// shared-memory layout is the same type with no thread bits: its register index is the element's offset.
#pragma once

#include "compiler/layout/Expected.h"
#include "compiler/layout/Gf2.h"

#include <array>
#include <string>

namespace tilegym::layout {

/// The four indices, in the order in which their bits are packed for `Layout::map` (register lowest).
enum class Dim { Register, Lane, Warp, Block };
constexpr std::array<Dim, 4> allDims = {Dim::Register, Dim::Lane, Dim::Warp, Dim::Block};
constexpr int laneBits = 5;

using Shape = std::vector<int64_t>;
using Coords = std::vector<int64_t>;

/// One place where an element may be.
struct Place {
  int64_t reg = 0;
  int64_t lane = 0;
  int64_t warp = 0;
  int64_t block = 0;
  bool operator==(const Place &) const = default;
};

/// `count` unit tiles one after another along `axis`.
struct Repeat {
  int axis;
  int64_t count;
  bool operator==(const Repeat &) const = default;
};

/// Registers that hold neighbours along an axis, for vector memory access.
struct Vectors {
  int64_t width = 1;
  /// Each has `width` registers, in order of the coordinate; together they are all registers. The first
  /// coordinate is a multiple of `width` in every thread.
  std::vector<std::vector<int64_t>> groups;
};

class Layout {
public:
  /// For each index, the image of each of its bits: a row-major element index within the unit tile.
  using Bases = std::array<std::vector<Vec>, 4>;

  /// A layout whose unit tile is the whole power-of-two part of `shape`; odd factors are repeats, last axis
  /// fastest.
  static Expected<Layout> make(Shape shape, Bases bases);
  /// The general form: `repeats`, fastest first, must make `unit` into `shape`.
  static Expected<Layout> make(Shape unit, Bases bases, std::vector<Repeat> repeats);

  const Shape &shape() const { return shape_; }
  const Shape &unit() const { return unit_; }
  const std::vector<Repeat> &repeats() const { return repeats_; }
  int rank() const { return int(shape_.size()); }
  const std::vector<Vec> &bases(Dim dim) const { return bases_[size_t(dim)]; }
  const Bases &allBases() const { return bases_; }
  int bits(Dim dim) const { return int(bases(dim).size()); }

  int64_t unitRegisters() const { return int64_t(1) << bits(Dim::Register); }
  int64_t repeatCount() const;
  /// Registers a thread needs: those of the unit tile, times the repeats. Register u of repetition k is u + k
  /// * unitRegisters().
  int64_t numRegisters() const { return unitRegisters() * repeatCount(); }
  int64_t numWarps() const { return int64_t(1) << bits(Dim::Warp); }
  int64_t numBlocks() const { return int64_t(1) << bits(Dim::Block); }
  int64_t numElements() const;
  /// Bits of a row-major index within the unit tile.
  int unitBits() const;

  Coords apply(const Place &place) const;
  /// The element's row-major index in the whole tile.
  int64_t index(const Place &place) const;
  /// The first place that holds the element: with the free bits zero.
  Place find(const Coords &coords) const;

  /// The register with which thread 0 holds the element, if it does. A register holds the same offset from
  /// thread 0's element in all threads.
  std::optional<int64_t> registerInThreadZero(const Coords &coords) const;

  /// Index bits that add no element: of all places that hold an element, exactly one has all of them zero.
  /// Only there may an element be stored or added atomically, if once is meant.
  Vec freeBits(Dim dim) const;
  bool isReplicated() const;

  /// Unit tile only: packed bits of (register, lane, warp, block) to the row-major unit index, and back to
  /// the first place.
  LinearMap map() const;
  LinearMap inverse() const;
  Vec pack(const Place &unitPlace) const;
  Place unpack(Vec packed) const;

  /// The widest vectors along `axis`, of at most `maxWidth` elements.
  Vectors vectors(int axis, int64_t maxWidth) const;

  /// Repeats as far as possible turned into register bits, those of one axis at a time; the same function, in
  /// one spelling.
  Layout normalized() const;
  /// The same function from places to elements.
  bool operator==(const Layout &other) const;

  /// One line, the same for equal layouts: `64x192 unit 64x64 reg [0,1] [0,2] lane ... repeat 1x3`.
  std::string str() const;
  /// Reads what `str` wrote.
  static Expected<Layout> parse(const std::string &text);

  Vec unitIndex(const Coords &unitCoords) const;
  Coords unitCoords(Vec unitIndex) const;

private:
  Layout() = default;
  Coords repeatOffset(int64_t repetition) const;
  int64_t repetitionRegister(const Coords &coords) const;

  Shape shape_, unit_;
  Bases bases_;
  std::vector<Repeat> repeats_;
};

/// The power-of-two part of an extent.
int64_t powerOfTwoPart(int64_t extent);
bool isPowerOfTwo(int64_t n);
int log2Exact(int64_t powerOfTwo);
std::string formatShape(const Shape &shape);

} // namespace tilegym::layout
