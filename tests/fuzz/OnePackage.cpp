// SPDX-License-Identifier: MIT
// The way of a package through the runtime, up to the driver: open, bind, shapes, choice, grid, parameters.
#include "tests/fuzz/OnePackage.h"
#include "runtime/src/ChoiceCache.h"
#include "runtime/src/KernelLaunch.h"
#include "tests/unit/runtime/driver/NullDriver.h"
#include "tilegym/format/Checksum.h"
#include <algorithm>
#include <cstring>
#include <vector>

namespace tilegym::fuzz {
namespace {

using namespace runtime;

void setRight(std::vector<uint64_t> &words, size_t size) {
  if (size < sizeof(format::Header))
    return;
  format::Header header;
  std::memcpy(static_cast<void *>(&header), words.data(), sizeof header);
  header.magic = format::kMagic;
  header.version = format::kVersion;
  header.size = size;
  header.imagesOffset = std::clamp<uint64_t>(header.imagesOffset, sizeof header, size);
  std::memcpy(words.data(), &header, sizeof header);
  header.tableChecksum = format::tableChecksum(words.data(), header.imagesOffset);
  std::memcpy(words.data(), &header, sizeof header);
}

/// Arguments of every kind an op may have, their extents by turns those of good calls and odd ones.
void callOp(const Table &table, const format::Op &op, ChoiceCache &cache, unsigned turn) {
  static char memory[1 << 16];
  static const int64_t shapes[][8] = {
      {3, 4, 1, 1, 1, 1, 1, 1}, {2, 3, 4, 4, 4, 4, 4, 4}, {0, 4}, {-1, INT64_MAX}};
  static const int64_t strides[][8] = {{4, 1}, {400, 4, 1}, {INT64_MAX, INT64_MIN, 7, 7, 7, 7, 7, 7}};
  auto arguments = table.get<format::Argument>(op.arguments);
  std::vector<TilegymTensor> tensors(arguments.size());
  std::vector<const void *> args(arguments.size());
  int64_t scalar = turn;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].isTensor) {
      args[i] = turn % 3 ? nullptr : &scalar;
      continue;
    }
    const format::Tensor &t = table.get<format::Tensor>(op.tensors)[arguments[i].id];
    auto choices = table.get<uint8_t>(table.get<format::TypeVar>(op.typeVars)[t.typeVar].choices);
    tensors[i] = {memory + (i % 8) * 8192, shapes[turn % 4], turn % 5 ? nullptr : strides[turn % 3],
                  int32_t(std::min<uint32_t>(t.dims.count + turn % 2, 8)),
                  choices.empty() ? 1 : choices[turn % choices.size()]};
    args[i] = turn % 7 == 6 && t.optional ? nullptr : &tensors[i];
  }
  Call call(table, op);
  int64_t shape[kMaxRank];
  int rank;
  if (call.bind(args.data(), /*forShape=*/true) == TILEGYM_OK)
    for (uint32_t t = 0; t < op.tensors.count; ++t)
      call.extents(t, shape, &rank);
  Call whole(table, op);
  Choice choice;
  Grid grid;
  std::vector<char> room;
  const void *code = nullptr;
  if (whole.bind(args.data(), false) != TILEGYM_OK ||
      cache.choose(whole, turn % 2 ? 90 : kAnyArch, "a GPU", &choice) != TILEGYM_OK ||
      table.readImage(*choice.image, room, &code) != TILEGYM_OK ||
      computeGrid(whole, choice, &grid) != TILEGYM_OK)
    return;
  Parameters parameters;
  static const Driver driver = testing::nullDriver();
  fillParameters(driver, whole, choice, grid, &parameters);
}

} // namespace

bool onePackage(const void *data, size_t size) {
  std::vector<uint64_t> words((size + 7) / 8);
  if (size)
    std::memcpy(words.data(), data, size);
  setRight(words, size);
  Table table;
  if (table.open(words.data(), size, "a fuzzed block") != TILEGYM_OK)
    return false;
  for (const format::Op &op : table.ops()) {
    ChoiceCache cache(table, op);
    for (unsigned turn = 0; turn < 12; ++turn)
      callOp(table, op, cache, turn);
  }
  return true;
}

} // namespace tilegym::fuzz
