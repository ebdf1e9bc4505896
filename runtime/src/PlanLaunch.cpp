// SPDX-License-Identifier: MIT
// Each launch is bound to its arguments as a call of its own op. That is done twice, first for all of them to find their kernels, then to launch:
// so nothing is launched where one cannot be, and what a call keeps at a time stays small.
#include "PlanLaunch.h"
#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace tilegym::runtime {

using namespace format;

namespace {

TilegymStatus failed(const Call &call, std::string_view what, const char *why) {
  return fail(TILEGYM_INVALID_ARGUMENT, "%s: %s: %s", Text(call.table.text(call.op.name)).data,
              Text(what).data, why);
}

TilegymStatus valueOf(const Call &call, Slice code, std::string_view what, int64_t *value) {
  Evaluated e = evaluate(call.table.get<Inst>(code), call.values());
  if (e.error)
    return failed(call, what, e.error);
  *value = e.value.i;
  return TILEGYM_OK;
}

/// One launch, bound.
struct LaunchedCall {
  Call call;
  TilegymTensor given[kMaxTensors];
  int64_t shapes[kMaxTensors][kMaxRank], strides[kMaxTensors][kMaxRank];

  LaunchedCall(const Table &table, const Op &op) : call(table, op) {}

  TilegymStatus bind(const Call &plan, const Launch &launch, const Variant &variant,
                     const ScratchSpace &space, char *scratch) {
    const Table &table = plan.table;
    std::span<const LaunchTensor> tensors = table.get<LaunchTensor>(launch.tensors);
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].scratch == kNone) {
        TRY(takePart(plan, tensors[i], i));
        continue;
      }
      const Scratch &buffer = table.get<Scratch>(variant.scratch)[tensors[i].scratch];
      given[i] = {scratch + space.offsets[tensors[i].scratch], space.extents[tensors[i].scratch], nullptr,
                  int32_t(buffer.extents.count), int32_t(buffer.dtype)};
    }
    Cell scalars[kMaxScalars];
    int64_t dims[kMaxDims];
    std::span<const Slice> codes = table.get<Slice>(launch.scalars);
    for (size_t i = 0; i < codes.size(); ++i) {
      Slice name = call.scalars[plan.scalars.size() + i].name;
      TRY(valueOf(plan, codes[i], table.text(name), &scalars[i].i));
    }
    codes = table.get<Slice>(launch.dims);
    for (size_t i = 0; i < codes.size(); ++i)
      TRY(valueOf(plan, codes[i], table.text(call.dims[plan.dims.size() + i].name), &dims[i]));
    return call.bindLaunch(plan, given, scalars, dims);
  }

private:
  TilegymStatus takePart(const Call &plan, const LaunchTensor &tensor, size_t i) {
    const BoundTensor &whole = plan.bound[tensor.tensor];
    std::string_view name = plan.table.text(plan.tensors[tensor.tensor].name);
    if (!whole.given)
      return failed(plan, name, "the plan needs it, but it was not given");
    int rank = 0;
    int64_t offset = 0;
    for (const PartAxis &axis : plan.table.get<PartAxis>(tensor.axes)) {
      int64_t start = 0, extent = 1;
      if (axis.start.count)
        TRY(valueOf(plan, axis.start, name, &start));
      if (!axis.isPoint)
        TRY(valueOf(plan, axis.extent, name, &extent));
      int64_t all = whole.shape[axis.axis];
      if (start < 0 || extent < 0 || (extent > 0 && start > all - extent))
        return failed(plan, name, "the plan takes a part that lies outside of it");
      offset += extent > 0 ? start * whole.strides[axis.axis] : 0;
      if (axis.isPoint)
        continue;
      shapes[i][rank] = extent;
      strides[i][rank++] = whole.strides[axis.axis];
    }
    given[i] = {static_cast<char *>(whole.given->data) + offset * whole.elementBytes, shapes[i], strides[i],
                rank, whole.given->dtype};
    return TILEGYM_OK;
  }
};

TilegymStatus chooseLaunch(const Call &call, int arch, Choice *choice) {
  int64_t derived[kMaxDims];
  std::fill_n(derived, call.table.get<Kernel>(call.op.kernels)[0].paramNames.count, kRunTime);
  bool lacksImage = false;
  *choice = bestOf(call, 0, derived, arch, &lacksImage);
  if (choice->variant)
    return TILEGYM_OK;
  const Kernel &kernel = call.table.get<Kernel>(call.op.kernels)[0];
  return fail(TILEGYM_NO_VARIANT,
              "%s: the package has no variant of %s for these arguments: compile the op anew",
              Text(call.table.text(call.op.name)).data, Text(call.table.text(kernel.name)).data);
}

/// Stands for the scratch memory where that is not needed: its alignment, on which kernels depend, is all that matters.
char *const kNowhere = reinterpret_cast<char *>(ScratchSpace::kAlignment);

/// The kernels of all launches.
TilegymStatus findLaunches(const Call &call, const Variant &plan, const ScratchSpace &space, int arch,
                           PlannedLaunch *launches) {
  const Table &table = call.table;
  for (const Launch &launch : table.get<Launch>(plan.launches)) {
    const Op &op = table.launched()[launch.op];
    LaunchedCall bound(table, op);
    TRY(bound.bind(call, launch, plan, space, kNowhere));
    *launches = PlannedLaunch();
    launches->op = uint32_t(table.numberOf(op));
    TRY(chooseLaunch(bound.call, arch, &launches->choice));
    TRY(computeGrid(bound.call, launches->choice, &launches->grid));
    ++launches;
  }
  return TILEGYM_OK;
}

