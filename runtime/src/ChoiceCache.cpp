// SPDX-License-Identifier: MIT
// The cache of choices. A key is bytes in this order: arch, kernel, what facts hold, present tensors, dtypes, then the place of each fixed number
// among the values that were compiled.
#include "ChoiceCache.h"
#include <algorithm>
#include <cstring>
#include <memory>

namespace tilegym::runtime {

using namespace format;

namespace {

constexpr uint8_t kNotCompiled = 255;
constexpr size_t kKernelByte = 1, kFactsAt = 2, kPresentAt = 6, kListsAt = 14;

uint64_t hashOf(const uint64_t *words, size_t n) {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (size_t i = 0; i < n; ++i) {
    hash = (hash ^ words[i]) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

} // namespace

uint8_t ChoiceCache::Fixed::indexOf(int64_t value) const {
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] == value)
      return uint8_t(i);
  return kNotCompiled;
}

void ChoiceCache::addFixed(std::vector<Fixed> &list, uint32_t id, std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  usable &= values.size() < kNotCompiled;
  list.push_back({id, std::move(values)});
}

ChoiceCache::ChoiceCache(const Table &table, const Op &op) {
  std::span<const Variant> variants = table.get<Variant>(op.variants);
  auto valuesOf = [&](Slice Variant::*list, uint32_t id, uint32_t kernel) {
    std::vector<int64_t> values;
    for (const Variant &v : variants)
      if (kernel == kNone || v.kernel == kernel)
        values.push_back(table.get<int64_t>(v.*list)[id]);
    return values;
  };
  std::span<const Scalar> scalars = table.get<Scalar>(op.scalars);
  for (uint32_t s = 0; s < scalars.size(); ++s)
    if (scalars[s].isConst)
      addFixed(consts, s, valuesOf(&Variant::consts, s, kNone));
  for (uint32_t d = 0; d < op.dims.count; ++d) {
    std::vector<int64_t> values = valuesOf(&Variant::constDims, d, kNone);
    std::erase(values, kRunTime);
    if (!values.empty())
      addFixed(constDims, d, std::move(values));
  }
  size_t mostDerived = 0;
  std::span<const Kernel> kernels = table.get<Kernel>(op.kernels);
  for (uint32_t k = 0; k < kernels.size(); ++k) {
    std::vector<Fixed> &list = derivedOf.emplace_back();
    std::span<const Slice> codes = table.get<Slice>(kernels[k].derived);
    for (uint32_t p = 0; p < codes.size(); ++p)
      if (codes[p].count)
        addFixed(list, p, valuesOf(&Variant::params, p, k));
    mostDerived = std::max(mostDerived, list.size());
  }
  auto bytesOfFacts = [&](const Variant &v) { return table.get<uint8_t>(v.tensorFacts); };
  for (const Variant &v : variants)
    if (v.facts != kFactsGeneral && std::none_of(factSets.begin(), factSets.end(), [&](const Variant *known) {
          return std::ranges::equal(bytesOfFacts(*known), bytesOfFacts(v));
        }))
      factSets.push_back(&v);
  keyBytes = kListsAt + op.typeVars.count + consts.size() + constDims.size() + mostDerived;
  keyWords = (keyBytes + 7) / 8;
  usable &= keyWords <= kKeyWords && factSets.size() <= 32 && kernels.size() < 256;
}

ChoiceCache::~ChoiceCache() {
  for (std::atomic<const Entry *> &slot : slots)
    delete slot.load(std::memory_order_relaxed);
}

size_t ChoiceCache::size() const {
  return size_t(std::count_if(slots.begin(), slots.end(), [](const std::atomic<const Entry *> &slot) {
    return slot.load(std::memory_order_relaxed) != nullptr;
  }));
}

/// All but the kernel and its derived parameters. False where nothing was compiled for a const or a const dim.
bool ChoiceCache::commonKey(const Call &call, int arch, uint8_t *bytes) const {
  bytes[0] = uint8_t(arch);
  uint32_t facts = 0;
  for (size_t i = 0; i < factSets.size(); ++i)
    facts |= uint32_t(factsHold(call, *factSets[i])) << i;
  std::memcpy(bytes + kFactsAt, &facts, sizeof facts);
  std::memcpy(bytes + kPresentAt, &call.present, sizeof call.present);
  bytes += kListsAt;
  for (size_t i = 0; i < call.typeVars.size(); ++i)
    *bytes++ = call.dtypes[i];
  for (const Fixed &f : consts)
    if ((*bytes++ = f.indexOf(call.scalarValues[f.id].i)) == kNotCompiled)
      return false;
  // A variant may leave open what another fixes, so a value that none has is a case like others.
  for (const Fixed &f : constDims)
    *bytes++ = f.indexOf(call.dimValues[f.id]);
  return true;
}

Choice ChoiceCache::cached(const Call &call, uint32_t kernel, const int64_t *derived, int arch,
                           const Key &key) {
  size_t first = hashOf(key.words, keyWords) % kSlots;
  bool lacksImage = false;
  std::unique_ptr<Entry> fresh;
  for (size_t probe = 0; probe < kProbes; ++probe) {
    std::atomic<const Entry *> &slot = slots[(first + probe) % kSlots];
    const Entry *entry = slot.load(std::memory_order_acquire);
    if (!entry) {
      if (!fresh)
        fresh = std::make_unique<Entry>(Entry{key, bestOf(call, kernel, derived, arch, &lacksImage)});
      if (slot.compare_exchange_strong(entry, fresh.get(), std::memory_order_acq_rel))
        return fresh.release()->choice;
    }
    if (std::memcmp(key.words, entry->key.words, sizeof key.words) ==
        0) // of constant size: a few instructions
      return entry->choice;
  }
  return fresh ? fresh->choice : bestOf(call, kernel, derived, arch, &lacksImage);
}

TilegymStatus ChoiceCache::choose(const Call &call, int arch, const char *deviceName, Choice *choice) {
  Key key{};
  auto *bytes = reinterpret_cast<uint8_t *>(key.words);
  if (!usable || arch > 255 || !commonKey(call, arch, bytes))
    return runtime::choose(call, arch, deviceName, choice);
  size_t common = kListsAt + call.typeVars.size() + consts.size() + constDims.size();
  std::span<const Kernel> kernels = call.table.get<Kernel>(call.op.kernels);
  Values values = call.values();
  for (uint32_t k = 0; k < kernels.size(); ++k) {
    int64_t derived[kMaxDims];
    if (!guardHolds(call, kernels[k], values) || !derive(call, kernels[k], values, derived))
      continue;
    bytes[kKernelByte] = uint8_t(k);
    bool compiled = true;
    uint8_t *place = bytes + common;
    std::fill(place, bytes + keyBytes, 0);
    for (const Fixed &f : derivedOf[k])
      compiled &= (*place++ = f.indexOf(derived[f.id])) != kNotCompiled;
    if (compiled)
      if (*choice = cached(call, k, derived, arch, key); choice->variant)
        return TILEGYM_OK;
  }
  return runtime::choose(call, arch, deviceName, choice); // has the words for why there is none
}

} // namespace tilegym::runtime
