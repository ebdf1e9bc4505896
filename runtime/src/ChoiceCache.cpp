// SPDX-License-Identifier: MIT
// The cache of choices. A key is words in this order: arch, kernel and what facts hold; present tensors; bytes of dtypes and of the place that each
// const and const dim has among the values that were compiled; the kernel's derived parameters as they are.
#include "ChoiceCache.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

namespace tilegym::runtime {

using namespace format;

namespace {

constexpr uint8_t kNotCompiled = 255;
constexpr int kKernelAt = 8, kFactsAt = 32; // bits of the first word
constexpr size_t kListsAt = 2;

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

/// The values that occur, each once.
static std::vector<int64_t> distinct(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

Terms::Varying varyingOf(const Table &table, const Op &op) {
  Terms::Varying varying;
  if (int rows = table.plan(op).rowsDim; rows >= 0)
    varying.dims = uint64_t(1) << rows;
  std::span<const Scalar> scalars = table.get<Scalar>(op.scalars);
  for (size_t s = 0; s < scalars.size(); ++s)
    varying.scalars |= uint64_t(!scalars[s].isConst) << s;
  return varying;
}

ChoiceCache::ChoiceCache(const Table &table, const Op &op) : guards(varyingOf(table, op)) {
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
      consts.push_back({s, distinct(valuesOf(&Variant::consts, s, kNone))});
  for (uint32_t d = 0; d < op.dims.count; ++d) {
    std::vector<int64_t> values = valuesOf(&Variant::constDims, d, kNone);
    std::erase(values, kRunTime);
    if (!values.empty())
      constDims.push_back({d, distinct(std::move(values))});
  }
  size_t mostDerived = 0;
  std::span<const Kernel> kernels = table.get<Kernel>(op.kernels);
  for (uint32_t k = 0; k < kernels.size(); ++k) {
    std::vector<Fixed> &list = derivedOf.emplace_back();
    std::span<const Slice> codes = table.get<Slice>(kernels[k].derived);
    std::vector<Terms::Code> derived;
    for (Slice code : codes)
      derived.push_back(table.get<Inst>(code));
    guards.add(table.get<Inst>(kernels[k].guard), derived);
    for (uint32_t p = 0; p < codes.size(); ++p)
      if (codes[p].count)
        list.push_back({p, distinct(valuesOf(&Variant::params, p, k))});
    mostDerived = std::max(mostDerived, list.size());
  }
  size_t factWords = (op.tensors.count + 7) / 8;
  for (const Variant &v : variants) {
    if (v.facts == kFactsGeneral)
      continue;
    std::vector<uint64_t> wanted(factWords);
    std::ranges::copy(table.get<uint8_t>(v.tensorFacts), reinterpret_cast<uint8_t *>(wanted.data()));
    bool isKnown = false;
    for (size_t i = 0; i < numFactSets; ++i)
      isKnown |= std::equal(wanted.begin(), wanted.end(), factSets.begin() + long(i * factWords));
    if (isKnown)
      continue;
    factSets.insert(factSets.end(), wanted.begin(), wanted.end());
    ++numFactSets;
  }
  commonWords = kListsAt + (op.typeVars.count + consts.size() + constDims.size() + 7) / 8;
  auto fits = [](const Fixed &f) { return f.values.size() < kNotCompiled; };
  // Terms are straight lines, and so none is made of a sum over a list.
  usable = commonWords + mostDerived <= kKeyWords && numFactSets <= 32 && guards.fit() &&
           !table.plan(op).lists && std::ranges::all_of(consts, fits) && std::ranges::all_of(constDims, fits);

  int rows = table.plan(op).rowsDim;
  lasts = usable && factWords == 1 &&
          std::ranges::none_of(constDims, [&](const Fixed &f) { return int(f.id) == rows; });
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

/// All but the kernel and its derived parameters. False where nothing was compiled for a const.
bool ChoiceCache::commonKey(const Call &call, int arch, Key &key) const {
  uint64_t holding = 0;
  size_t factWords = call.factWords();
  const uint64_t *wanted = factSets.data();
  for (size_t i = 0; i < numFactSets && call.fastBase; ++i) {
    uint64_t lacking = 0;
    for (size_t word = 0; word < factWords; ++word) {
      uint64_t have = 0;
      std::memcpy(&have, call.facts + word * sizeof have, sizeof have);
      lacking |= *wanted++ & ~have;
    }
    holding |= uint64_t(lacking == 0) << i;
  }
  key.words[0] = uint64_t(arch) | holding << kFactsAt;
  key.words[1] = call.present;
  for (size_t i = kListsAt; i < commonWords; ++i)
    key.words[i] = 0;
  auto *bytes = reinterpret_cast<uint8_t *>(key.words + kListsAt);
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
                           const Key &key, size_t words) {
  size_t first = hashOf(key.words, words) % kSlots;
  for (size_t probe = 0; probe < kProbes; ++probe) {
    const Entry *entry = slots[(first + probe) % kSlots].load(std::memory_order_acquire);
    if (!entry)
      break;
    if (std::equal(key.words, key.words + words, entry->key.words)) // of one kernel, so of one length
      return entry->choice;
  }
  return found(call, kernel, derived, arch, key, first);
}

/// What is not in the cache. Only values that were compiled get into it.
Choice ChoiceCache::found(const Call &call, uint32_t kernel, const int64_t *derived, int arch, const Key &key,
                          size_t first) {
  for (const Fixed &f : derivedOf[kernel])
    if (!std::ranges::binary_search(f.values, derived[f.id]))
      return Choice();
  bool lacksImage = false;
  auto fresh = std::make_unique<Entry>(Entry{key, bestOf(call, kernel, derived, arch, &lacksImage)});
  for (size_t probe = 0; probe < kProbes; ++probe) {
    const Entry *none = nullptr;
    if (slots[(first + probe) % kSlots].compare_exchange_strong(none, fresh.get(), std::memory_order_acq_rel))
      return fresh.release()->choice;
  }
  return fresh->choice;
}

namespace {

uint64_t firstFacts(const Call &call) {
  uint64_t facts = 0;
  std::memcpy(&facts, call.facts, sizeof facts);
  return facts;
}

} // namespace

/// Takes a kernel's derived parameters to what is compared with the next call's; false where there is no room.
bool ChoiceCache::noteDerived(size_t kernel, const int64_t *derived, MadeChoice &last, size_t *count) const {
  for (const Fixed &f : derivedOf[kernel]) {
    if (*count == MadeChoice::kMaxDerived)
      return false;
    last.derived[(*count)++] = derived[f.id];
  }
  return true;
}

/// Whether the guards up to the chosen kernel's, and what those that hold derive, are as they were. Of a call that is like the last one.
bool ChoiceCache::isTheLast(MadeChoice &last) const {
  size_t noted = 0;
  uint64_t upTo = (uint64_t(2) << last.choice.variant->kernel) - 1;
  for (uint64_t open = guards.open(last.guards) & upTo; open; open &= open - 1) {
    auto k = uint32_t(std::countr_zero(open));
    bool holds = guards.hold(k, last.guards);
    if (holds != bool(last.holding >> k & 1))
      return false;
    if (!holds || !guards.derivedVaries(k)) {
      noted += holds ? derivedOf[k].size() : 0;
      continue;
    }
    int64_t derived[kMaxDims];
    if (!guards.derive(k, last.guards, derived))
      return false;
    for (const Fixed &f : derivedOf[k])
      if (derived[f.id] != last.derived[noted++])
        return false;
  }
  return true;
}

/// The same number of rows again surely takes the choice again; where rows change by little from call to call, so do those of a tile's worth around it if that can be told.
void ChoiceCache::widen(int64_t rows, MadeChoice &last) const {
  constexpr int64_t kNear = 64;
  int64_t low = (rows - 1) / kNear * kNear + 1, high = low + kNear - 1;
  bool isNear = rows > last.rows - kNear && rows < last.rows + kNear;
  bool isWide = isNear && guards.stay(last.guards, last.holding, low, high);
  last.rows = rows;
  last.from = isWide ? low : rows;
  last.to = isWide ? high : guards.varyByOneDim() ? rows : rows - 1;
}

TilegymStatus ChoiceCache::choose(const Call &call, int arch, const char *deviceName, Choice *choice) {
  MadeChoice none; // of which only what is used is written
  if (!usable)
    return runtime::choose(call, arch, deviceName, choice);
  guards.begin(none.guards, call.values(), /*alike=*/false);
  return chooseNow(call, arch, deviceName, none, choice);
}

TilegymStatus ChoiceCache::choose(const Call &call, const Device &device, bool alike, MadeChoice &last,
                                  Choice *choice) {
  last.isTaken = false;
  if (!usable)
    return runtime::choose(call, device.arch, device.name, choice);
  alike &= last.device == device.ordinal; // guards see it
  bool mayLast = alike && last.choice.variant && call.fastBase && last.facts == firstFacts(call);
  int64_t rows = call.plan.rowsDim >= 0 ? call.dimValues[call.plan.rowsDim] : 0;
  if (mayLast && (!call.plan.choiceVaries || (last.from <= rows && rows <= last.to))) {
    *choice = last.choice;
    last.isTaken = true;
    return TILEGYM_OK;
  }
  last.to = last.from - 1;
  guards.begin(last.guards, call.values(), alike);
  last.device = device.ordinal;
  if (mayLast && isTheLast(last)) {
    widen(rows, last);
    *choice = last.choice;
    last.isTaken = true;
    return TILEGYM_OK;
  }
  last.rows = rows;
  return chooseNow(call, device.arch, device.name, last, choice);
}

/// `last` has its terms, and is given the rest.
TilegymStatus ChoiceCache::chooseNow(const Call &call, int arch, const char *deviceName, MadeChoice &last,
                                     Choice *choice) {
  Key key; // of which only what is used is written
  last.choice.variant = nullptr;
  if (arch > 255 || !commonKey(call, arch, key))
    return runtime::choose(call, arch, deviceName, choice);
  uint64_t head = key.words[0];
  size_t noted = 0;
  // Offsets that no longer fit are a fact of the rows: only choices where they do may be taken again.
  bool isKept = lasts && call.fastBase;
  last.facts = firstFacts(call);
  last.holding = 0;
  for (uint32_t k = 0; k < call.op.kernels.count; ++k) {
    int64_t derived[kMaxDims];
    if (!guards.hold(k, last.guards))
      continue;
    last.holding |= uint64_t(1) << k;
    if (!guards.derive(k, last.guards, derived)) {
      isKept = false;
      continue;
    }
    isKept &= noteDerived(k, derived, last, &noted);
    key.words[0] = head | uint64_t(k) << kKernelAt;
    size_t words = commonWords;
    for (const Fixed &f : derivedOf[k])
      key.words[words++] = uint64_t(derived[f.id]);
    if (*choice = cached(call, k, derived, arch, key, words); choice->variant) {
      if (isKept)
        last.choice = *choice;
      return TILEGYM_OK;
    }
  }
  return runtime::choose(call, arch, deviceName, choice); // has the words for why there is none
}

} // namespace tilegym::runtime
