// SPDX-License-Identifier: MIT
// What a launch needs: grid, parameters, first values of outputs, and pointers that the device can reach.
#include "KernelLaunch.h"
#include <cinttypes>
#include <cstring>
#include <string>

namespace tilegym::runtime {

using namespace format;

TilegymStatus computeGrid(const Call &call, const Choice &choice, int smCount, Grid *grid) {
  const Table &table = call.table;
  Values values = call.values();
  values.params = choice.params;
  values.smCount = smCount;
  std::span<const Slice> codes = table.get<Slice>(choice.variant->grid);
  for (size_t axis = 0; axis < codes.size(); ++axis) {
    Evaluated e = evaluate(table.get<Inst>(codes[axis]), values);
    if (e.error)
      return fail(TILEGYM_INVALID_ARGUMENT, "%.*s: the grid cannot be computed: %s", int(call.op.name.count),
                  table.text(call.op.name).data(), e.error);
    grid->axes[axis] = e.value.i < 0 ? 0 : e.value.i;
    if (__builtin_mul_overflow(grid->blocks, grid->axes[axis], &grid->blocks))
      grid->blocks = INT64_MAX;
  }
  if (grid->blocks > INT32_MAX)
    return fail(TILEGYM_INVALID_ARGUMENT,
                "%.*s: the grid has %" PRId64 " blocks, but a launch has at most 2147483647",
                int(call.op.name.count), table.text(call.op.name).data(), grid->blocks);
  return TILEGYM_OK;
}

namespace {

/// Bits of a scalar in its own dtype.
uint64_t scalarBits(const Call &call, uint32_t id) {
  uint8_t dtype = call.dtypes[call.scalars[id].typeVar];
  Cell value = call.scalarValues[id];
  uint64_t bits = 0;
  switch (DType(dtype)) {
  case DType::F64:
    std::memcpy(&bits, &value.f, 8);
    return bits;
  case DType::F32: {
    float f = float(value.f);
    std::memcpy(&bits, &f, 4);
    return bits;
  }
  case DType::F16: {
    _Float16 f = _Float16(value.f);
    std::memcpy(&bits, &f, 2);
    return bits;
  }
  case DType::BF16: { // the double came from a bf16 or a default; to f32 and nearest even
    float f = float(value.f);
    uint32_t word;
    std::memcpy(&word, &f, 4);
    return f != f ? 0x7fc0 : (word + 0x7fff + (word >> 16 & 1)) >> 16 & 0xffff;
  }
  default:
    return uint64_t(value.i);
  }
}

uint64_t parameterBits(const Call &call, const Param &p, const Grid &grid, int smCount) {
  switch (p.kind) {
  case ParamKind::TensorPointer:
    return call.bound[p.a].given ? reinterpret_cast<uint64_t>(call.bound[p.a].given->data) : 0;
  case ParamKind::Dim:
    return uint64_t(call.dimValues[p.a]);
  case ParamKind::Stride: {
    const BoundTensor &b = call.bound[p.a];
    if (!b.given)
      return 0;
    if (b.hasGroup && p.b == 0)
      return uint64_t(call.group.rank ? call.group.strides[p.a][0] : 0);
    return uint64_t(b.strides[b.axis(int(p.b))]);
  }
  case ParamKind::Scalar:
    return scalarBits(call, p.a);
  case ParamKind::GroupRank:
    return uint64_t(call.group.rank);
  case ParamKind::GroupExtent:
    return uint64_t(call.group.extents[p.b]);
  case ParamKind::GroupStride:
    return uint64_t(int(p.b) < call.group.rank ? call.group.strides[p.a][p.b] : 0);
  case ParamKind::Grid:
    return uint64_t(grid.axes[p.a]);
  case ParamKind::SmCount:
    return uint64_t(smCount);
  }
  return 0;
}

/// Writes `words` words of `bytes` each, one after another along every axis that moves.
struct Filler {
  const Driver &driver;
  CUstream stream;
  const BoundTensor &t;
  uint64_t bits;
  CUresult result = kSuccess;

  void run() {
    // Where the view is one dense block, in whatever order of axes, one fill does.
    if (t.highest - t.lowest == t.elements * t.elementBytes)
      return block(base() + t.lowest, t.elements);
    axis(0, base());
  }

  CUdeviceptr base() const { return reinterpret_cast<CUdeviceptr>(t.given->data); }

  void keep(CUresult r) {
    if (result == kSuccess)
      result = r;
  }

