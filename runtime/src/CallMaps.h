// SPDX-License-Identifier: MIT
// The tensor maps that a launch hands to its kernel: made from a call's extents, strides and addresses, by the driver the first time and from then on
// from what it made.
#pragma once
#include "Call.h"
#include "TensorMapForm.h"
#include <atomic>
#include <memory>
#include <mutex>

namespace tilegym::runtime {

/// A map of a variant, without what changes from call to call.
struct MapTemplate {
  enum State : uint8_t { Unknown, Patched, ByDriver };
  std::atomic<uint8_t> state{Unknown};
  const TensorMapForm *form = nullptr;
  decltype(Driver::tensorMapEncodeTiled) encoder = nullptr; ///< whose form it is
  uint64_t words[TensorMapForm::kWords];
};

/// Those of a package. Bounded by what was compiled; written once, under a lock, then read without one.
class MapTemplates {
public:
  explicit MapTemplates(const Table &table);
  /// Of a variant; null where it has none.
  MapTemplate *of(uint32_t op, uint32_t variant) const {
    size_t first = firsts[op][variant];
    return first == kNone ? nullptr : &templates[first];
  }

private:
  static constexpr size_t kNone = ~size_t(0);
  std::vector<std::vector<size_t>> firsts; ///< by op (Table::numberOf) and variant
  std::unique_ptr<MapTemplate[]> templates;
};

/// `known` may be null.
TilegymStatus makeTensorMap(const Driver &driver, const Call &call, const format::TensorMap &map,
                            MapTemplate *known, unsigned char *bytes);

/// The map of this call for those that are like it. False where it cannot be put together that way: then makeTensorMap makes each.
bool holdTensorMap(const Driver &driver, const Call &call, const format::TensorMap &map,
                   const MapTemplate &known, MovingMap *moving);

/// The maps of a list's tensors, one after another, and zeros up to the room of a list.
TilegymStatus makeTensorMaps(const Driver &driver, const Call &call, const format::TensorMap &map,
                             MapTemplate *known, unsigned char *bytes);

} // namespace tilegym::runtime
