// SPDX-License-Identifier: MIT
// Matching a fragment against the fixed pattern of ldmatrix: lane l holds word l % 4 of row l / 4, or with `transposed` the elements
// (2 * (l % 4), l / 4) and (2 * (l % 4) + 1, l / 4).
#include "compiler/layout/MatrixAccess.h"

#include <algorithm>

namespace tilegym::layout {

namespace {

OffsetPart join(const OffsetPart &a, const OffsetPart &b) { return {a.bits ^ b.bits, a.step + b.step}; }

struct Matcher {
  const Layout &tile;
  const SharedAddresses &addresses;
  int64_t rowElements; // 16 bytes of them

  OffsetPart registerPart(int bit) const {
    const OffsetPart &zero = addresses.registers[0], &one = addresses.registers[size_t(1) << bit];
    return {one.bits ^ zero.bits, one.step - zero.step};
  }
  bool is(const OffsetPart &part, int64_t bits) const { return part.step == 0 && part.bits == bits; }
  bool outsideRow(const OffsetPart &part) const {
    return part.bits % rowElements == 0 && part.step % rowElements == 0;
  }
  /// Register bits whose offsets are 1, 2, ... up to `count` of them.
  std::vector<int> wordBits(int count) const;
  bool match(MatrixAccess &access, int elemBytes) const;
  bool matchTransposed(MatrixAccess &access) const;
  /// Nothing but the word and the given lane bits may move within a row.
  bool rowsClear(const std::vector<int> &word, const std::vector<int> &lanesInRow) const;
  void instructions(MatrixAccess &access, const std::vector<int> &word) const;
};

std::vector<int> Matcher::wordBits(int count) const {
  std::vector<int> found;
  for (int i = 0; i < count; ++i)
    for (int bit = 0; bit < tile.bits(Dim::Register); ++bit)
      if (is(registerPart(bit), int64_t(1) << i))
        found.push_back(bit);
  return found;
}

bool Matcher::rowsClear(const std::vector<int> &word, const std::vector<int> &lanesInRow) const {
  auto has = [](const std::vector<int> &list, int bit) {
    return std::find(list.begin(), list.end(), bit) != list.end();
  };
  for (int bit = 0; bit < tile.bits(Dim::Register); ++bit)
    if (!has(word, bit) && !outsideRow(registerPart(bit)))
      return false;
  for (int bit = 0; bit < laneBits; ++bit)
    if (!has(lanesInRow, bit) && !outsideRow(addresses.laneBits[size_t(bit)]))
      return false;
  return std::all_of(addresses.warpBits.begin(), addresses.warpBits.end(),
                     [&](const OffsetPart &part) { return outsideRow(part); });
}

void Matcher::instructions(MatrixAccess &access, const std::vector<int> &word) const {
  std::vector<int> others; // register bits that number the matrices
  for (int bit = 0; bit < tile.bits(Dim::Register); ++bit)
    if (std::find(word.begin(), word.end(), bit) == word.end())
      others.push_back(bit);
  std::vector<int> together(others.begin(), others.begin() + std::min<long>(2, long(others.size())));
  access.count = 1 << together.size();
  for (int bit : together)
    access.laneBits.push_back(registerPart(bit));
  // The address lanes beyond the last matrix are ignored.
  access.laneBits.resize(laneBits);
  access.warpBits = addresses.warpBits;

  auto spread = [](int64_t index, const std::vector<int> &bits) {
    int64_t reg = 0;
    for (size_t i = 0; i < bits.size(); ++i)
      reg += (index >> i & 1) << bits[i];
    return reg;
  };
  int64_t inside = spread(-1, word) | spread(-1, together);
  for (int64_t reg = 0; reg < tile.numRegisters(); ++reg) {
    if (reg % tile.unitRegisters() & inside)
      continue;
    MatrixAccess::Instruction instruction;
    instruction.offset = addresses.registers[size_t(reg)];
    for (int64_t matrix = 0; matrix < access.count; ++matrix) {
      instruction.words.emplace_back();
      for (int64_t element = 0; element < int64_t(1) << word.size(); ++element)
        instruction.words.back().push_back(reg + spread(matrix, together) + spread(element, word));
    }
    access.instructions.push_back(std::move(instruction));
  }
}

bool Matcher::match(MatrixAccess &access, int elemBytes) const {
  int64_t wordElements = 4 / elemBytes;
  std::vector<int> word = wordBits(log2Exact(wordElements));
  const auto &lanes = addresses.laneBits;
  if (int(word.size()) != log2Exact(wordElements) || !is(lanes[0], wordElements) ||
      !is(lanes[1], 2 * wordElements) || !rowsClear(word, {0, 1}))
    return false;
  access.laneBits = {lanes[2], lanes[3], lanes[4]};
  instructions(access, word);
  return true;
}

bool Matcher::matchTransposed(MatrixAccess &access) const {
  const auto &lanes = addresses.laneBits;
  for (size_t i = 0; i < 3; ++i)
    if (!is(lanes[2 + i], int64_t(1) << i))
      return false;
  // Any register bit may number the two rows of a word; the fragments use the first.
  if (tile.bits(Dim::Register) == 0 || !rowsClear({}, {2, 3, 4}))
    return false;
  access.transposed = true;
  access.laneBits = {registerPart(0), lanes[0], lanes[1]};
  instructions(access, {0});
  return true;
}

} // namespace

int64_t MatrixAccess::rowOffset(const Instruction &instruction, int64_t lane, int64_t warp) const {
  OffsetPart sum = instruction.offset;
  for (size_t bit = 0; bit < laneBits.size(); ++bit)
    if (lane >> bit & 1)
      sum = join(sum, laneBits[bit]);
  for (size_t bit = 0; bit < warpBits.size(); ++bit)
    if (warp >> bit & 1)
      sum = join(sum, warpBits[bit]);
  return sum.bits + sum.step;
}

Expected<MatrixAccess> matrixAccess(const Layout &tile, const Layout &shared, int elemBytes) {
  if (elemBytes != 1 && elemBytes != 2 && elemBytes != 4)
    return Failure{"no matrix access to elements of " + std::to_string(elemBytes) + " bytes"};
  auto addresses = sharedAddresses(tile, shared);
  if (!addresses)
    return Failure{addresses.error()};
  Matcher matcher{tile, *addresses, 16 / elemBytes};
  MatrixAccess access;
  if (tile.bits(Dim::Lane) == laneBits &&
      (matcher.match(access, elemBytes) || (elemBytes == 2 && matcher.matchTransposed(access))))
    return access;
  return Failure{"no matrix access: lanes of " + tile.str() + " do not hold 8x16-byte matrices of " +
                 shared.str()};
}

} // namespace tilegym::layout