  void block(CUdeviceptr at, int64_t n) {
    switch (t.elementBytes) {
    case 1:
      return keep(driver.memsetD8Async(at, uint8_t(bits), size_t(n), stream));
    case 2:
      return keep(driver.memsetD16Async(at, uint16_t(bits), size_t(n), stream));
    case 4:
      return keep(driver.memsetD32Async(at, uint32_t(bits), size_t(n), stream));
    default:
      if (uint32_t(bits) == uint32_t(bits >> 32))
        return keep(driver.memsetD32Async(at, uint32_t(bits), size_t(2 * n), stream));
      keep(driver.memsetD2D32Async(at, 8, uint32_t(bits), 1, size_t(n), stream));
      keep(driver.memsetD2D32Async(at + 4, 8, uint32_t(bits >> 32), 1, size_t(n), stream));
    }
  }

  /// `n` elements `pitch` bytes apart.
  void column(CUdeviceptr at, int64_t pitch, int64_t n) {
    switch (t.elementBytes) {
    case 1:
      return keep(driver.memsetD2D8Async(at, size_t(pitch), uint8_t(bits), 1, size_t(n), stream));
    case 2:
      return keep(driver.memsetD2D16Async(at, size_t(pitch), uint16_t(bits), 1, size_t(n), stream));
    case 4:
      return keep(driver.memsetD2D32Async(at, size_t(pitch), uint32_t(bits), 1, size_t(n), stream));
    default:
      keep(driver.memsetD2D32Async(at, size_t(pitch), uint32_t(bits), 1, size_t(n), stream));
      keep(driver.memsetD2D32Async(at + 4, size_t(pitch), uint32_t(bits >> 32), 1, size_t(n), stream));
    }
  }

  void axis(int i, CUdeviceptr at) {
    if (i == t.rank)
      return block(at, 1);
    int64_t step = t.strides[i] * t.elementBytes;
    if (i == t.rank - 1) {
      if (step < 0) {
        at += CUdeviceptr(step * (t.shape[i] - 1));
        step = -step;
      }
      return step == t.elementBytes || t.shape[i] == 1 ? block(at, t.shape[i]) : column(at, step, t.shape[i]);
    }
    for (int64_t k = 0; k < t.shape[i]; ++k)
      axis(i + 1, at + CUdeviceptr(k * step));
  }
};

} // namespace

void fillParameters(const Call &call, const Choice &choice, const Grid &grid, int smCount,
                    Parameters *parameters) {
  size_t n = 0;
  for (const Param &p : call.table.get<Param>(choice.variant->layout)) {
    uint64_t bits = parameterBits(call, p, grid, smCount);
    std::memcpy(parameters->storage + n * 8, &bits, 8); // little-endian: a narrower scalar is the first bytes
    parameters->pointers[n] = parameters->storage + n * 8;
    ++n;
  }
}

TilegymStatus fillOutputs(const Driver &driver, const Call &call, CUstream stream) {
  for (size_t id = 0; id < call.tensors.size(); ++id) {
    const BoundTensor &b = call.bound[id];
    if (!call.tensors[id].hasFill || !b.given || b.elements == 0)
      continue;
    Filler filler{driver, stream, b, call.tensors[id].fillBits};
    filler.run();
    if (filler.result != kSuccess)
      return driver.failure("filling an output with its first value", filler.result);
  }
  return TILEGYM_OK;
}

TilegymStatus checkPointers(const Driver &driver, const Device &device, const Call &call) {
  for (size_t id = 0; id < call.tensors.size(); ++id) {
    const BoundTensor &b = call.bound[id];
    if (!b.given || b.elements == 0)
      continue;
    int names[] = {kPointerMemoryType, kPointerDeviceOrdinal}, type = 0, ordinal = -1;
    void *values[] = {&type, &ordinal};
    CUresult result =
        driver.pointerGetAttributes(2, names, values, reinterpret_cast<CUdeviceptr>(b.given->data));
    std::string_view op = call.table.text(call.op.name), name = call.table.text(call.tensors[id].name);
    if (result != kSuccess || type == 0)
      return fail(TILEGYM_INVALID_ARGUMENT,
                  "%.*s: %.*s: %p is not an address of the GPU's memory; expected device memory",
                  int(op.size()), op.data(), int(name.size()), name.data(), b.given->data);
    if (type != kMemoryTypeHost && ordinal != device.ordinal)
      return fail(TILEGYM_INVALID_ARGUMENT, "%.*s: %.*s: lies on device %d, but the current device is %d",
                  int(op.size()), op.data(), int(name.size()), name.data(), ordinal, device.ordinal);
  }
  return TILEGYM_OK;
}

} // namespace tilegym::runtime
