// SPDX-License-Identifier: MIT
// Tensor maps of calls.
#include "CallMaps.h"
#include <cstdio>
#include <cstring>

namespace tilegym::runtime {

using namespace format;

MapTemplates::MapTemplates(const Table &table) {
  size_t count = 0;
  for (size_t i = 0; i < table.count(); ++i) {
    const Op &op = table.numbered(i);
    std::vector<size_t> &first = firsts.emplace_back();
    for (const Variant &v : table.get<Variant>(op.variants)) {
      first.push_back(v.maps.count ? count : kNone);
      count += v.maps.count;
    }
  }
  templates = std::make_unique<MapTemplate[]>(count);
}

namespace {

std::mutex mutex; ///< of forms and of templates that are not known yet

/// The form of a rank, as the driver that was asked first has it.
struct KnownForm {
  decltype(Driver::tensorMapEncodeTiled) encoder = nullptr;
  bool works = false;
  TensorMapForm form;
};

/// Null where this driver's maps have none. With the mutex locked.
const TensorMapForm *formOf(const Driver &driver, uint32_t rank) {
  static KnownForm forms[kMaxMapRank + 1];
  KnownForm &known = forms[rank];
  if (!known.encoder) {
    known.works = known.form.learn(driver, rank);
    known.encoder = driver.tensorMapEncodeTiled;
  }
  return known.works && known.encoder == driver.tensorMapEncodeTiled ? &known.form : nullptr;
}

[[gnu::cold]] void learnTemplate(const Driver &driver, const TensorMapArguments &arguments,
                                 MapTemplate &known) {
  std::lock_guard lock(mutex);
  if (known.state.load(std::memory_order_relaxed) != MapTemplate::Unknown)
    return;
  alignas(64) unsigned char bytes[kTensorMapBytes];
  if (arguments.encode(driver, bytes) != kSuccess)
    return; // the call's error, and nothing to learn from
  const TensorMapForm *form = formOf(driver, arguments.rank);
  bool works = form && form->makeBase(driver, arguments, known.words);
  known.form = form;
  known.encoder = driver.tensorMapEncodeTiled;
  known.state.store(works ? MapTemplate::Patched : MapTemplate::ByDriver, std::memory_order_release);
}

[[gnu::cold]] TilegymStatus mapFailure(const Driver &driver, const Call &call, uint32_t tensor,
                                       size_t element, CUresult result) {
  char what[512];
  std::snprintf(what, sizeof what, "%s: describing %s to the copy engine",
                Text(call.table.text(call.op.name)).data, call.nameOf(tensor, element).c_str());
  return driver.failure(what, result);
}

/// The driver's number of a dtype in tensor maps: what only moves is a number of that size.
int tensorMapType(uint8_t dtype) {
  static constexpr uint8_t types[] = {8, 7, 6, 9, 0, 0, 0, 1, 3, 5, 0, 1, 2, 4, 0, 5};
  return types[dtype];
}

/// False where some extent is 0.
bool argumentsOf(const Call &call, const TensorMap &map, const BoundTensor &b, size_t element,
                 TensorMapArguments &a) {
  std::span<const MapAxis> axes = call.table.get<MapAxis>(map.axes);
  a.type = tensorMapType(call.dtypes[call.tensors[map.tensor].typeVar]);
  a.rank = uint32_t(axes.size());
  a.swizzle = map.swizzle == 128 ? 3 : int(map.swizzle / 32);
  if (!b.given)
    return false;
  a.address = reinterpret_cast<uint64_t>(b.given->data);
  bool hasElements = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    a.extents[i] = uint64_t(axes[i].dim == kNone ? axes[i].extent : call.dimOf(axes[i].dim, element));
    // No step is ever taken along an axis of extent 1, whose stride may be anything; the innermost one's the driver knows.
    a.strides[i] = 16;
    if (i > 0 && a.extents[i] > 1)
      a.strides[i] = uint64_t(call.isList(map.tensor) ? b.strides[axes[i].stride]
                                                      : call.strideOf(map.tensor, axes[i].stride)) *
                     uint64_t(b.elementBytes);
    a.box[i] = axes[i].box;
    hasElements &= a.extents[i] != 0;
  }
  return hasElements;
}

TilegymStatus makeMap(const Driver &driver, const Call &call, const TensorMap &map, const BoundTensor &of,
                      size_t element, MapTemplate *known, unsigned char *bytes) {
  TensorMapArguments arguments;
  if (!argumentsOf(call, map, of, element,
                   arguments)) { // nothing of it is ever copied; the driver takes no such map
    std::memset(bytes, 0, kTensorMapBytes);
    return TILEGYM_OK;
  }
  if (known) {
    uint8_t state = known->state.load(std::memory_order_acquire);
    if (state == MapTemplate::Unknown) [[unlikely]] {
      learnTemplate(driver, arguments, *known);
      state = known->state.load(std::memory_order_acquire);
    }
    if (state == MapTemplate::Patched && known->encoder == driver.tensorMapEncodeTiled &&
        known->form->patch(known->words, arguments, bytes)) [[likely]]
      return TILEGYM_OK;
  }
  CUresult result = arguments.encode(driver, bytes);
  return result == kSuccess ? TILEGYM_OK : mapFailure(driver, call, map.tensor, element, result);
}

} // namespace

TilegymStatus makeTensorMap(const Driver &driver, const Call &call, const TensorMap &map, MapTemplate *known,
                            unsigned char *bytes) {
  return makeMap(driver, call, map, call.bound[map.tensor], 0, known, bytes);
}

TilegymStatus makeTensorMaps(const Driver &driver, const Call &call, const TensorMap &map, MapTemplate *known,
                             unsigned char *bytes) {
  std::span<const BoundTensor> tensors = call.views(map.tensor);
  for (size_t i = 0; i < tensors.size(); ++i)
    TRY(makeMap(driver, call, map, tensors[i], i, known, bytes + i * kTensorMapBytes));
  std::memset(bytes + tensors.size() * kTensorMapBytes, 0,
              (kMaxListLength - tensors.size()) * kTensorMapBytes);
  return TILEGYM_OK;
}

bool holdTensorMap(const Driver &driver, const Call &call, const TensorMap &map, const MapTemplate &known,
                   MovingMap *moving) {
  TensorMapArguments arguments;
  if (!argumentsOf(call, map, call.bound[map.tensor], 0, arguments) ||
      known.state.load(std::memory_order_acquire) != MapTemplate::Patched ||
      known.encoder != driver.tensorMapEncodeTiled)
    return false;
  std::span<const MapAxis> axes = call.table.get<MapAxis>(map.axes);
  int moves = -1;
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].dim != kNone && int(axes[i].dim) == call.plan.rowsDim) {
      if (moves >= 0)
        return false;
      moves = int(i);
    }
  return known.form->hold(known.words, arguments, moves, moving);
}

} // namespace tilegym::runtime