TilegymStatus takeMemory(const PlanPlace &place, const Call &call, size_t bytes, const Workspace &workspace,
                         char **data) {
  *data = kNowhere;
  if (bytes == 0)
    return TILEGYM_OK;
  if (workspace.data) {
    if (workspace.bytes < bytes || reinterpret_cast<uintptr_t>(workspace.data) % ScratchSpace::kAlignment)
      return fail(TILEGYM_INVALID_ARGUMENT,
                  "%s: the workspace has %zu bytes at %p, expected %zu at a multiple of %zu",
                  Text(call.table.text(call.op.name)).data, workspace.bytes, workspace.data, bytes,
                  ScratchSpace::kAlignment);
    *data = static_cast<char *>(workspace.data);
    return TILEGYM_OK;
  }
  CUdeviceptr address = 0;
  CUresult result = place.driver.memAllocAsync(&address, bytes, place.stream);
  if (result != kSuccess) {
    char what[256];
    std::snprintf(what, sizeof what, "%s: allocating %zu bytes of scratch memory",
                  Text(call.table.text(call.op.name)).data, bytes);
    return place.driver.failure(what, result);
  }
  *data = reinterpret_cast<char *>(address);
  return TILEGYM_OK;
}

TilegymStatus launchAll(const PlanPlace &place, const Call &call, const Variant &plan,
                        const ScratchSpace &space, char *scratch, const PlannedLaunch *planned,
                        const CUfunction *functions) {
  const Table &table = call.table;
  bool early = launchesEarly();
  for (const Launch &launch : table.get<Launch>(plan.launches)) {
    LaunchedCall bound(table, table.launched()[launch.op]);
    TRY(bound.bind(call, launch, plan, space, scratch));
    if (planned->grid.blocks > 0) {
      // What is in front of the later ones is known: a kernel of ours.
      TRY(launchKernel(place.driver, bound.call, planned->choice, planned->grid, *functions, place.stream,
                       place.maps ? place.maps->of(planned->op, planned->choice.index) : nullptr, early));
      early = true;
    }
    ++planned;
    ++functions;
  }
  return TILEGYM_OK;
}

} // namespace

TilegymStatus measureScratch(const Call &call, const Variant &plan, ScratchSpace *space) {
  constexpr size_t kEnough = size_t(1) << 60;
  std::span<const Scratch> buffers = call.table.get<Scratch>(plan.scratch);
  for (size_t i = 0; i < buffers.size(); ++i) {
    std::string_view name = call.table.text(buffers[i].name);
    std::span<const Slice> codes = call.table.get<Slice>(buffers[i].extents);
    auto bytes = size_t(bytesOf(DType(buffers[i].dtype)));
    bool isEmpty = false, tooMany = false;
    for (size_t axis = 0; axis < codes.size(); ++axis) {
      int64_t &extent = space->extents[i][axis];
      TRY(valueOf(call, codes[axis], name, &extent));
      if (extent < 0)
        return failed(call, name, "an extent of this scratch buffer is negative");
      isEmpty |= extent == 0;
      tooMany |= __builtin_mul_overflow(bytes, size_t(extent) + (extent == 0), &bytes);
    }
    if (!isEmpty && (tooMany || bytes > kEnough))
      return failed(call, name, "this scratch buffer is larger than any memory");
    space->offsets[i] = space->bytes;
    if (!isEmpty)
      space->bytes += (bytes + ScratchSpace::kAlignment - 1) & ~(ScratchSpace::kAlignment - 1);
  }
  return TILEGYM_OK;
}

TilegymStatus planLaunches(const Call &call, const Variant &plan, int arch,
                           PlannedLaunch launches[kMaxLaunches], ScratchSpace *space) {
  TRY(measureScratch(call, plan, space));
  return findLaunches(call, plan, *space, arch, launches);
}

static TilegymStatus loadAll(const PlanPlace &place, PlannedLaunch *planned, size_t count, bool all,
                             CUfunction *functions) {
  for (size_t i = 0; i < count; ++i)
    if (all || planned[i].grid.blocks > 0)
      TRY(place.loader.load(place.driver, place.device, place.context, planned[i].op, planned[i].choice,
                            place.stream, &functions[i], &planned[i].grid.blocks));
  return TILEGYM_OK;
}

TilegymStatus loadPlan(const PlanPlace &place, const Call &call, const Variant &plan) {
  PlannedLaunch planned[kMaxLaunches];
  CUfunction functions[kMaxLaunches];
  ScratchSpace space;
  TRY(planLaunches(call, plan, place.device.arch, planned, &space));
  return loadAll(place, planned, plan.launches.count, /*all=*/true, functions);
}

TilegymStatus launchPlan(const PlanPlace &place, const Call &call, const Variant &plan,
                         const Workspace &workspace) {
  ScratchSpace space;
  PlannedLaunch planned[kMaxLaunches];
  CUfunction functions[kMaxLaunches] = {};
  TRY(measureScratch(call, plan, &space));
  TRY(findLaunches(call, plan, space, place.device.arch, planned));
  TRY(loadAll(place, planned, plan.launches.count, /*all=*/false, functions));
  char *scratch = nullptr;
  TRY(takeMemory(place, call, space.bytes, workspace, &scratch));
  TilegymStatus status = launchAll(place, call, plan, space, scratch, planned, functions);
  if (space.bytes > 0 && !workspace.data)
    if (CUresult result = place.driver.memFreeAsync(reinterpret_cast<CUdeviceptr>(scratch), place.stream);
        result != kSuccess && status == TILEGYM_OK)
      return place.driver.failure("giving back scratch memory", result);
  return status;
}

} // namespace tilegym::runtime
