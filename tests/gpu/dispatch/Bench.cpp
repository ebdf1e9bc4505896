// SPDX-License-Identifier: MIT
// The pieces of a measurement: arguments, a call up to a phase, a launch prepared beforehand.
#include "tests/gpu/dispatch/Bench.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tilegym::bench {

using namespace runtime;

void stop(const std::string &why) {
  std::fprintf(stderr, "bench_dispatch: %s\n", why.c_str());
  std::exit(3);
}

void need(TilegymStatus status) {
  if (status != TILEGYM_OK)
    stop(tilegym_last_error());
}

void synchronize(const Driver &driver) {
  if (driver.streamSynchronize(nullptr) != kSuccess)
    stop("a kernel failed");
}

double median(std::vector<float> &times) {
  std::nth_element(times.begin(), times.begin() + long(times.size() / 2), times.end());
  return double(times[times.size() / 2]);
}

constexpr int64_t kColumns = 128;

Calls::Calls(const Table &table, const format::Op &op, int64_t maxRows) : maxRows(maxRows) {
  std::span<const format::Tensor> all = table.get<format::Tensor>(op.tensors);
  tensors.resize(all.size());
  shapes.resize(all.size());
  std::span<const format::Variant> variants = table.get<format::Variant>(op.variants);
  auto fewer = [](const format::Variant &a, const format::Variant &b) { return a.maps.count < b.maps.count; };
  const format::Variant &most = *std::max_element(variants.begin(), variants.end(), fewer);
  std::span<const uint8_t> dtypes = table.get<uint8_t>(most.dtypes);
  std::span<const int64_t> consts = table.get<int64_t>(most.consts);
  uint32_t grows = format::kNone;
  for (const format::Dim &d : table.get<format::Dim>(op.dims))
    if (d.isGroup)
      grows = uint32_t(&d - table.get<format::Dim>(op.dims).data());
  for (const format::Argument &a : table.get<format::Argument>(op.arguments)) {
    if (!a.isTensor || all[a.id].optional) {
      bool isConst = !a.isTensor && table.get<format::Scalar>(op.scalars)[a.id].isConst;
      args.push_back(isConst ? &consts[a.id] : nullptr);
      continue;
    }
    const format::Tensor &t = all[a.id];
    std::vector<int64_t> &shape = shapes[a.id];
    if (grows == format::kNone && t.dims.count)
      grows = table.get<format::DimUse>(t.dims)[0].dim;
    for (const format::DimUse &use : table.get<format::DimUse>(t.dims))
      shape.push_back(use.isGroup ? 1 : kColumns);
    for (size_t i = 0; i < shape.size(); ++i)
      if (table.get<format::DimUse>(t.dims)[i].dim == grows)
        growing.push_back(&shape[i]);
    tensors[a.id] = {nullptr, shape.data(), nullptr, int32_t(shape.size()), dtypes[t.typeVar]};
    given.push_back(a.id);
    args.push_back(&tensors[a.id]);
  }
}

void Calls::set(int64_t number, char *memory) {
  for (int64_t *extent : growing)
    *extent = number % maxRows + 1;
  for (size_t i = 0; i < given.size(); ++i)
    tensors[given[i]].data = memory + int64_t(i) * kRoom + number * 256 % (kRoom / 2);
}

TilegymStatus runUntil(Phase last, TilegymPackage &package, uint32_t number, const void *const *args) {
  if (last == Phase::All)
    return tilegym_call(&package, number, args, nullptr);
  if (last == Phase::Nothing)
    return TILEGYM_OK;
  Call call(package.table, package.table.ops()[number]);
  TRY(call.bind(args, /*forShape=*/false));
  if (last == Phase::Bind)
    return TILEGYM_OK;
  const Driver *driver = nullptr;
  const Device *device = nullptr;
  uint64_t context = 0;
  TRY(getDriver(&driver));
  TRY(currentDevice(*driver, nullptr, &device, &context));
  call.smCount = device->multiprocessors;
  TRY(checkPointers(*driver, *device, call, nullptr));
  if (last == Phase::Check)
    return TILEGYM_OK;
  Choice choice;
  TRY(package.choices[number]->choose(call, device->arch, device->name, &choice));
  Grid grid;
  TRY(computeGrid(call, choice, &grid));
  CUfunction function = nullptr;
  TRY(package.loader->load(*driver, *device, context, number, choice, nullptr, &function, &grid.blocks));
  if (last == Phase::Choose)
    return TILEGYM_OK;
  Parameters parameters;
  TRY(fillParameters(*driver, call, choice, grid, &parameters, package.maps->of(number, choice.index)));
  driver->launch(function, unsigned(grid.blocks), choice.variant->threads, choice.variant->sharedBytes,
                 nullptr, parameters.pointers);
  return TILEGYM_OK;
}

void Bare::prepare(TilegymPackage &package, const Driver &driver, const Device &device, uint32_t number,
                   const void *const *args) {
  Call call(package.table, package.table.ops()[number]);
  need(call.bind(args, /*forShape=*/false));
  call.smCount = device.multiprocessors;
  need(package.choices[number]->choose(call, device.arch, device.name, &choice));
  grid = Grid();
  need(computeGrid(call, choice, &grid));
  unsigned long long context = 0;
  if (driver.ctxGetId(nullptr, &context) != kSuccess)
    stop("the driver does not say which context is current");
  CUfunction inPlace = nullptr; // of no known context: the kernel itself
  need(package.loader->load(driver, device, context, number, choice, nullptr, &function, &grid.blocks));
  need(package.loader->load(driver, device, /*context=*/0, number, choice, nullptr, &inPlace, &grid.blocks));
  kernel = reinterpret_cast<CUkernel>(inPlace);
  if (reinterpret_cast<CUfunction>(kernel) == function)
    stop("calls launch a kernel and not its function, though the context is known");
  need(fillParameters(driver, call, choice, grid, &parameters));
  packedSize = 0;
  for (size_t i = 0; const format::Param &p : package.table.get<format::Param>(choice.variant->layout)) {
    size_t size = 8;
    if (p.kind == format::ParamKind::Scalar)
      size = size_t(format::bytesOf(format::DType(call.dtypes[call.scalars[p.a].typeVar])));
    size_t alignment = size;
    if (p.kind == format::ParamKind::TensorMap) {
      size = kTensorMapBytes;
      alignment = 64;
    }
    packedSize = (packedSize + alignment - 1) / alignment * alignment;
    if (packedSize + size > sizeof packed)
      stop("the kernel has too many parameters for this benchmark");
    std::memcpy(packed + packedSize, parameters.pointers[i++], size);
    packedSize += size;
  }
}

bool checkMaps(TilegymPackage &package, const Driver &driver, const Device &device, uint32_t number,
               const void *const *args, const Bare &bare) {
  std::span<const format::TensorMap> maps = package.table.get<format::TensorMap>(bare.choice.variant->maps);
  if (maps.empty())
    return true;
  Call call(package.table, package.table.ops()[number]);
  need(call.bind(args, /*forShape=*/false));
  call.smCount = device.multiprocessors;
  Parameters own;
  MapTemplate *templates = package.maps->of(number, bare.choice.index);
  need(fillParameters(driver, call, bare.choice, bare.grid, &own, templates));
  bool isOwn = true;
  for (size_t i = 0; i < maps.size(); ++i) {
    if (std::memcmp(own.maps[i], bare.parameters.maps[i], kTensorMapBytes) != 0)
      stop("the runtime's tensor map is not the driver's");
    isOwn &= templates[i].state == MapTemplate::Patched;
  }
  return isOwn;
}

} // namespace tilegym::bench
