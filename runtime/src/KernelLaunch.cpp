// SPDX-License-Identifier: MIT
// What a launch needs: grid, parameters and first values of outputs.
#include "KernelLaunch.h"
#include "ScalarBits.h"
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tilegym::runtime {

using namespace format;

TilegymStatus computeGrid(const Call &call, const Choice &choice, Grid *grid) {
  const Table &table = call.table;
  Values values = call.values();
  values.params = choice.params;
  std::span<const Slice> codes = table.get<Slice>(choice.variant->grid);
  for (size_t axis = 0; axis < codes.size(); ++axis) {
    Evaluated e = evaluate(table.get<Inst>(codes[axis]), values);
    if (e.error)
      return fail(TILEGYM_INVALID_ARGUMENT, "%s: the grid cannot be computed: %s",
                  Text(table.text(call.op.name)).data, e.error);
    grid->axes[axis] = e.value.i < 0 ? 0 : e.value.i;
    if (__builtin_mul_overflow(grid->blocks, grid->axes[axis], &grid->blocks))
      grid->blocks = INT64_MAX;
  }
  if (grid->blocks > INT32_MAX)
    return fail(TILEGYM_INVALID_ARGUMENT,
                "%s: the grid has %" PRId64 " blocks, but a launch has at most 2147483647",
                Text(table.text(call.op.name)).data, grid->blocks);
  grid->blocks = launchBlocks(*choice.variant, call.smCount, grid->blocks);
  return TILEGYM_OK;
}

int64_t launchBlocks(const Variant &variant, int64_t smCount, int64_t blocks) {
  int64_t resident = int64_t(variant.blocksPerSm) * smCount, cluster = std::max<int64_t>(variant.cluster, 1);
  return resident ? std::min(blocks, std::max(resident / cluster, int64_t(1)) * cluster) : blocks;
}

uint64_t parameterBits(const Call &call, const Param &p, const Grid &grid) {
  switch (p.kind) {
  case ParamKind::TensorPointer:
    return call.bound[p.a].given ? reinterpret_cast<uint64_t>(call.bound[p.a].given->data) : 0;
  case ParamKind::Dim:
    return uint64_t(call.dimValues[p.a]);
  case ParamKind::Stride:
    return uint64_t(call.strideOf(p.a, p.b));
  case ParamKind::Scalar:
    return scalarBits(call.scalarValues[p.a], call.dtypes[call.scalars[p.a].typeVar]);
  case ParamKind::GroupRank:
    return uint64_t(call.group.rank);
  case ParamKind::GroupExtent:
    return uint64_t(call.group.extents[p.b]);
  case ParamKind::GroupStride:
    return uint64_t(call.bound[p.a].hasGroup && int(p.b) < call.group.rank ? call.group.strides[p.a][p.b]
                                                                           : 0);
  case ParamKind::Grid:
    return uint64_t(grid.axes[p.a]);
  case ParamKind::SmCount:
    return uint64_t(call.smCount);
  case ParamKind::ListLength:
    return call.lists->lengths[p.a];
  case ParamKind::TensorMap: // no number
    break;
  }
  return 0;
}

namespace {

/// One value for each tensor of a list; the rest of the room is zeros.
void fillList(const Call &call, const Param &p, uint64_t *values) {
  uint32_t count = p.kind == ParamKind::Dim ? call.lists->counts[p.a] : call.lists->lengths[p.a];
  for (uint32_t i = 0; i < count; ++i)
    if (p.kind == ParamKind::Dim) {
      values[i] = uint64_t(call.lists->values[p.a][i]);
    } else {
      const BoundTensor &b = call.views(p.a)[i];
      values[i] =
          p.kind == ParamKind::Stride ? uint64_t(b.strides[p.b]) : reinterpret_cast<uint64_t>(b.given->data);
    }
  std::fill(values + count, values + kMaxListLength, 0);
}

/// Writes one value to every element: rows of the innermost two axes at a time.
struct Filler {
  const Driver &driver;
  CUstream stream;
  const BoundTensor &t;
  uint64_t bits;
  CUresult result = kSuccess;

  struct Axis {
    int64_t stride, extent; // bytes
  };
  Axis axes[kMaxRank];
  int n = 0;

  void run() {
    CUdeviceptr lowest = reinterpret_cast<CUdeviceptr>(t.given->data) + CUdeviceptr(t.lowest);
    // Where the view is one dense block, in whatever order of axes, one fill does.
    if (t.highest - t.lowest == t.elements * t.elementBytes)
      return rows(lowest, 0, t.elements, 1);
    for (int i = 0; i < t.rank; ++i)
      if (t.shape[i] > 1)
        axes[n++] = {std::abs(t.strides[i]) * t.elementBytes, t.shape[i]};
    std::sort(axes, axes + n, [](const Axis &a, const Axis &b) { return a.stride > b.stride; });
    int64_t width = 1;
    for (; n && axes[n - 1].stride == width * t.elementBytes; --n)
      width *= axes[n - 1].extent;
    axis(0, lowest, width);
  }

  void axis(int i, CUdeviceptr at, int64_t width) {
    if (i == n)
      return rows(at, 0, width, 1);
    if (i == n - 1 && axes[i].stride <= INT32_MAX) // what the driver takes as a pitch
      return rows(at, axes[i].stride, width, axes[i].extent);
    for (int64_t k = 0; k < axes[i].extent && result == kSuccess; ++k)
      axis(i + 1, at + CUdeviceptr(k * axes[i].stride), width);
  }

  /// `height` rows of `width` elements, `pitch` bytes apart.
  void rows(CUdeviceptr at, int64_t pitch, int64_t width, int64_t height) {
    switch (t.elementBytes) {
    case 1:
      return keep(height == 1 ? driver.memsetD8Async(at, uint8_t(bits), size_t(width), stream)
                              : driver.memsetD2D8Async(at, size_t(pitch), uint8_t(bits), size_t(width),
                                                       size_t(height), stream));
    case 2:
      return keep(height == 1 ? driver.memsetD16Async(at, uint16_t(bits), size_t(width), stream)
                              : driver.memsetD2D16Async(at, size_t(pitch), uint16_t(bits), size_t(width),
                                                        size_t(height), stream));
    case 4:
      return words(at, pitch, uint32_t(bits), width, height);
    default:
      break;
    }
    uint32_t low = uint32_t(bits), high = uint32_t(bits >> 32);
    if (low == high)
      return words(at, pitch, low, 2 * width, height);
    if (width == 1 && height > 1) { // a column: the low words, then the high ones
      words(at, pitch, low, 1, height);
      return words(at + 4, pitch, high, 1, height);
    }
    for (int64_t row = 0; row < height; ++row) {
      words(at + CUdeviceptr(row * pitch), 8, low, 1, width);
      words(at + CUdeviceptr(row * pitch) + 4, 8, high, 1, width);
    }
  }

  void words(CUdeviceptr at, int64_t pitch, uint32_t value, int64_t width, int64_t height) {
    keep(height == 1
             ? driver.memsetD32Async(at, value, size_t(width), stream)
             : driver.memsetD2D32Async(at, size_t(pitch), value, size_t(width), size_t(height), stream));
  }

  void keep(CUresult r) {
    if (result == kSuccess)
      result = r;
  }
};

} // namespace

TilegymStatus fillParameters(const Driver &driver, const Call &call, const Choice &choice, const Grid &grid,
                             Parameters *parameters, MapTemplate *templates) {
  size_t n = 0;
  unsigned char *listRoom = parameters->lists;
  std::span<const TensorMap> maps = call.table.get<TensorMap>(choice.variant->maps);
  for (const Param &p : call.table.get<Param>(choice.variant->layout)) {
    if (call.lists && call.table.isOfList(p, call.op, *choice.variant)) [[unlikely]] {
      parameters->pointers[n++] = listRoom;
      if (p.kind == ParamKind::TensorMap) {
        TRY(makeTensorMaps(driver, call, maps[p.a], templates ? templates + p.a : nullptr, listRoom));
      } else {
        fillList(call, p, reinterpret_cast<uint64_t *>(listRoom));
      }
      listRoom += call.table.bytesOf(p, call.op, *choice.variant);
      continue;
    }
    if (p.kind == ParamKind::TensorMap) {
      parameters->pointers[n] = parameters->maps[p.a];
      ++n;
      continue;
    }
    uint64_t bits = parameterBits(call, p, grid);
    std::memcpy(parameters->storage + n * 8, &bits, 8); // little-endian: a narrower scalar is the first bytes
    parameters->pointers[n] = parameters->storage + n * 8;
    ++n;
  }
  for (size_t i = 0; i < maps.size(); ++i)
    if (!call.isList(maps[i].tensor)) [[likely]]
      TRY(makeTensorMap(driver, call, maps[i], templates ? templates + i : nullptr, parameters->maps[i]));
  return TILEGYM_OK;
}

[[gnu::cold]] static TilegymStatus launchFailure(const Driver &driver, const Call &call, const Choice &choice,
                                                 int64_t blocks, CUresult result) {
  char what[768];
  Text entry(call.table.text(choice.variant->entry));
  std::snprintf(what, sizeof what,
                "%s: launching %s with %lld blocks of %u threads and %u bytes of shared memory",
                Text(call.table.text(call.op.name)).data, entry.data, static_cast<long long>(blocks),
                choice.variant->threads, choice.variant->sharedBytes);
  return driver.failure(what, result);
}

TilegymStatus launchKernel(const Driver &driver, const Call &call, const Choice &choice, int64_t blocks,
                           CUfunction function, CUstream stream, void **parameters, bool early) {
  CUresult result =
      driver.launch(function, unsigned(blocks), choice.variant->threads, choice.variant->sharedBytes, stream,
                    parameters, early && choice.image->arch >= kDependentArch);
  return result == kSuccess ? TILEGYM_OK : launchFailure(driver, call, choice, blocks, result);
}

TilegymStatus launchKernel(const Driver &driver, const Call &call, const Choice &choice, const Grid &grid,
                           CUfunction function, CUstream stream, MapTemplate *maps, bool early) {
  Parameters parameters;
  TRY(fillParameters(driver, call, choice, grid, &parameters, maps));
  return launchKernel(driver, call, choice, grid.blocks, function, stream, parameters.pointers, early);
}

TilegymStatus fillOutputs(const Driver &driver, const Call &call, CUstream stream) {
  for (size_t id = 0; id < call.tensors.size(); ++id) {
    if (!call.tensors[id].hasFill)
      continue;
    for (const BoundTensor &b : call.views(uint32_t(id))) {
      if (b.elements == 0)
        continue;
      Filler filler{driver, stream, b, call.tensors[id].fillBits, kSuccess, {}, 0};
      filler.run();
      if (filler.result != kSuccess) {
        char what[512];
        std::snprintf(what, sizeof what, "%s: filling %s with its first value",
                      Text(call.table.text(call.op.name)).data,
                      Text(call.table.text(call.tensors[id].name)).data);
        return driver.failure(what, filler.result);
      }
    }
  }
  return TILEGYM_OK;
}

static constinit thread_local bool earlyOnThread = false;

bool launchesEarly() { return earlyOnThread; }

} // namespace tilegym::runtime

extern "C" int32_t tilegym_set_early_launch(int32_t on) {
  return std::exchange(tilegym::runtime::earlyOnThread, on != 0);
}
